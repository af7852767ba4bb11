//! Timing in turns, and tables.
//!
//! What is compared is run in turns, in short rounds: the library, then its floor, each a few thousand times. The figure is the
//! best round of each (whatever disturbs a round makes it longer), the ratio the median of the ratios within a round, since a
//! machine may change its speed between rounds, but seldom within one. Rounds in which a PE lost its core do not count.
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use alloc::string::String;
use alloc::vec::Vec;
use core::hint::black_box;
use lwk_shmem::engine::{self, barrier_all};
use lwk_user::clock::{ticks_ordered, ticks_per_second};
use lwk_user::{job, println};

/// Largest message of all tests, in bytes: 4 MiB.
pub const LARGEST: usize = 4 << 20;
/// Bytes that one round moves at most: keeps rounds of large messages short.
const ROUND_BYTES: usize = 32 << 20;

/// A round that takes so many times the best one was disturbed. A machine's own states differ by up to five times, but not within
/// a round.
const DISTURBED: f64 = 6.0;

/// What the command line asks for: which sizes, how often.
pub struct Bench {
    /// Smallest message, in bytes.
    pub smallest: usize,
    /// Largest message, in bytes.
    pub largest: usize,
    /// Rounds of each comparison.
    pub rounds: u64,
}

impl Default for Bench {
    fn default() -> Bench {
        let rounds = if job().is_emulated() || job().is_oversubscribed() { 3 } else { 11 };
        Bench { smallest: 1, largest: LARGEST, rounds }
    }
}

/// Nanoseconds for one call of the library, for one of the floor, and the ratio.
#[derive(Clone, Copy)]
pub struct Compared {
    pub library: f64,
    pub floor: f64,
    pub ratio: f64,
}

impl Bench {
    /// Sizes in bytes: the powers of two from the smallest to the largest message.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + use<> {
        let (smallest, largest) = (self.smallest, self.largest);
        core::iter::successors(Some(1usize), |size| size.checked_mul(2))
            .skip_while(move |size| *size < smallest)
            .take_while(move |size| *size <= largest)
    }

    /// How often something is repeated in a round, if each moves `bytes` bytes.
    pub fn repetitions(&self, bytes: usize) -> u64 {
        let most = if job().is_oversubscribed() {
            20
        } else if job().is_emulated() {
            200
        } else {
            4000
        };
        let round_bytes = if job().is_emulated() { ROUND_BYTES / 16 } else { ROUND_BYTES };
        (round_bytes / bytes.max(1)).clamp(2, most) as u64
    }

    /// Runs both in turns, `repetitions` calls a round, which each is handed to make; collective, and the figures are this PE's.
    pub fn compare(
        &self,
        repetitions: u64,
        mut library: impl FnMut(u64),
        mut floor: impl FnMut(u64),
    ) -> Compared {
        // One round to warm up.
        let mut round = || [time(&mut library, repetitions), time(&mut floor, repetitions)];
        round();
        let rounds: Vec<[f64; 2]> = (0..self.rounds).map(|_| round()).collect();
        let best = |of: usize| rounds.iter().map(|times| times[of]).fold(f64::INFINITY, f64::min);
        let (library, floor) = (best(0), best(1));
        let undisturbed =
            rounds.iter().filter(|times| times[0] < library * DISTURBED && times[1] < floor * DISTURBED);
        let mut ratios: Vec<f64> = undisturbed.map(|times| times[0] / times[1]).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let ratio = ratios.get(ratios.len() / 2).copied().unwrap_or(library / floor);
        Compared { library, floor, ratio }
    }
}

/// Nanoseconds for one of `repetitions` calls, all PEs beginning together.
fn time(call: &mut impl FnMut(u64), repetitions: u64) -> f64 {
    barrier_all();
    let begin = ticks_ordered();
    call(black_box(repetitions));
    let ticks = ticks_ordered() - begin;
    ticks as f64 * 1e9 / ticks_per_second() as f64 / repetitions as f64
}

/// What a test has found: column names, rows, and words that were wrong.
pub struct Table {
    pub test: &'static str,
    /// What each row is about, then its figures, with their units.
    pub columns: &'static [&'static str],
    pub rows: Vec<Row>,
    pub wrong: u64,
}
lwk_apps::json_object!(Table { test, columns, rows, wrong });

/// A row: what it is about (a size in bytes, a name), and its figures.
pub struct Row {
    pub of: String,
    pub values: Vec<f64>,
}
lwk_apps::json_object!(Row { of, values });

impl Table {
    /// A table without rows; the first column says what each row is about.
    pub fn new(test: &'static str, columns: &'static [&'static str]) -> Table {
        Table { test, columns, rows: Vec::new(), wrong: 0 }
    }

    /// Adds a row: a value for each further column.
    pub fn row(&mut self, of: impl core::fmt::Display, values: &[f64]) {
        self.rows.push(Row { of: alloc::format!("{of}"), values: values.to_vec() });
    }

    /// Adds what all PEs together have found wrong, words or bytes, to the table's count; collective.
    pub fn count_wrong(&mut self, wrong: u64) {
        use core::sync::atomic::AtomicU64;
        use lwk_user::smartmap::Symmetric;
        static WRONG: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));
        let counter = WRONG.as_ptr().cast::<u64>();
        // SAFETY: a static, aligned, and used by atomics only.
        unsafe { engine::atomic_add(counter, wrong, 0) };
        barrier_all();
        // SAFETY: as above.
        self.wrong += unsafe { engine::atomic_fetch(counter, 0) };
        barrier_all();
        if engine::my_pe() == 0 {
            // SAFETY: as above.
            unsafe { engine::atomic_set(counter, 0, 0) };
        }
        barrier_all();
    }

    /// Prints the table in OSU's style, `about` in its head; by one PE.
    pub fn print(&self, about: &str) {
        println!("# {}: {about} ({} PEs); ratio: value / floor", self.test, engine::n_pes());
        let mut header = alloc::format!("# {:<12}", self.columns[0]);
        for column in &self.columns[1..] {
            header += &alloc::format!(" {column:>16}");
        }
        println!("{header}");
        for row in &self.rows {
            let mut line = alloc::format!("{:<14}", row.of);
            for value in &row.values {
                line += &alloc::format!(" {value:>16.3}");
            }
            println!("{line}");
        }
        if self.wrong > 0 {
            println!("# {}: {} words are WRONG", self.test, self.wrong);
        }
    }
}
