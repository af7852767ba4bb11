//! Nodes with ranks that have memory, wires between them, and a program's side of the contract.
#![allow(dead_code)]

use std::collections::{HashMap, VecDeque};

use bytemuck::allocation::zeroed_box;
use fastrand::Rng;
use lwk_abi::portals::{self as abi, EntryOptions, Event, InterfaceOptions, NONE, TableOptions};
use lwk_abi::syscall::portals as call;
use lwk_frames::{HEAD_BYTES, Identity, NodeId, checksum};
use lwk_portals::{Call, HomeCounts, Memory, Nic, Node, Settings, Span};

pub const JOB: u64 = 7;
/// Memory of a rank begins here; below is nothing.
pub const BASE: u64 = 0x10_0000;
/// From here on it is read-only.
pub const CONSTANTS: u64 = BASE + (2 << 20);
pub const END: u64 = CONSTANTS + 4096;

pub struct World {
    pub memory: Vec<Vec<Vec<u8>>>,
    pub wires: Vec<VecDeque<Vec<u8>>>,
    pub now: u64,
    pub rng: Rng,
    /// Frames lost, in parts of a thousand.
    pub lost: u32,
    /// Nodes that hear and say nothing.
    pub dead: Vec<bool>,
    /// Of all nodes together.
    pub counts: HomeCounts,
    /// Frames whose payload could be placed before they are looked at: every second one is.
    pub placeable: u64,
    /// What ranks add by instructions of their own, one after another, just before an atomic operation on a word replaces it.
    pub added_between: Vec<u64>,
}

pub struct Home<'a> {
    pub world: &'a mut World,
    pub node: usize,
}

impl Home<'_> {
    fn range(span: &Span) -> std::ops::Range<usize> {
        let start = (span.start() - BASE) as usize;
        start..start + span.bytes() as usize
    }
}

impl Memory for Home<'_> {
    fn check(&self, rank: u32, address: u64, bytes: u64, writable: bool) -> bool {
        let end = if writable { CONSTANTS } else { END };
        (rank as usize) < self.world.memory[self.node].len()
            && address >= BASE
            && address.checked_add(bytes).is_some_and(|it| it <= end)
    }

    fn read(&self, from: &Span, into: &mut [u8]) {
        into.copy_from_slice(&self.world.memory[self.node][from.rank() as usize][Self::range(from)]);
    }

    fn write(&mut self, to: &Span, from: &[u8]) {
        assert!(to.start() + to.bytes() <= CONSTANTS);
        self.world.counts.written += to.bytes();
        self.world.memory[self.node][to.rank() as usize][Self::range(to)].copy_from_slice(from);
    }

    fn copy(&mut self, to: &Span, from: &Span) {
        let mut bytes = vec![0; from.bytes() as usize];
        self.read(from, &mut bytes);
        self.write(to, &bytes);
    }

    fn compare_exchange(&mut self, at: &Span, old: u64, new: u64) -> u64 {
        let mut word = [0; 8];
        let bytes = at.bytes() as usize;
        self.read(at, &mut word[..bytes]);
        let added = self.world.added_between.pop().unwrap_or(0);
        let seen = u64::from_ne_bytes(word).wrapping_add(added);
        let left = if seen == old { new } else { seen };
        self.write(at, &left.to_ne_bytes()[..bytes]);
        seen
    }

    fn publish(&mut self, to: &Span, word: u64) {
        let range = Self::range(to);
        self.world.memory[self.node][to.rank() as usize][range].copy_from_slice(&word.to_ne_bytes());
    }

    fn checksum(&self, seed: u32, from: &Span) -> u32 {
        checksum::append(seed, &self.world.memory[self.node][from.rank() as usize][Self::range(from)])
    }
}

impl Nic for Home<'_> {
    fn send(&mut self, to: NodeId, head: &[u8], middle: &[u8], body: &[Span]) -> bool {
        let mut frame = [head, middle].concat();
        for body in body {
            frame.extend_from_slice(&self.world.memory[self.node][body.rank() as usize][Self::range(body)]);
        }
        let gone = self.world.dead[self.node]
            || self.world.dead[usize::from(to.0)]
            || self.world.rng.u32(0..1000) < self.world.lost;
        if !gone {
            self.world.wires[usize::from(to.0)].push_back(frame);
        }
        self.world.counts.copied_to_send += (head.len() + middle.len()) as u64;
        self.world.counts.frames_sent += 1;
        true
    }

    fn counts(&self) -> HomeCounts {
        self.world.counts
    }
}

pub struct Cluster {
    pub world: World,
    pub nodes: Vec<Box<Node>>,
    per_node: u32,
    /// Next free byte of each rank.
    free: HashMap<u32, u64>,
    /// Events taken of each queue, by rank and handle, and where its ring is.
    queues: HashMap<(u32, u32), (u64, u64, u64)>,
}

impl Cluster {
    pub fn new(nodes: u16, per_node: u32) -> Cluster {
        Cluster::with_loops(nodes, per_node, false)
    }

    /// The same; `loops`: one node that is its own peer.
    pub fn with_loops(nodes: u16, per_node: u32, loops: bool) -> Cluster {
        let world = World {
            memory: vec![vec![vec![0; (END - BASE) as usize]; per_node as usize]; nodes.into()],
            wires: vec![VecDeque::new(); nodes.into()],
            now: 1_000,
            rng: Rng::with_seed(1),
            lost: 0,
            dead: vec![false; nodes.into()],
            counts: HomeCounts::default(),
            placeable: 0,
            added_between: Vec::new(),
        };
        let start = |node: u16| {
            let mut it: Box<Node> = zeroed_box();
            let identity = Identity { node: NodeId(node), nodes, job: JOB, epoch: 1, frame_bytes: 1514 };
            it.start(&Settings { identity, size: u32::from(nodes) * per_node, loops });
            it
        };
        Cluster {
            world,
            nodes: (0..nodes).map(start).collect(),
            per_node,
            free: HashMap::new(),
            queues: HashMap::new(),
        }
    }

    /// A node begins anew, with nothing of what it was.
    pub fn restart(&mut self, node: u16) {
        let nodes = self.nodes.len() as u16;
        let identity = Identity { node: NodeId(node), nodes, job: JOB, epoch: 1_000_000, frame_bytes: 1514 };
        let mut it: Box<Node> = zeroed_box();
        it.start(&Settings { identity, size: u32::from(nodes) * self.per_node, loops: false });
        self.nodes[usize::from(node)] = it;
        self.world.wires[usize::from(node)].clear();
    }

    /// A rank of a node waits: the node that is lost then.
    pub fn watch(&mut self, node: usize) -> Option<lwk_frames::Lost> {
        let now = self.world.now;
        self.nodes[node].watch(now, &mut Home { world: &mut self.world, node })
    }

    /// A call of a rank of the job.
    pub fn call(&mut self, rank: u32, number: u64, [a, b, c, d, ..]: [u64; 6]) -> Result<u32, u32> {
        let call = Call::new(number, [a, b, c, d]).expect("a call of Portals'");
        let node = (rank / self.per_node) as usize;
        let now = self.world.now;
        let home = &mut Home { world: &mut self.world, node };
        let answer = self.nodes[node].call(home, rank % self.per_node, call, now);
        u32::try_from(answer).map_err(|_| (-answer - abi::ERROR_BASE) as u32)
    }

    /// Goes on until nothing is on the way, or a time has come.
    pub fn settle_until(&mut self, end: u64) {
        loop {
            let mut moved = false;
            for node in 0..self.nodes.len() {
                let frames = std::mem::take(&mut self.world.wires[node]);
                moved |= !frames.is_empty();
                let now = self.world.now;
                let home = &mut Home { world: &mut self.world, node };
                for frame in frames {
                    receive(&mut self.nodes[node], &frame, now, home);
                }
                self.nodes[node].work(now, home);
            }
            if !moved {
                let deadline = self.nodes.iter().filter_map(|node| node.deadline(self.world.now)).min();
                let Some(next) = deadline.filter(|next| *next <= end) else { return };
                self.world.now = next.max(self.world.now + 1);
            } else {
                self.world.now += 5;
            }
        }
    }

    pub fn settle(&mut self) {
        self.settle_until(u64::MAX);
    }

    /// Memory of a rank's own.
    pub fn allocate(&mut self, rank: u32, bytes: u64) -> u64 {
        let free = self.free.entry(rank).or_insert(BASE);
        let address = free.next_multiple_of(64);
        *free = address + bytes;
        assert!(*free <= CONSTANTS, "a test needs more memory");
        address
    }

    pub fn bytes(&mut self, rank: u32, address: u64, bytes: u64) -> &mut [u8] {
        let (node, local) = (rank / self.per_node, rank % self.per_node);
        let start = (address - BASE) as usize;
        &mut self.world.memory[node as usize][local as usize][start..start + bytes as usize]
    }

    pub fn word(&mut self, rank: u32, address: u64) -> u64 {
        u64::from_ne_bytes(self.bytes(rank, address, 8).try_into().unwrap())
    }

    /// Puts a structure of the contract into a rank's memory, and forgets it with the next.
    pub fn place<T: Copy>(&mut self, rank: u32, value: &T) -> u64 {
        let bytes = size_of::<T>();
        // SAFETY: a structure of the contract is made of numbers with no bytes between them.
        let from = unsafe { std::slice::from_raw_parts((&raw const *value).cast::<u8>(), bytes) };
        let address = CONSTANTS - 1024;
        self.bytes(rank, address, bytes as u64).copy_from_slice(from);
        address
    }

    pub fn interface(&mut self, rank: u32, options: InterfaceOptions) -> u32 {
        self.call(rank, call::INTERFACE_OPEN, [options.bits().into(), 0, 0, 0, 0, 0]).unwrap()
    }

    pub fn queue(&mut self, rank: u32, interface: u32, size: u64) -> u32 {
        let ring = self.allocate(rank, abi::QUEUE_EVENTS + size * size_of::<Event>() as u64);
        let queue = self.call(rank, call::QUEUE_ALLOCATE, [interface.into(), ring, size, 0, 0, 0]).unwrap();
        self.queues.insert((rank, queue), (0, ring, size));
        queue
    }

    /// The next event of a queue.
    pub fn event(&mut self, rank: u32, queue: u32) -> Option<Event> {
        let (taken, ring, size) = self.queues[&(rank, queue)];
        let at = ring + abi::QUEUE_EVENTS + taken % size * size_of::<Event>() as u64;
        if self.word(rank, at) != taken + 1 {
            return None;
        }
        let bytes = self.bytes(rank, at, size_of::<Event>() as u64).to_vec();
        // SAFETY: an event is made of numbers, for which any bytes will do.
        let event = unsafe { bytes.as_ptr().cast::<Event>().read_unaligned() };
        self.queues.insert((rank, queue), (taken + 1, ring, size));
        let taken = (taken + 1).to_ne_bytes();
        self.bytes(rank, ring + abi::QUEUE_TAKEN, 8).copy_from_slice(&taken);
        Some(event)
    }

    /// All events that are there: kind and failure.
    pub fn events(&mut self, rank: u32, queue: u32) -> Vec<Event> {
        std::iter::from_fn(|| self.event(rank, queue)).collect()
    }

    pub fn kinds(&mut self, rank: u32, queue: u32) -> Vec<u32> {
        self.events(rank, queue).iter().map(|event| event.kind).collect()
    }

    pub fn counter(&mut self, rank: u32, interface: u32) -> (u32, u64) {
        let words = self.allocate(rank, 16);
        let counter = self.call(rank, call::COUNTER_ALLOCATE, [interface.into(), words, 0, 0, 0, 0]).unwrap();
        (counter, words)
    }

    pub fn table(
        &mut self,
        rank: u32,
        interface: u32,
        options: TableOptions,
        queue: u32,
        index: u32,
    ) -> Result<u32, u32> {
        let arguments = [interface, options.bits(), queue, index].map(u64::from);
        let [a, b, c, d] = arguments;
        self.call(rank, call::TABLE_ALLOCATE, [a, b, c, d, 0, 0])
    }

    pub fn bind(&mut self, rank: u32, interface: u32, descriptor: &abi::Descriptor) -> Result<u32, u32> {
        let address = self.place(rank, descriptor);
        self.call(rank, call::DESCRIPTOR_BIND, [interface.into(), address, 0, 0, 0, 0])
    }

    pub fn append(
        &mut self,
        rank: u32,
        interface: u32,
        table: u32,
        entry: &abi::Entry,
        list: u32,
    ) -> Result<u32, u32> {
        let address = self.place(rank, entry);
        self.call(rank, call::ENTRY_APPEND, [interface.into(), table.into(), address, list.into(), 0, 0])
    }

    pub fn search(
        &mut self,
        rank: u32,
        interface: u32,
        table: u32,
        entry: &abi::Entry,
        what: u32,
    ) -> Result<u32, u32> {
        let address = self.place(rank, entry);
        self.call(rank, call::ENTRY_SEARCH, [interface.into(), table.into(), address, what.into(), 0, 0])
    }

    pub fn operate(&mut self, rank: u32, interface: u32, operation: &abi::Operation) -> Result<u32, u32> {
        let address = self.place(rank, operation);
        self.call(rank, call::OPERATE, [interface.into(), address, 0, 0, 0, 0])
    }
}

/// A node takes a frame, either way.
fn receive(node: &mut Node, frame: &[u8], now: u64, home: &mut Home<'_>) {
    if let Some((head, payload)) = frame.split_first_chunk::<HEAD_BYTES>()
        && node.is_in_the_middle()
    {
        let mut spans = Vec::new();
        if node.place_of(head, payload.len(), |span| spans.push(*span)) {
            home.world.placeable += 1;
            if home.world.placeable.is_multiple_of(2) {
                let mut rest = payload;
                for span in spans {
                    let (here, after) = rest.split_at(span.bytes() as usize);
                    home.write(&span, here);
                    rest = after;
                }
                assert!(rest.is_empty(), "all of the payload has a place");
                return node.receive_placed(head, payload.len(), now, home);
            }
        }
    }
    node.receive(frame, now, home);
}

/// A list entry that takes everything of everybody, with its bits.
pub fn entry(start: u64, bytes: u64, options: EntryOptions) -> abi::Entry {
    abi::Entry {
        start,
        bytes,
        counter: NONE,
        uid: abi::ANY,
        options,
        node: abi::ANY,
        process: abi::ANY,
        ..abi::Entry::default()
    }
}

/// A descriptor with a queue.
pub fn descriptor(start: u64, bytes: u64, queue: u32) -> abi::Descriptor {
    abi::Descriptor { start, bytes, queue, counter: NONE, ..abi::Descriptor::default() }
}

/// An operation of `bytes` bytes on rank `node` of the job.
pub fn operation(kind: u32, put: u32, get: u32, bytes: u64, node: u32) -> abi::Operation {
    abi::Operation { kind, put, get, bytes, node, trigger: NONE, ..abi::Operation::default() }
}
