//! What is at an address, for failure reports.

use core::fmt;

use lwk_abi::address::{JOB_PAGE, NULL_END, PAGE_BYTES, SLOT_BYTES, USER_END, slot_of};

use super::Layout;
use crate::address::VirtAddr;

/// What is at an address, for failure reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// The pages around address 0.
    Null,
    /// The job page.
    JobPage,
    /// Executable memory of the image.
    Code,
    /// Constants of the image.
    ReadOnly,
    /// Variables of the image.
    Data,
    /// Pages of the segment that belong to no range of the image.
    ImageGap,
    /// The heap.
    Heap,
    /// The unmapped pages below the stack.
    StackGuard,
    /// The stack.
    Stack,
    /// An address of slot 0 that is none of the above.
    OutsideSegment,
    /// The slot of a node rank; whether it is in use the layout does not know.
    PeerSlot(u32),
    /// The kernel's half of the addresses.
    Kernel,
    /// Not an address at all: bits 47 to 63 differ.
    NonCanonical,
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemoryKind::Null => "the null page",
            MemoryKind::JobPage => "the job page",
            MemoryKind::Code => "code",
            MemoryKind::ReadOnly => "read-only data",
            MemoryKind::Data => "data",
            MemoryKind::ImageGap => "an unmapped gap of the program image",
            MemoryKind::Heap => "the heap",
            MemoryKind::StackGuard => "the stack guard",
            MemoryKind::Stack => "the stack",
            MemoryKind::OutsideSegment => "outside the segment",
            MemoryKind::PeerSlot(rank) => return write!(f, "the slot of node rank {rank}"),
            MemoryKind::Kernel => "kernel memory",
            MemoryKind::NonCanonical => "a non-canonical address",
        })
    }
}

impl Layout {
    /// What is at `address`, any 64-bit value.
    #[must_use]
    pub fn describe(&self, address: u64) -> MemoryKind {
        if VirtAddr::try_new(address).is_err() {
            return MemoryKind::NonCanonical;
        }
        if address >= USER_END {
            return MemoryKind::Kernel;
        }
        if address >= SLOT_BYTES {
            // At most 254: user addresses have 255 slots above the first.
            return MemoryKind::PeerSlot((slot_of(address) - 1) as u32);
        }
        match address {
            _ if address < NULL_END => MemoryKind::Null,
            _ if (JOB_PAGE..JOB_PAGE + PAGE_BYTES).contains(&address) => MemoryKind::JobPage,
            _ if address < self.segment_start || address >= self.stack_end => MemoryKind::OutsideSegment,
            _ if address >= self.stack_start => MemoryKind::Stack,
            _ if address >= self.heap_end => MemoryKind::StackGuard,
            _ if address >= self.heap_start => MemoryKind::Heap,
            _ => match self.region_at(address) {
                Some(region) if region.access.execute => MemoryKind::Code,
                Some(region) if region.access.write => MemoryKind::Data,
                Some(_) => MemoryKind::ReadOnly,
                None => MemoryKind::ImageGap,
            },
        }
    }
}
