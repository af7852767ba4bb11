//! Frames whose payload lies in several pieces of a rank's memory (`PTL_IOVEC`). A card gathers one piece behind a frame's head, so these are copied
//! together first.
//!
//! Buffers are used in turn. One that is used again while the card still reads it makes a frame whose checksum is wrong: the other node drops
//! it, and it is sent again, as if the rank had changed its memory.

use core::alloc::Layout;
use core::ptr::NonNull;

use lwk_nic::FRAME_BYTES_MAX;
use lwk_portals::Span;

use super::{home, region};

/// Buffers: more than the frames with several pieces that a card usually has before it.
const BUFFERS: usize = 32;

type Frames = [[u8; FRAME_BYTES_MAX]; BUFFERS];

/// The buffers, which are taken from the network's region when they are first needed.
#[derive(Default)]
pub struct Gather {
    frames: Option<&'static mut Frames>,
    next: usize,
}

impl Gather {
    /// The pieces one behind the other. Nothing if the region has no room for the buffers, or the pieces are longer than a frame.
    pub fn frame(&mut self, pieces: &[Span]) -> Option<NonNull<[u8]>> {
        if self.frames.is_none() {
            let start = region::allocate(Layout::new::<Frames>())?.cast::<Frames>();
            // SAFETY: zeroed memory of that size, which is nobody else's for ever; any bytes are a buffer.
            self.frames = Some(unsafe { &mut *start.as_ptr() });
        }
        let frames = self.frames.as_deref_mut()?;
        let frame = &mut frames[self.next % BUFFERS];
        self.next = self.next.wrapping_add(1);
        let mut length = 0;
        for piece in pieces {
            let end = length + piece.bytes() as usize;
            home::readable(piece).copy_to(frame.get_mut(length..end)?);
            length = end;
        }
        Some(NonNull::from(&mut frame[..length]))
    }
}
