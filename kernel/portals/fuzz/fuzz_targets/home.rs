//! A node with one rank, whose memory and card are ordinary memory: what both targets work on.

use bytemuck::allocation::zeroed_box;
use lwk_abi::portals::{ANY, EntryOptions, InterfaceOptions, NONE, OVERFLOW_LIST, PRIORITY_LIST};
use lwk_abi::syscall::portals as call;
use lwk_frames::{HEAD_BYTES, Identity, NodeId, checksum};
use lwk_portals::{Call, HomeCounts, Memory, Nic, Node, Settings, Span};

pub const MEMORY: usize = 1 << 16;
pub const BASE: u64 = 0x10_0000;
/// What is open to others, as offsets; all else of the memory must stay zero but for [`CALLS`].
pub const OPEN: std::ops::Range<usize> = 4096..12288;
/// Where structures of calls are, and counts that the node writes.
pub const CALLS: usize = MEMORY - 256;
pub const JOB: u64 = 1;

pub struct Home {
    pub memory: Vec<u8>,
    pub sent: Vec<Vec<u8>>,
}

impl Home {
    fn range(span: &Span) -> std::ops::Range<usize> {
        let start = (span.start() - BASE) as usize;
        start..start + span.bytes() as usize
    }
}

impl Memory for Home {
    fn check(&self, rank: u32, address: u64, bytes: u64, _: bool) -> bool {
        let end = BASE + MEMORY as u64;
        rank == 0 && address >= BASE && address.checked_add(bytes).is_some_and(|it| it <= end)
    }

    fn read(&self, from: &Span, into: &mut [u8]) {
        into.copy_from_slice(&self.memory[Home::range(from)]);
    }

    fn write(&mut self, to: &Span, from: &[u8]) {
        self.memory[Home::range(to)].copy_from_slice(from);
    }

    fn copy(&mut self, to: &Span, from: &Span) {
        self.memory.copy_within(Home::range(from), Home::range(to).start);
    }

    fn publish(&mut self, to: &Span, word: u64) {
        self.memory[Home::range(to)].copy_from_slice(&word.to_ne_bytes());
    }

    fn checksum(&self, seed: u32, from: &Span) -> u32 {
        checksum::append(seed, &self.memory[Home::range(from)])
    }
}

impl Nic for Home {
    fn send(&mut self, _: NodeId, head: &[u8], middle: &[u8], body: &[Span]) -> bool {
        let mut frame = [head, middle].concat();
        body.iter().for_each(|span| frame.extend_from_slice(&self.memory[Home::range(span)]));
        self.sent.push(frame);
        true
    }

    fn counts(&self) -> HomeCounts {
        HomeCounts::default()
    }
}

pub struct Machine {
    pub node: Box<Node>,
    pub home: Home,
    pub now: u64,
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn longs(longs: &[u64]) -> Vec<u8> {
    longs.iter().flat_map(|long| long.to_ne_bytes()).collect()
}

impl Machine {
    /// Node 0 of 2, whose rank 0 has opened a part of its memory to everybody: by match bits 0 to 3, and by any as overflow.
    pub fn new() -> Machine {
        let mut node: Box<Node> = zeroed_box();
        let identity = Identity { node: NodeId(0), nodes: 2, job: JOB, epoch: 1, frame_bytes: 1514 };
        node.start(&Settings { identity, size: 2, loops: false });
        let mut it = Machine { node, home: Home { memory: vec![0; MEMORY], sent: Vec::new() }, now: 1 };
        let options = (InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL).bits();
        let opened = it.call(call::INTERFACE_OPEN, [options.into(), 0, 0, 0]);
        it.call(call::TABLE_ALLOCATE, [opened, 0, NONE.into(), 0]);
        let options = EntryOptions::OP_PUT | EntryOptions::OP_GET | EntryOptions::MANAGE_LOCAL;
        for (number, list) in (0..4).map(|number| (number, PRIORITY_LIST)).chain([(4, OVERFLOW_LIST)]) {
            let options = if number % 2 == 0 { options - EntryOptions::MANAGE_LOCAL } else { options };
            let bytes = (OPEN.end - OPEN.start) as u64 / 8;
            let start = BASE + OPEN.start as u64 + number * bytes;
            let ignored = if list == OVERFLOW_LIST { u64::MAX } else { 0 };
            let head = words(&[NONE, ANY, options.bits(), ANY, ANY, 0]);
            let bytes = [longs(&[start, bytes]), head, longs(&[number, ignored, 0, 0])].concat();
            it.home.memory[CALLS..CALLS + bytes.len()].copy_from_slice(&bytes);
            it.call(call::ENTRY_APPEND, [opened, 0, BASE + CALLS as u64, list.into()]);
        }
        it
    }

    fn call(&mut self, number: u64, arguments: [u64; 4]) -> u64 {
        let call = Call::new(number, arguments).expect("a call of Portals'");
        let answer = self.node.call(&mut self.home, 0, call, self.now);
        u64::try_from(answer).expect("the machine is set up")
    }

    /// The node takes a frame. Its payload is placed before it is looked at, where it can be and the frame's number is odd.
    pub fn receive(&mut self, frame: &[u8]) {
        let Machine { node, home, now } = self;
        if let Some((head, payload)) = frame.split_first_chunk::<HEAD_BYTES>()
            && node.is_in_the_middle()
            && head[48] & 1 != 0
        {
            let mut spans = Vec::new();
            if node.place_of(head, payload.len(), |span| spans.push(*span)) {
                let mut rest = payload;
                for span in spans {
                    let (here, after) = rest.split_at(span.bytes() as usize);
                    home.write(&span, here);
                    rest = after;
                }
                return node.receive_placed(head, payload.len(), *now, home);
            }
        }
        node.receive(frame, *now, home);
    }

    /// What has not been opened has not been written.
    pub fn check(&self) {
        let open = |at: usize| OPEN.contains(&at) || at >= CALLS;
        let wrong = self.home.memory.iter().enumerate().position(|(at, byte)| *byte != 0 && !open(at));
        assert_eq!(wrong, None, "a byte that was not open");
    }
}
