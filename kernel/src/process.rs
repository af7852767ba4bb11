//! Creating the ranks of a job: segments, page tables with the peers' slots linked in, job pages, program images and initial
//! stacks (DESIGN.md, "The machine as a job sees it"; SMARTMAP paper, figure 1).

use arrayvec::ArrayVec;
use lwk_abi::address::{JOB_PAGE, PAGE_BYTES};
use lwk_abi::job_page::{
    FLAG_EMULATED, FLAG_OVERSUBSCRIBED, JOB_PAGE_MAGIC, JOB_PAGE_VERSION, JobPage, RankPlace,
};
use lwk_elf::Program;
use lwk_linux::Process;
use lwk_mm::Access;
use lwk_mm::address::{PhysAddr, VirtAddr};
use lwk_mm::layout::{ImageRange, Layout};
use lwk_mm::table::{self, MapFlags, TableMemory};

use crate::arch::features::features;
use crate::arch::paging::LinearTables;
use crate::arch::{clock, copy, topology};
use crate::core_local;
use crate::initial_stack;
use crate::job::{Job, Problem};
use crate::memory;
use crate::rank::{Parts, Rank};

const MIB2: u64 = 2 << 20;
const GIB: u64 = 1 << 30;
/// What an earlier job has left in every byte, in tests.
const STALE: u8 = 0xa5;

/// Creates every rank of `job`, links each into all the others, and fills in their job pages and stacks. Errors: what does not fit, in memory or in a
/// slot.
pub fn create_ranks(job: &'static Job, file: &lwk_job::Job<'static>) -> Result<(), Problem> {
    let bytes = file.memory.next_multiple_of(PAGE_BYTES);
    let program = job.program();
    let image: ArrayVec<ImageRange, { lwk_mm::layout::IMAGE_RANGES_MAX }> = program
        .segments
        .iter()
        .map(|segment| ImageRange {
            start: segment.address,
            end: segment.address + segment.memory_bytes,
            access: segment.access,
        })
        .collect();
    let layout = Layout::new(&image, bytes).map_err(Problem::Layout)?;
    let free = memory::in_use().free;
    let no_memory = Problem::NoMemory { ranks: job.size(), bytes, free };
    let segments = allocate_segments(job.size(), &layout).ok_or(no_memory)?;
    for (number, segment) in segments.into_iter().enumerate() {
        create_rank(job, number, layout.clone(), segment)?;
    }
    link_peers(job)?;
    let places = places(job);
    for rank in job.all_ranks() {
        write_job_page(rank, &places);
        let stack = initial_stack::build(rank, file)?;
        rank.prepare(program.entry, stack);
    }
    Ok(())
}

type Segments = ArrayVec<PhysAddr, { lwk_abi::address::MAX_RANKS }>;

/// Memory for `count` segments of this layout, at physical addresses that large pages can map: congruent to the virtual ones modulo
/// 1 GiB where a segment can hold such a page and that wastes too little to matter, else modulo 2 MiB.
fn allocate_segments(count: usize, layout: &Layout) -> Option<Segments> {
    let gigabyte = (features().gigabyte_pages && layout.segment_bytes >= 2 * GIB).then_some(GIB);
    gigabyte.into_iter().chain([MIB2]).find_map(|align| allocate_aligned(count, layout, align))
}

fn allocate_aligned(count: usize, layout: &Layout, align: u64) -> Option<Segments> {
    let bytes = layout.segment_bytes;
    let mut segments = Segments::new();
    for _ in 0..count {
        match memory::allocate_segment(bytes, align, layout.segment_start % align) {
            Some(segment) => segments.push(segment),
            None => {
                segments.iter().for_each(|segment| memory::release_segment(*segment, bytes));
                return None;
            }
        }
    }
    Some(segments)
}

/// Counts the tables of one rank.
struct CountedTables {
    tables: u64,
}

impl TableMemory for CountedTables {
    fn new_table(&mut self) -> Option<PhysAddr> {
        self.tables += 1;
        LinearTables.new_table()
    }
    fn read(&self, table: PhysAddr, index: usize) -> u64 {
        LinearTables.read(table, index)
    }
    fn write(&mut self, table: PhysAddr, index: usize, entry: u64) {
        LinearTables.write(table, index, entry);
    }
}

fn create_rank(job: &'static Job, number: usize, layout: Layout, segment: PhysAddr) -> Result<(), Problem> {
    let mut tables = CountedTables { tables: 0 };
    let root = tables.new_table().ok_or(Problem::NoKernelMemory)?;
    memory::copy_kernel_half(memory::kernel_root(), root);
    let job_page = memory::allocate_frame().ok_or(Problem::NoKernelMemory)?;
    let flags = MapFlags { user: true, gigabyte_pages: features().gigabyte_pages, ..MapFlags::default() };
    let mut map = |start: u64, physical: PhysAddr, bytes: u64, access: Access| {
        table::map(&mut tables, root, VirtAddr(start), physical, bytes, access, flags).map_err(Problem::Map)
    };
    map(JOB_PAGE, job_page, PAGE_BYTES, Access::R)?;
    for region in &layout.regions {
        let physical = PhysAddr(segment.0 + (region.start - layout.segment_start));
        map(region.start, physical, region.end - region.start, region.access)?;
    }
    let core = job.core_of(number);
    let process = place_process(&layout).ok_or(Problem::NoKernelMemory)?;
    let rank: &'static Rank =
        memory::place(Rank::new(Parts { job, number, core, layout, segment, root, job_page, process }))
            .ok_or(Problem::NoKernelMemory)?;
    rank.set_page_table_bytes(tables.tables * PAGE_BYTES);
    job.set_rank(rank);
    Ok(())
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
        let own_slot = table::pdpt_of(&LinearTables, owner.root(), 0).ok_or(Problem::NoKernelMemory)?;
        for peer in job.all_ranks() {
            table::link_slot(&mut LinearTables, peer.root(), owner.number() + 1, own_slot)
                .map_err(Problem::Map)?;
        }
    }
    Ok(())
}

/// Dense numbers for values that name shared hardware: equal values get equal numbers, in order of first appearance.
fn dense(values: impl Iterator<Item = u32>) -> ArrayVec<u16, { lwk_abi::address::MAX_RANKS }> {
    let mut seen: ArrayVec<u32, { lwk_abi::address::MAX_RANKS }> = ArrayVec::new();
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
fn places(job: &Job) -> ArrayVec<RankPlace, { lwk_abi::address::MAX_RANKS }> {
    let shifts = topology::shifts();
    let apic_id = |rank: &Rank| core_local::core(rank.core()).map_or(0, |core| core.apic_id());
    let number_by = |shift: u32| dense(job.all_ranks().map(|rank| apic_id(rank) >> shift));
    let packages = number_by(shifts.package);
    let physical_cores = number_by(shifts.core);
    let (l2, l3) = (number_by(shifts.l2), number_by(shifts.l3));
    let place = |(index, rank): (usize, &'static Rank)| RankPlace {
        core: rank.core() as u16,
        package: packages[index],
        physical_core: physical_cores[index],
        l2: l2[index],
        l3: l3[index],
        thread: (apic_id(rank) & ((1 << shifts.core) - 1)) as u16,
    };
    job.all_ranks().enumerate().map(place).collect()
}

fn write_job_page(rank: &Rank, known_places: &[RankPlace]) {
    let job = rank.job();
    let layout = rank.layout();
    let mut flags = 0;
    if job.is_oversubscribed() {
        flags |= FLAG_OVERSUBSCRIBED;
    }
    if features().emulated {
        flags |= FLAG_EMULATED;
    }
    let (wall_base_ns, tsc_base) = clock::wall_base();
    let mut places = [RankPlace::default(); lwk_abi::address::MAX_RANKS];
    places[..known_places.len()].copy_from_slice(known_places);
    let page = JobPage {
        magic: JOB_PAGE_MAGIC,
        version: JOB_PAGE_VERSION,
        flags,
        rank: rank.number() as u32,
        size: job.size() as u32,
        node_rank: rank.number() as u32,
        node_size: job.size() as u32,
        node: 0,
        nodes: 1,
        tsc_hz: clock::ticks_a_second(),
        tsc_base,
        wall_base_ns,
        segment_start: layout.segment_start,
        segment_bytes: layout.segment_bytes,
        segment_phys: rank.segment().0,
        image_end: layout.image_end,
        heap_start: layout.heap_start,
        heap_end: layout.heap_end,
        stack_start: layout.stack_start,
        stack_end: layout.stack_end,
        yield_code: 0,
        place_count: known_places.len() as u64,
        places,
    };
    // SAFETY: the frame is the rank's job page, a whole page that nobody else uses before the rank runs.
    unsafe { memory::linear(rank.job_page()).cast::<JobPage>().write(page) };
}

/// Clears the segment up to the arguments on the stack, so that nothing of firmware or of an earlier job can be read in it, and puts the
/// program's image into it. Runs on the rank's own core, so that the memory is touched first from there. Returns the ticks that
/// clearing has taken.
pub fn load(rank: &Rank, program: &Program<'static>) -> u64 {
    let base = memory::linear(rank.segment());
    let first = rank.layout().segment_start;
    let bytes = (rank.initial_stack_pointer() - first) as usize;
    let lines = bytes - bytes % copy::LINE_BYTES as usize;
    if rank.job().has_stale_memory() {
        // SAFETY: as below.
        unsafe { base.write_bytes(STALE, bytes) };
    }
    let start = clock::ticks();
    // SAFETY: all writes stay within the segment, as `Layout::new` has checked image and stack to lie in it; no rank runs
    // before every image is loaded.
    unsafe {
        copy::clear(base, lines);
        base.add(lines).write_bytes(0, bytes - lines);
    }
    let ticks = clock::ticks() - start;
    for segment in &program.segments {
        // SAFETY: as above.
        unsafe {
            let target = base.add((segment.address - first) as usize);
            copy::copy(target, segment.data.as_ptr(), segment.data.len());
        }
    }
    ticks
}
