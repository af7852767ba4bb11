//! What to do with an interrupt or exception: wake or stop the core, report the rank that caused it, or panic.

use core::arch::asm;
use core::fmt;

use lwk_abi::exit::signal;
use x86_64::registers::control::Cr2;

use super::features::features;
use super::interrupt_controller;
use super::interrupts::{SPURIOUS, STOP, WAKE};
use super::trap_frame::TrapFrame;
use crate::core_local::Core;
use crate::{failure, node, panic, scheduler};

const DIVIDE: u64 = 0;
const DEBUG: u64 = 1;
const NON_MASKABLE: u64 = 2;
const BREAKPOINT: u64 = 3;
const OVERFLOW: u64 = 4;
const BOUND: u64 = 5;
const INVALID_OPCODE: u64 = 6;
const NO_COPROCESSOR: u64 = 7;
const DOUBLE_FAULT: u64 = 8;
const STACK_SEGMENT: u64 = 12;
const PROTECTION: u64 = 13;
const PAGE_FAULT: u64 = 14;
const X87: u64 = 16;
const ALIGNMENT: u64 = 17;
const MACHINE_CHECK: u64 = 18;
const SIMD: u64 = 19;
/// First vector that is not an exception.
const FIRST_INTERRUPT: u64 = 32;

/// How a page fault came about (Intel SDM volume 3, section 4.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFault {
    pub address: u64,
    pub write: bool,
    pub fetch: bool,
    /// The page was there, but not for this access.
    pub present: bool,
}

/// Why a rank cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Page(PageFault),
    /// General protection: a privileged instruction, a non-canonical address, an interrupt that is not for programs.
    Protection {
        error: u64,
    },
    Other {
        vector: u64,
    },
}

impl Cause {
    fn of(frame: &TrapFrame) -> Cause {
        match frame.vector {
            PAGE_FAULT => Cause::Page(PageFault {
                address: Cr2::read_raw(),
                write: frame.error & 1 << 1 != 0,
                fetch: frame.error & 1 << 4 != 0,
                present: frame.error & 1 != 0,
            }),
            PROTECTION => Cause::Protection { error: frame.error },
            vector => Cause::Other { vector },
        }
    }

    /// The signal that a Linux process would have died of.
    pub fn signal(self) -> i32 {
        match self {
            Cause::Page(_) | Cause::Protection { .. } => signal::SIGSEGV,
            Cause::Other { vector } => match vector {
                DIVIDE | X87 | SIMD => signal::SIGFPE,
                DEBUG | BREAKPOINT => signal::SIGTRAP,
                INVALID_OPCODE | NO_COPROCESSOR => signal::SIGILL,
                ALIGNMENT | STACK_SEGMENT => signal::SIGBUS,
                _ => signal::SIGSEGV,
            },
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Page(PageFault { address, fetch: true, .. }) => {
                write!(out, "a jump to address {address:#x}")
            }
            Cause::Page(PageFault { address, write: true, .. }) => {
                write!(out, "a write to address {address:#x}")
            }
            Cause::Page(PageFault { address, .. }) => write!(out, "a read of address {address:#x}"),
            Cause::Protection { error: 0 } => {
                write!(out, "a protection fault (privileged instruction or non-canonical address)")
            }
            // The error code of a software interrupt names its gate (Intel SDM volume 3, section 6.13).
            Cause::Protection { error } if error & 0b10 != 0 => {
                write!(out, "interrupt instruction {:#x}, which is not for programs", error >> 3)
            }
            Cause::Protection { error } => write!(out, "a protection fault (selector {error:#x})"),
            Cause::Other { vector } => match *vector {
                DIVIDE => write!(out, "a division error"),
                DEBUG => write!(out, "a debug trap"),
                BREAKPOINT => write!(out, "a breakpoint"),
                OVERFLOW => write!(out, "an overflow trap"),
                BOUND => write!(out, "a bounds trap"),
                INVALID_OPCODE => write!(out, "an invalid instruction"),
                NO_COPROCESSOR => write!(out, "a floating-point instruction that this processor lacks"),
                STACK_SEGMENT => write!(out, "a stack access at a non-canonical address"),
                X87 => write!(out, "an x87 floating-point error"),
                ALIGNMENT => write!(out, "a misaligned access with alignment checking on"),
                SIMD => write!(out, "a SIMD floating-point error"),
                vector => write!(out, "exception {vector}"),
            },
        }
    }
}

/// Called by the entry code on the core's kernel stack, or on an interrupt stack when a program was interrupted.
pub(super) extern "C" fn trap_entered(frame: &mut TrapFrame) {
    block_user_access();
    let core = Core::current();
    match frame.vector {
        NON_MASKABLE => return non_maskable(core, frame),
        DOUBLE_FAULT | MACHINE_CHECK => panic::exception(frame, &Cause::of(frame)),
        vector if vector < FIRST_INTERRUPT => {
            core.counters.count_vector(vector as u8);
            if !frame.from_user() {
                panic::exception(frame, &Cause::of(frame));
            }
            failure::rank_faulted(core, frame, Cause::of(frame));
        }
        vector => core.counters.count_vector(vector as u8),
    }
    match frame.vector as u8 {
        WAKE => interrupt_controller::end_of_interrupt(),
        STOP => {
            interrupt_controller::end_of_interrupt();
            if frame.from_user() {
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
        _ => panic::exception(frame, &Cause::of(frame)),
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
