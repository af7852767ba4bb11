//! System calls: Linux's numbers and meaning for those it has, Margay's own from `0x1000`. An unknown one is answered
//! `ENOSYS` and counted.

mod identity;
mod memory;
mod output;
mod time;
pub mod unsupported;

use lwk_abi::syscall::{CORE_COUNTERS, JOB_ABORT, errno, linux};

use crate::arch::trap_frame::TrapFrame;
use crate::core_local::Core;
use crate::failure;
use crate::rank::Rank;
use crate::scheduler;
use crate::user_memory::UserSlice;

/// A Linux error number, positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i64);

/// What a system call answers: a value, or an error number.
pub type Answer = Result<u64, Errno>;

/// Called by the entry code, on the core's kernel stack.
pub extern "C" fn syscall_entered(frame: &mut TrapFrame) {
    let core = Core::current();
    core.counters.count_syscall();
    let rank = core.running().expect("a system call comes from the rank that runs on the core");
    let (number, arguments) = frame.syscall();
    if number == linux::SCHED_YIELD {
        frame.rax = 0;
        return scheduler::yield_core(core, rank, frame);
    }
    let answer = match number {
        linux::EXIT | linux::EXIT_GROUP => exit(core, rank, arguments[0]),
        JOB_ABORT => abort(core, rank, frame, arguments[0]),
        _ => dispatch(core, rank, number, arguments),
    };
    frame.rax = match answer {
        Ok(value) => value,
        Err(Errno(number)) => number.wrapping_neg() as u64,
    };
}

fn dispatch(core: &'static Core, rank: &Rank, number: u64, arguments: [u64; 6]) -> Answer {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    match number {
        linux::READ => output::read(rank, first, UserSlice::new(second, third)),
        linux::WRITE => output::write(rank, first, UserSlice::new(second, third)),
        linux::WRITEV => output::write_vector(rank, first, second, third),
        linux::BRK => Ok(memory::brk(rank, first)),
        linux::MMAP => {
            memory::map(rank, &memory::MapRequest::new(first, second, third, fourth, fifth, sixth))
        }
        linux::MUNMAP => memory::unmap(rank, first, second),
        linux::CLOCK_GETTIME => time::clock_gettime(rank, first, second),
        linux::GETRANDOM => identity::getrandom(rank, UserSlice::new(first, second), third),
        linux::GETPID | linux::GETTID => Ok(identity::process_number(rank)),
        linux::UNAME => identity::uname(rank, first),
        linux::ARCH_PRCTL => identity::arch_prctl(rank, first, second),
        CORE_COUNTERS => identity::core_counters(core, rank, first),
        _ => {
            unsupported::count(number);
            Err(Errno(errno::ENOSYS))
        }
    }
}

/// The low byte of a status is what others see of it, as on Linux.
fn exit(core: &'static Core, rank: &'static Rank, status: u64) -> ! {
    match (status & 0xff) as i32 {
        0 => {
            rank.end(0);
            scheduler::abandon_stack_and_run(core)
        }
        status => failure::rank_exited(core, rank, status),
    }
}

fn abort(core: &'static Core, rank: &'static Rank, frame: &TrapFrame, status: u64) -> ! {
    let status = match (status & 0xff) as i32 {
        0 => 1,
        status => status,
    };
    failure::rank_aborted(core, rank, frame, status)
}
