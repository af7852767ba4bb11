//! Event queues.

use lwk_abi::portals::Event;
use lwk_abi::syscall::portals as call;
use lwk_words::events;

use super::memory::{Memory, give_back};
use crate::wait::spin_until;

/// An event queue.
#[derive(Debug)]
pub struct Queue {
    pub(super) handle: u32,
    /// Gone only while it is dropped.
    pub(super) memory: Option<Memory>,
    pub(super) size: u64,
    pub(super) taken: u64,
}

impl Queue {
    /// Its handle, for descriptors.
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// The next event, if it is there (`PtlEQGet`). No system call.
    pub fn get(&mut self) -> Option<Event> {
        let memory = self.memory.as_ref()?;
        // SAFETY: a ring of that size, which the kernel has been given as it was made; it is borrowed exclusively.
        let event = unsafe { events::take(memory.start(), self.size, self.taken) }?;
        self.taken += 1;
        Some(event)
    }

    /// Waits for the next event (`PtlEQWait`).
    pub fn wait(&mut self) -> Event {
        let mut event = None;
        spin_until(|| {
            event = self.get();
            event.is_some()
        });
        event.unwrap_or_default()
    }

    /// Events that were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        // SAFETY: a ring, as in `get`.
        self.memory.as_ref().map_or(0, |memory| unsafe { events::dropped_of(memory.start()) })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        give_back(call::QUEUE_FREE, self.handle, &mut self.memory);
    }
}
