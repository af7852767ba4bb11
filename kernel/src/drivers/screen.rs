//! The firmware's frame buffer, on which crate `lwk-text` draws.

use bootloader_api::info::{FrameBufferInfo, PixelFormat};
use lwk_text::{Form, Memory, Order, Pixels};

use crate::memory;

/// A text screen on the frame buffer.
pub type TextScreen = lwk_text::TextScreen<'static, FrameBuffer>;

/// The pixels, as they are mapped.
#[derive(Default)]
pub struct FrameBuffer(&'static mut [u8]);

impl Pixels for FrameBuffer {
    fn bytes(&self) -> usize {
        self.0.len()
    }

    fn store(&mut self, offset: usize, bytes: &[u8]) {
        self.0[offset..offset + bytes.len()].copy_from_slice(bytes);
    }
}

/// The memory of the one screen, which takes it for ever. Of its own, and zero, so that the kernel's file does not hold it.
static MEMORY: spin::Mutex<Memory> = spin::Mutex::new(Memory::new());

/// A blank screen; nothing if the pixels are of an unknown kind, or if there is one already.
pub fn open(pixels: &'static mut [u8], info: FrameBufferInfo) -> Option<TextScreen> {
    let order = match info.pixel_format {
        PixelFormat::Rgb => Order::Rgb,
        PixelFormat::Bgr => Order::Bgr,
        PixelFormat::U8 => Order::Grey,
        _ => return None,
    };
    let FrameBufferInfo { width, height, stride, bytes_per_pixel: pixel_bytes, .. } = info;
    let memory = spin::MutexGuard::leak(MEMORY.try_lock()?);
    TextScreen::new(FrameBuffer(pixels), Form { width, height, stride, pixel_bytes, order }, memory)
}

/// The same pixels by a mapping that combines stores, if there is memory for its tables.
pub fn combining(pixels: FrameBuffer) -> FrameBuffer {
    FrameBuffer(memory::map_combining(pixels.0))
}
