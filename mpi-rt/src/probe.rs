//! Looking at messages before they are received (MPI-5.0, section 3.8), and taking one out for its own receive.

use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::receive::pattern;
use crate::status::Status;
use crate::waiting::Message;
use alloc::rc::Rc;
use lwk_matching::{Key, Pattern};
use lwk_path::region::Region;
use lwk_user::wait::Poll;

/// A message that has been taken out of the queues ([`Engine::improbe`]) and waits for its own receive.
pub(crate) struct Taken {
    pub key: Key,
    pub message: Message,
    pub communicator: Rc<Communicator>,
}

/// What a matched probe found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matched {
    /// The source was the null process.
    NoProcess,
    /// The message's handle, for one receive, and what it says.
    Message(Handle, Status),
}

impl Engine {
    /// What the oldest matching message says, if one has arrived. Errors: `COMM`, `TAG`, `RANK`.
    pub fn iprobe(&mut self, source: i32, tag: i32, communicator: Handle) -> Result<Option<Status>> {
        let communicator = self.communicator(communicator)?.clone();
        let Some(pattern) = pattern(&communicator, source, tag)? else { return Ok(Some(Status::PROC_NULL)) };
        Ok(self.look(&pattern, &communicator))
    }

    /// The same for arguments that have been looked up: progress may call an operation of the program's that frees the communicator.
    fn look(&mut self, pattern: &Pattern, communicator: &Communicator) -> Option<Status> {
        self.look_for(pattern);
        while let Some((key, message)) = self.waiting.unexpected.find(pattern) {
            // SAFETY: the message is held, from that peer.
            if !unsafe { self.paths.is_there(key.source, &message.content, false) } {
                self.drop_cancelled(pattern);
                continue;
            }
            let (source, bytes) = (communicator.rank_of(key.source), message.bytes as u64);
            return Some(Status { source, tag: key.tag, bytes, ..Status::EMPTY });
        }
        None
    }

    /// Takes out the oldest message of a pattern, which has been cancelled, and lets its sender know.
    #[cold]
    fn drop_cancelled(&mut self, pattern: &Pattern) {
        let Some((key, message)) = self.waiting.take(pattern) else { return };
        let nowhere = Region::block(core::ptr::null(), 0);
        // SAFETY: the message was held, from that peer; no bytes need no memory. What comes of it is known: nothing.
        let _ = unsafe { self.paths.deliver_held(key.source, message.content, &nowhere) };
    }

    /// Waits until a matching message has arrived. Errors: as for [`Engine::iprobe`].
    pub fn probe(&mut self, source: i32, tag: i32, communicator: Handle) -> Result<Status> {
        let communicator = self.communicator(communicator)?.clone();
        let Some(pattern) = pattern(&communicator, source, tag)? else { return Ok(Status::PROC_NULL) };
        let mut poll = Poll::new();
        loop {
            if let Some(status) = self.look(&pattern, &communicator) {
                return Ok(status);
            }
            poll.pause();
        }
    }

    /// Takes the oldest matching message out of the queues, if one has arrived. Errors: as for [`Engine::iprobe`].
    pub fn improbe(&mut self, source: i32, tag: i32, communicator: Handle) -> Result<Option<Matched>> {
        let communicator = self.communicator(communicator)?.clone();
        let Some(pattern) = pattern(&communicator, source, tag)? else { return Ok(Some(Matched::NoProcess)) };
        self.take_out(&pattern, &communicator)
    }

    fn take_out(&mut self, pattern: &Pattern, communicator: &Rc<Communicator>) -> Result<Option<Matched>> {
        while let Some(status) = self.look(pattern, communicator) {
            let (key, message) = self.waiting.unexpected.find(pattern).ok_or(Error::INTERN)?;
            // SAFETY: the message is held, from that peer. (If it has been cancelled meanwhile, the next look drops it.)
            if unsafe { self.paths.is_there(key.source, &message.content, true) } {
                let (key, message) = self.waiting.take(pattern).ok_or(Error::INTERN)?;
                let handle = self.taken.insert(Taken { key, message, communicator: communicator.clone() });
                return Ok(Some(Matched::Message(handle, status)));
            }
        }
        Ok(None)
    }

    /// Waits for a matching message and takes it out. Errors: as for [`Engine::iprobe`].
    pub fn mprobe(&mut self, source: i32, tag: i32, communicator: Handle) -> Result<Matched> {
        let communicator = self.communicator(communicator)?.clone();
        let Some(pattern) = pattern(&communicator, source, tag)? else { return Ok(Matched::NoProcess) };
        let mut poll = Poll::new();
        loop {
            if let Some(matched) = self.take_out(&pattern, &communicator)? {
                return Ok(matched);
            }
            poll.pause();
        }
    }

    /// Takes in messages as a receive of that pattern would: the peers it names may fill the queue.
    fn look_for(&mut self, pattern: &Pattern) {
        self.waiting.count(pattern.source, true);
        self.progress();
        self.waiting.count(pattern.source, false);
    }
}
