//! Creating the ranks of a job: segments, page tables with the peers' slots linked in, job pages, program images and initial
//! stacks (`docs/architecture.md`, "The machine as a job sees it"; SMARTMAP paper, figure 1).

use arrayvec::ArrayVec;
use lwk_abi::address::{JOB_PAGE, MAX_RANKS, PAGE_BYTES, SEGMENT_LIMIT};
use lwk_abi::job_page::{
    FLAG_EMULATED, FLAG_LOOPBACK, FLAG_OVERSUBSCRIBED, FLAG_WAIT_BY_HALT, FLAG_WAIT_BY_MWAITX,
    FLAG_WAIT_BY_TPAUSE, JOB_PAGE_MAGIC, JOB_PAGE_VERSION, JobPage, RankPlace,
};
use lwk_elf::Program;
use lwk_job::Wait;
use lwk_mm::Access;
use lwk_mm::address::VirtAddr;
use lwk_mm::layout::{ImageRange, Layout, LayoutError};
use lwk_personality::Process;
use lwk_topology::{MemoryNodes, Own, ProgramWait};

use crate::arch::clock;
use crate::arch::features::features;
use crate::arch::topology;
use crate::core_local::{self, Core};
use crate::description::Problem;
use crate::initial_stack;
use crate::job::Job;
use crate::memory;
use crate::rank::{Parts, Rank};
use crate::segments::{self, Segments};
use crate::user_memory::{FreshFrames, SharedFrames, UserMemory, Writable};

/// What an earlier job has left in every byte, in tests.
const STALE: u8 = 0xa5;
/// Of a large page, which segments are made of.
const MIB2: u64 = 2 << 20;

/// Creates every rank of `job`, links each into all the others, and fills in their job pages and stacks. Errors: what does not fit, in memory or in a
/// slot. `file_space`: bytes that files may take, which are left for them where the ranks share what is free.
pub fn create_ranks(
    job: &Job,
    file: &lwk_job::Job<'static>,
    nodes: &MemoryNodes<'_>,
    file_space: u64,
) -> Result<(), Problem> {
    let image: ArrayVec<ImageRange, { lwk_mm::layout::IMAGE_RANGES_MAX }> = job
        .program()
        .segments
        .iter()
        .map(|segment| ImageRange {
            start: segment.address,
            end: segment.address + segment.memory_bytes,
            access: segment.access,
        })
        .collect();
    let (layout, segments) = match file.memory {
        Some(bytes) => told_segments(job, &image, nodes, bytes.next_multiple_of(PAGE_BYTES))?,
        None => shared_segments(job, &image, nodes, file_space)?,
    };
    let places = places(job, nodes);
    for (number, segment) in segments.into_iter().enumerate() {
        let segment_node = nodes.of_memory(segment.start().as_u64());
        let fresh = Fresh { number, layout: layout.clone(), segment, segment_node };
        job.set_rank(create_rank(job, file, fresh, &places)?);
    }
    link_peers(job)
}

/// Places of the ranks, by number.
type Places = ArrayVec<RankPlace, MAX_RANKS>;

/// Segments of `bytes` bytes each, whole pages, for a program with this image. Errors: `Layout`, `NoMemory`.
fn told_segments(
    job: &Job,
    image: &[ImageRange],
    nodes: &MemoryNodes<'_>,
    bytes: u64,
) -> Result<(Layout, Segments), Problem> {
    let layout = Layout::new(image, bytes).map_err(Problem::Layout)?;
    let free = memory::in_use().free;
    let segments = segments::allocate(job, &layout, nodes);
    Ok((layout, segments.ok_or(Problem::NoMemory { ranks: job.size(), bytes, free })?))
}

/// Segments that share all that is free, but for what the kernel needs beside them. Errors: as for [`told_segments`].
fn shared_segments(
    job: &Job,
    image: &[ImageRange],
    nodes: &MemoryNodes<'_>,
    file_space: u64,
) -> Result<(Layout, Segments), Problem> {
    let free = memory::in_use().free;
    let held = memory::hold_back(kernel_needs(job.size(), file_space));
    let first = image.first().map_or(0, |range| range.start);
    let mut bytes = memory::share(job.size(), MIB2).min(SEGMENT_LIMIT.saturating_sub(first) & !(MIB2 - 1));
    let mut made = told_segments(job, image, nodes, bytes);
    // Where each lies near its core, a little may be lost at the borders of the memory nodes.
    while matches!(made, Err(Problem::NoMemory { .. })) && bytes > 0 {
        bytes = (bytes - bytes / 16).saturating_sub(MIB2) & !(MIB2 - 1);
        made = told_segments(job, image, nodes, bytes);
    }
    if let Some(held) = held {
        memory::give_back(held);
    }
    made.map_err(|problem| match problem {
        // It is the node that has too little.
        Problem::Layout(LayoutError::TooSmall { needed }) => {
            Problem::NoMemory { ranks: job.size(), bytes: needed, free }
        }
        other => other,
    })
}

/// Bytes that the kernel needs for `ranks` ranks beside their segments, and files that take `file_space`.
fn kernel_needs(ranks: usize, file_space: u64) -> u64 {
    /// Tables of a rank with up to 8 GiB, its job page, and what is lost by rounding to pages.
    const TABLES_BYTES: u64 = 128 << 10;
    /// A table for each GiB of all segments.
    const TABLES_PART: u64 = (1 << 30) / PAGE_BYTES;
    let rank = (size_of::<Rank>() + size_of::<spin::Mutex<Process>>()) as u64 + TABLES_BYTES;
    ranks as u64 * rank + memory::in_use().free / TABLES_PART + file_space
}

/// What a rank begins with.
struct Fresh {
    number: usize,
    layout: Layout,
    segment: FreshFrames,
    segment_node: Option<usize>,
}

fn create_rank(
    job: &Job,
    file: &lwk_job::Job<'static>,
    fresh: Fresh,
    places: &Places,
) -> Result<&'static Rank, Problem> {
    let Fresh { number, layout, mut segment, segment_node } = fresh;
    let stack = initial_stack::build(&layout, &mut segment, job.program(), file)?;
    let mut job_page = memory::allocate_kernel(PAGE_BYTES).ok_or(Problem::NoKernelMemory)?;
    job_page.place(job_page_of(job, number, &layout, &segment, places)?);
    let (segment, job_page) = (segment.share(), job_page.share());
    let space = map(&layout, &segment, &job_page)?;
    let process = place_process(&layout).ok_or(Problem::NoKernelMemory)?;
    let (core, entry) = (job.core_of(number), job.program().entry);
    let memory_node = usize::from(places[number].memory_node);
    let segment_node = segment_node.unwrap_or(memory_node);
    let parts = Parts {
        number,
        core,
        layout,
        segment,
        memory_node,
        segment_node,
        job_page,
        space,
        entry,
        stack,
        process,
    };
    memory::place(Rank::new(parts)).map(|rank| &*rank).ok_or(Problem::NoKernelMemory)
}

/// The address space of a rank, without peers.
fn map(
    layout: &Layout,
    segment: &SharedFrames,
    job_page: &SharedFrames,
) -> Result<crate::address_space::AddressSpace, Problem> {
    let space = memory::with_kernel_space(|space| space.another());
    let mut space = space.ok_or(Problem::NoKernelMemory)?;
    let page = job_page.mappable(0, PAGE_BYTES);
    space.map_for_programs(VirtAddr::new(JOB_PAGE), &page, Access::R).map_err(Problem::Map)?;
    for region in &layout.regions {
        let memory = segment.mappable(region.start - layout.segment_start, region.end - region.start);
        space.map_for_programs(VirtAddr::new(region.start), &memory, region.access).map_err(Problem::Map)?;
    }
    Ok(space)
}

/// What the system keeps for a rank's calls. A function of its own, because the boot loader's stack holds few such values.
#[inline(never)]
fn place_process(layout: &Layout) -> Option<&'static spin::Mutex<Process>> {
    let process = &*memory::place(spin::Mutex::new(Process::new(layout)))?;
    process.lock().start_in(crate::files::start_folder().ok()?);
    Some(process)
}

/// SMARTMAP: each rank's slot 0 becomes slot `r + 1` of every rank, its own included. One entry of 8 bytes a peer.
fn link_peers(job: &Job) -> Result<(), Problem> {
    for owner in job.all_ranks() {
        for peer in job.all_ranks() {
            peer.space().link(owner.number() + 1, owner.space()).map_err(Problem::Map)?;
        }
    }
    Ok(())
}

/// Dense numbers for values that name shared hardware: equal values get equal numbers, in order of first appearance.
fn dense(values: impl Iterator<Item = u64>) -> ArrayVec<u16, MAX_RANKS> {
    let mut seen: ArrayVec<u64, MAX_RANKS> = ArrayVec::new();
    values
        .map(|value| match seen.iter().position(|known| *known == value) {
            Some(position) => position as u16,
            None => {
                seen.push(value);
                seen.len() as u16 - 1
            }
        })
        .collect()
}

/// Where each rank runs.
fn places(job: &Job, nodes: &MemoryNodes<'_>) -> Places {
    let ranks = || 0..job.size();
    let core = |rank: usize| core_local::core(job.core_of(rank)).unwrap_or_else(Core::current);
    let id = |rank: usize| core(rank).block().controller_id();
    let shared =
        |of: &dyn Fn(&Own, u32) -> u64| dense(ranks().map(|rank| of(&core(rank).topology(), id(rank))));
    let packages = shared(&|own, id| own.whole(id, own.shifts.package));
    let physical_cores = shared(&|own, id| own.part(id, own.shifts.core));
    let l2 = shared(&|own, id| own.part(id, own.shifts.l2));
    let l3 = shared(&|own, id| own.whole(id, own.shifts.l3));
    let place = |rank: usize| RankPlace {
        core: job.core_of(rank) as u16,
        package: packages[rank],
        physical_core: physical_cores[rank],
        l2: l2[rank],
        l3: l3[rank],
        thread: (id(rank) & ((1 << core(rank).topology().shifts.core) - 1)) as u16,
        memory_node: nodes.of_core(id(rank)).unwrap_or(0) as u16,
    };
    ranks().map(place).collect()
}

fn job_page_of(
    job: &Job,
    number: usize,
    layout: &Layout,
    segment: &FreshFrames,
    known_places: &Places,
) -> Result<JobPage, Problem> {
    let mut flags = wait_flag(job)?;
    if job.is_oversubscribed() {
        flags |= FLAG_OVERSUBSCRIBED;
    }
    if job.place().is_some_and(lwk_job::Network::is_loop) {
        flags |= FLAG_LOOPBACK;
    }
    if features().emulated {
        flags |= FLAG_EMULATED;
    }
    let (wall_base_ns, tsc_base) = clock::wall_base();
    let mut places = [RankPlace::default(); MAX_RANKS];
    places[..known_places.len()].copy_from_slice(known_places);
    Ok(JobPage {
        magic: JOB_PAGE_MAGIC,
        version: JOB_PAGE_VERSION,
        flags,
        rank: job.first_rank() + number as u32,
        size: job.place().map_or(job.size() as u32, |place| place.size),
        node_rank: number as u32,
        node_size: job.size() as u32,
        node: job.place().map_or(0, |place| place.node),
        nodes: job.place().map_or(1, |place| place.nodes),
        tsc_hz: clock::ticks_a_second(),
        tsc_base,
        wall_base_ns,
        tsc_ahead: core_local::core(job.core_of(number)).map_or(0, Core::counter_ahead),
        segment_start: layout.segment_start,
        segment_bytes: layout.segment_bytes,
        segment_phys: segment.start().as_u64(),
        data_start: layout.data_start,
        image_end: layout.image_end,
        heap_start: layout.heap_start,
        heap_end: layout.heap_end,
        stack_start: layout.stack_start,
        stack_end: layout.stack_end,
        yield_code: 0,
        call_code: 0,
        place_count: known_places.len() as u64,
        places,
    })
}

/// How the job's ranks wait, as the job page says it. Errors: `NoMwait`, `NoHalt`.
fn wait_flag(job: &Job) -> Result<u32, Problem> {
    match (job.wait(), topology::program_wait()) {
        (Wait::Pause, _) => Ok(0),
        (Wait::Mwait, Some(ProgramWait::Tpause)) => Ok(FLAG_WAIT_BY_TPAUSE),
        (Wait::Mwait, Some(ProgramWait::Mwaitx)) => Ok(FLAG_WAIT_BY_MWAITX),
        (Wait::Mwait, None) => Err(Problem::NoMwait),
        (Wait::Halt | Wait::Auto, _) if job.halts() => Ok(FLAG_WAIT_BY_HALT),
        (Wait::Halt, _) => Err(Problem::NoHalt),
        (Wait::Auto, _) => Ok(0),
    }
}

/// Clears the segment up to the arguments on the stack, so that nothing of firmware or of an earlier job can be read in it, and puts the
/// program's image into it. Runs on the rank's own core, so that the memory is touched first from there; before any rank runs. With
/// `stale_memory` the segment is full of an earlier job's bytes first. Returns the ticks that clearing has taken.
pub fn load(rank: &Rank, program: &Program<'static>, stale_memory: bool) -> u64 {
    let first = rank.layout().segment_start;
    let memory = rank.segment().writable(0, rank.initial_stack_pointer() - first);
    if stale_memory {
        fill(memory, STALE);
    }
    let start = clock::ticks();
    memory.clear_large();
    let ticks = clock::ticks() - start;
    for segment in &program.segments {
        let bytes = segment.data.len();
        memory.piece((segment.address - first) as usize, bytes).copy_from(segment.data);
    }
    ticks
}

/// Sets every byte.
fn fill(memory: UserMemory<'_, Writable>, byte: u8) {
    let page = [byte; PAGE_BYTES as usize];
    for offset in (0..memory.bytes()).step_by(page.len()) {
        let piece = memory.piece(offset, page.len());
        piece.copy_from(&page[..piece.bytes()]);
    }
}
