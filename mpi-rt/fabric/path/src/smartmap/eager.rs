//! Short messages: their content travels in the cells of the ring, behind the envelope.

use super::link::{CELLS, Link};
use crate::region::{Region, copy_regions};
use crate::{Outgoing, Result};
use core::mem::MaybeUninit;
use lwk_copy::few;
use lwk_copy::threshold::EAGER_LIMIT;
use lwk_ring::DATA_BYTES;

/// Bytes of content in the cell of the envelope: what two words of envelope leave.
pub const INLINE: usize = DATA_BYTES - 16;

// The longest eager message fits half a ring, so that two can follow each other.
const _: () = assert!((EAGER_LIMIT - INLINE).div_ceil(DATA_BYTES) < CELLS / 2);

/// Cells that an eager message of that many bytes takes.
#[inline(always)]
pub fn cells_for(bytes: usize) -> u64 {
    if bytes <= INLINE { 1 } else { 1 + (bytes - INLINE).div_ceil(DATA_BYTES) as u64 }
}

impl Link {
    /// Writes envelope and content into cells; there must be room for `cells`.
    ///
    /// # Safety
    /// `has_room(cells)` has just said yes; the message's bytes are readable; `cells` is `cells_for(bytes)`.
    #[inline(always)]
    pub unsafe fn write_eager(&mut self, message: &Outgoing, cells: u64) {
        // SAFETY: room for `cells`, and a readable message whose `cells_for` they are (this function's contract).
        unsafe {
            match message.source.contiguous() {
                Some(address) => self.write_block(message, address, cells),
                None => self.write_layout(message, cells),
            }
        }
    }

    /// The same of a message whose bytes are at `content`.
    ///
    /// # Safety
    /// As for [`Link::write_eager`], and `content` is readable for the message's bytes.
    #[inline(always)]
    unsafe fn write_block(&mut self, message: &Outgoing, content: *const u8, cells: u64) {
        let bytes = message.source.bytes();
        // SAFETY: `bytes` are readable at `content`, and `has_room(cells)` said yes (this function's
        // contract); each cell takes at most its own size.
        unsafe {
            let first = bytes.min(INLINE);
            let mut done = first;
            for index in 1..cells {
                let part = (bytes - done).min(DATA_BYTES);
                self.producer.write(index, |data| few(content.add(done), data.cast(), part));
                done += part;
            }
            // Last: the receiver polls this line, and would take it away in between.
            self.producer.write(0, |data| {
                let data = data.cast::<u64>();
                data.write(message.label.0);
                data.add(1).write(bytes as u64);
                few(content, data.add(2).cast(), first);
            });
            self.producer.publish(cells);
        }
    }

    /// The same of a layout, which is packed first: walking it cell by cell would begin anew for each.
    ///
    /// # Safety
    /// As for [`Link::write_eager`].
    #[inline(never)]
    unsafe fn write_layout(&mut self, message: &Outgoing, cells: u64) {
        let mut packed = MaybeUninit::<[u8; EAGER_LIMIT]>::uninit();
        let packed = packed.as_mut_ptr().cast::<u8>();
        // SAFETY: the message is readable and eager, so `packed` has room for its bytes (this function's contract). The layout is this rank's own and whole, so the copy
        // cannot fail.
        unsafe {
            let copied = copy_regions(&message.source, &Region::block(packed, EAGER_LIMIT));
            debug_assert!(copied.is_ok());
            self.write_block(message, packed, cells);
        }
    }

    /// Copies eager content out of the cells and frees them.
    ///
    /// # Safety
    /// The front message of the link is eager and `bytes` long; `region` is writable for these or its own
    /// bytes, whichever are fewer, and its datatype lives.
    #[inline(always)]
    pub unsafe fn read_eager(&mut self, bytes: usize, region: &Region) -> Result<()> {
        match region.contiguous() {
            Some(target) => {
                // SAFETY: the front message is eager and `bytes` long, and `target` is writable for it (this function's contract).
                unsafe { self.read_block(bytes, target, bytes.min(region.bytes())) };
                Ok(())
            }
            // SAFETY: the front message is eager and `bytes` long, and `region` is writable for it (this function's contract).
            None => unsafe { self.read_layout(bytes, region) },
        }
    }

    /// The same of `wanted` bytes into a block.
    ///
    /// # Safety
    /// The front message of the link is eager and `bytes` long, no less than `wanted`, for which `target` is writable.
    #[inline(always)]
    unsafe fn read_block(&mut self, bytes: usize, target: *mut u8, wanted: usize) {
        let cells = cells_for(bytes);
        // SAFETY: the front message is eager and has `cells` cells, and `target` is writable for `wanted`
        // (this function's contract); each cell gives at most its own size.
        unsafe {
            let first = wanted.min(INLINE);
            self.consumer.read(0, |data| few(data.cast::<u64>().add(2).cast(), target, first));
            let mut done = first;
            let mut index = 1;
            while done < wanted {
                let part = (wanted - done).min(DATA_BYTES);
                self.consumer.read(index, |data| few(data.cast(), target.add(done), part));
                done += part;
                index += 1;
            }
            self.consumer.advance(cells);
        }
    }

    /// The same into the blocks of a layout, by way of a block, as [`Link::write_layout`].
    ///
    /// # Safety
    /// As for [`Link::read_eager`].
    #[inline(never)]
    unsafe fn read_layout(&mut self, bytes: usize, region: &Region) -> Result<()> {
        let mut packed = MaybeUninit::<[u8; EAGER_LIMIT]>::uninit();
        let packed = packed.as_mut_ptr().cast::<u8>();
        let wanted = bytes.min(region.bytes()).min(EAGER_LIMIT);
        // SAFETY: the front message is eager and `bytes` long, no less than `wanted`, for which `packed` has room; `region` is writable for it (this function's
        // contract).
        unsafe {
            self.read_block(bytes, packed, wanted);
            copy_regions(&Region::block(packed, wanted), region)?;
        }
        Ok(())
    }
}
