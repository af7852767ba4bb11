//! The free physical memory of a node: a sorted list of disjoint, page-aligned regions of which no two touch.
//!
//! Segments are few and large and live as long as their job, so a short list beats a buddy system: nothing is rounded
//! up, and a segment can be placed at any residue of a large page. Whatever the list cannot record for want of room is
//! refused and changes nothing; memory is never lost silently.
//!
//! Placement: the fewest new pieces first, then the smallest region that fits, then the highest address. So large regions
//! stay whole, and low memory stays free for what must lie there (start-up code of cores, devices with short addresses).

use arrayvec::ArrayVec;
use core::fmt;

use lwk_abi::address::PAGE_BYTES;

use crate::address::{PHYS_BITS, PhysAddr, align_down, align_up};

/// A piece of physical memory by its addresses: `start` is in it, `end` is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysRegion {
    pub start: u64,
    pub end: u64,
}

impl PhysRegion {
    /// Bytes of the region.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// Why the list was not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhysicalError {
    /// The change would need more than the list's capacity of regions.
    TooManyRegions,
    /// The end is below the start, or does not fit in a physical address.
    BadRange,
    /// Memory to be released is not page aligned.
    Misaligned,
    /// Memory to be released is free already, in whole or in part.
    AlreadyFree,
}

impl fmt::Display for PhysicalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PhysicalError::TooManyRegions => "free memory is in more pieces than the kernel can list",
            PhysicalError::BadRange => "a physical range ends before it starts",
            PhysicalError::Misaligned => "released memory is not page aligned",
            PhysicalError::AlreadyFree => "released memory is free already",
        })
    }
}

/// The free list, of at most `N` regions.
#[derive(Clone, Debug, Default)]
pub struct PhysicalMemory<const N: usize> {
    free: ArrayVec<PhysRegion, N>,
}

impl<const N: usize> PhysicalMemory<N> {
    /// No memory at all.
    #[must_use]
    pub const fn new() -> Self {
        Self { free: ArrayVec::new_const() }
    }

    /// Makes the whole pages inside `start..end` free. Overlap with free memory is fine: firmware maps overlap.
    ///
    /// # Errors
    /// [`PhysicalError::BadRange`], [`PhysicalError::TooManyRegions`]; then nothing changes.
    pub fn add(&mut self, start: u64, end: u64) -> Result<(), PhysicalError> {
        if end < start {
            return Err(PhysicalError::BadRange);
        }
        // A start too high to round up holds no whole page.
        let Some(start) = align_up(start, PAGE_BYTES) else { return Ok(()) };
        let end = align_down(end, PAGE_BYTES);
        if end <= start { Ok(()) } else { self.insert(start, end) }
    }

    /// Takes every page that `start..end` touches out of the free memory, free or not: what firmware, the kernel's image
    /// or a device occupies.
    ///
    /// # Errors
    /// [`PhysicalError::BadRange`], [`PhysicalError::TooManyRegions`]; then nothing changes.
    pub fn remove(&mut self, start: u64, end: u64) -> Result<(), PhysicalError> {
        if end < start {
            return Err(PhysicalError::BadRange);
        }
        if start == end {
            return Ok(());
        }
        let start = align_down(start, PAGE_BYTES);
        // Free regions end at or below the last page boundary, so saturating there removes the same.
        let end = align_up(end, PAGE_BYTES).unwrap_or(u64::MAX);
        let splits = self.free.iter().any(|region| region.start < start && end < region.end);
        if splits && self.free.is_full() {
            return Err(PhysicalError::TooManyRegions);
        }
        let mut index = 0;
        while index < self.free.len() {
            let region = self.free[index];
            if region.end <= start || end <= region.start {
                index += 1;
                continue;
            }
            self.free.remove(index);
            for piece in
                [PhysRegion { start: region.start, end: start }, PhysRegion { start: end, end: region.end }]
            {
                if piece.start < piece.end {
                    self.free.insert(index, piece);
                    index += 1;
                }
            }
        }
        Ok(())
    }

    /// Takes `bytes` (rounded up to pages) at an address that is `residue` modulo `align`, a power of two (at least a
    /// page is assumed; `residue` must be page aligned and below `align`). `None` if nothing free fits, if the arguments
    /// make no sense, or if the pieces that remain could not be listed.
    ///
    /// A residue lets a segment use the largest pages: its physical address must be congruent to the address
    /// that the program has it at, modulo the page size.
    pub fn allocate(&mut self, bytes: u64, align: u64, residue: u64) -> Option<PhysAddr> {
        self.place(bytes, align, residue, core::iter::once((0, u64::MAX)))
    }

    /// The same wholly inside one of `windows`: each by its first and its end address.
    pub fn allocate_inside(
        &mut self,
        bytes: u64,
        align: u64,
        residue: u64,
        windows: impl Iterator<Item = (u64, u64)> + Clone,
    ) -> Option<PhysAddr> {
        self.place(bytes, align, residue, windows)
    }

    /// As [`PhysicalMemory::allocate`] with residue 0, and wholly below the address `limit`.
    pub fn allocate_below(&mut self, bytes: u64, align: u64, limit: u64) -> Option<PhysAddr> {
        self.place(bytes, align, 0, core::iter::once((0, limit)))
    }

    /// The most bytes, a multiple of `align` (a power of two, a page at least), of which [`PhysicalMemory::allocate`] can give `count` pieces, one after the
    /// other, each at a multiple of `align`; 0 if there are none so large as that.
    #[must_use]
    pub fn share(&self, count: u64, align: u64) -> u64 {
        let units = |region: &PhysRegion| {
            let start = lowest_at(region.start, align, 0).unwrap_or(region.end);
            align_down(region.end, align).saturating_sub(start) / align
        };
        let fit = |most: u64| count <= self.free.iter().map(|region| units(region) / most).sum();
        // The largest size that fits, in units: below `too_many`, and `fits` or above.
        let (mut fits, mut too_many) = (0, self.free.iter().map(units).max().unwrap_or(0) + 1);
        while fits + 1 < too_many {
            let middle = fits + (too_many - fits) / 2;
            if fit(middle) { fits = middle } else { too_many = middle }
        }
        fits * align
    }

    /// Gives back what [`PhysicalMemory::allocate`] returned for as many `bytes`, or a page-aligned part of it.
    ///
    /// # Errors
    /// [`PhysicalError::Misaligned`], [`PhysicalError::BadRange`], [`PhysicalError::AlreadyFree`],
    /// [`PhysicalError::TooManyRegions`]; then nothing changes.
    pub fn release(&mut self, start: PhysAddr, bytes: u64) -> Result<(), PhysicalError> {
        if !start.is_aligned(PAGE_BYTES) {
            return Err(PhysicalError::Misaligned);
        }
        let bytes = align_up(bytes, PAGE_BYTES).ok_or(PhysicalError::BadRange)?;
        let start = start.as_u64();
        let end =
            start.checked_add(bytes).filter(|end| *end <= 1 << PHYS_BITS).ok_or(PhysicalError::BadRange)?;
        if bytes == 0 {
            return Ok(());
        }
        if self.free.iter().any(|region| region.start < end && start < region.end) {
            return Err(PhysicalError::AlreadyFree);
        }
        self.insert(start, end)
    }

    /// Bytes of all free regions together.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.free.iter().map(PhysRegion::bytes).sum()
    }

    /// Bytes of the largest free region, 0 if nothing is free.
    #[must_use]
    pub fn largest(&self) -> u64 {
        self.free.iter().map(PhysRegion::bytes).max().unwrap_or(0)
    }

    /// The free regions, lowest first.
    #[must_use]
    pub fn regions(&self) -> &[PhysRegion] {
        &self.free
    }

    /// Adds `start..end`, page aligned and not empty, and merges it with all it touches.
    fn insert(&mut self, start: u64, end: u64) -> Result<(), PhysicalError> {
        let first = self.free.iter().position(|region| region.end >= start).unwrap_or(self.free.len());
        let touched = self.free[first..].iter().take_while(|region| region.start <= end).count();
        if touched == 0 {
            let region = PhysRegion { start, end };
            return self.free.try_insert(first, region).map_err(|_| PhysicalError::TooManyRegions);
        }
        let merged = PhysRegion {
            start: start.min(self.free[first].start),
            end: end.max(self.free[first + touched - 1].end),
        };
        self.free[first] = merged;
        self.free.drain(first + 1..first + touched);
        Ok(())
    }

    /// Chooses the best place (module's rule), and takes it.
    fn place(
        &mut self,
        bytes: u64,
        align: u64,
        residue: u64,
        windows: impl Iterator<Item = (u64, u64)> + Clone,
    ) -> Option<PhysAddr> {
        if bytes == 0 || !align.is_power_of_two() {
            return None;
        }
        let align = align.max(PAGE_BYTES);
        if residue >= align || !residue.is_multiple_of(PAGE_BYTES) {
            return None;
        }
        let bytes = align_up(bytes, PAGE_BYTES)?;
        let parts = self.free.iter().flat_map(|region| windows.clone().map(move |window| (region, window)));
        let places = parts.flat_map(|(region, (first, limit))| {
            let (begin, end) = (region.start.max(first), region.end.min(limit));
            let lowest = lowest_at(begin, align, residue);
            let highest = end.checked_sub(bytes).and_then(|last| highest_at(last, align, residue));
            [lowest, highest].into_iter().flatten().filter_map(move |start| {
                let stop = start.checked_add(bytes)?;
                (start >= begin && stop <= end).then(|| {
                    let pieces = u8::from(start > region.start) + u8::from(stop < region.end);
                    (pieces, region.bytes(), start)
                })
            })
        });
        let (_, _, start) =
            places.min_by_key(|&(pieces, size, start)| (pieces, size, core::cmp::Reverse(start)))?;
        // Fails if even the best place splits a region, and the list is full.
        let address = PhysAddr::try_new(start).ok()?;
        self.remove(start, start + bytes).ok().map(|()| address)
    }
}

/// The lowest address from `from` up that is `residue` modulo `align`.
fn lowest_at(from: u64, align: u64, residue: u64) -> Option<u64> {
    let candidate = align_down(from, align).checked_add(residue)?;
    if candidate >= from { Some(candidate) } else { candidate.checked_add(align) }
}

/// The highest address up to `last` that is `residue` modulo `align`.
fn highest_at(last: u64, align: u64, residue: u64) -> Option<u64> {
    let candidate = align_down(last, align).checked_add(residue)?;
    if candidate <= last { Some(candidate) } else { candidate.checked_sub(align) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: u64, end: u64) -> PhysRegion {
        PhysRegion { start, end }
    }

    #[test]
    fn regions_stay_sorted_and_merged() {
        let mut memory = PhysicalMemory::<4>::new();
        memory.add(0x5000, 0x6000).unwrap();
        memory.add(0x1001, 0x2fff).unwrap(); // Holds no whole page.
        memory.add(0x1000, 0x2000).unwrap();
        assert_eq!(memory.regions(), [region(0x1000, 0x2000), region(0x5000, 0x6000)]);
        memory.add(0x2000, 0x5000).unwrap();
        assert_eq!(memory.regions(), [region(0x1000, 0x6000)]);
        memory.remove(0x2fff, 0x3001).unwrap();
        assert_eq!(memory.regions(), [region(0x1000, 0x2000), region(0x4000, 0x6000)]);
        assert_eq!((memory.free_bytes(), memory.largest()), (0x3000, 0x2000));
    }

    #[test]
    fn a_full_list_refuses_and_keeps_everything() {
        let mut memory = PhysicalMemory::<2>::new();
        memory.add(0x1000, 0x2000).unwrap();
        memory.add(0x4000, 0x9000).unwrap();
        let before = memory.regions().to_vec();
        assert_eq!(memory.add(0xb000, 0xc000), Err(PhysicalError::TooManyRegions));
        assert_eq!(memory.remove(0x5000, 0x6000), Err(PhysicalError::TooManyRegions));
        assert_eq!(memory.release(PhysAddr::new(0xb000), 0x1000), Err(PhysicalError::TooManyRegions));
        // The only place at this residue would split a region in two.
        assert_eq!(memory.allocate(0x1000, 0x8000, 0x6000), None);
        assert_eq!(memory.regions(), before);
    }

    #[test]
    fn placement_keeps_large_regions_whole_and_low_memory_free() {
        let mut memory = PhysicalMemory::<8>::new();
        memory.add(0x1000, 0x3000).unwrap();
        memory.add(0x10_0000, 0x20_0000).unwrap();
        assert_eq!(
            memory.allocate(0x2000, 0x1000, 0),
            Some(PhysAddr::new(0x1000)),
            "an exact fit leaves nothing over"
        );
        assert_eq!(
            memory.allocate(0x2000, 0x1000, 0),
            Some(PhysAddr::new(0x1f_e000)),
            "else the highest end"
        );
        assert_eq!(memory.allocate_below(0x1000, 0x1000, 0x10_0000), None, "the limit is exclusive");
        assert_eq!(memory.allocate_below(0x1000, 0x1000, 0x10_1000), Some(PhysAddr::new(0x10_0000)));
        assert_eq!(memory.allocate(0x1000, 0x8_0000, 0x3000), Some(PhysAddr::new(0x18_3000)));
    }

    #[test]
    fn windows_bound_a_place() {
        let mut memory = PhysicalMemory::<8>::new();
        memory.add(0x10_0000, 0x40_0000).unwrap();
        let inside = |memory: &mut PhysicalMemory<8>, bytes, windows: &[(u64, u64)]| {
            memory.allocate_inside(bytes, 0x10_0000, 0x8_0000, windows.iter().copied())
        };
        assert_eq!(inside(&mut memory, 0x1000, &[]), None, "no window, no place");
        assert_eq!(inside(&mut memory, 0x1000, &[(0x20_0000, 0x28_0000)]), None, "no place at this residue");
        assert_eq!(inside(&mut memory, 0x1000, &[(0x50_0000, 0x60_0000)]), None, "no free memory there");
        let windows = [(0x28_0000, 0x28_0fff), (0x18_0000, 0x18_1000)];
        assert_eq!(
            inside(&mut memory, 0x1000, &windows),
            Some(PhysAddr::new(0x18_0000)),
            "the one that holds it"
        );
        assert_eq!(inside(&mut memory, 0x8_0000, &[(0, u64::MAX)]), Some(PhysAddr::new(0x38_0000)));
        assert_eq!(memory.free_bytes(), 0x30_0000 - 0x8_1000);
    }

    #[test]
    fn what_is_free_is_shared_out() {
        const UNIT: u64 = 0x20_0000;
        let mut memory = PhysicalMemory::<16>::new();
        assert_eq!(memory.share(3, UNIT), 0);
        memory.add(UNIT - 0x1000, 8 * UNIT + 0x5000).unwrap();
        memory.add(16 * UNIT, 21 * UNIT).unwrap();
        // 7 and 5 units: one piece of 7, two of 5, three of 3, four of 2, twelve of 1.
        for (count, units) in [(1, 7), (2, 5), (3, 3), (4, 2), (5, 2), (6, 1), (12, 1), (13, 0)] {
            assert_eq!(memory.share(count, UNIT), units * UNIT, "{count} pieces");
            let mut left = memory.clone();
            let taken = (0..count).filter(|_| left.allocate(units * UNIT, UNIT, 0).is_some()).count() as u64;
            assert_eq!(taken, if units == 0 { 0 } else { count });
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let mut memory = PhysicalMemory::<8>::new();
        memory.add(0x10_0000, 0x20_0000).unwrap();
        assert_eq!(memory.allocate(0, 0x1000, 0), None);
        assert_eq!(memory.allocate(0x1000, 0x3000, 0), None);
        assert_eq!(memory.allocate(0x1000, 0x2000, 0x2000), None);
        assert_eq!(memory.allocate(0x1000, 0x2000, 0x10), None);
        assert_eq!(memory.allocate(u64::MAX, 0x1000, 0), None);
        assert_eq!(memory.add(2, 1), Err(PhysicalError::BadRange));
        assert_eq!(memory.remove(2, 1), Err(PhysicalError::BadRange));
        assert_eq!(memory.release(PhysAddr::new(0x10), 0x1000), Err(PhysicalError::Misaligned));
        assert_eq!(memory.release(PhysAddr::new(0x1f_f000), 0x2000), Err(PhysicalError::AlreadyFree));
        assert_eq!(
            memory.release(PhysAddr::new((1 << PHYS_BITS) - 0x1000), 0x2000),
            Err(PhysicalError::BadRange)
        );
        assert_eq!(memory.free_bytes(), 0x10_0000);
        memory.remove(0, u64::MAX).unwrap();
        assert_eq!(memory.free_bytes(), 0);
    }
}
