//! Patterns of messages: both ways at once, around a ring, between neighbours of a grid, and of many pairs.

use super::point_to_point::{Pair, TAG, WINDOW, filled, mismatches, pair, ping_pong, table};
use super::{Bench, Row, Table, microseconds};
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;
use lwk_mpi_rt::Result;

/// The largest message of a pattern, in bytes.
const LARGEST: usize = 1 << 20;
/// Message buffers of a test that does not use them again within a window.
const BUFFERS: usize = WINDOW as usize;
/// Bytes of a cache's line.
const LINE: usize = 64;
/// Most bytes of such buffers.
const BUFFER_BYTES: usize = 16 << 20;

/// Both ranks of a pair send at once (IMB's PingPing): time of one message.
pub fn ping_ping(bench: &Bench) -> Result<Table> {
    let pair = pair(bench, 1);
    by_size(bench, "pingping", "Latency (us)", !pair.idle, |bytes, iterations, check| {
        let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
        let mut round = |times: u32| {
            for _ in 0..times {
                bench.world.scope(|s| {
                    s.isend(&send, pair.partner, TAG)?;
                    bench.world.receive(&mut receive, pair.partner, TAG)
                })?;
            }
            Ok(())
        };
        let ticks = repeat(bench, !pair.idle, check, iterations, &mut round)?;
        Ok((ticks.per(iterations), mismatches(&receive, pair.partner as u32)))
    })
}

/// Each rank sends to the next and receives from the previous one, both at once (IMB's Sendrecv): bytes sent and received.
pub fn sendrecv(bench: &Bench) -> Result<Table> {
    let (next, previous) = neighbours(bench);
    by_size(bench, "sendrecv", "Bandwidth (MB/s)", true, |bytes, iterations, check| {
        let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
        let mut round = |times: u32| {
            for _ in 0..times {
                bench.world.scope(|s| {
                    s.isend(&send, next, TAG)?;
                    bench.world.receive(&mut receive, previous, TAG)
                })?;
            }
            Ok(())
        };
        let ticks = repeat(bench, true, check, iterations, &mut round)?;
        Ok((2.0 * bytes as f64 / ticks.per(iterations), mismatches(&receive, previous as u32)))
    })
}

/// Each rank exchanges messages with both neighbours in a ring (IMB's Exchange): bytes sent and received.
pub fn exchange(bench: &Bench) -> Result<Table> {
    let (next, previous) = neighbours(bench);
    by_size(bench, "exchange", "Bandwidth (MB/s)", true, |bytes, iterations, check| {
        let send = filled(bench.rank, bytes);
        let (mut left, mut right) = (vec![0u8; bytes], vec![0u8; bytes]);
        let mut round = |times: u32| {
            for _ in 0..times {
                bench.world.scope(|s| {
                    s.isend(&send, previous, TAG + 1)?;
                    s.isend(&send, next, TAG)?;
                    bench.world.receive(&mut left, previous, TAG)?;
                    bench.world.receive(&mut right, next, TAG + 1)
                })?;
            }
            Ok(())
        };
        let ticks = repeat(bench, true, check, iterations, &mut round)?;
        let wrong = mismatches(&left, previous as u32) + mismatches(&right, next as u32);
        Ok((4.0 * bytes as f64 / ticks.per(iterations), wrong))
    })
}

/// Windows both ways at once, of rank 0 and rank 1 (`osu_bibw`): bytes of both ways.
pub fn both_ways(bench: &Bench) -> Result<Table> {
    let pair = pair(bench, 1);
    by_size(bench, "bibw", "Bandwidth (MB/s)", !pair.idle, |bytes, iterations, check| {
        let rounds = (iterations / WINDOW).max(1);
        let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
        let mut round = |times: u32| {
            for _ in 0..times {
                bench.world.scope(|s| {
                    (0..WINDOW).try_for_each(|_| s.isend(&send, pair.partner, TAG).map(drop))?;
                    (0..WINDOW)
                        .try_for_each(|_| bench.world.receive(&mut receive, pair.partner, TAG).map(drop))
                })?;
            }
            Ok(())
        };
        let ticks = repeat(bench, !pair.idle, check, rounds, &mut round)?;
        let volume = 2.0 * bytes as f64 * WINDOW as f64;
        Ok((volume / ticks.per(rounds), mismatches(&receive, pair.partner as u32)))
    })
}

/// Half round trip while all pairs do the same (`osu_multi_lat`).
pub fn multi_latency(bench: &Bench) -> Result<Table> {
    let pair = pair(bench, bench.size / 2);
    by_size(bench, "multi_lat", "Latency (us)", !pair.idle, |bytes, iterations, check| {
        let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
        let mut round = |times: u32| ping_pong(bench, &pair, &send, &mut receive, times);
        let ticks = repeat(bench, !pair.idle, check, iterations, &mut round)?;
        Ok((ticks.per(2 * iterations), mismatches(&receive, pair.partner as u32)))
    })
}

/// Bandwidth of all pairs together, every message from and to the same buffer.
pub fn pairs_reusing(bench: &Bench) -> Result<Table> {
    all_pairs(bench, "mbw_reuse", |_| 1, false)
}

/// The same, each message of a window from and to a buffer of its own, as far as 16 MiB go: nothing is in the caches because the
/// message before has put it there.
pub fn pairs_without_reuse(bench: &Bench) -> Result<Table> {
    all_pairs(bench, "mbw_no_reuse", own_buffers, false)
}

/// The same where the sender writes its buffers anew before each window (dissertation, section 6.2.2): a word of each line.
pub fn pairs_rewriting(bench: &Bench) -> Result<Table> {
    all_pairs(bench, "mbw_rewritten", own_buffers, true)
}

/// As many as a window has messages, as far as 16 MiB go.
fn own_buffers(bytes: usize) -> usize {
    (BUFFER_BYTES / bytes.max(1)).clamp(1, BUFFERS)
}

fn all_pairs(
    bench: &Bench,
    name: &'static str,
    buffers: impl Fn(usize) -> usize,
    rewrites: bool,
) -> Result<Table> {
    let pairs = bench.size / 2;
    let pair = pair(bench, pairs);
    by_size(bench, name, "Bandwidth (MB/s)", !pair.idle, |bytes, iterations, check| {
        let rounds = (iterations / WINDOW).max(1);
        let count = buffers(bytes);
        let mut sends: Vec<Vec<u8>> = (0..count).map(|_| filled(bench.rank, bytes)).collect();
        let mut receives = vec![vec![0u8; bytes]; count];
        let mut round = |times: u32| {
            (0..times).try_for_each(|_| {
                if rewrites && pair.first {
                    sends.iter_mut().for_each(|send| rewrite(send));
                }
                many_buffers(bench, &pair, &sends, &mut receives)
            })
        };
        let ticks = repeat(bench, !pair.idle, check, rounds, &mut round)?;
        let volume = bytes as f64 * (WINDOW * pairs) as f64;
        let wrong = if pair.first { 0 } else { mismatches(&receives[0], pair.partner as u32) };
        Ok((volume / ticks.per(rounds), wrong))
    })
}

/// Writes what is there into each line again.
fn rewrite(buffer: &mut [u8]) {
    buffer.iter_mut().step_by(LINE).for_each(|byte| *byte = black_box(*byte));
}

/// One window, from buffers in turn to buffers in turn, and an answer.
fn many_buffers(bench: &Bench, pair: &Pair, sends: &[Vec<u8>], receives: &mut [Vec<u8>]) -> Result<()> {
    let mut answer = [0u8; 4];
    if pair.first {
        bench.world.scope(|s| {
            let mut sends = (0..WINDOW as usize).map(|number| &sends[number % sends.len()]);
            sends.try_for_each(|send| s.isend(send, pair.partner, TAG).map(drop))
        })?;
        bench.world.receive(&mut answer, pair.partner, TAG)?;
    } else {
        let count = receives.len();
        for number in 0..WINDOW as usize {
            bench.world.receive(&mut receives[number % count], pair.partner, TAG)?;
        }
        bench.world.send(&answer, pair.partner, TAG)?;
    }
    Ok(())
}

/// Each rank exchanges borders with its four neighbours in a periodic grid, all at once: time of one exchange.
pub fn halo(bench: &Bench) -> Result<Table> {
    let columns = (1..=bench.size).rev().find(|c| bench.size.is_multiple_of(*c) && c * c <= bench.size);
    let columns = columns.unwrap_or(1);
    let rows = bench.size / columns;
    let (row, column) = (bench.rank / columns, bench.rank % columns);
    let at = |row: u32, column: u32| (row % rows * columns + column % columns) as i32;
    // Each with the tag of its direction, and the direction from which its answer comes.
    let neighbours =
        [at(row + rows - 1, column), at(row + 1, column), at(row, column + columns - 1), at(row, column + 1)];
    by_size(bench, "halo", "Latency (us)", true, |bytes, iterations, check| {
        let send = filled(bench.rank, bytes);
        let mut borders = [(); 4].map(|()| vec![0u8; bytes]);
        let mut round = |times: u32| {
            for _ in 0..times {
                bench.world.scope(|s| {
                    for (direction, (border, neighbour)) in borders.iter_mut().zip(neighbours).enumerate() {
                        // What comes from above has been sent downwards.
                        s.irecv(border, neighbour, TAG + (direction ^ 1) as i32)?;
                    }
                    for (direction, neighbour) in neighbours.into_iter().enumerate() {
                        s.isend(&send, neighbour, TAG + direction as i32)?;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        };
        let ticks = repeat(bench, true, check, iterations, &mut round)?;
        let wrong = borders.iter().zip(neighbours).map(|(it, from)| mismatches(it, from as u32)).sum();
        Ok((ticks.per(iterations), wrong))
    })
}

/// The message length at which a pair has half of its best bandwidth (N½), interpolated between the measured ones.
pub fn half_length(bench: &Bench) -> Result<Table> {
    let measured = super::point_to_point::bandwidth(bench)?;
    let best = measured.rows.iter().map(|row| row.value).fold(0.0, f64::max);
    let above = measured.rows.iter().position(|row| row.value >= best / 2.0).unwrap_or(0);
    let half =
        match (above.checked_sub(1).and_then(|below| measured.rows.get(below)), measured.rows.get(above)) {
            (Some(low), Some(high)) => {
                let part = (best / 2.0 - low.value) / (high.value - low.value);
                low.bytes as f64 + part * (high.bytes - low.bytes) as f64
            }
            (None, Some(first)) => first.bytes as f64,
            (_, None) => 0.0,
        };
    let rows = vec![Row::alone(1, half)];
    table(bench, "n_half", "Message length (bytes)", "none; first column: pairs", rows, measured.wrong)
}

pub fn neighbours(bench: &Bench) -> (i32, i32) {
    let (rank, size) = (bench.rank, bench.size);
    (((rank + 1) % size) as i32, ((rank + size - 1) % size) as i32)
}

/// Ticks of some repetitions.
struct Ticks(u64);

impl Ticks {
    /// Microseconds of one of so many.
    fn per(&self, count: u32) -> f64 {
        microseconds(self.0) / count as f64
    }
}

/// One untimed round if the data is checked, else the best of the timed ones. A rank that takes no part still meets the others.
fn repeat(
    bench: &Bench,
    takes_part: bool,
    check: bool,
    times: u32,
    round: &mut impl FnMut(u32) -> Result<()>,
) -> Result<Ticks> {
    let mut part = |times| if takes_part { round(times) } else { Ok(()) };
    if check {
        return part(1).map(|()| Ticks(1));
    }
    bench.best(|| part(times)).map(Ticks)
}

/// A table by message size: at each, first a round of which the data is checked, then the timed ones. `one` gets bytes,
/// iterations and whether to check; it says the value and, if checking, the wrong bytes.
fn by_size(
    bench: &Bench,
    name: &'static str,
    unit: &'static str,
    takes_part: bool,
    mut one: impl FnMut(usize, u32, bool) -> Result<(f64, u64)>,
) -> Result<Table> {
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for bytes in bench.sizes(1, LARGEST) {
        let iterations = bench.iterations(bytes);
        let (_, mismatched) = one(bytes, iterations, true)?;
        wrong += if takes_part { mismatched } else { 0 };
        rows.push(Row::alone(bytes, one(bytes, iterations, false)?.0));
    }
    table(bench, name, unit, "none", rows, wrong)
}
