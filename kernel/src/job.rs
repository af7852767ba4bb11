//! The job: the ranks that carry out what the boot image asks for. It owns them; what their ends mean it tells as [`Event`]s, which the
//! node acts on.

use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use arrayvec::ArrayVec;
use lwk_abi::address::MAX_RANKS;
use lwk_elf::Program;
use lwk_job::{End, Inject, Wait};

use crate::arch::{clock, interrupt_controller, interrupts};
use crate::core_local::{self, CORES_MAX, Core};
use crate::create_ranks;
use crate::inject;
use crate::network;
use crate::rank::Rank;

/// A job whose ranks are being created, run, or have ended; there is one for the node's life.
pub struct Job {
    ranks: [AtomicPtr<Rank>; MAX_RANKS],
    size: usize,
    /// Cores that have ranks: rank `r` runs on the `r mod n`-th of them.
    cores: ArrayVec<usize, MAX_RANKS>,
    /// The node's place in the job, if that has several.
    place: Option<lwk_job::Network>,
    program: Program<'static>,
    program_name: &'static [u8],
    reported: bool,
    wait: Wait,
    halts: bool,
    end: End,
    out: bool,
    /// Ranks whose image is in place; all must be before any runs, because any may look at any.
    loaded: AtomicUsize,
    /// Ranks that have not ended.
    live: AtomicUsize,
    failed: AtomicBool,
    stopping: AtomicBool,
    /// Status of the first failure, 0 until then.
    status: AtomicI32,
    /// How long the core that took longest has cleared the segments of its ranks, in ticks of the counter.
    clear_ticks: AtomicU64,
    /// Segments are full of an earlier job's bytes before they are cleared, for tests.
    stale_memory: bool,
    /// When the last core ran the first instruction of its first program, in ticks of the counter.
    first_entry_ticks: AtomicU64,
}

/// What an end of a rank means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "with its last rank the job has ended, and the node is to be told"]
pub enum Event {
    /// Others of the job live on.
    RankEnded,
    /// It was the last: nothing of the job will change any more.
    JobEnded,
}

impl Job {
    /// A job of `size` ranks for the cores with these numbers, without ranks yet. `file` describes it.
    pub fn new(
        file: &lwk_job::Job<'static>,
        size: usize,
        program: Program<'static>,
        cores: ArrayVec<usize, MAX_RANKS>,
    ) -> Job {
        Job {
            ranks: [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_RANKS],
            size,
            cores: cores.into_iter().take(size).collect(),
            place: file.network,
            program,
            program_name: file.arguments().next().unwrap_or_default(),
            reported: file.report,
            wait: file.wait,
            halts: matches!(file.wait, Wait::Halt | Wait::Auto)
                && size == 1
                && file.network.is_some()
                && file.workers == 0,
            end: file.end,
            out: file.out,
            loaded: AtomicUsize::new(0),
            live: AtomicUsize::new(size),
            failed: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            status: AtomicI32::new(0),
            clear_ticks: AtomicU64::new(0),
            stale_memory: file.inject == Some(Inject::StaleMemory),
            first_entry_ticks: AtomicU64::new(0),
        }
    }

    /// Ranks of the job on this node.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The node's place in the job, if that has several.
    pub fn place(&self) -> Option<&lwk_job::Network> {
        self.place.as_ref()
    }

    /// Rank in the whole job of the node's first rank.
    pub fn first_rank(&self) -> u32 {
        network::first_rank(self.place())
    }

    /// The program, borrowed from the RAM disk.
    pub fn program(&self) -> &Program<'static> {
        &self.program
    }

    /// The program's first argument (`argv[0]`), without a NUL.
    pub fn program_name(&self) -> &'static [u8] {
        self.program_name
    }

    /// How its ranks wait for each other.
    pub fn wait(&self) -> Wait {
        self.wait
    }

    /// Whether its only rank here halts its core when it waits: what it waits for comes by the network.
    pub fn halts(&self) -> bool {
        self.halts
    }

    /// Whether ranks share cores: there are more of them than cores in use.
    pub fn is_oversubscribed(&self) -> bool {
        self.size > self.cores.len()
    }

    /// Index of the core that rank `number` is pinned to.
    pub fn core_of(&self, number: usize) -> usize {
        self.cores[number % self.cores.len()]
    }

    /// The rank with a number, if there is one and it has been created.
    pub fn rank(&self, number: usize) -> Option<&'static Rank> {
        // Acquire: pairs with the release in `set_rank`.
        let pointer = self.ranks.get(number)?.load(Ordering::Acquire);
        // SAFETY: null, or made from a `&'static Rank`.
        unsafe { pointer.as_ref() }
    }

    /// Adds a rank; while the job is being created.
    pub fn set_rank(&self, rank: &'static Rank) {
        // Release: pairs with the acquire in `rank`.
        self.ranks[rank.number()].store(core::ptr::from_ref(rank).cast_mut(), Ordering::Release);
    }

    /// All ranks by number.
    pub fn all_ranks(&self) -> impl Iterator<Item = &'static Rank> {
        (0..self.size).filter_map(|number| self.rank(number))
    }

    /// The ranks of the core with an index, by number; none for a core without work.
    pub fn ranks_of_core(&self, core: usize) -> impl Iterator<Item = &'static Rank> {
        let position = self.cores.iter().position(|candidate| *candidate == core);
        let first = position.unwrap_or(self.size);
        (first..self.size).step_by(self.cores.len()).filter_map(|number| self.rank(number))
    }

    /// Loads the ranks of this core, once, and waits until all cores have loaded theirs.
    pub fn load_ranks(&self, core: &Core) {
        if core.has_loaded() {
            return;
        }
        let mut ticks = 0;
        for rank in self.ranks_of_core(core.index()) {
            ticks += create_ranks::load(rank, self.program(), self.stale_memory);
            // Release: pairs with the acquire below; a rank that runs sees every rank's image.
            self.loaded.fetch_add(1, Ordering::Release);
        }
        if self.ranks_of_core(core.index()).next().is_none() {
            return;
        }
        // Acquire: pairs with the release above, of every core.
        while self.loaded.load(Ordering::Acquire) < self.size {
            core::hint::spin_loop();
        }
        core.counters.reset();
        inject::at_first_program();
        // Relaxed, here and below: read by the core that ends the job, which `end_rank` orders.
        self.clear_ticks.fetch_max(ticks, Ordering::Relaxed);
        self.first_entry_ticks.fetch_max(core.node_ticks(), Ordering::Relaxed);
    }

    /// When the last core started its first program, in ticks of the counter.
    pub fn first_entry_ticks(&self) -> u64 {
        // Relaxed: asked when the last rank has ended, which `end_rank` orders.
        self.first_entry_ticks.load(Ordering::Relaxed)
    }

    /// Nanoseconds that clearing the ranks' segments has taken the core that took longest.
    pub fn nanoseconds_to_clear(&self) -> u64 {
        // Relaxed: as for `first_entry_ticks`.
        clock::nanoseconds(self.clear_ticks.load(Ordering::Relaxed))
    }

    /// The job is to end with `status`, by a failure or because a rank has asked for it; says whether this is the first to end it, which alone is
    /// reported and counts.
    pub fn end_with(&self, status: i32) -> bool {
        // AcqRel: of all that end it, one is the first. The status needs no order of its own: the AcqRel in `end_rank` shows it to whoever
        // ends the job.
        let first = !self.failed.swap(true, Ordering::AcqRel);
        if first {
            self.status.store(status, Ordering::Relaxed);
        }
        first
    }

    /// Stops every rank but the one that `own` core runs, which has asked for it: those that share the core now, those of other cores when
    /// the interrupt reaches them.
    pub fn stop_others(&self, own: &Core) {
        // Release: pairs with the acquire in `is_stopping`.
        self.stopping.store(true, Ordering::Release);
        self.interrupt_cores(own, interrupts::STOP);
        let running = own.running().map(Rank::number);
        let others = self.living_ranks_of_core(own.index()).filter(|rank| Some(rank.number()) != running);
        for rank in others {
            // Not the last: the one that runs has not ended.
            let _ = self.end_rank(rank, None);
        }
    }

    /// Ends the ranks of this core because their job has failed.
    pub fn stop_ranks_of_core(&self, core: &Core) -> Event {
        let ends = self.living_ranks_of_core(core.index()).map(|rank| self.end_rank(rank, None));
        ends.fold(Event::RankEnded, |all, end| if end == Event::JobEnded { end } else { all })
    }

    /// Interrupts every core with ranks but `own`.
    pub fn interrupt_cores(&self, own: &Core, vector: u8) {
        let others = self.cores.iter().filter(|core| **core != own.index());
        for core in others.filter_map(|core| core_local::core(*core)) {
            interrupt_controller::interrupt_core(core.block(), vector);
        }
    }

    /// Has every core on which a rank lives make a fence, `own` included, before this returns. Cores that ask at once answer each other here; a
    /// job that is to stop is not waited for.
    pub fn fence_cores(&self, own: &Core) {
        let cores = || self.cores.iter().filter_map(|core| core_local::core(*core));
        let mut before = [0; CORES_MAX];
        for core in cores() {
            before[core.index()] = core.fences();
        }
        own.fence();
        self.interrupt_cores(own, interrupts::FENCE);
        let is_fenced = |core: &Core| {
            let has_ranks = self.living_ranks_of_core(core.index()).next().is_some();
            !has_ranks || core.fences() != before[core.index()]
        };
        while !self.is_stopping() && !cores().all(is_fenced) {
            own.fence();
            core::hint::spin_loop();
        }
    }

    /// The ranks of a core that have not ended, by number.
    pub fn living_ranks_of_core(&self, core: usize) -> impl Iterator<Item = &'static Rank> {
        self.ranks_of_core(core).filter(|rank| !rank.has_ended())
    }

    /// Whether the job has failed and its ranks are to end.
    pub fn is_stopping(&self) -> bool {
        // Acquire: pairs with the release in `stop_others`.
        self.stopping.load(Ordering::Acquire)
    }

    /// What the node does when the job has ended, and whether the host tool fetches the files before.
    pub fn end_action(&self) -> (End, bool) {
        (self.end, self.out)
    }

    /// Whether there is an exit report.
    pub fn is_reported(&self) -> bool {
        self.reported
    }

    /// Status of the job: of the first failure, or 0.
    pub fn status(&self) -> i32 {
        // Relaxed: asked when the last rank has ended, which `end_rank` orders.
        self.status.load(Ordering::Relaxed)
    }

    /// A rank ends, once; with a status of its own unless it is because of another.
    pub fn end_rank(&self, rank: &Rank, status: Option<i32>) -> Event {
        rank.mark_ended(status);
        // Before the count below, which shows it to the core that reports. Ranks end on their own cores.
        Core::current().counters.take_smis();
        // AcqRel: pairs with itself; the last rank's core sees everything the others did, their counters among it.
        match self.live.fetch_sub(1, Ordering::AcqRel) {
            1 => Event::JobEnded,
            _ => Event::RankEnded,
        }
    }
}
