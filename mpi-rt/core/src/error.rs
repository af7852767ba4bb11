//! Errors: MPI's classes (MPI-5.0, section 9.4), numbered as in the MPI-5.0 binary interface. A code of the engine's own is
//! its class, but for [`Error::ORDER`]; programs add classes and codes of theirs above [`LAST_CODE`] ([`crate::error_code`]).

use lwk_path::Fault;

/// The largest class of the standard's own, `MPI_ERR_LASTCODE`.
pub const LAST_CODE: i32 = 0x3fff;

/// An error code. Never zero, which is success.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Error(i32);

/// What the engine's calls return.
pub type Result<T> = core::result::Result<T, Error>;

/// The number of [`Error::ORDER`], among those that are no class.
const ORDER: i32 = 0x1010;

macro_rules! classes {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        impl Error {
            $(#[doc = $text] pub const $name: Error = Error($number);)*

            /// The class in words, or the code if it has a text of its own.
            pub fn text(self) -> &'static str {
                match self.0 {
                    $($number => $text,)*
                    ORDER => "wrong order of calls: not initialised, already initialised or finalised",
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
    OTHER = 16, "an error that has no class of its own";
    INTERN = 17, "internal error, or a limit of the library: more than 8192 communicators at once";
    PENDING = 18, "request still pending";
    IN_STATUS = 19, "the error is in the status";
    ACCESS = 20, "permission denied";
    AMODE = 21, "invalid access mode of a file";
    ASSERT = 22, "invalid assertion";
    BAD_FILE = 23, "invalid file name";
    BASE = 24, "invalid base address";
    CONVERSION = 25, "a user's data conversion failed";
    DISP = 26, "invalid displacement";
    DUP_DATAREP = 27, "data representation already defined";
    FILE_EXISTS = 28, "file exists";
    FILE_IN_USE = 29, "file in use";
    FILE = 30, "invalid file handle";
    INFO_KEY = 31, "info key too long or empty";
    INFO_NOKEY = 32, "no such info key";
    INFO_VALUE = 33, "info value too long";
    INFO = 34, "invalid info object";
    IO = 35, "input or output failed";
    KEYVAL = 36, "invalid attribute key";
    LOCKTYPE = 37, "invalid lock type";
    NAME = 38, "no such service name";
    NO_MEM = 39, "out of memory: give each rank more (--mem)";
    NOT_SAME = 40, "the ranks make different collective calls, or with different arguments";
    NO_SPACE = 41, "no space left";
    NO_SUCH_FILE = 42, "no such file";
    PORT = 43, "invalid port name";
    QUOTA = 44, "quota exceeded";
    READ_ONLY = 45, "read-only file or file system";
    RMA_ATTACH = 46, "memory cannot be attached";
    RMA_CONFLICT = 47, "conflicting accesses to a window";
    RMA_RANGE = 48, "target memory is not part of the window";
    RMA_SHARED = 49, "memory cannot be shared";
    RMA_SYNC = 50, "wrong synchronisation of one-sided calls";
    SERVICE = 51, "no such published service";
    SIZE = 52, "invalid size";
    SPAWN = 53, "processes cannot be spawned";
    UNSUPPORTED_DATAREP = 54, "unsupported data representation";
    UNSUPPORTED_OPERATION = 55, "unsupported operation";
    WIN = 56, "invalid window";
    RMA_FLAVOR = 57, "wrong flavor of window";
    PROC_ABORTED = 58, "a peer has aborted";
    VALUE_TOO_LARGE = 59, "value too large";
    SESSION = 60, "invalid session";
    ERRHANDLER = 61, "invalid error handler";
    ABI = 62, "wrong use of the binary interface";
}

impl Error {
    /// A code of class [`Error::OTHER`] with a text of its own: a program's functions may answer that class, too, for reasons of theirs.
    pub const ORDER: Error = Error(ORDER);

    /// The error with that code, a class or one that a program has added; `None` for success.
    pub const fn from_code(code: i32) -> Option<Error> {
        if code == 0 { None } else { Some(Error(code)) }
    }

    /// The code, as a C program sees it.
    pub const fn code(self) -> i32 {
        self.0
    }
}

impl core::error::Error for Error {}

impl From<lwk_datatype::Error> for Error {
    fn from(error: lwk_datatype::Error) -> Error {
        Error::from_class(error.code()).unwrap_or(Error::INTERN)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        match fault {
            Fault::NoMemory => Error::NO_MEM,
            Fault::Internal | Fault::Cancelled => Error::INTERN,
            Fault::NoNetwork => Error::UNSUPPORTED_OPERATION,
            Fault::Truncated => Error::TRUNCATE,
            Fault::Count => Error::COUNT,
            Fault::Layout(class) => Error::from_class(class as i32).unwrap_or(Error::INTERN),
        }
    }
}
