//! What this node gives to the calls of `lwk-personality`: a rank's memory through the kernel's linear map, clocks, the console, files.

use lwk_abi::console::REPORT;
use lwk_abi::syscall::CoreCounters;
use lwk_engine::{Counts, Order};
use lwk_failure::LostNode;
use lwk_files::Files;
use lwk_limic::Queues;
use lwk_mm::address::VirtAddr;
use lwk_mm::heap::{Span, Transfer};
use lwk_mm::layout::Layout;
use lwk_personality::{Answer, Clock, Errno, Facts, Home, Machine, Process, Registers, Stream};

use crate::arch::extended_state::ExtendedState;
use crate::arch::features::features;
use crate::arch::trap_frame::TrapFrame;
use crate::arch::user_state::{self, ThreadPointers};
use crate::arch::{clock, random};
use crate::console;
use crate::core_local::{self, Core};
use crate::files::{self, NodePages};
use crate::job::Job;
use crate::rank::Rank;
use crate::scheduler::Running;
use crate::user_memory::{Readable, UserMemory, Writable};
use crate::user_slice::UserSlice;
use crate::{engine, limic, memory, network};

/// User memory is printed in pieces of this many bytes, copied first: what is printed is what was checked.
const PIECE_BYTES: usize = 512;

/// Between looks whether the job is to end, memory is copied by so many bytes: a millisecond's work in emulation.
const COPIED_AT_A_TIME: usize = 1 << 20;

/// The machine as one rank has it, on the core that runs the rank.
pub struct NodeMachine<'a> {
    core: &'static Core,
    job: &'static Job,
    rank: &'static Rank,
    /// What its program has entered the kernel with.
    frame: &'a TrapFrame,
}

impl<'a> NodeMachine<'a> {
    /// The machine as that rank has it, whose program has entered the kernel with `frame`.
    pub fn of(running: &Running, frame: &'a TrapFrame) -> NodeMachine<'a> {
        let Running { core, job, rank } = *running;
        NodeMachine { core, job, rank, frame }
    }

    /// Pages of the rank's own heap.
    fn heap(&self, span: &Span) -> UserMemory<'_, Writable> {
        let offset = span.start() - self.rank.layout().segment_start;
        self.rank.segment().writable(offset, span.bytes())
    }

    fn readable(&self, address: u64, bytes: u64) -> Result<UserMemory<'_, Readable>, Errno> {
        UserSlice::new(address, bytes).readable(self.job, self.rank)
    }

    fn writable(&self, address: u64, bytes: u64) -> Result<UserMemory<'_, Writable>, Errno> {
        UserSlice::new(address, bytes).writable(self.job, self.rank)
    }
}

impl Machine for NodeMachine<'_> {
    type Pages = NodePages;

    fn layout(&self) -> &Layout {
        self.rank.layout()
    }

    fn facts(&self) -> Facts {
        let memory = memory::in_use();
        Facts {
            rank: self.rank.number() as u32,
            core: self.core.index() as u32,
            memory_node: self.rank.memory_node() as u32,
            cores: core_local::count() as u32,
            memory_bytes: memory.total,
            free_bytes: memory.free,
            ticks_a_second: clock::ticks_a_second(),
        }
    }

    fn program_name(&self) -> &[u8] {
        self.job.program_name()
    }

    fn check_readable(&self, address: u64, bytes: u64) -> Result<(), Errno> {
        self.readable(address, bytes).map(|_| ())
    }

    fn check_writable(&self, address: u64, bytes: u64) -> Result<(), Errno> {
        self.writable(address, bytes).map(|_| ())
    }

    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Errno> {
        self.readable(address, into.len() as u64)?.copy_to(into);
        Ok(())
    }

    fn write(&self, address: u64, from: &[u8]) -> Result<(), Errno> {
        self.writable(address, from.len() as u64)?.copy_from(from);
        Ok(())
    }

    fn tell(&self, address: u64, word: u64) -> Result<(), Errno> {
        self.writable(address, 8)?.publish(word);
        Ok(())
    }

    fn copy_pages(&self, transfer: Transfer) {
        let from = transfer.from().start() - self.rank.layout().segment_start;
        let source = self.rank.segment().readable(from, transfer.from().bytes());
        self.heap(&transfer.to()).copy_from_user(source);
    }

    fn granted(&self, _start: u64, _end: u64) {}

    fn clear_pages(&self, span: Span) {
        self.heap(&span).clear();
    }

    fn print(&self, stream: Stream, address: u64, bytes: u64) -> Answer {
        let memory = self.readable(address, bytes)?;
        let mut buffer = [0; PIECE_BYTES];
        for offset in (0..memory.bytes()).step_by(PIECE_BYTES) {
            // Interrupts are off, and the console is slow: gigabytes would keep a job from ending for hours.
            if self.job.is_stopping() {
                return Ok(offset as u64);
            }
            let piece = memory.piece(offset, PIECE_BYTES);
            let text = &mut buffer[..piece.bytes()];
            piece.copy_to(text);
            self.rank.print(stream, text);
        }
        Ok(memory.bytes() as u64)
    }

    fn print_own(&self, stream: Stream, bytes: &[u8]) -> Answer {
        // As above: what is sent from a file comes in many pieces.
        if self.job.is_stopping() {
            return Ok(0);
        }
        self.rank.print(stream, bytes);
        Ok(bytes.len() as u64)
    }

    /// A rank has its core to itself, so its processor time is the time since boot.
    fn clock(&self, which: Clock) -> u64 {
        let now = self.core.node_ticks();
        match which {
            Clock::Real => {
                let (base, base_ticks) = clock::wall_base();
                base + clock::nanoseconds(now.saturating_sub(base_ticks))
            }
            Clock::Monotonic | Clock::Processor => clock::nanoseconds(now),
        }
    }

    fn random(&self, into: &mut [u8]) -> bool {
        into.chunks_mut(8).all(|chunk| {
            let word = random::random().map(u64::to_le_bytes);
            word.is_some_and(|bytes| {
                chunk.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
                true
            })
        })
    }

    fn thread_base(&self, gs: bool) -> u64 {
        let pointers = ThreadPointers::read();
        if gs { pointers.gs() } else { pointers.fs() }
    }

    fn set_thread_base(&self, gs: bool, address: u64) {
        let base = VirtAddr::new_truncate(address);
        if gs { user_state::set_gs(base) } else { user_state::set_fs(base) }
    }

    fn stack_pointer(&self) -> u64 {
        self.frame.stack_pointer()
    }

    fn float_bytes(&self) -> u64 {
        features().state_bytes as u64
    }

    fn save_float(&self, address: u64) -> Result<(), Errno> {
        let mut state = ExtendedState::empty();
        state.save();
        self.write(address, state.bytes())
    }

    fn load_float(&self, address: u64) -> Result<(), Errno> {
        let mut state = ExtendedState::empty();
        state.reset();
        if address != 0 {
            state.fill(|bytes| self.read(address, bytes))?;
        }
        state.load();
        Ok(())
    }

    fn can_fence_ranks(&self) -> bool {
        true
    }

    fn fence_ranks(&self) {
        self.job.fence_cores(self.core);
    }

    /// The core is the rank's own; ranks that share it get their turn when the call is made again.
    fn idle(&self, _nanoseconds: u64) {
        core::hint::spin_loop();
    }

    fn files<R>(&self, work: impl FnOnce(&mut Files<'_, NodePages>) -> Result<R, Errno>) -> Result<R, Errno> {
        files::with(work)
    }

    fn count_unsupported(&self, number: u64) {
        super::unsupported::count(number);
    }
}

impl Home for NodeMachine<'_> {
    fn registers(&self) -> Registers {
        self.frame.to_linux(0)
    }

    fn node_rank(&self) -> u32 {
        self.rank.number() as u32
    }

    fn copy_memory(&self, to: u64, from: u64, bytes: u64) -> Answer {
        let (from, to) = (self.readable(from, bytes)?, self.writable(to, bytes)?);
        for offset in (0..from.bytes()).step_by(COPIED_AT_A_TIME) {
            // Interrupts are off: as with printing.
            if self.job.is_stopping() {
                return Ok(offset as u64);
            }
            to.piece(offset, COPIED_AT_A_TIME).copy_from_user(from.piece(offset, COPIED_AT_A_TIME));
        }
        Ok(bytes)
    }

    fn limic(&self, work: &mut dyn FnMut(&mut Queues<'_>)) -> Result<(), Errno> {
        limic::with(self.job.size() as u32, work)
    }

    fn workers(&self) -> u32 {
        engine::workers()
    }

    fn order(&self, order: &Order) {
        engine::order(self.job, order);
    }

    fn look_after_engine(&self) -> u64 {
        engine::look(self.job)
    }

    fn engine_counts(&self) -> Counts {
        engine::counts()
    }

    fn engine_fault(&self, after: u64, fault: u64) -> Answer {
        engine::fail(self.job, after, fault)
    }

    fn core_counters(&self) -> Option<CoreCounters> {
        self.core.counters.take_smis();
        Some(self.core.counters.summary())
    }

    fn report(&self, text: &str) {
        console::record_text(REPORT, 0, format_args!("runtime-{text}"));
    }

    fn lost_node(&self) -> Option<LostNode> {
        network::lost_node(self.core)
    }

    /// A node has no network yet: unknown calls are counted.
    fn portals(&self, call: lwk_portals::Call) -> Option<Answer> {
        let running = Running { core: self.core, job: self.job, rank: self.rank };
        let answer = network::call(&running, call)?;
        // Its numbers for errors are its own.
        Some(u64::try_from(answer).map_err(|_| Errno(-answer)))
    }

    /// The node's files are all there are.
    fn files_elsewhere(&self, _process: &mut Process, _number: u64, _arguments: [u64; 6]) -> Option<Answer> {
        None
    }
}
