//! Whether a core may sleep until it is told of news, and whether who brings news must interrupt it.

use crate::primitive::{AtomicU32, Ordering, fence};
use lwk_primitive::made;

/// A core that looks for news, sleeps when there are none, and is interrupted when some come. None are slept through: those that came after its last look keep it awake.
#[derive(Debug)]
pub struct Sleeper {
    news: AtomicU32,
    sleeps: AtomicU32,
}

impl Sleeper {
    made! {
        /// It is awake, and there are no news.
        pub fn new() -> Sleeper {
            Sleeper { news: AtomicU32::new(0), sleeps: AtomicU32::new(0) }
        }
    }

    /// There are news, which have been stored before. Returns whether the core may sleep: then it is to be interrupted.
    pub fn tell(&self) -> bool {
        // Release: pairs with the acquire in `wake`. Relaxed below: whether to interrupt is all that the answer says.
        self.news.swap(1, Ordering::Release);
        // SeqCst: with that of `may_sleep`, one of the two sees what the other has stored.
        fence(Ordering::SeqCst);
        self.sleeps.load(Ordering::Relaxed) != 0
    }

    /// For the core itself, which takes no interrupt before it sleeps: whether it may, since there have been no news after the last [`Sleeper::wake`].
    pub fn may_sleep(&self) -> bool {
        // Relaxed, both: the news are taken by `wake`.
        self.sleeps.store(1, Ordering::Relaxed);
        // SeqCst: pairs with that of `tell`.
        fence(Ordering::SeqCst);
        self.news.load(Ordering::Relaxed) == 0
    }

    /// The core is awake, and looks for what is there; in any case after [`Sleeper::may_sleep`].
    pub fn wake(&self) {
        // Relaxed: who sees the old value interrupts once too often.
        self.sleeps.store(0, Ordering::Relaxed);
        // Acquire: pairs with `tell`, whose news are looked for from here on.
        self.news.swap(0, Ordering::Acquire);
    }
}

impl Default for Sleeper {
    fn default() -> Sleeper {
        Sleeper::new()
    }
}
