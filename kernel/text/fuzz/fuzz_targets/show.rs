//! No text makes a screen panic, or store beside the frame buffer.
#![no_main]

use lwk_text::{Form, Memory, Order, Pixels, TextScreen};

/// Bytes of the smallest screens, and a little.
struct Buffer([u8; 100 * 80 * 4]);

impl Pixels for Buffer {
    fn bytes(&self) -> usize {
        self.0.len()
    }

    fn store(&mut self, offset: usize, bytes: &[u8]) {
        self.0[offset..offset + bytes.len()].copy_from_slice(bytes);
    }
}

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let form = Form { width: 90, height: 80, stride: 100, pixel_bytes: 4, order: Order::Rgb };
    let mut memory = Box::new(Memory::new());
    let mut screen =
        TextScreen::new(Buffer([0xaa; 100 * 80 * 4]), form, &mut memory).expect("a screen of this form");
    for piece in text.chunks(7) {
        screen.show(piece);
        screen.flush();
    }
});
