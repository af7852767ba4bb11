//! Errors: the MPI error class a caller must report and one line that says what was wrong.
//!
//! The classes are those this crate can raise, with the values of the MPI 5.0 standard ABI. Where the standard names no
//! class (most constructors), the choice is: `Count` for a negative count, `Dims` for a number of dimensions, `Arg` for
//! any other argument, `ValueTooLarge` for a size, bound or displacement that does not fit 64 bits.

use core::fmt;

/// MPI error classes that datatypes and reductions raise; the discriminant is the standard ABI's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Class {
    /// `MPI_ERR_COUNT`: a negative count.
    Count = 2,
    /// `MPI_ERR_TYPE`: a datatype that cannot be used here (not committed, not decodable, wrong kind).
    Type = 3,
    /// `MPI_ERR_OP`: a reduction that is not defined for the datatype.
    Op = 10,
    /// `MPI_ERR_DIMS`: a number of dimensions below one.
    Dims = 12,
    /// `MPI_ERR_ARG`: any other bad argument.
    Arg = 13,
    /// `MPI_ERR_TRUNCATE`: a buffer is too small for the data.
    Truncate = 15,
    /// `MPI_ERR_OTHER`: a documented limit of this implementation.
    Other = 16,
    /// `MPI_ERR_INTERN`: a layout received from a peer is not one that this crate wrote.
    Intern = 17,
    /// `MPI_ERR_VALUE_TOO_LARGE`: a result does not fit `MPI_Count` or `MPI_Aint`.
    ValueTooLarge = 59,
}

/// What went wrong: the class for the error handler and a line for a human.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The MPI error class.
    pub class: Class,
    /// One line, without the name of the MPI function (the caller knows it).
    pub reason: &'static str,
}

/// Shorthand of this crate.
pub type Result<T> = core::result::Result<T, Error>;

impl Error {
    pub(crate) const fn new(class: Class, reason: &'static str) -> Error {
        Error { class, reason }
    }

    /// The standard ABI's integer for the class.
    pub const fn code(&self) -> i32 {
        self.class as i32
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.reason)
    }
}

impl core::error::Error for Error {}

/// `value` as 64 bits, or the error for what does not fit.
pub(crate) fn narrow(value: i128) -> Result<i64> {
    i64::try_from(value).map_err(|_| {
        Error::new(Class::ValueTooLarge, "a size or displacement of the datatype exceeds 64 bits")
    })
}

pub(crate) fn count(value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|_| Error::new(Class::Count, "the count is negative"))
}

pub(crate) fn argument(holds: bool, reason: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::new(Class::Arg, reason)) }
}
