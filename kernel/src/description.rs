//! What the boot image asks for: the job as it is described there, and why it cannot be run.

use core::fmt;

use lwk_abi::job_file;
use lwk_elf::ElfError;
use lwk_job::JobError;
use lwk_mm::layout::LayoutError;
use lwk_mm::table::MapError;
use lwk_stack::TooLong;
use tar_no_std::TarArchiveRef;

use crate::network::NoCard;

/// Why a job cannot be run; each is one line that says what to do. `bytes` are those of one rank's segment, `free` those of the node.
#[derive(Debug)]
pub enum Problem {
    NoArchive,
    NoMember(&'static str),
    File(JobError),
    Program(ElfError),
    Layout(LayoutError),
    Map(MapError),
    NoMwait,
    NoHalt,
    TooManyRanks { ranks: usize, workers: usize, cores: usize },
    NoWorkerCore { workers: usize, cores: usize },
    NoCore(usize),
    NoMemory { ranks: usize, bytes: u64, free: u64 },
    NoKernelMemory,
    BadFiles,
    NoFileMemory,
    Stack(TooLong),
    Network(NoCard),
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
            Problem::TooManyRanks { ranks, workers: 0, cores } => write!(
                out,
                "{ranks} ranks need {ranks} cores and this node has {cores}: give it more cores, or let ranks share them \
                 with --oversubscribe"
            ),
            Problem::TooManyRanks { ranks, workers, cores } => write!(
                out,
                "{ranks} ranks and {workers} workers need {} cores and this node has {cores}: give it more cores, or let \
                 ranks share them with --oversubscribe",
                ranks + workers
            ),
            Problem::NoWorkerCore { workers, cores } => write!(
                out,
                "{workers} workers need a core each besides the ranks', and this node has {cores}: give it more cores"
            ),
            Problem::NoMwait => write!(
                out,
                "this processor has no MWAIT that programs may use (WAITPKG or MONITORX): leave out --wait mwait"
            ),
            Problem::NoHalt => write!(
                out,
                "--wait halt is for nodes of one rank, which wait for other nodes, and no workers: give --nodes as many as ranks, or use --wait auto"
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
            Problem::Network(problem) => write!(out, "{problem}"),
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
    /// Reads the job file; the program is looked at by [`crate::node::launch`]. Errors: `NoMember`, or what is wrong with the job file.
    pub fn read(archive: &Archive) -> Result<Description, Problem> {
        let file = lwk_job::Job::parse(archive.member(job_file::JOB)?).map_err(Problem::File)?;
        let files = archive.member(job_file::FILES).ok();
        Ok(Description { file, program: archive.member(job_file::PROGRAM)?, files })
    }
}
