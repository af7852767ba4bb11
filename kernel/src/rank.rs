//! A rank: one program with its segment, its page tables, and what the kernel must remember while it does not run.

use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use lwk_abi::console::{LINE_BYTES, STDERR, STDERR_PART, STDOUT, STDOUT_PART};
use lwk_linux::{Process, Stream};
use lwk_mm::address::PhysAddr;
use lwk_mm::layout::Layout;

use crate::arch::extended_state::ExtendedState;
use crate::arch::paging;
use crate::arch::trap_frame::TrapFrame;
use crate::arch::user_state::ThreadPointers;
use crate::console;
use crate::job::Job;

/// Status of a rank that has not ended, or was stopped because of another.
const NO_STATUS: i32 = -1;

/// The start of a line that has not ended yet.
struct Line {
    bytes: [u8; LINE_BYTES],
    used: usize,
}

/// What only the rank's own core uses.
struct Private {
    frame: TrapFrame,
    pointers: ThreadPointers,
    extended: ExtendedState,
    lines: [Line; 2],
}

/// One rank of a job on this node. Lives as long as the node.
pub struct Rank {
    job: &'static Job,
    number: usize,
    core: usize,
    layout: Layout,
    segment: PhysAddr,
    root: PhysAddr,
    job_page: PhysAddr,
    page_table_bytes: AtomicU64,
    ended: AtomicBool,
    /// Peers count on this rank. Relaxed everywhere: only the rank's own core uses it.
    holds_job: AtomicBool,
    status: AtomicI32,
    /// Locked by the rank's own core only, so never waited for; a non-maskable interrupt tries and does without.
    private: spin::Mutex<Private>,
    /// What the system keeps for its calls. Locked by the rank's own core only.
    process: &'static spin::Mutex<Process>,
}

/// What a rank is made of.
pub struct Parts {
    pub job: &'static Job,
    /// Rank in the job, from 0.
    pub number: usize,
    /// Index of the core it is pinned to.
    pub core: usize,
    pub layout: Layout,
    /// Where the segment is, `layout.segment_bytes` of contiguous memory.
    pub segment: PhysAddr,
    /// The top-level page table, with the kernel's half in it.
    pub root: PhysAddr,
    /// The frame of the job page.
    pub job_page: PhysAddr,
    pub process: &'static spin::Mutex<Process>,
}

impl Rank {
    /// Whether its exit with status 0 ends the job ([`lwk_abi::syscall::JOB_HOLD`]).
    pub fn holds_job(&self) -> bool {
        self.holds_job.load(Ordering::Relaxed)
    }

    /// Sets that.
    pub fn hold_job(&self, on: bool) {
        self.holds_job.store(on, Ordering::Relaxed);
    }

    /// A rank that has not run; [`Rank::prepare`] makes it ready.
    pub fn new(parts: Parts) -> Rank {
        let Parts { job, number, core, layout, segment, root, job_page, process } = parts;
        const EMPTY: Line = Line { bytes: [0; LINE_BYTES], used: 0 };
        Rank {
            job,
            number,
            core,
            layout,
            segment,
            root,
            job_page,
            page_table_bytes: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            holds_job: AtomicBool::new(false),
            status: AtomicI32::new(NO_STATUS),
            private: spin::Mutex::new(Private {
                frame: TrapFrame::default(),
                pointers: ThreadPointers::default(),
                extended: ExtendedState::empty(),
                lines: [EMPTY; 2],
            }),
            process,
        }
    }

    /// Makes the rank ready: its program starts at address `entry` with its stack pointer at `stack`.
    pub fn prepare(&self, entry: u64, stack: u64) {
        let mut private = self.private.lock();
        private.frame = TrapFrame::start_of_program(entry, stack);
        private.extended.reset();
    }

    /// Where the program's stack starts, below arguments and environment; before the rank has run.
    pub fn initial_stack_pointer(&self) -> u64 {
        self.private.lock().frame.rsp
    }

    /// The job it belongs to.
    pub fn job(&self) -> &'static Job {
        self.job
    }

    /// Rank in the job, which on one node is also the rank on the node.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Index of the core it is pinned to.
    pub fn core(&self) -> usize {
        self.core
    }

    /// Where everything is in the segment; all ranks of a job have the same.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Physical address of the segment's first byte, the layout's `segment_start` to the program.
    pub fn segment(&self) -> PhysAddr {
        self.segment
    }

    /// Physical address of the job page.
    pub fn job_page(&self) -> PhysAddr {
        self.job_page
    }

    /// Physical address of the rank's top-level page table.
    pub fn root(&self) -> PhysAddr {
        self.root
    }

    /// Bytes of the page tables that are the rank's own, the top-level one included.
    pub fn page_table_bytes(&self) -> u64 {
        // Relaxed: set before the job is published.
        self.page_table_bytes.load(Ordering::Relaxed)
    }

    /// Notes that, while the rank is being created.
    pub fn set_page_table_bytes(&self, bytes: u64) {
        // Relaxed: publishing the job orders it.
        self.page_table_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Loads the rank's state into this core, and returns the registers to leave the kernel with.
    pub fn resume(&self) -> TrapFrame {
        let private = self.private.lock();
        private.extended.load();
        private.pointers.write();
        // SAFETY: every rank's root has the kernel's half and lives as long as the node; the kernel uses nothing of a lower half by address.
        unsafe { paging::switch_root(self.root) };
        private.frame
    }

    /// Saves this core's floating-point state and thread pointers as the rank's; `frame` is what it continues with.
    pub fn pause(&self, frame: &TrapFrame) {
        let mut private = self.private.lock();
        private.frame = *frame;
        private.extended.save();
        private.pointers = ThreadPointers::read();
    }

    /// Where the rank continues, if it is known and not changing now.
    pub fn waiting_frame(&self) -> Option<TrapFrame> {
        self.private.try_lock().map(|private| private.frame)
    }

    /// Works on what the system keeps for the rank's calls; on the rank's own core, so that nobody is ever waited for.
    pub fn with_process<R>(&self, work: impl FnOnce(&mut Process) -> R) -> R {
        work(&mut self.process.lock())
    }

    /// Adds to an output stream. Whole lines go out at once; the rest waits for its end.
    pub fn print(&self, stream: Stream, bytes: &[u8]) {
        let mut private = self.private.lock();
        let line = &mut private.lines[stream as usize];
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            line.add(self.number, stream, piece);
        }
    }

    /// Sends what waits for the end of its line, as a part of one.
    pub fn flush_lines(&self) {
        let mut private = self.private.lock();
        for stream in [Stream::Out, Stream::Error] {
            private.lines[stream as usize].send_part(self.number, stream);
        }
    }

    /// Whether the rank will never run again.
    pub fn has_ended(&self) -> bool {
        // Acquire: pairs with the release in `mark_ended`.
        self.ended.load(Ordering::Acquire)
    }

    /// Exit status, or nothing if the rank was stopped because of another.
    pub fn status(&self) -> Option<i32> {
        // Relaxed: asked when all ranks have ended, which `Job::rank_ended` orders.
        let status = self.status.load(Ordering::Relaxed);
        (status != NO_STATUS).then_some(status)
    }

    /// The rank has ended with a status. The job may end with it, and then this does not return.
    pub fn end(&self, status: i32) {
        // Relaxed: the release in `mark_ended` publishes it.
        self.status.store(status, Ordering::Relaxed);
        self.mark_ended();
    }

    /// The rank is ended because another one ends the job; it has no status of its own. As [`Rank::end`], this may not return.
    pub fn stop(&self) {
        self.mark_ended();
    }

    fn mark_ended(&self) {
        self.flush_lines();
        // Release: pairs with the acquire in `has_ended`; the memory stays until the whole job ends.
        self.ended.store(true, Ordering::Release);
        self.job.rank_ended();
    }
}

impl Line {
    /// Adds a piece that holds a line feed at most at its end.
    fn add(&mut self, number: usize, stream: Stream, piece: &[u8]) {
        let (text, ends) = match piece.strip_suffix(b"\n") {
            Some(text) => (text, true),
            None => (piece, false),
        };
        for chunk in text.chunks(LINE_BYTES) {
            if self.used + chunk.len() > LINE_BYTES {
                self.send_part(number, stream);
            }
            self.bytes[self.used..self.used + chunk.len()].copy_from_slice(chunk);
            self.used += chunk.len();
        }
        if ends {
            let kind = if stream == Stream::Out { STDOUT } else { STDERR };
            console::record(kind, number, &self.bytes[..self.used]);
            self.used = 0;
        }
    }

    fn send_part(&mut self, number: usize, stream: Stream) {
        if self.used > 0 {
            let kind = if stream == Stream::Out { STDOUT_PART } else { STDERR_PART };
            console::record(kind, number, &self.bytes[..self.used]);
            self.used = 0;
        }
    }
}
