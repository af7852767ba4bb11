//! System calls: crate `lwk-personality` answers them, and what it decides is done here.

mod machine;
pub mod signals;
pub mod unsupported;

use lwk_abi::syscall::errno::EINVAL;
use lwk_personality::{Answer, Call, Ending, Errno, Outcome, answer, raw};

use crate::arch::trap_frame::TrapFrame;
use crate::core_local::Core;
use crate::scheduler::{self, Running};
use crate::{network, node};
use machine::NodeMachine;

/// Answers the call that `frame` holds and leaves there what the program goes on with. Called on the core's kernel stack.
pub fn enter(frame: &mut TrapFrame) {
    let core = Core::current();
    let running = node::running(core).expect("a system call comes from the rank that runs on the core");
    core.counters.count_syscall();
    let (number, arguments) = frame.syscall();
    let machine = NodeMachine::of(&running, frame);
    let call = Call::new(number, arguments);
    match running.rank.with_process(|process| answer(process, &machine, call)) {
        Outcome::Done(answer) => frame.set_answer(raw(answer)),
        Outcome::Resume(registers) => frame.resume_at(&registers),
        Outcome::Yield => {
            frame.set_answer(0);
            scheduler::yield_core(&running, frame);
        }
        Outcome::Halt => frame.set_answer(raw(halt(&running))),
        // The program makes the call again, from user mode, where it can be stopped; it counts once, when it is done.
        Outcome::Again => {
            core.counters.uncount_syscall();
            frame.repeat_call();
            scheduler::yield_core(&running, frame);
        }
        Outcome::End(ending) => end(&running, frame, ending),
    }
}

/// The core sleeps for a rank that waits for other nodes. Errors: `EINVAL` if the job's ranks do not wait so.
fn halt(running: &Running) -> Answer {
    let Running { core, job, .. } = *running;
    if !job.halts() {
        return Err(Errno(EINVAL));
    }
    network::halt(core);
    // The interrupt that stops ranks may have struck the sleep.
    if job.is_stopping() {
        node::stop_ranks(core);
    }
    Ok(0)
}

fn end(running: &Running, frame: &TrapFrame, ending: Ending) -> ! {
    match ending {
        Ending::Rank => node::end_rank(running),
        Ending::Job => node::end_job_well(running),
        Ending::Failure(how) => node::end_job(running, frame, &how),
    }
}
