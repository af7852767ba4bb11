//! What becomes of a posted receive while its rank computes and calls nothing.

use super::asynchronous::{LOOK_NS, compute};
use super::point_to_point::{TAG, filled, mismatches, pair, table};
use super::{Bench, Row, Table};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi_rt::Result;
use lwk_user::clock::ns_to_ticks;

/// Sizes of the messages, in bytes.
const SIZES: [usize; 2] = [64 << 10, 1 << 20];
/// A receive has been posted.
const READY: i32 = TAG + 1;
/// Nothing is sent with it: looking for it makes progress.
const NOTHING: i32 = TAG + 2;

/// What a rank does after it has begun to receive.
#[derive(Clone, Copy)]
enum Then {
    Waits,
    Computes(u64),
    /// As long, with a call now and then.
    ComputesAndLooks(u64),
}

/// The share of a message's time that is hidden behind computing as long, in percent: one rank begins to receive, tells the other, which sends, computes without a call, and
/// waits. The floor is the same with a look at what has come every 100 us.
pub fn irecv_overlap(bench: &Bench) -> Result<Table> {
    let pair = pair(bench, 1);
    let look = ns_to_ticks(LOOK_NS);
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for bytes in bench.sizes(SIZES[0], SIZES[1]) {
        let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
        let mut round = |times: u32, then: Then| {
            for _ in 0..if pair.idle { 0 } else { times } {
                if pair.first {
                    bench.world.receive(&mut [0u8; 0], pair.partner, READY)?;
                    bench.world.send(&send, pair.partner, TAG)?;
                    continue;
                }
                bench.world.scope(|s| {
                    let received = s.irecv(&mut receive, pair.partner, TAG)?;
                    bench.world.send(&[0u8; 0], pair.partner, READY)?;
                    match then {
                        Then::Waits => {}
                        Then::Computes(time) => compute(time),
                        Then::ComputesAndLooks(mut left) => {
                            while left > look {
                                compute(look);
                                left -= look;
                                bench.world.iprobe(pair.partner, NOTHING)?;
                            }
                            compute(left);
                        }
                    }
                    received.wait()
                })?;
            }
            Ok(())
        };
        round(1, Then::Waits)?;
        let times = bench.iterations(bytes);
        let alone = bench.best(|| round(times, Then::Waits))?;
        let computing = alone / u64::from(times);
        let hidden = |together: u64| {
            let beside = together.saturating_sub(computing * u64::from(times)) as f64;
            (100.0 * (1.0 - beside / alone.max(1) as f64)).clamp(0.0, 100.0)
        };
        let without = hidden(bench.best(|| round(times, Then::Computes(computing)))?);
        let with = hidden(bench.best(|| round(times, Then::ComputesAndLooks(computing)))?);
        wrong += if pair.idle || pair.first { 0 } else { mismatches(&receive, pair.partner as u32) };
        rows.push(Row::beside(bytes, without, (with > 0.0).then_some(with)));
    }
    table(bench, "irecv_overlap", "Overlap (%)", "the same with a look every 100 us", rows, wrong)
}
