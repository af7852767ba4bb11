//! Collectives that move data, blocking and not, with equal and varying parts, by OSU's names.

use super::collective::{Form, measure};
use super::{Bench, Table};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi_rt::Result;
use lwk_mpi_rt::abi::datatype;
use lwk_mpi_rt::collective::{BufferArgument, Call, Division, Numbers, Parts};

/// The largest part of a rank, in bytes.
const LARGEST: usize = 1 << 20;

/// What moves where: the collective of that name (MPI 5.0, chapter 6), from or to rank 0 where it has a root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Movement {
    Broadcast,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
}

/// How the buffers are divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Parts of one size.
    Equal,
    /// Parts by counts and places in elements (`…v`).
    Varying,
    /// Parts by counts, places in bytes and datatypes (`MPI_Alltoallw`).
    Typed,
}

/// Time of the collective in microseconds, by the bytes of one rank's part, 1 B to 1 MiB.
pub fn run(bench: &Bench, name: &'static str, movement: Movement, style: Style, form: Form) -> Result<Table> {
    let (size, rank) = (bench.size as usize, bench.rank as usize);
    measure(bench, name, bench.sizes(1, LARGEST), form, |bytes, act| {
        // Part `to` of rank `from`.
        let part = |from: usize, to: usize| (0..bytes).map(move |at| value(from, to, at));
        let mut send: Vec<u8> = match movement {
            Movement::Broadcast if rank > 0 => vec![0; bytes],
            Movement::Broadcast | Movement::Gather | Movement::Allgather => part(rank, 0).collect(),
            Movement::Scatter | Movement::Alltoall => (0..size).flat_map(|to| part(rank, to)).collect(),
        };
        let mut receive = vec![0u8; size * bytes];
        let counts: Vec<i32> = vec![bytes as i32; size];
        let displacements: Vec<i32> = (0..size).map(|index| (index * bytes) as i32).collect();
        let types = vec![datatype::BYTE; size];
        let (numbers, places) = (Numbers::Int(&counts), Numbers::Int(&displacements));
        let division = match style {
            Style::Equal => Division::Equal(bytes as i64),
            Style::Varying => Division::Varying(numbers, places),
            Style::Typed => Division::Typed(numbers, places, &types),
        };
        let one =
            |address: *mut u8| BufferArgument { address, count: bytes as i64, datatype: datatype::BYTE };
        let all = |address: *mut u8| Parts { address, division, datatype: datatype::BYTE };
        let (from, into) = (send.as_mut_ptr(), receive.as_mut_ptr());
        let call = match movement {
            Movement::Broadcast => Call::Broadcast { buffer: one(from), root: 0 },
            Movement::Gather => Call::Gather { send: one(from), receive: all(into), root: 0 },
            Movement::Scatter => Call::Scatter { send: all(from), receive: one(into), root: 0 },
            Movement::Allgather => Call::Allgather { send: one(from), receive: all(into) },
            Movement::Alltoall => Call::Alltoall { send: all(from), receive: all(into) },
        };
        let ticks = act(&call)?;
        let expected: Vec<u8> = match movement {
            Movement::Broadcast => part(0, 0).collect(),
            Movement::Gather if rank > 0 => Vec::new(),
            Movement::Gather | Movement::Allgather => (0..size).flat_map(|from| part(from, 0)).collect(),
            Movement::Scatter => part(0, rank).collect(),
            Movement::Alltoall => (0..size).flat_map(|from| part(from, rank)).collect(),
        };
        let found = if movement == Movement::Broadcast { &send } else { &receive };
        let wrong = found.iter().zip(&expected).filter(|(found, expected)| found != expected).count();
        Ok((ticks, wrong as u64))
    })
}

fn value(from: usize, to: usize, at: usize) -> u8 {
    (from * 131 + to * 17 + at * 7 + (at >> 8)) as u8
}
