//! Tests on every pair of cores: atomic operations of both on the same words, locks, the order of stores, and SMARTMAP's puts and gets, in the memory of
//! either.

#![allow(clippy::disallowed_types, reason = "what ranks share is what this tests")]

use core::sync::atomic::{AtomicU64, Ordering};
use lwk_user::barrier::node_barrier;
use lwk_user::smartmap::{CacheLine, Peer, Symmetric};
use lwk_user::wait::spin_until;
use lwk_user::{eprintln, job};

use super::pairs::{partner, rounds};

/// The tests, by the names that are printed.
pub const NAMES: [&str; 6] = ["add", "compare-exchange", "xor", "lock", "put-and-get", "store-order"];

/// Operations of each rank on a word, in a test of atomic operations: an odd number, so that what is toggled ends toggled.
const OPERATIONS: u64 = 1001;
/// Critical sections of each rank under a lock.
const SECTIONS: u64 = 300;
/// Words that a rank puts into its partner's memory: a page.
const WORDS: usize = 512;
/// Times that it does.
const PUTS: u64 = 4;
/// Times that both ranks store to one word and load the other.
const CROSSINGS: u64 = 30;
/// Where one of two ranks counts in a word of both, in bits.
const UPPER: u64 = 32;

/// The word that operations are tried on.
static WORD: Symmetric<CacheLine<AtomicU64>> = Symmetric::new(CacheLine(AtomicU64::new(0)));
/// A lock, and what it guards.
static LOCK: Symmetric<CacheLine<AtomicU64>> = Symmetric::new(CacheLine(AtomicU64::new(0)));
static GUARDED: Symmetric<[u64; 2]> = Symmetric::new([0; 2]);
/// What a partner puts here, and what it gets from here.
static INBOX: Symmetric<[u64; WORDS]> = Symmetric::new([0; WORDS]);
static OUTBOX: Symmetric<[u64; WORDS]> = Symmetric::new([0; WORDS]);
/// The word that a partner stores to while this rank stores to that of the partner, and what this rank has then loaded.
static CROSS: Symmetric<CacheLine<AtomicU64>> = Symmetric::new(CacheLine(AtomicU64::new(0)));
static SEEN: Symmetric<CacheLine<AtomicU64>> = Symmetric::new(CacheLine(AtomicU64::new(0)));
/// How far a partner is, in the rounds so far.
static ARRIVED: Symmetric<CacheLine<AtomicU64>> = Symmetric::new(CacheLine(AtomicU64::new(0)));

/// In rank 0, of each test: how often it was made, and how often its result was wrong.
static MADE: Symmetric<[AtomicU64; NAMES.len()]> = Symmetric::new([const { AtomicU64::new(0) }; NAMES.len()]);
static WRONG: Symmetric<[AtomicU64; NAMES.len()]> =
    Symmetric::new([const { AtomicU64::new(0) }; NAMES.len()]);

/// How often each test was made, and how often it failed.
pub type Results = [(u64, u64); NAMES.len()];

/// Lets every two ranks meet. All ranks call it, once; each gets the results. `spoil`: this rank changes a word in its first meeting, to show that it
/// would be found.
pub fn run(spoil: Option<Peer>) -> Results {
    let me = Peer::me();
    let ranks = Peer::count();
    for round in 0..rounds(ranks) {
        if let Some(other) = partner(me.node_rank().0, round, ranks) {
            let other = Peer::root().ahead(other);
            let mut meeting = Meeting { me, other, steps: 0 };
            meeting.all(round == 0 && spoil == Some(me));
        }
        // Who comes next may not be taken for who was here.
        ARRIVED.here().store(0, Ordering::Relaxed);
        node_barrier();
    }
    // Relaxed: the barrier has ordered what was counted before.
    let count = |counts: &'static Symmetric<[AtomicU64; NAMES.len()]>, test: usize| {
        counts.at(Peer::root()).get()[test].load(Ordering::Relaxed)
    };
    core::array::from_fn(|test| (count(&MADE, test), count(&WRONG, test)))
}

/// Results of each test if every two ranks have met.
pub fn complete() -> [u64; NAMES.len()] {
    let ranks = u64::from(Peer::count());
    let pairs = ranks * (ranks - 1) / 2;
    // Two owners; two owners with two words each; two ranks that look at two pages in each round; one result a crossing.
    [2, 2, 2, 4, 4 * PUTS, CROSSINGS].map(|each| each * pairs)
}

/// Two ranks at work on each other's memory.
struct Meeting {
    me: Peer,
    other: Peer,
    steps: u64,
}

impl Meeting {
    fn all(&mut self, spoil: bool) {
        let unit = self.unit();
        self.operate(0, |word| {
            word.fetch_add(unit, Ordering::Relaxed);
        });
        self.operate(1, |word| {
            let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| Some(old + unit));
        });
        self.operate(2, |word| {
            word.fetch_xor(unit, Ordering::Relaxed);
        });
        self.lock();
        self.put_and_get(spoil);
        self.order();
    }

    fn is_lower(&self) -> bool {
        self.me < self.other
    }

    /// What this rank counts by in a word of both.
    fn unit(&self) -> u64 {
        if self.is_lower() { 1 } else { 1 << UPPER }
    }

    /// Both ranks, in the order in which they lend their memory.
    fn owners(&self) -> [Peer; 2] {
        if self.is_lower() { [self.me, self.other] } else { [self.other, self.me] }
    }

    /// Waits for the partner; what each has done before, both see after.
    fn meet(&mut self) {
        self.steps += 1;
        // Release, and acquire below: each rank's load pairs with the store of its partner.
        ARRIVED.at(self.other).get().store(self.steps, Ordering::Release);
        spin_until(|| ARRIVED.here().load(Ordering::Acquire) >= self.steps);
    }

    /// Counts a result; one that is wrong is told. By the rank that has looked at it.
    fn judge(&self, test: usize, found: u64, right: u64) {
        // Relaxed: the barrier after the round orders the counts.
        MADE.at(Peer::root()).get()[test].fetch_add(1, Ordering::Relaxed);
        if found == right {
            return;
        }
        WRONG.at(Peer::root()).get()[test].fetch_add(1, Ordering::Relaxed);
        let core = |peer: Peer| job().place(peer.node_rank()).map_or(0, |place| place.core);
        eprintln!(
            "{}: ranks {} and {}, cores {} and {}: {found:#x} instead of {right:#x}",
            NAMES[test],
            self.me,
            self.other,
            core(self.me),
            core(self.other)
        );
    }

    /// Both do the same to the word of each many times; every one of the operations counts.
    fn operate(&mut self, test: usize, operation: impl Fn(&AtomicU64)) {
        let toggles = NAMES[test] == "xor";
        let each = if toggles { OPERATIONS % 2 } else { OPERATIONS };
        for owner in self.owners() {
            let word = WORD.at(owner).get();
            (0..OPERATIONS).for_each(|_| operation(word));
            self.meet();
            if owner == self.me {
                // Relaxed, both: the meetings order them.
                self.judge(test, word.load(Ordering::Relaxed), each << UPPER | each);
                word.store(0, Ordering::Relaxed);
            }
            self.meet();
        }
    }

    /// Both change plain words under a lock.
    fn lock(&mut self) {
        const TEST: usize = 3;
        for owner in self.owners() {
            let lock = LOCK.at(owner).get();
            let words = GUARDED.at(owner).as_slice();
            for _ in 0..SECTIONS {
                // Acquire: pairs with the release of whoever had the lock before.
                spin_until(|| lock.swap(1, Ordering::Acquire) == 0);
                for index in 0..words.len() {
                    let word = words.index(index);
                    // SAFETY: whoever has the lock alone touches the words; that it is so, this tests.
                    unsafe { word.write(word.read() + self.unit()) };
                }
                lock.store(0, Ordering::Release);
            }
            self.meet();
            if owner == self.me {
                for index in 0..words.len() {
                    // SAFETY: between the meetings the partner does not touch the words.
                    let found = unsafe { words.index(index).read() };
                    self.judge(TEST, found, SECTIONS << UPPER | SECTIONS);
                    // SAFETY: as above.
                    unsafe { words.index(index).write(0) };
                }
            }
            self.meet();
        }
    }

    /// Each puts a page into the other's memory, which it finds there, and gets one from there.
    fn put_and_get(&mut self, spoil: bool) {
        const TEST: usize = 4;
        let word = |writer: Peer, round: u64, index: usize| {
            u64::from(writer.node_rank().0 + 1) << 48 | round << 32 | index as u64
        };
        for round in 0..PUTS {
            let page: [u64; WORDS] = core::array::from_fn(|index| word(self.me, round, index));
            // SAFETY: until the meeting only its partner, this rank, touches the other's inbox, and only this one its own outbox.
            unsafe {
                INBOX.at(self.other).as_slice().copy_from(0, &page);
                OUTBOX.at(self.me).as_slice().copy_from(0, &page);
            }
            self.meet();
            if spoil && round == 0 {
                // SAFETY: between these meetings nobody but this rank touches its inbox.
                unsafe { INBOX.as_mut()[WORDS / 2] ^= 1 };
            }
            let mut got = [0; WORDS];
            // SAFETY: between the meetings nobody writes an outbox.
            unsafe { OUTBOX.at(self.other).as_slice().copy_to(0, &mut got) };
            // SAFETY: nor an inbox, but its owner above.
            let put = unsafe { INBOX.as_ref() };
            for words in [put, &got] {
                let wrong = (0..WORDS).find(|index| words[*index] != word(self.other, round, *index));
                let index = wrong.unwrap_or(0);
                self.judge(TEST, words[index], word(self.other, round, index));
            }
            self.meet();
        }
    }

    /// Each stores to the other's word and then loads its own: one of both at least sees the other's store.
    fn order(&mut self) {
        const TEST: usize = 5;
        CROSS.here().store(0, Ordering::Relaxed);
        self.meet();
        for round in 1..=CROSSINGS {
            // SeqCst, both: in their one order one of the stores is before the other's load.
            CROSS.at(self.other).get().store(round, Ordering::SeqCst);
            let seen = CROSS.here().load(Ordering::SeqCst);
            // Relaxed, here and below: the meetings order them.
            SEEN.here().store(seen, Ordering::Relaxed);
            self.meet();
            if self.is_lower() {
                self.judge(TEST, seen.max(SEEN.at(self.other).get().load(Ordering::Relaxed)), round);
            }
            self.meet();
        }
    }
}
