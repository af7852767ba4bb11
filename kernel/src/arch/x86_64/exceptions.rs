//! What to do with an interrupt or exception: wake or stop the core, report the rank that caused it, or panic.

use core::arch::asm;

use lwk_failure::Fault;
use x86_64::registers::control::Cr2;

use super::entry::EXCEPTIONS;
use super::features::features;
use super::interrupt_controller;
use super::interrupts::{SPURIOUS, STOP, WAKE};
use super::trap_frame::TrapFrame;
use crate::core_local::Core;
use crate::syscall::signals;
use crate::{failure, node, panic, scheduler};

const NON_MASKABLE: u64 = 2;
const DOUBLE_FAULT: u64 = 8;
const PAGE_FAULT: u64 = 14;
const MACHINE_CHECK: u64 = 18;
/// First vector that is not an exception.
const FIRST_INTERRUPT: u64 = EXCEPTIONS as u64;

/// What the processor says of the exception that made `frame`.
fn fault(frame: &TrapFrame) -> Fault {
    let address = if frame.vector == PAGE_FAULT { Cr2::read_raw() } else { 0 };
    Fault { vector: frame.vector as u8, error_code: frame.error, address }
}

/// Called by the entry code of a core that has no structure yet.
pub(super) extern "C" fn early_trap_entered(frame: &TrapFrame) -> ! {
    panic::exception(frame, fault(frame))
}

/// Called by the entry code on the core's kernel stack, or on an interrupt stack when a program was interrupted.
pub(super) extern "C" fn trap_entered(frame: &mut TrapFrame) {
    block_user_access();
    let core = Core::current();
    match frame.vector {
        NON_MASKABLE => return non_maskable(core, frame),
        DOUBLE_FAULT | MACHINE_CHECK => panic::exception(frame, fault(frame)),
        vector if vector < FIRST_INTERRUPT => {
            core.counters.count_vector(vector as u8);
            if !frame.is_of_user() {
                panic::exception(frame, fault(frame));
            }
            let fault = fault(frame);
            if signals::take_fault(core, frame, &fault) {
                return;
            }
            failure::rank_faulted(core, frame, fault);
        }
        vector => core.counters.count_vector(vector as u8),
    }
    match frame.vector as u8 {
        WAKE => interrupt_controller::end_of_interrupt(),
        STOP => {
            interrupt_controller::end_of_interrupt();
            if frame.is_of_user() {
                scheduler::stop_ranks_of_core(core);
                scheduler::abandon_stack_and_run(core);
            }
        }
        SPURIOUS => {}
        vector => {
            log::warn!("core {}: unexpected interrupt {vector:#x}", core.index());
            interrupt_controller::end_of_interrupt();
        }
    }
}

/// Called by the entry code for what can strike anywhere in the kernel.
pub(super) extern "C" fn trap_entered_anywhere(frame: &mut TrapFrame) {
    block_user_access();
    match frame.vector {
        NON_MASKABLE => non_maskable(Core::current(), frame),
        _ => panic::exception(frame, fault(frame)),
    }
}

/// A non-maskable interrupt means: another core has panicked (halt), or somebody asks where everybody is (the host at its
/// time limit, or the button on a real machine), which ends the job.
fn non_maskable(core: &'static Core, frame: &TrapFrame) {
    core.counters.count_vector(NON_MASKABLE as u8);
    if panic::in_progress() {
        super::interrupts::halt_for_ever();
    }
    node::report_where(core, frame);
}

/// An interrupted program may have left the alignment-check flag set, which would switch access prevention off.
fn block_user_access() {
    if features().smap {
        // SAFETY: the processor has the instruction; the kernel needs the flag nowhere.
        unsafe { asm!("clac", options(nomem, nostack)) };
    }
}
