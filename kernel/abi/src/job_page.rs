//! The job page: who and where a rank is. The kernel (or the host loader) writes it before the program's first
//! instruction; it is mapped read-only at [`crate::address::JOB_PAGE`] in every slot, so rank, size, time and the
//! place of every peer cost no system call.

use crate::address::MAX_RANKS;

/// "MARGAYJP" in little-endian ASCII: what a page begins with that a home has filled in.
pub const JOB_PAGE_MAGIC: u64 = u64::from_le_bytes(*b"MARGAYJP");
/// Changes whenever the layout of [`JobPage`] changes.
pub const JOB_PAGE_VERSION: u32 = 6;

/// The ranks of this node share cores: wait loops must yield ([`JobPage::yield_code`]).
pub const FLAG_OVERSUBSCRIBED: u32 = 1 << 0;
/// The processor is emulated: `pause` and string instructions cost far more than they do on silicon.
pub const FLAG_EMULATED: u32 = 1 << 1;
/// The program runs in the host home (a Linux process per rank), not on the kernel.
pub const FLAG_HOST_HOME: u32 = 1 << 2;

/// Waits sleep by `tpause` (the processor's feature WAITPKG).
pub const FLAG_WAIT_BY_TPAUSE: u32 = 1 << 3;
/// Waits sleep by `monitorx` and `mwaitx` (the feature MONITORX).
pub const FLAG_WAIT_BY_MWAITX: u32 = 1 << 4;

/// What ranks of this node send each other by Portals leaves it by its network card, or its socket, and comes back: the node is its own peer.
pub const FLAG_LOOPBACK: u32 = 1 << 5;

/// Waits sleep by [`JOB_HALT`](crate::syscall::JOB_HALT): this rank is its node's only one, and what it waits for comes by the network.
pub const FLAG_WAIT_BY_HALT: u32 = 1 << 6;

/// Where one rank of this node runs. All identifiers are the kernel's own dense numbers, not APIC ids; equal numbers
/// mean shared hardware.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankPlace {
    /// Core (hardware thread) the rank is pinned to, counted from 0 in the firmware's order.
    pub core: u16,
    /// Processor package.
    pub package: u16,
    /// Physical core, unique across packages; hardware threads of one core share it.
    pub physical_core: u16,
    /// Group of cores that share a second-level cache, unique across packages.
    pub l2: u16,
    /// Group of cores that share the last-level cache, unique across packages: the third level, without one the second, without both the core's own.
    pub l3: u16,
    /// Hardware thread within the physical core.
    pub thread: u16,
    /// Memory node: cores of one node have the same memory near them. The rank's segment lies in the nearest one that has memory and room.
    pub memory_node: u16,
}

/// The job page. One page of 4 KiB; all fields are native-endian, addresses are slot-0 addresses.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct JobPage {
    /// [`JOB_PAGE_MAGIC`].
    pub magic: u64,
    /// [`JOB_PAGE_VERSION`].
    pub version: u32,
    /// `FLAG_…` bits.
    pub flags: u32,
    /// This rank in the job, from 0.
    pub rank: u32,
    /// Ranks in the job.
    pub size: u32,
    /// This rank among the ranks of its node, from 0; its slot in every peer is `node_rank + 1`.
    pub node_rank: u32,
    /// Ranks of the job on this node.
    pub node_size: u32,
    /// This node, from 0.
    pub node: u32,
    /// Nodes of the job.
    pub nodes: u32,
    /// Time stamp counter ticks in a second.
    pub tsc_hz: u64,
    /// Time stamp counter at `wall_base_ns`.
    pub tsc_base: u64,
    /// Nanoseconds since the Unix epoch when the counter read `tsc_base`.
    pub wall_base_ns: u64,
    /// First address of the segment.
    pub segment_start: u64,
    /// Bytes of the segment.
    pub segment_bytes: u64,
    /// Physical address of the segment's first byte; 0 in the host home.
    pub segment_phys: u64,
    /// From here to `heap_end` everything can be written: the image's data, and the heap behind it. The same in all ranks of a job.
    pub data_start: u64,
    /// End of the program image (code, data, bss).
    pub image_end: u64,
    /// First address of the heap (`brk` and `mmap`), page aligned.
    pub heap_start: u64,
    /// End of the heap.
    pub heap_end: u64,
    /// Lowest address of the stack; the guard is below it.
    pub stack_start: u64,
    /// End of the stack and of the segment.
    pub stack_end: u64,
    /// Address of a function that lets another rank of this core run, if there is one: cheaper than the system call `sched_yield`, which does the
    /// same. It is called as by the C calling convention, and changes `rax`, `rcx` and `r11` only. 0 where the system call is the way.
    pub yield_code: u64,
    /// Address of a function that answers a system call of Portals' ([`crate::syscall::portals`]), if there is one, and `sched_yield`, before which it takes in
    /// what other nodes have sent (`a`: polls of the wait so far, 0 if it is none): `(number, a, b, c, d) -> answer` by the C calling convention. 0 where the system call is the way.
    pub call_code: u64,
    /// Ticks that the counter of this rank's core is ahead of the node's: subtracted from a reading, modulo 2⁶⁴, they give the time that all ranks of the node
    /// agree on, in which `tsc_base` is. 0 where the cores' counters agree.
    pub tsc_ahead: u64,
    /// Entries of `places` in use; equal to `node_size`.
    pub place_count: u64,
    /// Where each rank of this node runs, by node rank.
    pub places: [RankPlace; MAX_RANKS],
}

// The page is a page: checked here so that no home can map half of it.
const _: () = assert!(core::mem::size_of::<JobPage>() <= crate::address::PAGE_BYTES as usize);
