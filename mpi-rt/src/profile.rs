//! `--profile`: the distribution of messages by size and by how far apart the cores are, by count and by volume, as tables 2.1 and 6.1
//! of the dissertation have it.
//!
//! A transport around the transport: it counts what is sent and hands everything on, so that a run without it does nothing for
//! it. Counted are point-to-point messages, at their sender; collectives and windows work in the peers' memory and send none.

use crate::region::Region;
use crate::transport::chosen::Chosen;
use crate::transport::{Arrival, Delivery, Held, Memory, Outgoing, Started, Ticket, Transport, UnderWay};
use crate::{Result, report};
use alloc::boxed::Box;
use alloc::vec::Vec;
use lwk_user::abi::runtime::{DISTANCES, SIZE_LIMITS, SIZES};
use lwk_user::{NodeRank, job};

/// Messages and their bytes.
#[derive(Clone, Copy, Default)]
struct Count {
    messages: u64,
    bytes: u64,
}

/// A transport that counts.
pub struct Profiled {
    inner: Box<Chosen>,
    /// Distance of each peer, by node rank: an index of [`DISTANCES`].
    distances: Vec<usize>,
    counts: [[Count; SIZES.len()]; DISTANCES.len()],
}

impl Profiled {
    /// Counts what goes through a transport.
    pub fn new(inner: Chosen) -> Profiled {
        let peers = 0..job().node_size();
        Profiled {
            inner: Box::new(inner),
            distances: peers.map(distance).collect(),
            counts: [[Count::default(); SIZES.len()]; DISTANCES.len()],
        }
    }

    /// Tells the host what has been counted since the last time.
    pub fn tell(&mut self) {
        let rank = job().rank().0;
        for (counts, distance) in self.counts.iter().zip(DISTANCES) {
            for (count, size) in counts.iter().zip(SIZES).filter(|(count, _)| count.messages > 0) {
                let Count { messages, bytes } = count;
                report::tell(format_args!(
                    "profile rank={rank} distance={distance} size={size} messages={messages} bytes={bytes}"
                ));
            }
        }
        self.counts = Default::default();
    }
}

/// How far away a peer's core is, as far as the job page knows.
fn distance(peer: u32) -> usize {
    let (mine, Some(theirs)) = (job().my_place(), job().place(NodeRank(peer))) else {
        return DISTANCES.len() - 1;
    };
    if peer == job().node_rank().0 {
        0
    } else if mine.l3 == theirs.l3 || mine.l2 == theirs.l2 {
        1
    } else if mine.package == theirs.package {
        2
    } else {
        3
    }
}

/// Which of [`SIZES`] a message is of.
fn size_class(bytes: usize) -> usize {
    SIZE_LIMITS.iter().position(|limit| bytes < *limit).unwrap_or(SIZE_LIMITS.len())
}

impl Transport for Profiled {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    #[inline(never)]
    unsafe fn start(&mut self, peer: u32, message: &Outgoing) -> Started {
        // SAFETY: the caller's promise.
        let started = unsafe { self.inner.start(peer, message) };
        if started != Started::Full
            && let Some(distance) = self.distances.get(peer as usize)
        {
            let bytes = message.source.bytes();
            let count = &mut self.counts[*distance][size_class(bytes)];
            count.messages += 1;
            count.bytes += bytes as u64;
        }
        started
    }

    #[inline(never)]
    unsafe fn advance(&mut self, ticket: Ticket) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.inner.advance(ticket) }
    }

    unsafe fn under_way(&self, ticket: Ticket) -> UnderWay {
        // SAFETY: the ticket is the inner transport's, and not void (this function's contract).
        unsafe { self.inner.under_way(ticket) }
    }

    unsafe fn cancel(&mut self, ticket: Ticket) -> bool {
        // SAFETY: the ticket is the inner transport's, and not void (this function's contract).
        unsafe { self.inner.cancel(ticket) }
    }

    unsafe fn may_relocate(&self, ticket: Ticket) -> bool {
        // SAFETY: the ticket is the inner transport's, and not void (this function's contract).
        unsafe { self.inner.may_relocate(ticket) }
    }

    unsafe fn relocate(&mut self, ticket: Ticket, copy: *const u8) -> bool {
        // SAFETY: the ticket is the inner transport's, and not void; the copy stays (this function's contract).
        unsafe { self.inner.relocate(ticket, copy) }
    }

    #[inline(never)]
    fn front(&mut self, peer: u32) -> Option<Arrival> {
        self.inner.front(peer)
    }

    #[inline(never)]
    unsafe fn deliver(&mut self, peer: u32, arrival: &Arrival, target: &Region) -> Result<Delivery> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.deliver(peer, arrival, target) }
    }

    #[inline(never)]
    unsafe fn hold(&mut self, peer: u32, arrival: &Arrival) -> Option<Held> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.hold(peer, arrival) }
    }

    #[inline(never)]
    unsafe fn deliver_held(&mut self, peer: u32, held: Held, target: &Region) -> Result<Delivery> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.deliver_held(peer, held, target) }
    }

    unsafe fn is_cancelled(&self, peer: u32, held: &Held) -> bool {
        // SAFETY: the inner transport holds the message (this function's contract).
        unsafe { self.inner.is_cancelled(peer, held) }
    }

    unsafe fn reserve(&mut self, peer: u32, held: &Held) -> bool {
        // SAFETY: the inner transport holds the message (this function's contract).
        unsafe { self.inner.reserve(peer, held) }
    }

    #[inline(never)]
    unsafe fn advance_receive(&mut self, ticket: Ticket) -> Option<Result<()>> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.advance_receive(ticket) }
    }

    fn must_take(&self, peer: u32) -> bool {
        self.inner.must_take(peer)
    }

    fn memory(&self) -> Memory {
        self.inner.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fall_into_the_dissertations_classes() {
        let classes = [0, 1023, 1024, 32 << 10, (1 << 20) - 1, 1 << 20, usize::MAX].map(size_class);
        assert_eq!(classes, [0, 0, 1, 2, 2, 3, 3]);
    }
}
