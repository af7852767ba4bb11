//! Numbers of the MPI-5.0 application binary interface (MPI-5.0, chapter 20), as far as the engine speaks of them.

/// Wildcards and special ranks (negative, distinct).
pub const ANY_SOURCE: i32 = -1;
pub const ANY_TAG: i32 = -2;
pub const PROC_NULL: i32 = -3;
pub const ROOT: i32 = -4;
pub const UNDEFINED: i32 = -32766;

/// The largest tag: every non-negative `int`.
pub const TAG_UB: i32 = i32::MAX;

/// Buffer addresses with a meaning of their own.
pub const BOTTOM: usize = 0;
pub const IN_PLACE: usize = 1;
pub const BUFFER_AUTOMATIC: usize = 2;

/// Handles below this are predefined; [`crate::handle`] gives out larger ones.
pub const FIRST_DYNAMIC_HANDLE: u64 = 0x1000;

/// Predefined communicators.
pub const COMM_NULL: u64 = 0x100;
pub const COMM_WORLD: u64 = 0x101;
pub const COMM_SELF: u64 = 0x102;

/// Predefined groups.
pub const GROUP_NULL: u64 = 0x108;
pub const GROUP_EMPTY: u64 = 0x109;

/// Null handles of other kinds.
pub const WIN_NULL: u64 = 0x110;
pub const FILE_NULL: u64 = 0x118;
pub const SESSION_NULL: u64 = 0x120;
pub const MESSAGE_NULL: u64 = 0x128;
pub const MESSAGE_NO_PROC: u64 = 0x129;

/// Predefined info objects.
pub const INFO_NULL: u64 = 0x130;
pub const INFO_ENV: u64 = 0x131;

/// Predefined error handlers.
pub const ERRHANDLER_NULL: u64 = 0x140;
pub const ERRORS_ARE_FATAL: u64 = 0x141;
pub const ERRORS_ABORT: u64 = 0x142;
pub const ERRORS_RETURN: u64 = 0x143;

/// No request.
pub const REQUEST_NULL: u64 = 0x180;
/// A send that was complete when it began; the engine's own number, in the range of predefined requests.
pub const REQUEST_DONE: u64 = 0x181;

/// Addresses with a meaning of their own in place of an array of weights.
pub const UNWEIGHTED: usize = 10;
pub const WEIGHTS_EMPTY: usize = 11;

/// Keys of the predefined attributes.
pub mod attribute {
    pub const INVALID: i32 = 0;
    pub const TAG_UB: i32 = 501;
    pub const IO: i32 = 502;
    pub const HOST: i32 = 503;
    pub const WTIME_IS_GLOBAL: i32 = 504;
    pub const APPNUM: i32 = 505;
    pub const LASTUSEDCODE: i32 = 506;
    pub const UNIVERSE_SIZE: i32 = 507;
    pub const WIN_BASE: i32 = 601;
    pub const WIN_DISP_UNIT: i32 = 602;
    pub const WIN_SIZE: i32 = 603;
    pub const WIN_CREATE_FLAVOR: i32 = 604;
    pub const WIN_MODEL: i32 = 605;
}

/// Kinds of topology, and how communicators are split by hardware.
pub mod topology {
    pub const CART: i32 = 211;
    pub const GRAPH: i32 = 212;
    pub const DIST_GRAPH: i32 = 213;
    pub const SHARED: i32 = 221;
    pub const HW_UNGUIDED: i32 = 222;
    pub const HW_GUIDED: i32 = 223;
    pub const RESOURCE_GUIDED: i32 = 224;
}

/// Levels of thread support.
pub mod thread {
    pub const SINGLE: i32 = 0;
    pub const FUNNELED: i32 = 1024;
    pub const SERIALIZED: i32 = 2048;
    pub const MULTIPLE: i32 = 4096;
}

/// Assertions about windows (MPI-5.0, section 12.5.6); they can be combined.
pub mod mode {
    pub const NOCHECK: i32 = 1024;
    pub const NOPRECEDE: i32 = 2048;
    pub const NOPUT: i32 = 4096;
    pub const NOSTORE: i32 = 8192;
    pub const NOSUCCEED: i32 = 16384;
}

/// Predefined operations.
pub mod op {
    pub const NULL: u64 = 0x20;
    pub const SUM: u64 = 0x21;
    pub const MIN: u64 = 0x22;
    pub const MAX: u64 = 0x23;
    pub const PROD: u64 = 0x24;
    pub const BAND: u64 = 0x28;
    pub const BOR: u64 = 0x29;
    pub const BXOR: u64 = 0x2a;
    pub const LAND: u64 = 0x30;
    pub const LOR: u64 = 0x31;
    pub const LXOR: u64 = 0x32;
    pub const MINLOC: u64 = 0x38;
    pub const MAXLOC: u64 = 0x39;
    pub const REPLACE: u64 = 0x3c;
    pub const NO_OP: u64 = 0x3d;
}

/// Predefined datatypes.
pub mod datatype {
    pub const NULL: u64 = 0x200;
    pub const AINT: u64 = 0x201;
    pub const COUNT: u64 = 0x202;
    pub const OFFSET: u64 = 0x203;
    pub const PACKED: u64 = 0x207;
    pub const SHORT: u64 = 0x208;
    pub const INT: u64 = 0x209;
    pub const LONG: u64 = 0x20a;
    pub const LONG_LONG: u64 = 0x20b;
    pub const UNSIGNED_SHORT: u64 = 0x20c;
    pub const UNSIGNED: u64 = 0x20d;
    pub const UNSIGNED_LONG: u64 = 0x20e;
    pub const UNSIGNED_LONG_LONG: u64 = 0x20f;
    /// Markers of bounds in structs of before MPI-3: this library's own numbers, of which the binary interface has none.
    pub const LB: u64 = 0x27e;
    pub const UB: u64 = 0x27f;
    pub const FLOAT: u64 = 0x210;
    pub const C_FLOAT_COMPLEX: u64 = 0x212;
    pub const CXX_FLOAT_COMPLEX: u64 = 0x213;
    pub const DOUBLE: u64 = 0x214;
    pub const C_DOUBLE_COMPLEX: u64 = 0x216;
    pub const CXX_DOUBLE_COMPLEX: u64 = 0x217;
    pub const LONG_DOUBLE: u64 = 0x220;
    pub const C_LONG_DOUBLE_COMPLEX: u64 = 0x224;
    pub const REAL2: u64 = 0x2ca;
    pub const REAL16: u64 = 0x2e2;
    pub const COMPLEX4: u64 = 0x2d3;
    pub const COMPLEX32: u64 = 0x2eb;
    pub const LOGICAL: u64 = 0x218;
    pub const INTEGER: u64 = 0x219;
    pub const REAL: u64 = 0x21a;
    pub const COMPLEX: u64 = 0x21b;
    pub const DOUBLE_PRECISION: u64 = 0x21c;
    pub const DOUBLE_COMPLEX: u64 = 0x21d;
    pub const FLOAT_INT: u64 = 0x228;
    pub const DOUBLE_INT: u64 = 0x229;
    pub const LONG_INT: u64 = 0x22a;
    pub const TWO_INT: u64 = 0x22b;
    pub const SHORT_INT: u64 = 0x22c;
    pub const TWO_REAL: u64 = 0x230;
    pub const TWO_DOUBLE_PRECISION: u64 = 0x231;
    pub const TWO_INTEGER: u64 = 0x232;
    pub const C_BOOL: u64 = 0x238;
    pub const CXX_BOOL: u64 = 0x239;
    pub const WCHAR: u64 = 0x23c;
    pub const INT8: u64 = 0x240;
    pub const UINT8: u64 = 0x241;
    pub const CHAR: u64 = 0x243;
    pub const SIGNED_CHAR: u64 = 0x244;
    pub const UNSIGNED_CHAR: u64 = 0x245;
    pub const BYTE: u64 = 0x247;
    pub const INT16: u64 = 0x248;
    pub const UINT16: u64 = 0x249;
    pub const INT32: u64 = 0x250;
    pub const UINT32: u64 = 0x251;
    pub const INT64: u64 = 0x258;
    pub const UINT64: u64 = 0x259;
}
