//! What a peer's memory costs here: the same code on the same two cores, once between two ranks' processes and their slots,
//! once between two threads of one process and its heap.
//!
//! Cores of virtual machines change their mind about how far apart they are, within seconds, and other processes take their
//! share. So the two are measured in turn in many short repetitions, shorter than a time slice, and what counts is the lower
//! decile of each: repetitions that nothing has disturbed.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lwk_abi::address::{SEGMENT_START, SLOT_SHIFT};
use lwk_mm::layout::Layout;
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{ForkResult, Pid, fork, pipe};

use crate::pages::{self, Collapsed, HUGE_BYTES, Pages};
use crate::segment::Segment;
use crate::setup::SetupError;
use crate::topology::usable_cores;

/// Bytes of each side's memory, of which the upper half is copied to.
const BYTES: u64 = 4 * HUGE_BYTES;
/// Where in a segment they begin: whole huge pages that are collapsed before the start.
const START: u64 = (SEGMENT_START + HUGE_BYTES).next_multiple_of(HUGE_BYTES);
/// Timed round trips of a repetition, and those before, in which the other side wakes up.
const ROUND_TRIPS: u64 = 200;
const WARM_UP: u64 = 20;
/// Copies of a repetition.
const COPIES: u64 = 4;
/// Repetitions of each measurement.
const REPETITIONS: usize = 3000;
/// Polls after which the other side must be dead: minutes.
const POLLS_MAX: u64 = 1 << 33;
/// A cache line, and its neighbour that some processors fetch along.
const LINE: usize = 128;
/// Places of the polled lines, one after the other by repetition: how long a line takes depends on where in the last-level
/// cache its address falls, and on one line the two pairs would differ by that.
const PLACES: u64 = 1024;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// 8 bytes stored into the other's memory; each side polls its own. Time of one way.
    Store,
    /// 8 bytes loaded from the other's memory, which each side polls; each stores in its own. Time of one way.
    Load,
    /// So many bytes copied that the other has just written in its memory.
    Copy(usize),
}

/// All that is measured.
pub const OPERATIONS: [Operation; 4] =
    [Operation::Store, Operation::Load, Operation::Copy(64 << 10), Operation::Copy(1 << 20)];

/// One measurement's outcome.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    pub operation: Operation,
    /// Nanoseconds an operation between ranks and between threads, the lower decile of the repetitions.
    pub ranks_ns: f64,
    pub threads_ns: f64,
}

impl Comparison {
    /// Time between ranks by that between threads.
    pub fn ratio(&self) -> f64 {
        self.ranks_ns / self.threads_ns
    }
}

/// One side's view: where its own memory is and where the other's, both mapped for the life of the process.
#[derive(Clone, Copy)]
struct Side {
    own: usize,
    other: usize,
}

impl Side {
    fn word(base: usize, line: usize) -> &'static AtomicU64 {
        let address: *const AtomicU64 = std::ptr::with_exposed_provenance(base + line * LINE);
        // SAFETY: mapped for the life of the process (`Side`), and these lines are only used as atomics.
        unsafe { &*address }
    }

    /// The lines of a repetition that starts after `turn` round trips: which to store to and which to poll.
    fn lines(self, operation: Operation, turn: u64) -> (&'static AtomicU64, &'static AtomicU64) {
        let line = 2 * (turn / trips(operation) % PLACES) as usize;
        match operation {
            Operation::Load => (Side::word(self.own, line + 1), Side::word(self.other, line + 1)),
            _ => (Side::word(self.other, line), Side::word(self.own, line)),
        }
    }

    /// Answers one repetition of the measuring side. `turn` counts all round trips of this pair.
    fn answer(self, operation: Operation, turn: &mut u64) {
        let (store, poll) = self.lines(operation, *turn);
        for _ in 0..trips(operation) {
            *turn += 1;
            wait_for(poll, *turn);
            if let Operation::Copy(bytes) = operation {
                let from: *mut u8 = std::ptr::with_exposed_provenance_mut(self.own + HUGE_BYTES as usize);
                // SAFETY: this side's memory, which the other reads only after the store below.
                unsafe { from.write_bytes(*turn as u8, bytes) };
            }
            // Release: pairs with the other side's acquire in `wait_for`.
            store.store(*turn, Ordering::Release);
        }
    }

    /// Measures one repetition, in nanoseconds an operation.
    fn measure(self, operation: Operation, turn: &mut u64) -> f64 {
        let (store, poll) = self.lines(operation, *turn);
        let mut begin = Instant::now();
        let mut copying = Duration::MAX;
        for trip in 0..trips(operation) {
            if trip == WARM_UP {
                begin = Instant::now();
            }
            *turn += 1;
            // Release: pairs with the other side's acquire in `wait_for`.
            store.store(*turn, Ordering::Release);
            wait_for(poll, *turn);
            if let Operation::Copy(bytes) = operation {
                let begin = Instant::now();
                let from: *const u8 = std::ptr::with_exposed_provenance(self.other + HUGE_BYTES as usize);
                let to: *mut u8 = std::ptr::with_exposed_provenance_mut(self.own + (BYTES / 2) as usize);
                // SAFETY: both are mapped and apart; the other side has finished writing and waits.
                unsafe { to.copy_from_nonoverlapping(from, bytes) };
                copying = copying.min(begin.elapsed());
            }
        }
        match operation {
            Operation::Copy(_) => copying.as_secs_f64() * 1e9,
            _ => begin.elapsed().as_secs_f64() * 1e9 / (2 * ROUND_TRIPS) as f64,
        }
    }
}

fn trips(operation: Operation) -> u64 {
    if let Operation::Copy(_) = operation { COPIES } else { WARM_UP + ROUND_TRIPS }
}

fn wait_for(word: &AtomicU64, value: u64) {
    let mut polls: u64 = 0;
    // Acquire: pairs with the other side's release store.
    while word.load(Ordering::Acquire) != value {
        std::hint::spin_loop();
        polls += 1;
        assert!(polls < POLLS_MAX, "the other side answers: it was ready, and only a kill can stop it");
    }
}

/// The measuring side's end of a pair; the other side sleeps until it is told the next operation.
struct Pair {
    side: Side,
    tell: File,
    turn: u64,
}

impl Pair {
    fn run(&mut self, index: usize) -> std::io::Result<f64> {
        self.tell.write_all(&[index as u8])?;
        Ok(self.side.measure(OPERATIONS[index], &mut self.turn))
    }
}

/// The ends of a pair's pipes: the measuring side's and the other's.
struct Pipes {
    tell: File,
    ready: File,
    told: File,
    say_ready: File,
}

impl Pipes {
    fn new() -> nix::Result<Pipes> {
        let ((told, tell), (ready, say_ready)) = (pipe()?, pipe()?);
        Ok(Pipes { tell: tell.into(), ready: ready.into(), told: told.into(), say_ready: say_ready.into() })
    }
}

/// The measuring side's view, once the other side is ready.
fn pair(side: Side, tell: File, mut ready: File) -> nix::Result<Pair> {
    match ready.read_exact(&mut [0]) {
        Ok(()) => Ok(Pair { side, tell, turn: 0 }),
        Err(_) => Err(Errno::ECHILD),
    }
}

/// The other side's life: answers until nobody asks any more.
fn serve(side: Side, mut told: File, mut say_ready: File) {
    if say_ready.write_all(&[1]).is_err() {
        return;
    }
    let (mut index, mut turn) = ([0], 0);
    while told.read_exact(&mut index).is_ok() {
        if let Some(operation) = OPERATIONS.get(usize::from(index[0])) {
            side.answer(*operation, &mut turn);
        }
    }
}

/// Measures, on the first two cores there are; also says which pages the ranks' memory has.
///
/// # Errors
/// Fewer than two cores, or Linux refuses memory or a process.
pub fn compare() -> Result<(&'static str, Vec<Comparison>), SetupError> {
    let lacking = |error: Errno| SetupError::host(format!("cannot measure: {}", error.desc()));
    let cores = usable_cores().map_err(lacking)?;
    let [first, second, ..] = cores[..] else {
        return Err(SetupError::host("measuring needs two cores, and there is one"));
    };
    let layout = Layout::new(&[], 64 << 20).map_err(|error| SetupError::host(error.to_string()))?;
    let pages = Pages::find(&layout, 2);
    // The partner first: a process that forks must have one thread.
    let mut ranks = rank_pair(&layout, pages, [first, second]).map_err(lacking)?;
    let mut threads = thread_pair(second).map_err(lacking)?;
    let mut outcome = Vec::new();
    for (index, operation) in OPERATIONS.into_iter().enumerate() {
        let (mut of_ranks, mut of_threads) = (Vec::new(), Vec::new());
        for repetition in 0..REPETITIONS {
            let run = |pair: &mut Pair| {
                pair.run(index).map_err(|_| SetupError::host("cannot measure: the partner is gone"))
            };
            // Who goes first changes, so that what one leaves behind for the other does so for both.
            let (rank, thread) = if repetition % 2 == 0 {
                let rank = run(&mut ranks)?;
                (rank, run(&mut threads)?)
            } else {
                let thread = run(&mut threads)?;
                (run(&mut ranks)?, thread)
            };
            of_ranks.push(rank);
            of_threads.push(thread);
        }
        let [ranks_ns, threads_ns] = [of_ranks, of_threads].map(lower_decile);
        outcome.push(Comparison { operation, ranks_ns, threads_ns });
    }
    Ok((pages.name(), outcome))
}

fn lower_decile(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 10).copied().unwrap_or(f64::NAN)
}

fn pin(core: usize) -> nix::Result<()> {
    let mut set = CpuSet::new();
    set.set(core)?;
    sched_setaffinity(Pid::from_raw(0), &set)
}

/// Two processes with segments, laid out and mapped as ranks are.
fn rank_pair(layout: &Layout, pages: Pages, cores: [usize; 2]) -> nix::Result<Pair> {
    let segments =
        [Segment::new(layout, pages == Pages::Reserved)?, Segment::new(layout, pages == Pages::Reserved)?];
    for (slot, segment) in [1, 2].into_iter().zip(&segments) {
        segment.map(layout, slot, false)?;
    }
    let view = |peer: u64| Side { own: START as usize, other: (((peer + 1) << SLOT_SHIFT) | START) as usize };
    let settle = |rank: usize| -> nix::Result<()> {
        segments[rank].map(layout, 0, false)?;
        pin(cores[rank])?;
        pages::advise(layout, pages);
        let mut collapsed = Collapsed::new(layout, pages, 1);
        collapsed.grant(layout, START, START + BYTES);
        // SAFETY: this rank's, mapped above; the other rank waits to be told.
        unsafe { touch(START as usize) };
        Ok(())
    };
    let Pipes { tell, ready, told, say_ready } = Pipes::new()?;
    // SAFETY: this process has one thread, so the child may go on as it likes.
    match unsafe { fork() }? {
        ForkResult::Parent { .. } => {
            drop((told, say_ready));
            settle(0)?;
            pair(view(1), tell, ready)
        }
        ForkResult::Child => {
            drop((tell, ready));
            // If it cannot be had, the parent's end closes the pipe all the same.
            let _ = prctl::set_pdeathsig(Some(Signal::SIGKILL));
            if settle(1).is_ok() {
                serve(view(0), told, say_ready);
            }
            // SAFETY: ends the process without running what belongs to the parent.
            unsafe { libc::_exit(0) }
        }
    }
}

/// A thread of this process and this thread, with two pieces of heap on transparent huge pages, if Linux gives those.
fn thread_pair(core: usize) -> nix::Result<Pair> {
    let piece = || -> nix::Result<usize> {
        let bytes = NonZeroUsize::new((BYTES + HUGE_BYTES) as usize).ok_or(Errno::EINVAL)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping wherever the system likes harms nothing.
        let memory: NonNull<_> = unsafe { mmap_anonymous(None, bytes, access, MapFlags::MAP_PRIVATE)? };
        // SAFETY: advice on memory of our own. Without it the pages are small, which is then what threads have.
        let _ = unsafe { madvise(memory, bytes.get(), MmapAdvise::MADV_HUGEPAGE) };
        let start = memory.as_ptr().expose_provenance().next_multiple_of(HUGE_BYTES as usize);
        // SAFETY: mapped above; the other thread waits to be told.
        unsafe { touch(start) };
        Ok(start)
    };
    let (ours, theirs) = (piece()?, piece()?);
    let Pipes { tell, ready, told, say_ready } = Pipes::new()?;
    std::thread::spawn(move || {
        if pin(core).is_ok() {
            serve(Side { own: theirs, other: ours }, told, say_ready);
        }
    });
    pair(Side { own: ours, other: theirs }, tell, ready)
}

/// Touches every page, so that no repetition pays for it.
///
/// # Safety
/// [`BYTES`] are mapped writable there, and nobody else uses them yet.
unsafe fn touch(start: usize) {
    for page in (start..start + BYTES as usize).step_by(4096) {
        let byte: *mut u8 = std::ptr::with_exposed_provenance_mut(page);
        // SAFETY: writable, and nobody else's yet (this function's contract).
        unsafe { byte.write_volatile(0) };
    }
}
