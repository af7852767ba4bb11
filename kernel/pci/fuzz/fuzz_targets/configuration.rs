//! A function whose configuration space is any bytes: nothing panics or runs on, and what is found is within bounds.
#![no_main]

use lwk_pci::{Configuration, Function, Interrupts, Message, base_address, capability, enumerate, message};

/// The same function everywhere, with these words.
struct Space([u32; 64]);

impl Configuration for Space {
    fn read(&self, _: Function, offset: u8) -> u32 {
        assert!(offset.is_multiple_of(4));
        self.0[usize::from(offset) / 4]
    }

    fn write(&mut self, _: Function, offset: u8, value: u32) {
        self.0[usize::from(offset) / 4] = value & 0xffff_fff0 | self.0[usize::from(offset) / 4] & 0xf;
    }
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let mut space = Space([0; 64]);
    for (word, bytes) in space.0.iter_mut().zip(input.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut count = 0;
    enumerate(&space, |_, _| count += 1);
    assert!(count <= 256 * 256);
    let function = Function { bus: 0, device: 0, function: 0 };
    for found in capability::all(&space, function) {
        assert!(found.offset >= 0x40);
        if let Some(structure) = capability::vendor_structure(&space, function, found) {
            assert!(structure.base < 6);
        }
    }
    for number in 0..8 {
        if let Some(found) = base_address::memory(&mut space, function, number) {
            assert!(found.bytes.is_power_of_two() && found.address.is_multiple_of(found.bytes));
        }
    }
    match message::find(&space, function) {
        Some(Interrupts::Table { at, base, .. }) => {
            assert!(base < 6);
            message::enable_table(&mut space, function, at, true);
        }
        Some(Interrupts::Registers { at, wide }) => {
            if let Some(to) = Message::to_core(1, 0xe0) {
                message::enable_registers(&mut space, function, (at, wide), to);
            }
        }
        None => {}
    }
});
