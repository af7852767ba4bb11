//! Signals on this node: what a processor exception is as a signal, and the way into handlers and back.

use lwk_abi::address::USER_END;
use lwk_abi::exit::signal::SIGFPE;
use lwk_failure::Fault;
use lwk_linux::{Fatal, Information};

use super::machine::NodeMachine;
use crate::arch::extended_state;
use crate::arch::trap_frame::TrapFrame;
use crate::core_local::Core;
use crate::rank::Rank;

/// Linux's `SI_KERNEL`: no more is known.
const SI_KERNEL: i32 = 0x80;

/// Vectors of exceptions.
const DIVISION: u8 = 0;
const DEBUG: u8 = 1;
const INVALID_OPCODE: u8 = 6;
const PAGE_FAULT: u8 = 14;
const X87: u8 = 16;
const ALIGNMENT: u8 = 17;
const SIMD: u8 = 19;
/// Page-fault error bit: the page is mapped.
const PAGE_PRESENT: u64 = 1;

/// Linux's `si_code` and `si_addr` of an exception.
fn code_and_address(fault: &Fault, rip: u64) -> (i32, u64) {
    const FPE_INTDIV: i32 = 1;
    const TRAP_TRACE: i32 = 2;
    const ILL_ILLOPN: i32 = 2;
    const SEGV_MAPERR: i32 = 1;
    const SEGV_ACCERR: i32 = 2;
    const BUS_ADRALN: i32 = 1;
    match fault.vector {
        DIVISION => (FPE_INTDIV, rip),
        DEBUG => (TRAP_TRACE, rip),
        INVALID_OPCODE => (ILL_ILLOPN, rip),
        // The kernel's pages are not there, as far as a program is concerned.
        PAGE_FAULT if fault.error_code & PAGE_PRESENT == 0 || fault.address >= USER_END => {
            (SEGV_MAPERR, fault.address)
        }
        PAGE_FAULT => (SEGV_ACCERR, fault.address),
        ALIGNMENT => (BUS_ADRALN, 0),
        X87 => (floating_point(extended_state::x87_exceptions()), rip),
        SIMD => (floating_point(extended_state::simd_exceptions()), rip),
        _ => (SI_KERNEL, 0),
    }
}

/// Linux's `si_code` for floating-point exceptions that are flagged and not masked, the gravest first.
fn floating_point(exceptions: u32) -> i32 {
    const FPE_FLTDIV: i32 = 3;
    const FPE_FLTOVF: i32 = 4;
    const FPE_FLTUND: i32 = 5;
    const FPE_FLTRES: i32 = 6;
    const FPE_FLTINV: i32 = 7;
    const FPE_FLTUNK: i32 = 14;
    // Flags as in MXCSR (Intel SDM volume 1, section 10.2.3).
    const INVALID: u32 = 1 << 0;
    const DENORMAL: u32 = 1 << 1;
    const DIVISION_BY_ZERO: u32 = 1 << 2;
    const OVERFLOW: u32 = 1 << 3;
    const UNDERFLOW: u32 = 1 << 4;
    const INEXACT: u32 = 1 << 5;
    [
        (INVALID, FPE_FLTINV),
        (DIVISION_BY_ZERO, FPE_FLTDIV),
        (OVERFLOW, FPE_FLTOVF),
        (UNDERFLOW | DENORMAL, FPE_FLTUND),
        (INEXACT, FPE_FLTRES),
    ]
    .into_iter()
    .find(|(flags, _)| exceptions & flags != 0)
    .map_or(FPE_FLTUNK, |(_, code)| code)
}

/// Sends the program into its handler for a fault; false if it has none, or no stack for it, and then `frame` is as it was.
pub fn take_fault(core: &Core, frame: &mut TrapFrame, fault: &Fault) -> bool {
    let Some(rank) = core.running() else { return false };
    let signal = fault.signal();
    debug_assert!(signal != SIGFPE || fault.vector != PAGE_FAULT);
    let (code, value) = code_and_address(fault, frame.rip);
    let mut registers = frame.to_linux(fault.address);
    let machine = NodeMachine { core, rank, stack: frame.rsp };
    let information = Information { signal: signal as u32, code, value };
    let taken = rank.with_process(|process| process.take_fault(&machine, &mut registers, information));
    if taken.is_ok() {
        frame.resume_at(&registers);
    }
    taken.is_ok()
}

/// At the end of a system call: sees to the signals that it has raised or unblocked. Errors: a signal that ends the rank.
pub fn take_signals(core: &Core, rank: &Rank, frame: &mut TrapFrame) -> Result<(), Fatal> {
    let mut registers = frame.to_linux(0);
    let machine = NodeMachine { core, rank, stack: frame.rsp };
    let taken = rank.with_process(|process| {
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
pub fn return_from_handler(core: &Core, rank: &Rank, frame: &mut TrapFrame) -> Result<(), Fatal> {
    let mut registers = frame.to_linux(0);
    let machine = NodeMachine { core, rank, stack: frame.rsp };
    rank.with_process(|process| process.return_from_handler(&machine, &mut registers))?;
    frame.resume_at(&registers);
    Ok(())
}
