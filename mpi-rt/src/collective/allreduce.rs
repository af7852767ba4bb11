//! Allreduce: small contributions are exchanged line by line and folded by every rank; larger ones are folded by shares, each
//! result written to all ranks' buffers at once (measured: half the time of sharing followed by copying back).

use super::area::{PAIR_BYTES, SMALL_BYTES};
use super::reduce::{fold, share};
use super::{Reduction, Shared};
use crate::abi::IN_PLACE;
use crate::communicator::Communicator;
use crate::copy::{copy, small};
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;

impl Engine {
    /// Combines all ranks' send buffers into everybody's receive buffer. Errors: `COMM`, `COUNT`, `TYPE`, `OP`.
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
        let reduction = Reduction::new(count, datatype, operation)?;
        let send = if send.addr() == IN_PLACE { receive.cast_const() } else { send };
        // SAFETY: the caller's promise.
        unsafe {
            if reduction.bytes() <= PAIR_BYTES && communicator.size() == 2 {
                self.allreduce_pair(&communicator, &reduction, send, receive);
                Ok(())
            } else if reduction.bytes() <= SMALL_BYTES {
                self.allreduce_small(&communicator, &reduction, send, receive);
                Ok(())
            } else {
                self.allreduce_shares(&communicator, &reduction, send, receive)
            }
        }
    }

    /// Of two ranks, over one line.
    ///
    /// # Safety
    /// As for [`Engine::allreduce`]; two ranks, at most [`PAIR_BYTES`] bytes.
    unsafe fn allreduce_pair(
        &mut self,
        communicator: &Communicator,
        reduction: &Reduction,
        send: *const u8,
        receive: *mut u8,
    ) {
        let shared = &communicator.shared;
        let number = Shared::next(&shared.smalls);
        let pair = &shared.of(0).pair;
        // SAFETY: a half is read only after it has its number; the caller vouches for the buffers.
        unsafe {
            pair.publish(shared.rank, number, send, reduction.bytes());
            self.wait_until(|| pair.has(shared.rank ^ 1, number));
            (reduction.kernel)(pair.content(0, number), pair.content(1, number), receive, reduction.count);
        }
    }

    /// # Safety
    /// As for [`Engine::allreduce`]; at most [`SMALL_BYTES`] bytes.
    unsafe fn allreduce_small(
        &mut self,
        communicator: &Communicator,
        reduction: &Reduction,
        send: *const u8,
        receive: *mut u8,
    ) {
        let shared = &communicator.shared;
        let number = Shared::next(&shared.smalls);
        let parity = (number & 1) as usize;
        let bytes = reduction.bytes();
        let mut result = [0u64; SMALL_BYTES / 8];
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
                    (reduction.kernel)(line.content(), result, result, reduction.count);
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
        let number = Shared::next(&shared.posts);
        shared.mine().post.publish(number, send, receive);
        self.wait_for_posts(communicator, number);
        let size = shared.size();
        let (from, count) = share(reduction.count, size, shared.rank);
        // SAFETY: all buffers are posted and stay until the barrier; shares do not overlap, so each byte of each buffer has one
        // writer, which has read it before if it is a contribution as well.
        unsafe {
            fold(
                reduction,
                size,
                from,
                count,
                |rank| shared.send_buffer(rank),
                |start, result, bytes| {
                    for rank in 0..size {
                        copy(result, shared.receive_buffer(rank).add(start), bytes);
                    }
                },
            );
        }
        self.barrier(communicator)
    }
}
