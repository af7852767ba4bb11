//! What Portals sees of the machine: the ranks' memory, and the wires as a card. Only while the network's lock is held.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use lwk_abi::address::{SLOT_BYTES, USER_END, remote, slot_of};
use lwk_frames::{HEAD_BYTES, NodeId};
use lwk_mm::Access;
use lwk_portals::region::IOVECS_MAX;
use lwk_portals::{HomeCounts, Memory, Nic, Span};
use lwk_words::Told;

use super::{Network, PLACED_MIN};
use crate::arch::{self, Gate};

/// Receives a frame, if there is one. A longer one than any frame is cut, but one byte too long, by which it is known.
pub(super) fn receive(socket: RawFd, buffer: &mut [u8]) -> Option<usize> {
    let arguments =
        [socket as u64, buffer.as_mut_ptr() as u64, buffer.len() as u64, libc::MSG_DONTWAIT as u64, 0, 0];
    // SAFETY: the call writes into the buffer.
    usize::try_from(unsafe { Gate::call(libc::SYS_recvfrom, arguments) }).ok()
}

/// The head of the next frame, and the frame's bytes, if there is one. It stays where it is.
pub(super) fn peek(socket: RawFd) -> Option<([u8; HEAD_BYTES], usize)> {
    let mut head = [0; HEAD_BYTES];
    let flags = (libc::MSG_DONTWAIT | libc::MSG_PEEK | libc::MSG_TRUNC) as u64;
    let arguments = [socket as u64, head.as_mut_ptr() as u64, HEAD_BYTES as u64, flags, 0, 0];
    // SAFETY: the call writes into the head.
    let length = usize::try_from(unsafe { Gate::call(libc::SYS_recvfrom, arguments) }).ok()?;
    Some((head, length))
}

/// Pieces of ranks' memory that the payload of a frame goes to, behind a place for its head.
pub(super) struct Pieces {
    all: [libc::iovec; 1 + IOVECS_MAX as usize],
    count: usize,
}

impl Pieces {
    pub fn new() -> Pieces {
        Pieces { all: [piece(std::ptr::null(), 0); 1 + IOVECS_MAX as usize], count: 1 }
    }

    /// One more of them, which is writable.
    pub fn add(&mut self, span: &Span) {
        if let Some(next) = self.all.get_mut(self.count) {
            *next = piece(pointer(span), span.bytes() as usize);
        }
        self.count += 1;
    }
}

/// Receives the frame that was looked at: its payload into the pieces. Bytes of the frame, the head included; nothing if they are not all there.
pub(super) fn receive_placed(socket: RawFd, into: &Pieces) -> Option<usize> {
    let mut head = [0; HEAD_BYTES];
    let mut pieces = into.all;
    pieces[0] = piece(head.as_mut_ptr(), HEAD_BYTES);
    // SAFETY: zeros are a message with nothing in it.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = pieces.as_mut_ptr();
    message.msg_iovlen = into.count.min(pieces.len());
    let arguments = [socket as u64, &raw mut message as u64, libc::MSG_DONTWAIT as u64, 0, 0, 0];
    // SAFETY: the call writes into the head, and into memory of a rank that has been checked to be writable.
    usize::try_from(unsafe { Gate::call(libc::SYS_recvmsg, arguments) }).ok()
}

fn piece(start: *const u8, bytes: usize) -> libc::iovec {
    libc::iovec { iov_base: start.cast_mut().cast(), iov_len: bytes }
}

/// The machine below Portals, while the lock is held.
pub(super) struct Home<'a> {
    pub network: &'a Network,
    pub counts: &'a mut HomeCounts,
}

/// Where a checked span is: in the memory of its rank, or in the peer's whose slot it names.
fn pointer(span: &Span) -> *mut u8 {
    let address = match slot_of(span.start()) {
        0 => remote(span.start(), span.rank()),
        _ => span.start(),
    };
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// The word of an aligned span of eight bytes, which is writable.
fn told(span: &Span) -> &'static Told {
    assert!(span.bytes() == 8 && span.start().is_multiple_of(8), "an aligned word");
    // SAFETY: an aligned word (asserted) of checked, writable memory of a rank, mapped at its slot in every process of the node.
    unsafe { Told::at(pointer(span).cast()) }
}

impl Memory for Home<'_> {
    fn check(&self, rank: u32, address: u64, bytes: u64, writable: bool) -> bool {
        let access = if writable { Access::RW } else { Access::R };
        rank < self.network.ranks
            && address < USER_END
            && slot_of(address) <= u64::from(self.network.ranks)
            && self.network.layout.check(address % SLOT_BYTES, bytes, access).is_ok()
    }

    fn read(&self, from: &Span, into: &mut [u8]) {
        assert!(from.bytes() == into.len() as u64, "a span is read as a whole");
        // SAFETY: checked to be readable memory of a rank, mapped at its slot in every process of the node; programs may change it, and any bytes
        // will do. No Rust reference leads there.
        unsafe { into.as_mut_ptr().copy_from_nonoverlapping(pointer(from), into.len()) };
    }

    fn write(&mut self, to: &Span, from: &[u8]) {
        assert!(to.bytes() == from.len() as u64, "a span is written as a whole");
        self.counts.written += to.bytes();
        // SAFETY: checked to be writable memory of a rank, mapped at its slot in every process of the node.
        // No Rust reference leads there. A rank that polls an aligned word sees all of it or nothing.
        unsafe {
            let (to, aligned) = (pointer(to), to.start().is_multiple_of(from.len().max(1) as u64));
            match *from {
                [a, b] if aligned => to.cast::<u16>().write_volatile(u16::from_ne_bytes([a, b])),
                [a, b, c, d] if aligned => to.cast::<u32>().write_volatile(u32::from_ne_bytes([a, b, c, d])),
                [a, b, c, d, e, f, g, h] if aligned => {
                    to.cast::<u64>().write_volatile(u64::from_ne_bytes([a, b, c, d, e, f, g, h]));
                }
                _ => to.copy_from_nonoverlapping(from.as_ptr(), from.len()),
            }
        }
    }

    fn compare_exchange(&mut self, at: &Span, old: u64, new: u64) -> u64 {
        assert!(at.start().is_multiple_of(at.bytes()), "an aligned word");
        self.counts.written += at.bytes();
        // Both orders: pairs with any rank's update of the same word.
        let (both, failed) = (Ordering::AcqRel, Ordering::Acquire);
        // SAFETY: an aligned word (asserted) of checked, writable memory of a rank, mapped at its slot in every process of the node.
        unsafe {
            match at.bytes() {
                1 => AtomicU8::from_ptr(pointer(at))
                    .compare_exchange(old as u8, new as u8, both, failed)
                    .map_or_else(u64::from, u64::from),
                2 => AtomicU16::from_ptr(pointer(at).cast())
                    .compare_exchange(old as u16, new as u16, both, failed)
                    .map_or_else(u64::from, u64::from),
                4 => AtomicU32::from_ptr(pointer(at).cast())
                    .compare_exchange(old as u32, new as u32, both, failed)
                    .map_or_else(u64::from, u64::from),
                8 => AtomicU64::from_ptr(pointer(at).cast())
                    .compare_exchange(old, new, both, failed)
                    .unwrap_or_else(|seen| seen),
                bytes => unreachable!("a word of {bytes} bytes"),
            }
        }
    }

    fn copy(&mut self, to: &Span, from: &Span) {
        assert!(to.bytes() == from.bytes(), "spans of one length");
        self.counts.written += to.bytes();
        // SAFETY: both are checked memory of ranks, `to` writable, mapped at its slot in every process of the
        // node; they may overlap. No Rust reference leads there.
        unsafe { pointer(to).copy_from(pointer(from), to.bytes() as usize) };
    }

    fn look(&self, at: &Span) -> u64 {
        told(at).look()
    }

    fn publish(&mut self, to: &Span, word: u64) {
        told(to).tell(word);
    }

    fn checksum(&self, seed: u32, from: &Span) -> u32 {
        // SAFETY: checked to be readable memory of a rank, mapped at its slot in every process of the node.
        unsafe { arch::crc32c(seed, pointer(from), from.bytes() as usize) }
    }

    fn checksum_of(&self, seed: u32, bytes: &[u8]) -> u32 {
        // SAFETY: the bytes of a slice are readable.
        unsafe { arch::crc32c(seed, bytes.as_ptr(), bytes.len()) }
    }
}

/// Bytes that may wait in a straight wire before a long frame goes, as Linux counts them: eight such frames, the quarter of a window that is acknowledged at once.
/// Linux holds ten and copies one more only to refuse it; what is there may leave the caches before it is taken.
const AHEAD_BYTES: libc::c_int = 512 << 10;

impl Nic for Home<'_> {
    fn has_room(&self, to: NodeId, bytes: usize) -> bool {
        let wire = self.network.sends.get(usize::from(to.0));
        let Some(wire) = wire.filter(|_| self.network.places && bytes >= PLACED_MIN) else { return true };
        let mut waiting: libc::c_int = 0;
        let arguments = [*wire as u64, libc::TIOCOUTQ, (&raw mut waiting) as u64, 0, 0, 0];
        // SAFETY: the call writes into this variable.
        unsafe { Gate::call(libc::SYS_ioctl, arguments) };
        waiting < AHEAD_BYTES
    }

    fn send(&mut self, to: NodeId, head: &[u8], middle: &[u8], body: &[Span]) -> bool {
        let Some(wire) = self.network.sends.get(usize::from(to.0)) else { return true };
        let mut pieces = [piece(std::ptr::null(), 0); 2 + IOVECS_MAX as usize];
        let bodies = body.iter().map(|body| piece(pointer(body), body.bytes() as usize));
        let heads = [head, middle].map(|part| piece(part.as_ptr(), part.len()));
        for (to, from) in pieces.iter_mut().zip(heads.into_iter().chain(bodies)) {
            *to = from;
        }
        // SAFETY: zeros are a message with nothing in it.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = pieces.as_mut_ptr();
        message.msg_iovlen = 2 + body.len().min(IOVECS_MAX as usize);
        let flags = (libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) as u64;
        let arguments = [*wire as u64, &raw const message as u64, flags, 0, 0, 0];
        // SAFETY: the call reads the pieces: slices, and memory of a rank that has been checked.
        let sent = unsafe { Gate::call(libc::SYS_sendmsg, arguments) };
        // A full wire is a card without room; a node that is gone takes frames as a network does, and nobody answers.
        let full = [libc::EAGAIN, libc::ENOBUFS, libc::ENOMEM, libc::EINTR];
        let sent = !full.iter().any(|error| sent == -i64::from(*error));
        self.counts.frames_sent += u64::from(sent);
        if sent {
            self.counts.copied_to_send += (head.len() + middle.len()) as u64;
        }
        sent
    }

    fn counts(&self) -> HomeCounts {
        *self.counts
    }
}
