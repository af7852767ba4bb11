//! What happens beside the messages: computation that overlaps them, ranks that are late, and messages that must be discovered.

use super::point_to_point::{Pair, TAG, WINDOW, filled, mismatches, pair, table};
use super::{Bench, Row, Table, microseconds};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::{ANY_SOURCE, Status};
use lwk_mpi_rt::Result;
use lwk_user::clock::{ns_to_ticks, ticks, ticks_ordered};

/// The largest message, in bytes.
const LARGEST: usize = 1 << 20;
/// What the tests of overlap show.
const OVERLAP: &str = "Overlap (%)";
/// Time that the producer of [`skew`] computes for each message; figure 6.5's c1.
const PRODUCE_NS: u64 = 1_000;
/// Time that its consumer computes: c2, much longer.
const CONSUME_NS: u64 = 20_000;
/// Those of figures 6.6 and 6.8, in microseconds, and their messages' size in bytes.
const CONSUMING_US: [usize; 6] = [1, 5, 10, 20, 50, 100];
const SKEWED: usize = 16 << 10;
/// What ranks compute in figure 7.6, in microseconds, the sizes of its messages, and how often a rank that computes looks for messages.
const COMPUTING_US: [usize; 8] = [10, 20, 50, 100, 200, 500, 1000, 2000];
const COMPUTED: [usize; 2] = [4, 128 << 10];
pub(super) const LOOK_NS: u64 = 100_000;
/// What ranks compute in a repetition, in nanoseconds.
const REPEATED_NS: u64 = 10_000_000;
/// Messages that a peer of [`discovery`] sends before it is the other's turn.
const BURST: u32 = 16;

/// Computes, that is, does nothing useful, for so many ticks.
pub(super) fn compute(time: u64) {
    let start = ticks();
    while ticks() - start < time {
        core::hint::black_box(start);
    }
}

/// The share of a message's time that is hidden behind computing as long, in percent: both ranks of a pair send and receive without
/// blocking, compute, then wait.
pub fn overlap(bench: &Bench) -> Result<Table> {
    let pair = pair(bench, 1);
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for bytes in bench.sizes(1, LARGEST) {
        let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
        let share = hidden(bench, &pair, bytes, |computing| {
            bench.world.scope(|s| {
                let received = s.irecv(&mut receive, pair.partner, TAG)?;
                let sent = s.isend(&send, pair.partner, TAG)?;
                compute(computing);
                sent.wait()?;
                received.wait()
            })
        })?;
        wrong += if pair.idle { 0 } else { mismatches(&receive, pair.partner as u32) };
        rows.push(Row::alone(bytes, share));
    }
    table(bench, "overlap", OVERLAP, "none", rows, wrong)
}

/// The same of a send alone, of 1 MiB: one rank of a pair begins to send, computes, then waits, while the other receives.
pub fn send_overlap(bench: &Bench) -> Result<Table> {
    let pair = pair(bench, 1);
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for bytes in bench.sizes(LARGEST, LARGEST) {
        let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
        let share = hidden(bench, &pair, bytes, |computing| {
            if !pair.first {
                return bench.world.receive(&mut receive, pair.partner, TAG);
            }
            bench.world.scope(|s| {
                let sent = s.isend(&send, pair.partner, TAG)?;
                compute(computing);
                sent.wait()
            })
        })?;
        wrong += if pair.idle || pair.first { 0 } else { mismatches(&receive, pair.partner as u32) };
        rows.push(Row::alone(bytes, share));
    }
    table(bench, "send_overlap", OVERLAP, "none", rows, wrong)
}

/// The share of an operation's time that is hidden behind computing as long, in percent. `operation` does it once, with so many ticks of computing in it; idle
/// ranks do not.
fn hidden(
    bench: &Bench,
    pair: &Pair,
    bytes: usize,
    mut operation: impl FnMut(u64) -> Result<Status>,
) -> Result<f64> {
    let mut round = |times: u32, computing| {
        (0..if pair.idle { 0 } else { times }).try_for_each(|_| operation(computing).map(drop))
    };
    round(1, 0)?;
    let iterations = bench.iterations(bytes);
    let alone = bench.best(|| round(iterations, 0))?;
    let computing = alone / u64::from(iterations);
    let together = bench.best(|| round(iterations, computing))?;
    let beside = together.saturating_sub(computing * u64::from(iterations)) as f64;
    Ok((100.0 * (1.0 - beside / alone.max(1) as f64)).clamp(0.0, 100.0))
}

/// What a message adds to a computation (dissertation, figure 7.6): both ranks of a pair begin to send and to receive, compute for a time given, in which they look for messages
/// every 100 us, and wait. All their time, by the time that they compute; 1 is a message that is hidden. Of 4 bytes.
pub fn busy_short(bench: &Bench) -> Result<Table> {
    busy(bench, "busy_short", COMPUTED[0])
}

/// The same of 128 KiB.
pub fn busy_long(bench: &Bench) -> Result<Table> {
    busy(bench, "busy_long", COMPUTED[1])
}

fn busy(bench: &Bench, test: &'static str, bytes: usize) -> Result<Table> {
    let pair = pair(bench, 1);
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for computing in COMPUTING_US {
        let (took, damaged) = beside_computing(bench, &pair, bytes, computing as u64 * 1_000)?;
        wrong += damaged;
        rows.push(Row::alone(computing, took / computing as f64));
    }
    table(bench, test, "Total (of computing)", "none; first column: microseconds of computing", rows, wrong)
}

/// An exchange beside so much computing: the best time of both together in microseconds, and bytes that came wrong.
pub fn beside_computing(bench: &Bench, pair: &Pair, bytes: usize, computing_ns: u64) -> Result<(f64, u64)> {
    let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
    let (computing, look) = (ns_to_ticks(computing_ns), ns_to_ticks(LOOK_NS));
    let times = (REPEATED_NS / computing_ns).clamp(4, bench.iterations(bytes).into());
    let best = bench.best(|| {
        for _ in 0..if pair.idle { 0 } else { times } {
            bench.world.scope(|s| {
                let received = s.irecv(&mut receive, pair.partner, TAG)?;
                let sent = s.isend(&send, pair.partner, TAG)?;
                let mut left = computing;
                while left > look {
                    compute(look);
                    left -= look;
                    bench.world.iprobe(pair.partner, TAG)?;
                }
                compute(left);
                sent.wait()?;
                received.wait()
            })?;
        }
        Ok(())
    })?;
    let wrong = if pair.idle { 0 } else { mismatches(&receive, pair.partner as u32) };
    Ok((microseconds(best) / times as f64, wrong))
}

/// The share of a message's time that is hidden behind computing as long, in percent, where both sides have met before they compute (dissertation, sections 5.1 and
/// 5.2): one rank of a pair begins to send, the other has seen the message and begins to receive; both compute, then wait.
pub fn copy_overlap(bench: &Bench) -> Result<Table> {
    let pair = pair(bench, 1);
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for bytes in bench.sizes(64 << 10, LARGEST) {
        let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
        let share = hidden(bench, &pair, bytes, |computing| {
            bench.world.scope(|s| {
                if pair.first {
                    let sent = s.isend(&send, pair.partner, TAG)?;
                    compute(computing);
                    return sent.wait();
                }
                bench.world.probe(pair.partner, TAG)?;
                let received = s.irecv(&mut receive, pair.partner, TAG)?;
                compute(computing);
                received.wait()
            })
        })?;
        wrong += if pair.idle || pair.first { 0 } else { mismatches(&receive, pair.partner as u32) };
        rows.push(Row::alone(bytes, share));
    }
    table(bench, "copy_overlap", OVERLAP, "none", rows, wrong)
}

/// Process skew (dissertation, figure 6.5) by size: the producer's time until it can go on, for one message (c3); the floor is its own computing. The consumer
/// computes for 20 us.
pub fn skew(bench: &Bench) -> Result<Table> {
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for bytes in bench.sizes(1, 64 << 10) {
        let (value, damaged) = skewed(bench, bytes, CONSUME_NS)?;
        wrong += damaged;
        rows.push(Row::new(bytes, value, PRODUCE_NS as f64 / 1e3));
    }
    table(bench, "skew", "Latency (us)", "the producer's own computing", rows, wrong)
}

/// The same by the consumer's computation, with messages of 16 KiB (dissertation, figures 6.6 and 6.8).
pub fn skew_by_computing(bench: &Bench) -> Result<Table> {
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for computing in CONSUMING_US {
        let (value, damaged) = skewed(bench, SKEWED, computing as u64 * 1_000)?;
        wrong += damaged;
        rows.push(Row::new(computing, value, PRODUCE_NS as f64 / 1e3));
    }
    let floor = "the producer's own computing; first column: microseconds that the consumer computes";
    table(bench, "skew_by_computing", "Latency (us)", floor, rows, wrong)
}

/// The producer computes for 1 us and sends without blocking, the consumer receives and computes, a window long; then the producer waits for its sends. Its
/// best time for one message, in microseconds, and bytes that came wrong.
fn skewed(bench: &Bench, bytes: usize, computing_ns: u64) -> Result<(f64, u64)> {
    let pair = pair(bench, 1);
    let (c1, c2) = (ns_to_ticks(PRODUCE_NS), ns_to_ticks(computing_ns));
    let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
    let mut best = u64::MAX;
    for _ in 0..=bench.options.repetitions.min(5) {
        bench.world.barrier()?;
        let start = ticks_ordered();
        if pair.idle {
            continue;
        }
        if pair.first {
            bench.world.scope(|s| {
                (0..WINDOW).try_for_each(|_| {
                    compute(c1);
                    s.isend(&send, pair.partner, TAG).map(drop)
                })
            })?;
            best = best.min(ticks_ordered() - start);
        } else {
            for _ in 0..WINDOW {
                bench.world.receive(&mut receive, pair.partner, TAG)?;
                compute(c2);
            }
        }
    }
    let wrong = if pair.idle || pair.first { 0 } else { mismatches(&receive, pair.partner as u32) };
    Ok((microseconds(best) / WINDOW as f64, wrong))
}

/// A look for messages where there are none, by ranks, of which any might have sent one (dissertation, figure 7.1).
pub fn polling(bench: &Bench) -> Result<Table> {
    let looks = bench.options.iterations;
    let best = bench.best(|| match bench.rank {
        0 => (0..looks).try_for_each(|_| bench.world.iprobe(ANY_SOURCE, TAG).map(drop)),
        _ => Ok(()),
    })?;
    let rows = vec![Row::alone(bench.size as usize, microseconds(best) / f64::from(looks))];
    table(bench, "polling", "Time (us)", "none; first column: ranks", rows, 0)
}

/// Message discovery among three ranks (dissertation, figure 7.3, both peers on this node): ranks 1 and 2 send bursts to rank 0 in
/// turns, each message acknowledged before the next. Rank 0 does not know whose turn it is. Time from a message to its
/// acknowledgement.
pub fn discovery(bench: &Bench) -> Result<Table> {
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for bytes in bench.sizes(1, 64 << 10) {
        let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
        let iterations = (bench.iterations(bytes) / (2 * BURST)).max(1);
        let mut mismatched = 0;
        let mut round = |times: u32, check: bool| {
            let mut acknowledgement = [0u8];
            for _ in 0..times {
                match bench.rank {
                    0 => {
                        for _ in 0..2 * BURST {
                            let status = bench.world.receive(&mut receive, ANY_SOURCE, TAG)?;
                            bench.world.send(&acknowledgement, status.source, TAG)?;
                            if check {
                                mismatched += mismatches(&receive, status.source as u32);
                            }
                        }
                    }
                    1 | 2 => {
                        let other = 3 - bench.rank as i32;
                        if bench.rank == 2 {
                            bench.world.receive(&mut acknowledgement, other, TAG + 1)?;
                        }
                        for _ in 0..BURST {
                            bench.world.send(&send, 0, TAG)?;
                            bench.world.receive(&mut acknowledgement, 0, TAG)?;
                        }
                        bench.world.send(&acknowledgement, other, TAG + 1)?;
                        if bench.rank == 1 {
                            bench.world.receive(&mut acknowledgement, other, TAG + 1)?;
                        }
                    }
                    _ => {}
                }
            }
            Ok(())
        };
        round(1, true)?;
        let best = bench.best(|| round(iterations, false))?;
        wrong += mismatched;
        rows.push(Row::alone(bytes, microseconds(best) / (iterations * 2 * BURST) as f64));
    }
    table(bench, "discovery", "Latency (us)", "none", rows, wrong)
}
