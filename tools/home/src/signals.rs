//! Signals in the host home: the way from Linux's handlers, which the loader has, into the program's and back. Linux's own signal
//! mask stays what the loader needs; what the program blocks is kept by `lwk-personality`.
//!
//! Runs in a signal handler on its own stack; see [`crate::rank`] for what it may use.

use lwk_personality::{Information, Registers};

use crate::machine::HostMachine;
use crate::rank::Rank;

/// The machine of a rank whose state Linux has saved in `context`.
pub fn machine(rank: &'static Rank, context: &libc::ucontext_t) -> HostMachine {
    HostMachine { rank, registers: registers(context), float: context.uc_mcontext.fpregs.cast() }
}

/// Sends the program into its handler for a fault; false if it has none, or no stack for it, and then `context` is as it was.
pub fn take_fault(rank: &'static Rank, context: &mut libc::ucontext_t, information: Information) -> bool {
    let machine = machine(rank, context);
    let mut registers = machine.registers;
    // SAFETY: a fault of the program comes while no call of its is under way; asked once, by this function.
    let process = unsafe { rank.process() };
    let taken = process.take_fault(&machine, &mut registers, information).is_ok();
    if taken {
        resume_at(context, &registers);
    }
    taken
}

/// The program's registers, as Linux has saved them.
fn registers(context: &libc::ucontext_t) -> Registers {
    let word = |index: i32| context.uc_mcontext.gregs[index as usize] as u64;
    Registers {
        r8: word(libc::REG_R8),
        r9: word(libc::REG_R9),
        r10: word(libc::REG_R10),
        r11: word(libc::REG_R11),
        r12: word(libc::REG_R12),
        r13: word(libc::REG_R13),
        r14: word(libc::REG_R14),
        r15: word(libc::REG_R15),
        rdi: word(libc::REG_RDI),
        rsi: word(libc::REG_RSI),
        rbp: word(libc::REG_RBP),
        rbx: word(libc::REG_RBX),
        rdx: word(libc::REG_RDX),
        rax: word(libc::REG_RAX),
        rcx: word(libc::REG_RCX),
        rsp: word(libc::REG_RSP),
        rip: word(libc::REG_RIP),
        rflags: word(libc::REG_EFL),
        error: word(libc::REG_ERR),
        vector: word(libc::REG_TRAPNO),
        address: word(libc::REG_CR2),
    }
}

/// Has the program go on with these registers when the handler returns.
pub fn resume_at(context: &mut libc::ucontext_t, registers: &Registers) {
    let places = [
        (libc::REG_R8, registers.r8),
        (libc::REG_R9, registers.r9),
        (libc::REG_R10, registers.r10),
        (libc::REG_R11, registers.r11),
        (libc::REG_R12, registers.r12),
        (libc::REG_R13, registers.r13),
        (libc::REG_R14, registers.r14),
        (libc::REG_R15, registers.r15),
        (libc::REG_RDI, registers.rdi),
        (libc::REG_RSI, registers.rsi),
        (libc::REG_RBP, registers.rbp),
        (libc::REG_RBX, registers.rbx),
        (libc::REG_RDX, registers.rdx),
        (libc::REG_RAX, registers.rax),
        (libc::REG_RCX, registers.rcx),
        (libc::REG_RSP, registers.rsp),
        (libc::REG_RIP, registers.rip),
        (libc::REG_EFL, registers.rflags),
    ];
    for (index, value) in places {
        context.uc_mcontext.gregs[index as usize] = value as i64;
    }
}
