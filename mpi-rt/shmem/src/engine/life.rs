//! Where the library is in its life: before set-up, running, or finalized.

use super::fatal::stop;
use crate::primitive::{AtomicU32, Ordering};

/// Where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Life {
    Before = 0,
    Running = 1,
    After = 2,
}

/// Atomic only because it is static; relaxed, as a rank is one thread.
static STATE: AtomicU32 = AtomicU32::new(Life::Before as u32);

pub(crate) fn now() -> Life {
    match STATE.load(Ordering::Relaxed) {
        0 => Life::Before,
        1 => Life::Running,
        _ => Life::After,
    }
}

pub(crate) fn enter(life: Life) {
    STATE.store(life as u32, Ordering::Relaxed);
}

/// Whether the library is set up and not yet finalized.
#[inline(always)]
pub fn is_running() -> bool {
    STATE.load(Ordering::Relaxed) == Life::Running as u32
}

/// Ends the job if the library is not set up.
#[inline(always)]
pub(crate) fn check(call: &str) {
    if !is_running() {
        not_running(call);
    }
}

#[cold]
#[inline(never)]
fn not_running(call: &str) -> ! {
    let when = if now() == Life::Before { "before shmem_init" } else { "after shmem_finalize" };
    stop(format_args!("{call}: called {when}"))
}
