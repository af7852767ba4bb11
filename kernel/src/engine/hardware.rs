//! A copy engine that the machine has: found on the PCI bus, its registers mapped, its rings in memory that it reaches.
//!
//! It is looked for once, before any rank runs. What the driver does not take is left alone, and the model is used.

use core::fmt;

use lwk_ioat::registers::{REGISTER_BYTES, Window};
use lwk_ioat::{ChannelState, Found, Ioat, Ring};
use lwk_pci::Function;

use super::device::CHANNELS;
use crate::arch::linear_map::physical;
use crate::configuration::Space;
use crate::memory;

/// It, ready for its driver.
#[derive(Debug)]
pub struct Hardware {
    function: Function,
    pub window: Window,
    pub rings: &'static [Ring],
    /// Where the device finds the rings: their physical address.
    pub bus: u64,
}

// SAFETY: registers and rings are used by atomic accesses only, and stay for ever.
unsafe impl Sync for Hardware {}

static HARDWARE: spin::Once<Hardware> = spin::Once::new();

/// Looks for a device, once.
pub fn find(space: &mut Space) {
    let Some(found) = lwk_ioat::find(space) else { return };
    lwk_pci::switch_on(space, found.function);
    match take(&found) {
        Some(hardware) => {
            HARDWARE.call_once(|| hardware);
            log::debug!("copy engine at {}", found.function);
        }
        None => log::debug!("the copy engine at {} cannot be used", found.function),
    }
}

fn take(found: &Found) -> Option<Hardware> {
    // SAFETY: the device's own memory, where the firmware has put it.
    let registers = unsafe { memory::map_device(found.registers.address, REGISTER_BYTES as u64)? };
    // SAFETY: so many bytes of registers, mapped for ever just now, and used by this window only.
    let window = unsafe { Window::new(registers) };
    let rings: &[Ring] = memory::place([const { Ring::new() }; CHANNELS])?;
    let bus = physical(rings.as_ptr());
    let mut states = [ChannelState::new(); CHANNELS];
    Ioat::attach(window, rings, bus, &mut states, || false)?;
    Some(Hardware { function: found.function, window, rings, bus })
}

/// The device that was found.
pub fn get() -> Option<&'static Hardware> {
    HARDWARE.get()
}

/// What makes the copies, for the report: the device by its place on the bus, or the model.
pub struct Name;

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match get() {
            Some(hardware) => write!(out, "{}", hardware.function),
            None => write!(out, "model"),
        }
    }
}
