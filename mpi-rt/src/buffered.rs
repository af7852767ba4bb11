//! Buffered sends (MPI-4.1, section 3.6): the message is copied into a buffer that the program has attached, and sent from there.
//!
//! A message that the transport takes at once never uses the buffer. Others take space from it in order of sending; space
//! comes back when the oldest messages are gone.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::region::{Region, copy_regions};
use crate::request::{Mode, Operation, Request, SendOperation};
use alloc::collections::VecDeque;
use lwk_user::wait::Poll;

/// What a message needs beside its content: MPI-5.0's `MPI_BSEND_OVERHEAD` allows 512, this takes alignment only.
const ALIGN: usize = 64;

/// The attached buffer: a ring of messages.
pub(crate) struct Attached {
    address: *mut u8,
    bytes: usize,
    /// Messages that are not gone yet: request, first byte, bytes.
    messages: VecDeque<(Handle, usize, usize)>,
}

impl Attached {
    /// Where a message of `bytes` bytes finds room.
    fn room(&self, bytes: usize) -> Option<usize> {
        let needed = bytes.checked_next_multiple_of(ALIGN)?;
        let (Some(oldest), Some(newest)) = (self.messages.front(), self.messages.back()) else {
            return (needed <= self.bytes).then_some(0);
        };
        let (begin, end) = (oldest.1, newest.1 + newest.2);
        if begin < end {
            // In use: one stretch. Room is behind it, or before it.
            if self.bytes - end >= needed { Some(end) } else { (needed <= begin).then_some(0) }
        } else {
            (begin - end >= needed).then_some(end)
        }
    }
}

impl Engine {
    /// Gives the runtime a buffer for buffered sends. Errors: `BUFFER` if there is one already, `ARG` for a negative size.
    ///
    /// # Safety
    /// The buffer is the runtime's until it is detached.
    pub unsafe fn attach(&mut self, address: *mut u8, bytes: i64) -> Result<()> {
        if self.attached.is_some() {
            return Err(Error::BUFFER);
        }
        let bytes = usize::try_from(bytes).map_err(|_| Error::ARG)?;
        self.attached = Some(Attached { address, bytes, messages: VecDeque::new() });
        Ok(())
    }

    /// Waits until all buffered messages are gone and gives the buffer back. Errors: `BUFFER` if there is none.
    pub fn detach(&mut self) -> Result<(*mut u8, usize)> {
        let mut poll = Poll::new();
        loop {
            self.reclaim();
            let attached = self.attached.as_ref().ok_or(Error::BUFFER)?;
            if attached.messages.is_empty() {
                break;
            }
            self.progress();
            poll.pause();
        }
        let attached = self.attached.take().ok_or(Error::BUFFER)?;
        Ok((attached.address, attached.bytes))
    }

    /// Copies a message and sends it from the copy; complete when this returns. Errors: `BUFFER` if there is no room.
    pub(crate) fn send_buffered(&mut self, send: &SendOperation) -> Result<()> {
        self.reclaim();
        let attached = self.attached.as_mut().ok_or(Error::BUFFER)?;
        let start = attached.room(send.source.bytes()).ok_or(Error::BUFFER)?;
        let address = attached.address.wrapping_add(start);
        let source = Region::block(address, send.source.bytes());
        // SAFETY: the attached buffer is the runtime's, this stretch is free, and the caller of the send vouches for its content.
        unsafe { copy_regions(&send.source, &source)? };
        let bytes = source.bytes().next_multiple_of(ALIGN);
        let copied = SendOperation { source, mode: Mode::Standard, ..*send };
        let request = self.requests.insert(Request::new(Operation::Send(copied)));
        self.begin_send(request, &copied);
        match self.attached.as_mut() {
            Some(attached) => attached.messages.push_back((request, start, bytes)),
            None => return Err(Error::INTERN),
        }
        self.reclaim();
        Ok(())
    }

    /// Frees the space of the oldest messages that are gone.
    fn reclaim(&mut self) {
        while let Some(attached) = self.attached.as_mut() {
            let Some((request, _, _)) = attached.messages.front().copied() else { return };
            if !self.requests.get(request).is_none_or(Request::is_complete) {
                return;
            }
            attached.messages.pop_front();
            self.requests.remove(request);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_behind_the_newest_or_before_the_oldest() {
        let mut attached = Attached { address: core::ptr::null_mut(), bytes: 256, messages: VecDeque::new() };
        let handle = Handle(0);
        assert_eq!((attached.room(256), attached.room(257)), (Some(0), None));
        attached.messages.push_back((handle, 0, 64));
        attached.messages.push_back((handle, 64, 128));
        assert_eq!((attached.room(64), attached.room(65)), (Some(192), None));
        attached.messages.pop_front();
        attached.messages.push_back((handle, 192, 64));
        assert_eq!((attached.room(64), attached.room(65)), (Some(0), None));
        attached.messages.push_back((handle, 0, 64));
        assert_eq!(attached.room(1), None);
        attached.messages.pop_front();
        assert_eq!((attached.room(128), attached.room(129)), (Some(64), None));
    }
}
