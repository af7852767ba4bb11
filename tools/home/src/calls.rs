//! The program's system calls: each `syscall` instruction outside of the gate lands in [`on_system_call`], which answers
//! as the kernel would.
//!
//! The crate `lwk-personality` answers them, which the kernel has as well; [`crate::machine`] is what it works on. What it decides is done
//! here.
//!
//! Runs in a signal handler on its own stack; see [`crate::rank`] for what it may use.

use std::sync::atomic::Ordering;

use lwk_abi::address::USER_END;
use lwk_abi::exit::{SIGNAL_BASE, signal::SIGSEGV};
use lwk_abi::syscall::errno::{EINVAL, ENOSYS};
use lwk_abi::syscall::{arch_prctl, linux};
use lwk_failure::Reason;
use lwk_personality::{Call, Ending, Errno, LimicCall, Outcome, Registers, limic_call, raw};

use crate::arch::Gate;
use crate::fault;
use crate::machine::HostMachine;
use crate::rank::Rank;
use crate::signals;

/// Linux's `si_code` of a dispatched system call.
const SYS_USER_DISPATCH: i32 = 2;
/// Linux's `AUDIT_ARCH_X86_64`: the call was made by the `syscall` instruction.
const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
/// Bytes of the `syscall` instruction.
const CALL_BYTES: i64 = 2;
/// Length of the other instructions that Linux takes for a system call.
const OLD_CALL_BYTES: i64 = 2;
/// Vector of the exception that those instructions raise on a node.
const GENERAL_PROTECTION: u8 = 13;

/// Linux's `siginfo_t` of a `SIGSYS`.
#[repr(C)]
struct DispatchInfo {
    signal: i32,
    errno: i32,
    code: i32,
    padding: i32,
    address: u64,
    number: i32,
    machine: u32,
}

/// Handles `SIGSYS`: a dispatched system call (prctl(2), `PR_SET_SYSCALL_USER_DISPATCH`).
///
/// # Safety
/// Linux calls it as a handler installed with `SA_SIGINFO`: both structures are there and nobody else's until it returns.
pub unsafe extern "C" fn on_system_call(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: both structures are there until this returns (this function's contract).
    let (call, context) =
        unsafe { (info.cast::<DispatchInfo>().read(), &mut *context.cast::<libc::ucontext_t>()) };
    if call.code != SYS_USER_DISPATCH {
        // SAFETY: both structures are there until this returns (this function's contract).
        return unsafe { fault::on_fault(signal, info, (&raw mut *context).cast()) };
    }
    let rank = Rank::current();
    if call.machine != AUDIT_ARCH_X86_64 {
        // `int 0x80` and the like are no system calls here, as on a node.
        context.uc_mcontext.gregs[libc::REG_RIP as usize] -= OLD_CALL_BYTES;
        fault::report(rank, Reason::Exception(GENERAL_PROTECTION), &fault::registers(context));
        rank.exit(SIGNAL_BASE + SIGSEGV);
    }
    let start = (context.uc_mcontext.gregs[libc::REG_RIP as usize] - CALL_BYTES) as u64;
    answer(rank, context, start);
}

/// Handles `SIGILL` where instructions that raise it have taken the place of system calls.
///
/// # Safety
/// Linux calls it as a handler installed with `SA_SIGINFO`: both structures are there and nobody else's until it returns.
pub unsafe extern "C" fn on_replaced_call(
    signal: i32,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    let rank = Rank::current();
    // SAFETY: the structure is there until this returns (this function's contract).
    let machine = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let registers = &mut machine.uc_mcontext.gregs;
    let Some(site) = rank.call_at(registers[libc::REG_RIP as usize] as u64) else {
        // SAFETY: both structures are there until this returns (this function's contract).
        return unsafe { fault::on_fault(signal, info, context) };
    };
    let word = |index: i32| registers[index as usize] as u64;
    let sets_base = matches!(word(libc::REG_RDI) as u32, arch_prctl::SET_FS | arch_prctl::SET_GS)
        && word(libc::REG_RSI) < USER_END;
    if word(libc::REG_RAX) == linux::ARCH_PRCTL && sets_base {
        // When a handler returns, valgrind puts back the bases from before it: so the call is made afterwards.
        // Relaxed: a count of this one thread.
        rank.entry().syscalls.fetch_add(1, Ordering::Relaxed);
        registers[libc::REG_RIP as usize] = Gate::in_program(site.end) as i64;
        return;
    }
    // As the instruction leaves them.
    registers[libc::REG_RIP as usize] = site.end as i64;
    registers[libc::REG_RCX as usize] = site.end as i64;
    registers[libc::REG_R11 as usize] = registers[libc::REG_EFL as usize];
    let start = site.start;
    answer(rank, machine, start);
}

/// Answers a call of [`lwk_abi::job_page::JobPage::call_code`]: one of Portals' or LiMIC's, or a yield. As a signal handler it uses neither libc nor the
/// program's stack.
pub extern "C" fn on_call(number: u64, a: u64, b: u64, c: u64, d: u64) -> i64 {
    let rank = Rank::current();
    if let Some(call) = LimicCall::new(number, [a, b, c]) {
        // Relaxed: a count of this one thread.
        rank.entry().syscalls.fetch_add(1, Ordering::Relaxed);
        // These calls ask for neither kind of registers.
        let machine = HostMachine { rank, registers: Registers::default(), float: std::ptr::null_mut() };
        return raw(limic_call(&machine, call)) as i64;
    }
    let Some(network) = rank.network else { return -ENOSYS };
    if number == linux::SCHED_YIELD {
        network.look(a);
        return 0;
    }
    let Some(call) = lwk_portals::Call::new(number, [a, b, c, d]) else { return -ENOSYS };
    // Relaxed: a count of this one thread.
    rank.entry().syscalls.fetch_add(1, Ordering::Relaxed);
    network.call(rank.rank, call)
}

/// Answers the call that these registers make with the instruction at `start`.
fn answer(rank: &'static Rank, context: &mut libc::ucontext_t, start: u64) {
    let word = |index: i32| context.uc_mcontext.gregs[index as usize] as u64;
    let arguments =
        [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9].map(word);
    let call = Call::new(word(libc::REG_RAX), arguments);
    let machine = signals::machine(rank, context);
    // SAFETY: asked once, by this call.
    let outcome = lwk_personality::answer(unsafe { rank.process() }, &machine, call);
    if outcome == Outcome::Again {
        // The program makes the call again; signals of the node's can come in between.
        context.uc_mcontext.gregs[libc::REG_RIP as usize] = start as i64;
        return;
    }
    // Relaxed: a count of this one thread.
    rank.entry().syscalls.fetch_add(1, Ordering::Relaxed);
    let answer = match outcome {
        Outcome::Done(answer) => answer,
        Outcome::Yield => {
            // SAFETY: the call names no memory.
            unsafe { Gate::call(libc::SYS_sched_yield, [0; 6]) };
            Ok(0)
        }
        // No rank here waits so.
        Outcome::Halt => Err(Errno(EINVAL)),
        Outcome::Resume(registers) => return signals::resume_at(context, &registers),
        Outcome::End(ending) => end(rank, context, ending),
        Outcome::Again => return,
    };
    context.uc_mcontext.gregs[libc::REG_RAX as usize] = raw(answer) as i64;
}

fn end(rank: &'static Rank, context: &libc::ucontext_t, ending: Ending) -> ! {
    let how = match ending {
        Ending::Rank => rank.exit(0),
        // Whether or not another was first: that one's status counts then.
        Ending::Job => {
            rank.board.first_to_end(rank.rank);
            rank.exit(0)
        }
        Ending::Failure(how) => how,
    };
    match how.reason {
        // The node says it, when it sees the status.
        Reason::Exit(_) => {}
        reason if how.traced => fault::report(rank, reason, &fault::registers(context)),
        reason => fault::tell(rank, reason),
    }
    rank.exit(how.status)
}
