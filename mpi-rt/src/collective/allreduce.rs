//! Allreduce: small contributions are exchanged line by line and folded by every rank; larger ones are folded by shares, each
//! result written to all ranks' buffers at once (measured: half the time of sharing followed by copying back).

use super::area::{PAIR_BYTES, SMALL_BYTES};
use super::channel::{Kind, check};
use super::fold::{Every, share};
use super::run::{CONTRIBUTION, RESULT};
use super::{Reduction, Shared};
use crate::abi::IN_PLACE;
use crate::communicator::Communicator;
use crate::copy::small;
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;
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
        let reduction = self.reduction(count, datatype, operation)?;
        let send = if send.addr() == IN_PLACE { receive.cast_const() } else { send };
        // SAFETY: the caller's promise.
        unsafe {
            match reduction.line_bytes() {
                Some(bytes) if bytes <= PAIR_BYTES && communicator.size() == 2 => {
                    self.allreduce_pair(&communicator, &reduction, bytes, send, receive);
                    Ok(())
                }
                Some(bytes) => {
                    self.allreduce_lines(&communicator, &reduction, bytes, send, receive);
                    Ok(())
                }
                None => self.allreduce_shares(&communicator, &reduction, send, receive),
            }
        }
    }

    /// Of two ranks, over one line.
    ///
    /// # Safety
    /// As for [`Engine::allreduce`]; two ranks; `bytes`, at most [`PAIR_BYTES`], are the contribution's.
    unsafe fn allreduce_pair(
        &mut self,
        communicator: &Communicator,
        reduction: &Reduction,
        bytes: usize,
        send: *const u8,
        receive: *mut u8,
    ) {
        let shared = &communicator.shared;
        let number = Shared::next(&shared.smalls);
        let pair = &shared.of(0).pair;
        // SAFETY: a half is read only after it has its number; the caller vouches for the buffers.
        unsafe {
            pair.publish(shared.rank, number, send, bytes);
            self.wait_until(|| pair.has(shared.rank ^ 1, number));
            let (left, right) = (pair.content(0, number), pair.content(1, number));
            reduction.operation.combine(left, right, receive, null_mut(), reduction.count);
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
