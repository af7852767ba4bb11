//! How a command of `cargo lwk` fails: one clear line and an exit status.
//!
//! Statuses are those of [`lwk_abi::exit`], plus [`HOST`] for what the host lacks. `main` prints the line and ends the
//! process; nothing else does.

use std::fmt;

use lwk_abi::exit;

/// The host cannot do its part: a tool is missing and may not be installed, a build fails, a file cannot be written
/// (`EX_UNAVAILABLE` of BSD's `sysexits`, as 70 is its `EX_SOFTWARE`).
pub const HOST: i32 = 69;

/// A failed command: what to tell the user, in one line, and the status to end with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong and what to do about it; empty if everything has been said already.
    pub message: String,
    /// Exit status of the command; never 0.
    pub status: i32,
}

/// The result of everything that can fail.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// Wrong use of the command, or bad input: status 2 ([`exit::USAGE`]).
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: exit::USAGE }
    }

    /// The host cannot do its part: status 69 ([`HOST`]).
    pub fn host(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: HOST }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Turns an input/output error into a [`HOST`] failure that says what was being done.
pub trait Doing<T> {
    /// `what` completes the sentence "cannot …", for instance "write the file x".
    fn doing(self, what: impl FnOnce() -> String) -> Outcome<T>;
}

impl<T, E: fmt::Display> Doing<T> for Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Outcome<T> {
        self.map_err(|error| Failure::host(format!("cannot {}: {error}", what())))
    }
}
