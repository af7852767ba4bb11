//! What the kernel does when something happens to the processor: the handlers that `arch` calls.

use lwk_failure::{End, Fault};

use crate::arch::exceptions::{Event, Handlers, NON_MASKABLE};
use crate::arch::interrupts::{CARD, FENCE, KICK, LIMIT, SPURIOUS, STOP, TIMER, WAKE, halt_for_ever};
use crate::arch::trap_frame::TrapFrame;
use crate::core_local::Core;
use crate::syscall::{self, signals};
use crate::{limit, network, node, panic};

/// Who sees to what.
pub static HANDLERS: Handlers =
    Handlers { system_call: syscall::enter, event: happened, kernel_fault: panic::exception };

fn happened(frame: &mut TrapFrame, event: Event) {
    let core = Core::current();
    match event {
        Event::NonMaskable => non_maskable(core, frame),
        Event::Fault(fault) => {
            core.counters.count_vector(fault.vector);
            program_failed(core, frame, &fault);
        }
        Event::Interrupt(vector) => {
            core.counters.count_vector(vector);
            match vector {
                // A core that waits sees for itself that its ranks are to stop.
                STOP if frame.is_of_user() => node::stop_ranks(core),
                FENCE => core.fence(),
                WAKE | STOP | SPURIOUS => {}
                CARD | TIMER | KICK => network::interrupted(vector),
                LIMIT => limit::struck(core, frame),
                vector => log::warn!("core {}: unexpected interrupt {vector:#x}", core.index()),
            }
        }
    }
}

/// An exception of a program's: its handler sees to it, or it ends the job with status 128 plus the number of the fault's signal.
fn program_failed(core: &'static Core, frame: &mut TrapFrame, fault: &Fault) {
    let running = node::running(core);
    let running = running.expect("an exception in user mode comes from the rank that runs on the core");
    if signals::take_fault(&running, frame, fault) {
        return;
    }
    let reason = fault.reason(running.rank.layout(), running.job.size() as u32);
    node::end_job(&running, frame, &End::by_signal(fault.signal(), reason))
}

/// A non-maskable interrupt means: another core has panicked (halt), or somebody asks where everybody is (the host at its
/// time limit, or the button on a real machine), which ends the job.
fn non_maskable(core: &'static Core, frame: &TrapFrame) {
    core.counters.count_vector(NON_MASKABLE);
    if panic::in_progress() {
        halt_for_ever();
    }
    node::report_where(core, frame);
}
