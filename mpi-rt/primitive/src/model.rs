//! The model checker's stand-ins, and what models of protocols share.

use loom::model::Builder;
use loom::thread;

pub use loom::cell::UnsafeCell as Plain;
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// How often the checker takes the turn from a thread that could go on; enough for two threads, and seconds instead of hours.
const PREEMPTIONS: usize = 3;

/// Runs a model in every order in which its threads can take turns, as far as that takes few preemptions. Panics if it fails in one.
pub fn check(model: impl Fn() + Sync + Send + 'static) {
    check_up_to(PREEMPTIONS, model);
}

/// The same with so many preemptions.
pub fn check_up_to(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Polls until the condition holds; tells the checker that nothing changes until another thread has run.
pub fn wait(mut condition: impl FnMut() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

/// Nothing: the checker moves no access.
pub fn compiler_barrier() {}

/// Stands for a light fence, and for the system's on every core: what both sides together have.
pub fn light_fence() {
    fence(Ordering::SeqCst);
}

/// Memory that a protocol protects; the checker watches who touches it when.
pub struct Memory(Plain<u64>);

impl Memory {
    /// Memory with a zero in it.
    #[expect(clippy::new_without_default, reason = "as the atomics beside it")]
    pub fn new() -> Memory {
        Memory(Plain::new(0))
    }

    /// Stores a value. The checker fails a model in which anybody else touches the memory at the same time.
    pub fn store(&self, value: u64) {
        // SAFETY: that nobody else uses it now is what the checker finds out.
        self.0.with_mut(|it| unsafe { *it = value });
    }

    /// Loads it. The checker fails a model in which anybody stores at the same time.
    pub fn load(&self) -> u64 {
        // SAFETY: that nobody writes now is what the checker finds out.
        self.0.with(|it| unsafe { *it })
    }
}

// SAFETY: that accesses exclude each other is what the checker finds out.
unsafe impl Sync for Memory {}
// SAFETY: a number, which may be dropped anywhere.
unsafe impl Send for Memory {}
