//! Gather, scatter, allgather, alltoall and their v-forms: every rank moves its own part, straight between the users' buffers.
//!
//! Ranks post a buffer and an array of byte offsets into it, one for each rank; who moves a part reads its offset where it lies. In a
//! gather each rank stores into the root's buffer, in a scatter each loads from it; in allgather and alltoall each rank loads what is
//! for it from every other, beginning with itself, so that no two ranks begin at the same place.

use super::Shared;
use crate::abi::IN_PLACE;
use crate::communicator::Communicator;
use crate::copy::copy;
use crate::datatype;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use alloc::rc::Rc;
use alloc::vec::Vec;

/// One buffer of a collective, contiguous elements.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub address: *mut u8,
    pub count: i64,
    pub datatype: u64,
}

/// A buffer divided among the ranks.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    pub address: *mut u8,
    pub division: Division<'a>,
    pub datatype: u64,
}

/// How it is divided, in elements.
#[derive(Clone, Copy, Debug)]
pub enum Division<'a> {
    /// So many for each rank, one after another.
    Equal(i64),
    /// Counts and displacements, one for each rank.
    Varying(&'a [i64], &'a [i64]),
}

/// Bytes and byte offsets of a divided buffer, by rank.
struct Places {
    bytes: Vec<usize>,
    offsets: Vec<u64>,
}

impl Part {
    fn bytes(&self) -> Result<usize> {
        datatype::extent(self.count, datatype::predefined(self.datatype)?)
    }

    fn is_in_place(&self) -> bool {
        self.address.addr() == IN_PLACE
    }
}

impl Parts<'_> {
    fn is_in_place(&self) -> bool {
        self.address.addr() == IN_PLACE
    }

    /// Errors: `COUNT`, `TYPE`, `ARG` if an array is too short.
    fn places(&self, ranks: u32) -> Result<Places> {
        let datatype = datatype::predefined(self.datatype)?;
        let mut places = Places { bytes: Vec::new(), offsets: Vec::new() };
        places.bytes.try_reserve_exact(ranks as usize).map_err(|_| Error::NO_MEM)?;
        places.offsets.try_reserve_exact(ranks as usize).map_err(|_| Error::NO_MEM)?;
        for rank in 0..ranks as usize {
            let (count, displacement) = match self.division {
                Division::Equal(count) => (count, count.checked_mul(rank as i64).ok_or(Error::COUNT)?),
                Division::Varying(counts, displacements) => {
                    (*counts.get(rank).ok_or(Error::ARG)?, *displacements.get(rank).ok_or(Error::ARG)?)
                }
            };
            places.bytes.push(datatype::extent(count, datatype)?);
            let offset = displacement.checked_mul(datatype.bytes as i64).ok_or(Error::VALUE_TOO_LARGE)?;
            // Negative displacements are allowed: offsets wrap, as addresses do.
            places.offsets.push(offset as u64);
        }
        Ok(places)
    }
}

impl Engine {
    /// Brings every rank's part together in the root's buffer. Errors: `COMM`, `COUNT`, `TYPE`, `ROOT`, `ARG`.
    ///
    /// # Safety
    /// `send` must be readable, or [`IN_PLACE`] in the root; `receive`, which matters in the root only, must be writable as its division
    /// says, and take what the others send.
    pub unsafe fn gather(
        &mut self,
        send: &Part,
        receive: &Parts,
        root: i32,
        communicator: Handle,
    ) -> Result<()> {
        let communicator = self.intracommunicator(communicator)?.clone();
        let root = communicator.root(root)?;
        let rank = communicator.rank;
        let places = (rank == root).then(|| receive.places(communicator.size())).transpose()?;
        let bytes = if send.is_in_place() { 0 } else { send.bytes()? };
        let shared = &communicator.shared;
        self.post_parts(&communicator, receive.address, places.as_ref());
        self.wait_for_post(&communicator, root);
        if !send.is_in_place() {
            // SAFETY: the root has posted its buffer and offsets, which stay until the barrier; parts do not overlap.
            unsafe {
                let offset = shared.receive_buffer(root).cast::<u64>().add(rank as usize).read();
                copy(send.address, shared.send_buffer(root).cast_mut().wrapping_add(offset as usize), bytes);
            }
        }
        self.barrier(&communicator)
    }

    /// Hands every rank its part of the root's buffer. Errors: as for [`Engine::gather`].
    ///
    /// # Safety
    /// `receive` must be writable, or [`IN_PLACE`] in the root; `send`, which matters in the root only, must be readable as its division
    /// says, and hold what the others receive.
    pub unsafe fn scatter(
        &mut self,
        send: &Parts,
        receive: &Part,
        root: i32,
        communicator: Handle,
    ) -> Result<()> {
        let communicator = self.intracommunicator(communicator)?.clone();
        let root = communicator.root(root)?;
        let rank = communicator.rank;
        let places = (rank == root).then(|| send.places(communicator.size())).transpose()?;
        let bytes = if receive.is_in_place() { 0 } else { receive.bytes()? };
        let shared = &communicator.shared;
        self.post_parts(&communicator, send.address, places.as_ref());
        self.wait_for_post(&communicator, root);
        if !receive.is_in_place() {
            // SAFETY: as for `gather`.
            unsafe {
                let offset = shared.receive_buffer(root).cast::<u64>().add(rank as usize).read();
                copy(shared.send_buffer(root).wrapping_add(offset as usize), receive.address, bytes);
            }
        }
        self.barrier(&communicator)
    }

    /// Brings every rank's part together in every rank's buffer. Errors: `COMM`, `COUNT`, `TYPE`, `ARG`.
    ///
    /// # Safety
    /// `send` must be readable, or [`IN_PLACE`]: then it is this rank's part of `receive`, which must be writable as its division says.
    pub unsafe fn allgather(&mut self, send: &Part, receive: &Parts, communicator: Handle) -> Result<()> {
        let communicator = self.intracommunicator(communicator)?.clone();
        let places = receive.places(communicator.size())?;
        let rank = communicator.rank as usize;
        let own = receive.address.wrapping_add(places.offsets[rank] as usize);
        let in_place = send.is_in_place();
        if !in_place {
            send.bytes()?;
        }
        let source = if in_place { own } else { send.address };
        let shared = &communicator.shared;
        let number = Shared::next(&shared.posts);
        shared.mine().post.publish(number, source, receive.address);
        self.load_from_all(&communicator, number, |peer| {
            if peer as usize == rank && in_place {
                return;
            }
            let target = receive.address.wrapping_add(places.offsets[peer as usize] as usize);
            // SAFETY: the peer has posted its part, which stays until the barrier; the caller vouches for both lengths.
            unsafe { copy(shared.send_buffer(peer), target, places.bytes[peer as usize]) };
        });
        self.barrier(&communicator)
    }

    /// Hands every rank its part of every rank's buffer. Errors: `COMM`, `COUNT`, `TYPE`, `ARG`, `NO_MEM`.
    ///
    /// # Safety
    /// `send` must be readable as its division says, or [`IN_PLACE`]: then it is `receive`, which must be writable as its division says.
    pub unsafe fn alltoall(&mut self, send: &Parts, receive: &Parts, communicator: Handle) -> Result<()> {
        let communicator = self.intracommunicator(communicator)?.clone();
        let into = receive.places(communicator.size())?;
        let rank = communicator.rank;
        // In place, what is to be sent must survive what is received.
        let mut copied: Vec<u8> = Vec::new();
        let (source, from) = if send.is_in_place() {
            let total = into.bytes.iter().sum();
            copied.try_reserve_exact(total).map_err(|_| Error::NO_MEM)?;
            let mut offsets = Vec::new();
            offsets.try_reserve_exact(into.bytes.len()).map_err(|_| Error::NO_MEM)?;
            let mut end = 0;
            for (bytes, offset) in into.bytes.iter().zip(&into.offsets) {
                let content = receive.address.wrapping_add(*offset as usize);
                // SAFETY: the vector has room for all parts; the caller vouches for them.
                unsafe { copy(content, copied.as_mut_ptr().add(end), *bytes) };
                offsets.push(end as u64);
                end += bytes;
            }
            (copied.as_mut_ptr(), Places { bytes: Vec::new(), offsets })
        } else {
            (send.address, send.places(communicator.size())?)
        };
        let shared = &communicator.shared;
        let number = Shared::next(&shared.posts);
        shared.mine().post.publish(number, source, from.offsets.as_ptr().cast_mut().cast());
        self.load_from_all(&communicator, number, |peer| {
            let target = receive.address.wrapping_add(into.offsets[peer as usize] as usize);
            // SAFETY: the peer has posted its buffer and offsets, which stay until the barrier; the caller vouches for the lengths.
            unsafe {
                let offset = shared.receive_buffer(peer).cast::<u64>().add(rank as usize).read();
                copy(
                    shared.send_buffer(peer).wrapping_add(offset as usize),
                    target,
                    into.bytes[peer as usize],
                );
            }
        });
        self.barrier(&communicator)
    }

    /// Posts a divided buffer, in the root; in the others only the operation's number.
    fn post_parts(&mut self, communicator: &Communicator, address: *mut u8, places: Option<&Places>) {
        let shared = &communicator.shared;
        let number = Shared::next(&shared.posts);
        let offsets = places.map_or(core::ptr::null(), |places| places.offsets.as_ptr());
        shared.mine().post.publish(number, address, offsets.cast_mut().cast());
    }

    /// Waits for the root's post of the operation that this rank has posted last.
    fn wait_for_post(&mut self, communicator: &Communicator, root: u32) {
        let number = communicator.shared.posts.get();
        let post = &communicator.shared.of(root).post;
        self.wait_until(|| post.has(number));
    }

    /// Calls `load` for every rank as soon as it has posted, beginning with this one.
    fn load_from_all(&mut self, communicator: &Rc<Communicator>, number: u64, mut load: impl FnMut(u32)) {
        let (rank, size) = (communicator.rank, communicator.size());
        for peer in (rank..size).chain(0..rank) {
            let post = &communicator.shared.of(peer).post;
            self.wait_until(|| post.has(number));
            load(peer);
        }
    }
}
