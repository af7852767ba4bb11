//! Copies that a rank orders and a worker makes, a core of its own beside the ranks' (`cargo lwk run --workers N`), after the interfaces of chapter 5 of Chai's dissertation.
//!
//! Table 5.1, copies within memory that this rank can reach, its peers' at their slots included: [`copy`], [`icopy`], [`Copy::check`], [`Copy::wait`]. Table 5.2, between two
//! ranks, of which one writes and the other reads, under a number on which they agree: [`iwrite`], [`iread`], [`write()`], [`read`], [`check`], [`wait`].
//!
//! A copy that is done is ordered like one by loads and stores of this rank, and is looked for without a system call.

use crate::limic::Request;
use crate::syscall::raw_of_home;
use crate::wait::spin_until;
use crate::{Errno, NodeRank};
pub use lwk_abi::engine::Counts;

use lwk_abi::engine::{
    BY_ENGINE, BY_WORKER, BY_WORKER_AND_ENGINE, CHECK, COUNTS, FAULT, ICOPY, IREAD, IWRITE, WORKERS,
};
use lwk_abi::limic::{READS, WRITES};

/// Who makes a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Way {
    /// A worker (the dissertation's MCNI).
    Worker = BY_WORKER,
    /// The copy engine, which a worker starts (MCI).
    WorkerAndEngine = BY_WORKER_AND_ENGINE,
    /// The copy engine, which this rank's own system call starts (SCI): nobody but the ranks looks what it has done.
    Engine = BY_ENGINE,
}

/// How many workers the job has on this node.
#[must_use]
pub fn workers() -> u32 {
    // SAFETY: the call touches no memory.
    Errno::check(unsafe { raw_of_home(WORKERS, [0; 4]) }).unwrap_or(0) as u32
}

/// Has the system look what the copy engine has done, for all ranks; how many copies are under way there. [`Way::Engine`] needs it.
pub fn look() -> u64 {
    // SAFETY: the call touches no memory but what copies under way name.
    Errno::check(unsafe { raw_of_home(CHECK, [0; 4]) }).unwrap_or(0)
}

/// What has become of copies for the copy engine, of all ranks.
#[must_use]
pub fn counts() -> Counts {
    let mut counts = Counts::default();
    let address = (&raw mut counts).expose_provenance() as u64;
    // SAFETY: the call writes to this function's variable.
    match Errno::check(unsafe { raw_of_home(COUNTS, [address, 0, 0, 0]) }) {
        Ok(_) => counts,
        Err(_) => Counts::default(),
    }
}

/// For tests: the modelled engine fails at the descriptor after `after` more, by the fault of that number ([`lwk_abi::engine::FAULT`]). Errors: `EINVAL`; `ENODEV` without a
/// model.
pub fn fail(after: u64, fault: u64) -> Result<(), Errno> {
    // SAFETY: the call touches no memory.
    Errno::check(unsafe { raw_of_home(FAULT, [after, fault, 0, 0]) }).map(drop)
}

/// A copy that has been ordered: the dissertation's cookie.
#[derive(Debug, Default)]
pub struct Copy(lwk_words::Copy);

impl Copy {
    /// One that has not been ordered.
    #[must_use]
    pub const fn new() -> Copy {
        Copy(lwk_words::Copy::new())
    }

    /// `ioat_check_copy`: whether it is done.
    #[must_use]
    pub fn check(&self) -> bool {
        self.0.is_done()
    }

    /// `ioat_wait_copy`: until it is done.
    pub fn wait(&self) {
        spin_until(|| self.check() || (look() > 0 && self.check()));
    }
}

/// `ioat_icopy`: orders a copy of `bytes` bytes, this rank's memory or a peer's. Errors: `EFAULT`; `ENODEV` if the job has no workers.
///
/// # Safety
/// Until the copy is done `from` is readable and nobody writes it; `to` is writable, apart from it, and nobody else uses it; and the copy stays where it is and is not
/// ordered again.
pub unsafe fn icopy(copy: &Copy, way: Way, from: *const u8, to: *mut u8, bytes: usize) -> Result<(), Errno> {
    copy.0.set(from.expose_provenance() as u64, to.expose_provenance() as u64, bytes as u64);
    // SAFETY: the call reads and writes the copy, whose words are atomic, and orders what this function's contract allows.
    Errno::check(unsafe { raw_of_home(ICOPY, [copy.0.address(), way as u64, 0, 0]) }).map(drop)
}

/// `ioat_copy`: the same, and waits until it is done. Errors: as [`icopy`].
///
/// # Safety
/// As for [`icopy`].
pub unsafe fn copy(way: Way, from: *const u8, to: *mut u8, bytes: usize) -> Result<(), Errno> {
    let copy = Copy::new();
    // SAFETY: as this function's contract; the copy is done before it goes.
    unsafe { icopy(&copy, way, from, to, bytes)? };
    copy.wait();
    Ok(())
}

/// `ioat_iwrite`: offers a buffer to a rank of the node, under a number. True if nothing is left to be done. Errors: as [`crate::limic::isend`]; `ENODEV` if the job has no
/// workers.
///
/// # Safety
/// The buffer is readable for so many bytes, and nobody writes it, and the request stays where it is and is not posted again, until it is done.
pub unsafe fn iwrite(
    request: &Request,
    way: Way,
    to: NodeRank,
    number: u64,
    buffer: *const u8,
    bytes: usize,
) -> Result<bool, Errno> {
    request.set_number(to, number, buffer, bytes);
    request.call(IWRITE, way as u64)
}

/// `ioat_iread`: takes what a rank of the node offers under a number, as much as both have. As [`iwrite`].
///
/// # Safety
/// The buffer is writable for so many bytes, and nobody else uses it, and the request stays where it is and is not posted again, until it is done.
pub unsafe fn iread(
    request: &Request,
    way: Way,
    from: NodeRank,
    number: u64,
    buffer: *mut u8,
    bytes: usize,
) -> Result<bool, Errno> {
    request.set_number(from, number, buffer, bytes);
    request.call(IREAD, way as u64)
}

/// `ioat_check`: the bytes that the other side has offered, if the request is done. Of more than were to be read the first have come.
#[must_use]
pub fn check(request: &Request) -> Option<usize> {
    request.message().map(|message| message.bytes as usize)
}

/// `ioat_wait`: the same, when the request is done.
pub fn wait(request: &Request) -> usize {
    spin_until(|| check(request).is_some() || (look() > 0 && check(request).is_some()));
    check(request).unwrap_or(0)
}

/// `ioat_write`: [`iwrite`], and waits until it has been read. Errors: as there.
pub fn write(way: Way, to: NodeRank, number: u64, buffer: &[u8]) -> Result<(), Errno> {
    let request = Request::new();
    // SAFETY: the buffer is borrowed, and the request stays, until it is done.
    unsafe { iwrite(&request, way, to, number, buffer.as_ptr(), buffer.len())? };
    wait(&request);
    Ok(())
}

/// `ioat_read`: [`iread`], and waits until it is there; how many bytes were offered. Errors: as there.
pub fn read(way: Way, from: NodeRank, number: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
    let request = Request::new();
    // SAFETY: the buffer is borrowed alone, and the request stays, until it is done.
    unsafe { iread(&request, way, from, number, buffer.as_mut_ptr(), buffer.len())? };
    Ok(wait(&request))
}

/// Takes an offer back; false if it has been met by a read. Errors: `EFAULT`, `EINVAL`: it was not posted as it is.
pub fn withdraw_write(request: &Request) -> Result<bool, Errno> {
    request.withdraw(WRITES)
}

/// The same of a read.
pub fn withdraw_read(request: &Request) -> Result<bool, Errno> {
    request.withdraw(READS)
}

/// The bytes of an offer are taken from a copy of them from now on; false if it has been met by a read. Errors: `EFAULT`, `EINVAL`.
///
/// # Safety
/// The copy holds the bytes, and nobody writes it until the request is done.
pub unsafe fn relocate(request: &Request, copy: *const u8) -> Result<bool, Errno> {
    // SAFETY: this function's contract.
    unsafe { request.relocate_to(copy, WRITES) }
}
