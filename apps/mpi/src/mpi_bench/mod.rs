//! What the tests of `mpi-bench` share: options, the clock, and the table of results.

pub mod asynchronous;
pub mod collective;
pub mod distances;
pub mod effective;
pub mod floor;
pub mod instructions;
pub mod kernel_copy;
pub mod memory;
pub mod moving;
pub mod neighbours;
pub mod one_sided;
pub mod patterns;
mod places;
pub mod point_to_point;
pub mod posted;
pub mod reducing;
pub mod reductions;

use alloc::vec::Vec;
use core::ops::RangeInclusive;
use floor::Floor;
use lwk_mpi::{Communicator, Mpi};
use lwk_mpi_rt::Result;
use lwk_user::clock::{ticks_ordered, ticks_per_second};
use lwk_user::{job, println};

/// The largest message, in bytes.
const LARGEST: usize = 64 << 20;

/// How long and on what sizes to measure.
#[derive(Clone)]
pub struct Options {
    /// Iterations of one repetition for small sizes; large ones take fewer.
    pub iterations: u32,
    /// Repetitions of test and floor, taking turns.
    pub repetitions: u32,
    /// Message sizes in bytes; each test's own if none are given.
    pub sizes: Option<RangeInclusive<usize>>,
}

impl Default for Options {
    fn default() -> Options {
        let (iterations, repetitions) = if job().is_emulated() { (100, 3) } else { (1000, 20) };
        Options { iterations, repetitions, sizes: None }
    }
}

/// The range that `MIN:MAX` says, in bytes; none if it is not that, or goes beyond 64 MiB.
pub fn sizes(text: &str) -> Option<RangeInclusive<usize>> {
    let (low, high) = text.split_once(':')?;
    let (low, high) = (low.parse().ok()?, high.parse().ok()?);
    (low <= high && high <= LARGEST).then_some(low..=high)
}

/// One run of the program, in one rank.
pub struct Bench<'m> {
    pub world: Communicator<'m>,
    pub rank: u32,
    pub size: u32,
    pub options: Options,
    pub floor: Floor,
}

impl<'m> Bench<'m> {
    /// Errors: those of asking `MPI_COMM_WORLD` for rank and size.
    pub fn new(mpi: &'m Mpi, options: Options) -> Result<Bench<'m>> {
        let world = mpi.world();
        let (rank, size) = (world.rank()?, world.size()?);
        Ok(Bench { world, rank, size, options, floor: Floor::new() })
    }

    /// Message sizes: `first`, then powers of two, within what the user asked for.
    pub fn sizes(&self, first: usize, last: usize) -> Vec<usize> {
        let range = self.options.sizes.clone().unwrap_or(first..=last);
        let powers = (0..=LARGEST.ilog2()).map(|power| 1 << power);
        [0].into_iter().chain(powers).filter(|size| range.contains(size) && *size >= first).collect()
    }

    /// Iterations of a repetition at a size: fewer for large ones, so that each takes about as long.
    pub fn iterations(&self, bytes: usize) -> u32 {
        const FULL_UP_TO: usize = 8 << 10;
        (self.options.iterations as usize * FULL_UP_TO / bytes.max(FULL_UP_TO)).max(4) as u32
    }

    /// Ticks that `body` takes in this rank, after all ranks have come here. Errors: those of `body`.
    pub fn time(&self, body: impl FnOnce() -> Result<()>) -> Result<u64> {
        self.world.barrier()?;
        let start = ticks_ordered();
        body()?;
        Ok(ticks_ordered() - start)
    }

    /// Ticks of the best repetition of a test without a floor. Every rank must call it.
    pub fn best(&self, mut test: impl FnMut() -> Result<()>) -> Result<u64> {
        let mut best = u64::MAX;
        for repetition in 0..=self.options.repetitions {
            let turn = self.time(&mut test)?;
            if repetition > 0 {
                best = best.min(turn);
            }
        }
        Ok(best)
    }

    /// Takes turns between test and floor; the best of each, in ticks. Every rank must call it.
    pub fn compare(
        &self,
        mut test: impl FnMut() -> Result<()>,
        mut floor: impl FnMut() -> Result<()>,
    ) -> Result<(u64, u64)> {
        let mut best = (u64::MAX, u64::MAX);
        // The first turn warms caches and is not counted.
        for repetition in 0..=self.options.repetitions {
            let turn = (self.time(&mut test)?, self.time(&mut floor)?);
            if repetition > 0 {
                best = (best.0.min(turn.0), best.1.min(turn.1));
            }
        }
        Ok(best)
    }
}

/// How many microseconds so many ticks of the clock are.
pub fn microseconds(ticks: u64) -> f64 {
    ticks as f64 * 1e6 / ticks_per_second() as f64
}

/// The results of a test, a row for each size.
pub struct Table {
    pub test: &'static str,
    pub ranks: u32,
    pub unit: &'static str,
    /// What the floor is.
    pub floor: &'static str,
    pub rows: Vec<Row>,
    /// Bytes, elements or words that the verification found wrong, in all ranks.
    pub wrong: u64,
}
lwk_apps::json_object!(Table { test, ranks, unit, floor, rows, wrong });

/// Results for one message size. The ratio is the value as a multiple of the floor, as everywhere in these benchmarks: of a time it
/// should be small, of a rate large.
pub struct Row {
    /// Size of a message; of `mbw_mr`, the number of pairs.
    pub bytes: usize,
    /// In the table's unit, as the floor is.
    pub value: f64,
    pub floor: Option<f64>,
    pub ratio: Option<f64>,
}
lwk_apps::json_object!(Row { bytes, value, floor, ratio });

impl Row {
    /// A row with value and floor, both in the table's unit.
    pub fn new(bytes: usize, value: f64, floor: f64) -> Row {
        Row { bytes, value, floor: Some(floor), ratio: Some(value / floor) }
    }

    /// A row with the floor, if there is one.
    pub fn beside(bytes: usize, value: f64, floor: Option<f64>) -> Row {
        floor.map_or(Row::alone(bytes, value), |floor| Row::new(bytes, value, floor))
    }

    /// A row of what has no floor.
    pub fn alone(bytes: usize, value: f64) -> Row {
        Row { bytes, value, floor: None, ratio: None }
    }
}

impl Table {
    /// Prints OSU's columns, and two more: floor and ratio.
    pub fn print(&self) {
        println!(
            "# lwk MPI {} test, {} ranks; floor: {}; ratio: value / floor",
            self.test, self.ranks, self.floor
        );
        println!("# {:<10} {:>18} {:>14} {:>10}", "Size", self.unit, "floor", "ratio");
        for row in &self.rows {
            let (floor, ratio) = (figure(row.floor, 3), figure(row.ratio, 2));
            println!("{:<12} {:>18.3} {floor:>14} {ratio:>10}", row.bytes, row.value);
        }
        match self.wrong {
            0 => println!("# data verified"),
            wrong => println!("# {wrong} WRONG bytes"),
        }
    }
}

/// A figure, or a dash where there is none.
fn figure(figure: Option<f64>, digits: usize) -> alloc::string::String {
    figure.map_or("-".into(), |figure| alloc::format!("{figure:.digits$}"))
}

/// The byte at an index of a verified message; different for neighbouring messages and indices.
pub fn pattern(message: u32, index: usize) -> u8 {
    (message as usize * 31 + index * 7 + (index >> 8)) as u8
}
