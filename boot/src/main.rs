//! Turns a kernel and a RAM disk into a bootable disk image.
//!
//! `margay-boot KERNEL RAMDISK IMAGE` writes a whole-disk image for the firmware that it was built for (features `bios` and `uefi`): for BIOS
//! with a master boot record, for UEFI with a GPT and an EFI system partition. The boot loader is silent on the serial line and on the screen, which
//! both belong to the kernel's console. Exit status: 0, or 2 with one line on standard error.
//!
//! `cargo lwk` is the only caller. For BIOS the work is in the crate `bootloader`; the boot loader for UEFI is in `uefi/`.
#![forbid(unsafe_code)]

#[cfg(all(feature = "bios", feature = "uefi"))]
compile_error!("an image builder is for one firmware: choose the feature bios or uefi");

#[cfg(feature = "bios")]
mod bios;
#[cfg(feature = "uefi")]
mod uefi;

use std::path::Path;
use std::process::ExitCode;

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
    let [kernel, ram_disk, image] = arguments else {
        return Err("use: margay-boot KERNEL RAMDISK IMAGE".into());
    };
    let [kernel, ram_disk, image] = [kernel, ram_disk, image].map(Path::new);
    #[cfg(feature = "bios")]
    let made = bios::write(kernel, ram_disk, image);
    #[cfg(feature = "uefi")]
    let made = uefi::write(kernel, ram_disk, image);
    made.map_err(|error| format!("the disk image {} cannot be written: {error:#}", image.display()))
}
