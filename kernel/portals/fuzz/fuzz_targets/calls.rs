//! Any calls of a rank with any arguments, structures in its memory and all: they touch its own memory and no other's, and its peer's things stay the peer's.
#![no_main]

use bytemuck::allocation::zeroed_box;
use lwk_abi::portals::{ANY, EntryOptions, InterfaceOptions, NONE, PRIORITY_LIST};
use lwk_abi::syscall::portals as call;
use lwk_frames::{Identity, NodeId, checksum};
use lwk_portals::{Call, HomeCounts, Memory, Nic, Node, Settings, Span};

const MEMORY: usize = 1 << 12;
const BASE: u64 = 0x10_0000;
/// What the peer has opened to puts, as offsets: all else of its memory stays as it is, but for its counter and its queue.
const OPEN: std::ops::Range<usize> = 0..1024;
const OWN: std::ops::Range<usize> = 1024..3072;

/// Two ranks of one node. A span that leads out of a rank's memory is a panic.
struct Home {
    memory: [Vec<u8>; 2],
}

impl Home {
    fn range(span: &Span) -> std::ops::Range<usize> {
        let start =
            usize::try_from(span.start().checked_sub(BASE).expect("an address of the rank's")).unwrap();
        start..start + span.bytes() as usize
    }

    fn bytes(&mut self, span: &Span) -> &mut [u8] {
        &mut self.memory[span.rank() as usize][Home::range(span)]
    }
}

impl Memory for Home {
    fn check(&self, rank: u32, address: u64, bytes: u64, _: bool) -> bool {
        let end = BASE + MEMORY as u64;
        rank < 2 && address >= BASE && address.checked_add(bytes).is_some_and(|it| it <= end)
    }

    fn read(&self, from: &Span, into: &mut [u8]) {
        into.copy_from_slice(&self.memory[from.rank() as usize][Home::range(from)]);
    }

    fn write(&mut self, to: &Span, from: &[u8]) {
        self.bytes(to).copy_from_slice(from);
    }

    fn copy(&mut self, to: &Span, from: &Span) {
        let bytes = self.bytes(from).to_vec();
        self.bytes(to).copy_from_slice(&bytes);
    }

    fn publish(&mut self, to: &Span, word: u64) {
        self.bytes(to).copy_from_slice(&word.to_ne_bytes());
    }

    fn checksum(&self, seed: u32, from: &Span) -> u32 {
        checksum::append(seed, &self.memory[from.rank() as usize][Home::range(from)])
    }
}

impl Nic for Home {
    fn send(&mut self, _: NodeId, _: &[u8], _: &[u8], _: &[Span]) -> bool {
        true
    }

    fn counts(&self) -> HomeCounts {
        HomeCounts::default()
    }
}

struct Machine {
    node: Box<Node>,
    home: Home,
    /// The peer's counter and queue.
    own: [u64; 2],
    now: u64,
}

impl Machine {
    /// Rank 1 has opened a part of its memory, and has a counter and a queue that nobody else is to touch.
    fn new() -> Machine {
        let mut node: Box<Node> = zeroed_box();
        let identity = Identity { node: NodeId(0), nodes: 1, job: 1, epoch: 1, frame_bytes: 1514 };
        node.start(&Settings { identity, size: 2, loops: false });
        let memory = [vec![0; MEMORY], vec![0; MEMORY]];
        let mut it = Machine { node, home: Home { memory }, own: [0; 2], now: 1 };
        let options = (InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL).bits();
        let set_up = |it: &mut Machine, number, arguments| {
            u64::try_from(it.call(1, number, arguments)).expect("the machine is set up")
        };
        let opened = set_up(&mut it, call::INTERFACE_OPEN, [options.into(), 0, 0, 0]);
        set_up(&mut it, call::TABLE_ALLOCATE, [opened, 0, NONE.into(), 0]);
        let counter = set_up(&mut it, call::COUNTER_ALLOCATE, [opened, BASE + OWN.start as u64, 0, 0]);
        let ring = BASE + OWN.start as u64 + 256;
        let queue = set_up(&mut it, call::QUEUE_ALLOCATE, [opened, ring, 8, 0]);
        it.own = [counter, queue];
        let longs = |longs: &[u64]| longs.iter().flat_map(|long| long.to_ne_bytes()).collect::<Vec<u8>>();
        let words = [NONE, ANY, (EntryOptions::OP_PUT | EntryOptions::OP_GET).bits(), ANY, ANY, 0];
        let words: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let bytes = (OPEN.end - OPEN.start) as u64;
        let open = [longs(&[BASE, bytes]), words, longs(&[0, u64::MAX, 0, 0])].concat();
        it.home.memory[1][OPEN][..open.len()].copy_from_slice(&open);
        set_up(&mut it, call::ENTRY_APPEND, [opened, 0, BASE, PRIORITY_LIST.into()]);
        it.home.memory[1].fill(0);
        it
    }

    fn call(&mut self, rank: u32, number: u64, arguments: [u64; 4]) -> i64 {
        self.now += 10;
        let call = Call::new(number, arguments).expect("a call of Portals'");
        self.node.call(&mut self.home, rank, call, self.now)
    }
}

/// Numbers out of the input, made likely to mean something.
struct Input<'a> {
    rest: &'a [u8],
    /// What earlier calls have answered.
    handles: Vec<u64>,
    own: [u64; 2],
}

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let kind = self.byte()?;
        let small = u64::from(self.byte()?);
        Some(match kind % 8 {
            0 => small,
            1 => BASE + small * 16,
            2 => BASE + MEMORY as u64 - small,
            3 => self.handles.get(small as usize % self.handles.len().max(1)).copied().unwrap_or(small),
            4 => self.own[small as usize % 2],
            5 => 1 << (small % 64),
            6 => u64::from(u32::MAX),
            _ => u64::MAX - small,
        })
    }
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    // What one input leaves behind would be the next one's.
    let mut it = Machine::new();
    let mut input = Input { rest: input, handles: Vec::new(), own: it.own };
    while let Some(number) = input.byte() {
        if number & 128 != 0 {
            // A structure of some words for the calls to come.
            let at = usize::from(input.byte().unwrap_or(0)) * 16;
            for word in 0..24 {
                let Some(value) = input.number() else { break };
                let value = value as u32;
                if let Some(place) = it.home.memory[0].get_mut(at + word * 4..at + word * 4 + 4) {
                    place.copy_from_slice(&value.to_ne_bytes());
                }
            }
            continue;
        }
        let arguments = [(); 4].map(|()| input.number().unwrap_or(0));
        let span = call::RANGE.end() - call::RANGE.start() + 1;
        let answer = it.call(0, call::RANGE.start() + u64::from(number) % span, arguments);
        if answer > 0 {
            input.handles.push(answer as u64);
        }
        it.now += 1_000;
        it.node.work(it.now, &mut it.home);
    }
    let peer = &it.home.memory[1];
    assert!(peer[OPEN.end..].iter().all(|byte| *byte == 0), "what the peer has not opened");
    // Its counter and its queue are its own still.
    assert_eq!(it.call(1, call::COUNTER_FREE, [it.own[0], 0, 0, 0]), 0);
    assert_eq!(it.call(1, call::QUEUE_FREE, [it.own[1], 0, 0, 0]), 0);
});
