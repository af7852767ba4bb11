//! `shm-basic`: the dissertation's basic design (section 3.1). Each pair of ranks has a large FIFO in each direction, and everything
//! goes through it: P × (P − 1) buffers of 1 MiB.
//!
//! *Eager*: a message that fits the buffer. *Rendezvous*: a longer one goes chunk by chunk after request and permission; when the buffer is used
//! up before its end, the sender requests again and goes on when the receiver, who has then read everything before, permits.

use super::content::{copy_in, read_payload, write_eager};
use super::link::{Link, Placing, Plan};
use super::packet::{CellList, HEADER, Header, Kind};
use super::{Design, Entered, Sending, Tunables};
use crate::Result;
use crate::region::Region;
use crate::{Label, Outgoing, WorldRank};
use lwk_shm::{BLOCK, Cells};

/// The basic design, which has no state of its own. Others, by which the system copies the longer messages, stand on its functions.
pub struct Basic;

impl Design for Basic {
    fn new(_: &Tunables, _: Option<Cells<'static>>, _: usize) -> Result<Basic> {
        Ok(Basic)
    }

    unsafe fn begin(
        &mut self,
        link: &mut Link,
        _: WorldRank,
        message: &Outgoing,
        number: u32,
        name: impl FnOnce() -> u64,
    ) -> Option<Entered> {
        // SAFETY: this function's contract.
        unsafe { begin(link, message, number, name) }
    }
}

/// As [`Design::plan`].
pub fn plan(tunables: &Tunables) -> Plan {
    let blocks = tunables.basic_buffer / BLOCK;
    Plan { placing: Placing::AtSender, blocks, cells: 0, blocks_per_cell: 0, chunk: tunables.basic_chunk }
}

/// As [`Design::begin`].
///
/// # Safety
/// As there.
pub unsafe fn begin(
    link: &mut Link,
    message: &Outgoing,
    number: u32,
    name: impl FnOnce() -> u64,
) -> Option<Entered> {
    let bytes = message.source.bytes();
    if bytes <= link.producer.capacity() - HEADER && !message.synchronous {
        if !link.producer.has_room(HEADER + bytes) {
            return None;
        }
        // SAFETY: `has_room` above said yes to header and `bytes`; the message's bytes are readable
        // (`Path::begin`'s contract).
        unsafe { write_eager(link, message) };
        return Some(Entered::Whole);
    }
    if !link.producer.has_room(HEADER) {
        return None;
    }
    let (kind, label, name) = (Kind::Request, message.label, name());
    let request = Header { kind, label, bytes, cells: 0, own_id: number, peer_id: 0, name };
    link.control(&request).then_some(Entered::Asked(0))
}

/// As [`Design::push`], `chunk` bytes at a time.
///
/// # Safety
/// As there.
pub unsafe fn push(link: &mut Link, send: &mut Sending, chunk: usize) {
    let Some(wanted) = send.wanted else { return };
    while send.position < wanted {
        // A line is left for the request that says that there is more.
        let room = link.producer.room().saturating_sub(BLOCK);
        let part = chunk.min(wanted - send.position);
        if room < HEADER + part {
            let more = Header {
                kind: Kind::More,
                label: Label(0),
                bytes: 0,
                cells: 0,
                own_id: send.number,
                peer_id: send.receive,
                name: 0,
            };
            send.paused = link.control(&more);
            return;
        }
        let data = Header {
            kind: Kind::Data,
            label: Label(0),
            bytes: part,
            cells: 0,
            own_id: 0,
            peer_id: send.receive,
            name: 0,
        };
        // SAFETY: `room` covers header and `part` (checked above); the send's source is readable to
        // `wanted` (this function's contract). Its layout is this rank's own and sound, so copying in
        // cannot fail.
        unsafe {
            data.write(&mut link.producer, &CellList::default());
            link.producer.write(HEADER, part, |to, offset, length| {
                let _ = copy_in(&send.message.source, send.position + offset, to, length);
            });
            link.producer.publish(data.packet_bytes(part));
        }
        send.position += part;
    }
}

/// As [`Design::copy_out`].
///
/// # Safety
/// As there.
pub unsafe fn copy_out(
    link: &Link,
    header: &Header,
    position: usize,
    target: &Region,
) -> (usize, Result<()>) {
    if header.kind == Kind::Request {
        return (0, Ok(()));
    }
    // SAFETY: an eager or data packet is at the front, with `header.bytes` behind its header; `target` is
    // writable (this function's contract).
    (header.bytes, unsafe { read_payload(link, header.bytes, position, target) })
}

/// As [`Design::eager`].
pub fn eager(plan: &Plan) -> usize {
    plan.blocks * BLOCK - HEADER
}
