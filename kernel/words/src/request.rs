//! A send or a receive that the system matches, or a write or a read that it has a worker copy.

use lwk_abi::limic::{BYTES, DONE, FAILED, LABEL, STATE, WAITS};
use lwk_primitive::made;

use crate::Told;

/// A request in memory of the rank that posts it ([`lwk_abi::limic::Request`]): the system writes to it when it is done, on whichever core, the state last.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Request {
    pub(crate) state: Told,
    pub(crate) peer: Told,
    pub(crate) label: Told,
    pub(crate) any_tag: Told,
    pub(crate) address: Told,
    pub(crate) bytes: Told,
}

#[cfg(not(all(test, feature = "loom")))]
const _: () = assert!(size_of::<Request>() == size_of::<lwk_abi::limic::Request>());
#[cfg(not(all(test, feature = "loom")))]
const _: () = assert!(
    core::mem::offset_of!(Request, state) as u64 == STATE
        && core::mem::offset_of!(Request, label) as u64 == LABEL
        && core::mem::offset_of!(Request, bytes) as u64 == BYTES
);

/// What has come of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The message has been copied, as many of its bytes as the receive has room for.
    Done { label: u64, bytes: u64 },
    /// It could not be: the error's number.
    Failed(u64),
}

impl Request {
    made! {
        /// One that has not been posted.
        pub fn new() -> Request {
            Request {
                state: Told::new(),
                peer: Told::new(),
                label: Told::new(),
                any_tag: Told::new(),
                address: Told::new(),
                bytes: Told::new(),
            }
        }
    }

    /// Says what is to be posted. Nobody else has it now; the system call that posts it comes behind.
    pub fn set(&self, peer: u64, label: u64, any_tag: bool, address: u64, bytes: u64) {
        self.peer.set(peer);
        self.label.set(label);
        self.any_tag.set(any_tag.into());
        self.address.set(address);
        self.bytes.set(bytes);
        self.state.set(WAITS);
    }

    /// What has come of it, if anything has: then the message's bytes are there, or of a send no longer needed.
    pub fn outcome(&self) -> Option<Outcome> {
        match self.state.look() {
            DONE => Some(Outcome::Done { label: self.label.get(), bytes: self.bytes.get() }),
            FAILED => Some(Outcome::Failed(self.bytes.get())),
            _ => None,
        }
    }

    /// Label and bytes that this rank's own system call has written.
    pub fn described(&self) -> (u64, u64) {
        (self.label.get(), self.bytes.get())
    }

    /// Where it is, for the system.
    pub fn address(&self) -> u64 {
        self.state.address()
    }
}

/// The system's way to words of ranks, by address. A word that has been unmapped meanwhile is told nothing.
pub trait Words {
    /// Stores a word in no order.
    fn write(&self, address: u64, word: u64);
    /// As [`Told::tell`].
    fn tell(&self, address: u64, word: u64);
}

/// The system says what a request's message is: label and bytes, or an error's number for these. It tells the state later.
pub fn describe(words: &impl Words, request: u64, label: u64, bytes: u64) {
    words.write(request + LABEL, label);
    words.write(request + BYTES, bytes);
}

/// The system tells the request at an address what has come of it, when the message has been copied or will not be. Of a failure `label` is that, too.
pub fn finish(words: &impl Words, request: u64, label: u64, outcome: Result<u64, u64>) {
    let (state, bytes) = match outcome {
        Ok(bytes) => (DONE, bytes),
        Err(number) => (FAILED, number),
    };
    describe(words, request, label, bytes);
    words.tell(request + STATE, state);
}
