//! What the kernel needs of the firmware's ACPI tables, read through the linear map: the cores, which memory is near them, a timer to
//! calibrate the clock against, where devices are configured, and how the machine is switched off.

use arrayvec::ArrayVec;
use bootloader_api::info::{MemoryRegion, MemoryRegionKind};
use lwk_acpi::{Affinity, ConfigurationSpace, Distances, Memory, SerialConsole, Timer};
use lwk_mm::address::PhysAddr;

use crate::arch::interrupt_controller;
use crate::arch::linear_map::linear;
use crate::boot::Machine;
use crate::core_local::CORES_MAX;
use crate::memory;
use crate::power::Ways;

/// What the firmware says about the node.
#[derive(Default)]
pub struct Tables {
    /// Interrupt controller numbers of the cores that may be used, in the firmware's order.
    pub cores: ArrayVec<u32, CORES_MAX>,
    /// Cores beyond the most the kernel can use.
    pub surplus_cores: usize,
    /// Cores whose numbers this machine's interrupt controllers cannot name.
    pub unnamed_cores: usize,
    /// Physical address of the high precision event timer's registers.
    pub event_timer: Option<u64>,
    /// None if the tables tell of no such timer, or of one without a port.
    pub timer: Option<Timer>,
    /// The serial port that is the console; None if the tables name none.
    pub console: Option<SerialConsole>,
    /// None if devices are configured by I/O ports only.
    pub configuration: Option<ConfigurationSpace>,
    /// None if the tables tell of none: all memory is equally near then.
    pub affinity: Option<Affinity<'static>>,
    pub distances: Distances<'static>,
    /// How the machine is switched off and reset.
    pub ends: Ways,
}

/// Reads the tables. Without them, or with ones that cannot be read (which a warning says), no core is listed and there is no timer:
/// the boot core is then the only one.
pub fn read(machine: &Machine) -> Tables {
    let mut found = Tables::default();
    let Some(root) = machine.rsdp else { return found };
    let tables = match lwk_acpi::Tables::new(FirmwareMemory { regions: machine.regions }, root) {
        Ok(tables) => tables,
        Err(problem) => {
            log::warn!("the firmware's ACPI tables cannot be read: {problem}");
            return found;
        }
    };
    let madt = tables.find(b"APIC");
    for id in madt.iter().flat_map(lwk_acpi::processors) {
        if id > interrupt_controller::highest_id() {
            found.unnamed_cores += 1;
        } else if !found.cores.contains(&id) && found.cores.try_push(id).is_err() {
            found.surplus_cores += 1;
        }
    }
    let fadt = tables.find(b"FACP");
    found.timer = fadt.as_ref().and_then(lwk_acpi::timer);
    found.event_timer = tables.find(b"HPET").and_then(|hpet| lwk_acpi::event_timer(&hpet));
    found.console = tables.find(b"SPCR").and_then(|spcr| lwk_acpi::serial_console(&spcr));
    let reset = fadt.as_ref().and_then(lwk_acpi::reset);
    found.ends = Ways { off: lwk_acpi::power_off(&tables), reset };
    // Of the first segment, whose first bus the card is looked for from.
    let first = |space: &ConfigurationSpace| space.segment == 0 && space.first_bus == 0;
    let mcfg = tables.find(b"MCFG");
    found.configuration = mcfg.iter().flat_map(lwk_acpi::configuration_spaces).find(first);
    found.affinity = tables.find(b"SRAT").map(Affinity::new);
    found.distances = Distances::new(tables.find(b"SLIT"), tables.find(b"HMAT"));
    found
}

/// All that the linear map covers but free memory: what the firmware keeps for itself.
#[derive(Clone, Copy)]
struct FirmwareMemory {
    regions: &'static [MemoryRegion],
}

impl Memory<'static> for FirmwareMemory {
    fn read(self, address: u64, bytes: usize) -> Option<&'static [u8]> {
        let end = address.checked_add(bytes as u64)?;
        let is_free = |region: &MemoryRegion| region.kind == MemoryRegionKind::Usable;
        let free = self.regions.iter().any(|it| is_free(it) && it.start < end && address < it.end);
        if free || address == 0 || end > memory::linear_end(self.regions) {
            return None;
        }
        // SAFETY: the linear map covers these bytes for the kernel's life. The kernel writes to no memory that the firmware does not list as free, but for
        // devices' registers, where no table lies: one that is read there does not add up to zero, and counts for nothing.
        Some(unsafe { core::slice::from_raw_parts(linear(PhysAddr::new_truncate(address)), bytes) })
    }
}
