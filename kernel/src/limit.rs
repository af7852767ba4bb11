//! The time limit of a job that nobody watches from outside: the boot core's timer strikes when it is over.
//!
//! There is no tick: the timer is set once. Where it cannot count as far as the limit, it strikes in between, once a minute or so.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::arch::interrupts::LIMIT;
use crate::arch::trap_frame::TrapFrame;
use crate::arch::{clock, interrupt_controller};
use crate::core_local::{self, CORES_MAX, Core};
use crate::node;

/// The counter's value at which the job is to end; 0: never. Relaxed, everywhere: only the boot core uses it.
static END: AtomicU64 = AtomicU64::new(0);

/// Begins to count. Once, on the boot core, when the job has been set going.
pub fn begin(seconds: u32) {
    interrupt_controller::measure_timer();
    let ticks = u64::from(seconds).saturating_mul(clock::ticks_a_second());
    END.store(clock::ticks().saturating_add(ticks), Ordering::Relaxed);
    strike_later();
}

/// The timer has struck, while the boot core did what `frame` says.
pub fn struck(core: &'static Core, frame: &TrapFrame) {
    if clock::ticks() < END.load(Ordering::Relaxed) {
        return strike_later();
    }
    log::error!("the job has run into its time limit");
    // Each core says where its ranks are, and the last one ends the job.
    for other in (0..CORES_MAX).filter(|index| *index != core.index()).filter_map(core_local::core) {
        interrupt_controller::interrupt_core_unmaskably(other.block());
    }
    node::report_where(core, frame);
}

fn strike_later() {
    let left = END.load(Ordering::Relaxed).saturating_sub(clock::ticks());
    interrupt_controller::strike_in(LIMIT, clock::nanoseconds(left) / 1000 + 1);
}
