//! A rank's heap: the program break growing up from the image, anonymous `mmap` areas growing down from the stack's
//! guard, with the meaning of Linux's `brk(2)`, `mmap(2)` and `munmap(2)`.
//!
//! All of it is mapped from the start, so this is bookkeeping: it says which addresses to hand out, and which of them
//! the caller must clear first. The caller has zeroed the whole heap before the program starts, so what no break and no area has covered
//! since then is still zero and is not cleared again.

mod span;

pub use span::{Span, Transfer};

use arrayvec::ArrayVec;
use core::fmt;

use lwk_abi::address::PAGE_BYTES;
use lwk_abi::syscall::errno;

use crate::address::{align_down, align_up};

/// What the caller clears before the program goes on: pieces of the heap used before. At most one above the break's
/// high-water mark and one below it.
pub type Stale = ArrayVec<Span, 2>;

/// Memory handed to the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What the system call returns: the new area's address, or the break.
    pub address: u64,
    /// What must be zeroed first.
    pub stale: Stale,
}

/// Why a call failed; see [`HeapError::errno`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeapError {
    /// No room, or too many areas (as Linux's `vm.max_map_count`).
    NoMemory,
    /// Misaligned, empty, or outside the heap.
    Invalid,
}

impl HeapError {
    /// Linux's error number, positive.
    #[must_use]
    pub const fn errno(self) -> i64 {
        match self {
            HeapError::NoMemory => errno::ENOMEM,
            HeapError::Invalid => errno::EINVAL,
        }
    }
}

impl fmt::Display for HeapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeapError::NoMemory => "out of heap",
            HeapError::Invalid => "invalid heap range",
        })
    }
}

/// The heap of one rank, with at most `N` areas apart from each other (areas that touch are one).
#[derive(Clone, Debug)]
pub struct Heap<const N: usize> {
    start: u64,
    end: u64,
    /// The program break, to the byte.
    brk: u64,
    /// Mapped areas: page aligned, ascending, apart, between the break and `end`.
    areas: ArrayVec<Span, N>,
    /// No break was ever above this page.
    break_mark: u64,
    /// No area was ever below this page.
    area_mark: u64,
}

impl<const N: usize> Heap<N> {
    /// An unused heap of zeroed memory between two page-aligned addresses, the layout's `heap_start` and `heap_end`.
    #[must_use]
    pub const fn new(start: u64, end: u64) -> Self {
        Self { start, end, brk: start, areas: ArrayVec::new_const(), break_mark: start, area_mark: end }
    }

    /// `brk(requested)`: moves the break there and returns it, or leaves it and returns the old one if that is below the
    /// heap's start or would run into an area.
    pub fn brk(&mut self, requested: u64) -> Grant {
        let limit = self.areas.first().map_or(self.end, |area| area.start);
        let mut stale = Stale::new();
        if self.start <= requested && requested <= limit {
            // `limit` is page aligned, so both rounded values are at most that.
            let old_page = align_up(self.brk, PAGE_BYTES).unwrap_or(limit);
            let new_page = align_up(requested, PAGE_BYTES).unwrap_or(limit);
            self.brk = requested;
            stale = self.stale_in(old_page, new_page);
            self.break_mark = self.break_mark.max(new_page);
        }
        Grant { address: self.brk, stale }
    }

    /// `mmap` of anonymous memory anywhere: the highest free place that fits, `bytes` rounded up to pages.
    ///
    /// # Errors
    /// [`HeapError::Invalid`] for 0 bytes, [`HeapError::NoMemory`] if there is no such place.
    pub fn map(&mut self, bytes: u64) -> Result<Grant, HeapError> {
        if bytes == 0 {
            return Err(HeapError::Invalid);
        }
        let bytes = align_up(bytes, PAGE_BYTES).ok_or(HeapError::NoMemory)?;
        let mut above = self.end;
        let below_areas = self.areas.iter().rev().map(|area| (area.end, area.start));
        let below_all = core::iter::once((self.break_page(), 0));
        for (floor, next) in below_areas.chain(below_all) {
            if above - floor >= bytes {
                return self.grant(above - bytes, above);
            }
            above = next;
        }
        Err(HeapError::NoMemory)
    }

    /// `mmap` with `MAP_FIXED`: makes `bytes` (rounded up to pages) at `address` an area with fresh memory, replacing
    /// what is mapped there.
    ///
    /// # Errors
    /// [`HeapError::Invalid`] for a misaligned address or 0 bytes; [`HeapError::NoMemory`] if part of it is outside the
    /// heap or below the break, or if the areas could not be listed.
    pub fn map_fixed(&mut self, address: u64, bytes: u64) -> Result<Grant, HeapError> {
        if bytes == 0 || !address.is_multiple_of(PAGE_BYTES) {
            return Err(HeapError::Invalid);
        }
        let bytes = align_up(bytes, PAGE_BYTES).ok_or(HeapError::NoMemory)?;
        let end = address.checked_add(bytes).ok_or(HeapError::NoMemory)?;
        if address < self.break_page() || end > self.end {
            return Err(HeapError::NoMemory);
        }
        self.grant(address, end)
    }

    /// `munmap`: gives back `bytes` (rounded up to pages) at `address`. Pages of it that are no area are fine, as in
    /// Linux; those below the break stay the break's.
    ///
    /// # Errors
    /// [`HeapError::Invalid`] for a misaligned address, 0 bytes, or any page outside the heap; [`HeapError::NoMemory`] if
    /// it would split an area and there are too many. Then nothing changes.
    pub fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), HeapError> {
        if bytes == 0 || !address.is_multiple_of(PAGE_BYTES) {
            return Err(HeapError::Invalid);
        }
        let bytes = align_up(bytes, PAGE_BYTES).ok_or(HeapError::Invalid)?;
        let end = address.checked_add(bytes).ok_or(HeapError::Invalid)?;
        if address < self.start || end > self.end {
            return Err(HeapError::Invalid);
        }
        let splits = self.areas.iter().any(|area| area.start < address && end < area.end);
        if splits && self.areas.is_full() {
            return Err(HeapError::NoMemory);
        }
        let mut index = 0;
        while index < self.areas.len() {
            let area = self.areas[index];
            if area.end <= address || end <= area.start {
                index += 1;
                continue;
            }
            self.areas.remove(index);
            for piece in [Span { start: area.start, end: address }, Span { start: end, end: area.end }] {
                if piece.start < piece.end {
                    self.areas.insert(index, piece);
                    index += 1;
                }
            }
        }
        Ok(())
    }

    /// The first page above the break: what is below it, from the heap's start, belongs to the program.
    #[must_use]
    pub fn break_end(&self) -> u64 {
        self.break_page()
    }

    /// The mapped areas, lowest first.
    #[must_use]
    pub fn areas(&self) -> &[Span] {
        &self.areas
    }

    /// The pages `address..address + bytes` if all of them are mapped, by one area.
    #[must_use]
    pub fn span(&self, address: u64, bytes: u64) -> Option<Span> {
        let end = address.checked_add(bytes)?;
        let whole = address.is_multiple_of(PAGE_BYTES) && bytes.is_multiple_of(PAGE_BYTES) && bytes > 0;
        let inside = |area: &Span| area.start <= address && end <= area.end;
        (whole && self.areas.iter().any(inside)).then_some(Span { start: address, end })
    }

    /// Makes `start..end` (page aligned, above the break, not empty) an area, merged with all it touches.
    fn grant(&mut self, start: u64, end: u64) -> Result<Grant, HeapError> {
        let stale = self.stale_in(start, end);
        let first = self.areas.iter().position(|area| area.end >= start).unwrap_or(self.areas.len());
        let touched = self.areas[first..].iter().take_while(|area| area.start <= end).count();
        if touched == 0 {
            self.areas.try_insert(first, Span { start, end }).map_err(|_| HeapError::NoMemory)?;
        } else {
            let merged = Span {
                start: start.min(self.areas[first].start),
                end: end.max(self.areas[first + touched - 1].end),
            };
            self.areas[first] = merged;
            self.areas.drain(first + 1..first + touched);
        }
        self.area_mark = self.area_mark.min(start);
        Ok(Grant { address: start, stale })
    }

    /// The part of `start..end` that a break or an area may have covered before.
    fn stale_in(&self, start: u64, end: u64) -> Stale {
        let mut stale = Stale::new();
        if self.break_mark >= self.area_mark {
            push_span(&mut stale, start, end);
        } else {
            push_span(&mut stale, start, end.min(self.break_mark));
            push_span(&mut stale, start.max(self.area_mark), end);
        }
        stale
    }

    /// The first page above the break.
    fn break_page(&self) -> u64 {
        align_down(self.brk + (PAGE_BYTES - 1), PAGE_BYTES)
    }
}

/// Adds `start..end` if it is not empty. At most two calls are made for one list, which has room for two.
fn push_span(stale: &mut Stale, start: u64, end: u64) {
    if start < end {
        stale.push(Span { start, end });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 0x50_0000;
    const END: u64 = 0x60_0000;

    fn heap() -> Heap<4> {
        Heap::new(START, END)
    }

    fn spans(spans: &[(u64, u64)]) -> Stale {
        spans.iter().map(|&(start, end)| Span { start, end }).collect()
    }

    #[test]
    fn the_break_moves_as_on_linux() {
        let mut heap = heap();
        assert_eq!(heap.brk(0).address, START);
        assert_eq!(heap.brk(START + 10), Grant { address: START + 10, stale: spans(&[]) });
        assert_eq!(heap.brk(START + 0x3000).stale, spans(&[]), "never used");
        assert_eq!(heap.brk(START + 1).address, START + 1);
        // The first page was kept, and the two above it were given back.
        assert_eq!(heap.brk(START + 0x4000).stale, spans(&[(START + 0x1000, START + 0x3000)]));
        assert_eq!(heap.brk(START - 1).address, START + 0x4000);
        assert_eq!(heap.brk(END + 1).address, START + 0x4000);
        assert_eq!(heap.brk(u64::MAX).address, START + 0x4000);
        let area = heap.map(0x1000).unwrap().address;
        assert_eq!(heap.brk(area + 1).address, START + 0x4000);
        assert_eq!(heap.brk(area).address, area);
    }

    #[test]
    fn areas_come_from_the_top() {
        let mut heap = heap();
        assert_eq!(heap.map(1).unwrap(), Grant { address: END - 0x1000, stale: spans(&[]) });
        assert_eq!(heap.map(0x2000).unwrap().address, END - 0x3000);
        heap.unmap(END - 0x2000, 0x1000).unwrap();
        assert_eq!(
            heap.map(0x1000).unwrap(),
            Grant { address: END - 0x2000, stale: spans(&[(END - 0x2000, END - 0x1000)]) }
        );
        assert_eq!(heap.areas(), [Span { start: END - 0x3000, end: END }]);
        assert_eq!(heap.map(END - START - 0x2000), Err(HeapError::NoMemory));
        assert_eq!(heap.map(END - START - 0x3000).unwrap().address, START);
        assert_eq!(heap.map(1), Err(HeapError::NoMemory));
    }

    #[test]
    fn fixed_areas_replace() {
        let mut heap = heap();
        let at = START + 0x8000;
        assert_eq!(heap.map_fixed(at, 0x2000).unwrap(), Grant { address: at, stale: spans(&[]) });
        assert_eq!(heap.map_fixed(at, 0x1000).unwrap().stale, spans(&[(at, at + 0x1000)]));
        assert_eq!(heap.areas(), [Span { start: at, end: at + 0x2000 }]);
        heap.brk(START + 1);
        assert_eq!(heap.map_fixed(START, 0x1000), Err(HeapError::NoMemory));
        assert_eq!(heap.map_fixed(START + 0x1000, 0x1000).unwrap().address, START + 0x1000);
        assert_eq!(heap.map_fixed(END - 0x1000, 0x1001), Err(HeapError::NoMemory));
        assert_eq!(heap.map_fixed(END - 0x800, 0x800), Err(HeapError::Invalid));
    }

    #[test]
    fn too_many_areas_are_refused_and_nothing_changes() {
        let mut heap = heap();
        heap.map(0x9000).unwrap();
        for page in [1, 3, 5] {
            heap.unmap(END - 0x9000 + page * 0x1000, 0x1000).unwrap();
        }
        let before = heap.areas().to_vec();
        assert_eq!(heap.unmap(END - 0x2000, 0x1000), Err(HeapError::NoMemory));
        assert_eq!(heap.map_fixed(START + 0x4000, 0x1000), Err(HeapError::NoMemory));
        assert_eq!(heap.areas(), before);
        // Areas that touch need no room.
        heap.map(0x1000).unwrap();
    }

    #[test]
    fn spans_are_of_one_area_and_copies_do_not_overlap() {
        let mut heap = heap();
        let upper = heap.map(0x4000).unwrap().address;
        let whole = heap.span(upper, 0x4000).unwrap();
        for (address, bytes) in [
            (upper - 0x1000, 0x1000),
            (upper, 0x5000),
            (upper + 1, 0x1000),
            (upper, 1),
            (upper, 0),
            (!0xfff, 0x1000),
        ] {
            assert_eq!(heap.span(address, bytes), None, "{address:#x} {bytes:#x}");
        }
        let first = heap.span(upper, 0x2000).unwrap();
        let last = heap.span(upper + 0x2000, 0x2000).unwrap();
        let third = heap.span(upper + 0x2000, 0x1000).unwrap();
        assert_eq!(Transfer::new(first, last).map(|copy| copy.to()), Some(last));
        assert_eq!(Transfer::new(third, first).map(|copy| copy.to().bytes()), Some(0x1000));
        assert_eq!(Transfer::new(first, third), None, "too long");
        assert_eq!(Transfer::new(first, whole), None, "they overlap");
        assert_eq!(whole.within(upper + 0x1000, upper + 0x3000).unwrap().bytes(), 0x2000);
        assert_eq!(first.within(upper + 0x2000, upper + 0x3000), None);
    }

    #[test]
    fn nonsense_gets_linuxs_errors() {
        let mut heap = heap();
        assert_eq!(heap.map(0), Err(HeapError::Invalid));
        assert_eq!(heap.map(u64::MAX), Err(HeapError::NoMemory));
        assert_eq!(heap.map_fixed(START, 0), Err(HeapError::Invalid));
        assert_eq!(heap.map_fixed(START, u64::MAX), Err(HeapError::NoMemory));
        assert_eq!(heap.map_fixed(!0xfff, 0x1000), Err(HeapError::NoMemory));
        assert_eq!(heap.unmap(START, 0), Err(HeapError::Invalid));
        assert_eq!(heap.unmap(START + 1, 0x1000), Err(HeapError::Invalid));
        assert_eq!(heap.unmap(START - 0x1000, 0x1000), Err(HeapError::Invalid));
        assert_eq!(heap.unmap(END - 0x1000, 0x1001), Err(HeapError::Invalid));
        assert_eq!(heap.unmap(!0xfff, u64::MAX), Err(HeapError::Invalid));
        assert_eq!(heap.unmap(START, END - START), Ok(()), "holes are fine");
        assert_eq!(HeapError::Invalid.errno(), 22);
        assert_eq!(HeapError::NoMemory.errno(), 12);
    }
}
