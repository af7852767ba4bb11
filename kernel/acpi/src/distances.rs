//! How far memory is from cores: system locality information table (SLIT; ACPI specification 6.5, section 5.2.17), and where there is one the
//! heterogeneous memory attribute table (HMAT; section 5.2.27), which gives latencies.

use arrayvec::ArrayVec;

use crate::Table;
use crate::bytes::{long_entries, u16_at, u32_at, u64_at};

/// The most proximity domains that are told apart.
pub const NODES_MAX: usize = 64;

/// Distance of a domain from itself, and of two domains that nothing is said of (section 6.2.15).
const LOCAL: u64 = 10;
const REMOTE: u64 = 20;
/// A distance that means "cannot be reached".
const UNREACHABLE: u8 = u8::MAX;

/// Distances of domains, to be compared with each other only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Distances<'m> {
    slit: Option<Table<'m>>,
    latencies: Option<Latencies<'m>>,
}

/// One structure of the HMAT: latencies from initiators to targets.
#[derive(Clone, Copy, Debug)]
struct Latencies<'m> {
    unit: u64,
    initiators: &'m [u8],
    targets: &'m [u8],
    entries: &'m [u8],
}

impl<'m> Distances<'m> {
    /// Of the two tables, each if there is one.
    pub fn new(slit: Option<Table<'m>>, hmat: Option<Table<'m>>) -> Distances<'m> {
        Distances { slit, latencies: hmat.and_then(|table| latencies(&table)) }
    }

    /// What the SLIT says of a core of domain `from` and memory of domain `to`; `None` if that cannot be reached.
    fn by_locality(&self, from: u32, to: u32) -> Option<u64> {
        let told = self.slit.and_then(|slit| {
            const COUNT: usize = 36;
            const MATRIX: usize = 44;
            let count = usize::try_from(u64_at(slit.bytes(), COUNT)?).ok()?;
            let (row, column) = (usize::try_from(from).ok()?, usize::try_from(to).ok()?);
            let inside = row < count && column < count;
            slit.after(MATRIX).get(row.checked_mul(count)?.checked_add(column)?).filter(|_| inside).copied()
        });
        match told {
            Some(UNREACHABLE) => None,
            Some(distance) => Some(distance.into()),
            None => Some(if from == to { LOCAL } else { REMOTE }),
        }
    }

    /// Those of `domains` whose memory can be reached from domain `from`, nearest first: by latency if one is told for each of them, by the
    /// SLIT's distance else. Equally near ones keep their order. At most [`NODES_MAX`].
    pub fn nearest(&self, from: u32, domains: &[u32]) -> ArrayVec<u32, NODES_MAX> {
        let domains = &domains[..domains.len().min(NODES_MAX)];
        let latency = |to: &u32| self.latencies?.of(from, *to);
        let told = domains.iter().all(|to| latency(to).is_some());
        let distance = |to: &u32| if told { latency(to) } else { self.by_locality(from, *to) };
        // The own domain first among equals: some firmware tells the same of all.
        let key = |(place, to): (usize, &u32)| Some((distance(to)?, *to != from, place));
        let mut sorted: ArrayVec<(u64, bool, usize), NODES_MAX> =
            domains.iter().enumerate().filter_map(key).collect();
        sorted.sort_unstable();
        sorted.into_iter().map(|(_, _, place)| domains[place]).collect()
    }
}

/// The first structure of access or read latencies of memory itself, not of a cache before it.
fn latencies<'m>(hmat: &Table<'m>) -> Option<Latencies<'m>> {
    const STRUCTURES: usize = 40;
    const LOCALITY: u16 = 1;
    const OF_MEMORY: u8 = 0;
    const ACCESS_OR_READ_LATENCY: core::ops::RangeInclusive<u8> = 0..=1;
    long_entries(hmat.after(STRUCTURES)).find_map(|(kind, entry)| {
        let (hierarchy, data) = (*entry.get(8)? & 0xf, *entry.get(9)?);
        if kind != LOCALITY || hierarchy != OF_MEMORY || !ACCESS_OR_READ_LATENCY.contains(&data) {
            return None;
        }
        let (initiators, targets) = (u32_at(entry, 12)? as usize, u32_at(entry, 16)? as usize);
        let unit = u64_at(entry, 24)?;
        let (initiator_list, rest) = entry.get(32..)?.split_at_checked(initiators.checked_mul(4)?)?;
        let (target_list, entries) = rest.split_at_checked(targets.checked_mul(4)?)?;
        let complete = entries.len() >= initiators.checked_mul(targets)?.checked_mul(2)?;
        complete.then_some(Latencies { unit, initiators: initiator_list, targets: target_list, entries })
    })
}

impl Latencies<'_> {
    /// `None` if nothing is told of the pair, or that it cannot be reached.
    fn of(&self, from: u32, to: u32) -> Option<u64> {
        /// Values that tell nothing, and that the target cannot be reached.
        const NOTHING: u16 = 0;
        const UNREACHABLE: u16 = u16::MAX;
        let place = |list: &[u8], domain: u32| {
            list.chunks_exact(4).position(|bytes| u32_at(bytes, 0) == Some(domain))
        };
        let (row, column) = (place(self.initiators, from)?, place(self.targets, to)?);
        let value = u16_at(self.entries, 2 * (row * (self.targets.len() / 4) + column))?;
        (value != NOTHING && value != UNREACHABLE).then(|| u64::from(value).saturating_mul(self.unit))
    }
}
