//! Signals on this node: what a processor exception is as a signal, and the way into handlers and back.

use lwk_failure::Fault;
use lwk_linux::{Fatal, Information};

use super::machine::NodeMachine;
use crate::arch::signal_code::code_and_address;
use crate::arch::trap_frame::TrapFrame;
use crate::scheduler::Running;

/// Sends the program into its handler for a fault; false if it has none, or no stack for it, and then `frame` is as it was.
pub fn take_fault(running: &Running, frame: &mut TrapFrame, fault: &Fault) -> bool {
    let signal = fault.signal();
    let (code, value) = code_and_address(fault, frame);
    let mut registers = frame.to_linux(fault.address);
    let machine = NodeMachine::of(running, frame);
    let information = Information { signal: signal as u32, code, value };
    let taken =
        running.rank.with_process(|process| process.take_fault(&machine, &mut registers, information));
    if taken.is_ok() {
        frame.resume_at(&registers);
    }
    taken.is_ok()
}

/// At the end of a system call: sees to the signals that it has raised or unblocked. Errors: a signal that ends the rank.
pub fn take_signals(running: &Running, frame: &mut TrapFrame) -> Result<(), Fatal> {
    let mut registers = frame.to_linux(0);
    let machine = NodeMachine::of(running, frame);
    let taken = running.rank.with_process(|process| {
        if !process.has_pending_signal() {
            return Ok(false);
        }
        process.take_signals(&machine, &mut registers).map(|()| true)
    })?;
    if taken {
        frame.resume_at(&registers);
    }
    Ok(())
}

/// `rt_sigreturn(2)`: `frame` becomes what the program was interrupted with. Errors: the stack holds nothing that could be returned to.
pub fn return_from_handler(running: &Running, frame: &mut TrapFrame) -> Result<(), Fatal> {
    let mut registers = frame.to_linux(0);
    let machine = NodeMachine::of(running, frame);
    running.rank.with_process(|process| process.return_from_handler(&machine, &mut registers))?;
    frame.resume_at(&registers);
    Ok(())
}
