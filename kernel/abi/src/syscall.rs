//! System call numbers and error numbers.
//!
//! A call that Linux has and Margay supports keeps Linux's x86-64 number and meaning; Margay's own start at `0x1000`.
//! Arguments go in `rdi rsi rdx r10 r8 r9`, the number and the result in `rax`; `rcx` and `r11` are lost. An error is
//! returned as its negated number.

/// Linux's numbers on x86-64 (arch/x86/entry/syscalls/syscall_64.tbl), each by the name of its call in section 2 of the manual.
pub mod linux {
    pub const READ: u64 = 0;
    pub const WRITE: u64 = 1;
    pub const OPEN: u64 = 2;
    pub const CLOSE: u64 = 3;
    pub const STAT: u64 = 4;
    pub const FSTAT: u64 = 5;
    pub const LSTAT: u64 = 6;
    pub const POLL: u64 = 7;
    pub const LSEEK: u64 = 8;
    pub const MMAP: u64 = 9;
    pub const MPROTECT: u64 = 10;
    pub const MUNMAP: u64 = 11;
    pub const BRK: u64 = 12;
    pub const RT_SIGACTION: u64 = 13;
    pub const RT_SIGPROCMASK: u64 = 14;
    pub const RT_SIGRETURN: u64 = 15;
    pub const IOCTL: u64 = 16;
    pub const PREAD64: u64 = 17;
    pub const PWRITE64: u64 = 18;
    pub const READV: u64 = 19;
    pub const WRITEV: u64 = 20;
    pub const ACCESS: u64 = 21;
    pub const PIPE: u64 = 22;
    pub const SELECT: u64 = 23;
    pub const SCHED_YIELD: u64 = 24;
    pub const MREMAP: u64 = 25;
    pub const MSYNC: u64 = 26;
    pub const MADVISE: u64 = 28;
    pub const DUP: u64 = 32;
    pub const DUP2: u64 = 33;
    pub const NANOSLEEP: u64 = 35;
    pub const GETPID: u64 = 39;
    pub const SENDFILE: u64 = 40;
    pub const EXIT: u64 = 60;
    pub const KILL: u64 = 62;
    pub const UNAME: u64 = 63;
    pub const FCNTL: u64 = 72;
    pub const FLOCK: u64 = 73;
    pub const FSYNC: u64 = 74;
    pub const FDATASYNC: u64 = 75;
    pub const TRUNCATE: u64 = 76;
    pub const FTRUNCATE: u64 = 77;
    pub const GETCWD: u64 = 79;
    pub const CHDIR: u64 = 80;
    pub const FCHDIR: u64 = 81;
    pub const RENAME: u64 = 82;
    pub const MKDIR: u64 = 83;
    pub const RMDIR: u64 = 84;
    pub const CREAT: u64 = 85;
    pub const LINK: u64 = 86;
    pub const UNLINK: u64 = 87;
    pub const SYMLINK: u64 = 88;
    pub const READLINK: u64 = 89;
    pub const CHMOD: u64 = 90;
    pub const FCHMOD: u64 = 91;
    pub const CHOWN: u64 = 92;
    pub const FCHOWN: u64 = 93;
    pub const LCHOWN: u64 = 94;
    pub const UMASK: u64 = 95;
    pub const GETTIMEOFDAY: u64 = 96;
    pub const GETRLIMIT: u64 = 97;
    pub const GETRUSAGE: u64 = 98;
    pub const SYSINFO: u64 = 99;
    pub const TIMES: u64 = 100;
    pub const GETUID: u64 = 102;
    pub const GETGID: u64 = 104;
    pub const SETUID: u64 = 105;
    pub const SETGID: u64 = 106;
    pub const GETEUID: u64 = 107;
    pub const GETEGID: u64 = 108;
    pub const GETPPID: u64 = 110;
    pub const GETPGRP: u64 = 111;
    pub const SETREUID: u64 = 113;
    pub const SETREGID: u64 = 114;
    pub const GETGROUPS: u64 = 115;
    pub const SETRESUID: u64 = 117;
    pub const GETRESUID: u64 = 118;
    pub const SETRESGID: u64 = 119;
    pub const GETRESGID: u64 = 120;
    pub const GETPGID: u64 = 121;
    pub const GETSID: u64 = 124;
    pub const RT_SIGPENDING: u64 = 127;
    pub const SIGALTSTACK: u64 = 131;
    pub const STATFS: u64 = 137;
    pub const FSTATFS: u64 = 138;
    pub const GETPRIORITY: u64 = 140;
    pub const SCHED_GETPARAM: u64 = 143;
    pub const SCHED_GETSCHEDULER: u64 = 145;
    pub const SCHED_GET_PRIORITY_MAX: u64 = 146;
    pub const SCHED_GET_PRIORITY_MIN: u64 = 147;
    pub const MLOCK: u64 = 149;
    pub const MUNLOCK: u64 = 150;
    pub const MLOCKALL: u64 = 151;
    pub const MUNLOCKALL: u64 = 152;
    pub const ARCH_PRCTL: u64 = 158;
    pub const SETRLIMIT: u64 = 160;
    pub const SYNC: u64 = 162;
    pub const GETTID: u64 = 186;
    pub const TKILL: u64 = 200;
    pub const TIME: u64 = 201;
    pub const FUTEX: u64 = 202;
    pub const SCHED_SETAFFINITY: u64 = 203;
    pub const SCHED_GETAFFINITY: u64 = 204;
    pub const GETDENTS64: u64 = 217;
    pub const SET_TID_ADDRESS: u64 = 218;
    pub const FADVISE64: u64 = 221;
    pub const CLOCK_GETTIME: u64 = 228;
    pub const CLOCK_GETRES: u64 = 229;
    pub const CLOCK_NANOSLEEP: u64 = 230;
    pub const EXIT_GROUP: u64 = 231;
    pub const TGKILL: u64 = 234;
    pub const OPENAT: u64 = 257;
    pub const MKDIRAT: u64 = 258;
    pub const FCHOWNAT: u64 = 260;
    pub const NEWFSTATAT: u64 = 262;
    pub const UNLINKAT: u64 = 263;
    pub const RENAMEAT: u64 = 264;
    pub const LINKAT: u64 = 265;
    pub const SYMLINKAT: u64 = 266;
    pub const READLINKAT: u64 = 267;
    pub const FCHMODAT: u64 = 268;
    pub const FACCESSAT: u64 = 269;
    pub const PSELECT6: u64 = 270;
    pub const PPOLL: u64 = 271;
    pub const SET_ROBUST_LIST: u64 = 273;
    pub const UTIMENSAT: u64 = 280;
    pub const FALLOCATE: u64 = 285;
    pub const DUP3: u64 = 292;
    pub const PIPE2: u64 = 293;
    pub const PREADV: u64 = 295;
    pub const PWRITEV: u64 = 296;
    pub const PRLIMIT64: u64 = 302;
    pub const SYNCFS: u64 = 306;
    pub const GETCPU: u64 = 309;
    pub const RENAMEAT2: u64 = 316;
    pub const GETRANDOM: u64 = 318;
    pub const MEMBARRIER: u64 = 324;
    pub const MLOCK2: u64 = 325;
    pub const COPY_FILE_RANGE: u64 = 326;
    pub const STATX: u64 = 332;
    pub const RSEQ: u64 = 334;
    pub const FACCESSAT2: u64 = 439;
}

/// Codes of `arch_prctl(2)` (arch/x86/include/uapi/asm/prctl.h).
pub mod arch_prctl {
    pub const SET_GS: u32 = 0x1001;
    pub const SET_FS: u32 = 0x1002;
    pub const GET_FS: u32 = 0x1003;
    pub const GET_GS: u32 = 0x1004;
}

/// Commands of `membarrier(2)` (linux/membarrier.h).
pub mod membarrier {
    pub const QUERY: u64 = 0;
    pub const GLOBAL: u64 = 1;
    pub const GLOBAL_EXPEDITED: u64 = 1 << 1;
    pub const REGISTER_GLOBAL_EXPEDITED: u64 = 1 << 2;
    pub const PRIVATE_EXPEDITED: u64 = 1 << 3;
    pub const REGISTER_PRIVATE_EXPEDITED: u64 = 1 << 4;
}

/// Flags of `mmap(2)` (asm-generic/mman-common.h, linux/mman.h).
pub mod map {
    pub const SHARED: u64 = 1;
    pub const PRIVATE: u64 = 2;
    pub const SHARED_VALIDATE: u64 = 3;
    pub const TYPE: u64 = 0xf;
    pub const FIXED: u64 = 0x10;
    pub const ANONYMOUS: u64 = 0x20;
    pub const FIXED_NOREPLACE: u64 = 0x10_0000;
}

/// Protections of `mmap(2)` and `mprotect(2)`.
pub mod protection {
    pub const WRITE: u64 = 2;
    pub const EXECUTE: u64 = 4;
    /// Read, write, execute, and the two hints about growth.
    pub const ALL: u64 = 7 | 0x0300_0000;
}

/// Flags of `open(2)`, which descriptors keep in part (asm-generic/fcntl.h).
pub mod open {
    pub const ACCESS_MODE: u32 = 3;
    pub const WRITE_ONLY: u32 = 1;
    pub const READ_WRITE: u32 = 2;
    pub const CREATE: u32 = 0o100;
    pub const EXCLUSIVE: u32 = 0o200;
    pub const TRUNCATE: u32 = 0o1000;
    pub const APPEND: u32 = 0o2000;
    pub const NON_BLOCKING: u32 = 0o4000;
    pub const FOLDER: u32 = 0o200_000;
    pub const NO_FOLLOW: u32 = 0o400_000;
    pub const CLOSE_ON_EXEC: u32 = 0o2_000_000;
    pub const PATH_ONLY: u32 = 0o10_000_000;
    pub const UNNAMED: u32 = 0o20_000_000;
}

/// Flags of calls with a folder's descriptor (linux/fcntl.h), and what stands for the current folder.
pub mod at {
    pub const CURRENT_FOLDER: u32 = -100i32 as u32;
    pub const NO_FOLLOW: u32 = 0x100;
    pub const REMOVE_FOLDER: u32 = 0x200;
    pub const FOLLOW: u32 = 0x400;
    pub const NO_AUTOMOUNT: u32 = 0x800;
    pub const EMPTY_PATH: u32 = 0x1000;
}

/// Commands of `fcntl(2)` (asm-generic/fcntl.h).
pub mod fcntl {
    pub const DUP: u32 = 0;
    pub const GET_FD: u32 = 1;
    pub const SET_FD: u32 = 2;
    pub const GET_FLAGS: u32 = 3;
    pub const SET_FLAGS: u32 = 4;
    pub const GET_LOCK: u32 = 5;
    pub const SET_LOCK: u32 = 6;
    pub const SET_LOCK_WAIT: u32 = 7;
    pub const DUP_CLOSE_ON_EXEC: u32 = 1030;
}

/// Operations of `futex(2)` (linux/futex.h).
pub mod futex {
    pub const WAIT: u32 = 0;
    pub const WAKE: u32 = 1;
    pub const WAIT_BITS: u32 = 9;
    pub const WAKE_BITS: u32 = 10;
    pub const PRIVATE: u32 = 128;
    pub const REAL_TIME: u32 = 256;
}

/// Most file descriptors of a rank: they are below this number (what `RLIMIT_NOFILE` says).
pub const DESCRIPTORS_MAX: usize = 256;

/// First of Margay's own numbers.
pub const MARGAY_BASE: u64 = 0x1000;
/// `abort(status)`: ends the whole job with `status` (1 to 255; 0 counts as 1). Does not return.
pub const JOB_ABORT: u64 = 0x1000;
/// `core_counters(out: *mut CoreCounters) -> 0`: counters of the calling rank's core. `-ENOSYS` in the host home.
pub const CORE_COUNTERS: u64 = 0x1001;
/// `report(text: *const u8, bytes) -> 0`: adds a record to the job's exit report, under the name `runtime-` and the text's first word. The text is a
/// name and `key=value` words, at most [`REPORT_BYTES`] printable ASCII characters; else `-EINVAL`. An empty text adds nothing: it asks
/// whether there is the call.
pub const REPORT: u64 = 0x1002;
/// Most bytes of the text that one [`REPORT`] takes.
pub const REPORT_BYTES: usize = 256;
/// `job_hold(on) -> 0`: while `on` is not 0, peers count on this rank, and its exit with status 0 ends the job with status 1. The message
/// passing runtime holds the job from its start to its end.
pub const JOB_HOLD: u64 = 0x1003;
/// `job_leave(word: *mut u64) -> 0`: as `job_hold(0)`; and when this rank exits with status 0, 1 is stored in the aligned `word` after all that it has
/// stored itself, for peers that may wait for it. `-EFAULT`, `-EINVAL`.
pub const JOB_LEAVE: u64 = 0x1004;
/// `job_end(status)`: ends the whole job on purpose, with `status` (0 to 255), whatever its ranks are doing; unless it is about to end by a failure
/// already. Of a status other than 0 the report is one line, where [`JOB_ABORT`]'s has registers and a back trace. Does not return.
pub const JOB_END: u64 = 0x1005;
/// `job_waits() -> 0`: this rank has waited for [`JOB_WAITS_NS`], and has not said so for as long. The home asks nodes that have been silent whether they are there; if one is
/// lost, the job ends with status [`NODE_LOST`](crate::exit::NODE_LOST), and the call does not return.
pub const JOB_WAITS: u64 = 0x1006;
/// How often a rank that waits makes that call, in nanoseconds.
pub const JOB_WAITS_NS: u64 = 500_000_000;
/// `job_halt() -> 0`: the core sleeps until the network has interrupted since the last such call, or for [`JOB_HALT_NS`]. For a rank that has looked at all it waits for after
/// that call. Errors: `EINVAL` unless the job's ranks wait so ([`FLAG_WAIT_BY_HALT`](crate::job_page::FLAG_WAIT_BY_HALT)).
pub const JOB_HALT: u64 = 0x1007;
/// How long such a sleep is at most, in nanoseconds: a wait may be for the clock, or for something that no interrupt tells.
pub const JOB_HALT_NS: u64 = 10_000_000;
/// What a yield by [`JobPage::call_code`](crate::job_page::JobPage::call_code) says, if not how many polls its wait has taken: this rank has just done something,
/// so that a wait that it is in begins anew.
pub const YIELD_AFTER_WORK: u64 = 0;
/// Of a look that found nothing, which a wait may have made or not.
pub const YIELD_OUTSIDE_WAIT: u64 = u64::MAX;

/// Portals 4 ([`crate::portals`]): what is not done in the program's own memory. `-ENOSYS` where a home has no network.
pub mod portals {
    /// `(options, limits: *const Limits or 0, actual: *mut Limits or 0) -> interface`
    pub const INTERFACE_OPEN: u64 = 0x1100;
    /// `(interface) -> 0`
    pub const INTERFACE_CLOSE: u64 = 0x1101;
    /// `(interface, register) -> count`
    pub const INTERFACE_STATUS: u64 = 0x1102;
    /// `(interface, options, queue, index or PT_ANY) -> index`
    pub const TABLE_ALLOCATE: u64 = 0x1103;
    /// `(interface, index) -> 0`
    pub const TABLE_FREE: u64 = 0x1104;
    /// `(interface, index, on) -> messages that are still arriving`
    pub const TABLE_ENABLE: u64 = 0x1105;
    /// `(interface, *const Descriptor) -> descriptor`
    pub const DESCRIPTOR_BIND: u64 = 0x1106;
    /// `(descriptor) -> 0`
    pub const DESCRIPTOR_RELEASE: u64 = 0x1107;
    /// `(interface, index, *const Entry, list) -> entry`
    pub const ENTRY_APPEND: u64 = 0x1108;
    /// `(entry) -> 0`
    pub const ENTRY_UNLINK: u64 = 0x1109;
    /// `(interface, index, *const Entry, search) -> 0`
    pub const ENTRY_SEARCH: u64 = 0x110a;
    /// `(interface, ring, events) -> queue`
    pub const QUEUE_ALLOCATE: u64 = 0x110b;
    /// `(queue) -> 0`
    pub const QUEUE_FREE: u64 = 0x110c;
    /// `(interface, words) -> counter`
    pub const COUNTER_ALLOCATE: u64 = 0x110d;
    /// `(counter) -> 0`
    pub const COUNTER_FREE: u64 = 0x110e;
    /// `(counter, successes, failures, set) -> 0`: sets the counts, or adds to them.
    pub const COUNTER_CHANGE: u64 = 0x110f;
    /// `(counter) -> 0`: forgets what the counter was to trigger.
    pub const COUNTER_CANCEL: u64 = 0x1110;
    /// `(interface, *const Operation) -> 0`; interface 0: that of the operation's descriptor, or of the counter that it waits for.
    pub const OPERATE: u64 = 0x1111;
    /// `(interface, start) -> 0`: operations until the end of the bundle may go together.
    pub const BUNDLE: u64 = 0x1112;
    /// `(handle) -> interface`: whatever the handle is of.
    pub const HANDLE_INTERFACE: u64 = 0x1113;
    /// `(interface, *mut NodeCounts) -> 0`
    pub const NODE_COUNTS: u64 = 0x1114;
    /// `(interface, *const RawFrames) -> frames sent`: frames of the card's without a link, to measure by.
    pub const RAW_FRAMES: u64 = 0x1115;
    /// First and last of these numbers.
    pub const RANGE: core::ops::RangeInclusive<u64> = INTERFACE_OPEN..=RAW_FRAMES;
}

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
    /// System management interrupts, which firmware takes unseen; [`CoreCounters::NOT_COUNTED`] where the processor does not count them.
    pub smis: u64,
}

impl CoreCounters {
    /// In the place of a count that nobody keeps.
    pub const NOT_COUNTED: u64 = u64::MAX;
}

/// Linux's error numbers, positive, by their names (errno(3); include/uapi/asm-generic/errno-base.h and errno.h).
pub mod errno {
    pub const EPERM: i64 = 1;
    pub const ENOENT: i64 = 2;
    pub const ESRCH: i64 = 3;
    pub const EINTR: i64 = 4;
    pub const EIO: i64 = 5;
    pub const ENXIO: i64 = 6;
    pub const E2BIG: i64 = 7;
    pub const EBADF: i64 = 9;
    pub const EAGAIN: i64 = 11;
    pub const ENOMEM: i64 = 12;
    pub const EACCES: i64 = 13;
    pub const EFAULT: i64 = 14;
    pub const EBUSY: i64 = 16;
    pub const EEXIST: i64 = 17;
    pub const EXDEV: i64 = 18;
    pub const ENODEV: i64 = 19;
    pub const ENOTDIR: i64 = 20;
    pub const EISDIR: i64 = 21;
    pub const EINVAL: i64 = 22;
    pub const ENFILE: i64 = 23;
    pub const EMFILE: i64 = 24;
    pub const ENOTTY: i64 = 25;
    pub const ETXTBSY: i64 = 26;
    pub const EFBIG: i64 = 27;
    pub const ENOSPC: i64 = 28;
    pub const ESPIPE: i64 = 29;
    pub const EROFS: i64 = 30;
    pub const EMLINK: i64 = 31;
    pub const EPIPE: i64 = 32;
    pub const ERANGE: i64 = 34;
    pub const EDEADLK: i64 = 35;
    pub const ENAMETOOLONG: i64 = 36;
    pub const ENOLCK: i64 = 37;
    pub const ENOSYS: i64 = 38;
    pub const ENOTEMPTY: i64 = 39;
    pub const ELOOP: i64 = 40;
    pub const EOVERFLOW: i64 = 75;
    pub const EOPNOTSUPP: i64 = 95;
    pub const ETIMEDOUT: i64 = 110;
    pub const EDQUOT: i64 = 122;
}
