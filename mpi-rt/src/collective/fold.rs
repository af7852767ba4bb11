//! Folding the ranks' contributions together.
//!
//! Contributions are folded from the last rank to the first, so that the result is `x0 op (x1 op (… op xn))` whoever computes
//! it: operations that do not commute are right, and every rank gets the same bits.

use crate::abi::datatype::{INT, NULL, TWO_INT};
use crate::abi::op::{MAXLOC, MINLOC};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::operation::Operation;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr::{null, null_mut};
use lwk_copy::are_confused;
use lwk_copy::threshold::REDUCED_AT_A_TIME;
use lwk_copy::{copy, few};
use lwk_datatype::Datatype;
use lwk_mpi_area::SMALL_BYTES;
use lwk_path::region::{Region, copy_regions};
use lwk_place::{CommRank, Ranks};
use lwk_user::abi::address::SLOT_SHIFT;

/// Arguments of a reduction: items and what to do with them.
#[derive(Clone)]
pub(crate) struct Reduction {
    pub count: usize,
    pub items: Items,
    pub operation: Operation,
}

/// Items of one datatype at equal distances.
#[derive(Clone)]
pub(crate) struct Items {
    /// Bytes from one item to the next.
    pub extent: i64,
    /// From an item's address to its lowest byte and past its highest one.
    reach: (i64, i64),
    /// For items that are not bytes next to each other without a gap.
    layout: Option<Datatype>,
}

impl Items {
    /// Errors: `TYPE` for a type that is not committed.
    pub fn of(datatype: &Datatype) -> Result<Items> {
        let reach = (datatype.true_lb(), datatype.true_lb() + datatype.true_extent());
        let dense = datatype.contiguous(2) == Some((0, 2 * datatype.size() as u64));
        // A predefined type's holes may be copied.
        let layout = (!dense && datatype.as_predefined().is_none()).then(|| datatype.clone());
        datatype.layout()?;
        Ok(Items { extent: datatype.extent(), reach, layout })
    }

    /// Address of item `index` of those that begin at `base`.
    #[inline(always)]
    pub fn at(&self, base: *const u8, index: usize) -> *const u8 {
        base.wrapping_offset(self.extent as isize * index as isize)
    }

    /// The same of a buffer that is written.
    #[inline(always)]
    pub fn at_mut(&self, base: *mut u8, index: usize) -> *mut u8 {
        base.wrapping_offset(self.extent as isize * index as isize)
    }

    /// Whether items are bytes next to each other.
    #[inline(always)]
    pub fn are_dense(&self) -> bool {
        self.layout.is_none()
    }

    /// From the address of the first of `count` items to their lowest byte, and the number of bytes up to the highest.
    fn span(&self, count: usize) -> (i64, usize) {
        let last = self.extent * count.saturating_sub(1) as i64;
        let low = self.reach.0 + last.min(0);
        (low, (self.reach.1 + last.max(0) - low).max(0) as usize)
    }

    /// Copies `count` items. Errors: `TYPE` for a type that is not committed.
    ///
    /// # Safety
    /// `count` items must be readable at `from` and writable at `to`, and not overlap; nobody else writes the
    /// former or uses the latter meanwhile.
    pub unsafe fn copy(&self, from: *const u8, to: *mut u8, count: usize) -> Result<()> {
        let Some(datatype) = &self.layout else {
            // SAFETY: dense items: `extent * count` bytes are readable at `from` and writable at `to`,
            // without overlap (this function's contract).
            unsafe { copy(from, to, self.extent as usize * count) };
            return Ok(());
        };
        let (source, target) = (
            Region::items(from, count as u64, datatype.layout()?)?,
            Region::items(to, count as u64, datatype.layout()?)?,
        );
        // SAFETY: the items are readable and writable, without overlap (this function's contract). `layout`
        // keeps the datatype alive, and addresses are this rank's own view already.
        unsafe { copy_regions(&source, &target) }?;
        Ok(())
    }
}

/// Memory for items that no rank's buffer holds.
pub(super) struct Scratch {
    memory: Vec<u8>,
    low: i64,
}

impl Scratch {
    /// Room for `count` items. Errors: `NO_MEM`.
    pub fn new(items: &Items, count: usize) -> Result<Scratch> {
        let (low, bytes) = items.span(count);
        let mut memory = Vec::new();
        memory.try_reserve_exact(bytes).map_err(|_| Error::NO_MEM)?;
        Ok(Scratch { memory, low })
    }

    /// Address of the first item.
    pub fn address(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().wrapping_offset(-self.low as isize)
    }
}

impl Reduction {
    /// Bytes of a contribution, if it is bytes next to each other.
    #[inline(always)]
    pub fn dense_bytes(&self) -> Option<usize> {
        if self.items.are_dense() { Some(self.count * self.items.extent as usize) } else { None }
    }

    /// Folds contributions of `bytes`, at most [`SMALL_BYTES`], of ranks 0 to `ranks` − 1 into `receive`. `content` says where a rank's are;
    /// it is asked once for each, from the last to the first. Errors: those of `content`.
    ///
    /// # Safety
    /// What `content` says must be readable for `bytes` until it is called again; `receive` must be writable
    /// for as many. There is one rank at least, and the contribution is dense.
    #[inline(always)]
    pub(super) unsafe fn fold_lines(
        &self,
        ranks: u32,
        bytes: usize,
        mut content: impl FnMut(CommRank) -> Result<*const u8>,
        receive: *mut u8,
    ) -> Result<()> {
        let mut result = [0u128; SMALL_BYTES.div_ceil(16)];
        let result = result.as_mut_ptr().cast::<u8>();
        for rank in Ranks::all(ranks).rev() {
            let content = content(rank)?;
            // SAFETY: `content` is readable for `bytes`, which are `count` items (this function's contract);
            // `result` has room for `SMALL_BYTES`.
            unsafe {
                if rank.0 == ranks - 1 {
                    few(content, result, bytes);
                } else {
                    self.operation.combine(content, result, result, null_mut(), self.count);
                }
            }
        }
        // SAFETY: `result` holds `bytes`, filled above; `receive` is writable for as many (this function's
        // contract).
        unsafe { few(result, receive, bytes) };
        Ok(())
    }
}

/// Where results go: addresses of item 0 of the buffers that get them.
pub(super) trait Targets {
    /// The only two, or the only one and null, if there are no more.
    fn pair(&self) -> Option<[*mut u8; 2]>;
    /// Calls `each` with every one.
    fn each(&self, each: impl FnMut(*mut u8) -> Result<()>) -> Result<()>;
}

/// One buffer.
pub(super) struct One(pub *mut u8);

impl Targets for One {
    fn pair(&self) -> Option<[*mut u8; 2]> {
        Some([self.0, null_mut()])
    }

    fn each(&self, mut each: impl FnMut(*mut u8) -> Result<()>) -> Result<()> {
        each(self.0)
    }
}

/// A buffer of each of these ranks.
pub(super) struct Every<F>(pub Ranks, pub F);

impl<F: Fn(CommRank) -> *mut u8> Targets for Every<F> {
    fn pair(&self) -> Option<[*mut u8; 2]> {
        let first = self.0.first();
        match self.0.size() {
            1 => Some([(self.1)(first), null_mut()]),
            2 => Some([(self.1)(first), (self.1)(first.next())]),
            _ => None,
        }
    }

    fn each(&self, mut each: impl FnMut(*mut u8) -> Result<()>) -> Result<()> {
        self.0.clone().try_for_each(|rank| each((self.1)(rank)))
    }
}

impl Engine {
    /// The operation and its items. Errors: `COUNT`, `TYPE`, `OP`.
    #[inline]
    pub(crate) fn reduction(&self, count: i64, datatype: u64, operation: u64) -> Result<Reduction> {
        // Programs pass no datatype where there is no item: any on which the operation is defined stands in.
        let datatype = match datatype {
            NULL if count == 0 && matches!(operation, MINLOC | MAXLOC) => TWO_INT,
            NULL if count == 0 => INT,
            datatype => datatype,
        };
        let operation = self.operation(operation, datatype)?;
        self.region(null(), count, datatype)?;
        let count = count as usize;
        let items = match crate::datatypes::dense_bytes(datatype) {
            0 => Items::of(self.datatype(datatype)?)?,
            width => Items { extent: width as i64, reach: (0, width as i64), layout: None },
        };
        // The bytes with gaps must fit as well.
        (items.extent.unsigned_abs() as usize).checked_mul(count).ok_or(Error::VALUE_TOO_LARGE)?;
        Ok(Reduction { count, items, operation })
    }

    /// Folds items `part` of the contributions of `ranks`, which must not be empty, into the same items of the targets.
    /// Errors: `NO_MEM`.
    ///
    /// # Safety
    /// `source(rank)` and the targets, addresses of the items 0, must be readable and writable for these
    /// items; of the program's operations the sources for all items, unless the part is empty. A target may
    /// be a source; otherwise no two overlap. Nobody else writes these items meanwhile.
    pub(super) unsafe fn fold(
        &mut self,
        reduction: &Reduction,
        ranks: Ranks,
        part: Range<usize>,
        source: impl Fn(CommRank) -> *const u8,
        targets: impl Targets,
    ) -> Result<()> {
        let (items, operation) = (&reduction.items, &reduction.operation);
        if operation.is_users() {
            // SAFETY: unless the part is empty, the sources hold all items; the targets hold the part (this
            // function's contract).
            return unsafe { self.fold_whole(reduction, ranks, part, source, targets) };
        }
        if ranks.len() == 1
            && let Some([out, twin]) = targets.pair()
            && twin.is_null()
            // Else it may be the same memory, seen in another slot.
            && (source(ranks.first()).addr() ^ out.addr()).trailing_zeros() < SLOT_SHIFT
        {
            let from = source(ranks.first());
            // SAFETY: the part is readable and writable (this function's contract). A source and a target at
            // distinct addresses of one slot do not overlap.
            return unsafe {
                items.copy(items.at(from, part.start), items.at_mut(out, part.start), part.len())
            };
        }
        if ranks.len() == 2
            && let Some([out, twin]) = targets.pair()
            && !are_confused(out, twin)
        {
            let (left, right) = (source(ranks.first()), source(ranks.first().next()));
            let at = |base: *mut u8| if base.is_null() { base } else { items.at_mut(base, part.start) };
            // SAFETY: the sources and targets hold the part; each target is a source or overlaps none (this
            // function's contract).
            unsafe {
                let (left, right) = (items.at(left, part.start), items.at(right, part.start));
                operation.combine(left, right, at(out), at(twin), part.len());
            }
            return Ok(());
        }
        let width = items.extent.unsigned_abs().max(1) as usize;
        let at_once = (REDUCED_AT_A_TIME / width).max(1);
        let mut stack = MaybeUninit::<[u64; REDUCED_AT_A_TIME / 8]>::uninit();
        let mut heap;
        let block = if items.are_dense() && width <= REDUCED_AT_A_TIME {
            stack.as_mut_ptr().cast::<u8>()
        } else {
            heap = Scratch::new(items, at_once)?;
            heap.address()
        };
        let mut first = part.start;
        while first < part.end {
            let count = (part.end - first).min(at_once);
            let from = |rank: CommRank| items.at(source(rank), first);
            // SAFETY: `block` has room for `at_once` items, no fewer than `count`. Sources and targets hold
            // items `first..first + count` (this function's contract).
            unsafe {
                let mut rest = ranks.clone();
                match (rest.next_back(), rest.next_back()) {
                    (Some(only), None) => items.copy(from(only), block, count)?,
                    // The last two give the first result, in one pass over both.
                    (Some(last), Some(other)) => {
                        operation.combine(from(other), from(last), block, null_mut(), count);
                    }
                    (None, _) => {}
                }
                for rank in rest.rev() {
                    operation.combine(from(rank), block, block, null_mut(), count);
                }
                targets.each(|target| items.copy(block, items.at_mut(target, first), count))?;
            }
            first += count;
        }
        Ok(())
    }

    /// The same by a function of the program, which is called with all items at once: what it makes of one may depend on another (lists that
    /// lie in a vector). Errors: `NO_MEM`.
    ///
    /// # Safety
    /// As for [`Engine::fold`], but all items of the contributions must be readable, unless the part is empty.
    #[cold]
    unsafe fn fold_whole(
        &mut self,
        reduction: &Reduction,
        ranks: Ranks,
        part: Range<usize>,
        source: impl Fn(CommRank) -> *const u8,
        targets: impl Targets,
    ) -> Result<()> {
        if part.is_empty() {
            return Ok(());
        }
        let Reduction { count, items, operation } = reduction;
        let mut scratch;
        let folded = match targets.pair() {
            // The only buffer that gets the result serves in place of scratch, unless a contribution is in it.
            Some([only, twin])
                if twin.is_null()
                    && part == (0..*count)
                    && ranks.clone().all(|rank| source(rank) != only) =>
            {
                only
            }
            _ => {
                scratch = Scratch::new(items, *count)?;
                scratch.address()
            }
        };
        // SAFETY: the sources hold all items, the targets the part (this function's contract). `folded` has
        // room for all: scratch, or the target of all.
        unsafe {
            let mut ranks = ranks.rev();
            if let Some(last) = ranks.next() {
                items.copy(source(last), folded, *count)?;
            }
            for rank in ranks {
                operation.apply(self, source(rank), folded, *count);
            }
            targets.each(|target| {
                if target == folded {
                    return Ok(());
                }
                let from = items.at_mut(folded, part.start);
                items.copy(from, items.at_mut(target, part.start), part.len())
            })
        }
    }
}

impl Reduction {
    /// The items that rank `rank` folds if `ranks` divide the work: of the program's operations one rank folds all, `whole`.
    pub(super) fn part(&self, ranks: u32, rank: CommRank, whole: CommRank) -> Range<usize> {
        match self.operation.is_users() {
            false => share(self.count, ranks, rank),
            true if rank == whole => 0..self.count,
            true => 0..0,
        }
    }
}

/// Items of rank `rank`'s share when `count` are divided among `ranks`.
fn share(count: usize, ranks: u32, rank: CommRank) -> Range<usize> {
    let (ranks, rank) = (ranks as usize, rank.index());
    let (each, more) = (count / ranks, count % ranks);
    let first = each * rank + more.min(rank);
    first..first + each + (rank < more) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_every_element_once() {
        for count in [0, 1, 2, 7, 64, 1000] {
            for ranks in 1..9 {
                let mut next = 0;
                for rank in Ranks::all(ranks) {
                    let part = share(count, ranks, rank);
                    assert_eq!(part.start, next);
                    next = part.end;
                }
                assert_eq!(next, count);
            }
        }
    }
}
