//! Disk images for BIOS, by the crate `bootloader`.

use std::path::Path;

use bootloader::{BootConfig, DiskImageBuilder};

/// The least screen the boot loader asks the firmware for, in pixels: 128 columns and 48 rows of the console's font.
const SCREEN: (u64, u64) = (1024, 768);

/// Writes the image. Errors: a file cannot be read or written.
pub fn write(kernel: &Path, ram_disk: &Path, image: &Path) -> anyhow::Result<()> {
    let mut config = BootConfig::default();
    config.serial_logging = false;
    config.frame_buffer_logging = false;
    config.frame_buffer.minimum_framebuffer_width = Some(SCREEN.0);
    config.frame_buffer.minimum_framebuffer_height = Some(SCREEN.1);
    let mut builder = DiskImageBuilder::new(kernel.into());
    builder.set_ramdisk(ram_disk.into()).set_boot_config(&config);
    builder.create_bios_image(image)
}
