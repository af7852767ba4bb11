//! The job: what the boot image asks for, and the ranks that carry it out.

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use lwk_abi::address::MAX_RANKS;
use lwk_abi::job_file;
use lwk_elf::{ElfError, Program};
use lwk_job::{Bind, End, Inject, JobError};
use lwk_mm::layout::LayoutError;
use lwk_mm::table::MapError;
use lwk_stack::TooLong;
use lwk_topology::Binding;
use tar_no_std::TarArchiveRef;

use crate::arch::{clock, interrupt_controller, interrupts, topology};
use crate::core_local::{self, Core};
use crate::rank::Rank;
use crate::{files, node, process, report};

/// Why a job cannot be run; each is one line that says what to do. `bytes` are those of one rank's segment, `free` those of the node.
#[derive(Debug)]
pub enum Problem {
    NoArchive,
    NoMember(&'static str),
    File(JobError),
    Program(ElfError),
    Layout(LayoutError),
    Map(MapError),
    TooManyRanks { ranks: usize, cores: usize },
    NoCore(usize),
    NoMemory { ranks: usize, bytes: u64, free: u64 },
    NoKernelMemory,
    BadFiles,
    NoFileMemory,
    Stack(TooLong),
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NoArchive => write!(out, "the boot image holds no job: make it with `cargo lwk image`"),
            Problem::NoMember(name) => write!(out, "the boot image's archive has no member '{name}'"),
            Problem::File(problem) => write!(out, "{problem}"),
            Problem::Program(problem) => write!(out, "the program cannot be run: {problem}"),
            Problem::Layout(problem) => write!(out, "the program cannot be run: {problem}"),
            Problem::Map(problem) => write!(out, "the program cannot be mapped: {problem}"),
            Problem::TooManyRanks { ranks, cores } => write!(
                out,
                "{ranks} ranks need {ranks} cores and this node has {cores}: give it more cores, or let ranks share them \
                 with --oversubscribe"
            ),
            Problem::NoCore(core) => {
                write!(out, "--bind names core {core}, which this node has not, or names it twice")
            }
            Problem::NoMemory { ranks, bytes, free } => write!(
                out,
                "{ranks} ranks of {} MiB do not fit in the node's {} MiB of free memory",
                bytes >> 20,
                free >> 20
            ),
            Problem::NoKernelMemory => {
                write!(out, "the node's memory does not suffice for the kernel's own tables")
            }
            Problem::BadFiles => write!(out, "the boot image's files are damaged: make it again"),
            Problem::NoFileMemory => {
                write!(out, "the job's files do not fit in the node's memory: give it fewer or smaller ones")
            }
            Problem::Stack(problem) => write!(out, "{problem}"),
        }
    }
}

/// The RAM disk's members ([`job_file`]), found by their names.
pub struct Archive {
    archive: TarArchiveRef<'static>,
}

impl Archive {
    /// Opens the RAM disk. Errors: `NoArchive` if it holds no archive (POSIX, pax, ustar interchange format).
    pub fn open(ram_disk: &'static [u8]) -> Result<Archive, Problem> {
        TarArchiveRef::new(ram_disk).map(|archive| Archive { archive }).map_err(|_| Problem::NoArchive)
    }

    fn member(&self, name: &'static str) -> Result<&'static [u8], Problem> {
        let is_it = |entry: &tar_no_std::ArchiveEntry<'static>| entry.filename().as_str() == Ok(name);
        self.archive.entries().find(is_it).map(|entry| entry.data()).ok_or(Problem::NoMember(name))
    }
}

/// The job as the boot image describes it.
pub struct Description {
    pub file: lwk_job::Job<'static>,
    /// The bytes of the program's file, not looked at yet.
    pub program: &'static [u8],
    /// The image of the file system, if the job is given files.
    pub files: Option<&'static [u8]>,
}

impl Description {
    /// Reads the job file; the program is looked at by [`launch`]. Errors: `NoMember`, or what is wrong with the job file.
    pub fn read(archive: &Archive) -> Result<Description, Problem> {
        let file = lwk_job::Job::parse(archive.member(job_file::JOB)?).map_err(Problem::File)?;
        let files = archive.member(job_file::FILES).ok();
        Ok(Description { file, program: archive.member(job_file::PROGRAM)?, files })
    }
}

/// A job whose ranks are being created, run, or have ended; there is one for the node's life.
pub struct Job {
    ranks: [AtomicPtr<Rank>; MAX_RANKS],
    size: usize,
    /// Cores that have ranks: rank `r` runs on the `r mod n`-th of them.
    cores: arrayvec::ArrayVec<usize, MAX_RANKS>,
    program: Program<'static>,
    program_name: &'static [u8],
    reported: bool,
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

static CURRENT: AtomicPtr<Job> = AtomicPtr::new(core::ptr::null_mut());

/// The job of this node, once its ranks exist.
pub fn current() -> Option<&'static Job> {
    // Acquire: pairs with the release in `launch`.
    let pointer = CURRENT.load(Ordering::Acquire);
    // SAFETY: null, or made from a `&'static Job`.
    unsafe { pointer.as_ref() }
}

/// Creates the ranks of a job and sets the cores to work on them. Errors: a program that cannot be run, more ranks than cores, and too little memory.
pub fn launch(description: &Description) -> Result<(), Problem> {
    let file = &description.file;
    let size = file.ranks as usize;
    let program = lwk_elf::parse(description.program).map_err(Problem::Program)?;
    let bound = bound_cores(file.bind)?;
    if size > bound.len() && !file.oversubscribe {
        return Err(Problem::TooManyRanks { ranks: size, cores: bound.len() });
    }
    let job: &'static Job = crate::memory::place(Job {
        ranks: [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_RANKS],
        size,
        cores: bound.into_iter().take(size).collect(),
        program,
        program_name: file.arguments().next().unwrap_or_default(),
        reported: file.report,
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
    })
    .ok_or(Problem::NoKernelMemory)?;
    files::init(description.files, file.file_space, file.folder.unwrap_or(b"/"))?;
    process::create_ranks(job, file)?;
    // Release: pairs with the acquire in `current`; whoever finds the job finds its ranks.
    CURRENT.store(core::ptr::from_ref(job).cast_mut(), Ordering::Release);
    let own = Core::current().index();
    for core in job.cores.iter().filter(|core| **core != own).filter_map(|core| core_local::core(*core)) {
        interrupt_controller::interrupt_core(core.apic_id(), interrupts::WAKE);
    }
    Ok(())
}

/// The cores of the node in the order in which ranks get them. Errors: a core that is named and not there, or named twice.
fn bound_cores(bind: Bind<'_>) -> Result<arrayvec::ArrayVec<usize, MAX_RANKS>, Problem> {
    let binding = match bind {
        Bind::Scatter => Binding::Scatter,
        Bind::Compact => Binding::Compact,
        Bind::Smt => Binding::Threads,
        Bind::List(list) => {
            let mut cores = arrayvec::ArrayVec::new();
            for core in list.cores() {
                let usable = core_local::core(core).is_some() && !cores.contains(&core);
                if !usable || cores.try_push(core).is_err() {
                    return Err(Problem::NoCore(core));
                }
            }
            return Ok(cores);
        }
    };
    // A core that did not start leaves a hole.
    let there: arrayvec::ArrayVec<&Core, MAX_RANKS> =
        (0..core_local::CORES_MAX).filter_map(core_local::core).collect();
    let ids: arrayvec::ArrayVec<u32, MAX_RANKS> = there.iter().map(|core| core.apic_id()).collect();
    let order = lwk_topology::order(&ids, &topology::shifts(), binding);
    Ok(order.into_iter().map(|place| there[place].index()).collect())
}

impl Job {
    /// Ranks of the job, all of them on this node.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The program, borrowed from the RAM disk.
    pub fn program(&self) -> &Program<'static> {
        &self.program
    }

    /// The program's first argument (`argv[0]`), without a NUL.
    pub fn program_name(&self) -> &'static [u8] {
        self.program_name
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
            ticks += process::load(rank, self.program());
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
        // Relaxed, here and below: read by the core that ends the job, which `rank_ended` orders.
        self.clear_ticks.fetch_max(ticks, Ordering::Relaxed);
        self.first_entry_ticks.fetch_max(clock::ticks(), Ordering::Relaxed);
    }

    /// Nanoseconds from the kernel's first instruction to the start of the last core's first program.
    pub fn nanoseconds_to_first_entry(&self) -> u64 {
        // Relaxed: asked when the last rank has ended, which `rank_ended` orders.
        clock::nanoseconds(self.first_entry_ticks.load(Ordering::Relaxed) - node::entry_ticks())
    }

    /// Whether segments are to be full of something before they are cleared.
    pub fn has_stale_memory(&self) -> bool {
        self.stale_memory
    }

    /// Nanoseconds that clearing the ranks' segments has taken the core that took longest.
    pub fn nanoseconds_to_clear(&self) -> u64 {
        // Relaxed: as for `nanoseconds_to_first_entry`.
        clock::nanoseconds(self.clear_ticks.load(Ordering::Relaxed))
    }

    /// The job is to end with `status`, by a failure or because a rank has asked for it; says whether this is the first to end it, which alone is
    /// reported and counts.
    pub fn end_with(&self, status: i32) -> bool {
        // AcqRel: of all that end it, one is the first. The status needs no order of its own: the AcqRel in `rank_ended` shows it to whoever
        // ends the job.
        let first = !self.failed.swap(true, Ordering::AcqRel);
        if first {
            self.status.store(status, Ordering::Relaxed);
        }
        first
    }

    /// Stops every rank: those of `own` core now, those of the others when the interrupt reaches them.
    pub fn stop_everywhere(&self, own: &'static Core) {
        // Release: pairs with the acquire in `is_stopping`.
        self.stopping.store(true, Ordering::Release);
        for core in
            self.cores.iter().filter(|core| **core != own.index()).filter_map(|core| core_local::core(*core))
        {
            interrupt_controller::interrupt_core(core.apic_id(), interrupts::STOP);
        }
        let running = own.running().map(Rank::number);
        for rank in
            self.ranks_of_core(own.index()).filter(|rank| Some(rank.number()) != running && !rank.has_ended())
        {
            rank.stop();
        }
    }

    /// Whether the job has failed and its ranks are to end.
    pub fn is_stopping(&self) -> bool {
        // Acquire: pairs with the release in `stop_everywhere`.
        self.stopping.load(Ordering::Acquire)
    }

    /// What the node does when the job has ended, and whether the host tool fetches the files before.
    pub fn end_action(&self) -> (End, bool) {
        (self.end, self.out)
    }

    /// A rank has ended. With the last one the job ends, and so does the node: then this does not return.
    pub fn rank_ended(&self) {
        // AcqRel: pairs with itself; the last rank's core sees everything the others did, their counters among it.
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            if self.reported {
                report::print(self);
            }
            // Relaxed: ordered by `live`.
            node::end(self.status.load(Ordering::Relaxed), self.end_action());
        }
    }
}
