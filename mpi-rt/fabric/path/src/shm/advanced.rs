//! `shm-advanced`: the dissertation's advanced design (section 3.2). Small messages go through small receive buffers, one for each
//! peer (32 KiB). Large ones are cut into packets that go through cells (8 KiB) of the sender's one pool (128 cells): loaded, marked busy, put
//! into the send queue of their receiver, named to it in a control message in its receive buffer, copied out and marked free; the
//! sender sweeps its queues for marked cells when it needs some. One control message names several cells, which spares
//! indirection (3.2.4).
//!
//! What the dissertation leaves open: messages that nobody receives could take all cells, and with them the way of those that are
//! received. So a message that has not been matched takes at most the cells of one control message, and none of the last
//! `reserve`; the rest follows when it has been matched, which the receiver says. A message whose first cells are refused is a bare request.

use super::content::{copy_in, copy_to, read_payload, write_eager};
use super::link::{Link, Placing, Plan};
use super::packet::{CELLS_MAX, CellList, HEADER, Header, Kind};
use super::{Design, Entered, Sending, Tunables};
use crate::region::Region;
use crate::{Fault, Result};
use crate::{Label, Outgoing, WorldRank};
use lwk_shm::{BLOCK, CellNumber, Cells, Pool};

/// The state of the advanced design: the pool, with the send queues.
pub struct Advanced {
    pool: Pool<'static>,
    small: usize,
    packets: usize,
    reserve: usize,
}

/// Room that a control message takes at most.
const CONTROL: usize = HEADER + CELLS_MAX * size_of::<CellNumber>();

impl Design for Advanced {
    fn plan(tunables: &Tunables) -> Plan {
        Plan {
            placing: Placing::AtReceiver,
            blocks: tunables.receive_buffer / BLOCK,
            cells: tunables.cells,
            blocks_per_cell: tunables.cell / BLOCK,
            chunk: tunables.cell,
        }
    }

    fn new(tunables: &Tunables, cells: Option<Cells<'static>>, peers: usize) -> Result<Advanced> {
        let cells = cells.ok_or(Fault::Internal)?;
        // SAFETY: the cells are new, and this rank's; this is called once.
        let pool = unsafe { Pool::new(cells, peers) };
        let packets = tunables.packets.min(CELLS_MAX);
        Ok(Advanced { pool, small: tunables.small, packets, reserve: (tunables.cells / 4).max(1) })
    }

    unsafe fn begin(
        &mut self,
        link: &mut Link,
        peer: WorldRank,
        message: &Outgoing,
        number: u32,
        name: impl FnOnce() -> u64,
    ) -> Option<Entered> {
        let bytes = message.source.bytes();
        if bytes <= self.small && !message.synchronous {
            if !link.producer.has_room(HEADER + bytes) {
                return None;
            }
            // SAFETY: `has_room` above said yes to header and `bytes`; the message's bytes are readable (this
            // function's contract).
            unsafe { write_eager(link, message) };
            return Some(Entered::Whole);
        }
        if !link.producer.has_room(CONTROL) {
            return None;
        }
        let needed = bytes.div_ceil(self.pool.cell_bytes());
        let usable =
            self.pool.available(needed.min(self.packets) + self.reserve).saturating_sub(self.reserve);
        // SAFETY: the message's bytes are readable (this function's contract), and `bytes` is their number.
        let (cells, count, loaded) =
            unsafe { self.load(peer, &message.source, 0, bytes, usable.min(self.packets)) };
        let whole = loaded == bytes && !message.synchronous;
        let kind = if whole { Kind::Loaded } else { Kind::Request };
        let (label, name) = (message.label, if whole { 0 } else { name() });
        let envelope = Header { kind, label, bytes, cells: count, own_id: number, peer_id: 0, name };
        // SAFETY: `has_room(CONTROL)` above said yes: there is room for the longest control message.
        unsafe { publish(link, &envelope, &cells) };
        Some(if whole { Entered::Whole } else { Entered::Asked(loaded) })
    }

    unsafe fn push(&mut self, link: &mut Link, send: &mut Sending, _: &Plan) {
        let Some(wanted) = send.wanted else { return };
        while send.position < wanted && link.producer.has_room(CONTROL) {
            let most = self.pool.available(self.packets).min(self.packets);
            // SAFETY: the send's source is readable (this function's contract), and `wanted` is at most its
            // length.
            let (cells, count, bytes) =
                unsafe { self.load(send.message.peer, &send.message.source, send.position, wanted, most) };
            if count == 0 {
                return;
            }
            let (kind, label) = (Kind::Data, Label(0));
            let data = Header { kind, label, bytes, cells: count, own_id: 0, peer_id: send.receive, name: 0 };
            // SAFETY: the loop's `has_room(CONTROL)` said yes: there is room for the longest control message.
            unsafe { publish(link, &data, &cells) };
            send.position += bytes;
        }
    }

    unsafe fn copy_out(
        &mut self,
        link: &Link,
        header: &Header,
        cells: &CellList,
        position: usize,
        target: &Region,
    ) -> (usize, Result<()>) {
        if header.kind == Kind::Eager {
            // SAFETY: an eager packet is at the front, with `header.bytes` behind its header; `target` is
            // writable (this function's contract).
            return (header.bytes, unsafe { read_payload(link, header.bytes, position, target) });
        }
        let Some(pool) = &link.cells else { return (0, Err(Fault::Internal)) };
        let (mut done, mut outcome) = (0, Ok(()));
        // A request names the cells of its first bytes only; the others those of all their bytes.
        let brought = header.bytes.min(header.cells * pool.cell_bytes());
        for cell in &cells[..header.cells] {
            let part = pool.cell_bytes().min(brought - done);
            // SAFETY: the sender has told the cell's number in a packet, and it is emptied once; `target` is
            // writable (this function's contract).
            let emptied = unsafe {
                pool.empty(*cell, part, |from, offset, length| {
                    outcome = outcome.and(copy_to(from, target, position + done + offset, length));
                })
            };
            if !emptied {
                outcome = Err(Fault::Internal);
            }
            done += part;
        }
        (done, outcome)
    }

    fn eager(&self, _: &Plan) -> usize {
        self.small
    }

    fn payload(header: &Header) -> usize {
        if header.kind == Kind::Eager { header.bytes } else { 0 }
    }
}

impl Advanced {
    /// Loads up to `most` cells with the bytes of a source from `position` to `end`: the cells, how many, and their bytes.
    ///
    /// # Safety
    /// The source is readable.
    unsafe fn load(
        &mut self,
        peer: WorldRank,
        source: &Region,
        position: usize,
        end: usize,
        most: usize,
    ) -> (CellList, usize, usize) {
        let (mut cells, mut count, mut loaded) = (CellList::default(), 0, 0);
        while count < most && position + loaded < end {
            let part = self.pool.cell_bytes().min(end - position - loaded);
            // SAFETY: `source` is readable to `end` (this function's contract), and each piece lies in the
            // cell. This rank's own layout is sound, so copying in cannot fail.
            let cell = unsafe {
                self.pool.load(peer.index(), part, |to, offset, length| {
                    let _ = copy_in(source, position + loaded + offset, to, length);
                })
            };
            let Some(cell) = cell else { break };
            cells[count] = cell;
            count += 1;
            loaded += part;
        }
        (cells, count, loaded)
    }
}

/// Writes and publishes a control message.
///
/// # Safety
/// There is room for it.
unsafe fn publish(link: &mut Link, header: &Header, cells: &CellList) {
    // SAFETY: the FIFO has room for header and cell numbers (this function's contract).
    unsafe {
        header.write(&mut link.producer, cells);
        link.producer.publish(header.packet_bytes(0));
    }
}
