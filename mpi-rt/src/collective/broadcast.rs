//! Broadcast: the root posts its buffer, the others copy from it.

use super::Shared;
use crate::copy::copy;
use crate::datatype;
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;

impl Engine {
    /// Copies the root's buffer to all ranks. Errors: `COMM`, `COUNT`, `TYPE`, `ROOT`.
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
        let bytes = datatype::extent(count, datatype::predefined(datatype)?)?;
        let root = communicator.root(root)?;
        let shared = &communicator.shared;
        if shared.size() == 1 {
            return Ok(());
        }
        let number = Shared::next(&shared.posts);
        if shared.rank == root {
            shared.mine().post.publish(number, address, address);
        } else {
            let post = &shared.of(root).post;
            self.wait_until(|| post.has(number));
            // SAFETY: the root has posted its buffer and leaves it alone until the barrier; the callers vouch for both.
            unsafe { copy(shared.send_buffer(root), address, bytes) };
            // The others' own number keeps in step with the root's.
            shared.mine().post.publish(number, address, address);
        }
        self.barrier(&communicator)
    }
}
