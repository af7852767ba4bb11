//! Turns a kernel and a RAM disk into a bootable disk image.
//!
//! `margay-boot KERNEL RAMDISK IMAGE` writes a whole-disk image for the firmware that it was built for (features `bios` and `uefi`): for BIOS
//! with a master boot record, for UEFI with a GPT and an EFI system partition. The boot loader is silent on the serial line and on the screen, which
//! both belong to the kernel's console. Exit status: 0, or 2 with one line on standard error.
//!
//! `cargo lwk` is the only caller; the work is in the crate `bootloader`.
#![forbid(unsafe_code)]

#[cfg(all(feature = "bios", feature = "uefi"))]
compile_error!("an image builder is for one firmware: choose the feature bios or uefi");

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
    let [kernel, ramdisk, image] = arguments else {
        return Err("use: margay-boot KERNEL RAMDISK IMAGE".into());
    };
    let mut config = BootConfig::default();
    config.serial_logging = false;
    config.frame_buffer_logging = false;
    config.frame_buffer.minimum_framebuffer_width = Some(SCREEN.0);
    config.frame_buffer.minimum_framebuffer_height = Some(SCREEN.1);

    let mut builder = DiskImageBuilder::new(kernel.into());
    builder.set_ramdisk(ramdisk.into()).set_boot_config(&config);
    let image = Path::new(image);
    #[cfg(feature = "bios")]
    let made = builder.create_bios_image(image);
    #[cfg(not(feature = "bios"))]
    let made = builder.create_uefi_image(image);
    made.map_err(|error| format!("the disk image {} cannot be written: {error:#}", image.display()))
}
