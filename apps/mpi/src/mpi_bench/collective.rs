//! Collectives among all ranks: barrier and allreduce with floors, and what the others share.

use super::point_to_point::table;
use super::{Bench, Row, Table, microseconds};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::Operation;
use lwk_mpi_rt::collective::Call;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::{Handle, Result, abi};

/// Time of a barrier in microseconds (`osu_barrier`); one row, whose size is 0.
pub fn barrier(bench: &Bench) -> Result<Table> {
    let iterations = bench.options.iterations;
    let (ours, floor) = bench.compare(
        || (0..iterations).try_for_each(|_| bench.world.barrier()),
        || exchange(bench, iterations),
    )?;
    let (value, floor) = (microseconds(ours) / iterations as f64, microseconds(floor) / iterations as f64);
    let rows = vec![Row::beside(0, value, bench.floor.is_there().then_some(floor))];
    table(bench, "barrier", "Latency (us)", "one line exchanged by ranks 0 and 1", rows, 0)
}

/// Time of an allreduce of doubles (`osu_allreduce`), by bytes; the floor is n-way parallel speed.
pub fn allreduce(bench: &Bench) -> Result<Table> {
    let floor = "one line exchanged, and a rank's share of the additions in its own memory";
    allreduce_beside(bench, "allreduce", floor, |send, own, share| {
        for _ in 1..bench.size {
            add(&send[..share], &mut own[..share]);
        }
        Ok(())
    })
}

/// The same; the floor is the traffic: what a rank's share loads and stores, in its own memory.
pub fn allreduce_traffic(bench: &Bench) -> Result<Table> {
    let floor = "one line exchanged, and a rank's share of loads from all contributions, and of stores to all results, in its own memory";
    let ranks = bench.size as usize;
    allreduce_beside(bench, "allreduce_traffic", floor, |send, own, share| {
        // A share of each rank's contribution is as much as one contribution, and so it is with the results.
        let shares = (send.len() / ranks).min(share);
        let from = |rank: usize| send[rank * shares..].as_ptr().cast::<u8>();
        let results = own.as_mut_ptr();
        let to = |rank: usize| results.wrapping_add(rank * shares).cast::<u8>();
        let (kind, sum) = (abi::datatype::DOUBLE, abi::op::SUM);
        let twin = if ranks == 2 { to(1) } else { core::ptr::null_mut() };
        for rank in 1..ranks {
            let left = if rank == 1 { from(0) } else { to(0).cast_const() };
            // SAFETY: both buffers hold `shares` doubles for each rank.
            with(|engine| unsafe {
                engine.combine_local(left, from(rank), to(0), twin, shares as i64, kind, sum)
            })?;
        }
        for rank in (1..ranks).filter(|_| ranks > 2) {
            own.copy_within(..shares, rank * shares);
        }
        Ok(())
    })
}

/// `floor` gets two buffers of as many doubles as a contribution has, of which it may write the second, and a rank's share of them.
fn allreduce_beside(
    bench: &Bench,
    name: &'static str,
    what: &'static str,
    floor: impl Fn(&[f64], &mut [f64], usize) -> Result<()>,
) -> Result<Table> {
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
        let share = count.div_ceil(bench.size as usize).min(count);
        let (ours, least) = bench.compare(
            || (0..iterations).try_for_each(|_| bench.world.allreduce(&send, &mut receive, Operation::Sum)),
            || {
                exchange(bench, iterations)?;
                for _ in 0..iterations {
                    floor(&send, &mut own, share)?;
                    core::hint::black_box(&mut own);
                }
                Ok(())
            },
        )?;
        let (value, least) =
            (microseconds(ours) / iterations as f64, microseconds(least) / iterations as f64);
        rows.push(Row::beside(bytes, value, bench.floor.is_there().then_some(least)));
    }
    table(bench, name, "Latency (us)", what, rows, wrong)
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

/// Whether a collective is called as a whole or begun and waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Blocking,
    /// Begun, then waited for; the floor is the blocking form.
    Nonblocking,
}

/// Time of a barrier that is begun and waited for (`osu_ibarrier`); the floor is the blocking one.
pub fn nonblocking_barrier(bench: &Bench) -> Result<Table> {
    measure(bench, "ibarrier", vec![0], Form::Nonblocking, |_, act| Ok((act(&Call::Barrier)?, 0)))
}

/// What a test does with its call: once if it checks the data, else as often as it takes to measure; ticks and the floor's.
pub type Act<'a> = &'a dyn Fn(&Call) -> Result<(u64, Option<u64>)>;

/// A table by size. `one` makes buffers of so many bytes, has a call acted upon, and counts wrong bytes or elements afterwards; it is
/// called twice for each size, of which the first time checks the data.
pub fn measure(
    bench: &Bench,
    name: &'static str,
    sizes: Vec<usize>,
    form: Form,
    one: impl Fn(usize, Act) -> Result<((u64, Option<u64>), u64)>,
) -> Result<Table> {
    let world = Handle(abi::COMM_WORLD);
    let blocking = |call: &Call| {
        // SAFETY: the test's buffers are as its call says, and outlive it.
        with(|engine| unsafe { engine.collective(call, world) })
    };
    let once = |call: &Call| match form {
        Form::Blocking => blocking(call),
        Form::Nonblocking => with(|engine| {
            // SAFETY: as above; the request is complete before the buffers go.
            let request = unsafe { engine.begin_collective(call, world)? };
            engine.wait(request).map(drop)
        }),
    };
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for bytes in sizes {
        wrong += one(bytes, &|call| once(call).map(|()| (0, None)))?.1;
        let iterations = bench.iterations(bytes * bench.size as usize);
        let many = |call: &Call| match form {
            Form::Blocking => {
                bench.best(|| (0..iterations).try_for_each(|_| once(call))).map(|ticks| (ticks, None))
            }
            Form::Nonblocking => bench
                .compare(
                    || (0..iterations).try_for_each(|_| once(call)),
                    || (0..iterations).try_for_each(|_| blocking(call)),
                )
                .map(|(ticks, floor)| (ticks, Some(floor))),
        };
        let ((ticks, floor), _) = one(bytes, &many)?;
        let each = |ticks: u64| microseconds(ticks) / iterations as f64;
        rows.push(match floor {
            Some(floor) => Row::new(bytes, each(ticks), each(floor)),
            None => Row::alone(bytes, each(ticks)),
        });
    }
    let floor = match form {
        Form::Blocking => "none",
        Form::Nonblocking => "the blocking form",
    };
    table(bench, name, "Latency (us)", floor, rows, wrong)
}
