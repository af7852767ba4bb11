//! The system calls, typed. Numbers and meanings are Linux's; Margay's own start at `0x1000`.
//!
//! Each call is one `syscall` instruction. A pointer may lead into a peer's slot: a peer's memory is as good as one's own.

use crate::arch;
use crate::errno::Errno;
use core::ptr::NonNull;
use lwk_abi::syscall::membarrier::{GLOBAL_EXPEDITED, REGISTER_GLOBAL_EXPEDITED};
use lwk_abi::syscall::{
    CORE_COUNTERS, CoreCounters, JOB_ABORT, JOB_END, JOB_HALT, JOB_HOLD, JOB_LEAVE, JOB_WAITS, REPORT,
    YIELD_AFTER_WORK, YIELD_OUTSIDE_WAIT, linux,
};
use lwk_words::Told;

/// Any system call by number: six arguments, the result as it comes, which [`Errno::check`] splits. For tests and for calls that have no
/// wrapper here.
///
/// # Safety
/// Whatever the call does with the memory its arguments name must be sound.
pub unsafe fn raw(number: u64, arguments: [u64; 6]) -> i64 {
    // SAFETY: what the call does with the memory that its arguments name is sound (this function's contract).
    unsafe { arch::syscall(number, arguments) }
}

fn address_of<T>(pointer: *const T) -> u64 {
    pointer.expose_provenance() as u64
}

/// Reads up to `buffer.len()` bytes; returns how many, 0 at the end of the file. Errors: as `read(2)`.
pub fn read(fd: u32, buffer: &mut [u8]) -> Result<usize, Errno> {
    let arguments = [fd as u64, address_of(buffer.as_mut_ptr()), buffer.len() as u64, 0, 0, 0];
    // SAFETY: the call writes at most `len` bytes into the buffer, which is borrowed exclusively.
    Errno::check(unsafe { raw(linux::READ, arguments) }).map(|bytes| bytes as usize)
}

/// Writes up to `bytes.len()` bytes; returns how many. Errors: as `write(2)`.
pub fn write(fd: u32, bytes: &[u8]) -> Result<usize, Errno> {
    let arguments = [fd as u64, address_of(bytes.as_ptr()), bytes.len() as u64, 0, 0, 0];
    // SAFETY: the call only reads the slice.
    Errno::check(unsafe { raw(linux::WRITE, arguments) }).map(|bytes| bytes as usize)
}

/// Sets the end of the `brk` heap, an address, and returns the new end; on failure, the old one. 0 asks for the present end.
///
/// # Safety
/// Nothing may be in use above the new end.
pub unsafe fn brk(end: u64) -> u64 {
    // SAFETY: nothing is in use above the new end (this function's contract), and what is fresh below it nobody has yet.
    unsafe { raw(linux::BRK, [end, 0, 0, 0, 0, 0]) as u64 }
}

/// Fresh zeroed memory from the segment, readable and writable, page aligned. `bytes` is rounded up to pages.
///
/// Errors: `ENOMEM` if the segment has no such hole, `EINVAL` for 0 bytes.
pub fn mmap(bytes: usize) -> Result<NonNull<u8>, Errno> {
    /// `PROT_READ | PROT_WRITE`.
    const PROTECTION: u64 = 1 | 2;
    /// `MAP_PRIVATE | MAP_ANONYMOUS`.
    const FLAGS: u64 = 2 | 0x20;
    // SAFETY: without MAP_FIXED the call touches no memory that is in use.
    let address =
        Errno::check(unsafe { raw(linux::MMAP, [0, bytes as u64, PROTECTION, FLAGS, u64::MAX, 0]) })?;
    NonNull::new(core::ptr::with_exposed_provenance_mut(address as usize)).ok_or(Errno::ENOMEM)
}

/// Gives memory of [`mmap`], whole pages from `start` on, back.
///
/// Errors: `EINVAL` for an address that begins no page, no bytes, or a range outside the heap; `ENOMEM` if what is left would be too many areas.
///
/// # Safety
/// Nothing may use the range any more, in no rank.
pub unsafe fn munmap(start: NonNull<u8>, bytes: usize) -> Result<(), Errno> {
    // SAFETY: nothing uses the range any more (this function's contract).
    Errno::check(unsafe { raw(linux::MUNMAP, [address_of(start.as_ptr()), bytes as u64, 0, 0, 0, 0]) })
        .map(|_| ())
}

/// Lets another rank on this core run, if there is one; in a job only. In the cheapest way that the home has: a system call is a signal in the host
/// home.
#[inline]
pub fn sched_yield() {
    yield_saying(YIELD_OUTSIDE_WAIT);
}

/// The same of a rank that has just done something for itself or for others.
#[inline]
pub(crate) fn yield_after_work() {
    yield_saying(YIELD_AFTER_WORK);
}

/// The same in a wait that has taken so many polls: what nobody answers for long can sleep.
#[inline]
pub(crate) fn yield_in_wait(polls: u32) {
    yield_saying(polls.into());
}

#[inline]
fn yield_saying(polls: u64) {
    let page = crate::job().page();
    if yield_looks() {
        return yield_to_network(page.call_code, polls);
    }
    match page.yield_code {
        // SAFETY: no memory is involved. The call has no error.
        0 => unsafe { raw(linux::SCHED_YIELD, [0; 6]) },
        // SAFETY: it is what the home's job page says.
        code => unsafe {
            arch::call_yield(code);
            0
        },
    };
}

/// Whether a yield takes in what other nodes have sent.
#[inline]
pub(crate) fn yield_looks() -> bool {
    let page = crate::job().page();
    page.nodes > 1 && page.call_code != 0
}

/// A yield where this rank may take in what other nodes have sent.
#[inline(never)]
fn yield_to_network(code: u64, polls: u64) {
    // SAFETY: it is what the home's job page says; what comes goes where others may reach this rank's memory, as at any time. The call has no error.
    unsafe { arch::call_home(code, linux::SCHED_YIELD, [polls, 0, 0, 0]) };
}

/// A system call of Portals' or LiMIC's, in the cheapest way that the home has.
///
/// # Safety
/// As for [`raw`].
pub(crate) unsafe fn raw_of_home(number: u64, arguments: [u64; 4]) -> i64 {
    let [a, b, c, d] = arguments;
    match crate::job().page().call_code {
        // SAFETY: this function's contract.
        0 => unsafe { raw(number, [a, b, c, d, 0, 0]) },
        // SAFETY: it is what the home's job page says, and this function's contract.
        code => unsafe { arch::call_home(code, number, arguments) },
    }
}

/// Has this core sleep until the network interrupts it ([`JOB_HALT`]): for a rank that has looked at all it waits for since the last time.
pub(crate) fn halt() {
    // SAFETY: the call names no memory.
    unsafe { raw(JOB_HALT, [0; 6]) };
}

/// Says that this rank waits ([`JOB_WAITS`]): does not return if a node of the job is lost.
pub(crate) fn waits() {
    // SAFETY: no memory is involved. The call has no error.
    unsafe { raw(JOB_WAITS, [0; 6]) };
}

/// The process number of this rank: its node rank plus one.
pub fn getpid() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { raw(linux::GETPID, [0; 6]) as u32 }
}

/// The thread number of this rank, which is its process number.
pub fn gettid() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { raw(linux::GETTID, [0; 6]) as u32 }
}

/// Clocks of [`clock_gettime`]. The clock module reads the time without a system call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum ClockId {
    Realtime = 0,
    Monotonic = 1,
}

/// Linux's `struct timespec`.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Timespec {
    /// Seconds.
    pub seconds: i64,
    /// Nanoseconds, below a thousand million.
    pub nanoseconds: i64,
}

/// The time of a clock. Errors: none in either home.
pub fn clock_gettime(clock: ClockId) -> Result<Timespec, Errno> {
    let mut time = Timespec::default();
    let arguments = [clock as u64, address_of(&raw mut time), 0, 0, 0, 0];
    // SAFETY: the call writes one timespec, into a variable of this function.
    Errno::check(unsafe { raw(linux::CLOCK_GETTIME, arguments) })?;
    Ok(time)
}

/// Fills a buffer with random bytes; returns how many (fewer only from 32 MiB on). Errors: `ENOSYS` where there is no generator.
pub fn getrandom(buffer: &mut [u8]) -> Result<usize, Errno> {
    let arguments = [address_of(buffer.as_mut_ptr()), buffer.len() as u64, 0, 0, 0, 0];
    // SAFETY: the call writes at most `len` bytes into the buffer, which is borrowed exclusively.
    Errno::check(unsafe { raw(linux::GETRANDOM, arguments) }).map(|bytes| bytes as usize)
}

/// Says that this rank is to be reached by [`fence_ranks`] of others. Errors: any, where that cannot be done.
pub fn accept_fences() -> Result<(), Errno> {
    membarrier(REGISTER_GLOBAL_EXPEDITED)
}

/// Every rank that has called [`accept_fences`] makes a sequentially consistent fence, wherever it is in its program, between beginning and end of
/// this. Errors: any, where that cannot be done.
pub fn fence_ranks() -> Result<(), Errno> {
    membarrier(GLOBAL_EXPEDITED)
}

fn membarrier(command: u64) -> Result<(), Errno> {
    // SAFETY: no memory is involved.
    Errno::check(unsafe { raw(linux::MEMBARRIER, [command, 0, 0, 0, 0, 0]) }).map(|_| ())
}

/// Linux's `struct new_utsname`: strings of up to 64 bytes, each ended by a NUL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Utsname {
    pub system: [u8; 65],
    pub node: [u8; 65],
    pub release: [u8; 65],
    pub version: [u8; 65],
    pub machine: [u8; 65],
    pub domain: [u8; 65],
}

/// Names of the system, as `uname(2)` tells them. Errors: none in either home.
pub fn uname() -> Result<Utsname, Errno> {
    let empty = [0; 65];
    let mut names =
        Utsname { system: empty, node: empty, release: empty, version: empty, machine: empty, domain: empty };
    // SAFETY: the call writes one structure of this layout, into a variable of this function.
    Errno::check(unsafe { raw(linux::UNAME, [address_of(&raw mut names), 0, 0, 0, 0, 0]) })?;
    Ok(names)
}

/// What the kernel has counted on this rank's core. `ENOSYS` in the host home.
pub fn core_counters() -> Result<CoreCounters, Errno> {
    let mut counters = CoreCounters::default();
    // SAFETY: the call writes one structure, into a variable of this function.
    Errno::check(unsafe { raw(CORE_COUNTERS, [address_of(&raw mut counters), 0, 0, 0, 0, 0]) })?;
    Ok(counters)
}

/// Adds a record to the job's exit report: a name and `key=value` words, at most 256 bytes of printable ASCII. `EINVAL` if they are not.
pub fn report(text: &[u8]) -> Result<(), Errno> {
    // SAFETY: the call only reads the text.
    Errno::check(unsafe { raw(REPORT, [address_of(text.as_ptr()), text.len() as u64, 0, 0, 0, 0]) }).map(drop)
}

/// Whether this program runs in a job: nobody but Margay's homes knows its own calls.
pub fn is_in_job() -> bool {
    report(b"") != Err(Errno::ENOSYS)
}

/// Ends this rank with a status, 0 to 255; a status other than 0 ends the job.
pub fn exit(status: i32) -> ! {
    loop {
        // SAFETY: the call does not return.
        unsafe { raw(linux::EXIT_GROUP, [status as u64, 0, 0, 0, 0, 0]) };
    }
}

/// Says whether peers count on this rank: while they do, its exit with status 0 ends the job. The message passing runtime says so from its
/// start to its end.
pub fn hold_job(on: bool) {
    // SAFETY: no memory is involved. The call has no error.
    unsafe { raw(JOB_HOLD, [on as u64, 0, 0, 0, 0, 0]) };
}

/// Says that peers do not count on this rank any more, and what they look at in case they do: when this rank exits with status 0, `word` tells 1.
pub fn leave_job(word: &'static Told) {
    // SAFETY: a word that lives as long as the program and may be written at any time. So the call has no error.
    unsafe { raw(JOB_LEAVE, [word.address(), 0, 0, 0, 0, 0]) };
}

/// Ends the whole job on purpose, with the low byte of a status, whatever its ranks are doing.
pub fn end_job(status: i32) -> ! {
    // SAFETY: the call does not return; where there is no such call it has no effect.
    unsafe { raw(JOB_END, [status as u64, 0, 0, 0, 0, 0]) };
    exit(status)
}

/// Ends the whole job for a mistake, with a status, 1 to 255; 0 counts as 1. Registers and a back trace are told.
pub fn abort(status: i32) -> ! {
    // SAFETY: the call does not return; where there is no such call it has no effect.
    unsafe { raw(JOB_ABORT, [status as u64, 0, 0, 0, 0, 0]) };
    exit(if status == 0 { 1 } else { status })
}
