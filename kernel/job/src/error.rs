//! Why a job file is refused.

use core::fmt;

/// Why a job file was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobError {
    /// The last record has no NUL byte: the file is cut off.
    Unterminated,
    /// The record that starts at this byte has no `=`.
    NoValue { offset: usize },
    /// The record that starts at this byte has a key that is none of the job file's.
    UnknownKey { offset: usize },
    /// The key may stand once only.
    Repeated { key: &'static str },
    /// The key is required.
    Missing { key: &'static str },
    /// The key's value is none of those it can have.
    BadValue { key: &'static str, expected: &'static str },
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            JobError::Unterminated => {
                f.write_str("the job file is cut off: its last record does not end with NUL")
            }
            JobError::NoValue { offset } => {
                write!(f, "the job file's record at byte {offset} is not key=value")
            }
            JobError::UnknownKey { offset } => {
                write!(
                    f,
                    "the job file's record at byte {offset} has an unknown key; make image and kernel together"
                )
            }
            JobError::Repeated { key } => write!(f, "the job file gives '{key}' more than once"),
            JobError::Missing { key } => write!(f, "the job file does not give '{key}'"),
            JobError::BadValue { key, expected } => write!(f, "the job file's '{key}' must be {expected}"),
        }
    }
}
