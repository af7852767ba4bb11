//! Short messages: at most [`SHORT`](lwk_path::SHORT) bytes of one block, between two ranks that have room and message at hand, which
//! is what programs that care for latency send.
//!
//! The faces try these two first, and call the engine only if they say no. Whatever is unusual (a queue in between, a wildcard, a wrong
//! argument, a peer without room, a callback further out) they leave to it, untouched, and so are short enough to be compiled into each call
//! without a frame of their own (measured: README.md). They check as much as the long way does, and find no error themselves.

use crate::buffer::is_none;
use crate::datatypes::short_bytes;
use crate::engine::{Engine, briefly};
use crate::receive::ReceiveArguments;
use crate::request::Mode;
use crate::send::SendArguments;
use lwk_path::Label;

/// Sends, if it can be done at once; false if nothing has happened.
///
/// # Safety
/// The arguments' items must be readable until this returns.
#[inline(always)]
pub unsafe fn send(arguments: &SendArguments, mode: Mode) -> bool {
    if !matches!(mode, Mode::Standard | Mode::Ready) {
        return false;
    }
    // SAFETY: `send_short` copies a message: it runs no code of the program and does not wait. The buffer is
    // readable (this function's contract).
    unsafe { briefly(|engine| engine.send_short(arguments)) == Some(true) }
}

/// Receives, if the message is the next of its sender and nothing of it waits in the queues; its bytes. `None` if nothing has happened.
/// Its source and tag are those that were asked for.
///
/// # Safety
/// The arguments' items must be writable until this returns.
#[inline(always)]
pub unsafe fn receive(arguments: &ReceiveArguments) -> Option<u64> {
    // SAFETY: `receive_short` copies a message: it runs no code of the program and does not wait. The buffer
    // is writable (this function's contract).
    unsafe { briefly(|engine| engine.receive_short(arguments)).flatten() }
}

impl Engine {
    /// # Safety
    /// As for [`send`].
    #[inline(always)]
    pub(crate) unsafe fn send_short(&mut self, arguments: &SendArguments) -> bool {
        let Some(bytes) = short_bytes(arguments.count, arguments.datatype) else { return false };
        if arguments.tag < 0 || !self.deferred.is_empty() || is_none(arguments.address) {
            return false;
        }
        let Ok(communicator) = self.communicator(arguments.communicator) else { return false };
        let Some(peer) = communicator.peers.get(arguments.target as usize) else { return false };
        let (peer, label) = (*peer, Label::new(communicator.context, arguments.tag));
        // SAFETY: `bytes`, those of the arguments' items and at most `SHORT`, are readable (this function's
        // contract).
        unsafe { self.paths.send_short(peer, label, arguments.address, bytes) }
    }

    /// # Safety
    /// As for [`receive`].
    #[inline(always)]
    pub(crate) unsafe fn receive_short(&mut self, arguments: &ReceiveArguments) -> Option<u64> {
        let room = short_bytes(arguments.count, arguments.datatype)?;
        if arguments.tag < 0 || is_none(arguments.address) {
            return None;
        }
        let communicator = self.communicator(arguments.communicator).ok()?;
        let peer = *communicator.peers.get(arguments.source as usize)?;
        if !self.waiting.is_clear(peer) {
            return None;
        }
        let label = Label::new(communicator.context, arguments.tag);
        // SAFETY: `room`, the bytes of the arguments' items, is writable (this function's contract).
        unsafe { self.paths.receive_short(peer, label, arguments.address, room) }.map(|bytes| bytes as u64)
    }
}
