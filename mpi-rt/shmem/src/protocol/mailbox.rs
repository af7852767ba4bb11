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

use super::wait::wait;
use crate::primitive::{AtomicU64, Ordering};
use core::mem::offset_of;
use lwk_primitive::{array, made};

/// Words a letter carries: a cache line less its stamp.
pub(crate) const LETTER_WORDS: usize = 7;
/// Bytes a letter carries.
pub(crate) const LETTER_BYTES: usize = LETTER_WORDS * 8;

/// Why nothing that fits has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trouble {
    /// The peer is in another kind of call; its kind.
    Mismatch(u8),
    /// The peer has ended and has not told it.
    Gone,
}

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

impl Letter {
    made! {
        fn new() -> Letter {
            Letter { stamp: AtomicU64::new(0), words: array!(AtomicU64::new(0); LETTER_WORDS) }
        }
    }
}

impl Mailbox {
    made! {
        /// Nothing told yet; numbers begin at 1.
        pub(crate) fn new() -> Mailbox {
            Mailbox { flag: Flag(AtomicU64::new(0)), letters: array!(Letter::new(); 2) }
        }
    }
}

/// Number and kind in one word; numbers stay below 2^56, which no machine reaches.
#[inline(always)]
fn stamp(number: u64, kind: u8) -> u64 {
    number << 8 | kind as u64
}

/// Waits until a stamp has reached `number`, or the peer is gone for good. `is_gone` orders what the peer has told before what it answers.
#[inline(always)]
fn wait_for(word: &AtomicU64, number: u64, kind: u8, is_gone: impl Fn() -> bool) -> Result<(), Trouble> {
    let mut seen = 0;
    let told = || {
        // Acquire: pairs with the release store of `signal` or `post`, in the peer.
        seen = word.load(Ordering::Acquire);
        seen >> 8 >= number
    };
    wait(told, is_gone);
    match seen >> 8 {
        before if before < number => Err(Trouble::Gone),
        // A later number says nothing about the kind of this one.
        same if same == number && seen as u8 != kind => Err(Trouble::Mismatch(seen as u8)),
        _ => Ok(()),
    }
}

impl Mailbox {
    /// The writer's side: all it has stored before is visible to the owner after [`Self::hear`] of the same number.
    #[inline(always)]
    pub(crate) fn signal(&self, number: u64, kind: u8) {
        // Release: pairs with the acquire load in `wait_for`, in the owner.
        self.flag.0.store(stamp(number, kind), Ordering::Release);
    }

    /// What [`Self::signal`] stores: where, in bytes, and the word.
    pub(crate) fn signal_word(number: u64, kind: u8) -> (usize, u64) {
        (offset_of!(Mailbox, flag), stamp(number, kind))
    }

    /// What [`Self::post`] stores: where its words go, in bytes; after them, where the stamp goes, and the stamp.
    pub(crate) fn letter_words(number: u64, kind: u8) -> (usize, usize, u64) {
        let letter = offset_of!(Mailbox, letters) + (number % 2) as usize * size_of::<Letter>();
        (letter + offset_of!(Letter, words), letter + offset_of!(Letter, stamp), stamp(number, kind))
    }

    /// The owner's side: waits for a signal. `is_gone`: whether the writer has ended, and then an acquire.
    #[inline(always)]
    pub(crate) fn hear(&self, number: u64, kind: u8, is_gone: impl Fn() -> bool) -> Result<(), Trouble> {
        wait_for(&self.flag.0, number, kind, is_gone)
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

    /// The owner's side: waits for a letter and reads as many of its words as there is room for. `is_gone` as for [`Self::hear`].
    #[inline(always)]
    pub(crate) fn take(
        &self,
        number: u64,
        kind: u8,
        words: &mut [u64],
        is_gone: impl Fn() -> bool,
    ) -> Result<(), Trouble> {
        let letter = &self.letters[(number % 2) as usize];
        wait_for(&letter.stamp, number, kind, is_gone)?;
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
    use crate::primitive::{AtomicU32, Memory, check};
    use loom::sync::Arc;
    use loom::thread;

    const KIND: u8 = 3;

    /// Two PEs exchange letters: each must see exactly the peer's words of the same step.
    #[test]
    fn letters_are_neither_lost_nor_torn_nor_overwritten_unread() {
        check(|| {
            let boxes = Arc::new([Mailbox::new(), Mailbox::new()]);
            let run = |me: usize, boxes: Arc<[Mailbox; 2]>| {
                for number in 1..=3 {
                    let mine = [number * 10 + me as u64, number * 100 + me as u64];
                    boxes[1 - me].post(number, KIND, &mine);
                    let mut words = [0; 2];
                    boxes[me].take(number, KIND, &mut words, || false).unwrap();
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
            let mailbox = Arc::new(Mailbox::new());
            let cells = Arc::new([Memory::new(), Memory::new()]);
            let writer = {
                let (mailbox, cells) = (mailbox.clone(), cells.clone());
                thread::spawn(move || {
                    for (number, cell) in (1..).zip(cells.iter()) {
                        cell.store(number);
                        mailbox.signal(number, KIND);
                    }
                })
            };
            for (number, cell) in (1..).zip(cells.iter()) {
                mailbox.hear(number, KIND, || false).unwrap();
                assert_eq!(cell.load(), number);
            }
            writer.join().unwrap();
        });
    }

    /// A peer that ends: what it has told first is heard, and what it has not told is not waited for.
    #[test]
    fn what_a_peer_told_before_its_end_is_heard() {
        check(|| {
            let mailbox = Arc::new(Mailbox::new());
            let end = Arc::new(AtomicU32::new(0));
            let writer = {
                let (mailbox, end) = (mailbox.clone(), end.clone());
                thread::spawn(move || {
                    mailbox.signal(1, KIND);
                    // Release: pairs with the acquire load below; a home's store at the end of a rank is one.
                    end.store(1, Ordering::Release);
                })
            };
            // Acquire: pairs with the release store above.
            let is_gone = || end.load(Ordering::Acquire) != 0;
            assert_eq!(mailbox.hear(1, KIND, is_gone), Ok(()));
            assert_eq!(mailbox.hear(2, KIND, is_gone), Err(Trouble::Gone));
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
        let stays = || false;
        assert_eq!(mailbox.hear(1, 4, stays), Ok(()));
        assert_eq!(mailbox.hear(1, 5, stays), Err(Trouble::Mismatch(4)));
        mailbox.signal(2, 6);
        assert_eq!(mailbox.hear(1, 5, stays), Ok(()));
    }
}
