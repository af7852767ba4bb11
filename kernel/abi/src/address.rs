//! The address map of a job (DESIGN.md, "The machine as a job sees it"; SMARTMAP paper, section III.A).
//!
//! A rank sees its own segment in slot 0, and the segment of the node's rank `r` in slot `r + 1`. A slot is one entry
//! of the top-level page table: 512 GiB.

/// Log2 of a slot's size in bytes: what a top-level page-table entry covers.
pub const SLOT_SHIFT: u32 = 39;
/// Size of a slot in bytes (512 GiB).
pub const SLOT_BYTES: u64 = 1 << SLOT_SHIFT;
/// The most ranks a node can hold: slots 1 to 255 of the lower half.
pub const MAX_RANKS: usize = 255;
/// The smallest page, and the unit of permissions and of `mmap`, in bytes.
pub const PAGE_BYTES: u64 = 4096;

/// Addresses below this are never mapped, in any slot: null pointers fault.
pub const NULL_END: u64 = 0x10_0000;
/// Where the job page ([`crate::job_page::JobPage`]) is mapped, read-only, in each slot: the last page below every segment.
pub const JOB_PAGE: u64 = SEGMENT_START - PAGE_BYTES;
/// Where a rank's segment begins at the lowest, and a static program that lld links by default; GNU ld's begin at [`PIE_START`]. A segment begins at
/// the multiple of [`SEGMENT_ALIGN`] at or below its image.
pub const SEGMENT_START: u64 = 0x20_0000;
/// A segment's first address is a multiple of this, in bytes: a large page begins there.
pub const SEGMENT_ALIGN: u64 = 0x20_0000;
/// Where position-independent programs are loaded, in every rank of every job; at the next multiple of their alignment if that is larger.
pub const PIE_START: u64 = 0x40_0000;
/// A segment ends at or below this address: the last 2 MiB of a slot are never mapped, so that no instruction can
/// stand at the edge of the canonical address range.
pub const SEGMENT_LIMIT: u64 = SLOT_BYTES - 0x20_0000;
/// End of user addresses: all of the lower half.
pub const USER_END: u64 = 1 << 47;

/// The most memory a rank's stack takes, in bytes; a small segment gives a quarter of itself.
pub const STACK_BYTES_MAX: u64 = 8 << 20;
/// Unmapped bytes below the stack: running off the stack faults instead of overwriting the heap.
pub const STACK_GUARD_BYTES: u64 = 64 << 10;
/// The least memory a rank can have, in bytes.
pub const SEGMENT_BYTES_MIN: u64 = 2 << 20;

/// The address, in any rank, of what node rank `rank` calls `local` (SMARTMAP paper, figure 2).
///
/// `local` is an address in slot 0. The node rank counts from 0 and is below [`MAX_RANKS`].
pub const fn remote(local: u64, rank: u32) -> u64 {
    local | ((rank as u64 + 1) << SLOT_SHIFT)
}

/// The slot of a user address: 0 is the rank's own, `r + 1` that of node rank `r`.
pub const fn slot_of(address: u64) -> u64 {
    address >> SLOT_SHIFT
}
