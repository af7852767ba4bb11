//! Which pages the segments are made of. Huge ones matter: with 4 KiB pages a walk over a peer's memory costs a TLB miss
//! every 4 KiB, and a large copy a fault.
//!
//! Three ways lead to them, best first: pages the administrator has reserved (hugetlb); transparent ones, where
//! `shmem_enabled` lets shared memory ask for them; and `MADV_COLLAPSE` (Linux 6.1), which makes them out of small ones
//! whatever `shmem_enabled` says. That costs a quarter of what touching the same memory in small pages does, but it costs even if nobody touches it.
//! So huge pages are made where memory is handed out: a little before the start, the rest in the `brk` and `mmap` calls that grant it. All blocks
//! of a grant go in one call, since Linux waits for every core of the machine once in a call (`lru_add_drain_all`), which takes
//! milliseconds where others are at work.

use std::fs;

use lwk_abi::address::PAGE_BYTES;
use lwk_mm::Access;
use lwk_mm::layout::Layout;

use crate::arch::Gate;

/// Bytes of a huge page.
pub const HUGE_BYTES: u64 = 2 << 20;
/// Bytes collapsed in all ranks of a core before the start.
const START_BYTES: u64 = 8 << 20;
/// The most bytes collapsed in one system call, in all ranks of a core: what nobody touches is not to fill the machine.
const GRANT_BYTES: u64 = 64 << 20;
/// Linux's `MADV_HUGEPAGE`.
const MADV_HUGEPAGE: u64 = 14;
/// Linux's `MADV_COLLAPSE`.
const MADV_COLLAPSE: u64 = 25;

/// Where the huge pages come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Reserved by the administrator.
    Reserved,
    /// Given on request when memory is touched.
    Transparent,
    /// Made out of small ones.
    Collapsed,
}

impl Pages {
    /// What this system gives for `ranks` segments of this layout.
    pub fn find(layout: &Layout, ranks: u32) -> Pages {
        let needed = u64::from(ranks) * writable_blocks(layout).map(|(start, end)| end - start).sum::<u64>();
        if reserved_bytes() >= needed.max(1) {
            return Pages::Reserved;
        }
        let policy =
            fs::read_to_string("/sys/kernel/mm/transparent_hugepage/shmem_enabled").unwrap_or_default();
        if ["[always]", "[within_size]", "[advise]", "[force]"].iter().any(|on| policy.contains(on)) {
            Pages::Transparent
        } else {
            Pages::Collapsed
        }
    }

    /// The kind whose `as u64` this is; nothing for any other number.
    pub fn from_number(number: u64) -> Option<Pages> {
        [Pages::Reserved, Pages::Transparent, Pages::Collapsed]
            .into_iter()
            .find(|pages| *pages as u64 == number)
    }

    /// The word for the exit report: `reserved`, `transparent` or `collapsed`.
    pub fn name(self) -> &'static str {
        match self {
            Pages::Reserved => "reserved",
            Pages::Transparent => "transparent",
            Pages::Collapsed => "collapsed",
        }
    }
}

/// Bytes of the huge pages that are reserved and free.
pub fn reserved_bytes() -> u64 {
    let free =
        fs::read_to_string("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages").unwrap_or_default();
    free.trim().parse::<u64>().unwrap_or(0).saturating_mul(HUGE_BYTES)
}

/// Asks for huge pages in the segment mapped at slot 0, as far as `pages` needs asking. Advice only: what the system does
/// not give it does not give.
pub fn advise(layout: &Layout, pages: Pages) {
    if pages == Pages::Transparent {
        for region in layout.regions.iter().filter(|region| region.access == Access::RW) {
            madvise(region.start, region.end, MADV_HUGEPAGE);
        }
    }
}

/// The blocks of a rank that are collapsed so far.
#[derive(Debug)]
pub struct Collapsed {
    /// One bit a block of the slot, by number; empty if nothing is to be collapsed.
    done: Box<[u64]>,
    /// Bytes on huge pages.
    bytes: u64,
    /// The most bytes collapsed in one system call.
    most: u64,
}

impl Collapsed {
    /// The state before the start; does the part of it that comes before the start if `pages` says so. `sharing` is the
    /// number of ranks on this core, which take turns at it.
    pub fn new(layout: &Layout, pages: Pages, sharing: u64) -> Collapsed {
        if pages != Pages::Collapsed {
            return Collapsed { done: Box::new([]), bytes: 0, most: 0 };
        }
        let blocks = layout.stack_end / HUGE_BYTES + 1;
        let of_rank = |bytes: u64| (bytes / sharing.max(1)).max(HUGE_BYTES);
        let done = vec![0; blocks as usize / 64 + 1].into();
        let mut collapsed = Collapsed { done, bytes: 0, most: of_rank(GRANT_BYTES) };
        let budget = of_rank(START_BYTES);
        // The initial stack first, then variables and the front of the heap.
        collapsed.grant(layout, layout.stack_end - PAGE_BYTES, layout.stack_end);
        let data = layout.regions.iter().find(|region| region.access == Access::RW);
        if let Some(data) = data {
            let rest = budget - collapsed.bytes.min(budget);
            collapsed.grant(layout, data.start, data.end.min(data.start + rest));
        }
        collapsed
    }

    /// Bytes that have been collapsed so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Memory `start..end` is about to be used: collapses its blocks, as far as they are wholly writable memory. Safe in a
    /// signal handler.
    pub fn grant(&mut self, layout: &Layout, start: u64, end: u64) {
        let mut block = start / HUGE_BYTES;
        let last = end.min(start.saturating_add(self.most)).div_ceil(HUGE_BYTES);
        while block < last {
            let first = block;
            while block < last && self.begin(layout, block) {
                block += 1;
            }
            if first < block {
                let (start, end) = (first * HUGE_BYTES, block * HUGE_BYTES);
                // Linux may have collapsed some even if not all; the count is of what it says it has.
                self.bytes += if madvise(start, end, MADV_COLLAPSE) { end - start } else { 0 };
            }
            block += 1;
        }
    }

    /// Prepares a block for being collapsed: false if it has been before, or is not wholly writable memory.
    fn begin(&mut self, layout: &Layout, block: u64) -> bool {
        let (at, bit) = (block as usize / 64, 1 << (block % 64));
        let Some(word) = self.done.get_mut(at) else { return false };
        let done = *word & bit != 0;
        *word |= bit;
        let address = block * HUGE_BYTES;
        if done || layout.check(address, HUGE_BYTES, Access::RW).is_err() {
            return false;
        }
        let first = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: checked to be writable memory of the program. The read and write back leave it as it is; Linux collapses only a block of
        // which a page is there. A peer that writes here before the program has been handed the memory breaks its own program's rules.
        unsafe { first.write_volatile(first.read_volatile()) };
        true
    }
}

/// Whole huge blocks of writable memory.
fn writable_blocks(layout: &Layout) -> impl Iterator<Item = (u64, u64)> {
    let inner = |start: u64, end: u64| (start.next_multiple_of(HUGE_BYTES), end - end % HUGE_BYTES);
    let writable = layout.regions.iter().filter(|region| region.access == Access::RW);
    writable.map(move |region| inner(region.start, region.end)).filter(|(start, end)| start < end)
}

fn madvise(start: u64, end: u64, advice: u64) -> bool {
    // SAFETY: neither advice changes what the memory holds.
    unsafe { Gate::call(libc::SYS_madvise, [start, end - start, advice, 0, 0, 0]) == 0 }
}
