//! Which parts of a region are in use: pure accounts, kept outside of the region.
//!
//! First fit by address, blocks in granules of [`GRANULE`] bytes. It is deterministic: equal calls give equal addresses, which
//! makes the symmetric heap symmetric. Nothing a program writes in the region can damage the accounts, and a wrong address is
//! told, not followed.

use alloc::collections::BTreeMap;

/// Blocks begin and end at multiples of this, in bytes: a cache line, so that no two objects share one.
pub(crate) const GRANULE: usize = 64;

/// The accounts of a region.
#[derive(Debug)]
pub(crate) struct Region {
    /// Free blocks: start and bytes; never empty, never adjacent.
    free: BTreeMap<usize, usize>,
    /// Blocks in use: start and bytes (in granules), and the bytes that were asked for.
    used: BTreeMap<usize, Block>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    bytes: usize,
    asked: usize,
}

/// The address is not the start of a block in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NotAllocated;

impl Region {
    /// A region of which nothing is in use. `start` and `bytes` must be multiples of [`GRANULE`].
    pub(crate) fn new(start: usize, bytes: usize) -> Region {
        debug_assert!(start.is_multiple_of(GRANULE) && bytes.is_multiple_of(GRANULE));
        let free = if bytes == 0 { BTreeMap::new() } else { BTreeMap::from([(start, bytes)]) };
        Region { free, used: BTreeMap::new() }
    }

    /// A block of at least `asked` bytes at a multiple of `align`, a power of two; `None` if there is no room.
    pub(crate) fn allocate(&mut self, asked: usize, align: usize) -> Option<usize> {
        let bytes = asked.max(1).checked_next_multiple_of(GRANULE)?;
        let align = align.max(GRANULE);
        let (hole, hole_bytes, start) = self.free.iter().find_map(|(&hole, &hole_bytes)| {
            let start = hole.checked_next_multiple_of(align)?;
            let end = start.checked_add(bytes)?;
            (end <= hole + hole_bytes).then_some((hole, hole_bytes, start))
        })?;
        self.free.remove(&hole);
        if start > hole {
            self.free.insert(hole, start - hole);
        }
        let rest = hole + hole_bytes - (start + bytes);
        if rest > 0 {
            self.free.insert(start + bytes, rest);
        }
        self.used.insert(start, Block { bytes, asked });
        Some(start)
    }

    /// Gives a block back.
    pub(crate) fn release(&mut self, start: usize) -> Result<(), NotAllocated> {
        let mut bytes = self.used.remove(&start).ok_or(NotAllocated)?.bytes;
        let mut from = start;
        if let Some((&before, &before_bytes)) = self.free.range(..start).next_back()
            && before + before_bytes == start
        {
            from = before;
            bytes += before_bytes;
        }
        if let Some(after_bytes) = self.free.remove(&(from + bytes)) {
            bytes += after_bytes;
        }
        self.free.insert(from, bytes);
        Ok(())
    }

    /// Changes a block's size where it lies: whether there was room.
    pub(crate) fn resize(&mut self, start: usize, asked: usize) -> Result<bool, NotAllocated> {
        let block = *self.used.get(&start).ok_or(NotAllocated)?;
        let Some(bytes) = asked.max(1).checked_next_multiple_of(GRANULE) else { return Ok(false) };
        let after = start + block.bytes;
        let room = block.bytes + self.free.get(&after).copied().unwrap_or(0);
        if bytes > room {
            return Ok(false);
        }
        self.free.remove(&after);
        if room > bytes {
            self.free.insert(start + bytes, room - bytes);
        }
        self.used.insert(start, Block { bytes, asked });
        Ok(true)
    }

    /// The bytes that were asked for.
    pub(crate) fn asked(&self, start: usize) -> Result<usize, NotAllocated> {
        self.used.get(&start).map(|block| block.asked).ok_or(NotAllocated)
    }

    /// Bytes not in use, in all blocks together.
    pub(crate) fn free_bytes(&self) -> usize {
        self.free.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: usize = 0x10_0000;
    const BYTES: usize = 64 * GRANULE;

    #[test]
    fn a_wrong_address_is_told_and_changes_nothing() {
        let mut region = Region::new(START, BYTES);
        let block = region.allocate(100, 1).unwrap();
        assert_eq!(region.release(block + 64), Err(NotAllocated));
        assert_eq!(region.asked(block), Ok(100));
        assert_eq!(region.release(block), Ok(()));
        assert_eq!(region.release(block), Err(NotAllocated));
        assert_eq!(region.free_bytes(), BYTES);
    }

    #[test]
    fn sizes_and_alignments_beyond_everything_are_refused() {
        let mut region = Region::new(START, BYTES);
        assert_eq!(region.allocate(usize::MAX, 1), None);
        assert_eq!(region.allocate(1, 1 << 63), None);
        assert_eq!(region.allocate(BYTES + 1, 1), None);
        let all = region.allocate(BYTES, 1).unwrap();
        assert_eq!(region.allocate(1, 1), None);
        assert_eq!(region.resize(all, usize::MAX), Ok(false));
    }

    #[derive(Clone, Debug)]
    enum Action {
        Allocate(usize, u32),
        Release(usize),
        Resize(usize, usize),
    }

    fn action() -> impl Strategy<Value = Action> {
        prop_oneof![
            (0usize..1500, 0u32..11).prop_map(|(bytes, align)| Action::Allocate(bytes, align)),
            any::<usize>().prop_map(Action::Release),
            (any::<usize>(), 0usize..1500).prop_map(|(which, bytes)| Action::Resize(which, bytes)),
        ]
    }

    proptest! {
        /// Blocks lie in the region, aligned, and never overlap; when all are released, all is one free block again.
        #[test]
        fn blocks_never_overlap_and_nothing_is_lost(actions in prop::collection::vec(action(), 1..200)) {
            let mut region = Region::new(START, BYTES);
            let mut model: Vec<(usize, usize)> = Vec::new();
            for action in actions {
                match action {
                    Action::Allocate(bytes, align) => {
                        if let Some(start) = region.allocate(bytes, 1 << align) {
                            prop_assert!(start.is_multiple_of(1 << align) && start >= START);
                            prop_assert!(start + bytes.max(1) <= START + BYTES);
                            for (other, other_bytes) in &model {
                                prop_assert!(start + bytes.max(1) <= *other || other + other_bytes.max(&1) <= start);
                            }
                            model.push((start, bytes));
                        }
                    }
                    Action::Release(which) if !model.is_empty() => {
                        let (start, _) = model.swap_remove(which % model.len());
                        prop_assert_eq!(region.release(start), Ok(()));
                    }
                    Action::Resize(which, bytes) if !model.is_empty() => {
                        let index = which % model.len();
                        let (start, before) = model[index];
                        let done = region.resize(start, bytes).unwrap();
                        prop_assert!(done || bytes > before);
                        if done {
                            for (i, (other, other_bytes)) in model.iter().enumerate() {
                                prop_assert!(
                                    i == index || start + bytes.max(1) <= *other || other + other_bytes.max(&1) <= start
                                );
                            }
                            model[index].1 = bytes;
                        }
                        prop_assert_eq!(region.asked(start), Ok(model[index].1));
                    }
                    _ => {}
                }
            }
            for (start, _) in model {
                prop_assert_eq!(region.release(start), Ok(()));
            }
            prop_assert_eq!(region.free_bytes(), BYTES);
            prop_assert_eq!(region.allocate(BYTES, 1), Some(START));
        }
    }
}
