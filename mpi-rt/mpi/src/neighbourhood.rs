//! Collectives along the edges of a communicator's topology (MPI-5.0, section 8.6). Buffers have a part for each neighbour, in the order of
//! [`Communicator::neighbours`]; those beside the edge of a grid stay as they are. Errors of all: also `TOPOLOGY` if there is none.

use super::buffer::{Buffer, BufferMut};
use super::collective::{Both, carry_out, two_buffers};
use super::collective_calls as calls;
use super::communicator::Communicator;
use super::persistent::Persistent;
use super::request::{Lent, Request};
use super::scope::Scope;
use lwk_mpi_rt::error::Result;

impl Communicator<'_> {
    /// Sends a buffer of any kind to each neighbour, and receives one from each. Errors: `ARG` if their numbers are not the neighbours'.
    pub fn neighbour_alltoall_each(
        &self,
        sends: &[&dyn Buffer],
        receives: &mut [&mut dyn BufferMut],
    ) -> Result<()> {
        calls::neighbour_alltoall_each(self.handle(), sends, receives, |call| carry_out(call, self.handle()))
    }
}

two_buffers! {
    /// Sends the same to all neighbours. Errors: `COUNT` if `receive` cannot be divided.
    neighbour_allgather, ineighbour_allgather, neighbour_allgather_init
        [S: Buffer + ?Sized, R: BufferMut + ?Sized] S => R;
    /// The same with the parts' counts and displacements. Errors: `ARG`, `COUNT`.
    neighbour_allgather_varying, ineighbour_allgather_varying, neighbour_allgather_varying_init
        [S: Buffer + ?Sized, R: BufferMut + ?Sized] S => R, counts: &[usize], displacements: &[usize];
    /// Sends to each neighbour its part. Errors: `COUNT` if a buffer cannot be divided.
    neighbour_alltoall, ineighbour_alltoall, neighbour_alltoall_init
        [S: Buffer + ?Sized, R: BufferMut + ?Sized] S => R;
    /// The same with counts and displacements of what is sent, and of what is received. Errors: `ARG`, `COUNT`.
    neighbour_alltoall_varying, ineighbour_alltoall_varying, neighbour_alltoall_varying_init
        [S: Buffer + ?Sized, R: BufferMut + ?Sized]
        S => R, sends: (&[usize], &[usize]), receives: (&[usize], &[usize]);
}
