//! Machine checks: banks of registers in which the processor notes errors of memory, caches and buses (Intel SDM volume 3B, chapter 16). Uncorrected ones
//! raise an exception, which ends the node; corrected ones wait in their banks until somebody looks.

use lwk_failure::MachineCheck;
use raw_cpuid::CpuId;
use x86_64::registers::model_specific::Msr;

use super::features::features;

const CAPABILITIES: u32 = 0x179;
const GLOBAL_CONTROL: u32 = 0x17b;
/// Of bank 0; each bank has four registers.
const CONTROL: u32 = 0x400;
const STATUS: u32 = 0x401;
const ADDRESS: u32 = 0x402;
/// Bits of the capabilities: how many banks there are; there is a global control register.
const BANKS: u64 = 0xff;
const HAS_GLOBAL_CONTROL: u64 = 1 << 8;
/// More banks than these have registers elsewhere.
const BANKS_MAX: u8 = 32;
/// Processors of family 6 before this model leave bank 0 to the firmware (section 16.5).
const FIRST_FREE_MODEL: u8 = 0x1a;

/// How many banks this core has; 0 without the feature.
fn banks() -> u8 {
    if !features().machine_check_banks {
        return 0;
    }
    // SAFETY: the register exists where the feature does.
    let capabilities = unsafe { Msr::new(CAPABILITIES).read() };
    ((capabilities & BANKS) as u8).min(BANKS_MAX)
}

fn register(of_bank_0: u32, bank: u8) -> Msr {
    Msr::new(of_bank_0 + 4 * u32::from(bank))
}

/// Enables all errors of this core's banks, and empties the banks of what was before the boot, which it says.
pub(super) fn enable() {
    take(&mut |it| log::info!("before the boot: {it}"));
    let leave_first = CpuId::new()
        .get_feature_info()
        .is_some_and(|info| info.family_id() == 6 && info.model_id() < FIRST_FREE_MODEL);
    for bank in u8::from(leave_first)..banks() {
        // SAFETY: the bank exists, and every bit may be set: those that mean nothing are ignored.
        unsafe { register(CONTROL, bank).write(u64::MAX) };
    }
    // SAFETY: with banks the capabilities' register exists, and the other one if these say so.
    unsafe {
        if banks() > 0 && Msr::new(CAPABILITIES).read() & HAS_GLOBAL_CONTROL != 0 {
            Msr::new(GLOBAL_CONTROL).write(u64::MAX);
        }
    }
}

/// Gives the errors that this core's banks hold to `with`, and empties them.
pub fn take(with: &mut dyn FnMut(MachineCheck)) {
    for bank in 0..banks() {
        // SAFETY: the bank exists; its address is read only if its status says that there is one.
        let held = unsafe {
            let status = register(STATUS, bank).read();
            MachineCheck::new(bank, status, || register(ADDRESS, bank).read())
        };
        if let Some(held) = held {
            with(held);
            // SAFETY: a status may be set to zero.
            unsafe { register(STATUS, bank).write(0) };
        }
    }
}
