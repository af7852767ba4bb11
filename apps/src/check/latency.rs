//! How long a store takes from core to core, for every pair: one pair at a time, while the other ranks wait.

#![allow(clippy::disallowed_types, reason = "what ranks share is what this measures")]

use alloc::vec::Vec;
use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use lwk_user::abi::address::MAX_RANKS;
use lwk_user::abi::job_page::RankPlace;
use lwk_user::barrier::node_barrier;
use lwk_user::clock::{self, Instant, ticks_ordered};
use lwk_user::smartmap::{CacheLine, Peer, Symmetric, peers};
use lwk_user::wait::spin_until;
use lwk_user::{job, println};

use super::heat::Picture;
use crate::statistics::Summary;

/// Round trips in a sample, so that reading the clock does not count.
const ROUND_TRIPS: u64 = 16;
/// Samples of a pair: at most, and at least where time is short.
const SAMPLES_MAX: usize = 64;
const SAMPLES_MIN: usize = 3;
/// Time for a pair's samples.
const TIME: Duration = Duration::from_millis(20);
/// Told to the partner instead of a count: no more round trips.
const STOP: u64 = u64::MAX;
/// Columns of numbers that stand beside each other: as many as fit on the narrowest screen.
const COLUMNS: usize = 12;

/// The line that a rank polls, and its partner writes.
static LINE: Symmetric<CacheLine<AtomicU64>> = Symmetric::new(CacheLine(AtomicU64::new(0)));
/// In each rank, for every rank after it: ticks of half a round trip, times [`SCALE`].
static ROW: Symmetric<[u64; MAX_RANKS]> = Symmetric::new([0; MAX_RANKS]);
/// Parts of a tick that are kept.
const SCALE: f64 = 1000.0;

/// Half round trips in nanoseconds, by the two ranks.
pub struct Latencies {
    rows: Vec<Vec<f64>>,
}

/// Measures every pair. All ranks call it, once; each gets the same.
pub fn measure_all() -> Latencies {
    let me = Peer::me();
    for first in peers() {
        for second in peers().filter(|second| *second > first) {
            // Relaxed: the barrier orders it before the pair's stores.
            LINE.here().store(0, Ordering::Relaxed);
            node_barrier();
            if me == first {
                let ticks = ping(second) * SCALE;
                // SAFETY: this rank's own; others read it only after the last barrier.
                unsafe { ROW.as_mut()[second.node_rank().index()] = ticks as u64 };
            } else if me == second {
                pong(first);
            }
            node_barrier();
        }
    }
    let ns = 1e9 / clock::ticks_per_second().max(1) as f64 / SCALE;
    let row = |peer: Peer| {
        // SAFETY: the barrier has ordered the rank's last write before this, and it does not write again.
        let row = unsafe { &*ROW.at(peer).as_ptr() };
        row[..peers().len()].iter().map(|ticks| *ticks as f64 * ns).collect()
    };
    Latencies { rows: peers().map(row).collect() }
}

/// Sends odd counts, waits for the even ones: the median half round trip in ticks.
fn ping(other: Peer) -> f64 {
    let (mine, theirs) = (LINE.here(), LINE.at(other).get());
    let mut count = 0;
    let mut round_trips = || {
        let start = ticks_ordered();
        for _ in 0..ROUND_TRIPS {
            // Release and acquire, here and in `pong`: each store is seen by the other side's load; there is no other data.
            theirs.store(count + 1, Ordering::Release);
            spin_until(|| mine.load(Ordering::Acquire) == count + 2);
            count += 2;
        }
        (ticks_ordered() - start) as f64 / (2 * ROUND_TRIPS) as f64
    };
    round_trips();
    let end = Instant::now().after(TIME);
    let mut samples = Vec::with_capacity(SAMPLES_MAX);
    while samples.len() < SAMPLES_MAX && (samples.len() < SAMPLES_MIN || Instant::now() < end) {
        samples.push(round_trips());
    }
    // Release: as above; it is the last that `pong` sees.
    theirs.store(STOP, Ordering::Release);
    Summary::of(samples).median
}

/// Answers odd counts with the next even one.
fn pong(other: Peer) {
    let (mine, theirs) = (LINE.here(), LINE.at(other).get());
    for count in (1..).step_by(2) {
        let mut seen = 0;
        spin_until(|| {
            seen = mine.load(Ordering::Acquire);
            seen == count || seen == STOP
        });
        if seen == STOP {
            return;
        }
        theirs.store(count + 1, Ordering::Release);
    }
}

impl Latencies {
    /// The latency of a pair, whichever is first; `None` of a rank with itself.
    fn of(&self, one: usize, other: usize) -> Option<f64> {
        (one != other).then(|| self.rows[one.min(other)][one.max(other)])
    }

    /// Whether every pair has one.
    pub fn is_complete(&self) -> bool {
        let all = 0..self.rows.len();
        all.clone().all(|one| all.clone().all(|other| self.of(one, other).is_none_or(|ns| ns > 0.0)))
    }

    /// Prints the matrix as numbers, as many columns at a time as fit, and what pairs have that share the same.
    pub fn print(&self) {
        let ranks = self.rows.len();
        println!("# latency: half a round trip of 8 bytes between two ranks, median, ns");
        for first in (0..ranks).step_by(COLUMNS) {
            let columns = first..(first + COLUMNS).min(ranks);
            let mut text = alloc::string::String::new();
            // A string takes all, here and below.
            for column in columns.clone() {
                let _ = write!(text, " {column:>7}");
            }
            println!("# {:>4}{text}", "rank");
            for row in 0..ranks {
                text.clear();
                for column in columns.clone() {
                    let _ = match self.of(row, column) {
                        Some(ns) => write!(text, " {ns:>7.1}"),
                        None => write!(text, " {:>7}", "-"),
                    };
                }
                println!("{row:>6}{text}");
            }
        }
        self.print_distances();
    }

    /// Median and range of the pairs of each distance.
    fn print_distances(&self) {
        let places = job().places();
        println!("# by what the two cores share");
        println!("# {:<14} {:>6} {:>9} {:>9} {:>9}", "share", "pairs", "min_ns", "median_ns", "max_ns");
        for (distance, name) in DISTANCES.iter().enumerate() {
            let pairs = places.iter().enumerate().flat_map(|(one, place)| {
                let others = places.iter().enumerate().skip(one + 1);
                others
                    .filter(move |(_, other)| distance_of(place, other) == distance)
                    .map(move |(other, _)| (one, other))
            });
            let values: Vec<f64> = pairs.filter_map(|(one, other)| self.of(one, other)).collect();
            if values.is_empty() {
                continue;
            }
            let most = values.iter().copied().fold(0.0, f64::max);
            let summary = Summary::of(values);
            println!(
                "{name:<16} {:>6} {:>9.1} {:>9.1} {most:>9.1}",
                summary.samples, summary.minimum, summary.median
            );
        }
    }

    /// Prints the matrix as a picture.
    pub fn print_picture(&self, coloured: bool) {
        let picture = Picture::new(self.rows.len(), |row, column| self.of(row, column));
        if picture.is_empty() {
            println!("# one rank: there is no pair to measure");
            return;
        }
        println!(
            "# latency by pair of ranks: {} in a cell; from so many ns: {}",
            picture.group,
            picture.legend(coloured)
        );
        for (row, text) in picture.rows(coloured).enumerate() {
            println!("{:>6} {text}", row * picture.group);
        }
    }
}

/// What two cores share at most, from near to far.
const DISTANCES: [&str; 5] = ["core", "L2 cache", "L3 cache", "package", "memory only"];

/// The first of [`DISTANCES`] that two ranks share.
fn distance_of(one: &RankPlace, other: &RankPlace) -> usize {
    let shared = [
        one.physical_core == other.physical_core,
        one.l2 == other.l2,
        one.l3 == other.l3,
        one.package == other.package,
    ];
    shared.iter().position(|shared| *shared).unwrap_or(shared.len())
}
