//! What the ranks of a file share: one line in the first rank's memory. Ranks that cannot load and store it ask for it ([`crate::asking`]).

use crate::asking::{Answering, Question};
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::vec::Vec;
use lwk_epoch::{SharedPointer, TargetLock, Ticket};
use lwk_place::NodeRank;

/// The shared file pointer, and the lock of atomic mode. Ranks that read share the lock, a rank that writes has it alone.
#[repr(C, align(64))]
pub(super) struct Control {
    /// In etypes of the view.
    pub pointer: SharedPointer,
    pub lock: TargetLock,
}

impl Control {
    pub fn new(pointer: u64) -> Control {
        let it = Control { pointer: SharedPointer::new(), lock: TargetLock::new() };
        it.pointer.set_position(pointer);
        it
    }
}

/// Where the words are.
#[derive(Clone, Copy)]
pub(super) enum SharedWords {
    /// Within reach.
    Mapped(&'static Control),
    /// At that rank, which answers for the object.
    Asked { at: NodeRank, object: u32 },
}

/// What can be asked for, by number: words of the pointer, and the lock, which comes with the answer.
const POSITION: u64 = 0;
const SET_POSITION: u64 = 1;
const ADVANCE: u64 = 2;
const SHARE: u64 = 3;
const EXCLUDE: u64 = 4;
const LEAVE: u64 = 5;

/// The lock of atomic mode, while a rank has it.
#[derive(Clone, Copy)]
enum Held {
    Shared,
    Exclusive(Ticket),
}

impl Held {
    fn leave(self, lock: &TargetLock) {
        match self {
            Held::Shared => lock.leave_shared(),
            Held::Exclusive(ticket) => lock.leave_exclusive(ticket),
        }
    }
}

/// Answers for the words of a file.
pub(super) struct Answers {
    control: &'static Control,
    /// Ranks that wait for the lock or have it.
    queue: Vec<(NodeRank, Ticket)>,
}

impl Answers {
    pub fn new(control: &'static Control) -> Answers {
        Answers { control, queue: Vec::new() }
    }

    /// The lock for a rank, once it is its turn.
    fn lock(&mut self, from: NodeRank, exclude: bool) -> Option<Result<u64>> {
        let lock = &self.control.lock;
        let place = self.queue.iter().position(|(rank, _)| *rank == from);
        let ticket = match place {
            Some(place) => self.queue[place].1,
            None => {
                if self.queue.try_reserve(1).is_err() {
                    return Some(Err(Error::NO_MEM));
                }
                let ticket = lock.queue();
                self.queue.push((from, ticket));
                ticket
            }
        };
        let enters = if exclude { lock.enter_exclusive(ticket) } else { lock.enter_shared(ticket) };
        enters.then_some(Ok(0))
    }

    /// Gives back the lock that a rank has.
    fn leave(&mut self, from: NodeRank, exclude: bool) -> Result<u64> {
        let place = self.queue.iter().position(|(rank, _)| *rank == from).ok_or(Error::INTERN)?;
        let (_, ticket) = self.queue.swap_remove(place);
        let held = if exclude { Held::Exclusive(ticket) } else { Held::Shared };
        held.leave(&self.control.lock);
        Ok(0)
    }
}

impl Answering for Answers {
    fn answer(&mut self, question: &Question) -> Option<Result<u64>> {
        let pointer = &self.control.pointer;
        match question.what {
            POSITION => Some(Ok(pointer.position())),
            SET_POSITION => {
                pointer.set_position(question.argument);
                Some(Ok(0))
            }
            ADVANCE => Some(pointer.advance(question.argument).ok_or(Error::ARG)),
            SHARE | EXCLUDE => self.lock(question.from, question.what == EXCLUDE),
            LEAVE => Some(self.leave(question.from, question.argument == EXCLUDE)),
            _ => Some(Err(Error::INTERN)),
        }
    }
}

impl Engine {
    /// Where a file's shared pointer is, in etypes. Errors: those of asking.
    pub(super) fn pointer_position(&mut self, words: SharedWords) -> Result<u64> {
        match words {
            SharedWords::Mapped(control) => Ok(control.pointer.position()),
            SharedWords::Asked { at, object } => self.ask(at, object, POSITION, 0),
        }
    }

    /// Sets a file's shared pointer. Errors: those of asking.
    pub(super) fn set_pointer(&mut self, words: SharedWords, position: u64) -> Result<()> {
        match words {
            SharedWords::Mapped(control) => {
                control.pointer.set_position(position);
                Ok(())
            }
            SharedWords::Asked { at, object } => self.ask(at, object, SET_POSITION, position).map(drop),
        }
    }

    /// Moves a file's shared pointer on; where it was. Errors: `ARG` beyond all files; those of asking.
    pub(super) fn advance_pointer(&mut self, words: SharedWords, etypes: u64) -> Result<u64> {
        match words {
            SharedWords::Mapped(control) => control.pointer.advance(etypes).ok_or(Error::ARG),
            SharedWords::Asked { at, object } => self.ask(at, object, ADVANCE, etypes),
        }
    }

    /// Does something under a file's lock, alone or with others that share it. Errors: those of `work` and of asking.
    pub(super) fn under_lock<R>(
        &mut self,
        words: SharedWords,
        exclude: bool,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        match words {
            SharedWords::Mapped(control) => {
                let lock = &control.lock;
                let ticket = lock.queue();
                let held = if exclude {
                    self.wait_until(|| lock.enter_exclusive(ticket));
                    Held::Exclusive(ticket)
                } else {
                    self.wait_until(|| lock.enter_shared(ticket));
                    Held::Shared
                };
                let outcome = work();
                held.leave(lock);
                outcome
            }
            SharedWords::Asked { at, object } => {
                let kind = if exclude { EXCLUDE } else { SHARE };
                self.ask(at, object, kind, 0)?;
                let outcome = work();
                self.ask(at, object, LEAVE, kind)?;
                outcome
            }
        }
    }
}
