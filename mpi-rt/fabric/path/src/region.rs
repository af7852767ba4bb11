//! Regions: where the bytes of a message lie, in this rank's memory or in a peer's, and copies from one region to another.
//!
//! A region is one block of bytes, or the blocks of a datatype's committed layout (`lwk-datatype`) for a number of items. What
//! describes it fits four words that mean something in every rank ([`Region::words`]), so a peer walks the layout where it lies
//! and a message moves with one copy, straight from layout to layout (the SMARTMAP paper, section VI, names that as future work).
//!
//! Addresses of a peer's region are translated once if all of it lies in one slot, else block by block: a datatype may hold absolute addresses
//! (`MPI_BOTTOM`), some in the peer's own slot and some in another's.

use crate::{Fault, Result};
use alloc::vec::Vec;
use core::num::NonZeroUsize;
use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use lwk_copy::{Row, copy, copy_row};
use lwk_datatype::{LayoutView, Memory, Round, Transfer, pack, pack_all, unpack, unpack_all};
use lwk_place::{Peer, Slot, in_one_slot};

/// Where the bytes of a message lie.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Address of the first byte of a block; of a layout, where displacement 0 of its first item lies. As its owner calls it.
    address: usize,
    /// Bytes of data.
    bytes: usize,
    /// `None`: one block.
    layout: Option<Layout>,
    /// Where the owner's memory is seen.
    slot: Slot,
}

/// Items of a committed datatype.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Address of the layout's words, as this rank sees them.
    words: NonZeroUsize,
    /// How many words.
    length: usize,
    /// Items.
    count: u64,
}

impl Region {
    /// One block of this rank's memory.
    #[inline(always)]
    pub fn block(address: *const u8, bytes: usize) -> Region {
        Region { address: address.expose_provenance(), bytes, layout: None, slot: Slot::OWN }
    }

    /// `count` items of a layout in this rank's memory, of which displacement 0 of the first lies at `address`. The region is
    /// valid as long as the layout's datatype lives. Errors: [`Fault::Count`] beyond 63 bits.
    pub fn items(address: *const u8, count: u64, layout: LayoutView) -> Result<Region> {
        let address = address.expose_provenance();
        let bytes = usize::try_from(layout.total(count)?).map_err(|_| Fault::Count)?;
        if let Some((displacement, bytes)) = layout.contiguous(count) {
            let address = address.wrapping_add_signed(displacement as isize);
            let bytes = usize::try_from(bytes).map_err(|_| Fault::Count)?;
            return Ok(Region { address, bytes, layout: None, slot: Slot::OWN });
        }
        let words = layout.words();
        let start = NonZeroUsize::new(words.as_ptr().expose_provenance()).ok_or(Fault::Internal)?;
        let layout = Layout { words: start, length: words.len(), count };
        Ok(Region { address, bytes, layout: Some(layout), slot: Slot::OWN })
    }

    /// Bytes of data.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The first byte, as this rank sees it, if the data is one block.
    #[inline(always)]
    pub fn contiguous(&self) -> Option<*mut u8> {
        match self.layout {
            None => Some(with_exposed_provenance_mut(self.slot.place(self.address))),
            Some(_) => None,
        }
    }

    /// What a peer needs to know beside the number of bytes: address, address of the layout's words or 0, their number, items; all
    /// as this rank, the owner, calls them.
    #[inline(always)]
    pub fn words(&self) -> [u64; 4] {
        match &self.layout {
            None => [self.address as u64, 0, 0, 0],
            Some(layout) => {
                [self.address as u64, layout.words.get() as u64, layout.length as u64, layout.count]
            }
        }
    }

    /// The region of `bytes` bytes that `peer` describes by these words.
    #[inline(always)]
    pub fn of_peer(peer: Peer, words: [u64; 4], bytes: usize) -> Region {
        let slot = Slot::of_peer(peer);
        let [address, layout, length, count] = words;
        let layout = NonZeroUsize::new(layout as usize).map(|words| Layout {
            words: slot.place_not_null(words),
            length: length as usize,
            count,
        });
        Region { address: address as usize, bytes, layout, slot }
    }

    /// The region of `bytes` bytes that this rank describes by these words.
    #[inline(always)]
    pub fn of_words(words: [u64; 4], bytes: usize) -> Region {
        let [address, layout, length, count] = words;
        let layout =
            NonZeroUsize::new(layout as usize).map(|words| Layout { words, length: length as usize, count });
        Region { address: address as usize, bytes, layout, slot: Slot::OWN }
    }

    /// The blocks, as `lwk-datatype` walks them, at the addresses of the region's owner. Errors: [`Fault::Internal`] if a peer's layout is damaged.
    ///
    /// # Safety
    /// The layout's datatype lives as long as what this answers is used, here or in the peer that described it.
    pub unsafe fn walk(&self) -> Result<lwk_datatype::Region<'static>> {
        let Some(layout) = &self.layout else {
            return Ok(lwk_datatype::Region::bytes(self.address, self.bytes as u64));
        };
        // SAFETY: the words of a committed layout do not change and live as long as its datatype (this
        // function's contract); the lifetime ends with the copy for which this is called.
        let words = unsafe {
            core::slice::from_raw_parts(with_exposed_provenance::<u64>(layout.words.get()), layout.length)
        };
        let layout_view = LayoutView::from_words(words)?;
        Ok(lwk_datatype::Region { base: self.address, layout: layout_view, count: layout.count })
    }
}

/// A copy of a message. Errors: [`Fault::NoMemory`], [`Fault::Internal`].
///
/// # Safety
/// The region's blocks are readable, its datatype lives, and nobody writes the blocks meanwhile.
pub unsafe fn content(of: &Region) -> Result<Vec<u8>> {
    let mut content: Vec<u8> = Vec::new();
    content.try_reserve_exact(of.bytes).map_err(|_| Fault::NoMemory)?;
    // SAFETY: the region is readable (this function's contract), the vector has room for `of.bytes`, and they
    // are initialised when the copy has succeeded.
    unsafe {
        copy_regions(of, &Region::block(content.as_mut_ptr(), of.bytes))?;
        content.set_len(of.bytes);
    }
    Ok(content)
}

/// Copies a message: as many bytes as both regions have; says how many. Errors: [`Fault::Internal`] if a peer's layout is damaged.
///
/// # Safety
/// The datatypes of both regions live; the source's blocks are readable and the target's writable; they do
/// not overlap, not even through another slot, nor do the target's blocks overlap each other; nobody writes
/// the source or touches the target meanwhile.
#[inline(always)]
pub unsafe fn copy_regions(from: &Region, to: &Region) -> Result<usize> {
    let bytes = from.bytes.min(to.bytes);
    match (from.contiguous(), to.contiguous()) {
        // SAFETY: `source` is readable and `target` writable for `bytes`, the lesser length; they do not
        // overlap (this function's contract).
        (Some(source), Some(target)) => unsafe { copy(source, target, bytes) },
        // SAFETY: both datatypes live, the blocks are readable and writable, and nothing overlaps (this
        // function's contract).
        _ => unsafe { copy_layouts(from, 0, to, 0, bytes)? },
    }
    Ok(bytes)
}

/// Copies part of a message: `bytes` bytes from byte `from_position` of the source's data on, to byte `to_position` of the
/// target's. Errors: [`Fault::Truncated`] if either has fewer, [`Fault::Internal`] if a peer's layout is damaged.
///
/// # Safety
/// As for [`copy_regions`], as far as the part goes.
#[inline(always)]
pub unsafe fn copy_part(
    from: &Region,
    from_position: usize,
    to: &Region,
    to_position: usize,
    bytes: usize,
) -> Result<()> {
    match (from.contiguous(), to.contiguous()) {
        (Some(source), Some(target)) => {
            let fits = |region: &Region, position: usize| {
                position.checked_add(bytes).is_some_and(|end| end <= region.bytes)
            };
            if !fits(from, from_position) || !fits(to, to_position) {
                return Err(Fault::Truncated);
            }
            // SAFETY: both parts lie within their blocks (checked above), which are readable and writable and
            // do not overlap (this function's contract).
            unsafe { copy(source.add(from_position), target.add(to_position), bytes) };
            Ok(())
        }
        // SAFETY: both datatypes live, the part's blocks are readable and writable, and nothing overlaps
        // (this function's contract).
        _ => unsafe { copy_layouts(from, from_position, to, to_position, bytes) },
    }
}

/// # Safety
/// As for [`copy_part`].
#[inline(never)]
unsafe fn copy_layouts(
    from: &Region,
    from_position: usize,
    to: &Region,
    to_position: usize,
    bytes: usize,
) -> Result<()> {
    // SAFETY: the datatypes live, the source's blocks are readable, the target's writable, and none overlap (this function's contract).
    if let Some(done) = unsafe { copy_packed(from, from_position, to, to_position, bytes) } {
        return done;
    }
    let (from_position, to_position, bytes) = (from_position as u64, to_position as u64, bytes as u64);
    // SAFETY: the datatypes live, the source's blocks are readable, the target's writable, and none overlap
    // (this function's contract). Layouts of peers are checked against the sizes, not trusted for them.
    unsafe {
        let (source, target) = (from.walk()?, to.walk()?);
        if let (Some(source), Some(target)) = (seen_here(from.slot, source), seen_here(to.slot, target)) {
            Transfer::range(source, from_position, target, to_position, bytes)?.step(&Here, bytes)?;
        } else {
            let slots = Slots { from: from.slot, to: to.slot };
            Transfer::range(source, from_position, target, to_position, bytes)?.step(&slots, bytes)?;
        }
    }
    Ok(())
}

/// The same where one side is one block and the other lies in one slot; `None` where not.
///
/// # Safety
/// As for [`copy_part`].
unsafe fn copy_packed(
    from: &Region,
    from_position: usize,
    to: &Region,
    to_position: usize,
    bytes: usize,
) -> Option<Result<()>> {
    let place = |region: &Region, position: usize| {
        let fits = position.checked_add(bytes).is_some_and(|end| end <= region.bytes);
        region.contiguous().filter(|_| fits).map(|block| block.expose_provenance().wrapping_add(position))
    };
    // SAFETY: the datatypes live, the blocks are readable and writable, and nothing overlaps (this function's contract); the part lies within
    // the block (`place` has checked).
    unsafe {
        let done = if let Some(place) = place(to, to_position) {
            let source = seen_here(from.slot, from.walk().ok()?)?;
            pack(&Here, source, from_position as u64, place, bytes as u64)
        } else {
            let place = place(from, from_position)?;
            let target = seen_here(to.slot, to.walk().ok()?)?;
            unpack(&Here, place, bytes as u64, target, to_position as u64)
        };
        Some(done.map_err(Fault::from))
    }
}

/// Packs `count` items of a layout in this rank's memory, of which displacement 0 of the first lies at `address`, into the `room` bytes at `target`; how many bytes
/// that are. Errors: [`Fault::Layout`], of class `Truncate` if there is too little room.
///
/// # Safety
/// The items are readable and `target` is writable; they do not overlap, and nobody writes the items or touches the target meanwhile.
pub unsafe fn pack_items(
    address: *const u8,
    count: u64,
    layout: LayoutView,
    target: *mut u8,
    room: usize,
) -> Result<usize> {
    let items = lwk_datatype::Region { base: address.expose_provenance(), layout, count };
    // SAFETY: this rank sees its own memory where it calls it; this function's contract.
    Ok(unsafe { pack_all(&Here, items, target.expose_provenance(), room as u64)? } as usize)
}

/// Unpacks `count` items of a layout in this rank's memory, of which displacement 0 of the first lies at `address`, out of the `room` bytes at `source`; how many
/// bytes that are. Errors: as for [`pack_items`].
///
/// # Safety
/// `source` is readable and the items are writable; they do not overlap, and nobody writes the source or touches the items meanwhile.
pub unsafe fn unpack_items(
    source: *const u8,
    room: usize,
    address: *mut u8,
    count: u64,
    layout: LayoutView,
) -> Result<usize> {
    let items = lwk_datatype::Region { base: address.expose_provenance(), layout, count };
    // SAFETY: this rank sees its own memory where it calls it; this function's contract.
    Ok(unsafe { unpack_all(&Here, source.expose_provenance(), room as u64, items)? } as usize)
}

/// A region at the addresses that this rank sees it at, if it is this rank's own or all of it lies in one slot.
fn seen_here(slot: Slot, region: lwk_datatype::Region<'_>) -> Option<lwk_datatype::Region<'_>> {
    if slot == Slot::OWN {
        return Some(region);
    }
    let (low, _) = region.span().filter(|(low, high)| in_one_slot(*low, *high))?;
    let base = region.base.wrapping_add(slot.place(low).wrapping_sub(low));
    Some(lwk_datatype::Region { base, ..region })
}

/// The runtime's copy loops where every address is one of this rank's.
struct Here;

impl Memory for Here {
    const LOCAL: bool = true;

    #[inline]
    unsafe fn copy(&self, to: usize, from: usize, bytes: usize) {
        // SAFETY: `from` is readable and `to` writable for `bytes`, apart (this method's contract).
        unsafe { copy(with_exposed_provenance::<u8>(from), with_exposed_provenance_mut::<u8>(to), bytes) }
    }

    #[inline]
    unsafe fn copy_row(&self, block: usize, to: usize, from: usize, round: Round) {
        let (to, from) = (with_exposed_provenance_mut::<u8>(to), with_exposed_provenance::<u8>(from));
        let Round { times, to: to_step, from: from_step } = round;
        // SAFETY: every block is readable, writable and apart, and of one of these sizes (this method's contract).
        unsafe { copy_row(block, Row { to, from, times, to_step, from_step }) }
    }
}

/// The runtime's copy loops between two slots, for layouts whose blocks lie in several.
struct Slots {
    from: Slot,
    to: Slot,
}

impl Memory for Slots {
    const LOCAL: bool = false;

    #[inline]
    unsafe fn copy(&self, to: usize, from: usize, bytes: usize) {
        let source = with_exposed_provenance::<u8>(self.from.place(from));
        let target = with_exposed_provenance_mut::<u8>(self.to.place(to));
        // SAFETY: `from` is readable and `to` writable for `bytes`, apart (this function's contract); `place`
        // gives the same memory's address in this rank.
        unsafe { copy(source, target, bytes) }
    }
}
