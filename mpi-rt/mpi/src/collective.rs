//! Collectives of a communicator (MPI-5.0, chapter 6): each as a blocking call, begun in a [`Scope`] (`i…`), and to be started again and again
//! (`…_init`). Buffers that are divided have equal parts in rank order, one for each rank, unless counts and displacements say otherwise;
//! all are counted in the buffer's own items.

use super::buffer::{Buffer, BufferMut};
use super::collective_calls as calls;
use super::communicator::Communicator;
use super::element::Element;
use super::operation::Reduction;
use super::persistent::Persistent;
use super::request::{Lent, Request};
use super::scope::Scope;
use lwk_mpi_rt::collective::Call;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error::Result;
use lwk_mpi_rt::handle::Handle;

/// A request that uses a buffer to send and one to receive into.
pub type Both<'scope, S, R> = Request<'scope, (&'scope S, &'scope mut R)>;

/// Carries out a call whose buffers are borrowed.
#[inline]
pub(super) fn carry_out(call: &Call, at: Handle) -> Result<()> {
    // SAFETY: `collective_calls` makes calls of buffers that the caller's caller has borrowed until this returns.
    with(|engine| unsafe { engine.collective(call, at) })
}

/// Collectives of one buffer that is sent and one that is received into.
macro_rules! two_buffers {
    ($($(#[$doc:meta])* $name:ident, $begin:ident, $init:ident [$($generic:tt)*]
        $send:ty => $receive:ty $(, $extra:ident: $type:ty)*;)*) => {
        impl Communicator<'_> {
            $(
                $(#[$doc])*
                #[inline]
                pub fn $name<$($generic)*>(&self, send: &$send, receive: &mut $receive $(, $extra: $type)*) -> Result<()> {
                    calls::$name(self.handle(), send, receive, $($extra,)* |call| carry_out(call, self.handle()))
                }
            )*
        }

        impl<'scope> Scope<'scope, '_> {
            $(
                #[doc = concat!("Begins a [`Communicator::", stringify!($name), "`].")]
                pub fn $begin<$($generic)*>(
                    &self,
                    send: &'scope $send,
                    receive: &'scope mut $receive
                    $(, $extra: $type)*
                ) -> Result<Both<'scope, $send, $receive>> {
                    let (at, mut lent) = (self.communicator, Lent::new((send, receive)));
                    let (send, receive) = lent.get();
                    let handle = calls::$name(at, &**send, &mut **receive, $($extra,)* |call| {
                        // SAFETY: the buffers are borrowed until the scope ends, and the scope waits for the request.
                        self.begin(|engine| unsafe { engine.begin_collective(call, at) })
                    })?;
                    Ok(Request::new(handle, self.pending, lent))
                }

                #[doc = concat!("A [`Communicator::", stringify!($name), "`] that is started again and again. All ranks must call it.")]
                pub fn $init<$($generic)*>(
                    &self,
                    send: &'scope mut $send,
                    receive: &'scope mut $receive
                    $(, $extra: $type)*
                ) -> Result<Persistent<'scope, (&'scope mut $send, &'scope mut $receive)>> {
                    let (at, mut lent) = (self.communicator, Lent::new((send, receive)));
                    let (send, receive) = lent.get();
                    let handle = calls::$name(at, &**send, &mut **receive, $($extra,)* |call| {
                        // SAFETY: the request lends the buffers out only while it is not active, and the scope waits for it.
                        self.begin(|engine| unsafe { engine.collective_init(call, at) })
                    })?;
                    Ok(Persistent::new(handle, lent))
                }
            )*
        }
    };
}

/// Collectives of one buffer.
macro_rules! one_buffer {
    ($($(#[$doc:meta])* $name:ident, $begin:ident, $init:ident [$($generic:tt)*] $buffer:ty $(, $extra:ident: $type:ty)*;)*) => {
        impl Communicator<'_> {
            $(
                $(#[$doc])*
                #[inline]
                pub fn $name<$($generic)*>(&self, buffer: &mut $buffer $(, $extra: $type)*) -> Result<()> {
                    calls::$name(self.handle(), buffer, $($extra,)* |call| carry_out(call, self.handle()))
                }
            )*
        }

        impl<'scope> Scope<'scope, '_> {
            $(
                #[doc = concat!("Begins a [`Communicator::", stringify!($name), "`].")]
                pub fn $begin<$($generic)*>(
                    &self,
                    buffer: &'scope mut $buffer
                    $(, $extra: $type)*
                ) -> Result<Request<'scope, &'scope mut $buffer>> {
                    let (at, mut lent) = (self.communicator, Lent::new(buffer));
                    let handle = calls::$name(at, &mut **lent.get(), $($extra,)* |call| {
                        // SAFETY: the buffer is borrowed until the scope ends, and the scope waits for the request.
                        self.begin(|engine| unsafe { engine.begin_collective(call, at) })
                    })?;
                    Ok(Request::new(handle, self.pending, lent))
                }

                #[doc = concat!("A [`Communicator::", stringify!($name), "`] that is started again and again. All ranks must call it.")]
                pub fn $init<$($generic)*>(
                    &self,
                    buffer: &'scope mut $buffer
                    $(, $extra: $type)*
                ) -> Result<Persistent<'scope, &'scope mut $buffer>> {
                    let (at, mut lent) = (self.communicator, Lent::new(buffer));
                    let handle = calls::$name(at, &mut **lent.get(), $($extra,)* |call| {
                        // SAFETY: the request lends the buffer out only while it is not active, and the scope waits for it.
                        self.begin(|engine| unsafe { engine.collective_init(call, at) })
                    })?;
                    Ok(Persistent::new(handle, lent))
                }
            )*
        }
    };
}

pub(super) use two_buffers;

impl Communicator<'_> {
    /// Waits for all ranks. Errors: `OTHER` where calls do not match and it is seen.
    #[inline]
    pub fn barrier(&self) -> Result<()> {
        with(|engine| engine.barrier_on(self.handle()))
    }

    /// Sends a buffer of any kind to each rank, and receives one from each. Errors: `ARG` if their numbers are not the ranks'.
    pub fn alltoall_each(&self, sends: &[&dyn Buffer], receives: &mut [&mut dyn BufferMut]) -> Result<()> {
        calls::alltoall_each(self.handle(), sends, receives, |call| carry_out(call, self.handle()))
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Begins a [`Communicator::barrier`]. Errors: `NO_MEM`.
    pub fn ibarrier(&self) -> Result<Request<'scope>> {
        // SAFETY: no buffers.
        let handle =
            self.begin(|engine| unsafe { engine.begin_collective(&Call::Barrier, self.communicator) })?;
        Ok(Request::new(handle, self.pending, Lent::new(())))
    }

    /// A [`Communicator::barrier`] that is started again and again. All ranks must call it.
    pub fn barrier_init(&self) -> Result<Persistent<'scope, ()>> {
        // SAFETY: no buffers.
        let handle =
            self.begin(|engine| unsafe { engine.collective_init(&Call::Barrier, self.communicator) })?;
        Ok(Persistent::new(handle, Lent::new(())))
    }
}

one_buffer! {
    /// Copies the root's buffer to all ranks; lengths must be equal. Errors: `ROOT`.
    broadcast, ibroadcast, broadcast_init [B: BufferMut + ?Sized] B, root: i32;
    /// [`Communicator::gather`], as the root calls it (and the root alone) when its own part is in its place. Errors: `ROOT`, `COUNT`.
    gather_in_place, igather_in_place, gather_in_place_init [B: BufferMut + ?Sized] B, root: i32;
    /// [`Communicator::scatter`], as the root calls it (and the root alone) when its own part stays in its place. Errors: `ROOT`, `COUNT`.
    scatter_in_place, iscatter_in_place, scatter_in_place_init [B: BufferMut + ?Sized] B, root: i32;
    /// [`Communicator::allgather`] with each rank's own part in its place. Errors: `COUNT`.
    allgather_in_place, iallgather_in_place, allgather_in_place_init [B: BufferMut + ?Sized] B;
    /// [`Communicator::alltoall`] that replaces what it sends. Errors: `COUNT`.
    alltoall_in_place, ialltoall_in_place, alltoall_in_place_init [B: BufferMut + ?Sized] B;
    /// [`Communicator::reduce`] that replaces the root's contribution. Errors: `OP`, `ROOT`.
    reduce_in_place, ireduce_in_place, reduce_in_place_init [T: Element] [T], operation: impl Reduction<T>, root: i32;
    /// [`Communicator::allreduce`] that replaces the contributions. Errors: `OP`.
    allreduce_in_place, iallreduce_in_place, allreduce_in_place_init [T: Element] [T], operation: impl Reduction<T>;
    /// [`Communicator::scan`] that replaces the contributions. Errors: `OP`.
    scan_in_place, iscan_in_place, scan_in_place_init [T: Element] [T], operation: impl Reduction<T>;
    /// [`Communicator::exscan`] that replaces the contributions. Errors: `OP`.
    exscan_in_place, iexscan_in_place, exscan_in_place_init [T: Element] [T], operation: impl Reduction<T>;
}

two_buffers! {
    /// Collects all ranks' `send` in the root's `receive`, which other ranks may leave empty. Errors: `ROOT`; `COUNT` if it cannot be divided.
    gather, igather, gather_init [S: Buffer + ?Sized, R: BufferMut + ?Sized] S => R, root: i32;
    /// The same with the parts' counts and displacements, which other ranks may leave empty. Errors: `ROOT`; `ARG` for a wrong number of them;
    /// `COUNT` if one does not lie within.
    gather_varying, igather_varying, gather_varying_init [S: Buffer + ?Sized, R: BufferMut + ?Sized]
        S => R, counts: &[usize], displacements: &[usize], root: i32;
    /// Gives each rank its part of the root's `send`, which other ranks may leave empty. Errors: `ROOT`; `COUNT` if it cannot be divided.
    scatter, iscatter, scatter_init [S: Buffer + ?Sized, R: BufferMut + ?Sized] S => R, root: i32;
    /// The same with the parts' counts and displacements. Errors: as for [`Communicator::gather_varying`].
    scatter_varying, iscatter_varying, scatter_varying_init [S: Buffer + ?Sized, R: BufferMut + ?Sized]
        S => R, counts: &[usize], displacements: &[usize], root: i32;
    /// Collects all ranks' `send` in everybody's `receive`. Errors: `COUNT` if it cannot be divided.
    allgather, iallgather, allgather_init [S: Buffer + ?Sized, R: BufferMut + ?Sized] S => R;
    /// The same with the parts' counts and displacements. Errors: `ARG`, `COUNT` as for [`Communicator::gather_varying`].
    allgather_varying, iallgather_varying, allgather_varying_init [S: Buffer + ?Sized, R: BufferMut + ?Sized]
        S => R, counts: &[usize], displacements: &[usize];
    /// Gives each rank its part of everybody's `send`. Errors: `COUNT` if a buffer cannot be divided.
    alltoall, ialltoall, alltoall_init [S: Buffer + ?Sized, R: BufferMut + ?Sized] S => R;
    /// The same with counts and displacements of what is sent, and of what is received. Errors: as for [`Communicator::allgather_varying`].
    alltoall_varying, ialltoall_varying, alltoall_varying_init [S: Buffer + ?Sized, R: BufferMut + ?Sized]
        S => R, sends: (&[usize], &[usize]), receives: (&[usize], &[usize]);
    /// Combines all ranks' `send` into the root's `receive`, which other ranks may leave empty. Errors: `COUNT` if the root's lengths differ;
    /// `OP`, `ROOT`.
    reduce, ireduce, reduce_init [T: Element] [T] => [T], operation: impl Reduction<T>, root: i32;
    /// Combines all ranks' `send` into everybody's `receive`, of the same length. Errors: `COUNT` if lengths differ, `OP`.
    allreduce, iallreduce, allreduce_init [T: Element] [T] => [T], operation: impl Reduction<T>;
    /// Combines the `send` of the ranks up to this one into `receive`. Errors: as for [`Communicator::allreduce`].
    scan, iscan, scan_init [T: Element] [T] => [T], operation: impl Reduction<T>;
    /// Combines the `send` of the ranks before this one into `receive`, which stays as it is in rank 0. Errors: as for [`Communicator::allreduce`].
    exscan, iexscan, exscan_init [T: Element] [T] => [T], operation: impl Reduction<T>;
    /// Combines all ranks' `send`, and gives each rank its block of the result, of which the lengths are given. Errors: `ARG` for a wrong number of
    /// blocks; `COUNT` if they are not the buffers'; `OP`.
    reduce_scatter, ireduce_scatter, reduce_scatter_init [T: Element]
        [T] => [T], operation: impl Reduction<T>, counts: &[usize];
    /// The same with equal blocks. Errors: `COUNT`, `OP`.
    reduce_scatter_block, ireduce_scatter_block, reduce_scatter_block_init [T: Element]
        [T] => [T], operation: impl Reduction<T>;
}
