//! A machine whose functions are tables of bytes, with base addresses that can be measured.

use std::collections::BTreeMap;

use lwk_pci::{
    BaseAddress, Configuration, Function, Interrupts, Message, base_address, capability, enumerate, message,
};

#[derive(Default)]
struct Machine {
    functions: BTreeMap<(u8, u8, u8), [u32; 64]>,
    /// Bits of base addresses that can be written.
    masks: BTreeMap<u8, u32>,
}

impl Machine {
    fn add(&mut self, function: (u8, u8, u8), words: &[(u8, u32)]) {
        let space = self.functions.entry(function).or_insert([0; 64]);
        for (at, word) in words {
            space[usize::from(*at) / 4] = *word;
        }
    }
}

impl Configuration for Machine {
    fn read(&self, function: Function, offset: u8) -> u32 {
        let Function { bus, device, function } = function;
        self.functions.get(&(bus, device, function)).map_or(u32::MAX, |words| words[usize::from(offset) / 4])
    }

    fn write(&mut self, function: Function, offset: u8, value: u32) {
        let Function { bus, device, function } = function;
        let mask = self.masks.get(&offset).copied().unwrap_or(u32::MAX);
        if let Some(words) = self.functions.get_mut(&(bus, device, function)) {
            let word = &mut words[usize::from(offset) / 4];
            *word = *word & !mask | value & mask;
        }
    }
}

const CARD: Function = Function { bus: 0, device: 3, function: 0 };

/// A card as QEMU shows virtio-net, more or less.
fn card() -> Machine {
    let mut machine = Machine::default();
    machine.add(
        (0, 3, 0),
        &[
            (0x00, 0x1041_1af4),
            (0x04, 0x0010_0007),
            (0x08, 0x0200_0001),
            (0x14, 0xfebd_1000),
            (0x20, 0xfe00_000c),
            (0x24, 0x0000_0008),
            (0x34, 0x98),
            (0x98, 0x0003_8411),
            (0x9c, 0x0000_0001),
            (0x84, 0x0214_5009),
            (0x88, 0x0000_0004),
            (0x8c, 0x0000_3000),
            (0x90, 0x0000_1000),
            (0x94, 0x0000_0004),
            (0x50, 0x0080_0005),
        ],
    );
    // Bits of the status are cleared by ones only.
    machine.masks = [(0x04, 0xffff), (0x14, 0xffff_f000), (0x20, 0xffff_c000), (0x24, u32::MAX)].into();
    machine
}

#[test]
fn functions_behind_bridges_are_found_once() {
    let mut machine = card();
    machine.add((0, 1, 0), &[(0, 0x1234_8086), (0x0c, 0x0081_0000), (0x18, 0x0000_0500)]);
    machine.add((0, 1, 5), &[(0, 0x1235_8086), (0x0c, 0x0001_0000), (0x18, 0x0000_0500)]);
    machine.add((5, 0, 0), &[(0, 0x10d3_8086), (0x08, 0x0200_0000)]);
    // A bridge to where it is itself.
    machine.add((5, 2, 0), &[(0, 0x1236_8086), (0x0c, 0x0001_0000), (0x18, 0x0000_0000)]);
    let mut found = Vec::new();
    enumerate(&machine, |function, identity| found.push((function.to_string(), identity.device)));
    let expected = [
        ("00:01.0", 0x1234),
        ("00:01.5", 0x1235),
        ("00:03.0", 0x1041),
        ("05:00.0", 0x10d3),
        ("05:02.0", 0x1236),
    ];
    assert_eq!(found, expected.map(|(name, device)| (name.to_owned(), device)));
}

#[test]
fn every_bus_is_visited_once_however_many_bridges_lead_there() {
    let mut machine = Machine::default();
    for bus in 0..=255 {
        for device in 0..32 {
            let behind = u32::from(bus).wrapping_mul(7) + device;
            machine.add(
                (bus, device as u8, 0),
                &[(0, 1 << 16 | 1), (0x0c, 0x0001_0000), (0x18, (behind & 0xff) << 8)],
            );
        }
    }
    let mut count = 0;
    enumerate(&machine, |_, _| count += 1);
    assert_eq!(count, 256 * 32);
}

#[test]
fn base_addresses_are_measured_and_left_as_they_were() {
    let mut machine = card();
    let before = machine.functions[&(0, 3, 0)];
    assert_eq!(
        base_address::memory(&mut machine, CARD, 1),
        Some(BaseAddress { address: 0xfebd_1000, bytes: 4096 })
    );
    let wide = BaseAddress { address: 0x8_fe00_0000, bytes: 0x4000 };
    assert_eq!(base_address::memory(&mut machine, CARD, 4), Some(wide));
    assert_eq!(base_address::memory(&mut machine, CARD, 0), None, "not placed");
    assert_eq!(base_address::memory(&mut machine, CARD, 6), None);
    assert_eq!(machine.functions[&(0, 3, 0)], before);
}

#[test]
fn capabilities_are_read_and_a_list_that_bites_its_tail_ends() {
    let mut machine = card();
    let ids: Vec<u8> = capability::all(&machine, CARD).map(|found| found.id).collect();
    assert_eq!(ids, [capability::MSI_X, capability::VENDOR, capability::MSI]);
    let structures: Vec<_> = capability::all(&machine, CARD)
        .filter_map(|found| capability::vendor_structure(&machine, CARD, found))
        .collect();
    let notification =
        capability::VendorStructure { kind: 2, base: 4, offset: 0x3000, bytes: 0x1000, step: 4 };
    assert_eq!(structures, [notification]);
    machine.add((0, 3, 0), &[(0x50, 0x0080_9805)]);
    assert_eq!(capability::all(&machine, CARD).count(), 48);
    // A structure that would run out of the configuration space.
    machine.add((0, 3, 0), &[(0x34, 0xf4), (0xf4, 0x0214_0009)]);
    let found = capability::all(&machine, CARD).next().unwrap();
    assert_eq!(capability::vendor_structure(&machine, CARD, found), None);
}

#[test]
fn a_message_names_no_core_that_its_address_cannot_hold() {
    assert_eq!(Message::to_core(254, 0xe0), Some(Message { address: 0xfeef_e000, data: 0xe0 }));
    // All cores; core 1 and core 0 if the number were cut to eight bits.
    for controller_id in [255, 257, 256, u32::MAX] {
        assert_eq!(Message::to_core(controller_id, 0xe0), None);
    }
}

#[test]
fn the_table_of_messages_comes_before_the_registers() {
    let mut machine = card();
    let table = Interrupts::Table { at: 0x98, base: 1, offset: 0, entries: 4 };
    assert_eq!(message::find(&machine, CARD), Some(table));
    message::enable_table(&mut machine, CARD, 0x98, true);
    assert_eq!(machine.read(CARD, 0x98), 0x8003_8411);
    machine.add((0, 3, 0), &[(0x9c, 0x0000_0007)]);
    let registers = Interrupts::Registers { at: 0x50, wide: true };
    assert_eq!(message::find(&machine, CARD), Some(registers));
    let to = Message::to_core(3, 0xe0).unwrap();
    message::enable_registers(&mut machine, CARD, (0x50, true), to);
    assert_eq!(
        [0x50, 0x54, 0x58, 0x5c].map(|at| machine.read(CARD, at)),
        [0x0081_0005, 0xfee0_3000, 0, 0xe0]
    );
}
