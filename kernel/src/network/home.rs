//! The machine below Portals: memory of the ranks, and the card.

use lwk_abi::address::{SLOT_BYTES, USER_END, slot_of};
use lwk_frames::NodeId;
use lwk_mm::Access;
use lwk_portals::{HomeCounts, Memory, Span};

use super::card::Card;
use super::gather::Gather;
use crate::arch::checksum;
use crate::node;
use crate::rank::Rank;
use crate::user_memory::{Readable, UserMemory, Writable};

/// What Portals works with, while the lock is held.
pub struct Home<'a> {
    pub card: Option<&'a mut Card>,
    /// What has been counted, and where frames are gathered that have several pieces.
    pub below: &'a mut Below,
}

/// What the network keeps below Portals.
#[derive(Default)]
pub struct Below {
    pub counts: HomeCounts,
    gather: Gather,
}

/// The rank of this node whose memory an address of rank `rank`'s is, and the address in that one's own slot.
fn owner(rank: u32, address: u64) -> Option<(&'static Rank, u64)> {
    let job = node::job()?;
    if address >= USER_END {
        return None;
    }
    match slot_of(address) {
        0 => Some((job.rank(rank as usize)?, address)),
        slot => Some((job.rank(slot as usize - 1)?, address % SLOT_BYTES)),
    }
}

/// The owner of a span, and where in its segment that is.
fn place(span: &Span) -> (&'static Rank, u64) {
    let (owner, local) = owner(span.rank(), span.start()).expect("a span has been checked, and ranks stay");
    (owner, local - owner.layout().segment_start)
}

pub(super) fn readable(span: &Span) -> UserMemory<'static, Readable> {
    let (owner, offset) = place(span);
    owner.segment().readable(offset, span.bytes())
}

/// Only for spans that have been checked to be writable.
fn writable(span: &Span) -> UserMemory<'static, Writable> {
    let (owner, offset) = place(span);
    owner.segment().writable(offset, span.bytes())
}

impl Memory for Home<'_> {
    fn check(&self, rank: u32, address: u64, bytes: u64, writable: bool) -> bool {
        let access = if writable { Access::RW } else { Access::R };
        // The job page, which is not in the segment, is no memory for messages.
        owner(rank, address).is_some_and(|(owner, local)| owner.layout().check(local, bytes, access).is_ok())
    }

    fn read(&self, from: &Span, into: &mut [u8]) {
        assert!(from.bytes() == into.len() as u64, "a span is read as a whole");
        readable(from).copy_to(into);
    }

    fn write(&mut self, to: &Span, from: &[u8]) {
        assert!(to.bytes() == from.len() as u64, "a span is written as a whole");
        self.below.counts.written += from.len() as u64;
        writable(to).copy_from(from);
    }

    fn copy(&mut self, to: &Span, from: &Span) {
        assert!(to.bytes() == from.bytes(), "spans of one length");
        self.below.counts.written += to.bytes();
        writable(to).copy_from_user(readable(from));
    }

    fn compare_exchange(&mut self, at: &Span, old: u64, new: u64) -> u64 {
        self.below.counts.written += at.bytes();
        writable(at).compare_exchange(old, new)
    }

    fn look(&self, at: &Span) -> u64 {
        writable(at).look()
    }

    fn publish(&mut self, to: &Span, word: u64) {
        writable(to).publish(word);
    }

    fn checksum(&self, seed: u32, from: &Span) -> u32 {
        readable(from).checksum(seed)
    }

    fn checksum_of(&self, seed: u32, bytes: &[u8]) -> u32 {
        // SAFETY: the bytes of a slice are mapped.
        unsafe { checksum::crc32c(seed, bytes.as_ptr(), bytes.len()) }
    }
}

impl lwk_portals::Nic for Home<'_> {
    fn send(&mut self, _: NodeId, head: &[u8], middle: &[u8], body: &[Span]) -> bool {
        let Some(card) = &mut self.card else { return true };
        let body = match body {
            [] => None,
            [one] => readable(one).place(),
            several => {
                self.below.counts.copied_to_send += several.iter().map(Span::bytes).sum::<u64>();
                match self.below.gather.frame(several) {
                    Some(frame) => Some(frame),
                    None => return false,
                }
            }
        };
        // SAFETY: memory of a rank, which is in the linear map for ever.
        unsafe { card.nic.send(head, middle, body) }
    }

    fn counts(&self) -> HomeCounts {
        let card = self.card.as_ref().map(|card| *card.nic.counts()).unwrap_or_default();
        HomeCounts {
            copied_to_send: self.below.counts.copied_to_send + card.copied,
            frames_sent: card.sent,
            frames_received: card.received,
            resets: card.resets,
            ..self.below.counts
        }
    }
}
