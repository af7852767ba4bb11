//! A fair lock: PEs wait in a queue, each on a word of its own (Mellor-Crummey and Scott 1991, "MCS").
//!
//! The standard's lock is one `long` that is symmetric, so every PE has a word, and the two halves of it serve two purposes:
//! * the *tail*, used in one PE only, the lock's home: the last PE of the queue, or none;
//! * the *place*, in each PE: whether it waits or holds the lock, and who comes next.
//!
//! A PE that waits polls its own memory, and a lock handed over costs one line. All zero is a free lock, as the standard says.

#[cfg(all(test, feature = "loom"))]
use crate::primitive::Memory;
use crate::primitive::{AtomicU32, Ordering, wait_until};
use core::mem::offset_of;

/// This PE waits for its predecessor.
const WAITS: u32 = 1 << 31;
/// This PE holds the lock.
const HOLDS: u32 = 1 << 30;
/// The successor's number plus one, or 0.
const NEXT: u32 = 0xffff;

/// The lock's word in one PE: eight bytes, as the standard's `long`.
#[repr(C, align(8))]
pub(crate) struct LockWord {
    tail: AtomicU32,
    place: AtomicU32,
    /// What the order of changes of the place protects. The model checker takes stores to one word in the order in which they are executed,
    /// and so would not miss an ordering there.
    #[cfg(all(test, feature = "loom"))]
    order: Memory,
}

impl LockWord {
    /// Where the tail and the place are, in bytes.
    pub(crate) const TAIL: usize = offset_of!(LockWord, tail);
    pub(crate) const PLACE: usize = offset_of!(LockWord, place);

    /// The PE itself sets its place anew: every change by another happens before or after that.
    #[inline(always)]
    fn set_place(&self, place: u32) {
        // Relaxed: ordered by what links the place, and by what its owner has waited for.
        self.place.store(place, Ordering::Relaxed);
        #[cfg(all(test, feature = "loom"))]
        self.order.store(place.into());
    }

    /// The place, to be changed by another PE.
    #[cfg(test)]
    fn others_place(&self) -> &AtomicU32 {
        #[cfg(feature = "loom")]
        self.order.load();
        &self.place
    }
}

/// What a caller did wrong; nothing has been changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LockMisuse {
    /// It holds the lock it asks for.
    HeldAlready,
    /// It does not hold the lock it releases.
    NotHeld,
}

/// The lock's words, as a PE gets at them.
pub(crate) trait Words {
    /// Of this PE.
    fn own(&self) -> &LockWord;

    /// Puts another last PE at the tail, plus one; what was there. Both orders.
    fn swap_tail(&self, last: u32) -> u32;

    /// Replaces the tail if it is this; whether it was. Both orders.
    fn replace_tail(&self, old: u32, new: u32) -> bool;

    /// Sets bits of another PE's place. Release.
    fn set_bits(&self, pe: u32, bits: u32);

    /// Clears bits of another PE's place. Release.
    fn clear_bits(&self, pe: u32, bits: u32);
}

/// Waits for the lock; `wait` polls until what it is given holds.
pub(crate) fn acquire(
    me: u32,
    words: &impl Words,
    wait: impl FnOnce(&dyn Fn() -> bool),
) -> Result<(), LockMisuse> {
    let place = &words.own().place;
    // Relaxed: only this PE sets the bit.
    if place.load(Ordering::Relaxed) & HOLDS != 0 {
        return Err(LockMisuse::HeldAlready);
    }
    // Nobody looks at the place before the swap below links it, which releases it.
    words.own().set_place(WAITS);
    // Acquire: pairs with the release of `release`'s exchange, when the lock was free. Release: publishes the place.
    let before = words.swap_tail(me + 1);
    // A successor may link itself at any time from here on, so only the two bits are changed. Relaxed, both: only this PE
    // reads the bits now.
    if before == 0 {
        place.fetch_xor(WAITS | HOLDS, Ordering::Relaxed);
    } else {
        // Release: pairs with the acquire loads of the predecessor in `release`.
        words.set_bits(before - 1, me + 1);
        // Acquire: pairs with the release in the predecessor's `release`, which hands the lock over.
        wait(&|| place.load(Ordering::Acquire) & WAITS == 0);
        place.fetch_or(HOLDS, Ordering::Relaxed);
    }
    Ok(())
}

/// Takes the lock if it is free; whether it was.
pub(crate) fn try_acquire(me: u32, words: &impl Words) -> Result<bool, LockMisuse> {
    let place = &words.own().place;
    // Relaxed: only this PE sets the bit.
    if place.load(Ordering::Relaxed) & HOLDS != 0 {
        return Err(LockMisuse::HeldAlready);
    }
    // As in `acquire`.
    words.own().set_place(HOLDS);
    // Acquire, release: as in `acquire`.
    let taken = words.replace_tail(0, me + 1);
    if !taken {
        // Not linked, so nobody looks at it.
        words.own().set_place(0);
    }
    Ok(taken)
}

/// Gives the lock to the next PE of the queue, or frees it.
pub(crate) fn release(me: u32, words: &impl Words) -> Result<(), LockMisuse> {
    let place = &words.own().place;
    // Acquire: pairs with the release of a successor that links itself.
    let mut seen = place.load(Ordering::Acquire);
    if seen & HOLDS == 0 {
        return Err(LockMisuse::NotHeld);
    }
    if seen & NEXT == 0 {
        // Release: pairs with the acquire of the next PE's swap or exchange.
        if words.replace_tail(me + 1, 0) {
            // Not linked any more.
            words.own().set_place(0);
            return Ok(());
        }
        // A successor is between its swap and its link: a few instructions. Acquire: as above.
        wait_until(|| {
            seen = place.load(Ordering::Acquire);
            seen & NEXT != 0
        });
    }
    // The successor has linked itself already; nobody else looks at this place.
    words.own().set_place(0);
    // Release: pairs with the acquire load the successor waits with.
    words.clear_bits((seen & NEXT) - 1, WAITS);
    Ok(())
}

/// Words by their references, as models have them: one for each PE.
#[cfg(test)]
struct Mapped<'a> {
    me: u32,
    home: u32,
    words: &'a [LockWord],
}

#[cfg(test)]
impl Mapped<'_> {
    fn of(&self, pe: u32) -> &LockWord {
        &self.words[pe as usize]
    }
}

#[cfg(test)]
impl Words for Mapped<'_> {
    fn own(&self) -> &LockWord {
        self.of(self.me)
    }

    fn swap_tail(&self, last: u32) -> u32 {
        self.of(self.home).tail.swap(last, Ordering::AcqRel)
    }

    fn replace_tail(&self, old: u32, new: u32) -> bool {
        self.of(self.home).tail.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    fn set_bits(&self, pe: u32, bits: u32) {
        self.of(pe).others_place().fetch_or(bits, Ordering::Release);
    }

    fn clear_bits(&self, pe: u32, bits: u32) {
        self.of(pe).others_place().fetch_and(!bits, Ordering::Release);
    }
}

#[cfg(test)]
fn free() -> LockWord {
    LockWord {
        tail: AtomicU32::new(0),
        place: AtomicU32::new(0),
        #[cfg(feature = "loom")]
        order: Memory::new(),
    }
}

#[cfg(all(test, feature = "loom"))]
mod model {
    use super::*;
    use crate::primitive::check_up_to;
    use loom::sync::Arc;
    use loom::thread;

    /// With one more, three PEs wait longer than the checker has patience.
    const PREEMPTIONS: usize = 2;

    fn exclude(pes: u32, rounds: u64, try_first: bool) {
        check_up_to(PREEMPTIONS, move || {
            let words: Arc<Vec<LockWord>> = Arc::new((0..pes).map(|_| free()).collect());
            let counter = Arc::new(Memory::new());
            let run = move |me: u32, words: &[LockWord], counter: &Memory| {
                for _ in 0..rounds {
                    let words = Mapped { me, home: 0, words };
                    if !(try_first && try_acquire(me, &words).unwrap()) {
                        acquire(me, &words, |free| wait_until(free)).unwrap();
                    }
                    counter.store(counter.load() + 1);
                    release(me, &words).unwrap();
                }
            };
            let threads: Vec<_> = (1..pes)
                .map(|me| {
                    let (words, counter) = (words.clone(), counter.clone());
                    thread::spawn(move || run(me, &words, &counter))
                })
                .collect();
            run(0, &words, &counter);
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(counter.load(), u64::from(pes) * rounds);
        });
    }

    #[test]
    fn two_pes_exclude_each_other() {
        exclude(2, 2, false);
    }

    #[test]
    fn two_pes_that_try_first_exclude_each_other() {
        exclude(2, 2, true);
    }

    #[test]
    fn three_pes_exclude_each_other() {
        exclude(3, 1, false);
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn misuse_is_told_and_changes_nothing() {
        let words = [free(), free()];
        let words = |me: u32| Mapped { me, home: 1, words: &words };
        assert_eq!(release(0, &words(0)), Err(LockMisuse::NotHeld));
        assert_eq!(try_acquire(0, &words(0)), Ok(true));
        assert_eq!(acquire(0, &words(0), |_| ()), Err(LockMisuse::HeldAlready));
        assert_eq!(try_acquire(0, &words(0)), Err(LockMisuse::HeldAlready));
        assert_eq!(try_acquire(1, &words(1)), Ok(false));
        assert_eq!(release(1, &words(1)), Err(LockMisuse::NotHeld));
        assert_eq!(release(0, &words(0)), Ok(()));
        assert_eq!(try_acquire(1, &words(1)), Ok(true));
        assert_eq!(size_of::<LockWord>(), 8);
    }
}
