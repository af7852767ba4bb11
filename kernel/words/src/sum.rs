//! A word to which the system adds what a rank of another node tells this one.

use crate::primitive::{AtomicU32, Ordering};
use lwk_primitive::made;

/// A sum, modulo 2³²: one rank adds to it by an atomic operation of Portals, which its owner's system carries out; the owner looks at it.
#[repr(transparent)]
#[derive(Debug)]
pub struct Sum(AtomicU32);

impl Sum {
    made! {
        /// Nothing has been added.
        pub fn new() -> Sum {
            Sum(AtomicU32::new(0))
        }
    }

    /// Adds, after everything that the adding side has done before: the system's part, as its atomic operations do it.
    #[cfg(all(test, feature = "loom"))]
    pub(crate) fn add(&self, number: u32) {
        // Release: pairs with the acquire in `look`.
        self.0.fetch_add(number, Ordering::AcqRel);
    }

    /// What has been added. What the adding side did before is over.
    #[inline(always)]
    pub fn look(&self) -> u32 {
        // Acquire: pairs with the exchange by which the system adds.
        self.0.load(Ordering::Acquire)
    }
}

impl Default for Sum {
    fn default() -> Sum {
        Sum::new()
    }
}
