//! System call numbers and error numbers.
//!
//! A call that Linux has and Margay supports keeps Linux's x86-64 number and meaning; Margay's own start at `0x1000`.
//! Arguments go in `rdi rsi rdx r10 r8 r9`, the number and the result in `rax`; `rcx` and `r11` are lost. An error is
//! returned as its negated number.

/// Linux's numbers.
pub mod linux {
    pub const READ: u64 = 0;
    pub const WRITE: u64 = 1;
    pub const MMAP: u64 = 9;
    pub const MUNMAP: u64 = 11;
    pub const BRK: u64 = 12;
    pub const WRITEV: u64 = 20;
    pub const SCHED_YIELD: u64 = 24;
    pub const GETPID: u64 = 39;
    pub const EXIT: u64 = 60;
    pub const UNAME: u64 = 63;
    pub const ARCH_PRCTL: u64 = 158;
    pub const GETTID: u64 = 186;
    pub const CLOCK_GETTIME: u64 = 228;
    pub const EXIT_GROUP: u64 = 231;
    pub const GETRANDOM: u64 = 318;
}

/// First of Margay's own numbers.
pub const MARGAY_BASE: u64 = 0x1000;
/// `abort(status)`: ends the whole job with `status` (1 to 255; 0 counts as 1). Does not return.
pub const JOB_ABORT: u64 = 0x1000;
/// `core_counters(out: *mut CoreCounters) -> 0`: counters of the calling rank's core. `-ENOSYS` in the host home.
pub const CORE_COUNTERS: u64 = 0x1001;

/// What the kernel has counted on one core since the job's first instruction there.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreCounters {
    /// Interrupts of every vector from 32 up, and NMIs.
    pub interrupts: u64,
    /// Processor exceptions.
    pub faults: u64,
    /// System calls, this one included.
    pub syscalls: u64,
}

/// Linux's error numbers, positive.
pub mod errno {
    pub const EPERM: i64 = 1;
    pub const ENOENT: i64 = 2;
    pub const EBADF: i64 = 9;
    pub const EAGAIN: i64 = 11;
    pub const ENOMEM: i64 = 12;
    pub const EACCES: i64 = 13;
    pub const EFAULT: i64 = 14;
    pub const EEXIST: i64 = 17;
    pub const ENODEV: i64 = 19;
    pub const EINVAL: i64 = 22;
    pub const ENOSYS: i64 = 38;
}
