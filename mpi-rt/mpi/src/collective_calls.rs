//! The arguments of collectives from typed buffers: checked, divided among the ranks, and handed to whoever carries the call out, begins it
//! or keeps it.

use super::buffer::{Buffer, BufferMut};
use super::element::Element;
use super::operation::Reduction;
use alloc::vec::Vec;
use core::ptr::{null, null_mut, without_provenance, without_provenance_mut};
use lwk_mpi_rt::abi::{IN_PLACE, ROOT};
use lwk_mpi_rt::collective::{BufferArgument, Call, Division, Numbers, Parts, Reducing};
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error::{Error, Result};
use lwk_mpi_rt::handle::Handle;

/// Counts and displacements of parts, in items.
pub(super) struct Varying {
    counts: Vec<i64>,
    places: Vec<i64>,
}

impl Varying {
    /// So many parts within a buffer. Errors: `ARG` if there are more or fewer, `COUNT` if one does not lie within.
    fn of(part: &BufferArgument, parts: usize, counts: &[usize], places: &[usize]) -> Result<Varying> {
        if counts.len() != parts || places.len() != parts {
            return Err(Error::ARG);
        }
        let ends = counts.iter().zip(places).map(|(count, place)| count.checked_add(*place));
        let items = part.count as usize;
        if !ends.into_iter().all(|end| end.is_some_and(|end| end <= items)) {
            return Err(Error::COUNT);
        }
        // Numbers up to the buffer's own count.
        let wide = |numbers: &[usize]| numbers.iter().map(|number| *number as i64).collect();
        Ok(Varying { counts: wide(counts), places: wide(places) })
    }

    fn parts<'a>(&'a self, part: &BufferArgument) -> Parts<'a> {
        let division = Division::Varying(Numbers::Wide(&self.counts), Numbers::Wide(&self.places));
        Parts { address: part.address, division, datatype: part.datatype }
    }
}

/// Parts of any datatypes, anywhere: as displacements of absolute addresses.
struct Each {
    counts: Vec<i64>,
    places: Vec<i64>,
    types: Vec<u64>,
}

impl Each {
    /// Errors: `ARG` if there are more or fewer parts than so many.
    fn of(parts: impl ExactSizeIterator<Item = BufferArgument>, number: usize) -> Result<Each> {
        if parts.len() != number {
            return Err(Error::ARG);
        }
        let mut each = Each { counts: Vec::new(), places: Vec::new(), types: Vec::new() };
        for BufferArgument { address, count, datatype } in parts {
            each.counts.push(count);
            each.places.push(address.expose_provenance() as i64);
            each.types.push(datatype);
        }
        Ok(each)
    }

    fn parts(&self) -> Parts<'_> {
        let (counts, places) = (Numbers::Wide(&self.counts), Numbers::Wide(&self.places));
        Parts { address: null_mut(), division: Division::Typed(counts, places, &self.types), datatype: 0 }
    }
}

/// Ranks that a collective of this rank has parts for. Errors: `COMM`.
fn peers(at: Handle) -> Result<usize> {
    with(|engine| engine.communicator(at).map(|it| it.peers.len()))
}

/// Neighbours that this rank receives from and sends to. Errors: `COMM`, `TOPOLOGY`.
fn neighbours(at: Handle) -> Result<(usize, usize)> {
    with(|engine| engine.neighbour_counts(at))
}

/// As many equal parts. Errors: `COUNT` if the items are not a multiple of their number.
fn equal(part: BufferArgument, parts: usize) -> Result<Parts<'static>> {
    let parts = parts as i64;
    if part.count % parts.max(1) != 0 {
        return Err(Error::COUNT);
    }
    let division = Division::Equal(part.count / parts.max(1));
    Ok(Parts { address: part.address, division, datatype: part.datatype })
}

/// No buffer of this side's: what it would hold is in the other one.
fn in_place() -> BufferArgument {
    BufferArgument {
        address: without_provenance_mut(IN_PLACE),
        count: 0,
        datatype: lwk_mpi_rt::abi::datatype::BYTE,
    }
}

fn no_parts() -> Parts<'static> {
    let BufferArgument { address, datatype, .. } = in_place();
    Parts { address, division: Division::Equal(0), datatype }
}

/// Where a buffer of nothing lies that says [`IN_PLACE`] by chance, as an empty vector of bytes does. The address has no meaning of its own.
const NOWHERE: usize = 16;

/// A part of its own, wherever it lies.
fn named(part: BufferArgument) -> BufferArgument {
    if part.is_in_place() {
        BufferArgument { address: without_provenance_mut(NOWHERE), ..part }
    } else {
        part
    }
}

/// What is sent; never in place.
#[inline]
fn sent(buffer: &(impl Buffer + ?Sized)) -> BufferArgument {
    named(buffer.part())
}

/// What is received into; never in place.
#[inline]
fn received(buffer: &mut (impl BufferMut + ?Sized)) -> BufferArgument {
    named(buffer.part_mut())
}

/// Where a contribution to a reduction starts; never in place.
#[inline]
fn start<T: Element>(send: &[T]) -> *const T {
    if send.as_ptr().addr() == IN_PLACE { without_provenance(NOWHERE) } else { send.as_ptr() }
}

/// Calls that take what is sent and what is received, then the rest.
macro_rules! calls {
    ($($name:ident [$($generic:tt)*] ($at:ident, $send:ident: $sends:ty, $receive:ident: $receives:ty $(, $extra:ident: $type:ty)*)
        |$run:ident| $body:block)*) => {
        $(
            #[inline]
            pub fn $name<$($generic)*, Outcome>(
                $at: Handle,
                $send: &$sends,
                $receive: &mut $receives,
                $($extra: $type,)*
                $run: impl FnOnce(&Call) -> Result<Outcome>,
            ) -> Result<Outcome> $body
        )*
    };
}

calls! {
    gather [S: Buffer + ?Sized, R: BufferMut + ?Sized] (at, send: S, receive: R, root: i32) |run| {
        run(&Call::Gather { send: sent(send), receive: equal(received(receive), peers(at)?)?, root })
    }

    gather_varying [S: Buffer + ?Sized, R: BufferMut + ?Sized]
        (at, send: S, receive: R, counts: &[usize], places: &[usize], root: i32) |run| {
        let part = received(receive);
        // They mean something at the root only.
        let number = if counts.is_empty() { 0 } else { peers(at)? };
        let parts = Varying::of(&part, number, counts, places)?;
        run(&Call::Gather { send: sent(send), receive: parts.parts(&part), root })
    }

    scatter [S: Buffer + ?Sized, R: BufferMut + ?Sized] (at, send: S, receive: R, root: i32) |run| {
        run(&Call::Scatter { send: equal(sent(send), peers(at)?)?, receive: received(receive), root })
    }

    scatter_varying [S: Buffer + ?Sized, R: BufferMut + ?Sized]
        (at, send: S, receive: R, counts: &[usize], places: &[usize], root: i32) |run| {
        let part = sent(send);
        let number = if counts.is_empty() { 0 } else { peers(at)? };
        let parts = Varying::of(&part, number, counts, places)?;
        run(&Call::Scatter { send: parts.parts(&part), receive: received(receive), root })
    }

    allgather [S: Buffer + ?Sized, R: BufferMut + ?Sized] (at, send: S, receive: R) |run| {
        run(&Call::Allgather { send: sent(send), receive: equal(received(receive), peers(at)?)? })
    }

    allgather_varying [S: Buffer + ?Sized, R: BufferMut + ?Sized]
        (at, send: S, receive: R, counts: &[usize], places: &[usize]) |run| {
        let part = received(receive);
        let parts = Varying::of(&part, peers(at)?, counts, places)?;
        run(&Call::Allgather { send: sent(send), receive: parts.parts(&part) })
    }

    alltoall [S: Buffer + ?Sized, R: BufferMut + ?Sized] (at, send: S, receive: R) |run| {
        let number = peers(at)?;
        let (send, receive) = (equal(sent(send), number)?, equal(received(receive), number)?);
        run(&Call::Alltoall { send, receive })
    }

    alltoall_varying [S: Buffer + ?Sized, R: BufferMut + ?Sized]
        (at, send: S, receive: R, sends: (&[usize], &[usize]), receives: (&[usize], &[usize])) |run| {
        let (number, from, to) = (peers(at)?, sent(send), received(receive));
        let sends = Varying::of(&from, number, sends.0, sends.1)?;
        let receives = Varying::of(&to, number, receives.0, receives.1)?;
        run(&Call::Alltoall { send: sends.parts(&from), receive: receives.parts(&to) })
    }

    neighbour_allgather [S: Buffer + ?Sized, R: BufferMut + ?Sized] (at, send: S, receive: R) |run| {
        let receive = equal(received(receive), neighbours(at)?.0)?;
        run(&Call::NeighbourAllgather { send: sent(send), receive })
    }

    neighbour_allgather_varying [S: Buffer + ?Sized, R: BufferMut + ?Sized]
        (at, send: S, receive: R, counts: &[usize], places: &[usize]) |run| {
        let part = received(receive);
        let parts = Varying::of(&part, neighbours(at)?.0, counts, places)?;
        run(&Call::NeighbourAllgather { send: sent(send), receive: parts.parts(&part) })
    }

    neighbour_alltoall [S: Buffer + ?Sized, R: BufferMut + ?Sized] (at, send: S, receive: R) |run| {
        let (sources, destinations) = neighbours(at)?;
        let (send, receive) = (equal(sent(send), destinations)?, equal(received(receive), sources)?);
        run(&Call::NeighbourAlltoall { send, receive })
    }

    neighbour_alltoall_varying [S: Buffer + ?Sized, R: BufferMut + ?Sized]
        (at, send: S, receive: R, sends: (&[usize], &[usize]), receives: (&[usize], &[usize])) |run| {
        let ((sources, destinations), from, to) = (neighbours(at)?, sent(send), received(receive));
        let sends = Varying::of(&from, destinations, sends.0, sends.1)?;
        let receives = Varying::of(&to, sources, receives.0, receives.1)?;
        run(&Call::NeighbourAlltoall { send: sends.parts(&from), receive: receives.parts(&to) })
    }

    reduce [T: Element] (at, send: [T], receive: [T], operation: impl Reduction<T>, root: i32) |run| {
        let gets = gets_result(at, root)?;
        // A root in the other group contributes nothing.
        let items = if root == ROOT { receive.len() } else { send.len() };
        if gets && receive.len() != items {
            return Err(Error::COUNT);
        }
        let reducing = reducing(start(send), receive.as_mut_ptr(), items, operation);
        run(&Call::Reduce { reducing, root })
    }

    allreduce [T: Element] (_at, send: [T], receive: [T], operation: impl Reduction<T>) |run| {
        run(&Call::Allreduce { reducing: same_length(send, receive, operation)? })
    }

    scan [T: Element] (_at, send: [T], receive: [T], operation: impl Reduction<T>) |run| {
        run(&Call::Scan { reducing: same_length(send, receive, operation)? })
    }

    exscan [T: Element] (_at, send: [T], receive: [T], operation: impl Reduction<T>) |run| {
        run(&Call::Exscan { reducing: same_length(send, receive, operation)? })
    }

    reduce_scatter [T: Element]
        (at, send: [T], receive: [T], operation: impl Reduction<T>, counts: &[usize]) |run| {
        let (rank, size) = with(|engine| Ok((engine.communicators.rank(at)? as usize, engine.communicators.size(at)? as usize)))?;
        let all = counts.iter().try_fold(0usize, |sum, count| sum.checked_add(*count));
        if counts.len() != size {
            return Err(Error::ARG);
        }
        if all != Some(send.len()) || counts[rank] != receive.len() {
            return Err(Error::COUNT);
        }
        // Each at most a length of a slice.
        let blocks: Vec<i64> = counts.iter().map(|count| *count as i64).collect();
        let reducing = reducing(start(send), receive.as_mut_ptr(), send.len(), operation);
        run(&Call::ReduceScatter { reducing, blocks: Numbers::Wide(&blocks) })
    }

    reduce_scatter_block [T: Element] (at, send: [T], receive: [T], operation: impl Reduction<T>) |run| {
        if receive.len().checked_mul(with(|engine| engine.communicators.size(at))? as usize) != Some(send.len()) {
            return Err(Error::COUNT);
        }
        let reducing = reducing(start(send), receive.as_mut_ptr(), receive.len(), operation);
        run(&Call::ReduceScatterBlock { reducing })
    }

    alltoall_each ['s, 'r] (at, sends: [&'s dyn Buffer], receives: [&'r mut dyn BufferMut]) |run| {
        let number = peers(at)?;
        let sends = Each::of(sends.iter().map(|it| it.part()), number)?;
        let receives = Each::of(receives.iter_mut().map(|it| it.part_mut()), number)?;
        run(&Call::Alltoall { send: sends.parts(), receive: receives.parts() })
    }

    neighbour_alltoall_each ['s, 'r] (at, sends: [&'s dyn Buffer], receives: [&'r mut dyn BufferMut]) |run| {
        let (sources, destinations) = neighbours(at)?;
        let sends = Each::of(sends.iter().map(|it| it.part()), destinations)?;
        let receives = Each::of(receives.iter_mut().map(|it| it.part_mut()), sources)?;
        run(&Call::NeighbourAlltoall { send: sends.parts(), receive: receives.parts() })
    }
}

/// Calls that take one buffer, then the rest.
macro_rules! in_place_calls {
    ($($name:ident [$($generic:tt)*] ($at:ident, $buffer:ident: $buffers:ty $(, $extra:ident: $type:ty)*) |$run:ident| $body:block)*) => {
        $(
            #[inline]
            pub fn $name<$($generic)*, Outcome>(
                $at: Handle,
                $buffer: &mut $buffers,
                $($extra: $type,)*
                $run: impl FnOnce(&Call) -> Result<Outcome>,
            ) -> Result<Outcome> $body
        )*
    };
}

in_place_calls! {
    broadcast [B: BufferMut + ?Sized] (_at, buffer: B, root: i32) |run| {
        run(&Call::Broadcast { buffer: buffer.part_mut(), root })
    }

    gather_in_place [B: BufferMut + ?Sized] (at, buffer: B, root: i32) |run| {
        run(&Call::Gather { send: in_place(), receive: equal(buffer.part_mut(), peers(at)?)?, root })
    }

    scatter_in_place [B: BufferMut + ?Sized] (at, buffer: B, root: i32) |run| {
        run(&Call::Scatter { send: equal(buffer.part_mut(), peers(at)?)?, receive: in_place(), root })
    }

    allgather_in_place [B: BufferMut + ?Sized] (at, buffer: B) |run| {
        run(&Call::Allgather { send: in_place(), receive: equal(buffer.part_mut(), peers(at)?)? })
    }

    alltoall_in_place [B: BufferMut + ?Sized] (at, buffer: B) |run| {
        run(&Call::Alltoall { send: no_parts(), receive: equal(buffer.part_mut(), peers(at)?)? })
    }

    reduce_in_place [T: Element] (at, buffer: [T], operation: impl Reduction<T>, root: i32) |run| {
        let items = buffer.len();
        let (send, receive) = if gets_result(at, root)? {
            (in_place().address.cast_const().cast(), buffer.as_mut_ptr())
        } else {
            (buffer.as_ptr(), null_mut())
        };
        run(&Call::Reduce { reducing: reducing(send, receive, items, operation), root })
    }

    allreduce_in_place [T: Element] (_at, buffer: [T], operation: impl Reduction<T>) |run| {
        run(&Call::Allreduce { reducing: over_itself(buffer, operation) })
    }

    scan_in_place [T: Element] (_at, buffer: [T], operation: impl Reduction<T>) |run| {
        run(&Call::Scan { reducing: over_itself(buffer, operation) })
    }

    exscan_in_place [T: Element] (_at, buffer: [T], operation: impl Reduction<T>) |run| {
        run(&Call::Exscan { reducing: over_itself(buffer, operation) })
    }
}

/// Whether this rank is the one that a rooted collective gives its result.
fn gets_result(at: Handle, root: i32) -> Result<bool> {
    with(|engine| {
        Ok(if engine.communicators.is_inter(at)? {
            root == ROOT
        } else {
            engine.communicators.rank(at)? as i32 == root
        })
    })
}

fn reducing<T: Element>(
    send: *const T,
    receive: *mut T,
    items: usize,
    operation: impl Reduction<T>,
) -> Reducing {
    Reducing {
        send: send.cast(),
        receive: receive.cast(),
        count: items as i64,
        datatype: T::DATATYPE,
        operation: operation.handle(),
    }
}

/// Errors: `COUNT` if lengths differ.
#[inline]
fn same_length<T: Element>(send: &[T], receive: &mut [T], operation: impl Reduction<T>) -> Result<Reducing> {
    if send.len() != receive.len() {
        return Err(Error::COUNT);
    }
    Ok(reducing(start(send), receive.as_mut_ptr(), send.len(), operation))
}

fn over_itself<T: Element>(buffer: &mut [T], operation: impl Reduction<T>) -> Reducing {
    let own = null::<T>().with_addr(IN_PLACE);
    reducing(own, buffer.as_mut_ptr(), buffer.len(), operation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    #[test]
    fn a_buffer_of_nothing_is_not_in_place() {
        // Where an empty vector of bytes says that it is.
        // SAFETY: no elements; any address but null will do, and bytes lie anywhere.
        let nothing: &[u8] = unsafe { core::slice::from_raw_parts(without_provenance(IN_PLACE), 0) };
        // SAFETY: no elements; any address but null will do, and bytes lie anywhere.
        let room: &mut [u8] = unsafe { core::slice::from_raw_parts_mut(without_provenance_mut(IN_PLACE), 0) };
        assert!(!sent(nothing).is_in_place(), "sent");
        assert!(!received(room).is_in_place(), "received");
        let told = allreduce(Handle(0), nothing, room, Operation::Sum, |call| {
            let Call::Allreduce { reducing } = call else { return Err(Error::INTERN) };
            Ok(reducing.send.addr())
        });
        assert!(told.is_ok_and(|address| address != IN_PLACE), "reduced");
    }
}
