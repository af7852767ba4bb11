//! A rank: one program with its segment, its page tables, and what the kernel must remember while it does not run.

use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use lwk_abi::console::{LINE_BYTES, STDERR, STDERR_PART, STDOUT, STDOUT_PART};
use lwk_mm::layout::Layout;
use lwk_personality::{Process, Stream};

use crate::address_space::AddressSpace;
use crate::arch::extended_state::ExtendedState;
use crate::arch::trap_frame::TrapFrame;
use crate::arch::user_state::ThreadPointers;
use crate::console;
use crate::user_memory::SharedFrames;

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
    number: usize,
    core: usize,
    layout: Layout,
    segment: SharedFrames,
    memory_node: usize,
    segment_node: usize,
    job_page: SharedFrames,
    space: AddressSpace,
    /// Where the program's stack starts, below arguments and environment.
    stack: u64,
    ended: AtomicBool,
    status: AtomicI32,
    /// Locked by the rank's own core only, so never waited for; a non-maskable interrupt tries and does without.
    private: spin::Mutex<Private>,
    /// What the system keeps for its calls. Locked by the rank's own core only.
    process: &'static spin::Mutex<Process>,
}

/// What a rank is made of.
pub struct Parts {
    /// Rank in the job, from 0.
    pub number: usize,
    /// Index of the core it is pinned to.
    pub core: usize,
    pub layout: Layout,
    /// The segment, of `layout.segment_bytes`.
    pub segment: SharedFrames,
    /// Memory node of its core, and of the segment; 0 where the firmware tells of none.
    pub memory_node: usize,
    pub segment_node: usize,
    /// The frame of the job page.
    pub job_page: SharedFrames,
    /// What maps both, and the peers.
    pub space: AddressSpace,
    /// Where the program starts, and its stack pointer then.
    pub entry: u64,
    pub stack: u64,
    pub process: &'static spin::Mutex<Process>,
}

impl Rank {
    /// A rank that has not run.
    pub fn new(parts: Parts) -> Rank {
        let Parts {
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
        } = parts;
        const EMPTY: Line = Line { bytes: [0; LINE_BYTES], used: 0 };
        let mut extended = ExtendedState::empty();
        extended.reset();
        Rank {
            number,
            core,
            layout,
            segment,
            memory_node,
            segment_node,
            job_page,
            space,
            stack,
            ended: AtomicBool::new(false),
            status: AtomicI32::new(NO_STATUS),
            private: spin::Mutex::new(Private {
                frame: TrapFrame::start_of_program(entry, stack),
                pointers: ThreadPointers::default(),
                extended,
                lines: [EMPTY; 2],
            }),
            process,
        }
    }

    /// Where the program's stack starts, below arguments and environment.
    pub fn initial_stack_pointer(&self) -> u64 {
        self.stack
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

    /// The segment: its first byte is the layout's `segment_start` to the program.
    pub fn segment(&self) -> &SharedFrames {
        &self.segment
    }

    /// Memory node of the rank's core.
    pub fn memory_node(&self) -> usize {
        self.memory_node
    }

    /// Memory node of its segment's first byte.
    pub fn segment_node(&self) -> usize {
        self.segment_node
    }

    /// The frame of the job page.
    pub fn job_page(&self) -> &SharedFrames {
        &self.job_page
    }

    /// The rank's address space.
    pub fn space(&self) -> &AddressSpace {
        &self.space
    }

    /// Loads the rank's state into this core, and returns the registers to leave the kernel with.
    pub fn resume(&self) -> TrapFrame {
        let private = self.private.lock();
        private.extended.load();
        private.pointers.write();
        self.space.activate();
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
        // Relaxed: asked when all ranks have ended, which the job's count of them orders.
        let status = self.status.load(Ordering::Relaxed);
        (status != NO_STATUS).then_some(status)
    }

    /// The rank will never run again. It has a status of its own unless it is ended because of another.
    pub fn mark_ended(&self, status: Option<i32>) {
        // Relaxed: the release below publishes it.
        self.status.store(status.unwrap_or(NO_STATUS), Ordering::Relaxed);
        self.flush_lines();
        // Release: pairs with the acquire in `has_ended`; the memory stays until the whole job ends.
        self.ended.store(true, Ordering::Release);
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
