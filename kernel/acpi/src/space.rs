//! Where PCI's configuration space lies in memory: the table MCFG (PCI firmware specification 3.3, section 4.1.2).

use crate::Table;
use crate::bytes::{u16_at, u64_at};

/// Configuration space of the buses `first_bus` to `last_bus` of a segment: 1 MiB a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigurationSpace {
    /// Physical address of that of bus 0, whether or not it is among the buses.
    pub base: u64,
    pub segment: u16,
    pub first_bus: u8,
    pub last_bus: u8,
}

/// All that the table lists; without what has no bus.
pub fn configuration_spaces<'m>(mcfg: &Table<'m>) -> impl Iterator<Item = ConfigurationSpace> + use<'m> {
    const ENTRIES: usize = 44;
    const ENTRY_BYTES: usize = 16;
    mcfg.after(ENTRIES).chunks_exact(ENTRY_BYTES).filter_map(|entry| {
        let (first_bus, last_bus) = (*entry.get(10)?, *entry.get(11)?);
        let space =
            ConfigurationSpace { base: u64_at(entry, 0)?, segment: u16_at(entry, 8)?, first_bus, last_bus };
        (first_bus <= last_bus && space.base != 0).then_some(space)
    })
}
