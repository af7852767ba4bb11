//! What happens to the processor: system calls, exceptions, interrupts. Each goes to the handlers that the kernel has given, so that
//! nothing here knows what a rank or a job is.

use core::arch::asm;

use lwk_failure::Fault;
use x86_64::registers::control::Cr2;

use super::entry::EXCEPTIONS;
use super::features::features;
use super::interrupt_controller;
use super::interrupts::{SPURIOUS, halt_for_ever};
use super::trap_frame::TrapFrame;

/// Vector of the non-maskable interrupt.
pub const NON_MASKABLE: u8 = 2;
const DOUBLE_FAULT: u64 = 8;
const PAGE_FAULT: u64 = 14;
const MACHINE_CHECK: u64 = 18;
/// First vector that is not an exception.
pub const FIRST_INTERRUPT: u8 = EXCEPTIONS as u8;

/// Why the kernel was entered, but for a system call.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// An exception of a program's.
    Fault(Fault),
    /// An interrupt at this vector, of which the controller has been told. It may have struck a program, or a core that waits.
    Interrupt(u8),
    /// A non-maskable interrupt, which may have struck the kernel anywhere.
    NonMaskable,
}

/// Who sees to what happens. All are called with interrupts disabled.
pub struct Handlers {
    /// A program has made a system call: the frame holds it, and then what the program goes on with.
    pub system_call: fn(&mut TrapFrame),
    /// Something else has happened; the frame is that of whatever was running.
    pub event: fn(&mut TrapFrame, Event),
    /// The kernel itself has failed.
    pub kernel_fault: fn(&TrapFrame, Fault) -> !,
}

static HANDLERS: spin::Once<&'static Handlers> = spin::Once::new();

/// Says who sees to what happens; the first word counts.
pub(super) fn set_handlers(handlers: &'static Handlers) {
    HANDLERS.call_once(|| handlers);
}

/// Those handlers. They are set before a core has the tables by which it could get here.
fn handlers() -> &'static Handlers {
    HANDLERS.get().copied().unwrap_or_else(|| halt_for_ever())
}

/// What the processor says of the exception that made `frame`.
fn fault(frame: &TrapFrame) -> Fault {
    let address = if frame.vector == PAGE_FAULT { Cr2::read_raw() } else { 0 };
    Fault { vector: frame.vector as u8, error_code: frame.error, address }
}

/// Called by the entry code on the core's kernel stack.
pub(super) extern "C" fn syscall_entered(frame: &mut TrapFrame) {
    (handlers().system_call)(frame);
}

/// Called by the entry code of a core that has no structure yet.
pub(super) extern "C" fn early_trap_entered(frame: &TrapFrame) -> ! {
    (handlers().kernel_fault)(frame, fault(frame))
}

/// Called by the entry code on the core's kernel stack, or on an interrupt stack when a program was interrupted.
pub(super) extern "C" fn trap_entered(frame: &mut TrapFrame) {
    block_user_access();
    let event = match frame.vector {
        vector if vector == NON_MASKABLE.into() => Event::NonMaskable,
        DOUBLE_FAULT | MACHINE_CHECK => (handlers().kernel_fault)(frame, fault(frame)),
        vector if vector < FIRST_INTERRUPT.into() => {
            if !frame.is_of_user() {
                (handlers().kernel_fault)(frame, fault(frame));
            }
            Event::Fault(fault(frame))
        }
        vector => {
            let vector = vector as u8;
            if vector != SPURIOUS {
                interrupt_controller::end_of_interrupt();
            }
            Event::Interrupt(vector)
        }
    };
    (handlers().event)(frame, event);
}

/// Called by the entry code for what can strike anywhere in the kernel.
pub(super) extern "C" fn trap_entered_anywhere(frame: &mut TrapFrame) {
    block_user_access();
    if frame.vector != NON_MASKABLE.into() {
        (handlers().kernel_fault)(frame, fault(frame));
    }
    (handlers().event)(frame, Event::NonMaskable);
}

/// An interrupted program may have left the alignment-check flag set, which would switch access prevention off.
fn block_user_access() {
    if features().smap {
        // SAFETY: the processor has the instruction; the kernel needs the flag nowhere.
        unsafe { asm!("clac", options(nomem, nostack)) };
    }
}
