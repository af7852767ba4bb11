//! What the ranks of a file share: one line in the first rank's memory. Ranks that cannot load and store it ask for it ([`lwk_mpi_asking`]).

use crate::Files;
use alloc::vec::Vec;
use lwk_epoch::{SharedPointer, TargetLock};
use lwk_mpi_asking::{Answering, LockQueue, Query, Question, ask};
use lwk_mpi_core::error::{Error, Result};
use lwk_place::WorldRank;

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
    Asked { at: WorldRank, object: u32 },
}

/// What can be asked for, by number: words of the pointer, and the lock, which comes with the answer.
const POSITION: u64 = 0;
const SET_POSITION: u64 = 1;
const ADVANCE: u64 = 2;
const SHARE: u64 = 3;
const EXCLUDE: u64 = 4;
const LEAVE: u64 = 5;

/// Answers for the words of a file.
pub(super) struct Answers {
    control: &'static Control,
    queue: LockQueue,
}

impl Answers {
    pub fn new(control: &'static Control) -> Answers {
        Answers { control, queue: LockQueue::default() }
    }
}

impl Answering for Answers {
    fn answer(&mut self, question: &Question, _: &mut Vec<u8>) -> Option<Result<u64>> {
        let Control { pointer, lock } = self.control;
        let [argument, ..] = question.arguments;
        match question.what {
            POSITION => Some(Ok(pointer.position())),
            SET_POSITION => {
                pointer.set_position(argument);
                Some(Ok(0))
            }
            ADVANCE => Some(pointer.advance(argument).ok_or(Error::ARG)),
            SHARE | EXCLUDE => self.queue.enter(lock, question, question.what == EXCLUDE),
            LEAVE => Some(self.queue.leave(lock, question, argument == EXCLUDE)),
            _ => Some(Err(Error::INTERN)),
        }
    }

    /// All that is asked of a file is answered.
    fn note_failure(&mut self, _: &Question, _: Error) {}
}

impl Files {
    /// Where a file's shared pointer is, in etypes. Errors: those of asking.
    pub(super) fn pointer_position(&mut self, words: SharedWords) -> Result<u64> {
        match words {
            SharedWords::Mapped(control) => Ok(control.pointer.position()),
            SharedWords::Asked { at, object } => ask(self, at, object, Query::new(POSITION, 0)),
        }
    }

    /// Sets a file's shared pointer. Errors: those of asking.
    pub(super) fn set_pointer(&mut self, words: SharedWords, position: u64) -> Result<()> {
        match words {
            SharedWords::Mapped(control) => {
                control.pointer.set_position(position);
                Ok(())
            }
            SharedWords::Asked { at, object } => {
                ask(self, at, object, Query::new(SET_POSITION, position)).map(drop)
            }
        }
    }

    /// Moves a file's shared pointer on; where it was. Errors: `ARG` beyond all files; those of asking.
    pub(super) fn advance_pointer(&mut self, words: SharedWords, etypes: u64) -> Result<u64> {
        match words {
            SharedWords::Mapped(control) => control.pointer.advance(etypes).ok_or(Error::ARG),
            SharedWords::Asked { at, object } => ask(self, at, object, Query::new(ADVANCE, etypes)),
        }
    }

    /// Does something under a file's lock, alone or with others that share it. Errors: those of `work` and of asking.
    pub(super) fn under_lock<R>(
        &mut self,
        words: SharedWords,
        exclude: bool,
        work: impl FnOnce(&mut Files) -> Result<R>,
    ) -> Result<R> {
        match words {
            SharedWords::Mapped(control) => {
                let lock = &control.lock;
                let ticket = lock.queue();
                self.wait_until(|| {
                    if exclude { lock.enter_exclusive(ticket) } else { lock.enter_shared(ticket) }
                });
                let outcome = work(self);
                if exclude {
                    lock.leave_exclusive(ticket)
                } else {
                    lock.leave_shared()
                }
                outcome
            }
            SharedWords::Asked { at, object } => {
                let kind = if exclude { EXCLUDE } else { SHARE };
                ask(self, at, object, Query::new(kind, 0))?;
                let outcome = work(self);
                ask(self, at, object, Query::new(LEAVE, kind))?;
                outcome
            }
        }
    }
}
