//! The four kernels of STREAM (McCalpin 1995) on every rank at once: copy, scale, add and triad over three arrays of doubles, each timed ten
//! times, the first not counted, the best reported. Ranks enter each kernel together; its time is that of the slowest.

use alloc::vec::Vec;
use core::hint::black_box;
use lwk_user::barrier::node_barrier;
use lwk_user::clock::{self, ticks_ordered};
use lwk_user::smartmap::{Peer, Symmetric, peers};
use lwk_user::{eprintln, job, println};

/// Times each kernel runs.
const TIMES: usize = 10;
/// STREAM's factor.
const SCALAR: f64 = 3.0;
/// STREAM's bound on the average relative error of doubles.
const EPSILON: f64 = 1e-13;
/// The kernels, and how many arrays each reads and writes.
const KERNELS: [(&str, u64); 4] = [("Copy", 2), ("Scale", 2), ("Add", 3), ("Triad", 3)];

/// One rank's times in ticks, by kernel and run; 0 in `failed` means that its results are right. Written by its owner before a
/// barrier, read by all after it.
#[repr(C)]
struct Outcome {
    ticks: [[u64; TIMES]; KERNELS.len()],
    failed: u64,
}

static OUTCOME: Symmetric<Outcome> =
    Symmetric::new(Outcome { ticks: [[0; TIMES]; KERNELS.len()], failed: 0 });

/// What all ranks together have measured.
pub struct Measured {
    program: &'static str,
    ranks: u32,
    elements: usize,
    /// Of all ranks together.
    total: Vec<Row>,
    per_rank: Vec<PerRank>,
    pub wrong: bool,
}
crate::json_object!(Measured { program, ranks, elements, total, per_rank, wrong });

struct Row {
    kernel: &'static str,
    best_mb_s: f64,
    average_s: f64,
    minimum_s: f64,
    maximum_s: f64,
}
crate::json_object!(Row { kernel, best_mb_s, average_s, minimum_s, maximum_s });

struct PerRank {
    rank: u32,
    core: u16,
    best_mb_s: [f64; KERNELS.len()],
}
crate::json_object!(PerRank { rank, core, best_mb_s });

/// Measures on every rank, in arrays of `elements` doubles, and verifies. All ranks call it; each gets the same. `None` if there is no memory for three arrays.
pub fn measure_all(elements: usize) -> Option<Measured> {
    let [mut a, mut b, mut c] = arrays(elements)?;
    let mut outcome = Outcome { ticks: [[0; TIMES]; KERNELS.len()], failed: 0 };
    for run in 0..TIMES {
        for (kernel, ticks) in outcome.ticks.iter_mut().enumerate() {
            node_barrier();
            let start = ticks_ordered();
            match kernel {
                0 => copy(&a, &mut c),
                1 => scale(&c, &mut b),
                2 => add(&a, &b, &mut c),
                _ => triad(&b, &c, &mut a),
            }
            black_box((&mut a, &mut b, &mut c));
            ticks[run] = ticks_ordered() - start;
        }
    }
    outcome.failed = verify(&a, &b, &c);
    // SAFETY: this rank's own; others read it only after the barrier.
    unsafe { OUTCOME.as_ptr().write(outcome) };
    node_barrier();
    Some(measured(elements))
}

/// The arrays with STREAM's initial values (after its timing check, which doubles `a`); `None` if there is no memory.
fn arrays(elements: usize) -> Option<[Vec<f64>; 3]> {
    let array = |value: f64| {
        let mut array = Vec::new();
        array.try_reserve_exact(elements).ok()?;
        array.resize(elements, value);
        Some(array)
    };
    Some([array(2.0)?, array(2.0)?, array(0.0)?])
}

#[inline(never)]
fn copy(a: &[f64], c: &mut [f64]) {
    for (c, a) in c.iter_mut().zip(a) {
        *c = *a;
    }
}

#[inline(never)]
fn scale(c: &[f64], b: &mut [f64]) {
    for (b, c) in b.iter_mut().zip(c) {
        *b = SCALAR * c;
    }
}

#[inline(never)]
fn add(a: &[f64], b: &[f64], c: &mut [f64]) {
    for ((c, a), b) in c.iter_mut().zip(a).zip(b) {
        *c = a + b;
    }
}

#[inline(never)]
fn triad(b: &[f64], c: &[f64], a: &mut [f64]) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = b + SCALAR * c;
    }
}

/// 0 if the arrays hold what the kernels must have left; else 1, with a line on standard error for each that does not.
fn verify(a: &[f64], b: &[f64], c: &[f64]) -> u64 {
    let (mut x, mut y, mut z) = (2.0, 2.0, 0.0);
    for _ in 0..TIMES {
        z = x;
        y = SCALAR * z;
        z = x + y;
        x = y + SCALAR * z;
    }
    let mut failed = 0;
    for (name, array, right) in [("a", a, x), ("b", b, y), ("c", c, z)] {
        let sum: f64 = array.iter().map(|value: &f64| (value - right).abs()).sum();
        let error = sum / array.len() as f64 / right;
        // Written so that a result that is no number fails.
        let right = error.abs() <= EPSILON;
        if !right {
            eprintln!("rank {}: array {name} is wrong: average relative error {error:e}", job().rank());
            failed = 1;
        }
    }
    failed
}

/// What the ranks have noted, after a barrier.
fn measured(elements: usize) -> Measured {
    let seconds = |ticks: u64| ticks as f64 / clock::ticks_per_second().max(1) as f64;
    let megabytes = |arrays: u64| (arrays * elements as u64 * size_of::<f64>() as u64) as f64 / 1e6;
    // SAFETY: the barrier has ordered every rank's last write before this, and none writes again.
    let outcomes: Vec<&Outcome> = peers().map(|peer| unsafe { &*OUTCOME.at(peer).as_ptr() }).collect();
    let total = (0..KERNELS.len()).map(|kernel| {
        let slowest =
            |run: usize| outcomes.iter().map(|outcome| outcome.ticks[kernel][run]).max().unwrap_or(0);
        // The first run is not counted, as STREAM says.
        let times = (1..TIMES).map(|run| seconds(slowest(run)));
        let minimum_s = times.clone().fold(f64::INFINITY, f64::min);
        let (name, arrays) = KERNELS[kernel];
        Row {
            kernel: name,
            best_mb_s: megabytes(arrays) * outcomes.len() as f64 / minimum_s,
            average_s: times.clone().sum::<f64>() / (TIMES - 1) as f64,
            minimum_s,
            maximum_s: times.fold(0.0, f64::max),
        }
    });
    let total: Vec<Row> = total.collect();
    let per_rank = job().places().iter().zip(&outcomes).zip(0..).map(|((place, outcome), rank)| PerRank {
        rank,
        core: place.core,
        best_mb_s: core::array::from_fn(|kernel| {
            let best = outcome.ticks[kernel][1..].iter().min().copied().unwrap_or(0);
            megabytes(KERNELS[kernel].1) / seconds(best)
        }),
    });
    let per_rank: Vec<PerRank> = per_rank.collect();
    let wrong = outcomes.iter().any(|outcome| outcome.failed != 0);
    Measured { program: "stream", ranks: Peer::count(), elements, total, per_rank, wrong }
}

/// Prints tables: all ranks together, and each.
pub fn print(measured: &Measured) {
    let Measured { program, ranks, elements, total, per_rank, wrong } = measured;
    println!(
        "# {program}: {ranks} ranks, {elements} elements of 8 bytes in each array, best of {}",
        TIMES - 1
    );
    println!("# all ranks together");
    println!("# {:<8} {:>12} {:>12} {:>12} {:>12}", "kernel", "MB/s", "avg_s", "min_s", "max_s");
    for Row { kernel, best_mb_s, average_s, minimum_s, maximum_s } in total {
        println!("{kernel:<10} {best_mb_s:>12.1} {average_s:>12.6} {minimum_s:>12.6} {maximum_s:>12.6}");
    }
    println!("# each rank, MB/s");
    println!("# {:>6} {:>6} {:>12} {:>12} {:>12} {:>12}", "rank", "core", "Copy", "Scale", "Add", "Triad");
    for PerRank { rank, core, best_mb_s: [copy, scale, add, triad] } in per_rank {
        println!("{rank:>8} {core:>6} {copy:>12.1} {scale:>12.1} {add:>12.1} {triad:>12.1}");
    }
    println!("# results {}", if *wrong { "WRONG" } else { "verified" });
}
