//! Margay's boot loader for UEFI: reads kernel and RAM disk from the volume it was started from, chooses a screen that text can be drawn on,
//! and starts the kernel.
//!
//! It differs from the boot loader of the crate `bootloader` in what a node needs: a machine whose screen cannot be drawn on boots without one, and
//! what cannot work is said in one line, after which the firmware goes on. The rest of the work is in `bootloader-x86_64-common`.
#![no_std]
#![no_main]
#![allow(clippy::disallowed_types, reason = "one processor runs; there are no ranks yet")]

mod files;
mod memory;
mod problem;
mod screen;

use bootloader_boot_config::BootConfig;
use bootloader_x86_64_common::{Kernel, SystemInfo, load_and_switch_to_kernel};
use uefi::prelude::{Boot, BootServices, Handle, Status, SystemTable, entry};
use uefi::proto::ProtocolPointer;
use uefi::table::boot::{OpenProtocolAttributes, OpenProtocolParams, ScopedProtocol};
use uefi::table::cfg::{ACPI_GUID, ACPI2_GUID, ConfigTableEntry};
use x86_64::PhysAddr;
use x86_64::registers::control::{Cr4, Cr4Flags};

use crate::problem::Problem;

#[entry]
fn start(image: Handle, mut system: SystemTable<Boot>) -> Status {
    problem::open(&mut system);
    let Err(problem) = boot(image, &system);
    problem::say(&mut system, format_args!("{problem}"));
    Status::LOAD_ERROR
}

/// Starts the kernel. Errors: what the firmware's owner can do something about.
fn boot(image: Handle, system: &SystemTable<Boot>) -> Result<core::convert::Infallible, Problem> {
    if Cr4::read().contains(Cr4Flags::L5_PAGING) {
        return Err(Problem::FiveLevels);
    }
    let kernel = Kernel::parse(files::read(image, system.boot_services(), files::KERNEL)?);
    let ram_disk = files::read(image, system.boot_services(), files::RAM_DISK)?;
    // Last: from here on, what the firmware prints may not be seen.
    let framebuffer = screen::find(image, system.boot_services());
    problem::close();

    // SAFETY: nothing of the firmware's boot services is used from here on; the borrow of them in `start` is used again only if this function
    // returns, which it does not.
    let (system, mut map) = unsafe { system.unsafe_clone() }.exit_boot_services();
    map.sort();
    let root = root_pointer(system.config_table());
    let mut frames = memory::frames(&map, root.map(tables));
    let page_tables = memory::page_tables(&mut frames, framebuffer.as_ref());
    let info = SystemInfo {
        framebuffer,
        rsdp_addr: root,
        ramdisk_addr: Some(ram_disk.as_ptr() as u64),
        ramdisk_len: ram_disk.len() as u64,
    };
    load_and_switch_to_kernel(kernel, silent(), frames, page_tables, info)
}

/// A protocol of a handle. No driver is taken off it, so that the firmware's console goes on.
fn open<P: ProtocolPointer>(
    services: &BootServices,
    image: Handle,
    handle: Handle,
) -> uefi::Result<ScopedProtocol<'_, P>> {
    let handles = OpenProtocolParams { handle, agent: image, controller: None };
    // SAFETY: this program is done with it before the firmware is, and starts no driver that could take it away.
    unsafe { services.open_protocol(handles, OpenProtocolAttributes::GetProtocol) }
}

/// The serial line and the screen belong to the kernel.
fn silent() -> BootConfig {
    let mut config = BootConfig::default();
    config.serial_logging = false;
    config.frame_buffer_logging = false;
    config
}

/// ACPI's root pointer, the later one if there are two.
fn root_pointer(entries: &[ConfigTableEntry]) -> Option<PhysAddr> {
    let named = |guid| entries.iter().find(|entry| entry.guid == guid);
    named(ACPI2_GUID).or_else(|| named(ACPI_GUID)).map(|entry| PhysAddr::new(entry.address as u64))
}

/// Where the root pointer lies, and the list of tables that it leads to (ACPI specification 6.5, section 5.2.5).
fn tables(root: PhysAddr) -> [u64; 2] {
    const REVISION: u64 = 15;
    const SHORT_LIST: u64 = 16;
    const LONG_LIST: u64 = 24;
    let field = |offset| (root.as_u64() + offset) as *const u8;
    // SAFETY: the firmware says that its root pointer is there, and maps all memory at its own address.
    let (long, short) = unsafe {
        let long = field(REVISION).read() >= 2;
        (
            if long { field(LONG_LIST).cast::<u64>().read_unaligned() } else { 0 },
            field(SHORT_LIST).cast::<u32>().read_unaligned(),
        )
    };
    [root.as_u64(), if long == 0 { short.into() } else { long }]
}
