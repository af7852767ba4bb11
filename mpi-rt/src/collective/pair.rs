//! What two ranks tell each other at once over one line of both (`lwk_ring::PairLine`): allreduce and alltoall of up to 8 bytes.
//!
//! How soon a rank is in the next operation decides how often the line moves: if it stores its next content before the other has fetched this
//! one, both travel together (measured: half the time). So nothing is done between two operations that can be done earlier or not at all.

use super::equal_parts::EqualParts;
use crate::communicator::Communicator;
use crate::datatypes::block_bytes;
use crate::engine::Engine;
use crate::error::Result;
use lwk_copy::few;
use lwk_mpi_area::{Kind, NO_ROOT, Shared, copy_whole, sort};
use lwk_path::region::Region;
use lwk_place::CommRank;
use lwk_ring::PAIR_BYTES;

impl Engine {
    /// Tells the other rank `bytes` bytes, in a call of that [`sort`], and waits for what it tells: the halves of both ranks, by rank, to be read
    /// before this rank begins its next operation. Errors: those of `Shared::enter` and `await_told`.
    ///
    /// # Safety
    /// The communicator has two ranks; `mine` is readable for `bytes` bytes, which are at most [`PAIR_BYTES`].
    #[inline(always)]
    pub(super) unsafe fn exchange_pair(
        &mut self,
        shared: &Shared,
        sort: u64,
        mine: *const u8,
        bytes: usize,
    ) -> Result<[*const u8; 2]> {
        let word = shared.enter(sort)?;
        let number = Shared::next(&shared.smalls);
        let (pair, other) = (&shared.of(CommRank::FIRST).pair, shared.rank.other());
        // SAFETY: only this rank fills its half, once a number; it takes `PAIR_BYTES`, and `mine` is readable
        // for `bytes` (this function's contract).
        unsafe {
            pair.tell(shared.rank.0, number, word, |half| few(mine, half.cast(), bytes.min(PAIR_BYTES)));
        }
        self.await_told(shared, other, || pair.word(other.0, number) == word)?;
        // SAFETY: the other's half has this operation's word, and this rank is in it until it begins the next.
        Ok([0, 1].map(|rank| unsafe { pair.read(rank, number, |half| half.cast()) }))
    }

    /// Alltoall of two ranks with blocks of one to [`PAIR_BYTES`] bytes for each: the short way to [`Engine::alltoall_pair_of_rows`]. `None` if it
    /// is not that, and nothing has happened. Errors: those of the exchange.
    ///
    /// # Safety
    /// `send` must be readable and `receive` writable for two parts of as many items of their datatypes; they do not overlap.
    #[inline(always)]
    pub(super) unsafe fn alltoall_pair(
        &mut self,
        communicator: &Communicator,
        (send, sent, send_type): (*const u8, i64, u64),
        (receive, received, receive_type): (*mut u8, i64, u64),
    ) -> Option<Result<()>> {
        let shared = &communicator.shared;
        let bytes = block_bytes(sent, send_type)?;
        if shared.size() != 2 || bytes > PAIR_BYTES || block_bytes(received, receive_type) != Some(bytes) {
            return None;
        }
        // A wrong buffer is for the long way.
        if self
            .check_buffer(send, sent, send_type)
            .and(self.check_buffer(receive, received, receive_type))
            .is_err()
        {
            return None;
        }
        let (own, other) = own_and_other(shared);
        // SAFETY: two ranks, and blocks without gaps of `bytes`, at most `PAIR_BYTES` (checked above). `send`
        // is readable and `receive` writable for two of them (this function's contract).
        Some(unsafe {
            let sort = sort(Kind::AlltoallRow, NO_ROOT, bytes);
            let halves = self.exchange_pair(shared, sort, send.wrapping_add(other * bytes), bytes);
            halves.map(|halves| {
                few(halves[other], receive.wrapping_add(other * bytes), bytes);
                few(send.wrapping_add(own * bytes), receive.wrapping_add(own * bytes), bytes);
            })
        })
    }

    /// Alltoall of two ranks with parts of at most [`PAIR_BYTES`] bytes, of any datatypes: the other rank may use the short way. Errors: those of
    /// the exchange.
    ///
    /// # Safety
    /// As for [`Engine::collective`]; two ranks, and as many bytes in a part of either row.
    pub(super) unsafe fn alltoall_pair_of_rows(
        &mut self,
        shared: &Shared,
        from: &EqualParts,
        to: &EqualParts,
    ) -> Result<()> {
        let (own, other) = own_and_other(shared);
        let bytes = from.each();
        let mut mine = [0u8; PAIR_BYTES];
        // SAFETY: two ranks; the rows' parts are readable and writable (this function's contract).
        // `copy_whole` checks that `mine` takes the bytes.
        unsafe {
            copy_whole(&from.part(CommRank::at(other)), &Region::block(mine.as_mut_ptr(), PAIR_BYTES))?;
            let halves =
                self.exchange_pair(shared, sort(Kind::AlltoallRow, NO_ROOT, bytes), mine.as_ptr(), bytes)?;
            copy_whole(&Region::block(halves[other], bytes), &to.part(CommRank::at(other)))?;
            copy_whole(&from.part(CommRank::at(own)), &to.part(CommRank::at(own)))
        }
    }
}

/// The two ranks, this one first.
#[inline(always)]
fn own_and_other(shared: &Shared) -> (usize, usize) {
    let own = shared.rank.index() & 1;
    (own, own ^ 1)
}
