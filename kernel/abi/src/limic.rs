//! Copies between ranks by the kernel, after LiMIC and LiMIC2 (Chai's dissertation, chapter 4 and section 6.1).
//!
//! LiMIC matches in the kernel: sends and receives are posted there, in queues for each pair of ranks, and the one that comes later copies. LiMIC2 does not: a rank describes its memory in a [`Descriptor`], its library
//! sends that, and a peer's system call copies from there or to there. The kernel keeps nothing between calls and trusts no descriptor: each is
//! checked as any pointer of the caller's.

/// Memory of a rank of the node, for its peers to name. What [`TX_INIT`] writes; it means the same in every rank.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Address of the first byte, in the slot of the rank whose memory it is, never in slot 0.
    pub address: u64,
    /// Bytes from there on.
    pub length: u64,
    /// The byte where the next copy begins.
    pub offset: u64,
}

/// `limic_tx_init(buffer, bytes, out: *mut Descriptor) -> bytes`: describes memory of this rank's or, at its slot, of a peer's, that can be read.
/// `-EFAULT`.
pub const TX_INIT: u64 = 0x1200;
/// `limic_rx_comp(buffer, bytes, from: *const Descriptor) -> bytes copied`: copies to `buffer` from what is described, as many bytes as both have; fewer
/// if the job is about to end. `-EFAULT`; `-EINVAL` if the offset is beyond the length or the address in no rank's slot.
pub const RX_COMP: u64 = 0x1201;
/// `limic_tx_comp(buffer, bytes, to: *const Descriptor) -> bytes copied`: the same from `buffer` to what is described.
pub const TX_COMP: u64 = 0x1202;

/// A send or a receive, in memory of the rank that posts it. It stays where it is until it is done: then the system, on whichever core, has written what has come
/// of it, [`Request::state`] last.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// [`WAITS`], [`DONE`] or [`FAILED`].
    pub state: u64,
    /// Node rank of the other side.
    pub peer: u64,
    /// Context, and in the lower half the tag; when done, those of the message.
    pub label: u64,
    /// Of a receive and of a probe: not 0 if any tag will do.
    pub any_tag: u64,
    /// Address of the buffer.
    pub address: u64,
    /// Its bytes; when done, those of the message, which may be more; when failed, the error's number.
    pub bytes: u64,
}

/// Words of a [`Request`], by their place in it.
pub const STATE: u64 = 0;
pub const LABEL: u64 = 16;
pub const BYTES: u64 = 40;
/// The other side has not come.
pub const WAITS: u64 = 0;
/// The message has been copied, as much of it as the receive has room for.
pub const DONE: u64 = 1;
/// It could not be copied.
pub const FAILED: u64 = 2;

/// What a message is matched by, and its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    pub context: u32,
    pub tag: i32,
    pub bytes: u64,
}

impl Envelope {
    /// Context and tag in one word.
    #[must_use]
    pub const fn label(&self) -> u64 {
        (self.context as u64) << 32 | self.tag as u32 as u64
    }

    /// The envelope of a message with that label.
    #[must_use]
    pub const fn of(label: u64, bytes: u64) -> Envelope {
        Envelope { context: (label >> 32) as u32, tag: label as u32 as i32, bytes }
    }
}

/// `limic_isend(request: *mut Request, mode) -> 1 if it is done, 0 if it waits`: sends to the rank that the request names. With mode [`IF_AWAITED`] instead of 0 it never waits:
/// 0 is that no receive waited for it, and nothing has happened. `-EFAULT`; `-EINVAL` for a rank that there is not, or a
/// request that is not aligned to 8 bytes; `-EAGAIN` if the queues are full, and nothing has happened; `-ENOMEM` if the node has no memory for them.
pub const ISEND: u64 = 0x1203;
/// `limic_irecv(request: *mut Request, mode) -> the same`: receives from the rank that the request names.
pub const IRECV: u64 = 0x1204;
/// Mode of a post that does not wait for its other side.
pub const IF_AWAITED: u64 = 1;
/// `limic_wait(request: *const Request) -> the same`: looks once. The error of one that has failed.
pub const WAIT: u64 = 0x1205;
/// `limic_iprobe(request: *mut Request) -> 1 if a message waits, else 0`: looks for the oldest message that waits from the rank that the request names, with its
/// label; writes that message's label and bytes.
pub const IPROBE: u64 = 0x1206;
/// `limic_withdraw(request: *const Request, side) -> 1 if it has been taken back, 0 if it has been matched`: `side` is one of [`SENDS`] and its like.
pub const WITHDRAW: u64 = 0x1207;
/// `limic_relocate(request: *const Request, address, side) -> 1 if a send or a write that waits takes its bytes from that address from now on, 0 if it has been
/// matched`.
pub const RELOCATE: u64 = 0x1208;
/// First and last of these numbers and of [`crate::engine`]'s.
pub const RANGE: core::ops::RangeInclusive<u64> = TX_INIT..=*crate::engine::RANGE.end();

/// What a request is: a send, a receive, or [`crate::engine`]'s write or read.
pub const SENDS: u64 = 0;
pub const RECEIVES: u64 = 1;
pub const WRITES: u64 = 2;
pub const READS: u64 = 3;
