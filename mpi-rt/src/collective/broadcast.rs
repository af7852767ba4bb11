//! Broadcast: a small buffer goes into a line of the root's, or several; of a larger one the root posts where it is, and the others copy from it.

use super::algorithm::Broadcast;
use super::equal_parts::EqualParts;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;
use lwk_copy::threshold::HALVES_FROM;
use lwk_mpi_area::{Kind, LONG_BYTES, check, copy_whole, sort};
use lwk_path::region::{Region, copy_part};
use lwk_place::CommRank;

/// Bytes of the receiver's half: whole lines.
fn first_half(bytes: usize) -> usize {
    bytes / 2 / 64 * 64
}

impl Engine {
    /// Copies the root's buffer to all ranks. Errors: `COMM`, `COUNT`, `TYPE`, `BUFFER`, `ROOT`, and `TRUNCATE` if the root's is seen to be longer.
    ///
    /// # Safety
    /// The buffer must be readable in the root and writable in the others, for the same number of bytes.
    pub unsafe fn broadcast(
        &mut self,
        address: *mut u8,
        count: i64,
        datatype: u64,
        root: i32,
        communicator: Handle,
    ) -> Result<()> {
        let communicator = self.communicators.intracommunicator(communicator)?.clone();
        // SAFETY: the buffer is readable in the root and writable in the others, for `count` items (this
        // function's contract).
        unsafe { self.broadcast_on(&communicator, address, count, datatype, root) }
    }

    /// The same on an intracommunicator.
    ///
    /// # Safety
    /// As for [`Engine::broadcast`].
    #[inline]
    pub(super) unsafe fn broadcast_on(
        &mut self,
        communicator: &Communicator,
        address: *mut u8,
        count: i64,
        datatype: u64,
        root: i32,
    ) -> Result<()> {
        let region = self.region(address, count, datatype)?;
        self.check_buffer(address, count, datatype)?;
        let root = communicator.root(root)?;
        if communicator.size() == 1 {
            return Ok(());
        }
        // SAFETY: `region` is readable in the root and writable in the others (this function's contract); for
        // a line it has at most `LONG_BYTES`.
        unsafe {
            let (bytes, pair) = (region.bytes(), communicator.size() == 2);
            let form = match self.algorithms.broadcast {
                Some(Broadcast::Line) if bytes > LONG_BYTES => None,
                Some(Broadcast::Halves) if !pair => None,
                form => form,
            };
            match form {
                Some(Broadcast::Paper) => self.broadcast_paper(communicator, &region, root),
                Some(Broadcast::Line) => self.broadcast_line(communicator, &region, root),
                Some(Broadcast::Pull) => self.broadcast_pull(communicator, &region, root, false),
                Some(Broadcast::Halves) => self.broadcast_pull(communicator, &region, root, true),
                None if bytes <= LONG_BYTES => self.broadcast_line(communicator, &region, root),
                None => {
                    let halves = pair && bytes >= HALVES_FROM;
                    self.broadcast_pull(communicator, &region, root, halves)
                }
            }
        }
    }

    /// # Safety
    /// As for [`Engine::broadcast`]; at most [`LONG_BYTES`] bytes.
    #[inline]
    unsafe fn broadcast_line(
        &mut self,
        communicator: &Communicator,
        region: &Region,
        root: CommRank,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let it = shared.enter_oneway(sort(Kind::BroadcastRow, root, region.bytes()), region.bytes())?;
        // SAFETY: `region` is readable in the root and writable in the others (this function's contract); the root's lines hold the content until
        // `end_oneway`, which is no description, since it fits.
        let outcome = unsafe {
            if shared.rank == root {
                self.give(shared, it, root, region)
            } else {
                self.await_given(shared, root, root, it).and_then(|given| given.copy_to(region))
            }
        };
        shared.end_oneway(it);
        outcome
    }

    /// # Safety
    /// As for [`Engine::broadcast`].
    unsafe fn broadcast_pull(
        &mut self,
        communicator: &Communicator,
        region: &Region,
        root: CommRank,
        halves: bool,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let check = check(Kind::BroadcastRow, root, 0);
        let number = self.open(shared, check, &EqualParts::same(*region).words())?;
        let mut outcome = Ok(());
        if shared.rank != root {
            outcome = self.await_post(shared, root, number, check).and_then(|()| {
                let source = shared.posted_part(root, number, CommRank::FIRST)?;
                if halves && source.bytes() == region.bytes() {
                    // SAFETY: the root's posted buffer is readable until all have finished; `region` is
                    // writable (each rank's contract). The root writes the other half.
                    let copied = unsafe { copy_part(&source, 0, region, 0, first_half(region.bytes())) };
                    return Ok(copied?);
                }
                // SAFETY: the root's posted buffer is readable until all have finished; `region` is writable
                // (each rank's contract).
                unsafe { copy_whole(&source, region) }
            });
        } else if halves {
            let other = root.other();
            outcome = self.await_post(shared, other, number, check).and_then(|()| {
                let target = shared.posted_part(other, number, CommRank::FIRST)?;
                if target.bytes() != region.bytes() {
                    // The receiver sees it, too, and tells.
                    return Ok(());
                }
                let half = first_half(region.bytes());
                // SAFETY: the receiver's posted buffer is writable until all have finished; `region` is
                // readable (each rank's contract). The receiver writes the other half.
                Ok(unsafe { copy_part(region, half, &target, half, region.bytes() - half) }?)
            });
        }
        if halves {
            // The receiver's other half comes from the root.
            self.close(shared, number, outcome)
        } else {
            self.end_rooted(shared, root, number, outcome)
        }
    }
}
