//! A rank, its node, and a program that makes calls.

use std::cell::{Cell, RefCell};

use lwk_abi::address::{PAGE_BYTES, SEGMENT_START, SLOT_BYTES, slot_of};
use lwk_abi::syscall::CoreCounters;
use lwk_abi::syscall::errno::EFAULT;
use lwk_engine::Order;
use lwk_failure::LostNode;
use lwk_files::{Errno, Files, PAGE_BYTES as FILE_PAGE_BYTES, Page, Pages};
use lwk_limic::Queues;
use lwk_mm::Access;
use lwk_mm::heap::{Span, Transfer};
use lwk_mm::layout::{ImageRange, Layout, Readable};
use lwk_personality::{
    Answer, Call, Clock, Facts, Home, Machine, Outcome, Process, Registers, Stream, Waiting, answer,
    linux_call,
};

/// Bytes of the rank's segment.
pub const SEGMENT_BYTES: u64 = 2 << 20;
/// Pages of the node's files.
const FILE_PAGES_MAX: usize = 64;
/// Rank and core on the node.
pub const RANK: u32 = 2;
pub const CORE: u32 = 3;
/// The memory node of the core.
pub const MEMORY_NODE: u32 = 2;
/// Bytes of the extended state.
const FLOAT_BYTES: u64 = 64;

/// The pages of the node's files.
pub struct Memory(Vec<Page>);

impl Pages for Memory {
    fn count(&self) -> u32 {
        self.0.len() as u32
    }

    fn limit(&self) -> u32 {
        FILE_PAGES_MAX as u32
    }

    fn grow(&mut self) -> bool {
        let grows = self.0.len() < FILE_PAGES_MAX;
        if grows {
            self.0.push([0; FILE_PAGE_BYTES]);
        }
        grows
    }

    fn page(&self, index: u32) -> &Page {
        &self.0[index as usize]
    }

    fn page_mut(&mut self, index: u32) -> &mut Page {
        &mut self.0[index as usize]
    }
}

/// The node, as its one rank has it.
pub struct Node {
    layout: Layout,
    memory: RefCell<Vec<u8>>,
    files: RefCell<Memory>,
    /// Nanoseconds; real time runs a thousand seconds ahead of the others.
    pub now: Cell<u64>,
    pub printed: RefCell<Vec<(Stream, Vec<u8>)>>,
    pub thread_bases: Cell<[u64; 2]>,
    pub has_random: Cell<bool>,
    /// Made on all cores; none if that cannot be done.
    pub fences: Cell<Option<u64>>,
    pub stack_pointer: Cell<u64>,
    pub unsupported: RefCell<Vec<u64>>,
    /// What the program has entered with.
    pub registers: Cell<Registers>,
    pub counts: Cell<Option<CoreCounters>>,
    pub lost: Cell<Option<LostNode>>,
    pub reports: RefCell<Vec<String>>,
    limic: RefCell<Vec<u64>>,
    pub workers: Cell<u32>,
    /// Copies that wait for the workers.
    pub orders: RefCell<Vec<Order>>,
}

/// By how much real time is ahead, in nanoseconds.
pub const EPOCH: u64 = 1_000_000_000_000;

impl Node {
    fn new() -> Node {
        let image = |start, end, access| ImageRange {
            start: SEGMENT_START + start,
            end: SEGMENT_START + end,
            access,
        };
        let image = [image(0, PAGE_BYTES, Access::RX), image(PAGE_BYTES, 3 * PAGE_BYTES, Access::RW)];
        let layout = Layout::new(&image, SEGMENT_BYTES).expect("a small program in two megabytes");
        let mut files = Memory(Vec::new());
        Files::format(&mut files).expect("an empty file system");
        Node {
            stack_pointer: Cell::new(layout.stack_end - 256),
            layout,
            memory: RefCell::new(vec![0; SEGMENT_BYTES as usize]),
            files: RefCell::new(files),
            now: Cell::new(5_000_000_123),
            printed: RefCell::default(),
            thread_bases: Cell::default(),
            has_random: Cell::new(true),
            fences: Cell::new(Some(0)),
            unsupported: RefCell::default(),
            registers: Cell::default(),
            counts: Cell::default(),
            lost: Cell::default(),
            reports: RefCell::default(),
            limic: RefCell::new(vec![0; Queues::words_for(RANK + 1)]),
            workers: Cell::default(),
            orders: RefCell::default(),
        }
    }

    fn offset(&self, address: u64, bytes: u64, needed: Access) -> Result<usize, Errno> {
        self.layout
            .check(local(address), bytes, needed)
            .map(|offset| offset as usize)
            .map_err(|_| Errno(EFAULT))
    }
}

/// The rank sees itself in its own slot, too; it has no peers.
fn local(address: u64) -> u64 {
    if slot_of(address) == u64::from(RANK) + 1 { address % SLOT_BYTES } else { address }
}

impl Machine for Node {
    type Pages = Memory;

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn facts(&self) -> Facts {
        Facts {
            rank: RANK,
            core: CORE,
            memory_node: MEMORY_NODE,
            cores: 4,
            memory_bytes: 1 << 30,
            free_bytes: 1 << 29,
            ticks_a_second: 2_000_000_000,
        }
    }

    fn program_name(&self) -> &[u8] {
        b"/program"
    }

    fn check_readable(&self, address: u64, bytes: u64) -> Result<(), Errno> {
        match self.layout.check_read(local(address), bytes) {
            Ok(Readable::Segment(_)) => Ok(()),
            _ => Err(Errno(EFAULT)),
        }
    }

    fn check_writable(&self, address: u64, bytes: u64) -> Result<(), Errno> {
        self.offset(address, bytes, Access::RW).map(|_| ())
    }

    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Errno> {
        let at = self.offset(address, into.len() as u64, Access::R)?;
        into.copy_from_slice(&self.memory.borrow()[at..at + into.len()]);
        Ok(())
    }

    fn write(&self, address: u64, from: &[u8]) -> Result<(), Errno> {
        let at = self.offset(address, from.len() as u64, Access::RW)?;
        self.memory.borrow_mut()[at..at + from.len()].copy_from_slice(from);
        Ok(())
    }

    fn tell(&self, address: u64, word: u64) -> Result<(), Errno> {
        assert!(address.is_multiple_of(8), "an aligned word");
        self.write(address, &word.to_le_bytes())
    }

    fn copy_pages(&self, transfer: Transfer) {
        let mut piece = vec![0; transfer.from().bytes() as usize];
        self.read(transfer.from().start(), &mut piece).expect("pages of the heap");
        self.write(transfer.to().start(), &piece).expect("pages of the heap");
    }

    fn granted(&self, _start: u64, _end: u64) {}

    fn clear_pages(&self, span: Span) {
        self.write(span.start(), &vec![0; span.bytes() as usize]).expect("pages of the heap");
    }

    fn print(&self, stream: Stream, address: u64, bytes: u64) -> Answer {
        let mut text = vec![0; bytes as usize];
        self.read(address, &mut text)?;
        self.printed.borrow_mut().push((stream, text));
        Ok(bytes)
    }

    fn print_own(&self, stream: Stream, bytes: &[u8]) -> Answer {
        self.printed.borrow_mut().push((stream, bytes.to_vec()));
        Ok(bytes.len() as u64)
    }

    fn clock(&self, clock: Clock) -> u64 {
        match clock {
            Clock::Real => self.now.get() + EPOCH,
            Clock::Monotonic | Clock::Processor => self.now.get(),
        }
    }

    fn random(&self, into: &mut [u8]) -> bool {
        into.fill(0x5a);
        self.has_random.get()
    }

    fn thread_base(&self, gs: bool) -> u64 {
        self.thread_bases.get()[usize::from(gs)]
    }

    fn set_thread_base(&self, gs: bool, address: u64) {
        let mut bases = self.thread_bases.get();
        bases[usize::from(gs)] = address;
        self.thread_bases.set(bases);
    }

    fn stack_pointer(&self) -> u64 {
        self.stack_pointer.get()
    }

    fn float_bytes(&self) -> u64 {
        FLOAT_BYTES
    }

    fn save_float(&self, address: u64) -> Result<(), Errno> {
        self.write(address, &[0x77; FLOAT_BYTES as usize])
    }

    fn load_float(&self, address: u64) -> Result<(), Errno> {
        if address == 0 { Ok(()) } else { self.read(address, &mut [0; FLOAT_BYTES as usize]) }
    }

    fn can_fence_ranks(&self) -> bool {
        self.fences.get().is_some()
    }

    fn fence_ranks(&self) {
        self.fences.set(self.fences.get().map(|fences| fences + 1));
    }

    fn idle(&self, _nanoseconds: u64) {}

    fn files<R>(&self, work: impl FnOnce(&mut Files<'_, Memory>) -> Result<R, Errno>) -> Result<R, Errno> {
        work(&mut Files::open(&mut *self.files.borrow_mut())?)
    }

    fn count_unsupported(&self, number: u64) {
        self.unsupported.borrow_mut().push(number);
    }
}

impl Home for Node {
    fn registers(&self) -> Registers {
        self.registers.get()
    }

    fn node_rank(&self) -> u32 {
        RANK
    }

    fn copy_memory(&self, to: u64, from: u64, bytes: u64) -> Answer {
        let mut content = vec![0; bytes as usize];
        self.read(from, &mut content)?;
        self.write(to, &content)?;
        Ok(bytes)
    }

    fn limic(&self, work: &mut dyn FnMut(&mut Queues<'_>)) -> Result<(), Errno> {
        let mut memory = self.limic.borrow_mut();
        work(&mut Queues::of(&mut memory, RANK + 1).ok_or(Errno(EFAULT))?);
        Ok(())
    }

    fn workers(&self) -> u32 {
        self.workers.get()
    }

    fn order(&self, order: &Order) {
        self.orders.borrow_mut().push(*order);
    }

    fn look_after_engine(&self) -> u64 {
        self.orders.borrow().len() as u64
    }

    fn engine_counts(&self) -> lwk_engine::Counts {
        lwk_engine::Counts { copied: 1, declined: 2, rescued: 3, halts: 4, lost: 5, descriptors: 6, bytes: 7 }
    }

    fn engine_fault(&self, after: u64, fault: u64) -> Answer {
        if (after, fault) == (7, 2) { Ok(0) } else { Err(Errno(EFAULT)) }
    }

    fn core_counters(&self) -> Option<CoreCounters> {
        self.counts.get()
    }

    fn report(&self, text: &str) {
        self.reports.borrow_mut().push(text.into());
    }

    fn lost_node(&self) -> Option<LostNode> {
        self.lost.get()
    }

    fn portals(&self, _call: lwk_portals::Call) -> Option<Answer> {
        None
    }

    fn files_elsewhere(&self, _process: &mut Process, _number: u64, _arguments: [u64; 6]) -> Option<Answer> {
        None
    }
}

/// A program: it puts its arguments one behind the other into its variables, and makes calls.
pub struct Program {
    pub node: Node,
    pub process: Process,
    next: u64,
}

impl Program {
    pub fn new() -> Program {
        let node = Node::new();
        let process = Process::new(&node.layout);
        Program { process, next: SEGMENT_START + PAGE_BYTES, node }
    }

    /// What becomes of a call. Signals that one of Linux's has raised still wait: [`Program::whole`] sees to them.
    pub fn once(&mut self, number: u64, arguments: &[u64]) -> Outcome {
        let mut all = [0; 6];
        all[..arguments.len()].copy_from_slice(arguments);
        match Call::new(number, all) {
            Call::Linux { number, arguments } => {
                match linux_call(&mut self.process, &self.node, number, arguments) {
                    Waiting::Done(answer) => Outcome::Done(answer),
                    Waiting::Again => Outcome::Again,
                }
            }
            call => answer(&mut self.process, &self.node, call),
        }
    }

    /// What becomes of a call and of the signals that it has raised.
    pub fn whole(&mut self, number: u64, arguments: &[u64]) -> Outcome {
        let mut all = [0; 6];
        all[..arguments.len()].copy_from_slice(arguments);
        answer(&mut self.process, &self.node, Call::new(number, all))
    }

    /// The answer of a call that does not wait.
    pub fn call(&mut self, number: u64, arguments: &[u64]) -> Answer {
        match self.once(number, arguments) {
            Outcome::Done(answer) => answer,
            other => panic!("call {number} comes to {other:?}"),
        }
    }

    /// Puts bytes into the program's memory, aligned to eight.
    pub fn put(&mut self, bytes: &[u8]) -> u64 {
        let address = self.next;
        self.next = (address + bytes.len() as u64).next_multiple_of(8);
        assert!(self.next <= SEGMENT_START + 3 * PAGE_BYTES, "the variables have room");
        self.node.write(address, bytes).expect("a variable");
        address
    }

    pub fn put_words(&mut self, words: &[u64]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.put(&bytes)
    }

    /// A path, with its NUL.
    pub fn path(&mut self, path: &str) -> u64 {
        self.put(format!("{path}\0").as_bytes())
    }

    /// So many bytes of memory.
    pub fn get(&self, address: u64, bytes: usize) -> Vec<u8> {
        let mut found = vec![0; bytes];
        self.node.read(address, &mut found).expect("the program's own memory");
        found
    }

    pub fn word(&self, address: u64) -> u64 {
        u64::from_le_bytes(self.get(address, 8).try_into().expect("eight bytes"))
    }
}

/// The error, as calls answer it.
pub fn error(number: i64) -> Answer {
    Err(Errno(number))
}

/// An address that no rank has.
pub const NOWHERE: u64 = 16;
