//! Errors: MPI's classes (MPI-4.1, section 9.4), numbered as in the MPI-5.0 binary interface. A code of the engine's own is
//! its class.

use core::fmt;

/// An error class. Never zero, which is success.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Error(i32);

/// What the engine's calls return.
pub type Result<T> = core::result::Result<T, Error>;

macro_rules! classes {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        impl Error {
            $(#[doc = $text] pub const $name: Error = Error($number);)*

            /// The class in words.
            pub fn text(self) -> &'static str {
                match self.0 {
                    $($number => $text,)*
                    _ => "unknown error",
                }
            }

            /// The class with that number.
            pub fn from_class(class: i32) -> Option<Error> {
                match class {
                    $($number => Some(Error($number)),)*
                    _ => None,
                }
            }
        }
    };
}

classes! {
    BUFFER = 1, "invalid buffer";
    COUNT = 2, "invalid count";
    TYPE = 3, "invalid datatype";
    TAG = 4, "invalid tag";
    COMM = 5, "invalid communicator";
    RANK = 6, "invalid rank";
    REQUEST = 7, "invalid request";
    ROOT = 8, "invalid root";
    GROUP = 9, "invalid group";
    OP = 10, "invalid operation";
    TOPOLOGY = 11, "invalid topology";
    DIMS = 12, "invalid dimensions";
    ARG = 13, "invalid argument";
    UNKNOWN = 14, "unknown error";
    TRUNCATE = 15, "message truncated: the receive buffer is too small";
    OTHER = 16, "wrong order of calls: not initialised, already initialised or finalised";
    INTERN = 17, "internal error";
    PENDING = 18, "request still pending";
    IN_STATUS = 19, "the error is in the status";
    KEYVAL = 36, "invalid attribute key";
    NO_MEM = 39, "out of memory: give each rank more (--mem)";
    UNSUPPORTED_OPERATION = 55, "unsupported operation";
    VALUE_TOO_LARGE = 59, "value too large";
    ERRHANDLER = 61, "invalid error handler";
}

impl Error {
    /// The code, as a C program sees it.
    pub const fn code(self) -> i32 {
        self.0
    }

    /// The class of the code.
    pub const fn class(self) -> i32 {
        self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} (MPI error class {})", self.text(), self.0)
    }
}

impl core::error::Error for Error {}
