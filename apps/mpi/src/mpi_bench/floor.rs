//! The floors: what the machine gives without a library. Bare rings of one-line cells, a line exchanged between two ranks, and
//! copying in one's own memory.
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use core::sync::atomic::{AtomicU64, Ordering};
use lwk_mpi_rt::Result;
use lwk_ring::{Cell, Consumer, Credit, Producer};
use lwk_user::smartmap::{CacheLine, Peer, Shared, Symmetric};
use lwk_user::wait::spin_until;
use lwk_user::{NodeRank, job};

const CELLS: usize = 64;

struct Bare {
    ring: [Cell; CELLS],
    credit: Credit,
}

// SAFETY: a ring's two ends, of two ranks, share it through atomics, and each cell's data has one writer at a time; it holds no addresses.
unsafe impl Shared for Bare {}

/// Pairings of the ranks: neighbours (of the tests of one pair), and halves (of the tests of all). A ring has two ends for good, so each
/// pairing has rings of its own.
const PAIRINGS: usize = 2;

/// Of each pairing: the ring into this rank, from its partner, and the credit of the ring to the partner.
static BARE: Symmetric<[Bare; PAIRINGS]> = Symmetric::new(
    [const { Bare { ring: [const { Cell::new() }; CELLS], credit: Credit::new() } }; PAIRINGS],
);

/// In the first rank of a pair: one line with a word of each.
static LINE: Symmetric<CacheLine<[AtomicU64; 2]>> =
    Symmetric::new(CacheLine([const { AtomicU64::new(0) }; 2]));

/// The ends of a pair's two rings that a rank has.
type Ends = Option<(Producer<'static>, Consumer<'static>)>;

/// Both ends of this rank's bare rings, by pairing. One in a rank, for the program's life.
pub struct Floor {
    ends: core::cell::RefCell<[Ends; PAIRINGS]>,
    episode: core::cell::Cell<u64>,
}

impl Floor {
    /// No ring is connected yet; each is when it is used first.
    pub fn new() -> Floor {
        Floor { ends: core::cell::RefCell::new([None, None]), episode: core::cell::Cell::new(0) }
    }

    /// Whether ranks share lines: those of several nodes do not, and then all of these tests do nothing.
    pub fn is_there(&self) -> bool {
        job().nodes() == 1
    }

    /// Connects this rank with its partner in a pairing, once.
    fn ends<R>(&self, partner: u32, use_them: impl FnOnce(&mut Producer, &mut Consumer) -> R) -> Option<R> {
        if !self.is_there() {
            return None;
        }
        let pairing = usize::from(partner.abs_diff(job().node_rank().0) != 1);
        let partner = Peer::new(NodeRank(partner))?;
        let ends = &mut self.ends.borrow_mut()[pairing];
        if ends.is_none() {
            let (here, there) = (&BARE.here()[pairing], &BARE.at(partner).get()[pairing]);
            // SAFETY: the rings are new, and each end is made once, by the one rank that is the partner's partner.
            *ends = unsafe {
                Some((Producer::new(&there.ring, &here.credit)?, Consumer::new(&here.ring, &there.credit)?))
            };
        }
        ends.as_mut().map(|(producer, consumer)| use_them(producer, consumer))
    }

    /// Small messages to and fro through bare rings; the rank with `first` begins.
    pub fn ping_pong(&self, partner: u32, first: bool, iterations: u32) -> Result<()> {
        self.ends(partner, |producer, consumer| {
            for iteration in 0..iterations as u64 {
                if first {
                    push(producer, iteration);
                    pop(consumer);
                } else {
                    pop(consumer);
                    push(producer, iteration);
                }
            }
        });
        Ok(())
    }

    /// `rounds` windows of so many small messages one way, from the rank with `first`, with an answer after each window.
    pub fn stream(&self, partner: u32, first: bool, rounds: u32, window: u32) -> Result<()> {
        self.ends(partner, |producer, consumer| {
            for _ in 0..rounds {
                if first {
                    (0..window as u64).for_each(|number| push(producer, number));
                    pop(consumer);
                } else {
                    for _ in 0..window {
                        pop(consumer);
                    }
                    push(producer, 0);
                }
            }
        });
        Ok(())
    }

    /// A line with a word of each rank of a pair, exchanged: what a barrier of two cannot be faster than.
    pub fn exchange(&self, rank: u32, iterations: u32) -> Result<()> {
        if !self.is_there() {
            return Ok(());
        }
        let words = LINE.at(Peer::root()).get();
        let (mine, theirs) = (&words[rank as usize & 1], &words[rank as usize & 1 ^ 1]);
        for _ in 0..iterations {
            let episode = self.episode.get() + 1;
            self.episode.set(episode);
            // Release and acquire: pair with each other, in the two ranks, as a barrier's do; no other data depends on them.
            mine.store(episode, Ordering::Release);
            spin_until(|| theirs.load(Ordering::Acquire) >= episode);
        }
        Ok(())
    }
}

#[inline(always)]
fn push(producer: &mut Producer, value: u64) {
    spin_until(|| producer.has_room(1));
    // SAFETY: there is room; the words that the consumer reads are written.
    unsafe {
        producer.write(0, |data| {
            let data = data.cast::<u64>();
            data.write_volatile(value);
            data.add(1).write_volatile(8);
            data.add(2).write_volatile(value);
        });
        producer.publish(1);
    }
}

#[inline(always)]
fn pop(consumer: &mut Consumer) -> u64 {
    spin_until(|| consumer.has_message());
    // SAFETY: there is a message of one cell.
    unsafe {
        let value = consumer.read(0, |data| data.cast::<u64>().add(2).read_volatile());
        consumer.advance(1);
        value
    }
}
