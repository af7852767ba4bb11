//! What one PE can tell another: a flag that counts, and letters of one cache line.
//!
//! Each PE has one mailbox for every peer, written by that peer only and polled by its owner only. Everything collective is
//! built on them, so a team needs no memory of its own and no agreement on where it is.
//!
//! * The *flag* counts: the writer stores the number of its signal, the reader waits until that number is reached. Nothing is
//!   ever reset, so a writer may run ahead.
//! * A *letter* carries [`LETTER_WORDS`] words in the line of its stamp: one line moves, not two. Letter `n` lies in place
//!   `n % 2`, so the rule of its use is: *both PEs of a pair send each other one letter in every step, and finish the step by
//!   taking the peer's*. Then letter `n + 2` is sent after the peer's letter `n + 1` was taken, which the peer sent after it had
//!   taken letter `n`: nothing is overwritten unread.
//!
//! A stamp is the number and the kind of call it belongs to, in one word: calls that do not match are noticed for nothing.

use crate::primitive::{AtomicU64, Ordering, wait_until};

/// Words a letter carries: a cache line less its stamp.
pub(crate) const LETTER_WORDS: usize = 7;
/// Bytes a letter carries.
pub(crate) const LETTER_BYTES: usize = LETTER_WORDS * 8;

/// The peer is in another kind of call; its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mismatch(pub(crate) u8);

/// A word with a cache line to itself.
#[repr(align(64))]
pub(crate) struct Flag(AtomicU64);

/// A cache line of payload with its stamp.
#[repr(align(64))]
pub(crate) struct Letter {
    stamp: AtomicU64,
    words: [AtomicU64; LETTER_WORDS],
}

/// What one peer can tell the owner.
pub(crate) struct Mailbox {
    flag: Flag,
    letters: [Letter; 2],
}

#[cfg(not(all(test, feature = "loom")))]
impl Letter {
    const fn new() -> Letter {
        Letter { stamp: AtomicU64::new(0), words: [const { AtomicU64::new(0) }; LETTER_WORDS] }
    }
}

#[cfg(not(all(test, feature = "loom")))]
impl Mailbox {
    /// Nothing told yet; numbers begin at 1.
    pub(crate) const fn new() -> Mailbox {
        Mailbox { flag: Flag(AtomicU64::new(0)), letters: [const { Letter::new() }; 2] }
    }
}

/// Number and kind in one word; numbers stay below 2^56, which no machine reaches.
#[inline(always)]
fn stamp(number: u64, kind: u8) -> u64 {
    number << 8 | kind as u64
}

/// Waits until a stamp has reached `number`.
#[inline(always)]
fn wait_for(word: &AtomicU64, number: u64, kind: u8) -> Result<(), Mismatch> {
    let mut seen = 0;
    wait_until(|| {
        // Acquire: pairs with the release store of `signal` or `post`, in the peer.
        seen = word.load(Ordering::Acquire);
        seen >> 8 >= number
    });
    // A later number says nothing about the kind of this one.
    if seen >> 8 == number && seen as u8 != kind { Err(Mismatch(seen as u8)) } else { Ok(()) }
}

impl Mailbox {
    /// The writer's side: all it has stored before is visible to the owner after [`Self::hear`] of the same number.
    #[inline(always)]
    pub(crate) fn signal(&self, number: u64, kind: u8) {
        // Release: pairs with the acquire load in `wait_for`, in the owner.
        self.flag.0.store(stamp(number, kind), Ordering::Release);
    }

    /// The owner's side: waits for a signal.
    #[inline(always)]
    pub(crate) fn hear(&self, number: u64, kind: u8) -> Result<(), Mismatch> {
        wait_for(&self.flag.0, number, kind)
    }

    /// The writer's side: sends at most [`LETTER_WORDS`] words.
    #[inline(always)]
    pub(crate) fn post(&self, number: u64, kind: u8, words: &[u64]) {
        let letter = &self.letters[(number % 2) as usize];
        for (place, word) in letter.words.iter().zip(words) {
            // Relaxed: published by the stamp.
            place.store(*word, Ordering::Relaxed);
        }
        // Release: pairs with the acquire load in `wait_for`, in the owner.
        letter.stamp.store(stamp(number, kind), Ordering::Release);
    }

    /// The owner's side: waits for a letter and reads as many of its words as there is room for.
    #[inline(always)]
    pub(crate) fn take(&self, number: u64, kind: u8, words: &mut [u64]) -> Result<(), Mismatch> {
        let letter = &self.letters[(number % 2) as usize];
        wait_for(&letter.stamp, number, kind)?;
        for (place, word) in letter.words.iter().zip(words) {
            // Relaxed: ordered by the stamp; by the rule of use nothing overwrites it now.
            *word = place.load(Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "loom"))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    const KIND: u8 = 3;

    fn empty() -> Mailbox {
        let letter =
            || Letter { stamp: AtomicU64::new(0), words: core::array::from_fn(|_| AtomicU64::new(0)) };
        Mailbox { flag: Flag(AtomicU64::new(0)), letters: [letter(), letter()] }
    }

    fn check(model: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(model);
    }

    /// Two PEs exchange letters: each must see exactly the peer's words of the same step.
    #[test]
    fn letters_are_neither_lost_nor_torn_nor_overwritten_unread() {
        check(|| {
            let boxes = Arc::new([empty(), empty()]);
            let run = |me: usize, boxes: Arc<[Mailbox; 2]>| {
                for number in 1..=3 {
                    let mine = [number * 10 + me as u64, number * 100 + me as u64];
                    boxes[1 - me].post(number, KIND, &mine);
                    let mut words = [0; 2];
                    boxes[me].take(number, KIND, &mut words).unwrap();
                    let peer = 1 - me as u64;
                    assert_eq!(words, [number * 10 + peer, number * 100 + peer]);
                }
            };
            let peer = {
                let boxes = boxes.clone();
                thread::spawn(move || run(1, boxes))
            };
            run(0, boxes);
            peer.join().unwrap();
        });
    }

    /// A flag publishes plain data, also when the writer runs ahead.
    #[test]
    fn a_signal_publishes_what_was_stored_before_it() {
        check(|| {
            let mailbox = Arc::new(empty());
            let cells = Arc::new([UnsafeCell::new(0), UnsafeCell::new(0)]);
            let writer = {
                let (mailbox, cells) = (mailbox.clone(), cells.clone());
                thread::spawn(move || {
                    for (number, cell) in (1..).zip(cells.iter()) {
                        // SAFETY: what is under test: each cell is written before its signal and read after it.
                        cell.with_mut(|cell| unsafe { *cell = number });
                        mailbox.signal(number, KIND);
                    }
                })
            };
            for (number, cell) in (1..).zip(cells.iter()) {
                mailbox.hear(number, KIND).unwrap();
                // SAFETY: as above.
                cell.with(|cell| assert_eq!(unsafe { *cell }, number));
            }
            writer.join().unwrap();
        });
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn a_mailbox_is_three_lines() {
        assert_eq!(size_of::<Mailbox>(), 3 * 64);
    }

    #[test]
    fn another_kind_of_call_is_noticed_unless_the_peer_is_further_already() {
        let mailbox = Mailbox::new();
        mailbox.signal(1, 4);
        assert_eq!(wait_for(&mailbox.flag.0, 1, 4), Ok(()));
        assert_eq!(wait_for(&mailbox.flag.0, 1, 5), Err(Mismatch(4)));
        mailbox.signal(2, 6);
        assert_eq!(wait_for(&mailbox.flag.0, 1, 5), Ok(()));
    }
}
