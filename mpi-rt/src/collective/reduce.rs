//! Reduce: small contributions come in lines and are folded by the root; of larger ones every rank folds a share of the items,
//! straight into the root's buffer.

use super::Reduction;
use super::algorithm::Reduce;
use super::fold::One;
use super::run::{CONTRIBUTION, RESULT};
use crate::abi::IN_PLACE;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use lwk_mpi_area::{Kind, LONG_BYTES, SMALL_BYTES, check, sort};
use lwk_path::region::Region;
use lwk_place::CommRank;

impl Engine {
    /// Combines all ranks' send buffers into the root's receive buffer. Errors: `COMM`, `COUNT`, `TYPE`, `OP`, `ROOT`, `BUFFER` also for in
    /// place in another rank; `NO_MEM`; `NOT_SAME`, `ROOT`, `COUNT` where calls do not match and it is seen.
    ///
    /// # Safety
    /// `send` must be readable for `count` items, or [`IN_PLACE`] in the root, whose `receive` must be
    /// writable for as many and not overlap `send`. All ranks name the same count, datatype and operation.
    #[expect(clippy::too_many_arguments, reason = "the standard's own list")]
    pub unsafe fn reduce(
        &mut self,
        send: *const u8,
        receive: *mut u8,
        count: i64,
        datatype: u64,
        operation: u64,
        root: i32,
        communicator: Handle,
    ) -> Result<()> {
        let communicator = self.communicators.intracommunicator(communicator)?.clone();
        // SAFETY: `send` is readable or in place, and the root's `receive` writable, for `count` items (this
        // function's contract).
        unsafe { self.reduce_on(&communicator, send, receive, count, datatype, operation, root) }
    }

    /// The same on an intracommunicator.
    ///
    /// # Safety
    /// As for [`Engine::reduce`].
    #[expect(clippy::too_many_arguments, reason = "the standard's own list")]
    #[inline]
    pub(super) unsafe fn reduce_on(
        &mut self,
        communicator: &Communicator,
        send: *const u8,
        receive: *mut u8,
        count: i64,
        datatype: u64,
        operation: u64,
        root: i32,
    ) -> Result<()> {
        let reduction = self.reduction(count, datatype, operation)?;
        let root = communicator.root(root)?;
        let in_place = send.addr() == IN_PLACE;
        if in_place && communicator.rank != root {
            return Err(Error::BUFFER);
        }
        let send = if in_place { receive.cast_const() } else { send };
        self.check_buffer(send, count, datatype)?;
        if communicator.rank == root {
            self.check_buffer(receive, count, datatype)?;
        }
        // SAFETY: `send` is readable, and the root's `receive` writable, for `count` items; they are one or
        // apart (this function's contract).
        unsafe {
            match (self.algorithms.reduce, reduction.line_bytes()) {
                (Some(Reduce::Paper), _) if reduction.operation.commutes() => {
                    self.reduce_paper(communicator, &reduction, send, receive, root)
                }
                (Some(Reduce::Line) | None, Some(bytes)) => {
                    self.reduce_line(communicator, &reduction, bytes, send, receive, root)
                }
                _ => self.reduce_shares(communicator, &reduction, send, receive, root),
            }
        }
    }

    /// # Safety
    /// As for [`Engine::reduce`]; the contribution is dense and has `bytes` bytes, at most [`LONG_BYTES`].
    unsafe fn reduce_line(
        &mut self,
        communicator: &Communicator,
        reduction: &Reduction,
        bytes: usize,
        send: *const u8,
        receive: *mut u8,
        root: CommRank,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let it = shared.enter_oneway(sort(Kind::Reduce, root, bytes), bytes)?;
        let content = |rank: CommRank, engine: &mut Engine| {
            if rank == root {
                return Ok(send);
            }
            let given = engine.await_given(shared, rank, rank, it)?;
            if given.bytes == bytes { Ok(given.content) } else { Err(Error::COUNT) }
        };
        // SAFETY: `send` is readable and the root's `receive` writable for `bytes` (this function's
        // contract). Given lines stay until `end_oneway`.
        let outcome = unsafe {
            if shared.rank != root {
                self.give(shared, it, shared.rank, &Region::block(send, bytes))
            } else if bytes <= SMALL_BYTES {
                reduction.fold_lines(shared.size(), bytes, |rank| content(rank, self), receive)
            } else {
                reduction.fold_told(shared.ranks(), 0..reduction.count, |rank| content(rank, self), receive)
            }
        };
        shared.end_oneway(it);
        outcome
    }

    /// # Safety
    /// As for [`Engine::reduce`].
    unsafe fn reduce_shares(
        &mut self,
        communicator: &Communicator,
        reduction: &Reduction,
        send: *const u8,
        receive: *mut u8,
        root: CommRank,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let check = check(Kind::Reduce, root, reduction.count as u64);
        let words = [send.expose_provenance() as u64, receive.expose_provenance() as u64];
        let number = self.open(shared, check, &words)?;
        let mut outcome = self.await_posts(shared, number, check);
        if outcome.is_ok() {
            let size = shared.size();
            let part = reduction.part(size, shared.rank, root);
            let source = |rank| shared.posted_address(rank, number, CONTRIBUTION).cast_const();
            let target = One(shared.posted_address(root, number, RESULT));
            // SAFETY: all buffers are posted and stay until all have finished; shares do not overlap, so each byte of the root's buffer has
            // one writer, which has read it before if it is the root's contribution as well.
            outcome = unsafe { self.fold(reduction, shared.ranks(), part, source, target) };
        }
        self.close(shared, number, outcome)
    }
}

impl Reduction {
    /// The same of one that travels in a line, or several.
    #[inline(always)]
    pub(super) fn line_bytes(&self) -> Option<usize> {
        self.told_bytes().filter(|bytes| *bytes <= LONG_BYTES)
    }

    /// Bytes of a contribution that can be copied for others to combine: without gaps, and not for the program's functions, which may need
    /// alignment.
    #[inline(always)]
    pub(super) fn told_bytes(&self) -> Option<usize> {
        self.dense_bytes().filter(|_| !self.operation.is_users())
    }
}
