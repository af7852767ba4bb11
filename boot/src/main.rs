//! Turns a kernel and a RAM disk into a bootable disk image.
//!
//! `margay-boot KERNEL RAMDISK bios|uefi IMAGE` writes a whole-disk image: for BIOS with a master boot record, for
//! UEFI with a GPT and an EFI system partition. The boot loader is silent on the serial line and on the screen, which
//! both belong to the kernel's console. Exit status: 0, or 2 with one line on standard error.
//!
//! `cargo lwk` is the only caller; the work is in the crate `bootloader`.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;

use bootloader::{BootConfig, DiskImageBuilder};

/// The least screen the boot loader asks the firmware for, in pixels: 128 columns and 48 rows of the console's font.
const SCREEN: (u64, u64) = (1024, 768);

/// Status for wrong use and for input that does not fit into an image.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    match make_image(&std::env::args_os().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("margay-boot: {message}");
            ExitCode::from(USAGE)
        }
    }
}

fn make_image(arguments: &[std::ffi::OsString]) -> Result<(), String> {
    let [kernel, ramdisk, firmware, image] = arguments else {
        return Err("use: margay-boot KERNEL RAMDISK bios|uefi IMAGE".into());
    };
    let mut config = BootConfig::default();
    config.serial_logging = false;
    config.frame_buffer_logging = false;
    config.frame_buffer.minimum_framebuffer_width = Some(SCREEN.0);
    config.frame_buffer.minimum_framebuffer_height = Some(SCREEN.1);

    let mut builder = DiskImageBuilder::new(kernel.into());
    builder.set_ramdisk(ramdisk.into()).set_boot_config(&config);
    let image = Path::new(image);
    let made = match firmware.to_str() {
        Some("bios") => builder.create_bios_image(image),
        Some("uefi") => builder.create_uefi_image(image),
        _ => return Err(format!("no firmware {firmware:?}; it is bios or uefi")),
    };
    made.map_err(|error| format!("the disk image {} cannot be written: {error:#}", image.display()))
}
