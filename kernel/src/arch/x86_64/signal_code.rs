//! What Linux tells a signal's handler of a processor exception.

use lwk_abi::address::USER_END;
use lwk_failure::Fault;

use super::extended_state;
use super::trap_frame::TrapFrame;

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
pub fn code_and_address(fault: &Fault, frame: &TrapFrame) -> (i32, u64) {
    let rip = frame.rip;
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
