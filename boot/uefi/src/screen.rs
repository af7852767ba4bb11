//! The screen: the first graphics output with a mode that text can be drawn on; which one, `lwk_screen` decides.

use bootloader_api::info::{FrameBufferInfo, PixelFormat};
use bootloader_x86_64_common::RawFrameBufferInfo;
use lwk_screen::{Format, Mode, Order, PIXEL_BYTES};
use uefi::prelude::{BootServices, Handle};
use uefi::proto::console::gop::{self, GraphicsOutput, ModeInfo};
use uefi::table::boot::{ScopedProtocol, SearchType};
use x86_64::PhysAddr;

/// The least screen, in pixels: 128 columns and 48 rows of the console's font.
const LEAST: (usize, usize) = (1024, 768);

/// Finds a screen and switches it to the best mode; none if no screen can be drawn on.
pub fn find(image: Handle, services: &BootServices) -> Option<RawFrameBufferInfo> {
    let outputs = services.locate_handle_buffer(SearchType::from_proto::<GraphicsOutput>()).ok()?;
    outputs.iter().find_map(|output| draw_on(crate::open(services, image, *output).ok()?))
}

fn draw_on(mut output: ScopedProtocol<'_, GraphicsOutput>) -> Option<RawFrameBufferInfo> {
    let position = lwk_screen::choose(Modes { output: &output, next: 0 }, LEAST)?;
    let chosen = output.modes().nth(position)?;
    // If it cannot be set, the present mode may do.
    let _ = output.set_mode(&chosen);
    let mode = described(&output.current_mode_info());
    let order = mode.order()?;
    let mut buffer = output.frame_buffer();
    let (place, bytes) = (buffer.as_mut_ptr() as u64, buffer.size());
    if place == 0 || mode.bytes()? > bytes {
        return None;
    }
    let info = FrameBufferInfo {
        byte_len: bytes,
        width: mode.width,
        height: mode.height,
        pixel_format: match order {
            Order::Rgb => PixelFormat::Rgb,
            Order::Bgr => PixelFormat::Bgr,
        },
        bytes_per_pixel: PIXEL_BYTES,
        stride: mode.stride,
    };
    Some(RawFrameBufferInfo { addr: PhysAddr::new(place), info })
}

/// The modes of an output, in the order of `GraphicsOutput::modes`, which cannot be cloned.
#[derive(Clone)]
struct Modes<'o> {
    output: &'o GraphicsOutput,
    next: usize,
}

impl Iterator for Modes<'_> {
    type Item = Mode;

    fn next(&mut self) -> Option<Mode> {
        let mode = self.output.modes().nth(self.next)?;
        self.next += 1;
        Some(described(mode.info()))
    }
}

fn described(info: &ModeInfo) -> Mode {
    let (width, height) = info.resolution();
    let format = match (info.pixel_format(), info.pixel_bitmask()) {
        (gop::PixelFormat::Rgb, _) => Format::Rgb,
        (gop::PixelFormat::Bgr, _) => Format::Bgr,
        (gop::PixelFormat::Bitmask, Some(mask)) => {
            Format::Mask { red: mask.red, green: mask.green, blue: mask.blue }
        }
        (gop::PixelFormat::Bitmask | gop::PixelFormat::BltOnly, _) => Format::BlockTransfer,
    };
    Mode { width, height, stride: info.stride(), format }
}
