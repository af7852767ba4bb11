//! Collectives among all ranks.

use super::point_to_point::table;
use super::{Bench, Row, Table, microseconds};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi_rt::Result;
use lwk_mpi_rt::mpi::Operation;

/// Time of a barrier (`osu_barrier`).
pub fn barrier(bench: &Bench) -> Result<Table> {
    let iterations = bench.options.iterations;
    let (ours, floor) = bench.compare(
        || (0..iterations).try_for_each(|_| bench.world.barrier()),
        || exchange(bench, iterations),
    )?;
    let (value, floor) = (microseconds(ours) / iterations as f64, microseconds(floor) / iterations as f64);
    let rows = vec![Row { bytes: 0, value, floor, ratio: value / floor }];
    table(bench, "barrier", "Latency (us)", "one line exchanged by ranks 0 and 1", rows, 0)
}

/// Time of an allreduce of doubles (`osu_allreduce`), by bytes.
pub fn allreduce(bench: &Bench) -> Result<Table> {
    let mut rows = Vec::new();
    let mut wrong = 0;
    for bytes in bench.sizes(8, 1 << 20) {
        let count = bytes / size_of::<f64>();
        let send: Vec<f64> = (0..count).map(|index| value(bench.rank, index)).collect();
        let mut receive = vec![0f64; count];
        bench.world.allreduce(&send, &mut receive, Operation::Sum)?;
        let expected = |index| (0..bench.size).map(|rank| value(rank, index)).sum::<f64>();
        // Sums of small whole numbers are exact in any order.
        wrong += receive.iter().enumerate().filter(|(index, sum)| **sum != expected(*index)).count() as u64;
        let iterations = bench.iterations(bytes);
        let mut own = vec![0f64; count];
        let (ours, floor) = bench.compare(
            || (0..iterations).try_for_each(|_| bench.world.allreduce(&send, &mut receive, Operation::Sum)),
            || {
                exchange(bench, iterations)?;
                // This rank's share of the arithmetic, in its own memory: n-way parallel speed.
                let share = count.div_ceil(bench.size as usize).min(count);
                for _ in 0..iterations {
                    for _ in 1..bench.size {
                        add(&send[..share], &mut own[..share]);
                    }
                    core::hint::black_box(&mut own);
                }
                Ok(())
            },
        )?;
        let (value, floor) =
            (microseconds(ours) / iterations as f64, microseconds(floor) / iterations as f64);
        rows.push(Row { bytes, value, floor, ratio: value / floor });
    }
    let floor = "one line exchanged, and a rank's share of the additions in its own memory";
    table(bench, "allreduce", "Latency (us)", floor, rows, wrong)
}

fn exchange(bench: &Bench, iterations: u32) -> Result<()> {
    if bench.rank < 2 && bench.size > 1 { bench.floor.exchange(bench.rank, iterations) } else { Ok(()) }
}

#[inline(never)]
fn add(input: &[f64], sum: &mut [f64]) {
    sum.iter_mut().zip(input).for_each(|(sum, value)| *sum += value);
}

fn value(rank: u32, index: usize) -> f64 {
    ((rank as usize + 1) * (index % 1000 + 1)) as f64
}
