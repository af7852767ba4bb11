//! Offers: *requests to send* of messages that the system copies. They go through the FIFO as envelopes do; the content never does, unless the receiver permits it.

use super::link::Link;
use super::packet::{CellList, HEADER, Header, Kind};
use crate::Outgoing;
use lwk_shm::CellNumber;

/// Cells that an offer names, of which there is none: that is what marks it.
const OFFERED: usize = 1;

/// Whether there is room for one.
pub fn has_room(link: &mut Link) -> bool {
    link.producer.has_room(HEADER + OFFERED * size_of::<CellNumber>())
}

/// Offers a message, which is the send of this number and has a descriptor of this name.
///
/// # Safety
/// There is room.
pub unsafe fn write(link: &mut Link, message: &Outgoing, number: u32, name: u64) {
    let (kind, label, bytes) = (Kind::Request, message.label, message.source.bytes());
    let request = Header { kind, label, bytes, cells: OFFERED, own_id: number, peer_id: 0, name };
    // SAFETY: `has_room` said yes to header and cells.
    unsafe {
        request.write(&mut link.producer, &CellList::default());
        link.producer.publish(request.packet_bytes(0));
    }
}

/// Whether a request is an offer.
pub fn is(header: &Header) -> bool {
    header.cells == OFFERED
}
