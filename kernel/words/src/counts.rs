//! Counting events: two words in the rank's memory (Portals 4.3, section 3.14).

use crate::Told;

/// A counting event, as the rank sees it.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Counts {
    pub(crate) successes: Told,
    pub(crate) failures: Told,
}

#[cfg(not(all(test, feature = "loom")))]
const _: () = assert!(size_of::<Counts>() as u64 == lwk_abi::portals::COUNTER_BYTES);

impl Counts {
    /// The counting event at an address.
    ///
    /// # Safety
    /// `place` is aligned to eight bytes and leads to two words as [`Told::at`] has one.
    pub unsafe fn at<'a>(place: *mut u8) -> &'a Counts {
        // SAFETY: this function's contract.
        unsafe { &*place.cast::<Counts>() }
    }

    /// Successes and failures. What is counted is there.
    pub fn get(&self) -> (u64, u64) {
        (self.successes.look(), self.failures.look())
    }
}

/// The system tells both counts: `told` stores a word at an offset, as [`Told::tell`]. Failures first, so that who waits for either sees them with the last success.
pub fn tell(successes: u64, failures: u64, mut told: impl FnMut(u64, u64)) {
    told(8, failures);
    told(0, successes);
}
