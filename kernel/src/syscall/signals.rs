//! Signals on this node: what a processor exception is as a signal, and the way into handlers and back.

use lwk_failure::Fault;
use lwk_personality::Information;

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
