//! The program's system calls: each `syscall` instruction outside of the gate lands in [`on_system_call`], which answers
//! as the kernel would.
//!
//! Linux's calls are those of the crate `lwk-linux`, which the kernel has as well; [`crate::machine`] is what it works on.
//! Margay's own, and the end of a rank, are answered here.
//!
//! Runs in a signal handler on its own stack; see [`crate::rank`] for what it may use.

use std::sync::atomic::Ordering;

use lwk_abi::address::USER_END;
use lwk_abi::console as kind;
use lwk_abi::exit::{SIGNAL_BASE, signal::SIGSEGV};
use lwk_abi::syscall::{
    CORE_COUNTERS, JOB_ABORT, JOB_END, JOB_HOLD, JOB_LEAVE, REPORT, REPORT_BYTES, errno, linux, portals,
};
use lwk_failure::{Reason, Registers};
use lwk_linux::{Errno, Fatal, Machine, Outcome};

use crate::arch::Gate;
use crate::console::Report;
use crate::fault;
use crate::machine::HostMachine;
use crate::own_files;
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
/// Linux's codes of `arch_prctl`.
const SET_GS: u32 = 0x1001;
const SET_FS: u32 = 0x1002;

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
pub extern "C" fn on_system_call(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: Linux passes both structures to a handler installed with SA_SIGINFO, for as long as it runs.
    let (call, context) =
        unsafe { (info.cast::<DispatchInfo>().read(), &mut *context.cast::<libc::ucontext_t>()) };
    if call.code != SYS_USER_DISPATCH {
        return fault::on_fault(signal, info, (&raw mut *context).cast());
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
pub extern "C" fn on_replaced_call(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let rank = Rank::current();
    // SAFETY: Linux passes the structure to a handler installed with SA_SIGINFO, for as long as it runs.
    let machine = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let registers = &mut machine.uc_mcontext.gregs;
    let Some(site) = rank.call_at(registers[libc::REG_RIP as usize] as u64) else {
        return fault::on_fault(signal, info, context);
    };
    let word = |index: i32| registers[index as usize] as u64;
    let sets_base = matches!(word(libc::REG_RDI) as u32, SET_FS | SET_GS) && word(libc::REG_RSI) < USER_END;
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

/// Answers the call that these registers make with the instruction at `start`.
fn answer(rank: &'static Rank, context: &mut libc::ucontext_t, start: u64) {
    let word = |index: i32| context.uc_mcontext.gregs[index as usize] as u64;
    let number = word(libc::REG_RAX);
    let arguments =
        [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9].map(word);
    let outcome = match number {
        JOB_ABORT => abort(rank, arguments[0], &fault::registers(context)),
        linux::EXIT | linux::EXIT_GROUP => {
            count(rank);
            let status = (arguments[0] & 0xff) as i32;
            // Relaxed: a flag of this one thread.
            if status == 0 && rank.entry().holds_job.load(Ordering::Relaxed) != 0 {
                fault::report(rank, Reason::Desertion, &fault::registers(context));
                rank.exit(1)
            }
            if status == 0 {
                // SAFETY: asked once, by this call.
                unsafe { rank.process() }.exited(&signals::machine(rank, context));
            }
            rank.exit(status)
        }
        JOB_END => {
            count(rank);
            let status = (arguments[0] & 0xff) as i32;
            // Whether or not another was first: that one's status counts then.
            if status == 0 {
                rank.board.first_to_end(rank.rank);
            } else {
                fault::tell(rank, Reason::Abort(status));
            }
            rank.exit(status)
        }
        JOB_HOLD => {
            // Relaxed: a flag of this one thread.
            rank.entry().holds_job.store((arguments[0] != 0) as u32, Ordering::Relaxed);
            Outcome::Done(Ok(0))
        }
        JOB_LEAVE => {
            // SAFETY: asked once, by this call.
            let left = unsafe { rank.process() }.leave(&signals::machine(rank, context), arguments[0]);
            // Relaxed: a flag of this one thread.
            Outcome::Done(left.inspect(|_| rank.entry().holds_job.store(0, Ordering::Relaxed)))
        }
        linux::RT_SIGRETURN => {
            count(rank);
            if let Err(Fatal(signal)) = signals::return_from_handler(rank, context) {
                end_by(rank, context, signal);
            }
            // A set of signals that it has unblocked may have some that wait.
            return end_call(rank, context);
        }
        linux::SCHED_YIELD => {
            // SAFETY: the call names no memory.
            unsafe { Gate::call(libc::SYS_sched_yield, [0; 6]) };
            Outcome::Done(Ok(0))
        }
        // What it would tell of a core only a kernel counts.
        CORE_COUNTERS => Outcome::Done(Err(Errno(errno::ENOSYS))),
        _ if portals::RANGE.contains(&number) => Outcome::Done(match rank.network {
            Some(network) => portals_answer(network.call(rank.rank, number, arguments)),
            None => Err(Errno(errno::ENOSYS)),
        }),
        REPORT => Outcome::Done(report(&signals::machine(rank, context), arguments[0], arguments[1])),
        _ => {
            let machine = signals::machine(rank, context);
            match rank.own_files.then(|| own_files::call(&machine, number, arguments)).flatten() {
                Some(answer) => Outcome::Done(answer),
                None => {
                    // SAFETY: asked once, by this call.
                    let process = unsafe { rank.process() };
                    lwk_linux::call(process, &machine, number, arguments)
                }
            }
        }
    };
    let registers = &mut context.uc_mcontext.gregs;
    match outcome {
        Outcome::Done(answer) => {
            count(rank);
            registers[libc::REG_RAX as usize] = match answer {
                Ok(value) => value as i64,
                Err(Errno(number)) => -number,
            };
            end_call(rank, context);
        }
        // The program makes the call again; signals of the node's can come in between.
        Outcome::Again => registers[libc::REG_RIP as usize] = start as i64,
    }
}

/// What one of Portals' calls answers.
fn portals_answer(answer: i64) -> lwk_linux::Answer {
    u64::try_from(answer).map_err(|_| Errno(-answer))
}

/// Margay's `report`: a record that the program's runtime adds to the exit report.
fn report(machine: &HostMachine, address: u64, bytes: u64) -> lwk_linux::Answer {
    let invalid = || Errno(errno::EINVAL);
    let mut buffer = [0; REPORT_BYTES];
    let length = usize::try_from(bytes).map_err(|_| invalid())?;
    let text = buffer.get_mut(..length).ok_or_else(invalid)?;
    machine.read(address, text)?;
    let text = std::str::from_utf8(text).map_err(|_| invalid())?;
    if !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Err(invalid());
    }
    // As on a node: an empty text only asks whether there is this call.
    if text.is_empty() {
        return Ok(0);
    }
    let mut report = Report::new();
    report.add(kind::REPORT, 0, format_args!("runtime-{text}"));
    machine.rank.send(&report);
    Ok(0)
}

/// Sees to the signals that a call has raised.
fn end_call(rank: &'static Rank, context: &mut libc::ucontext_t) {
    if let Err(Fatal(signal)) = signals::take_signals(rank, context) {
        end_by(rank, context, signal);
    }
}

/// The rank ends by a signal that it has raised itself.
fn end_by(rank: &'static Rank, context: &libc::ucontext_t, signal: i32) -> ! {
    fault::report(rank, Reason::Raised(signal), &fault::registers(context));
    rank.exit(SIGNAL_BASE + signal)
}

fn count(rank: &Rank) {
    // Relaxed: a count of this one thread.
    rank.entry().syscalls.fetch_add(1, Ordering::Relaxed);
}

fn abort(rank: &'static Rank, status: u64, registers: &Registers) -> ! {
    count(rank);
    let status = match (status & 0xff) as i32 {
        0 => 1,
        status => status,
    };
    fault::report(rank, Reason::Abort(status), registers);
    rank.exit(status)
}
