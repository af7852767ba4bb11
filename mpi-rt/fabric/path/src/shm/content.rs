//! Content of messages, copied between a program's buffers and shared memory.

use super::link::Link;
use super::packet::{CellList, HEADER, Header, Kind};
use crate::region::{Region, copy_part};
use crate::{Outgoing, Result};

/// Copies `bytes` bytes of a region, from `position` on, to an address.
///
/// # Safety
/// The region is readable, the address writable for as many bytes.
pub(super) unsafe fn copy_in(source: &Region, position: usize, to: *mut u8, bytes: usize) -> Result<()> {
    // SAFETY: `source` is readable and `to` writable for `bytes` (this function's contract); shared memory
    // overlaps no user's buffer.
    unsafe { copy_part(source, position, &Region::block(to, bytes), 0, bytes) }
}

/// Copies `bytes` bytes from an address to a region, from `position` on, up to its end.
///
/// # Safety
/// The address is readable for as many bytes, the region writable.
pub(super) unsafe fn copy_to(from: *const u8, target: &Region, position: usize, bytes: usize) -> Result<()> {
    let bytes = bytes.min(target.bytes().saturating_sub(position));
    if bytes == 0 {
        // Behind the end of a truncated message there is no position either.
        return Ok(());
    }
    // SAFETY: `from` is readable for `bytes` and `target` writable (this function's contract); shared memory
    // overlaps no user's buffer.
    unsafe { copy_part(&Region::block(from, bytes), 0, target, position, bytes) }
}

/// Writes and publishes a whole message as one packet; there must be room.
///
/// # Safety
/// There is room for header and message, whose bytes are readable.
pub(super) unsafe fn write_eager(link: &mut Link, message: &Outgoing) {
    let bytes = message.source.bytes();
    let (kind, label) = (Kind::Eager, message.label);
    let header = Header { kind, label, bytes, cells: 0, own_id: 0, peer_id: 0, name: 0 };
    // SAFETY: the FIFO has room for header and message, whose bytes are readable (this function's contract).
    // This rank's own layout is sound, so copying in cannot fail.
    unsafe {
        header.write(&mut link.producer, &CellList::default());
        link.producer.write(HEADER, bytes, |to, offset, length| {
            let _ = copy_in(&message.source, offset, to, length);
        });
        link.producer.publish(header.packet_bytes(bytes));
    }
}

/// Copies the payload of the front packet, `bytes` bytes, to byte `position` of the target and on.
///
/// # Safety
/// The front packet has so many bytes behind its header; the target is writable.
pub(super) unsafe fn read_payload(link: &Link, bytes: usize, position: usize, target: &Region) -> Result<()> {
    let mut outcome = Ok(());
    // SAFETY: the front packet has `bytes` behind its header, and `target` is writable (this function's
    // contract).
    unsafe {
        link.consumer.read(HEADER, bytes, |from, offset, length| {
            outcome = outcome.and(copy_to(from, target, position + offset, length));
        });
    }
    outcome
}
