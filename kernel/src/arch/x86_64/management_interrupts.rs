//! System management interrupts (SMI): firmware takes the processor for them, and no kernel sees it. Intel's processors count them (Intel SDM volume 4,
//! table 2-15, MSR_SMI_COUNT).

use x86_64::registers::model_specific::Msr;

use super::features::features;
use super::ports;

const COUNT: u32 = 0x34;
/// The bits that count; the others are reserved.
const COUNTED: u64 = 0xffff_ffff;

/// How many this core has taken since its reset. None where the processor does not say.
pub fn count() -> Option<u64> {
    // SAFETY: reading the register has no effect, and it is there (`Features`).
    features().management_interrupts.then(|| unsafe { Msr::new(COUNT).read() & COUNTED })
}

/// Raises one on this core, for tests: a command to the firmware that means nothing (ICH9 data sheet, section 13.7.1, APM_CNT).
pub fn raise() {
    const COMMAND: u16 = 0xb2;
    // SAFETY: the firmware of the virtual machines that tests run in ignores commands that it does not know.
    unsafe { ports::write_u8(COMMAND, 0) };
}
