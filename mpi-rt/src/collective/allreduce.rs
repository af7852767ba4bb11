//! Allreduce: small contributions are exchanged line by line, those of a few lines copied for all to read, and folded by every rank; larger ones are folded by shares, each
//! result written to all ranks' buffers at once (measured: half the time of sharing followed by copying back).

use super::algorithm::Allreduce;
use super::fold::Every;
use super::run::{CONTRIBUTION, RESULT};
use super::{Exchange, Reduction};
use crate::abi::IN_PLACE;
use crate::communicator::Communicator;
use crate::datatypes::dense_bytes;
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;
use crate::operation::{Combiner, Kernel};
use core::ptr::{null, null_mut};
use lwk_copy::threshold::TOLD_LIMIT;
use lwk_copy::{copy, few};
use lwk_mpi_area::{Kind, NO_ROOT, SMALL_BYTES, Shared, check, sort_of_all};
use lwk_place::CommRank;
use lwk_ring::PAIR_BYTES;

impl Engine {
    /// Combines all ranks' send buffers into everybody's receive buffer. Errors: `COMM`, `COUNT`, `TYPE`, `OP`, `BUFFER`, `NO_MEM`; `NOT_SAME`, `COUNT`
    /// where calls do not match and it is seen.
    ///
    /// # Safety
    /// `send` must be readable for `count` items, or [`IN_PLACE`]; `receive` must be writable for as many and
    /// not overlap `send`. All ranks name the same count, datatype and operation.
    pub unsafe fn allreduce(
        &mut self,
        send: *const u8,
        receive: *mut u8,
        count: i64,
        datatype: u64,
        operation: u64,
        communicator: Handle,
    ) -> Result<()> {
        let communicator = self.communicators.intracommunicator(communicator)?.clone();
        // SAFETY: `send` is readable or in place, and `receive` writable, for `count` items (this function's
        // contract).
        unsafe { self.allreduce_on(&communicator, send, receive, count, datatype, operation) }
    }

    /// The same on an intracommunicator.
    ///
    /// # Safety
    /// As for [`Engine::allreduce`].
    #[inline]
    pub(super) unsafe fn allreduce_on(
        &mut self,
        communicator: &Communicator,
        send: *const u8,
        receive: *mut u8,
        count: i64,
        datatype: u64,
        operation: u64,
    ) -> Result<()> {
        let send = if send.addr() == IN_PLACE { receive.cast_const() } else { send };
        self.check_buffer(send, count, datatype)?;
        self.check_buffer(receive, count, datatype)?;
        if communicator.size() == 2
            && let Some(kernel) = self.pair_kernel(count, datatype, operation)
        {
            // SAFETY: two ranks, and at most `PAIR_BYTES` (`pair_kernel`); `send` is readable and `receive`
            // writable for them (this function's contract).
            return unsafe {
                self.allreduce_pair(communicator, kernel, count as usize, datatype, send, receive)
            };
        }
        let reduction = self.reduction(count, datatype, operation)?;
        // SAFETY: `send` is readable and `receive` writable for `count` items; they are one or apart (this
        // function's contract).
        unsafe {
            let form = self.algorithms.allreduce;
            if form == Some(Allreduce::Paper) && reduction.operation.commutes() {
                return self.allreduce_paper(communicator, &reduction, send, receive);
            }
            match reduction.told_bytes().filter(|_| form != Some(Allreduce::Slices)) {
                Some(bytes) if bytes <= SMALL_BYTES && form != Some(Allreduce::Eager) => {
                    self.allreduce_lines(communicator, &reduction, bytes, send, receive)
                }
                Some(bytes) if bytes <= TOLD_LIMIT => {
                    self.allreduce_eager(communicator, &reduction, bytes, send, receive)
                }
                _ => self.allreduce_shares(communicator, &reduction, send, receive),
            }
        }
    }

    /// The kernel for what two ranks exchange over one line; `None` if they do not.
    #[inline(always)]
    fn pair_kernel(&self, count: i64, datatype: u64, operation: u64) -> Option<Kernel> {
        let bytes = dense_bytes(datatype) as u64;
        if bytes.wrapping_sub(1) >= PAIR_BYTES as u64 || count as u64 > PAIR_BYTES as u64 / bytes {
            return None;
        }
        if !matches!(self.algorithms.allreduce, None | Some(Allreduce::Pair)) {
            return None;
        }
        match self.operation(operation, datatype).ok()?.combiner {
            Combiner::Fast(kernel) => Some(kernel),
            _ => None,
        }
    }

    /// Of two ranks, over one line.
    ///
    /// # Safety
    /// As for [`Engine::allreduce`]; two ranks; at most [`PAIR_BYTES`] bytes, and the datatype's kernel.
    #[inline(always)]
    unsafe fn allreduce_pair(
        &mut self,
        communicator: &Communicator,
        kernel: Kernel,
        count: usize,
        datatype: u64,
        send: *const u8,
        receive: *mut u8,
    ) -> Result<()> {
        let bytes = count * dense_bytes(datatype);
        // SAFETY: two ranks; `send` is readable and `receive` writable for `bytes`, which a half holds (this
        // function's contract).
        unsafe {
            let sort = sort_of_all(Kind::Allreduce, bytes);
            let [left, right] = self.exchange_pair(&communicator.shared, sort, send, bytes)?;
            kernel(left, right, receive, null_mut(), count);
        }
        Ok(())
    }

    /// # Safety
    /// As for [`Engine::allreduce`]; the contribution is dense and has `bytes` bytes, at most
    /// [`SMALL_BYTES`].
    unsafe fn allreduce_lines(
        &mut self,
        communicator: &Communicator,
        reduction: &Reduction,
        bytes: usize,
        send: *const u8,
        receive: *mut u8,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let exchange = Exchange::begin(shared, sort_of_all(Kind::Allreduce, bytes), |line| {
            // SAFETY: the line takes `SMALL_BYTES`; `send` is readable for `bytes`, at most as many (this
            // function's contract).
            unsafe { few(send, line, bytes) };
            Ok(())
        })?;
        let content = |rank| Ok(exchange.content(self, shared, rank)?.cast_const());
        // SAFETY: each line holds `bytes` until this rank's next operation; `receive` is writable for as many
        // (this function's contract).
        unsafe { reduction.fold_lines(shared.size(), bytes, content, receive) }
    }

    /// # Safety
    /// As for [`Engine::allreduce`]; the contribution is dense and has `bytes` bytes, at most
    /// [`TOLD_LIMIT`].
    unsafe fn allreduce_eager(
        &mut self,
        communicator: &Communicator,
        reduction: &Reduction,
        bytes: usize,
        send: *const u8,
        receive: *mut u8,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let word = shared.enter(sort_of_all(Kind::Allreduce, bytes))?;
        let number = Shared::next(&shared.eagers);
        // The first line last: it has the word that the others poll, and would be taken away in between.
        let first = bytes.min(SMALL_BYTES);
        // SAFETY: only this rank fills its copy, once a number; it takes `TOLD_LIMIT`, and `send` is
        // readable for `bytes` (this function's contract).
        unsafe {
            shared.mine().eager.tell(number, word, |block| {
                let block = block.cast::<u8>();
                copy(send.add(first), block.add(first), bytes - first);
                few(send, block, first);
            });
        }
        let mut folded: *const u8 = null();
        for rank in shared.ranks().rev() {
            let blocks = &shared.of(rank).eager;
            self.await_told(shared, rank, || blocks.word(number) == word)?;
            // SAFETY: the copy has this operation's word until this rank's next one. `receive` is writable
            // (this function's contract); if it is `send`, too, its content has been told.
            unsafe {
                let block = blocks.read(number, |block| block.cast::<u8>());
                if folded.is_null() {
                    folded = block;
                } else {
                    reduction.operation.combine(block, folded, receive, null_mut(), reduction.count);
                    folded = receive;
                }
            }
        }
        if folded != receive.cast_const() {
            // SAFETY: `folded` is the copy of the only rank and holds `bytes`; `receive` is writable for as
            // many (this function's contract).
            unsafe { copy(folded, receive, bytes) };
        }
        Ok(())
    }

    /// # Safety
    /// As for [`Engine::allreduce`].
    pub(crate) unsafe fn allreduce_shares(
        &mut self,
        communicator: &Communicator,
        reduction: &Reduction,
        send: *const u8,
        receive: *mut u8,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let check = check(Kind::Allreduce, NO_ROOT, reduction.count as u64);
        let words = [send.expose_provenance() as u64, receive.expose_provenance() as u64];
        let number = self.open(shared, check, &words)?;
        let mut outcome = self.await_posts(shared, number, check);
        if outcome.is_ok() {
            let size = shared.size();
            let part = reduction.part(size, shared.rank, CommRank::FIRST);
            let source = |rank| shared.posted_address(rank, number, CONTRIBUTION).cast_const();
            let targets = Every(shared.ranks(), |rank| shared.posted_address(rank, number, RESULT));
            // SAFETY: all buffers are posted and stay until all have finished; shares do not overlap, so each byte of each buffer has one
            // writer, which has read it before if it is a contribution as well.
            outcome = unsafe { self.fold(reduction, shared.ranks(), part, source, targets) };
        }
        self.close(shared, number, outcome)
    }
}
