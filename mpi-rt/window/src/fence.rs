//! Fence: active target synchronisation of all ranks (MPI-5.0, section 12.5.1). It is a barrier.

use crate::Windows;
use crate::epoch::{Access, Fence};
use lwk_mpi_core::abi::mode;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;

impl Windows {
    /// Ends the epoch of the fence before, and begins one. All ranks of the window must call it. Errors: `WIN`; `ASSERT` for assertions
    /// that fences do not have; `RMA_SYNC` in an epoch of another sort.
    pub fn win_fence(&mut self, assertions: i32, window: Handle) -> Result<()> {
        let it = self.window_mut(window)?;
        let known = mode::NOSTORE | mode::NOPUT | mode::NOPRECEDE | mode::NOSUCCEED;
        if assertions & !known != 0 {
            return Err(Error::ASSERT);
        }
        if it.epochs.access != Access::Not || it.epochs.exposed {
            return Err(Error::RMA_SYNC);
        }
        it.epochs.everyone = false;
        it.epochs.fence = if assertions & mode::NOSUCCEED != 0 { Fence::Not } else { Fence::Fenced };
        it.hear_of_bulk();
        let communicator = it.communicator.clone();
        let heard = if self.known().unheard > 0 { self.hear_all(window) } else { Ok(()) };
        let heard = self.complete_far().and(heard);
        // Even if nothing precedes: a target's own loads and stores before the fence must come before others' puts after it.
        self.barrier(&communicator).and(heard)
    }
}
