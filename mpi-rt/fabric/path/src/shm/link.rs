//! Links: the two FIFOs between this rank and a peer, and their set-up.
//!
//! The basic design has its buffers, and each counter on a line of its own, in the sender's memory, so that a sender writes near
//! (dissertation, section 3.1.2). The advanced design has them in the receiver's, with the two counters of all peers in one contiguous
//! array, so that polling all peers looks at few lines (3.2.4).

use super::packet::{CellList, Header, Kind};
use crate::{Fault, Result};
use crate::{Label, leak};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use lwk_place::{Peer, WorldRank, peer_of, seen_by_wire};
use lwk_ring::Published;
use lwk_shm::{BLOCK, Block, Cells, Consumer, Mark, Producer, Total};
use lwk_user::smartmap::{CacheLine, Symmetric};
use lwk_user::{job, wait};

/// Where a rank's shared memory is, in its own addresses: blocks, totals, marks, cells.
struct Addresses(Published<4>);

// SAFETY: atomics only; the numbers are slot-0 addresses that readers translate.
unsafe impl lwk_user::smartmap::Shared for Addresses {}

static ADDRESSES: Symmetric<Addresses> = Symmetric::new(Addresses(Published::new()));

/// Whose memory the FIFOs lie in, and their size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placing {
    /// The sender's; counters on lines of their own.
    AtSender,
    /// The receiver's; counters in one array.
    AtReceiver,
}

/// The memory of the FIFOs, and of the pool if there is one.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub placing: Placing,
    /// Blocks of one FIFO.
    pub blocks: usize,
    /// Cells of the send buffer pool.
    pub cells: usize,
    /// Blocks of one cell.
    pub blocks_per_cell: usize,
    /// Bytes of a message that are handed over at a time.
    pub chunk: usize,
}

/// Both FIFOs between this rank and a peer.
pub struct Link {
    pub producer: Producer<'static>,
    pub consumer: Consumer<'static>,
    /// The peer's pool; without cells in the basic design.
    pub cells: Option<Cells<'static>>,
    /// The envelope at the front of the consumer, once it has been read.
    pub front: Option<Header>,
    /// Permissions to send that the peer has not been given yet, for want of room.
    pub permissions: VecDeque<Header>,
    /// Transfers under way, in either direction: what they wait for may lie behind messages that nobody wants.
    pub transfers: usize,
}

impl Link {
    /// Writes a packet of a header only; false if there is no room.
    pub fn control(&mut self, header: &Header) -> bool {
        let bytes = header.packet_bytes(0);
        if !self.producer.has_room(bytes) {
            return false;
        }
        // SAFETY: there is room, and the header is all of the packet.
        unsafe {
            header.write(&mut self.producer, &CellList::default());
            self.producer.publish(bytes);
        }
        true
    }

    /// Gives the peer the permissions that wait, as far as there is room.
    #[inline]
    pub fn give_permissions(&mut self) {
        while let Some(header) = self.permissions.front().copied() {
            if !self.control(&header) {
                return;
            }
            self.permissions.pop_front();
        }
    }

    /// Tells the peer whether this rank is late for its messages.
    pub fn pace(&mut self, is_late: bool) {
        let (kind, label, bytes) = (Kind::Pace, Label(0), usize::from(is_late));
        self.permissions.push_back(Header { kind, label, bytes, cells: 0, own_id: 0, peer_id: 0, name: 0 });
        self.give_permissions();
    }

    /// How many of the peer's messages lie in the FIFO, up to `most`; `payload` says how many bytes of a packet are behind header and cells.
    pub fn waiting(&mut self, most: usize, payload: impl Fn(&Header) -> usize) -> usize {
        let bytes = self.consumer.waiting();
        let (mut count, mut position) = (0, 0);
        while count < most && position < bytes {
            // SAFETY: packets lie behind each other, each published as a whole; this one begins before the end of what has been published.
            let Some(header) = (unsafe { Header::read_at(&self.consumer, position) }) else {
                unreachable!("a packet of no kind");
            };
            count += usize::from(matches!(header.kind, Kind::Eager | Kind::Loaded | Kind::Request));
            position += header.packet_bytes(payload(&header)).next_multiple_of(BLOCK);
        }
        count
    }

    /// Permits the peer's send `send` to go on, for this rank's receive `receive`, of which `bytes` bytes are wanted.
    pub fn permit(&mut self, send: u32, receive: u32, bytes: usize) {
        let label = Label(0);
        let kind = Kind::Go;
        let header = Header { kind, label, bytes, cells: 0, own_id: receive, peer_id: send, name: 0 };
        self.permissions.push_back(header);
        self.give_permissions();
    }
}

/// Place of `peer` among the peers of `rank`, which is not one of them.
fn index(rank: u32, peer: u32) -> usize {
    (peer - (peer > rank) as u32) as usize
}

/// Bytes between the two counters of a FIFO, and, twice, between FIFOs.
const fn stride(placing: Placing) -> usize {
    match placing {
        Placing::AtSender => size_of::<CacheLine<Total>>(),
        Placing::AtReceiver => size_of::<Total>(),
    }
}

/// Makes the shared memory, and connects to that of all peers, by rank of the job; none for this rank itself and ranks of other nodes. Also this rank's own cells. Every rank of
/// the node must call it once; it waits for the others. Errors: [`Fault::NoMemory`].
pub fn connect(plan: &Plan) -> Result<(Vec<Option<Link>>, Option<Cells<'static>>)> {
    let me = Peer::me().node_rank().0;
    let count = Peer::count() as usize - 1;
    // Writing each byte here and now is what puts the pages into this rank's own memory (section 3.1.2).
    let blocks: &'static [Block] = leak(count * plan.blocks, Block::new)?;
    let totals = match plan.placing {
        Placing::AtSender => leak(2 * count, || CacheLine(Total::new()))?.as_ptr().expose_provenance(),
        Placing::AtReceiver => leak(2 * count, Total::new)?.as_ptr().expose_provenance(),
    };
    let marks: &'static [Mark] = leak(plan.cells, Mark::new)?;
    let cells: &'static [Block] = leak(plan.cells * plan.blocks_per_cell, Block::new)?;
    let addresses = [
        blocks.as_ptr().expose_provenance(),
        totals,
        marks.as_ptr().expose_provenance(),
        cells.as_ptr().expose_provenance(),
    ];
    ADDRESSES.here().0.tell(addresses.map(|address| address as u64));
    let links: Result<Vec<Option<Link>>> = (0..job().size())
        .map(|rank| match peer_of(WorldRank(rank)).filter(|peer| peer.node_rank().0 != me) {
            Some(peer) => attach(plan, me, peer).map(Some),
            None => Ok(None),
        })
        .collect();
    Ok((links?, Cells::new(marks, cells)))
}

fn attach(plan: &Plan, me: u32, peer: Peer) -> Result<Link> {
    let published = &ADDRESSES.at(peer).get().0;
    wait::spin_until(|| published.is_told());
    // Each direction's FIFO: whose memory it is in, and which of that rank's FIFOs it is.
    let number = peer.node_rank().0;
    let (mine, theirs) = ((Peer::me(), index(me, number)), (peer, index(number, me)));
    let (outward, inward) = match plan.placing {
        Placing::AtSender => (mine, theirs),
        Placing::AtReceiver => (theirs, mine),
    };
    // SAFETY: every rank has published as many FIFOs as it has peers, and cells, as the same plan says; it leaks them, and its memory stays
    // mapped as long as the job runs. The FIFO's two ends are made once each, by the two ranks it connects.
    unsafe {
        let (blocks, total_in, total_out) = fifo(plan, outward.0, outward.1);
        let producer = Producer::new(blocks, total_in, total_out).ok_or(Fault::Internal)?;
        let (blocks, total_in, total_out) = fifo(plan, inward.0, inward.1);
        let consumer = Consumer::new(blocks, total_in, total_out).ok_or(Fault::Internal)?;
        let [_, _, marks, cells] = published.words().map(|word| word as usize);
        let (marks, cells) = (seen_by_wire::<Mark>(peer, marks), seen_by_wire::<Block>(peer, cells));
        let cells = Cells::new(
            core::slice::from_raw_parts(marks, plan.cells),
            core::slice::from_raw_parts(cells, plan.cells * plan.blocks_per_cell),
        );
        let permissions = VecDeque::new();
        Ok(Link { producer, consumer, cells, front: None, permissions, transfers: 0 })
    }
}

/// FIFO number `at` of a rank: its blocks and its two counters.
///
/// # Safety
/// The rank has published its shared memory, as the plan says, and this rank has seen that.
unsafe fn fifo(plan: &Plan, owner: Peer, at: usize) -> (&'static [Block], &'static Total, &'static Total) {
    let [blocks, totals, _, _] = ADDRESSES.at(owner).get().0.words().map(|word| word as usize);
    let stride = stride(plan.placing);
    let blocks = seen_by_wire::<Block>(owner, blocks + at * plan.blocks * size_of::<Block>());
    let total_in = seen_by_wire::<Total>(owner, totals + 2 * at * stride);
    let total_out = seen_by_wire::<Total>(owner, totals + (2 * at + 1) * stride);
    // SAFETY: the owner has published the addresses of `plan.blocks` blocks and two counters for each FIFO
    // (this function's contract); it never frees them.
    unsafe { (core::slice::from_raw_parts(blocks, plan.blocks), &*total_in, &*total_out) }
}

/// Bytes of shared memory for each peer: a FIFO and its counters.
pub fn bytes_per_peer(plan: &Plan) -> usize {
    plan.blocks * size_of::<Block>() + 2 * stride(plan.placing)
}

/// Bytes of shared memory beside that: the send buffer pool.
pub fn bytes_of_pool(plan: &Plan) -> usize {
    plan.cells * (plan.blocks_per_cell * size_of::<Block>() + size_of::<Mark>())
}

#[cfg(test)]
mod tests {
    use super::index;

    #[test]
    fn a_rank_is_not_among_its_peers() {
        for ranks in 1..6 {
            for rank in 0..ranks {
                let places: alloc::vec::Vec<usize> =
                    (0..ranks).filter(|peer| *peer != rank).map(|peer| index(rank, peer)).collect();
                assert!(places.iter().copied().eq(0..ranks as usize - 1));
            }
        }
    }
}
