//! Buffered sends (MPI-5.0, section 3.6): the message is copied into a buffer that the program has attached, and sent from there.
//!
//! Buffers belong to the process, to a session or to one communicator: a message goes through its communicator's, else through that of the
//! session which the communicator comes from, else through the process's. Messages take space in order of
//! sending; space comes back when the oldest messages are gone. An automatic buffer is the library's: each message has memory of
//! its own.

use crate::abi::BUFFER_AUTOMATIC;
use crate::buffer::check_bytes;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::request::{Keeps, Mode, Operation, Owner, Request, SendOperation, State};
use crate::session;
use alloc::collections::VecDeque;
use lwk_path::region::{Region, copy_regions};
use lwk_user::wait::Poll;

/// What a message needs beside its content: MPI-5.0's `MPI_BSEND_OVERHEAD` allows 512, this takes alignment only.
const ALIGN: usize = 64;

/// An attached buffer: a ring of messages.
pub(crate) struct Attached {
    owner: Owner,
    address: *mut u8,
    bytes: usize,
    /// Messages that are not gone yet, in order.
    messages: VecDeque<Message>,
    /// Messages sent from it so far.
    sent: u64,
}

struct Message {
    /// How many messages were sent before.
    number: u64,
    request: Handle,
    /// First byte, and bytes.
    start: usize,
    bytes: usize,
}

impl Attached {
    fn new(owner: Owner, address: *mut u8, bytes: usize) -> Attached {
        Attached { owner, address, bytes, messages: VecDeque::new(), sent: 0 }
    }

    fn is_automatic(&self) -> bool {
        self.address.addr() == BUFFER_AUTOMATIC
    }

    /// Where a message of `bytes` bytes finds room.
    fn room(&self, bytes: usize) -> Option<usize> {
        let needed = bytes.checked_next_multiple_of(ALIGN)?;
        let (Some(oldest), Some(newest)) = (self.messages.front(), self.messages.back()) else {
            return (needed <= self.bytes).then_some(0);
        };
        let (begin, end) = (oldest.start, newest.start + newest.bytes);
        if begin < end {
            // In use: one stretch. Room is behind it, or before it.
            if self.bytes - end >= needed { Some(end) } else { (needed <= begin).then_some(0) }
        } else {
            (begin - end >= needed).then_some(end)
        }
    }

    fn add(&mut self, request: Handle, start: usize, bytes: usize) {
        self.messages.push_back(Message { number: self.sent, request, start, bytes });
        self.sent += 1;
    }
}

impl Engine {
    fn attached(&self, owner: Owner) -> Option<usize> {
        self.attached.iter().position(|it| it.owner == owner)
    }

    /// Gives the runtime a buffer for buffered sends, or leave to take memory of its own if the address is
    /// [`BUFFER_AUTOMATIC`]. Errors: `BUFFER` if the owner has one already or there is none at the address, `ARG` for a negative size, `COMM`, `SESSION`.
    ///
    /// # Safety
    /// The buffer must be writable, and nobody but the runtime may use it, until it is detached.
    pub unsafe fn attach(&mut self, owner: Owner, address: *mut u8, bytes: i64) -> Result<()> {
        match owner {
            Owner::Process => {}
            Owner::Communicator(communicator) => self.communicator(communicator).map(|_| ())?,
            Owner::Session(session) if session::exists(session) => {}
            Owner::Session(_) => return Err(Error::SESSION),
        }
        if self.attached(owner).is_some() {
            return Err(Error::BUFFER);
        }
        let bytes = usize::try_from(bytes).map_err(|_| Error::ARG)?;
        if address.addr() != BUFFER_AUTOMATIC {
            check_bytes(address, bytes)?;
        }
        self.attached.push(Attached::new(owner, address, bytes));
        Ok(())
    }

    /// The size of a buffer in bytes; an automatic one has none. Errors: `BUFFER` if there is none.
    pub fn attached_bytes(&self, owner: Owner) -> Result<usize> {
        let attached = &self.attached[self.attached(owner).ok_or(Error::BUFFER)?];
        Ok(if attached.is_automatic() { 0 } else { attached.bytes })
    }

    /// Waits until all messages of a buffer are gone and gives it back, with its size. Errors: `BUFFER` if there is none.
    pub fn detach(&mut self, owner: Owner) -> Result<(*mut u8, usize)> {
        self.flush(owner)?;
        let bytes = self.attached_bytes(owner)?;
        let place = self.attached(owner).ok_or(Error::BUFFER)?;
        Ok((self.attached.swap_remove(place).address, bytes))
    }

    /// Waits until all messages of a buffer are gone. Errors: `BUFFER` if there is none.
    pub fn flush(&mut self, owner: Owner) -> Result<()> {
        let mut poll = Poll::new();
        loop {
            let place = self.attached(owner).ok_or(Error::BUFFER)?;
            self.reclaim(place);
            if self.attached[place].messages.is_empty() {
                return Ok(());
            }
            self.progress();
            poll.pause();
        }
    }

    /// Gives a buffer back whose owner ends, if it has one.
    pub(crate) fn drop_buffer(&mut self, owner: Owner) -> Result<()> {
        if self.attached(owner).is_some() { self.detach(owner).map(|_| ()) } else { Ok(()) }
    }

    /// The buffer for a message of a communicator.
    fn attached_for(&self, communicator: Handle) -> Option<usize> {
        let session = self.communicator(communicator).ok().and_then(|it| it.session);
        let owners =
            [Some(Owner::Communicator(communicator)), session.map(Owner::Session), Some(Owner::Process)];
        owners.into_iter().flatten().find_map(|owner| self.attached(owner))
    }

    /// A request that is complete when all messages that are in a buffer now are gone. Errors: `BUFFER` if there is none.
    pub fn iflush(&mut self, owner: Owner) -> Result<Handle> {
        let place = self.attached(owner).ok_or(Error::BUFFER)?;
        let operation = Operation::Flush { owner, until: self.attached[place].sent };
        Ok(self.requests.insert(Request { state: State::Compound, ..Request::new(operation) }))
    }

    /// Whether the messages before number `until` are gone; those of a buffer that is detached are.
    pub(crate) fn is_flushed(&self, owner: Owner, until: u64) -> bool {
        let Some(place) = self.attached(owner) else { return true };
        let mut messages = self.attached[place].messages.iter().take_while(|it| it.number < until);
        messages.all(|it| self.is_gone(it.request))
    }

    fn is_gone(&self, request: Handle) -> bool {
        self.requests.get(request).is_none_or(Request::is_complete)
    }

    /// Copies a message and sends it from the copy; complete when this returns. The request of the message, unless that is gone. Errors: `BUFFER` if there
    /// is no room.
    pub(crate) fn send_buffered(&mut self, send: &SendOperation) -> Result<Option<Handle>> {
        let place = self.attached_for(send.communicator).ok_or(Error::BUFFER)?;
        self.reclaim(place);
        let attached = &mut self.attached[place];
        if attached.is_automatic() {
            // SAFETY: the send's content is readable until its call returns (contract of `Engine::send` and
            // its kin), and this copies it now.
            let request = unsafe { self.send_copy(send)? };
            self.attached[place].add(request, 0, 0);
            self.reclaim(place);
            return Ok(self.requests.get(request).map(|_| request));
        }
        let start = attached.room(send.source.bytes()).ok_or(Error::BUFFER)?;
        let source = Region::block(attached.address.wrapping_add(start), send.source.bytes());
        // SAFETY: the attached buffer is the runtime's until detached (`Engine::attach`), and `room` found
        // this stretch free. The send's content is readable until its call returns (contract of
        // `Engine::send`).
        unsafe { copy_regions(&send.source, &source)? };
        let copied = SendOperation { source, mode: Mode::Standard, ..*send };
        // SAFETY: nothing else is put where the copy is before its request is gone (`Engine::reclaim`).
        let request = unsafe { self.send_checked(copied, Keeps::Nothing) };
        self.attached[place].add(request, start, source.bytes().next_multiple_of(ALIGN));
        self.reclaim(place);
        Ok(self.requests.get(request).map(|_| request))
    }

    /// Frees the space of the oldest messages that are gone.
    fn reclaim(&mut self, place: usize) {
        while let Some(oldest) = self.attached[place].messages.front().map(|it| it.request) {
            if !self.is_gone(oldest) {
                return;
            }
            self.attached[place].messages.pop_front();
            self.requests.remove(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_behind_the_newest_or_before_the_oldest() {
        let mut attached = Attached::new(Owner::Process, core::ptr::null_mut(), 256);
        let handle = Handle(0);
        assert_eq!((attached.room(256), attached.room(257)), (Some(0), None));
        attached.add(handle, 0, 64);
        attached.add(handle, 64, 128);
        assert_eq!((attached.room(64), attached.room(65)), (Some(192), None));
        attached.messages.pop_front();
        attached.add(handle, 192, 64);
        assert_eq!((attached.room(64), attached.room(65)), (Some(0), None));
        attached.add(handle, 0, 64);
        assert_eq!(attached.room(1), None);
        attached.messages.pop_front();
        assert_eq!((attached.room(128), attached.room(129)), (Some(64), None));
    }
}
