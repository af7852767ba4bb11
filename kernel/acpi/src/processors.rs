//! The cores: multiple APIC description table (ACPI specification 6.5, section 5.2.12).

use crate::Table;
use crate::bytes::{short_entries, u32_at};

/// Entries follow the header, the address of the local APIC, and flags.
const ENTRIES: usize = 44;
/// Types of entries.
const LOCAL_APIC: u8 = 0;
const LOCAL_X2APIC: u8 = 9;
/// Flag: the core may be started now.
const ENABLED: u32 = 1;
/// Numbers of interrupt controllers that mean every one of them.
const ALL: u32 = u8::MAX as u32;
const ALL_X2: u32 = u32::MAX;

/// Interrupt controller numbers of the cores that may be started, in the firmware's order. A number may come twice.
pub fn processors<'m>(madt: &Table<'m>) -> impl Iterator<Item = u32> + use<'m> {
    short_entries(madt.after(ENTRIES)).filter_map(|(kind, entry)| {
        let (id, flags) = match kind {
            LOCAL_APIC => (u32::from(*entry.get(3)?), u32_at(entry, 4)?),
            LOCAL_X2APIC => (u32_at(entry, 4)?, u32_at(entry, 8)?),
            _ => return None,
        };
        let one = id != if kind == LOCAL_APIC { ALL } else { ALL_X2 };
        (one && flags & ENABLED != 0).then_some(id)
    })
}
