//! The job page, typed: which rank this is, who its peers are and where they run. No system call.
//!
//! Two kinds of number are easy to mix up and therefore two types: [`Rank`] counts the ranks of the whole job, [`NodeRank`]
//! those of this node. A slot belongs to a node rank.

use core::fmt;
use lwk_abi::address::{JOB_PAGE, SLOT_SHIFT, slot_of};
use lwk_abi::job_page::{
    FLAG_EMULATED, FLAG_HOST_HOME, FLAG_LOOPBACK, FLAG_OVERSUBSCRIBED, FLAG_WAIT_BY_HALT,
    FLAG_WAIT_BY_MWAITX, FLAG_WAIT_BY_TPAUSE, JobPage, RankPlace,
};

/// A rank of the job, from 0 ("world rank").
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rank(pub u32);

/// A rank among those of this node, from 0; its slot is one more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeRank(pub u32);

impl Rank {
    /// Its place in what has one entry for each rank of the job.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl NodeRank {
    /// Its place in what has one entry for each rank of the node.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeRank {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The job as this rank sees it: its job page ([`JobPage`]).
#[derive(Clone, Copy)]
pub struct Job(&'static JobPage);

/// This rank's job; only in a program that a home has started ([`crate::start::require_job`] ends any other).
#[inline(always)]
pub fn job() -> Job {
    // SAFETY: both homes map the page, filled in, at this address before the first instruction and never change it;
    // start-up has checked its magic number and version.
    Job(unsafe { &*core::ptr::with_exposed_provenance(JOB_PAGE as usize) })
}

impl Job {
    /// The page itself, for everything that has no accessor here.
    #[inline(always)]
    pub fn page(self) -> &'static JobPage {
        self.0
    }

    /// This rank in the job, from 0.
    #[inline(always)]
    pub fn rank(self) -> Rank {
        Rank(self.0.rank)
    }

    /// Ranks in the job, on all its nodes.
    #[inline(always)]
    pub fn size(self) -> u32 {
        self.0.size
    }

    /// This rank on its node, from 0.
    #[inline(always)]
    pub fn node_rank(self) -> NodeRank {
        NodeRank(self.0.node_rank)
    }

    /// Ranks of the job on this node.
    #[inline(always)]
    pub fn node_size(self) -> u32 {
        self.0.node_size
    }

    /// This node, from 0.
    pub fn node(self) -> u32 {
        self.0.node
    }

    /// Nodes of the job.
    pub fn nodes(self) -> u32 {
        self.0.nodes
    }

    /// Where a rank of this node runs; `None` if this node has no such rank.
    pub fn place(self, rank: NodeRank) -> Option<&'static RankPlace> {
        self.places().get(rank.0 as usize)
    }

    /// Where this rank runs.
    pub fn my_place(self) -> &'static RankPlace {
        &self.0.places[self.0.node_rank as usize]
    }

    /// Where the ranks of this node run, by node rank.
    pub fn places(self) -> &'static [RankPlace] {
        let count = (self.0.place_count as usize).min(self.0.places.len());
        &self.0.places[..count]
    }

    /// Ranks share cores: a wait loop must give the core away (those of [`crate::wait`] do).
    #[inline(always)]
    pub fn is_oversubscribed(self) -> bool {
        self.0.flags & FLAG_OVERSUBSCRIBED != 0
    }

    /// The processor is emulated: times say little, and `pause` and string instructions are expensive.
    #[inline(always)]
    pub fn is_emulated(self) -> bool {
        self.0.flags & FLAG_EMULATED != 0
    }

    /// Waits sleep, by one of these: `FLAG_WAIT_BY_…`; 0 if they only poll.
    #[inline(always)]
    pub fn sleeps_by(self) -> u32 {
        self.0.flags & (FLAG_WAIT_BY_TPAUSE | FLAG_WAIT_BY_MWAITX)
    }

    /// Waits halt the core until the network interrupts.
    pub fn halts(self) -> bool {
        self.0.flags & FLAG_WAIT_BY_HALT != 0
    }

    /// The home is a Linux host, not the kernel.
    pub fn is_host_home(self) -> bool {
        self.0.flags & FLAG_HOST_HOME != 0
    }

    /// What ranks of this node send each other by Portals leaves it and comes back.
    pub fn is_loop(self) -> bool {
        self.0.flags & FLAG_LOOPBACK != 0
    }

    /// Whether `bytes` bytes from a slot-0 address on are in the program image (code, data, bss), which lies at the same address in every rank.
    #[inline(always)]
    pub fn image_contains(self, address: u64, bytes: u64) -> bool {
        address >= self.0.segment_start && address < self.0.image_end && bytes <= self.0.image_end - address
    }

    /// Whether all ranks of the node can reach `bytes` bytes from `address` on: in this rank's segment, or by their slot in a peer's.
    pub fn segments_contain(self, address: u64, bytes: u64) -> bool {
        let (slot, local) = (slot_of(address), address & ((1 << SLOT_SHIFT) - 1));
        let start = self.0.segment_start;
        slot <= u64::from(self.node_size())
            && local >= start
            && local - start <= self.0.segment_bytes
            && bytes <= self.0.segment_bytes - (local - start)
    }

    /// Whether this is a job page of the version the program was built for.
    pub fn is_valid(self) -> bool {
        use lwk_abi::job_page::{JOB_PAGE_MAGIC, JOB_PAGE_VERSION};
        self.0.magic == JOB_PAGE_MAGIC && self.0.version == JOB_PAGE_VERSION
    }
}
