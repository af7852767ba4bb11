//! What the kernel needs of the firmware's ACPI tables: the cores, a timer to calibrate the clock against, and where devices are configured.

use core::ptr::NonNull;

use acpi::sdt::fadt::Fadt;
use acpi::sdt::madt::{Madt, MadtEntry};
use acpi::sdt::mcfg::{Mcfg, McfgEntry};
use acpi::{AcpiTables, Handler, PciAddress, PhysicalMapping};
use arrayvec::ArrayVec;
use lwk_mm::address::PhysAddr;

use crate::arch::clock::{self, Timer};
use crate::arch::linear_map::linear;
use crate::boot::Machine;
use crate::core_local::CORES_MAX;

/// Where the configuration space of the first PCI segment is in memory (PCI Firmware 3.2, section 4.1.2).
#[derive(Clone, Copy, Debug)]
pub struct ConfigurationMemory {
    /// Physical address of bus 0, which is there only if `first_bus` is 0.
    pub address: u64,
    pub first_bus: u8,
    pub last_bus: u8,
}

/// What the firmware says about the node (ACPI specification 6.5, sections 5.2.9 and 5.2.12).
#[derive(Debug, Default)]
pub struct Tables {
    /// Interrupt controller numbers of the cores that may be used, in the firmware's order.
    pub cores: ArrayVec<u32, CORES_MAX>,
    /// Cores beyond the most the kernel can use.
    pub surplus_cores: usize,
    /// None if the tables tell of no such timer, or of one without a port.
    pub timer: Option<Timer>,
    /// None if devices are configured by I/O ports only.
    pub configuration: Option<ConfigurationMemory>,
}

const CORE_ENABLED: u32 = 1;

/// Reads the tables. Without them, or with ones that cannot be read (which a warning says), no core is listed and there is no timer:
/// the boot core is then the only one.
pub fn read(machine: &Machine) -> Tables {
    let mut found = Tables::default();
    let Some(root) = machine.rsdp else { return found };
    // SAFETY: the boot loader passes on the firmware's root pointer, and the linear map covers what it leads to.
    let tables = match unsafe { AcpiTables::from_rsdp(LinearHandler, root as usize) } {
        Ok(tables) => tables,
        Err(problem) => {
            log::warn!("the firmware's ACPI tables cannot be read: {problem:?}");
            return found;
        }
    };
    if let Some(madt) = tables.find_table::<Madt>() {
        for entry in madt.get().entries() {
            let (id, flags) = match entry {
                MadtEntry::LocalApic(core) => (u32::from(core.apic_id), core.flags),
                MadtEntry::LocalX2Apic(core) => (core.x2apic_id, core.flags),
                _ => continue,
            };
            if flags & CORE_ENABLED != 0 && !found.cores.contains(&id) && found.cores.try_push(id).is_err() {
                found.surplus_cores += 1;
            }
        }
    }
    if let Some(fadt) = tables.find_table::<Fadt>() {
        found.timer = timer(&fadt);
    }
    // The table's reader takes a table's own word for its length.
    let whole = |mcfg: &Mcfg| mcfg.header.length as usize >= size_of::<Mcfg>();
    if let Some(mcfg) = tables.find_table::<Mcfg>().filter(|mcfg| whole(mcfg)) {
        found.configuration = configuration(mcfg.get().entries());
    }
    found
}

fn timer(fadt: &Fadt) -> Option<Timer> {
    let block = fadt.pm_timer_block().ok()??;
    let port = u16::try_from(block.address).ok().filter(|port| *port != 0)?;
    let flags = fadt.flags;
    Some(Timer { port, mask: if flags.pm_timer_is_32_bit() { u32::MAX } else { 0x00ff_ffff } })
}

fn configuration(entries: &[McfgEntry]) -> Option<ConfigurationMemory> {
    let found = entries.iter().find(|entry| entry.pci_segment_group == 0 && entry.bus_number_start == 0)?;
    let place = ConfigurationMemory {
        address: found.base_address,
        first_bus: found.bus_number_start,
        last_bus: found.bus_number_end,
    };
    (place.address != 0).then_some(place)
}

/// Gives the table reader the linear map.
#[derive(Clone)]
struct LinearHandler;

impl LinearHandler {
    fn pointer<T>(address: usize) -> *mut T {
        linear(PhysAddr::new_truncate(address as u64)).cast()
    }
}

/// Only ACPI's byte code uses these, and the kernel runs none.
const NO_BYTE_CODE: &str = "the tables are data: no ACPI byte code is run";

impl Handler for LinearHandler {
    // What the trait has its caller promise is not needed here: the linear map covers every region, and is never taken away.
    unsafe fn map_physical_region<T>(
        &self,
        physical_address: usize,
        size: usize,
    ) -> PhysicalMapping<Self, T> {
        PhysicalMapping {
            physical_start: physical_address,
            virtual_start: NonNull::new(Self::pointer(physical_address))
                .expect("the linear map is not at address 0"),
            region_length: size,
            mapped_length: size,
            handler: LinearHandler,
        }
    }

    fn unmap_physical_region<T>(_: &PhysicalMapping<Self, T>) {}

    fn read_u8(&self, _: usize) -> u8 {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn read_u16(&self, _: usize) -> u16 {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn read_u32(&self, _: usize) -> u32 {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn read_u64(&self, _: usize) -> u64 {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn write_u8(&self, _: usize, _: u8) {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn write_u16(&self, _: usize, _: u16) {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn write_u32(&self, _: usize, _: u32) {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn write_u64(&self, _: usize, _: u64) {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn read_io_u8(&self, _: u16) -> u8 {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn read_io_u16(&self, _: u16) -> u16 {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn read_io_u32(&self, _: u16) -> u32 {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn write_io_u8(&self, _: u16, _: u8) {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn write_io_u16(&self, _: u16, _: u16) {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn write_io_u32(&self, _: u16, _: u32) {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn read_pci_u8(&self, _: PciAddress, _: u16) -> u8 {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn read_pci_u16(&self, _: PciAddress, _: u16) -> u16 {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn read_pci_u32(&self, _: PciAddress, _: u16) -> u32 {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn write_pci_u8(&self, _: PciAddress, _: u16, _: u8) {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn write_pci_u16(&self, _: PciAddress, _: u16, _: u16) {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn write_pci_u32(&self, _: PciAddress, _: u16, _: u32) {
        unreachable!("{NO_BYTE_CODE}")
    }
    fn nanos_since_boot(&self) -> u64 {
        clock::nanoseconds(clock::ticks())
    }
    fn stall(&self, microseconds: u64) {
        clock::delay(microseconds);
    }
    fn sleep(&self, milliseconds: u64) {
        clock::delay(milliseconds * 1000);
    }
}
