//! All system calls as pure logic, the same in both homes: Linux's, which a static program built by an ordinary toolchain makes, with
//! Linux's x86-64 numbers, structures and error numbers, and Margay's own. [`answer`] dispatches them.
//!
//! A rank is a process of one thread that is never interrupted: no fork, no threads, no signals but those it raises itself, no
//! permissions. What there is behaves as on Linux. What a home knows and this crate does not (memory, time, console, where
//! the files are kept, the network) comes through [`Machine`] and [`Home`]: what the two homes do apart is in `machine.rs` and `home.rs`, and nowhere else. Calls
//! that this crate does not know are answered `ENOSYS` and counted.
//!
//! What a call takes, answers and refuses is in its page of section 2 of Linux's manual; a docstring here says what is this system's own, or
//! which of the errors there are. A pointer is a user address, a descriptor is a number below 256.
//!
//! Every pointer is checked by the machine before it is used, and a peer's memory is as good as one's own. Nothing here
//! waits: a call whose time has not come is [`Outcome::Again`], and the program makes it once more.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod copy;
mod descriptor;
mod descriptors;
mod device;
mod engine;
mod fences;
mod file;
mod folder;
mod frame;
mod futex;
mod home;
mod identity;
mod limic;
mod limic_queues;
mod limits;
mod links;
mod linux;
mod locks;
mod machine;
mod margay;
mod memory;
mod pipe;
mod pipes;
mod poll;
mod proc_text;
mod process;
mod registers;
mod signal;
mod signals;
mod source;
mod stat;
mod time;
mod transfer;
mod volume;

use lwk_failure::End;

pub use frame::{FIXED_FLAGS, OWN_FLAGS};
pub use home::Home;
pub use limic::{Call as LimicCall, call as limic_call};
pub use linux::call as linux_call;
pub use lwk_files::Errno;
pub use machine::{Clock, Facts, Machine, Stream};
pub use margay::{Call, answer};
pub use process::{AREAS_MAX, Process};
pub use registers::Registers;
pub use signals::{Fatal, Information};

/// What a system call answers: the value that the manual says, 0 where it says none but success, or an error number.
pub type Answer = Result<u64, Errno>;

/// How one of Linux's calls has come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// With this answer.
    Done(Answer),
    /// Its time has not come: the program makes the same call again, after others have had a chance to run.
    Again,
}

impl From<Answer> for Waiting {
    fn from(answer: Answer) -> Waiting {
        Waiting::Done(answer)
    }
}

/// What a home does after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The program goes on with this answer.
    Done(Answer),
    /// Its time has not come: the program makes the same call again, after others have had a chance to run.
    Again,
    /// Others that share the core have a turn; then the program goes on with the answer 0.
    Yield,
    /// The core sleeps until the network interrupts it, if the job's ranks wait so; then the program goes on.
    Halt,
    /// The program goes on with these registers: in the handler of a signal, or where a handler was entered.
    Resume(Registers),
    /// It does not go on.
    End(Ending),
}

/// How a rank ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exits with status 0; its peers go on.
    Rank,
    /// It ends the whole job well, whatever the others are doing.
    Job,
    /// It ends the whole job by a failure.
    Failure(End),
}

/// An answer as it stands in the register for it.
#[must_use]
pub const fn raw(answer: Answer) -> u64 {
    match answer {
        Ok(value) => value,
        Err(Errno(number)) => number.wrapping_neg() as u64,
    }
}
