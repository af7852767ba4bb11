//! Reductions of 64-bit integers, blocking and not, by OSU's names.

use super::collective::{Form, measure};
use super::{Bench, Table};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi_rt::Result;
use lwk_mpi_rt::abi::{datatype, op};
use lwk_mpi_rt::collective::{Call, Numbers, Reducing};

/// The largest contribution of a rank, in bytes.
const LARGEST: usize = 1 << 20;

/// Who gets what of the sum: the collective of that name (MPI 5.0, chapter 6), with rank 0 as the root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    Reduce,
    Allreduce,
    Scatter,
    ScatterBlock,
    Scan,
    Exscan,
}

/// Time of the reduction, by the bytes of a rank's contribution; of the scattered ones, by those of its part of the result.
pub fn run(bench: &Bench, name: &'static str, reduction: Reduction, form: Form) -> Result<Table> {
    let (size, rank) = (bench.size as usize, bench.rank as usize);
    measure(bench, name, bench.sizes(8, LARGEST), form, |bytes, act| {
        let count = bytes / size_of::<u64>();
        let scattered = matches!(reduction, Reduction::Scatter | Reduction::ScatterBlock);
        let length = if scattered { count * size } else { count };
        let send: Vec<u64> = (0..length).map(|index| value(rank, index)).collect();
        let mut receive = vec![0u64; length];
        let counts = vec![count as i32; size];
        let reducing = Reducing {
            send: send.as_ptr().cast(),
            receive: receive.as_mut_ptr().cast(),
            count: count as i64,
            datatype: datatype::UINT64,
            operation: op::SUM,
        };
        let call = match reduction {
            Reduction::Reduce => Call::Reduce { reducing, root: 0 },
            Reduction::Allreduce => Call::Allreduce { reducing },
            Reduction::Scatter => Call::ReduceScatter { reducing, blocks: Numbers::Int(&counts) },
            Reduction::ScatterBlock => Call::ReduceScatterBlock { reducing },
            Reduction::Scan => Call::Scan { reducing },
            Reduction::Exscan => Call::Exscan { reducing },
        };
        let ticks = act(&call)?;
        // Whose contributions this rank's result has, and where its first element is among them.
        let (ranks, first, results) = match reduction {
            Reduction::Reduce if rank > 0 => (0, 0, 0),
            Reduction::Reduce | Reduction::Allreduce => (size, 0, count),
            Reduction::Scatter | Reduction::ScatterBlock => (size, rank * count, count),
            Reduction::Scan => (rank + 1, 0, count),
            // Rank 0's result is not defined.
            Reduction::Exscan => (rank, 0, if rank > 0 { count } else { 0 }),
        };
        let expected = |index: usize| (0..ranks).map(|rank| value(rank, first + index)).sum::<u64>();
        let wrong = receive[..results].iter().enumerate().filter(|(index, sum)| **sum != expected(*index));
        Ok((ticks, wrong.count() as u64))
    })
}

fn value(rank: usize, index: usize) -> u64 {
    (rank as u64 + 1) * (index as u64 % 1000 + 1)
}
