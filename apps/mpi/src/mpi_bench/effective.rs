//! Effective latency and bandwidth, as the HPC Challenge defines them (its `bench_lat_bw`; Chai's dissertation, section 4.3.1): ping-pong, a ring in the order of ranks, and rings in
//! random orders, with messages of 8 and of 2,000,000 bytes. In a ring each rank exchanges a message with both neighbours at once.

use super::point_to_point::{Pair, TAG, filled, mismatches, ping_pong, table};
use super::{Bench, Row, Table, microseconds};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::Operation;
use lwk_mpi_rt::Result;

/// Bytes of the messages by which latency is measured, and bandwidth.
const SHORT: usize = 8;
const LONG: usize = 2_000_000;
/// Random orders, whose geometric mean counts; fewer if fewer iterations are wanted.
const RINGS: u32 = 10;
const PATTERNS: &str =
    "none; first column: pattern, which is 1 for ping-pong, 2 for the ring, 3 for random rings";

/// Time of a message, the slowest rank's.
pub fn latency(bench: &Bench) -> Result<Table> {
    let ([ping_pong, ring, random], wrong) = patterns(bench, SHORT)?;
    let rows = [ping_pong, ring / 2.0, random / 2.0];
    let rows = (1..).zip(rows).map(|(pattern, time)| Row::alone(pattern, time)).collect();
    table(bench, "b_eff_latency", "Latency (us)", PATTERNS, rows, wrong)
}

/// Bytes that all ranks together send in a microsecond; one does in ping-pong.
pub fn bandwidth(bench: &Bench) -> Result<Table> {
    // Shorter ones for whom they are too long.
    let bytes = bench.options.sizes.as_ref().map_or(LONG, |sizes| LONG.min(*sizes.end()));
    let ([ping_pong, ring, random], wrong) = patterns(bench, bytes)?;
    let of_all = 2.0 * bytes as f64 * f64::from(bench.size);
    let rows = [bytes as f64 / ping_pong, of_all / ring, of_all / random];
    let rows = (1..).zip(rows).map(|(pattern, rate)| Row::alone(pattern, rate)).collect();
    table(bench, "b_eff_bandwidth", "Bandwidth (MB/s)", PATTERNS, rows, wrong)
}

/// Microseconds of a message of ping-pong, and of an exchange in a ring and in random ones; and bytes that came wrong.
fn patterns(bench: &Bench, bytes: usize) -> Result<([f64; 3], u64)> {
    let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
    let times = bench.iterations(bytes);
    let pairs = bench.size.saturating_sub(1).max(1);
    let (mut alone, mut wrong) = (0.0, 0);
    for other in 1..bench.size {
        let idle = bench.rank != 0 && bench.rank != other;
        let partner = if bench.rank == 0 { other } else { 0 };
        let pair = Pair { partner: partner as i32, first: bench.rank == 0, idle };
        let one = || if idle { Ok(()) } else { ping_pong(bench, &pair, &send, &mut receive, times) };
        alone += slowest(bench, bench.best(one)?)? / f64::from(2 * times);
        wrong += if idle { 0 } else { mismatches(&receive, partner) };
    }
    let order: Vec<u32> = (0..bench.size).collect();
    let mut ring = |order: &[u32]| -> Result<f64> {
        let (time, damaged) = exchange(bench, order, &send, times)?;
        wrong += damaged;
        Ok(time)
    };
    let natural = ring(&order)?;
    let mut product = 1.0;
    let rings = RINGS.min(bench.options.iterations);
    for seed in 1..=rings {
        product *= ring(&shuffled(&order, seed))?;
    }
    Ok(([alone / f64::from(pairs), natural, root(product, rings, natural)], wrong))
}

/// Microseconds in which all ranks of a ring have sent to both neighbours; and bytes that came wrong.
fn exchange(bench: &Bench, order: &[u32], send: &[u8], times: u32) -> Result<(f64, u64)> {
    let place = order.iter().position(|rank| *rank == bench.rank).unwrap_or(0);
    let at = |place: usize| order[place % order.len()];
    let (next, previous) = (at(place + 1), at(place + order.len() - 1));
    let (mut left, mut right) = (vec![0u8; send.len()], vec![0u8; send.len()]);
    let best = bench.best(|| {
        (0..times).try_for_each(|_| {
            bench.world.scope(|s| {
                s.irecv(&mut left, previous as i32, TAG)?;
                s.irecv(&mut right, next as i32, TAG + 1)?;
                s.isend(send, next as i32, TAG)?;
                s.isend(send, previous as i32, TAG + 1).map(drop)
            })
        })
    })?;
    let wrong = mismatches(&left, previous) + mismatches(&right, next);
    Ok((slowest(bench, best)? / f64::from(times), wrong))
}

/// Microseconds of the rank that took longest.
fn slowest(bench: &Bench, ticks: u64) -> Result<f64> {
    let mut all = [0u64];
    bench.world.allreduce(&[ticks], &mut all, Operation::Max)?;
    Ok(microseconds(all[0]))
}

/// The root of a number by Newton's method, from a guess on.
fn root(number: f64, degree: u32, guess: f64) -> f64 {
    let rest = f64::from(degree - 1);
    (0..64).fold(guess, |root, _| {
        let power = (1..degree).fold(1.0, |power, _| power * root);
        (rest * root + number / power) / f64::from(degree)
    })
}

/// The same order in every rank, by a seed (Fisher and Yates, by a linear congruential generator).
fn shuffled(order: &[u32], seed: u32) -> Vec<u32> {
    let mut order = order.to_vec();
    let mut state = u64::from(seed);
    for last in (1..order.len()).rev() {
        // Knuth's MMIX.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(last, (state >> 33) as usize % (last + 1));
    }
    order
}
