//! Failures of the kernel on demand, so that its own end can be tested: every kind ends in a panic report and a status of
//! its own, never in a hang or a silent reset.

use core::sync::atomic::{AtomicBool, Ordering};

use lwk_job::Inject;

use crate::arch;
use crate::core_local::Core;

/// An address of the upper half that nothing is mapped at.
const UNMAPPED: *const u64 = 0xffff_fffe_0000_0000 as *const u64;

/// Whether the firmware is to interrupt the boot core; relaxed, for only that core uses it.
static INTERRUPT: AtomicBool = AtomicBool::new(false);

/// A core's first program is about to begin.
pub fn at_first_program() {
    if Core::current().index() == 0 && INTERRUPT.load(Ordering::Relaxed) {
        arch::management_interrupts::raise();
    }
}

/// Fails as asked, on this core's kernel stack; on the boot core, before it runs a rank. Returns if that would be at another time.
pub fn fail(kind: Inject) {
    let function = match kind {
        Inject::Panic => broken_invariant,
        Inject::PageFault => read_unmapped,
        Inject::StackOverflow => overflow_stack,
        Inject::InvalidInstruction => run_invalid_instruction,
        Inject::EarlyPageFault
        | Inject::CorePageFault
        | Inject::LostCore
        | Inject::StaleMemory
        | Inject::SkewedCounters => {
            return;
        }
        Inject::ManagementInterrupt => {
            INTERRUPT.store(true, Ordering::Relaxed);
            return;
        }
    };
    arch::core_block::restart_stack(function)
}

extern "C" fn broken_invariant() -> ! {
    panic!("a failure was asked for with `inject`")
}

/// Reads an address where nothing is mapped.
pub extern "C" fn read_unmapped() -> ! {
    // SAFETY: nothing is ever mapped there, so that no memory is read: the access faults, which is the purpose, and the fault handler
    // does not return.
    let value = unsafe { UNMAPPED.read_volatile() };
    unreachable!("unmapped memory cannot be read, yet holds {value}")
}

extern "C" fn overflow_stack() -> ! {
    let depth = recurse(0);
    unreachable!("the stack has a guard, yet took {depth} frames")
}

#[inline(never)]
fn recurse(depth: u64) -> u64 {
    let frame = core::hint::black_box([depth; 64]);
    if frame[0] == u64::MAX { 0 } else { recurse(depth + 1) + core::hint::black_box(frame)[1] }
}

extern "C" fn run_invalid_instruction() -> ! {
    arch::interrupts::invalid_instruction()
}
