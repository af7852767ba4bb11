//! The machine's PCI configuration space: memory where the firmware names it (MCFG; PCI Firmware 3.2, section 4.1.2), else I/O ports (PCI 3.0, section
//! 3.2.2.3.2).

use core::ptr::NonNull;

use lwk_acpi::ConfigurationSpace;
use lwk_nic::Registers;
use lwk_pci::{Configuration, Function};

use crate::arch::configuration_ports;
use crate::memory;

const BUS_BYTES: u64 = 1 << 20;

/// How the space is reached. There is one at a time.
pub enum Space {
    Memory { registers: Registers, first_bus: u8, last_bus: u8 },
    Ports,
}

impl Space {
    /// The space of this machine.
    pub fn open(place: Option<ConfigurationSpace>) -> Space {
        let open = |place: ConfigurationSpace| {
            let ConfigurationSpace { base: address, first_bus, last_bus, .. } = place;
            let start = address.checked_add(u64::from(first_bus) * BUS_BYTES)?;
            let bytes = (u64::from(last_bus.checked_sub(first_bus)?) + 1) * BUS_BYTES;
            // SAFETY: the firmware says that the configuration space is there.
            let memory: NonNull<u8> = unsafe { memory::map_device(start, bytes)? };
            // SAFETY: device memory by the firmware's word, mapped just now; whoever has the value has it alone.
            let registers = unsafe { Registers::new(memory, bytes as usize) };
            Some(Space::Memory { registers, first_bus, last_bus })
        };
        place.and_then(open).unwrap_or(Space::Ports)
    }
}

fn port_address(function: Function, offset: u8) -> u32 {
    let Function { bus, device, function } = function;
    u32::from(bus) << 16 | u32::from(device) << 11 | u32::from(function) << 8 | u32::from(offset & !3)
}

impl Configuration for Space {
    fn read(&self, function: Function, offset: u8) -> u32 {
        match self {
            Space::Memory { registers, first_bus, last_bus } => {
                if !(*first_bus..=*last_bus).contains(&function.bus) {
                    return u32::MAX;
                }
                let at = function.offset() - u64::from(*first_bus) * BUS_BYTES + u64::from(offset & !3);
                registers.word(at as usize).read()
            }
            Space::Ports => configuration_ports::read(port_address(function, offset)),
        }
    }

    fn write(&mut self, function: Function, offset: u8, value: u32) {
        match self {
            Space::Memory { registers, first_bus, last_bus } => {
                if (*first_bus..=*last_bus).contains(&function.bus) {
                    let at = function.offset() - u64::from(*first_bus) * BUS_BYTES + u64::from(offset & !3);
                    registers.word(at as usize).write(value);
                }
            }
            Space::Ports => configuration_ports::write(port_address(function, offset), value),
        }
    }
}
