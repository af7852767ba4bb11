//! Allreduce: small contributions are exchanged line by line and folded by every rank; larger ones are folded by shares, each
//! result written to all ranks' buffers at once (measured: half the time of sharing followed by copying back).

use super::algorithm::Allreduce;
use super::area::{PAIR_BYTES, SMALL_BYTES};
use super::channel::{Kind, check};
use super::fold::{Every, share};
use super::run::{CONTRIBUTION, RESULT};
use super::{Reduction, Shared};
use crate::abi::IN_PLACE;
use crate::communicator::Communicator;
use crate::copy::small;
use crate::datatypes::dense_bytes;
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;
use crate::operation::{Combiner, Kernel};
use core::ptr::null_mut;

impl Engine {
    /// Combines all ranks' send buffers into everybody's receive buffer. Errors: `COMM`, `COUNT`, `TYPE`, `OP`, `NO_MEM`; `OTHER`, `COUNT`
    /// where calls do not match and it is seen.
    ///
    /// # Safety
    /// `send` must be readable, or [`IN_PLACE`]; `receive` must be writable and not overlap `send`.
    pub unsafe fn allreduce(
        &mut self,
        send: *const u8,
        receive: *mut u8,
        count: i64,
        datatype: u64,
        operation: u64,
        communicator: Handle,
    ) -> Result<()> {
        let communicator = self.intracommunicator(communicator)?.clone();
        let send = if send.addr() == IN_PLACE { receive.cast_const() } else { send };
        if communicator.size() == 2
            && let Some(kernel) = self.pair_kernel(count, datatype, operation)
        {
            // SAFETY: the caller's promise.
            unsafe { self.allreduce_pair(&communicator, kernel, count as usize, datatype, send, receive) };
            return Ok(());
        }
        let reduction = self.reduction(count, datatype, operation)?;
        // SAFETY: the caller's promise.
        unsafe {
            let form = self.algorithms.allreduce;
            if form == Some(Allreduce::Paper) && reduction.operation.commutes() {
                return self.allreduce_paper(&communicator, &reduction, send, receive);
            }
            match reduction.line_bytes().filter(|_| form != Some(Allreduce::Slices)) {
                Some(bytes) => {
                    self.allreduce_lines(&communicator, &reduction, bytes, send, receive);
                    Ok(())
                }
                None => self.allreduce_shares(&communicator, &reduction, send, receive),
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

    /// Of two ranks, over one line. How soon a rank is in the next operation decides how often the line moves: if it stores its next
    /// contribution before the other has fetched this one, both travel together (measured: half the time).
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
    ) {
        let shared = &communicator.shared;
        let number = Shared::next(&shared.smalls);
        let pair = &shared.of(0).pair;
        let bytes = count * dense_bytes(datatype);
        // SAFETY: a half is read only after it has its number; the caller vouches for the buffers.
        unsafe {
            pair.publish(shared.rank, number, send, bytes);
            self.wait_until(|| pair.has(shared.rank ^ 1, number));
            let (left, right) = (pair.content(0, number), pair.content(1, number));
            kernel(left, right, receive, null_mut(), count);
        }
    }

    /// # Safety
    /// As for [`Engine::allreduce`]; `bytes`, at most [`SMALL_BYTES`], are the contribution's.
    unsafe fn allreduce_lines(
        &mut self,
        communicator: &Communicator,
        reduction: &Reduction,
        bytes: usize,
        send: *const u8,
        receive: *mut u8,
    ) {
        let shared = &communicator.shared;
        let number = Shared::next(&shared.smalls);
        let parity = (number & 1) as usize;
        let mut result = [0u128; SMALL_BYTES.div_ceil(16)];
        let result = result.as_mut_ptr().cast::<u8>();
        // SAFETY: lines and result hold `bytes`; a line is read only after it has its number; the caller vouches for the buffers.
        unsafe {
            shared.mine().small[parity].publish(number, send, bytes);
            for rank in (0..shared.size()).rev() {
                let line = &shared.of(rank).small[parity];
                self.wait_until(|| line.has(number));
                if rank == shared.size() - 1 {
                    small(line.content(), result, bytes);
                } else {
                    reduction.operation.combine(line.content(), result, result, null_mut(), reduction.count);
                }
            }
            small(result, receive, bytes);
        }
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
        let check = check(Kind::Allreduce, 0, reduction.count as u64);
        let words = [send.expose_provenance() as u64, receive.expose_provenance() as u64];
        let number = self.open(shared, check, &words);
        let mut outcome = self.await_posts(shared, number, check);
        if outcome.is_ok() {
            let size = shared.size();
            let part = share(reduction.count, size, shared.rank);
            let source = |rank| shared.posted_address(rank, number, CONTRIBUTION).cast_const();
            let targets = Every(0..size, |rank| shared.posted_address(rank, number, RESULT));
            // SAFETY: all buffers are posted and stay until all have finished; shares do not overlap, so each byte of each buffer has one
            // writer, which has read it before if it is a contribution as well.
            outcome = unsafe { self.fold(reduction, 0..size, part, source, targets) };
        }
        self.close(shared, number);
        outcome
    }
}
