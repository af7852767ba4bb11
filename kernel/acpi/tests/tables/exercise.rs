//! Reads everything there is in a memory: for the tests and the fuzz target.

use lwk_acpi::{
    Affinity, Distances, EVENT_TIMER_BYTES, Memory, NODES_MAX, SerialPlace, Tables, configuration_spaces,
    event_timer, power_off, processors, reset, serial_console, timer,
};

/// Where the root pointer is.
const POINTER: u64 = 0x40;

pub fn read_all<'m>(memory: impl Memory<'m>) {
    let Ok(tables) = Tables::new(memory, POINTER) else { return };
    if let Some(madt) = tables.find(b"APIC") {
        assert!(processors(&madt).count() <= madt.bytes().len() / 8);
    }
    if let Some(address) = tables.find(b"HPET").and_then(|hpet| event_timer(&hpet)) {
        assert!(address != 0 && address.is_multiple_of(EVENT_TIMER_BYTES));
    }
    if let Some(timer) = tables.find(b"FACP").and_then(|fadt| timer(&fadt)) {
        assert_ne!(timer.port, 0);
    }
    if let Some(how) = power_off(&tables) {
        assert!(how.first.0 != 0 && how.first.1 < 8 && how.second.is_none_or(|it| it.0 != 0 && it.1 < 8));
    }
    let _ = tables.find(b"FACP").map(|fadt| reset(&fadt));
    if let Some(mcfg) = tables.find(b"MCFG") {
        assert!(configuration_spaces(&mcfg).all(|space| space.first_bus <= space.last_bus));
    }
    match tables.find(b"SPCR").and_then(|spcr| serial_console(&spcr)).map(|console| console.place) {
        Some(SerialPlace::Ports(port)) => assert!((1..=0xfff8).contains(&port)),
        Some(SerialPlace::Memory { address, stride }) => assert!(address != 0 && matches!(stride, 1 | 4)),
        None => {}
    }
    let mut domains = vec![0, 1, u32::MAX];
    if let Some(affinity) = tables.find(b"SRAT").map(Affinity::new) {
        assert!(affinity.ranges().all(|range| range.start < range.end));
        domains.extend(affinity.initiators().map(|initiator| initiator.domain));
        domains.extend(affinity.ranges().map(|range| range.domain));
    }
    let distances = Distances::new(tables.find(b"SLIT"), tables.find(b"HMAT"));
    for from in [0, 1, 7, u32::MAX] {
        let nearest = distances.nearest(from, &domains);
        assert!(nearest.len() <= domains.len().min(NODES_MAX));
        assert!(nearest.iter().all(|domain| domains.contains(domain)));
    }
}
