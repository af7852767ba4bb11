//! Which cores and which memory belong together: system resource affinity table (ACPI specification 6.5, section 5.2.16).

use crate::Table;
use crate::bytes::{short_entries, u32_at, u64_at};

/// Entries follow the header and twelve reserved bytes.
const ENTRIES: usize = 48;
/// Types of entries.
const LOCAL_APIC: u8 = 0;
const MEMORY: u8 = 1;
const LOCAL_X2APIC: u8 = 2;
/// Flag of all: the entry counts.
const ENABLED: u32 = 1;
/// Flag of memory: it keeps its content without power, and is no place for a segment.
const NON_VOLATILE: u32 = 4;

/// A core and the proximity domain that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Initiator {
    pub apic_id: u32,
    pub domain: u32,
}

/// Physical memory from `start` to before `end`, and the proximity domain that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub start: u64,
    pub end: u64,
    pub domain: u32,
}

/// What the table says.
#[derive(Clone, Copy, Debug)]
pub struct Affinity<'m> {
    srat: Table<'m>,
}

impl<'m> Affinity<'m> {
    pub fn new(srat: Table<'m>) -> Affinity<'m> {
        Affinity { srat }
    }

    /// The cores, in the firmware's order.
    pub fn initiators(&self) -> impl Iterator<Item = Initiator> + use<'m> {
        let mask = self.domain_mask();
        short_entries(self.srat.after(ENTRIES)).filter_map(move |(kind, entry)| {
            let (initiator, flags) = match kind {
                LOCAL_APIC => {
                    let domain = u32::from(*entry.get(2)?) | u32_at(entry, 8)? & 0xffff_ff00;
                    let apic_id = u32::from(*entry.get(3)?);
                    (Initiator { apic_id, domain: domain & mask }, u32_at(entry, 4)?)
                }
                LOCAL_X2APIC => {
                    let initiator = Initiator { apic_id: u32_at(entry, 8)?, domain: u32_at(entry, 4)? };
                    (initiator, u32_at(entry, 12)?)
                }
                _ => return None,
            };
            (flags & ENABLED != 0).then_some(initiator)
        })
    }

    /// The memory, in the firmware's order; without what is empty, reaches past the last address, or is non-volatile.
    pub fn ranges(&self) -> impl Iterator<Item = Range> + use<'m> {
        let mask = self.domain_mask();
        short_entries(self.srat.after(ENTRIES)).filter_map(move |(kind, entry)| {
            if kind != MEMORY || u32_at(entry, 28)? & (ENABLED | NON_VOLATILE) != ENABLED {
                return None;
            }
            let (start, bytes) = (u64_at(entry, 8)?, u64_at(entry, 16)?);
            let end = start.checked_add(bytes)?;
            (bytes > 0).then_some(Range { start, end, domain: u32_at(entry, 2)? & mask })
        })
    }

    /// A table of the first revision has one byte for a domain; the three that later ones use were reserved.
    fn domain_mask(&self) -> u32 {
        const REVISION: usize = 8;
        match self.srat.bytes().get(REVISION) {
            Some(2..) => u32::MAX,
            _ => 0xff,
        }
    }
}
