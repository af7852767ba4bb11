//! The dissemination barrier (Hensgen, Finkel, Manber 1988; Mellor-Crummey and Scott 1991, algorithm 4), as a protocol over words.
//!
//! In round `k` a rank tells the rank `2^k` above it that it has come, and waits to be told by the rank `2^k` below; after
//! `ceil(log2 n)` rounds every rank knows of every other. Each word has one writer and one reader and a cache line of its own,
//! and each rank polls its own memory only, so a barrier of two costs one line each way. Instead of reversing a sense, the
//! words count episodes: a neighbour that is already in the next episode cannot be mistaken.
//!
//! Written over [`crate::primitive`]; `cargo test -p lwk-user --features loom --release` lets the model checker try the
//! interleavings of two ranks; larger groups, whose waiting the checker cannot bound, run on real threads in the plain tests.

use crate::primitive::{AtomicU64, Ordering, wait_until};
use crate::smartmap::{CacheLine, Shared};
use lwk_abi::address::MAX_RANKS;

/// Rounds that [`MAX_RANKS`] ranks need.
const ROUNDS: usize = usize::BITS as usize - (MAX_RANKS - 1).leading_zeros() as usize;

// Enough rounds to reach every rank of the largest node, and not one too many.
const _: () = assert!(1 << ROUNDS >= MAX_RANKS && 1 << (ROUNDS - 1) < MAX_RANKS);

/// One rank's words: word `k` holds the last episode in which the rank `2^k` below has reached round `k`.
pub struct Arrivals([CacheLine<AtomicU64>; ROUNDS]);

#[cfg(not(all(test, feature = "loom")))]
impl Arrivals {
    /// Nobody has come yet.
    pub const fn new() -> Arrivals {
        Arrivals([const { CacheLine(AtomicU64::new(0)) }; ROUNDS])
    }
}

#[cfg(not(all(test, feature = "loom")))]
impl Default for Arrivals {
    fn default() -> Arrivals {
        Arrivals::new()
    }
}

impl Arrivals {
    /// How many words there are. A barrier in which each rank tells every other takes one for each of those.
    pub const WORDS: usize = ROUNDS;

    /// Tells their owner, which is `2^round` above this rank, that this one has reached that round of an episode.
    #[inline(always)]
    pub fn tell(&self, round: usize, episode: u64) {
        // Release: pairs with the acquire load in `are_told`; carries all this rank has stored, and, from the second round on, all it has
        // learned of.
        self.0[round].store(episode, Ordering::Release);
    }

    /// Whether the rank `2^round` below has told, in that episode or a later one. Numbers grow, until they wrap around.
    #[inline(always)]
    pub fn are_told(&self, round: usize, episode: u64) -> bool {
        // Acquire: pairs with the release store in `tell`.
        self.0[round].load(Ordering::Acquire).wrapping_sub(episode) as i64 >= 0
    }

    /// Makes them as new, before anybody hears of them again.
    pub fn renew(&self) {
        // Relaxed: whatever tells the others of them orders this before.
        self.0.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }
}

// SAFETY: atomics only, no addresses.
unsafe impl Shared for Arrivals {}

/// One episode of the barrier as one of `size` ranks goes through it. `mine` are its own words, `ahead(d)` those of the rank
/// `d` above it, around the ring.
///
/// Episodes count from 1 and all ranks go through them in order.
pub(super) fn pass<'a>(size: u32, episode: u64, mine: &Arrivals, ahead: impl Fn(u32) -> &'a Arrivals) {
    let mut distance = 1;
    for round in 0.. {
        if distance >= size {
            break;
        }
        ahead(distance).tell(round, episode);
        wait_until(|| mine.are_told(round, episode));
        distance *= 2;
    }
}

#[cfg(all(test, feature = "loom"))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    fn arrivals() -> Arrivals {
        Arrivals(core::array::from_fn(|_| CacheLine(AtomicU64::new(0))))
    }

    /// Switches between threads that the checker may force at any point, beside those at waits.
    const PREEMPTIONS: usize = 3;

    type Cells = Arc<Vec<UnsafeCell<u64>>>;

    /// One rank: writes its own plain cell, passes, reads all cells, passes, and writes again.
    fn run(rank: u32, episodes: u64, words: Arc<Vec<Arrivals>>, cells: Cells) {
        let size = words.len() as u32;
        let mut episode = 0;
        let mut barrier = || {
            episode += 1;
            let ahead = |distance| &words[((rank + distance) % size) as usize];
            pass(size, episode, &words[rank as usize], ahead);
        };
        for value in 1..=episodes {
            // SAFETY: what is under test: between two barriers each cell has one writer and no reader.
            cells[rank as usize].with_mut(|cell| unsafe { *cell = value });
            barrier();
            for cell in cells.iter() {
                // SAFETY: what is under test: between two barriers cells are only read.
                cell.with(|cell| assert_eq!(unsafe { *cell }, value));
            }
            if value < episodes {
                barrier();
            }
        }
    }

    /// Loom fails this if in an interleaving a read is not ordered after the write it must see, or before the next one.
    fn ranks_see_each_others_plain_stores(size: u32, episodes: u64) {
        let mut model = loom::model::Builder::new();
        // Without a bound this takes minutes; bugs of this kind show with few forced switches.
        model.preemption_bound = Some(PREEMPTIONS);
        model.check(move || {
            let words: Arc<Vec<Arrivals>> = Arc::new((0..size).map(|_| arrivals()).collect());
            let cells: Cells = Arc::new((0..size).map(|_| UnsafeCell::new(0)).collect());
            let spawn = |rank| {
                let (words, cells) = (words.clone(), cells.clone());
                thread::spawn(move || run(rank, episodes, words, cells))
            };
            let threads: Vec<_> = (1..size).map(spawn).collect();
            run(0, episodes, words.clone(), cells.clone());
            for thread in threads {
                thread.join().unwrap();
            }
        });
    }

    #[test]
    fn two_ranks_two_episodes() {
        ranks_see_each_others_plain_stores(2, 2);
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use std::thread;

    /// No rank is ever more than one episode from another: each enters an episode only after all have left the one before.
    fn ranks_stay_together(size: u32, episodes: u64) {
        let words: Vec<Arrivals> = (0..size).map(|_| Arrivals::new()).collect();
        let entered: Vec<AtomicU64> = (0..size).map(|_| AtomicU64::new(0)).collect();
        thread::scope(|scope| {
            for rank in 0..size {
                let (words, entered) = (&words, &entered);
                scope.spawn(move || {
                    for episode in 1..=episodes {
                        // Relaxed, both: the barrier under test is what orders them.
                        entered[rank as usize].store(episode, Ordering::Relaxed);
                        let ahead = |distance| &words[((rank + distance) % size) as usize];
                        pass(size, episode, &words[rank as usize], ahead);
                        for peer in entered {
                            let seen = peer.load(Ordering::Relaxed);
                            assert!(
                                seen == episode || seen == episode + 1,
                                "rank {rank}: {seen} in {episode}"
                            );
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn groups_of_any_size_stay_together() {
        for size in [1, 2, 3, 4, 5, 7, 8, 13] {
            ranks_stay_together(size, 300);
        }
    }
}
