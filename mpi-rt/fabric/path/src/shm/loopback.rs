//! Messages of a rank to itself: no buffer is shared with anybody, so short ones wait in a copy and long ones where they are.

use super::Sending;
use crate::region::{Region, copy_part, copy_regions};
use crate::{Arrival, Held, Label, Outgoing, WorldRank};
use crate::{Fault, Result};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use slab::Slab;

/// Most messages that wait.
const MESSAGES: usize = 64;
/// Messages up to this many bytes are copied, so that their sends complete.
const COPIED: usize = 4096;

/// The queue of a rank's messages to itself.
pub struct Loopback {
    queue: VecDeque<Own>,
}

/// A message, or what is kept of it.
#[derive(Debug)]
pub struct Own {
    label: Label,
    bytes: usize,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Copy(Box<[u8]>),
    /// At the sender, which is this rank: the number of its send, and whether a probe has matched it.
    Send {
        send: usize,
        reserved: bool,
    },
}

/// What became of a message to oneself.
pub enum Begun {
    Done,
    Underway(usize),
    Full,
}

impl Loopback {
    pub fn new() -> Loopback {
        Loopback { queue: VecDeque::new() }
    }

    /// Begins a send to oneself.
    ///
    /// # Safety
    /// As for [`crate::Path::begin`].
    pub unsafe fn begin(&mut self, me: WorldRank, message: &Outgoing, sends: &mut Slab<Sending>) -> Begun {
        if self.queue.len() == MESSAGES {
            return Begun::Full;
        }
        let bytes = message.source.bytes();
        if bytes <= COPIED && !message.synchronous {
            let mut copy = Vec::new();
            if copy.try_reserve_exact(bytes).is_err() {
                return Begun::Full;
            }
            copy.resize(bytes, 0u8);
            let target = Region::block(copy.as_mut_ptr(), bytes);
            // SAFETY: the message's bytes are readable (this function's contract), and `copy` is new and has
            // as many. This rank's own layout is sound, so copying cannot fail.
            if unsafe { copy_part(&message.source, 0, &target, 0, bytes) }.is_err() {
                return Begun::Full;
            }
            self.queue.push_back(Own {
                label: message.label,
                bytes,
                content: Content::Copy(copy.into_boxed_slice()),
            });
            return Begun::Done;
        }
        let place = sends.vacant_entry();
        let send = place.key();
        place.insert(Sending::new(send, me, message));
        let content = Content::Send { send, reserved: false };
        self.queue.push_back(Own { label: message.label, bytes, content });
        Begun::Underway(send)
    }

    /// The next message.
    pub fn arrival(&self) -> Option<Arrival> {
        self.queue.front().map(|own| Arrival {
            label: own.label,
            bytes: own.bytes,
            eager: matches!(own.content, Content::Copy(_)),
        })
    }

    /// Takes out the message of a send; false if it is not in the queue any more.
    pub fn cancel(&mut self, send: usize) -> bool {
        let place = self.queue.iter().position(|own| own.may_cancel(send));
        place.and_then(|place| self.queue.remove(place)).is_some()
    }

    /// Takes it out; `None` if there is none.
    pub fn take(&mut self) -> Option<Own> {
        self.queue.pop_front()
    }
}

impl Own {
    /// What waits for a receive: the copy, or the message itself. Errors: the message, if it is with its sender still.
    pub fn hold(self) -> core::result::Result<Held, Own> {
        match self.content {
            Content::Copy(copy) => Ok(Held::Copy(copy)),
            Content::Send { .. } => Err(self),
        }
    }

    /// Whether it is the message of this send, and no probe has matched it.
    pub fn may_cancel(&self, number: usize) -> bool {
        matches!(self.content, Content::Send { send, reserved: false } if send == number)
    }

    /// A probe has matched it.
    pub fn reserve(&mut self) {
        if let Content::Send { reserved, .. } = &mut self.content {
            *reserved = true;
        }
    }

    /// Copies it, and completes its send.
    ///
    /// # Safety
    /// As for [`crate::Path::deliver`].
    pub unsafe fn deliver(self, target: &Region, sends: &mut Slab<Sending>) -> Result<()> {
        match self.content {
            // SAFETY: `copy` holds the message; `target` is writable, its datatype live (this function's
            // contract).
            Content::Copy(copy) => unsafe {
                copy_regions(&Region::block(copy.as_ptr(), copy.len()), target).map(drop)
            },
            Content::Send { send, .. } => {
                let send = sends.get_mut(send).ok_or(Fault::Internal)?;
                // SAFETY: the send is in `sends`, so its source is readable until `advance` says done;
                // `target` is writable (this function's contract).
                let copied = unsafe { copy_regions(&send.message.source, target) };
                send.wanted = Some(send.position);
                copied.map(drop)
            }
        }
    }
}
