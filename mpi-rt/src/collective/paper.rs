//! Barrier, broadcast, reduce, allreduce and alltoall as the SMARTMAP paper has them (section IV.C): one structure in each rank, with
//! counter, context, address, turn and finished.
//!
//! The root initialises its structure and publishes counter and context; the others wait for these to be theirs, use the root's
//! buffer, and count themselves finished. Two things differ from the paper. Who waits for the others in a barrier also leaves when the root
//! has begun something else, since the root may have left and used the structure again before a slow rank has seen the last count. And each
//! communicator has structures of its own: contexts are given out again, and with them counters begin again, so in a structure for all of
//! them a rank could take an operation of a communicator that is gone for its own, and its count would be lost.

use super::equal_parts::EqualParts;
use super::fold::Reduction;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use lwk_mpi_area::{Shared, copy_whole};
use lwk_path::region::Region;
use lwk_path::seen_from_here;
use lwk_place::{CommRank, Ranks};
use lwk_ring::Turns;
use lwk_user::smartmap::Peer;

/// One operation as a rank sees it.
struct Paper {
    root: &'static Turns,
    operation: u64,
    peer: Peer,
    is_root: bool,
    size: u64,
}

impl Engine {
    /// Enters an operation: the root publishes it with an address, the others wait for that. Errors: `INTERN`.
    fn paper(&mut self, communicator: &Communicator, root: CommRank, address: u64) -> Result<Paper> {
        let shared = &communicator.shared;
        let counter = Shared::next(&shared.papers);
        let operation = counter << 32 | communicator.context as u64;
        let peer = shared.peer(root).ok_or(Error::INTERN)?;
        let structure = &shared.of(root).paper;
        let is_root = shared.rank == root;
        if is_root {
            structure.publish(operation, address);
        } else {
            self.wait_until(|| structure.is_in(operation));
        }
        Ok(Paper { root: structure, operation, peer, is_root, size: shared.size() as u64 })
    }

    /// Leaves an operation: the root when all have finished.
    fn leave_paper(&mut self, paper: &Paper) {
        if paper.is_root {
            self.wait_until(|| paper.root.have_finished(paper.size));
        } else {
            // Ends this rank's use of the root's buffer.
            paper.root.finish();
        }
    }

    /// Errors: `INTERN`.
    pub(super) fn barrier_paper(&mut self, communicator: &Communicator) -> Result<()> {
        let paper = self.paper(communicator, CommRank::FIRST, 0)?;
        if !paper.is_root {
            // What was stored before the barrier is seen by all that leave it: additions to one word pass on what those before them carry.
            paper.root.finish();
        }
        self.wait_until(|| paper.root.have_finished(paper.size) || !paper.root.is_in(paper.operation));
        Ok(())
    }

    /// The rest of an operation in which all but the root copy what the root's row has for them. Errors: `TRUNCATE`, `INTERN`.
    ///
    /// # Safety
    /// In the root `row` must be readable, in the others `mine` writable, until this returns; they do not
    /// overlap.
    unsafe fn copy_from_root(
        &mut self,
        communicator: &Communicator,
        root: CommRank,
        row: &EqualParts,
        mine: &Region,
    ) -> Result<()> {
        let words = row.words();
        let paper = self.paper(communicator, root, words.as_ptr().expose_provenance() as u64)?;
        let mut outcome = Ok(());
        if !paper.is_root {
            let address = paper.root.address() as usize;
            // SAFETY: the root's words stay until all have finished. Its row is readable and `mine` writable
            // (each rank's contract).
            outcome = unsafe {
                let words = seen_from_here::<[u64; 6]>(paper.peer, address).read();
                let theirs = EqualParts::posted(paper.peer, words, communicator.shared.rank);
                copy_whole(&theirs, mine)
            };
        }
        self.leave_paper(&paper);
        outcome
    }

    /// Errors: as for [`Engine::broadcast`].
    ///
    /// # Safety
    /// As for [`Engine::broadcast`].
    pub(super) unsafe fn broadcast_paper(
        &mut self,
        communicator: &Communicator,
        region: &Region,
        root: CommRank,
    ) -> Result<()> {
        // SAFETY: `region` is readable in the root and writable in the others (this function's contract).
        unsafe { self.copy_from_root(communicator, root, &EqualParts::same(*region), region) }
    }

    /// A broadcast from each rank in turn. Errors: as for the other forms of alltoall.
    ///
    /// # Safety
    /// All parts of `from` must be readable and those of `to` writable until this returns; the rows do not
    /// overlap.
    pub(super) unsafe fn alltoall_paper(
        &mut self,
        communicator: &Communicator,
        from: &EqualParts,
        to: &EqualParts,
    ) -> Result<()> {
        let rank = communicator.shared.rank;
        let mut outcome = Ok(());
        for root in Ranks::all(communicator.size()) {
            // SAFETY: all parts of `from` are readable and those of `to` writable, without overlap (this
            // function's contract).
            unsafe {
                if root == rank {
                    outcome = copy_whole(&from.part(rank), &to.part(rank)).and(outcome);
                }
                outcome = self.copy_from_root(communicator, root, from, &to.part(root)).and(outcome);
            }
        }
        outcome
    }

    /// The operation must commute. Errors: as for [`Engine::reduce`].
    ///
    /// # Safety
    /// As for [`Engine::reduce`]; `send` is the contribution.
    pub(super) unsafe fn reduce_paper(
        &mut self,
        communicator: &Communicator,
        reduction: &Reduction,
        send: *const u8,
        receive: *mut u8,
        root: CommRank,
    ) -> Result<()> {
        let shared = &communicator.shared;
        if shared.rank == root && send != receive.cast_const() {
            // SAFETY: not in place, so `send` and `receive` hold `count` items each and do not overlap (this
            // function's contract).
            unsafe { reduction.items.copy(send, receive, reduction.count)? };
        }
        let paper = self.paper(communicator, root, receive.expose_provenance() as u64)?;
        // The results of the ranks before are in the buffer.
        self.wait_until(|| paper.root.is_turn_of(shared.rank.0 as u64));
        if !paper.is_root {
            let address = paper.root.address() as usize;
            let target = seen_from_here::<u8>(paper.peer, address);
            // SAFETY: `turn` makes this rank the only user of the root's buffer, which is writable until all
            // have finished; `send` is readable (each rank's contract).
            unsafe { reduction.operation.apply(self, send, target, reduction.count) };
        }
        paper.root.pass_turn();
        self.leave_paper(&paper);
        Ok(())
    }

    /// Reduce to the first rank, and broadcast. The operation must commute. Errors: as for [`Engine::allreduce`].
    ///
    /// # Safety
    /// As for [`Engine::allreduce`]; `send` is the contribution.
    pub(super) unsafe fn allreduce_paper(
        &mut self,
        communicator: &Communicator,
        reduction: &Reduction,
        send: *const u8,
        receive: *mut u8,
    ) -> Result<()> {
        let region = self.region(receive, reduction.count as i64, reduction.operation.datatype)?;
        // SAFETY: `send` is readable and `receive` writable for `count` items; they are one or apart (this
        // function's contract).
        unsafe {
            self.reduce_paper(communicator, reduction, send, receive, CommRank::FIRST)?;
            self.broadcast_paper(communicator, &region, CommRank::FIRST)
        }
    }
}
