//! Collective calls on data, of all PEs, by size of a PE's block.
//!
//! The floor is the same work without any agreement: for a reduction, one PE that does all of it alone, divided by the number of PEs
//! (perfect speed-up); for the others, the copies one PE makes, all PEs at once.

use crate::measure::{Bench, Compared, Table};
use crate::raw;
use lwk_shmem::engine::{self, Sum, TEAM_WORLD, barrier_all, my_pe, n_pes};
use lwk_user::copy;

const COLUMNS: &[&str] = &["size_bytes", "latency_us", "floor_us", "ratio"];
/// Largest block of the calls whose result has a block for each PE, in bytes.
const BLOCK: usize = 256 << 10;

/// Symmetric buffers of doubles; `dest` holds a block for each PE.
struct Buffers {
    source: *mut f64,
    dest: *mut f64,
    room: usize,
}

impl Buffers {
    /// Collective. Ends the job if the symmetric heap is too small.
    fn new(bytes: usize) -> Buffers {
        let bytes = bytes.max(8);
        let (source, dest) = (engine::malloc(bytes).cast::<f64>(), engine::malloc(bytes).cast::<f64>());
        if source.is_null() || dest.is_null() {
            lwk_apps::cli::fail(
                lwk_user::abi::exit::USAGE,
                &"the symmetric heap is too small: give each rank more memory (--mem), or lower --max-size",
            );
        }
        Buffers { source, dest, room: bytes / 8 }
    }

    /// Collective.
    fn free(self) {
        engine::free(self.dest.cast());
        engine::free(self.source.cast());
    }

    /// Makes the buffers ready in all PEs. Collective.
    fn prepare(&self) {
        barrier_all();
        for index in 0..self.room {
            // SAFETY: inside the blocks; no PE uses them before the next barrier.
            unsafe {
                self.source.add(index).write(value(my_pe(), index));
                self.dest.add(index).write(-1.0);
            }
        }
        barrier_all();
    }

    /// Elements of `dest` that are not what they should be. Collective.
    fn count_wrong(&self, table: &mut Table, count: usize, expected: impl Fn(usize) -> f64) {
        // SAFETY: inside the block; the call that wrote it is over.
        let wrong = (0..count).filter(|i| unsafe { self.dest.add(*i).read() } != expected(*i)).count();
        table.count_wrong(wrong as u64);
    }
}

/// Element `index` of PE `pe`'s source: small whole numbers, so that sums are exact.
fn value(pe: i32, index: usize) -> f64 {
    ((index % 1000) as i32 * 16 + pe) as f64
}

/// A call over all PEs: how many doubles its buffers take for blocks of so many, what it does, what must come of it, and its
/// floor.
struct Call<'a> {
    name: &'static str,
    /// Blocks of `dest` and `source`.
    blocks: usize,
    run: &'a dyn Fn(&Buffers, usize),
    expected: &'a dyn Fn(usize, usize) -> f64,
    floor: &'a dyn Fn(&Buffers, usize),
    /// What one PE's floor is divided by.
    share: f64,
}

impl Call<'_> {
    fn measure(&self, bench: &Bench) -> Table {
        let mut table = Table::new(self.name, COLUMNS);
        let largest = if self.blocks > 1 { bench.largest.min(BLOCK) } else { bench.largest };
        let buffers = Buffers::new(largest * self.blocks);
        for size in bench.sizes().filter(|size| (8..=largest).contains(size)) {
            let count = size / 8;
            buffers.prepare();
            (self.run)(&buffers, count);
            let elements = if self.blocks > 1 { count * self.blocks } else { count };
            buffers.count_wrong(&mut table, elements, |index| (self.expected)(count, index));
            let Compared { library, floor, ratio } = bench.compare(
                bench.repetitions(size * n_pes() as usize),
                |times| {
                    for _ in 0..times {
                        (self.run)(&buffers, count);
                    }
                },
                |times| {
                    for _ in 0..times {
                        (self.floor)(&buffers, count);
                    }
                },
            );
            table.row(size, &[library / 1e3, floor / 1e3 / self.share, ratio * self.share]);
        }
        buffers.free();
        table
    }
}

/// Sum of doubles to all. The floor: PE 0 does all of it alone, sums and results.
pub fn reduce(bench: &Bench) -> Table {
    let n = n_pes();
    Call {
        name: "reduce",
        blocks: 1,
        // SAFETY: both buffers hold `count` doubles; repeated calls give the same result, so destinations are always ready.
        run: &|buffers, count| unsafe {
            engine::reduce::<f64, Sum>(TEAM_WORLD, buffers.dest, buffers.source, count);
        },
        expected: &|_, index| (0..n).map(|pe| value(pe, index)).sum(),
        floor: &|buffers, count| {
            if my_pe() == 0 {
                // SAFETY: both buffers hold `count` doubles in all PEs, and the other PEs wait.
                unsafe { reduce_alone(buffers, count) };
            }
        },
        share: n as f64,
    }
    .measure(bench)
}

/// Adds up all sources and writes the sums to all destinations, a few kilobytes at a time.
///
/// # Safety
/// Both buffers hold `count` doubles in all PEs, and the other PEs do not use them.
unsafe fn reduce_alone(buffers: &Buffers, count: usize) {
    const CHUNK: usize = 512;
    for first in (0..count).step_by(CHUNK) {
        let length = CHUNK.min(count - first);
        let (source, dest) = (buffers.source.wrapping_add(first), buffers.dest.wrapping_add(first));
        // SAFETY: the buffers hold so many doubles, and no other PE uses them (this function's contract); the chunks are distinct objects.
        unsafe {
            let sums = core::slice::from_raw_parts_mut(dest, length);
            sums.copy_from_slice(core::slice::from_raw_parts(source, length));
            for pe in 1..n_pes() {
                let theirs = core::slice::from_raw_parts(raw::at(source, pe), length);
                for (sum, term) in sums.iter_mut().zip(theirs) {
                    *sum += term;
                }
            }
            for pe in 1..n_pes() {
                copy::copy(dest.cast(), raw::at(dest, pe).cast(), length * 8);
            }
        }
    }
}

/// `broadcast` of doubles from PE 0 to all. The floor: every PE copies the block.
pub fn broadcast(bench: &Bench) -> Table {
    Call {
        name: "broadcast",
        blocks: 1,
        // SAFETY: as for `reduce`.
        run: &|buffers, count| unsafe {
            engine::broadcast(TEAM_WORLD, buffers.dest, buffers.source, count, 0);
        },
        expected: &|_, index| value(0, index),
        floor: &|buffers, count| {
            // SAFETY: both blocks hold `count` doubles; PE 0 does not write its source.
            unsafe { copy::copy(raw::at(buffers.source, 0).cast(), buffers.dest.cast(), count * 8) };
        },
        share: 1.0,
    }
    .measure(bench)
}

/// The copies of one block from every PE.
fn copy_from_all(buffers: &Buffers, count: usize, block: impl Fn(i32) -> usize) {
    for distance in 0..n_pes() {
        let pe = (my_pe() + distance) % n_pes();
        let source = raw::at(buffers.source, pe).wrapping_add(block(pe));
        let place = buffers.dest.wrapping_add(pe as usize * count);
        // SAFETY: inside the blocks; nobody writes the sources.
        unsafe { copy::copy(source.cast(), place.cast(), count * 8) };
    }
}

/// `fcollect` of doubles: every PE's block to all. The floor: every PE copies all blocks.
pub fn fcollect(bench: &Bench) -> Table {
    Call {
        name: "fcollect",
        blocks: n_pes() as usize,
        // SAFETY: as for `reduce`.
        run: &|buffers, count| unsafe {
            engine::fcollect(TEAM_WORLD, buffers.dest, buffers.source, count);
        },
        expected: &|count, index| value((index / count) as i32, index % count),
        floor: &|buffers, count| copy_from_all(buffers, count, |_| 0),
        share: 1.0,
    }
    .measure(bench)
}

/// `alltoall` of doubles: a block from each to each. The floor: every PE copies those that are for it.
pub fn alltoall(bench: &Bench) -> Table {
    let me = my_pe() as usize;
    Call {
        name: "alltoall",
        blocks: n_pes() as usize,
        // SAFETY: as for `reduce`.
        run: &|buffers, count| unsafe {
            engine::alltoall(TEAM_WORLD, buffers.dest, buffers.source, count);
        },
        expected: &|count, index| value((index / count) as i32, me * count + index % count),
        floor: &|buffers, count| copy_from_all(buffers, count, |_| me * count),
        share: 1.0,
    }
    .measure(bench)
}
