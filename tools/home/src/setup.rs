//! Everything that can go wrong with a job before its ranks exist, and what they are made from.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use lwk_abi::address::{MAX_RANKS, PAGE_BYTES, SEGMENT_LIMIT};
use lwk_abi::exit;
use lwk_abi::job_page::{
    FLAG_HOST_HOME, FLAG_LOOPBACK, FLAG_OVERSUBSCRIBED, FLAG_WAIT_BY_MWAITX, FLAG_WAIT_BY_TPAUSE,
    JOB_PAGE_MAGIC, JOB_PAGE_VERSION, JobPage, RankPlace,
};
use lwk_elf::Program;
use lwk_job::{Job, Wait};
use lwk_mm::layout::{ImageRange, Layout};
use lwk_stack::{Hardware, Start};
use lwk_topology::ProgramWait;
use nix::errno::Errno;

use crate::arch::{Gate, call_code};
use crate::clock::{Calibration, TimeBase};
use crate::home::named_cores;
use crate::memory::default_bytes;
use crate::network::{self, Cores};
use crate::pages::{Pages, reserved_bytes};
use crate::segment::{self, Segment};
use crate::topology;

/// Exit status for what the host lacks (`EX_UNAVAILABLE` of BSD's `sysexits`).
pub const HOST_LACKS: i32 = 69;

/// The most memory of a rank that is not told otherwise, if a tool takes part, in bytes.
const TOOL_BYTES: u64 = 512 << 20;

/// Why a job cannot start: one line that says what to do, and the status of the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError {
    pub message: String,
    pub status: i32,
}

impl SetupError {
    /// An error of the input or of the command's use: status 2 ([`exit::USAGE`]).
    pub fn usage(message: impl Into<String>) -> SetupError {
        SetupError { message: message.into(), status: exit::USAGE }
    }

    /// The host cannot do its part: status 69 ([`HOST_LACKS`]).
    pub fn host(message: impl Into<String>) -> SetupError {
        SetupError { message: message.into(), status: HOST_LACKS }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A part of the program as whole pages of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// First address, page aligned, in slot 0.
    pub address: u64,
    /// From there, to the end of the part; not rounded.
    pub bytes: u64,
    /// Where it is in the file, page aligned.
    pub offset: u64,
}

impl FilePart {
    /// `bytes` at `address` that stand at `offset`, if these two agree within a page.
    pub fn new(address: u64, bytes: u64, offset: u64) -> Option<FilePart> {
        let before = address % PAGE_BYTES;
        let part = || FilePart { address: address - before, bytes: before + bytes, offset: offset - before };
        (offset % PAGE_BYTES == before).then(part)
    }
}

/// What every rank of the job starts from.
#[derive(Debug)]
pub struct Setup {
    pub layout: Layout,
    pub pages: Pages,
    pub segments: Vec<Segment>,
    /// The program's file, and where in it which code is.
    pub file: File,
    pub code: Vec<FilePart>,
    /// By node rank; `core` is Linux's number.
    pub places: Vec<RankPlace>,
    /// Ranks on the fullest core.
    pub sharing: u64,
    /// Cores for the network's interrupt.
    pub network_cores: Cores,
    /// A core for each worker.
    pub worker_cores: Vec<usize>,
    /// Ticks of the time stamp counter in a second.
    pub ticks: u64,
    /// What has been added to the addresses in the program's file, modulo 2^64.
    pub bias: u64,
    /// Address of the first instruction.
    pub entry: u64,
    /// The stack pointer to start with.
    pub stack_pointer: u64,
}

impl Setup {
    /// Checks the job against program and host, makes every rank's memory, maps it at its slot in this process and fills it. `has_tool`: some rank
    /// will be another executable, which has none of the code of this process.
    ///
    /// # Errors
    /// A program or a job that cannot be run here, or a host that lacks something; what has been mapped stays.
    pub fn new(job: &Job<'_>, program: &Path, has_tool: bool) -> Result<Setup, SetupError> {
        let calibration = Calibration::begin().map_err(|error| failed("read the clock", error))?;
        check_dispatch()?;
        let wait_flag = wait_flag(job.wait)?;
        let (file, content) = read(program).map_err(|error| {
            SetupError::usage(format!("cannot read the program {}: {error}", program.display()))
        })?;
        let parsed = lwk_elf::parse(&content)
            .map_err(|error| SetupError::usage(format!("{}: {error}", program.display())))?;
        // Under valgrind there is less room for a segment.
        let most = if has_tool { TOOL_BYTES } else { SEGMENT_LIMIT / 2 };
        let memory = job.memory.unwrap_or_else(|| default_bytes(job.ranks, reserved_bytes(), most));
        let layout = Layout::new(&ranges(&parsed), memory)
            .map_err(|error| SetupError::usage(format!("{}: {error}", program.display())))?;
        let Places { ranks: places, sharing, network_cores, worker_cores } = place_ranks(job)?;
        let pages = Pages::find(&layout, job.ranks);
        let segments = make_segments(&layout, job.ranks, pages == Pages::Reserved)?;

        let start = Start {
            program: &parsed,
            arguments: job.arguments(),
            environment: job.environment(),
            hardware: hardware(has_tool),
            random: random()?,
        };
        let mut stack = vec![0; ((layout.stack_end - layout.stack_start) / 4) as usize];
        let stack_pointer = start
            .write(&mut stack, layout.stack_end)
            .map_err(|error| SetupError::usage(error.to_string()))?;
        let stack = stack.split_off(stack.len() - (layout.stack_end - stack_pointer) as usize);
        let time = calibration.end().map_err(|error| failed("read the clock", error))?;
        for rank in 0..job.ranks {
            let mut page = job_page(rank, job, &layout, &places, (sharing, wait_flag), time);
            page.yield_code = if has_tool { 0 } else { Gate::yield_code() };
            page.call_code = if has_tool { 0 } else { call_code() };
            fill_segment(&layout, rank, &parsed, &page, &stack)
                .map_err(|error| failed("fill a segment", error))?;
        }
        Ok(Setup {
            layout,
            pages,
            segments,
            code: code_of(&parsed, &content),
            file,
            places,
            sharing,
            network_cores,
            worker_cores,
            ticks: time.tsc_hz,
            bias: parsed.bias,
            entry: parsed.entry,
            stack_pointer,
        })
    }
}

fn read(program: &Path) -> std::io::Result<(File, Vec<u8>)> {
    let mut file = File::open(program)?;
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    Ok((file, content))
}

/// The executable segments that a file mapping can stand for: address and place in the file agree within a page. The
/// last page's rest is then the file's and not zero, which is no matter in code.
pub fn code_of(program: &Program<'_>, content: &[u8]) -> Vec<FilePart> {
    let code = program.segments.iter().filter(|segment| segment.access.execute && !segment.data.is_empty());
    let mapped = code.filter_map(|segment| {
        let offset = (segment.data.as_ptr().addr() - content.as_ptr().addr()) as u64;
        let whole = segment.memory_bytes == segment.data.len() as u64;
        FilePart::new(segment.address, segment.memory_bytes, offset).filter(|_| whole)
    });
    mapped.collect()
}

fn failed(what: &str, error: Errno) -> SetupError {
    SetupError::host(format!("cannot {what}: {}", error.desc()))
}

/// How the ranks wait, as the job page says it. Errors: the processor cannot do what is asked for.
fn wait_flag(wait: Wait) -> Result<u32, SetupError> {
    match (wait, topology::program_wait()) {
        (Wait::Pause | Wait::Auto, _) => Ok(0),
        (Wait::Halt, _) => {
            Err(SetupError::usage("--wait halt is for nodes that boot: leave it out, or use --wait auto"))
        }
        (Wait::Mwait, Some(ProgramWait::Tpause)) => Ok(FLAG_WAIT_BY_TPAUSE),
        (Wait::Mwait, Some(ProgramWait::Mwaitx)) => Ok(FLAG_WAIT_BY_MWAITX),
        (Wait::Mwait, None) => Err(SetupError::usage(
            "this processor has no MWAIT that programs may use (WAITPKG or MONITORX): leave out --wait mwait",
        )),
    }
}

/// Linux must be able to hand a program's system calls to the loader.
fn check_dispatch() -> Result<(), SetupError> {
    const OFF: [u64; 6] = [crate::handlers::SET_DISPATCH, 0, 0, 0, 0, 0];
    // SAFETY: switching off what is not on has no effect but to show whether Linux knows it.
    match unsafe { Gate::call(libc::SYS_prctl, OFF) } {
        0 => Ok(()),
        _ => Err(SetupError::host(
            "this Linux has no syscall user dispatch, which --host needs: use Linux 5.11 or later on x86-64, outside of \
             sandboxes that forbid it, or run without --host",
        )),
    }
}

/// The program's segments as what [`Layout::new`] takes.
pub fn ranges(program: &Program<'_>) -> Vec<ImageRange> {
    let range = |segment: &lwk_elf::Segment<'_>| ImageRange {
        start: segment.address,
        end: segment.end(),
        access: segment.access,
    };
    program.segments.iter().map(range).collect()
}

/// What runs where.
struct Places {
    ranks: Vec<RankPlace>,
    sharing: u64,
    network_cores: Cores,
    worker_cores: Vec<usize>,
}

/// A core for each rank, and one for the network's interrupt if all nodes' have one. Else the interrupt keeps off its own node's ranks, if it can: those
/// that wait take frames in themselves, and those that compute shall not be disturbed.
fn place_ranks(job: &Job<'_>) -> Result<Places, SetupError> {
    if let Some(cores) = named_cores() {
        return Ok(place_on(&cores, job));
    }
    let mut cores = topology::usable_cores().map_err(|error| failed("list the cores", error))?;
    if let Some(most) = job.cores {
        cores.truncate(most as usize);
    }
    let worker_cores = take_worker_cores(&mut cores, job)?;
    // The nodes of a job share this machine's cores.
    let (size, first) = network::place(job);
    let (ranks, count) = (size as usize, cores.len().max(1));
    if ranks > count && !job.oversubscribe {
        return Err(SetupError::usage(format!(
            "{ranks} ranks need {ranks} cores, and there are {count}; ask for fewer ranks, or let them share cores with \
             --oversubscribe"
        )));
    }
    // The interrupt of each node is a thread that needs a core as well: where it has none of its own, ranks that wait give way.
    let threads = ranks + job.network.map_or(0, |network| network.nodes as usize);
    let spare = job.network.filter(|_| threads <= count).and_then(|it| cores.get(ranks + it.node as usize));
    let spare = spare.copied();
    let all = cores.clone();
    cores.truncate(ranks);
    let places = topology::places(&cores);
    let own = (first as usize..).take(job.ranks as usize);
    let of_ranks: Vec<RankPlace> = own.map(|rank| places[rank % places.len()]).collect();
    let others = all.iter().filter(|core| !of_ranks.iter().any(|place| usize::from(place.core) == **core));
    let others: Vec<usize> = others.copied().collect();
    let shared = || Cores::Shared(if others.is_empty() { all } else { others });
    let network_cores = spare.map_or_else(shared, Cores::Own);
    Ok(Places { ranks: of_ranks, sharing: threads.div_ceil(count) as u64, network_cores, worker_cores })
}

/// Takes a core for each worker of the job away from the others. Errors: too few are left for the ranks.
fn take_worker_cores(cores: &mut Vec<usize>, job: &Job<'_>) -> Result<Vec<usize>, SetupError> {
    let (count, workers) = (cores.len(), job.workers as usize);
    let left = count.saturating_sub(workers);
    if workers > 0 && (left == 0 || (left < job.ranks as usize && !job.oversubscribe)) {
        let hint = if left == 0 { "" } else { ", or --oversubscribe to let ranks share the others" };
        return Err(SetupError::usage(format!(
            "{} rank(s) and {workers} worker(s), which need a core each to themselves, do not fit on {count} core(s); ask for fewer{hint}",
            job.ranks
        )));
    }
    Ok(cores.split_off(left))
}

/// The ranks of this node on cores of its own; the network's interrupt is there, too.
fn place_on(cores: &[usize], job: &Job<'_>) -> Places {
    let places = topology::places(cores);
    let ranks = places.iter().cycle().take(job.ranks as usize).copied().collect();
    let threads = job.ranks as usize + usize::from(job.network.is_some());
    let sharing = threads.div_ceil(cores.len().max(1)) as u64;
    Places { ranks, sharing, network_cores: Cores::Shared(cores.to_vec()), worker_cores: Vec::new() }
}

/// Every rank's memory objects, mapped writable at its slot.
fn make_segments(layout: &Layout, ranks: u32, reserved: bool) -> Result<Vec<Segment>, SetupError> {
    let explain = |error: Errno| match error {
        Errno::EEXIST => SetupError::host(
            "Linux has put a part of the loader where a rank's segment belongs; ask for fewer ranks or a smaller --mem",
        ),
        Errno::ENOMEM | Errno::EFBIG | Errno::ENOSPC => SetupError::usage(format!(
            "Linux refuses {ranks} segments of {} MiB of shared memory ({}); raise the limits (ulimit -v, ulimit -f), or \
             ask for fewer ranks or a smaller --mem",
            layout.segment_bytes.div_ceil(1 << 20),
            error.desc()
        )),
        Errno::EMFILE | Errno::ENFILE => SetupError::usage(format!(
            "{ranks} ranks need more open files than the limit allows; raise ulimit -n"
        )),
        other => failed("make a segment of shared memory", other),
    };
    (0..ranks)
        .map(|rank| {
            let segment = Segment::new(layout, reserved)?;
            segment.map(layout, u64::from(rank) + 1, true)?;
            Ok(segment)
        })
        .collect::<nix::Result<_>>()
        .map_err(explain)
}

fn fill_segment(
    layout: &Layout,
    rank: u32,
    program: &Program<'_>,
    page: &JobPage,
    stack: &[u8],
) -> nix::Result<()> {
    let slot = u64::from(rank) + 1;
    segment::fill_job_page(slot, page)?;
    for part in &program.segments {
        segment::fill(layout, slot, part.address, part.data)?;
    }
    segment::fill(layout, slot, layout.stack_end - stack.len() as u64, stack)?;
    segment::protect(layout, slot)
}

fn job_page(
    rank: u32,
    job: &Job<'_>,
    layout: &Layout,
    places: &[RankPlace],
    (sharing, wait_flag): (u64, u32),
    time: TimeBase,
) -> JobPage {
    let shared = if sharing > 1 { FLAG_OVERSUBSCRIBED } else { 0 };
    let loops = if job.network.is_some_and(|it| it.is_loop()) { FLAG_LOOPBACK } else { 0 };
    let (size, first) = network::place(job);
    let mut page = JobPage {
        magic: JOB_PAGE_MAGIC,
        version: JOB_PAGE_VERSION,
        flags: FLAG_HOST_HOME | shared | loops | wait_flag,
        rank: first + rank,
        size,
        node_rank: rank,
        node_size: job.ranks,
        node: job.network.map_or(0, |network| network.node),
        nodes: job.network.map_or(1, |network| network.nodes),
        tsc_hz: time.tsc_hz,
        tsc_base: time.tsc_base,
        wall_base_ns: time.wall_base_ns,
        tsc_ahead: 0,
        segment_start: layout.segment_start,
        segment_bytes: layout.segment_bytes,
        segment_phys: 0,
        data_start: layout.data_start,
        image_end: layout.image_end,
        heap_start: layout.heap_start,
        heap_end: layout.heap_end,
        stack_start: layout.stack_start,
        stack_end: layout.stack_end,
        yield_code: 0,
        call_code: 0,
        place_count: u64::from(job.ranks),
        places: [RankPlace::default(); MAX_RANKS],
    };
    for (to, place) in page.places.iter_mut().zip(places) {
        *to = *place;
    }
    page
}

fn hardware(has_tool: bool) -> Hardware {
    // SAFETY: the call only reads the loader's own auxiliary vector.
    let value = |kind| unsafe { libc::getauxval(kind) };
    // Linux's shared object stays where it is in the ranks' processes: its clocks need no system call, and so no signal.
    let clocks = if has_tool { 0 } else { value(libc::AT_SYSINFO_EHDR) };
    Hardware { hwcap: value(libc::AT_HWCAP), hwcap2: value(libc::AT_HWCAP2), clocks }
}

fn random() -> Result<[u8; 16], SetupError> {
    let mut bytes = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| SetupError::host(format!("cannot read random bytes: {error}")))?;
    Ok(bytes)
}
