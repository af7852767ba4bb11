//! Copies that a rank orders and somebody else makes (Chai's dissertation, chapter 5): a worker, which is the kernel on a core of its own, or a copy engine.
//!
//! Table 5.1's calls copy within memory that the caller can reach, its peers' included. Table 5.2's are between two ranks: one writes, the other reads, and the one
//! that comes later finds the other, by a number that both name. Nothing is pinned and no pages are cached, since a rank's memory never moves.
//!
//! An order is in memory of the rank that gives it, and stays there until it is done: the system tells so by its state, on whichever core.

/// A copy, in memory of the rank that orders it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copy {
    /// [`crate::limic::WAITS`] or [`crate::limic::DONE`].
    pub state: u64,
    /// Address of the first byte to be copied, and of the place for it. They do not overlap.
    pub from: u64,
    pub to: u64,
    pub bytes: u64,
}

/// `engine_iwrite(request: *mut limic::Request, way) -> 1 if it is done, 0 if it is not`: offers a buffer to the rank that the request names, under its label. `way` is one of
/// [`BY_WORKER`] and its like. Errors as [`crate::limic::ISEND`]'s; `-ENODEV` where the job has no worker, or the node no such engine.
pub const IWRITE: u64 = 0x1209;
/// `engine_iread(request: *mut limic::Request, way) -> the same`: takes what the rank that the request names offers under its label; as much as both have.
pub const IREAD: u64 = 0x120a;
/// `engine_icopy(copy: *mut Copy, way) -> the same`: `-EFAULT`; `-ENODEV`.
pub const ICOPY: u64 = 0x120b;
/// `engine_workers() -> number`: how many cores work for the job's ranks.
pub const WORKERS: u64 = 0x120c;
/// `engine_check() -> copies under way`: has the system look what the copy engine has done, and tell those whose copies are done. With [`BY_ENGINE`] nobody else does.
pub const CHECK: u64 = 0x120d;
/// `engine_counts(counts: *mut Counts) -> 0`: `-EFAULT`.
pub const COUNTS: u64 = 0x120e;
/// `engine_fault(after, fault) -> 0`, for tests: the copy engine, if it is a model, fails at the descriptor after `after` more, by the fault with that number: 1 it halts, 2 a bad
/// address, 3 a broken chain, 4 it halts in silence. `-EINVAL` for any other; `-ENODEV` without a model.
pub const FAULT: u64 = 0x120f;
/// First and last of these numbers.
pub const RANGE: core::ops::RangeInclusive<u64> = IWRITE..=FAULT;

/// A worker copies (the dissertation's MCNI).
pub const BY_WORKER: u64 = 0;
/// A worker has the copy engine copy (MCI).
pub const BY_WORKER_AND_ENGINE: u64 = 1;
/// The caller's own system call has the copy engine copy (SCI).
pub const BY_ENGINE: u64 = 2;

/// What has become of copies for a copy engine, of all ranks.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The engine has made them.
    pub copied: u64,
    /// The processor has, since the engine had no descriptor left.
    pub declined: u64,
    /// The processor has, since the engine had halted.
    pub rescued: u64,
    /// How often the engine has halted, and how often it did not come back.
    pub halts: u64,
    pub lost: u64,
    /// Descriptors and bytes of the copies that the engine has made.
    pub descriptors: u64,
    pub bytes: u64,
}

/// The most workers of a job.
pub const WORKERS_MOST: u32 = 64;
