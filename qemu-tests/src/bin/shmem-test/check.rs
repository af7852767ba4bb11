//! Counting what holds and what does not.

use core::fmt::Debug;
use lwk_shmem::{Pe, Shmem, engine};
use lwk_user::{eprintln, println};

/// Failures that are printed in each PE; the rest are only counted.
const PRINTED: u64 = 5;

/// The checks of one area in this PE.
pub struct Check {
    area: &'static str,
    done: u64,
    failed: u64,
}

impl Check {
    pub fn new(area: &'static str) -> Check {
        Check { area, done: 0, failed: 0 }
    }

    /// `found` must be `expected`.
    #[track_caller]
    pub fn equal<T: PartialEq + Debug>(&mut self, found: T, expected: T) {
        self.done += 1;
        if found != expected {
            self.failed += 1;
            if self.failed <= PRINTED {
                let (pe, area) = (engine::my_pe(), self.area);
                let at = core::panic::Location::caller();
                eprintln!("PE {pe}: {area}, {}:{}: {found:?} instead of {expected:?}", at.file(), at.line());
            }
        }
    }

    /// `holds` must be true.
    #[track_caller]
    pub fn that(&mut self, holds: bool) {
        self.equal(holds, true);
    }

    /// Adds up over all PEs and says so; the failures. Collective.
    pub fn finish(self, shmem: &Shmem) -> u64 {
        let Ok(counts) = shmem.atomic::<u64>() else { return 1 };
        let Ok(failures) = shmem.atomic::<u64>() else { return 1 };
        let root = Pe::new(0).unwrap_or(shmem.me());
        counts.add(root, self.done);
        failures.add(root, self.failed);
        shmem.barrier();
        let (done, failed) = (counts.fetch(root), failures.fetch(root));
        shmem.barrier();
        if shmem.me() == root {
            println!("{}: {done} checks, {failed} failed", self.area);
        }
        failed
    }
}

/// A symmetric array of `count` elements, every byte `fill`, for as long as the program runs or until `engine::free`. Collective.
pub fn array<T: Copy>(count: usize, fill: u8) -> *mut T {
    let bytes = count * size_of::<T>();
    let array = engine::malloc(bytes);
    assert!(!array.is_null(), "the symmetric heap has room for the test's arrays");
    // SAFETY: a fresh block of that many bytes, which peers use after a barrier only.
    unsafe { array.write_bytes(fill, bytes) };
    engine::barrier_all();
    array.cast()
}
