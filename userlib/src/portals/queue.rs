//! Event queues.

use core::sync::atomic::Ordering;

use lwk_abi::portals::{Event, QUEUE_DROPPED, QUEUE_EVENTS, QUEUE_TAKEN};
use lwk_abi::syscall::portals as call;

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
        let at = QUEUE_EVENTS + self.taken % self.size * size_of::<Event>() as u64;
        // Acquire: pairs with the kernel's release, which follows the rest of the event.
        if memory.word(at).load(Ordering::Acquire) != self.taken + 1 {
            return None;
        }
        // SAFETY: the event is within the memory, any bytes are one, and the kernel does not write there before it is taken.
        let event = unsafe { memory.start.as_ptr().add(at as usize).cast::<Event>().read_volatile() };
        self.taken += 1;
        // Release: the kernel must not write here before the event has been read.
        memory.word(QUEUE_TAKEN).store(self.taken, Ordering::Release);
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
        // Relaxed: a count.
        self.memory.as_ref().map_or(0, |memory| memory.word(QUEUE_DROPPED).load(Ordering::Relaxed))
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        give_back(call::QUEUE_FREE, self.handle, &mut self.memory);
    }
}
