//! Copies between ranks by the system, which need no load or store of a peer's memory: LiMIC's calls and LiMIC2's (Chai's dissertation, chapter 4 and section 6.1).
//!
//! LiMIC matches: [`isend`] and [`irecv`] post a [`Request`] to the system, and the one that comes later copies. LiMIC2 does not: one rank
//! describes its memory and sends the [`Descriptor`]; another copies from there, or to there. Matching and telling who is done are the
//! caller's.
//!
//! A copy is ordered like one by loads and stores of the calling rank.

pub use lwk_abi::limic::{Descriptor, Envelope};

use crate::syscall::raw_of_home;
use crate::{Errno, NodeRank, job};
use lwk_abi::address::remote;
use lwk_abi::job_page::JobPage;
use lwk_abi::limic::{
    IF_AWAITED, IPROBE, IRECV, ISEND, RECEIVES, RELOCATE, RX_COMP, SENDS, TX_COMP, TX_INIT, WAIT, WITHDRAW,
};
use lwk_words::Outcome;

/// Describes `bytes` bytes of memory at `buffer`, this rank's or a peer's. Errors: `EFAULT` if not all can be read.
pub fn tx_init(buffer: *const u8, bytes: usize) -> Result<Descriptor, Errno> {
    let mut descriptor = Descriptor::default();
    let target = (&raw mut descriptor).expose_provenance() as u64;
    // SAFETY: the call writes a descriptor, into this function's variable, and touches nothing else.
    Errno::check(unsafe {
        raw_of_home(TX_INIT, [buffer.expose_provenance() as u64, bytes as u64, target, 0])
    })?;
    Ok(descriptor)
}

/// The same without a system call, where none is needed: for this rank's own data, heap and stack, of which it knows that they can be read. Errors: as [`tx_init`].
pub fn describe(buffer: *const u8, bytes: usize) -> Result<Descriptor, Errno> {
    match own(job().page(), buffer.expose_provenance() as u64, bytes as u64) {
        Some(descriptor) => Ok(descriptor),
        None => tx_init(buffer, bytes),
    }
}

/// What the system would answer to the rank of this page; none if the memory may be no memory, or not its own.
fn own(page: &JobPage, address: u64, bytes: u64) -> Option<Descriptor> {
    let within = |start: u64, end: u64| (start..end).contains(&address) && bytes <= end - address;
    let is_own = within(page.data_start, page.heap_end) || within(page.stack_start, page.stack_end);
    is_own.then_some(Descriptor { address: remote(address, page.node_rank), length: bytes, offset: 0 })
}

/// Copies from the memory described, from the descriptor's offset on, to `buffer`, as many bytes as both have; says how many. Errors: `EFAULT` if either is
/// no such memory; `EINVAL` for a descriptor that is none; in the host home, what Linux says if it forbids ranks to reach each other (`EPERM`).
///
/// # Safety
/// `buffer` is writable for `bytes` bytes, apart from what is described; nobody writes either meanwhile, or reads the buffer.
pub unsafe fn rx_comp(buffer: *mut u8, bytes: usize, from: &Descriptor) -> Result<usize, Errno> {
    // SAFETY: the call writes to the buffer as this function's contract allows.
    unsafe { copy(RX_COMP, buffer, bytes, from) }
}

/// Copies `bytes` bytes at `buffer` to the memory described, as [`rx_comp`] the other way round.
///
/// # Safety
/// `buffer` is readable for `bytes` bytes, apart from what is described; nobody writes either meanwhile, or reads what is described.
pub unsafe fn tx_comp(buffer: *const u8, bytes: usize, to: &Descriptor) -> Result<usize, Errno> {
    // SAFETY: the call writes to what is described, as this function's contract allows.
    unsafe { copy(TX_COMP, buffer, bytes, to) }
}

/// # Safety
/// As for the function that makes the call.
unsafe fn copy(
    number: u64,
    buffer: *const u8,
    bytes: usize,
    descriptor: &Descriptor,
) -> Result<usize, Errno> {
    let (buffer, descriptor) =
        (buffer.expose_provenance(), core::ptr::from_ref(descriptor).expose_provenance());
    // SAFETY: what the call reads and writes is as this function's contract says; the descriptor is readable.
    let answer = unsafe { raw_of_home(number, [buffer as u64, bytes as u64, descriptor as u64, 0]) };
    Errno::check(answer).map(|bytes| bytes as usize)
}

/// A send or a receive that has been posted ([`lwk_abi::limic::Request`]): the system writes to it when it is done, on whichever core.
#[derive(Debug, Default)]
pub struct Request(lwk_words::Request);

impl Request {
    /// One that has not been posted.
    #[must_use]
    pub const fn new() -> Request {
        Request(lwk_words::Request::new())
    }

    /// Says what is to be posted.
    fn set(&self, peer: NodeRank, context: u32, tag: Option<i32>, buffer: *const u8, bytes: usize) {
        let label = Envelope { context, tag: tag.unwrap_or(0), bytes: 0 }.label();
        self.0.set(peer.0.into(), label, tag.is_none(), buffer.expose_provenance() as u64, bytes as u64);
    }

    /// The same, with a number for context and tag.
    pub(crate) fn set_number(&self, peer: NodeRank, number: u64, buffer: *const u8, bytes: usize) {
        self.0.set(peer.0.into(), number, false, buffer.expose_provenance() as u64, bytes as u64);
    }

    pub(crate) fn call(&self, number: u64, second: u64) -> Result<bool, Errno> {
        self.call_with(number, [second, 0])
    }

    fn call_with(&self, number: u64, [second, third]: [u64; 2]) -> Result<bool, Errno> {
        // SAFETY: the call reads and writes the request, whose words are atomic; what else it touches is as the contract of the function that posts it says.
        Errno::check(unsafe { raw_of_home(number, [self.0.address(), second, third, 0]) })
            .map(|answer| answer != 0)
    }

    /// The message, if the request is done, without a system call. Of a message longer than the receive the beginning has come.
    #[must_use]
    pub fn message(&self) -> Option<Envelope> {
        self.outcome()?.ok()
    }

    /// The same, with the error of one that has failed: what has kept the system from copying.
    #[must_use]
    pub fn outcome(&self) -> Option<Result<Envelope, Errno>> {
        Some(match self.0.outcome()? {
            Outcome::Done { label, bytes } => Ok(Envelope::of(label, bytes)),
            Outcome::Failed(number) => {
                Err(Errno::check((number as i64).wrapping_neg()).err().unwrap_or(Errno::EINVAL))
            }
        })
    }

    /// `LiMIC_Wait`: has the system look once whether the request is done. Errors: what has kept the system from copying.
    pub fn wait(&self) -> Result<bool, Errno> {
        self.call(WAIT, 0)
    }

    /// Takes a send back; false if it has been matched. Errors: `EFAULT`, `EINVAL`: it was not posted as it is.
    pub fn withdraw_send(&self) -> Result<bool, Errno> {
        self.withdraw(SENDS)
    }

    /// The same of a receive.
    pub fn withdraw_receive(&self) -> Result<bool, Errno> {
        self.withdraw(RECEIVES)
    }

    pub(crate) fn withdraw(&self, side: u64) -> Result<bool, Errno> {
        self.call(WITHDRAW, side)
    }

    /// A send that waits takes its bytes from a copy of them from now on; false if it has been matched. Errors: `EFAULT`, `EINVAL`.
    ///
    /// # Safety
    /// The copy holds the message, and nobody writes it until the send is done.
    pub unsafe fn relocate(&self, copy: *const u8) -> Result<bool, Errno> {
        // SAFETY: this function's contract.
        unsafe { self.relocate_to(copy, SENDS) }
    }

    /// # Safety
    /// As for [`Request::relocate`].
    pub(crate) unsafe fn relocate_to(&self, copy: *const u8, side: u64) -> Result<bool, Errno> {
        self.call_with(RELOCATE, [copy.expose_provenance() as u64, side])
    }
}

/// `LiMIC_Isend`: sends to a rank of the node. True if the receive was there, and the message has been copied. Errors: `EFAULT`; `EINVAL` for no rank of the node; `EAGAIN`
/// if the system's queues are full; what keeps it from copying.
///
/// # Safety
/// The buffer is readable for so many bytes, and nobody writes it, and the request stays where it is and is not posted again, until it is done.
pub unsafe fn isend(
    request: &Request,
    to: NodeRank,
    context: u32,
    tag: i32,
    buffer: *const u8,
    bytes: usize,
) -> Result<bool, Errno> {
    request.set(to, context, Some(tag), buffer, bytes);
    request.call(ISEND, 0)
}

/// The same if a receive waits for the message; false if none does, and nothing has happened. Errors: as for [`isend`].
///
/// # Safety
/// The buffer is readable for so many bytes, and nobody writes it, until this returns.
pub unsafe fn isend_if_awaited(
    request: &Request,
    to: NodeRank,
    context: u32,
    tag: i32,
    buffer: *const u8,
    bytes: usize,
) -> Result<bool, Errno> {
    request.set(to, context, Some(tag), buffer, bytes);
    request.call(ISEND, IF_AWAITED)
}

/// `LiMIC_Irecv`: receives a message of a rank of the node, with that tag, or any. True if it was there, and has been copied. Errors: as for [`isend`].
///
/// # Safety
/// The buffer is writable for so many bytes, and nobody else uses it, and the request stays where it is and is not posted again, until it is done.
pub unsafe fn irecv(
    request: &Request,
    from: NodeRank,
    context: u32,
    tag: Option<i32>,
    buffer: *mut u8,
    bytes: usize,
) -> Result<bool, Errno> {
    request.set(from, context, tag, buffer, bytes);
    request.call(IRECV, 0)
}

/// `LiMIC_Iprobe`: the oldest message of a rank that waits in the system's queue. Errors: `EINVAL` for no rank of the node.
pub fn iprobe(from: NodeRank, context: u32, tag: Option<i32>) -> Result<Option<Envelope>, Errno> {
    let request = Request::new();
    request.set(from, context, tag, core::ptr::null(), 0);
    let found = request.call(IPROBE, 0)?;
    let (label, bytes) = request.0.described();
    Ok(found.then(|| Envelope::of(label, bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_memory_that_is_surely_readable_is_described_without_the_system() {
        // SAFETY: a page of zeros is one: all of its fields are numbers.
        let mut page: JobPage = unsafe { core::mem::zeroed() };
        page.node_rank = 3;
        (page.segment_start, page.data_start, page.heap_end) = (0x20_0000, 0x40_0000, 0x80_0000);
        (page.stack_start, page.stack_end) = (0x90_0000, 0xa0_0000);
        let described = |address, length| Some(Descriptor { address: remote(address, 3), length, offset: 0 });
        assert_eq!(own(&page, 0x40_0000, 0x40_0000), described(0x40_0000, 0x40_0000));
        assert_eq!(own(&page, 0x9f_ffff, 1), described(0x9f_ffff, 1));
        // Code and constants, over an end, the guard, a peer's, nothing, an end beyond all addresses.
        let others = [
            (0x30_0000, 8),
            (0x40_0000, 0x40_0001),
            (0x8f_0000, 8),
            (remote(0x50_0000, 3), 8),
            (0, 0),
            (0x50_0000, u64::MAX),
        ];
        assert!(others.iter().all(|(address, bytes)| own(&page, *address, *bytes).is_none()));
    }
}
