//! The end of a machine: what the firmware's tables say of switching it off and resetting it, remembered from the boot.

use lwk_acpi::{PowerOff, Reset};

use crate::arch::power;

/// What is known; nothing on a machine without tables.
static WAYS: spin::Once<Ways> = spin::Once::new();

/// How this machine is ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ways {
    pub off: Option<PowerOff>,
    pub reset: Option<Reset>,
}

/// Remembers what the tables say. Once, at boot.
pub fn remember(ways: Ways) {
    log::debug!("{ways:?}");
    WAYS.call_once(|| ways);
}

/// Switches the machine off, or resets it if that cannot be done.
pub fn off() -> ! {
    if let Some(how) = WAYS.get().and_then(|ways| ways.off) {
        power::switch_off(&how);
    }
    log::warn!("this machine cannot be switched off: it is reset");
    crate::console::drain();
    reset()
}

/// Resets the machine.
pub fn reset() -> ! {
    power::reset(WAYS.get().and_then(|ways| ways.reset))
}
