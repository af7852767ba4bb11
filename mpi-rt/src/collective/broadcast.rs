//! Broadcast: a small buffer goes into a line of the root's; of a larger one the root posts where it is, and the others copy from it.

use super::area::SMALL_BYTES;
use super::channel::{Kind, check};
use super::rows::{Row, copy_whole};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;
use crate::region::Region;

impl Engine {
    /// Copies the root's buffer to all ranks. Errors: `COMM`, `COUNT`, `TYPE`, `ROOT`, and `TRUNCATE` if the root's is seen to be longer.
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
        let communicator = self.intracommunicator(communicator)?.clone();
        let region = self.region(address, count, datatype)?;
        let root = communicator.root(root)?;
        if communicator.size() == 1 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe {
            if region.bytes() <= SMALL_BYTES {
                self.broadcast_line(&communicator, &region, root)
            } else {
                self.broadcast_pull(&communicator, &region, root)
            }
        }
    }

    /// # Safety
    /// As for [`Engine::broadcast`]; at most [`SMALL_BYTES`] bytes.
    unsafe fn broadcast_line(
        &mut self,
        communicator: &Communicator,
        region: &Region,
        root: u32,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let number = shared.call_oneway();
        let outcome = if shared.rank == root {
            let mut content = [0u64; SMALL_BYTES / 8];
            let content = content.as_mut_ptr().cast::<u8>();
            // SAFETY: the region's bytes fit the line; the caller vouches for the buffer.
            unsafe {
                let source = match region.contiguous() {
                    Some(source) => source,
                    None => {
                        copy_whole(region, &Region::block(content, SMALL_BYTES))?;
                        content
                    }
                };
                self.give(shared, number, source, region.bytes());
            }
            Ok(())
        } else {
            self.wait_until(|| shared.is_given(root, number));
            let source = Region::block(shared.given(root, number), region.bytes());
            // SAFETY: the line is the root's and holds the content until this rank has taken it.
            unsafe { copy_whole(&source, region) }
        };
        shared.take(number);
        outcome
    }

    /// # Safety
    /// As for [`Engine::broadcast`].
    unsafe fn broadcast_pull(
        &mut self,
        communicator: &Communicator,
        region: &Region,
        root: u32,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let check = check(Kind::BroadcastRow, root, 0);
        let number = self.open(shared, check, &Row::same(*region).words());
        let mut outcome = Ok(());
        if shared.rank != root {
            outcome = self.await_post(shared, root, number, check).and_then(|()| {
                let source = shared.posted_part(root, number, 0)?;
                // SAFETY: the root has posted its buffer and keeps it until all have finished; the callers vouch for both.
                unsafe { copy_whole(&source, region) }
            });
        }
        self.end_rooted(shared, root, number);
        outcome
    }
}
