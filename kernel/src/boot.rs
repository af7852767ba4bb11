//! What the boot loader tells: memory map, RAM disk, firmware tables, frame buffer.

use bootloader_api::BootInfo;
use bootloader_api::config::{BootloaderConfig, Mapping};
use bootloader_api::info::{FrameBufferInfo, MemoryRegion, MemoryRegionKind};

use crate::arch::linear_map::{LINEAR_MAP, LOADER_LAST, LOADER_START};

/// The stack of the boot core until it runs ranks, which have stacks of their own in the kernel; as large as no other, because the whole
/// boot runs on it.
const BOOT_STACK_BYTES: u64 = 128 << 10;

/// What the kernel asks of the boot loader: everything in the upper half, all physical memory mapped at
/// [`LINEAR_MAP`].
pub static CONFIG: BootloaderConfig = {
    let mut config = BootloaderConfig::new_default();
    config.kernel_stack_size = BOOT_STACK_BYTES;
    config.mappings.physical_memory = Some(Mapping::FixedAddress(LINEAR_MAP));
    config.mappings.dynamic_range_start = Some(LOADER_START);
    config.mappings.dynamic_range_end = Some(LOADER_LAST);
    config
};

/// A frame buffer: its pixels, row by row, and their format. The boot loader has mapped them for the kernel's life.
pub struct Screen {
    pub pixels: &'static mut [u8],
    pub info: FrameBufferInfo,
}

/// The machine as the firmware and the boot loader describe it.
pub struct Machine {
    /// Physical memory, in the firmware's order.
    pub regions: &'static [MemoryRegion],
    /// Physical address of ACPI's root pointer; none on a machine without ACPI.
    pub rsdp: Option<u64>,
    /// The RAM disk: an archive with the job (see `lwk_abi::job_file`); empty if the image has none.
    pub ram_disk: &'static [u8],
    pub screen: Option<Screen>,
    /// Bytes of the kernel's file in the boot image.
    pub kernel_bytes: u64,
}

impl From<&'static mut BootInfo> for Machine {
    fn from(info: &'static mut BootInfo) -> Machine {
        let ram_disk: &'static [u8] = match info.ramdisk_addr.into_option() {
            // SAFETY: the boot loader mapped `ramdisk_len` bytes there for the kernel's life, and nothing writes them.
            Some(address) => unsafe {
                core::slice::from_raw_parts(address as *const u8, info.ramdisk_len as usize)
            },
            None => &[],
        };
        let screen = info.framebuffer.take().map(|buffer| {
            let info = buffer.info();
            Screen { pixels: buffer.into_buffer(), info }
        });
        Machine {
            regions: &info.memory_regions,
            rsdp: info.rsdp_addr.into_option(),
            ram_disk,
            screen,
            kernel_bytes: info.kernel_len,
        }
    }
}

impl Machine {
    /// Bytes of memory the machine has: what is free and what the boot loader used.
    pub fn memory_bytes(&self) -> u64 {
        let is_memory = |kind| matches!(kind, MemoryRegionKind::Usable | MemoryRegionKind::Bootloader);
        self.regions
            .iter()
            .filter(|region| is_memory(region.kind))
            .map(|region| region.end - region.start)
            .sum()
    }
}
