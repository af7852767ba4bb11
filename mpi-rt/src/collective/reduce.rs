//! Folding the ranks' contributions together.
//!
//! Contributions are folded from the last rank to the first, so that the result is `x0 op (x1 op (… op xn))` whoever computes
//! it: operations that do not commute are right, and every rank gets the same bits.

use super::{Reduction, Shared};
use crate::abi::IN_PLACE;
use crate::copy::copy;
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;
use core::mem::MaybeUninit;

/// Bytes that are folded at a time, on the stack: well inside the first-level cache.
const BLOCK: usize = 4 << 10;

/// Folds `count` elements that start at element `from` of every source, and hands each block of results to `store` (bytes from
/// the beginning of the buffers, pointer, length).
///
/// # Safety
/// `source(rank)` must be readable for these elements, for every rank below `ranks`, until they have been stored.
pub(super) unsafe fn fold(
    reduction: &Reduction,
    ranks: u32,
    from: usize,
    count: usize,
    source: impl Fn(u32) -> *const u8,
    mut store: impl FnMut(usize, *const u8, usize),
) {
    let width = reduction.datatype.bytes;
    let mut block = MaybeUninit::<[u8; BLOCK]>::uninit();
    let block = block.as_mut_ptr().cast::<u8>();
    let at_once = BLOCK / width;
    let mut done = 0;
    while done < count {
        let part = (count - done).min(at_once);
        let start = (from + done) * width;
        // SAFETY: `part` elements fit the block and lie inside the sources, which are not the block.
        unsafe {
            // The last two give the first result, in one pass over both.
            if ranks == 1 {
                copy(source(0).add(start), block, part * width);
            } else {
                let (left, right) = (source(ranks - 2), source(ranks - 1));
                (reduction.kernel)(left.add(start), right.add(start), block, part);
            }
            for rank in (0..ranks.saturating_sub(2)).rev() {
                (reduction.kernel)(source(rank).add(start), block, block, part);
            }
        }
        store(start, block, part * width);
        done += part;
    }
}

/// Elements of rank `rank`'s share when `count` are divided among `ranks`: first and number.
pub(super) fn share(count: usize, ranks: u32, rank: u32) -> (usize, usize) {
    let (ranks, rank) = (ranks as usize, rank as usize);
    let (each, more) = (count / ranks, count % ranks);
    (each * rank + more.min(rank), each + (rank < more) as usize)
}

impl Engine {
    /// Combines all ranks' send buffers into the root's receive buffer. Errors: `COMM`, `COUNT`, `TYPE`, `OP`, `ROOT`.
    ///
    /// Every rank folds its own share of the elements, straight into the root's buffer.
    ///
    /// # Safety
    /// `send` must be readable, or [`IN_PLACE`] in the root; `receive` must be writable in the root, and not overlap `send`.
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
        let communicator = self.intracommunicator(communicator)?.clone();
        let reduction = Reduction::new(count, datatype, operation)?;
        let root = communicator.root(root)?;
        let shared = &communicator.shared;
        let send = if send.addr() == IN_PLACE { receive.cast_const() } else { send };
        let number = Shared::next(&shared.posts);
        shared.mine().post.publish(number, send, receive);
        self.wait_for_posts(&communicator, number);
        let (from, count) = share(reduction.count, shared.size(), shared.rank);
        let target = shared.receive_buffer(root);
        // SAFETY: all buffers are posted and stay until the barrier; shares do not overlap, so each byte of the root's buffer has one
        // writer, which has read it before if it is the root's contribution as well.
        unsafe {
            fold(
                &reduction,
                shared.size(),
                from,
                count,
                |rank| shared.send_buffer(rank),
                |start, result, bytes| {
                    copy(result, target.add(start), bytes);
                },
            );
        }
        self.barrier(&communicator)
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_cover_every_element_once() {
        for count in [0, 1, 2, 7, 64, 1000] {
            for ranks in 1..9 {
                let mut next = 0;
                for rank in 0..ranks {
                    let (from, length) = share(count, ranks, rank);
                    assert_eq!(from, next);
                    next += length;
                }
                assert_eq!(next, count);
            }
        }
    }
}
