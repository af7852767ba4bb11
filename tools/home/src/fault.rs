//! A rank's death by a fault, and the question where it is: the report, then the end of the process.
//!
//! Runs in a signal handler on its own stack; see [`crate::rank`] for what it may use. The program's memory is read
//! only where the layout says that there is some.

use std::sync::atomic::Ordering;

use lwk_abi::address::{SLOT_BYTES, slot_of};
use lwk_abi::console::{FAILURE, FRAME};
use lwk_abi::exit::SIGNAL_BASE;
use lwk_failure::{Death, Fault, Position, Reason, Registers, back_trace};
use lwk_mm::Access;
use lwk_mm::layout::MemoryKind;
use lwk_personality::Information;

use crate::arch;
use crate::console::Report;
use crate::rank::Rank;
use crate::signals;

/// Linux's `si_code` of a `SIGBUS` for a page of a memory object that cannot be had.
const BUS_ADRERR: i32 = 2;

/// Linux's `si_code` of a `SIGSEGV` for mapped memory that does not allow the access.
const SEGV_ACCERR: i32 = 2;
/// Page-fault error bit: the page is mapped.
const PAGE_PRESENT: u64 = 1;
/// Page-fault error bit: the access was an instruction fetch.
const INSTRUCTION_FETCH: u64 = 1 << 4;
/// Vectors of exceptions.
const BREAKPOINT: u8 = 3;
const INVALID_OPCODE: u8 = 6;
const GENERAL_PROTECTION: u8 = 13;
const PAGE_FAULT: u8 = 14;
const ALIGNMENT_CHECK: u8 = 17;

/// Handles the signals of processor exceptions: the program's handler takes it, or the rank is reported and ends with status 128 plus the
/// signal's number.
///
/// # Safety
/// Linux calls it as a handler installed with `SA_SIGINFO`: both structures are there and nobody else's until it returns.
pub unsafe extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let rank = Rank::current();
    // SAFETY: both structures are there until this returns (this function's contract).
    let (code, address, context) = unsafe {
        ((*info).si_code, (*info).si_addr().addr() as u64, &mut *context.cast::<libc::ucontext_t>())
    };
    let word = |index: i32| context.uc_mcontext.gregs[index as usize] as u64;
    let mut fault = Fault {
        vector: word(libc::REG_TRAPNO) as u8,
        error_code: word(libc::REG_ERR),
        address: word(libc::REG_CR2),
    };
    // Linux maps pages when they are touched, so the processor's word for "not mapped" can mean "not yet".
    if fault.vector == 0 && signal != libc::SIGFPE {
        fault = raised_by_valgrind(signal, word(libc::REG_RIP), rank);
    } else if signal == libc::SIGSEGV && code == SEGV_ACCERR {
        fault.error_code |= PAGE_PRESENT;
    }
    // The program's own, if it has a handler: not what others have sent, nor what only this home knows.
    let is_programs = code > 0 && signal != libc::SIGSYS && !(signal == libc::SIGBUS && code == BUS_ADRERR);
    let information = Information { signal: fault.signal() as u32, code, value: address };
    if is_programs && signals::take_fault(rank, context, information) {
        return;
    }
    let (reason, status) = if code <= 0 || signal == libc::SIGSYS {
        (Reason::Signal(signal), signal)
    } else if signal == libc::SIGBUS && code == BUS_ADRERR {
        (Reason::HostMemory(fault.address), signal)
    } else {
        (fault.reason(&rank.layout, rank.ranks), fault.signal())
    };
    report(rank, reason, &registers(context));
    rank.exit(SIGNAL_BASE + status)
}

/// What stands behind a signal that valgrind raises of its own accord, without the processor's words: an instruction that it
/// cannot fetch or does not know.
fn raised_by_valgrind(signal: i32, rip: u64, rank: &Rank) -> Fault {
    let place = rank.layout.describe(rip);
    let vector = match signal {
        libc::SIGILL => INVALID_OPCODE,
        libc::SIGTRAP => BREAKPOINT,
        libc::SIGBUS => ALIGNMENT_CHECK,
        _ if rank.layout.check(rip, 1, Access::RX).is_ok() => GENERAL_PROTECTION,
        _ if place == MemoryKind::NonCanonical => GENERAL_PROTECTION,
        _ => PAGE_FAULT,
    };
    let in_job = slot_of(rip) <= rank.ranks.into() && rank.layout.check_read(rip % SLOT_BYTES, 1).is_ok();
    // The kernel's pages are there, though not for a program.
    let present = if in_job || place == MemoryKind::Kernel { PAGE_PRESENT } else { 0 };
    Fault { vector, error_code: INSTRUCTION_FETCH | present, address: rip }
}

/// Handles `SIGQUIT`, by which the node asks where the rank is when the time limit has passed.
///
/// # Safety
/// Linux calls it as a handler installed with `SA_SIGINFO`: both structures are there and nobody else's until it returns.
pub unsafe extern "C" fn on_question(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let rank = Rank::current();
    // SAFETY: both structures are there until this returns (this function's contract); a signal that a process sent carries its number.
    let (sender, machine) = unsafe { ((*info).si_pid(), &*context.cast::<libc::ucontext_t>()) };
    if sender != rank.node {
        // SAFETY: both structures are there until this returns (this function's contract).
        return unsafe { on_fault(signal, info, context) };
    }
    let mut report = Report::new();
    report.add(FAILURE, rank.rank, Death { rank: rank.rank, core: rank.core, reason: Reason::Timeout });
    let mut at = registers(machine);
    if let Some(program) = arch::called_from() {
        [at.rip, at.rsp, at.rbp] = program;
    }
    add_trace(&mut report, rank, &at);
    rank.send(&report);
    // Release pairs with the node's acquire: the report is in the pipe when the node sees this.
    rank.entry().located.store(1, Ordering::Release);
}

/// Reports a death in one line, if it is the job's first.
pub fn tell(rank: &Rank, reason: Reason) {
    if rank.board.first_to_end(rank.rank) {
        let mut report = Report::new();
        report.add(FAILURE, rank.rank, Death { rank: rank.rank, core: rank.core, reason });
        rank.send(&report);
    }
}

/// Reports a death, registers and back trace, if it is the job's first.
pub fn report(rank: &Rank, reason: Reason, registers: &Registers) {
    if !rank.board.first_to_end(rank.rank) {
        return;
    }
    let mut report = Report::new();
    report.add(FAILURE, rank.rank, Death { rank: rank.rank, core: rank.core, reason });
    for line in registers.lines() {
        report.add(FAILURE, rank.rank, line);
    }
    add_trace(&mut report, rank, registers);
    rank.send(&report);
}

fn add_trace(report: &mut Report, rank: &Rank, registers: &Registers) {
    let read = |address: u64| {
        rank.layout.check(address, 8, Access::R).ok()?;
        let word = std::ptr::with_exposed_provenance::<u64>(address as usize);
        // SAFETY: the layout has readable memory there.
        Some(unsafe { word.read_volatile() })
    };
    let at = Position { rip: registers.rip, rsp: registers.rsp, rbp: registers.rbp };
    let is_code = |address: u64| rank.layout.check(address, 1, Access::RX).is_ok();
    back_trace(at, is_code, read, |address| {
        report.add(FRAME, rank.rank, format_args!("{address:#x}"));
    });
}

/// The registers of the program that Linux saved when it called the handler.
pub fn registers(context: &libc::ucontext_t) -> Registers {
    let word = |index: i32| context.uc_mcontext.gregs[index as usize] as u64;
    Registers {
        rip: word(libc::REG_RIP),
        rsp: word(libc::REG_RSP),
        rflags: word(libc::REG_EFL),
        rax: word(libc::REG_RAX),
        rbx: word(libc::REG_RBX),
        rcx: word(libc::REG_RCX),
        rdx: word(libc::REG_RDX),
        rsi: word(libc::REG_RSI),
        rdi: word(libc::REG_RDI),
        rbp: word(libc::REG_RBP),
        r8: word(libc::REG_R8),
        r9: word(libc::REG_R9),
        r10: word(libc::REG_R10),
        r11: word(libc::REG_R11),
        r12: word(libc::REG_R12),
        r13: word(libc::REG_R13),
        r14: word(libc::REG_R14),
        r15: word(libc::REG_R15),
    }
}
