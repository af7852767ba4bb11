//! Calls of small collectives that do not match: who waits is told, and so is everybody in the next call; the world stays as it was.

use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::{Communicator, Operation};
use lwk_mpi_rt::abi::{COMM_WORLD, datatype, op};
use lwk_mpi_rt::collective::{BufferArgument, Call, Division, Numbers, Parts, Reducing};
use lwk_mpi_rt::communicators;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error::Error;
use lwk_mpi_rt::{Handle, Result};

/// A call, with its numbers of integers, and roots.
#[derive(Clone, Copy, Debug)]
enum Called {
    Barrier,
    Ibarrier,
    Broadcast(usize, i32),
    Reduce(usize, i32),
    Allreduce(usize),
    Gather(usize, i32),
    Scatter(usize, i32),
    /// The v-form, with equal parts.
    Gatherv(usize, i32),
    Scatterv(usize, i32),
    Allgather(usize),
    Alltoall(usize),
}

use Called::*;

impl Called {
    fn carry_out(self, on: Handle, size: usize) -> Result<()> {
        let number = match self {
            Barrier | Ibarrier => 0,
            Broadcast(number, _) | Reduce(number, _) | Gather(number, _) => number,
            Scatter(number, _) | Gatherv(number, _) | Scatterv(number, _) => number,
            Allreduce(number) | Allgather(number) | Alltoall(number) => number,
        };
        let (mut send, mut receive): (Vec<i32>, Vec<i32>) = (vec![1; number * size], vec![0; number * size]);
        let (from, to) = (send.as_mut_ptr().cast::<u8>(), receive.as_mut_ptr().cast::<u8>());
        let (kind, count) = (datatype::INT32, number as i64);
        let part = BufferArgument { address: from, count, datatype: kind };
        let parts = |address| Parts { address, division: Division::Equal(count), datatype: kind };
        let counts = vec![count; size];
        let places: Vec<i64> = (0..size as i64).map(|rank| rank * count).collect();
        let varying = |address| Parts {
            address,
            division: Division::Varying(Numbers::Wide(&counts), Numbers::Wide(&places)),
            datatype: kind,
        };
        let reducing = Reducing { send: from, receive: to, count, datatype: kind, operation: op::SUM };
        let call = match self {
            Barrier | Ibarrier => Call::Barrier,
            Broadcast(_, root) => Call::Broadcast { buffer: part, root },
            Reduce(_, root) => Call::Reduce { reducing, root },
            Allreduce(_) => Call::Allreduce { reducing },
            Gather(_, root) => Call::Gather { send: part, receive: parts(to), root },
            Scatter(_, root) => {
                Call::Scatter { send: parts(from), receive: BufferArgument { address: to, ..part }, root }
            }
            Gatherv(_, root) => Call::Gather { send: part, receive: varying(to), root },
            Scatterv(_, root) => {
                let receive = BufferArgument { address: to, ..part };
                Call::Scatter { send: varying(from), receive, root }
            }
            Allgather(_) => Call::Allgather { send: part, receive: parts(to) },
            Alltoall(_) => Call::Alltoall { send: parts(from), receive: parts(to) },
        };
        // SAFETY: the buffers hold all parts, and live until this returns, when the operation is complete.
        with(|engine| unsafe {
            if let Ibarrier = self {
                let request = engine.begin_collective(&call, on)?;
                return engine.wait(request).map(drop);
            }
            engine.collective(&call, on)
        })
    }
}

/// What rank 0 calls, what the others call, what rank 0 is told, what the others are told; nobody is told what it does not wait for.
const CASES: [(Called, Called, Option<Error>, Option<Error>); 25] = [
    (Barrier, Allreduce(2), Some(Error::NOT_SAME), Some(Error::NOT_SAME)),
    (Barrier, Ibarrier, Some(Error::COUNT), Some(Error::COUNT)),
    (Broadcast(2, 1), Reduce(2, 0), Some(Error::NOT_SAME), None),
    (Broadcast(2, 0), Reduce(2, 1), None, Some(Error::NOT_SAME)),
    (Broadcast(2, 1), Broadcast(2, 0), Some(Error::ROOT), Some(Error::ROOT)),
    (Reduce(2, 0), Reduce(2, 1), Some(Error::ROOT), Some(Error::ROOT)),
    (Broadcast(2, 0), Broadcast(1, 0), None, Some(Error::TRUNCATE)),
    (Broadcast(1, 0), Broadcast(2, 0), None, Some(Error::COUNT)),
    (Broadcast(5, 0), Broadcast(2, 0), None, Some(Error::TRUNCATE)),
    (Broadcast(2, 0), Broadcast(5, 0), None, Some(Error::COUNT)),
    (Reduce(1, 0), Reduce(2, 0), Some(Error::COUNT), None),
    (Allreduce(1), Allreduce(2), Some(Error::COUNT), Some(Error::COUNT)),
    (Allreduce(2), Allreduce(4), Some(Error::COUNT), Some(Error::COUNT)),
    (Allreduce(200), Allreduce(300), Some(Error::COUNT), Some(Error::COUNT)),
    (Allreduce(2), Allreduce(9000), Some(Error::COUNT), Some(Error::COUNT)),
    (Broadcast(2, 0), Broadcast(9000, 0), None, Some(Error::COUNT)),
    (Allgather(1), Alltoall(1), Some(Error::NOT_SAME), Some(Error::NOT_SAME)),
    (Gather(3, 0), Barrier, Some(Error::NOT_SAME), Some(Error::NOT_SAME)),
    (Gather(1, 0), Gather(2, 0), Some(Error::TRUNCATE), None),
    (Gather(2, 0), Gather(1, 0), Some(Error::COUNT), None),
    (Gather(2, 0), Gather(9000, 0), Some(Error::TRUNCATE), Some(Error::COUNT)),
    (Gather(2, 0), Gather(2, 1), Some(Error::ROOT), Some(Error::ROOT)),
    (Scatter(2, 0), Scatter(1, 0), None, Some(Error::TRUNCATE)),
    (Gatherv(2, 0), Gather(2, 0), Some(Error::NOT_SAME), None),
    (Scatterv(300, 0), Barrier, Some(Error::NOT_SAME), Some(Error::NOT_SAME)),
];

/// Many calls before and after the mismatch, on the same communicator.
fn turns(on: Handle, size: usize) -> Result<()> {
    for turn in 0..200 {
        let root = turn % size as i32;
        Broadcast(1 + turn as usize % 7, root).carry_out(on, size)?;
        Reduce(1 + turn as usize % 5, root).carry_out(on, size)?;
        let number = [1, 2, 5, 14, 15, 100, 268, 269, 5000][turn as usize % 9];
        Gather(number, root).carry_out(on, size)?;
        Scatter(number, root).carry_out(on, size)?;
        Gatherv(number, root).carry_out(on, size)?;
        Scatterv(number, root).carry_out(on, size)?;
    }
    Allreduce(3).carry_out(on, size)
}

pub fn run(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()? as usize);
    if size == 1 {
        return Ok(());
    }
    for (first, others, first_told, others_told) in CASES {
        let on = communicators::duplicate(Handle(COMM_WORLD))?;
        turns(on, size)?;
        let (call, told) = if rank == 0 { (first, first_told) } else { (others, others_told) };
        let outcome = call.carry_out(on, size);
        // With more than two ranks the others may be in agreement, or be told by one that is told.
        let fits = outcome.err() == told || size > 2;
        assert!(fits, "{first:?} against {others:?}: {outcome:?} in rank {rank}");
        // Whoever gave and went on is told now.
        assert!(
            Barrier.carry_out(on, size).is_err(),
            "{first:?} against {others:?}: then a barrier in rank {rank}"
        );
        assert!(
            Broadcast(1, 0).carry_out(on, size).is_err(),
            "{first:?} against {others:?}: then a broadcast"
        );
        communicators::free(on)?;
        let mut sum = [0i64];
        world.allreduce(&[1i64], &mut sum, Operation::Sum)?;
        assert_eq!(sum[0] as usize, size);
    }
    parts_that_differ(rank as usize, size)
}

/// Parts whose leaf and root do not agree: the root, or the leaf, is told, nobody waits for ever, and the communicator stays usable.
fn parts_that_differ(rank: usize, size: usize) -> Result<()> {
    for (given, taken) in [(3, 2), (100, 2), (300, 299), (9000, 2), (9000, 8999), (2, 3), (20, 9000)] {
        let truncated = (given > taken).then_some(Error::TRUNCATE);
        let at_root = |call: Called, other: Called| if rank == 0 { call } else { other };
        let told = at_root(Gatherv(taken, 0), Gatherv(given, 0)).carry_out(Handle(COMM_WORLD), size);
        // The root's own part fits.
        assert_eq!(told.err(), truncated.filter(|_| rank == 0), "gather of {given} into {taken}");
        let told = at_root(Scatterv(given, 0), Scatterv(taken, 0)).carry_out(Handle(COMM_WORLD), size);
        assert_eq!(told.err(), truncated.filter(|_| rank != 0), "scatter of {given} into {taken}");
        Barrier.carry_out(Handle(COMM_WORLD), size)?;
    }
    Ok(())
}
