//! Entries that fetch: what MPI's receives are to the kernel (`mpi-rt/fabric/path/src/portals/posts.rs`), against the standard's rules.

mod common;

use std::collections::VecDeque;

use common::*;
use fastrand::Rng;
use lwk_abi::portals::{
    self as abi, ANNOUNCED, ANY, DescriptorOptions, EntryOptions as Options, Event, InterfaceOptions, NONE,
    OVERFLOW_LIST, PRIORITY_LIST, TableOptions, event, failure, operation as kind, status,
};
use lwk_abi::syscall::portals as call;

const MATCHING: InterfaceOptions = InterfaceOptions::MATCHING.union(InterfaceOptions::LOGICAL);
const MESSAGES: u32 = 0;
const CONTENT: u32 = 1;
/// Bytes of the ring's unit, of a receive's buffer and of the longest message.
const UNIT: u64 = 64;
const ROOM: u64 = 4000;
const LONGEST: u64 = 5000;
/// The user of receives that are the kernel's, and of gets of the program's own.
const POSTED: u64 = 1 << 40;
const OWN: u64 = 1 << 41;

/// A message: what it says, and whether its content stays with the sender.
#[derive(Clone, Copy, Debug)]
struct Sent {
    label: u64,
    bytes: u64,
    long: bool,
}

/// How far a receive is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// The program's, in its order.
    Mine,
    /// The kernel's: entry and descriptor.
    Kernels(u32, u32),
    /// A message of so many bytes that is on its way, by a get into that descriptor.
    Fetching(u64, u64, u32),
    Done(u64, u64),
    Cancelled,
}

struct Receive {
    label: u64,
    ignore: u64,
    buffer: u64,
    stage: Stage,
}

impl Receive {
    fn takes(&self, label: u64) -> bool {
        (self.label ^ label) & !self.ignore == 0
    }
}

/// Rank 0 sends to rank 1, which receives as MPI's runtime does.
struct Run {
    it: Cluster,
    from: u32,
    to: u32,
    own: u32,
    arrived: u32,
    descriptor: u32,
    source: u64,
    scratch: u64,
    ring: u64,
    /// Messages in the ring that the receiver has seen.
    seen: u64,
    sent: Vec<Sent>,
    receives: Vec<Receive>,
    /// Messages that nobody has wanted: label, bytes, token if long, and the content's first byte.
    unexpected: VecDeque<(u64, u64, Option<u64>, Option<u8>)>,
    /// Receives that the kernel has completed, those that it has begun to, and those that it has declined.
    counts: [u32; 3],
}

/// The bytes of a message tell its number.
fn content(number: usize) -> u8 {
    number as u8 + 1
}

impl Run {
    fn new(nodes: u16, loops: bool) -> Run {
        let mut it = Cluster::with_loops(nodes, if nodes == 1 { 2 } else { 1 }, loops);
        let (from, to) = (it.interface(0, MATCHING), it.interface(1, MATCHING));
        let (arrived, own) = (it.queue(1, to, 512), it.queue(1, to, 512));
        it.table(1, to, TableOptions::empty(), arrived, MESSAGES).unwrap();
        it.table(0, from, TableOptions::empty(), NONE, MESSAGES).unwrap();
        it.table(0, from, TableOptions::empty(), NONE, CONTENT).unwrap();
        let (source, scratch) = (it.allocate(0, 64 * LONGEST), it.allocate(0, UNIT));
        let descriptor = it.bind(0, from, &descriptor(source, 64 * LONGEST, NONE)).unwrap();
        let ring = it.allocate(1, 64 * UNIT);
        let open = entry(
            ring,
            64 * UNIT,
            Options::OP_PUT | Options::EVENT_LINK_DISABLE | Options::UNEXPECTED_HDR_DISABLE,
        );
        let open = abi::Entry { ignore: u64::MAX, ..open };
        it.append(1, to, MESSAGES, &open, OVERFLOW_LIST).unwrap();
        Run {
            it,
            from,
            to,
            own,
            arrived,
            descriptor,
            source,
            scratch,
            ring,
            seen: 0,
            sent: Vec::new(),
            receives: Vec::new(),
            unexpected: VecDeque::new(),
            counts: [0; 3],
        }
    }

    /// Sends the next message.
    fn send(&mut self, message: Sent) {
        let number = self.sent.len();
        let at = self.source + number as u64 * LONGEST;
        self.it.bytes(0, at, message.bytes).fill(content(number));
        let slot = number as u64 % 64 * UNIT;
        let mut put = abi::Operation {
            table: MESSAGES,
            bits: message.label,
            remote_offset: slot,
            data: (number as u64) << 32,
            put_offset: at - self.source,
            ..operation(kind::PUT, self.descriptor, NONE, message.bytes, 1)
        };
        if message.long {
            let token = 1000 + number as u64;
            let options = Options::OP_GET | Options::USE_ONCE;
            let lent = abi::Entry { bits: token, ..entry(at, message.bytes, options) };
            self.it.append(0, self.from, CONTENT, &lent, PRIORITY_LIST).unwrap();
            let scratch = self.scratch;
            self.it.bytes(0, scratch, 8).copy_from_slice(&message.bytes.to_ne_bytes());
            self.it.bytes(0, scratch + 8, 8).copy_from_slice(&token.to_ne_bytes());
            let volatile = abi::Descriptor {
                options: DescriptorOptions::VOLATILE,
                ..descriptor(scratch, abi::ANNOUNCEMENT_BYTES as u64, NONE)
            };
            put.put = self.it.bind(0, self.from, &volatile).unwrap();
            (put.put_offset, put.bytes) = (0, abi::ANNOUNCEMENT_BYTES as u64);
            put.data |= ANNOUNCED;
        }
        assert_eq!(self.it.operate(0, self.from, &put), Ok(0));
        self.sent.push(message);
    }

    fn call(&mut self, number: u64, handle: u32) -> Result<u32, u32> {
        self.it.call(1, number, [handle.into(), 0, 0, 0, 0, 0])
    }

    /// Appends an entry for a receive, if it may be the kernel's.
    fn append(&mut self, receive: usize) -> Result<Stage, u32> {
        let it = &self.receives[receive];
        let (start, label, ignore) = (it.buffer, it.label, it.ignore);
        let into = self.it.bind(1, self.to, &descriptor(start, ROOM, self.own)).unwrap();
        let fetches = abi::Entry {
            bits: label,
            ignore,
            node: 0,
            reserved: into,
            min_free: self.seen,
            user: POSTED | receive as u64,
            ..entry(start, ROOM, Options::FETCHES)
        };
        match self.it.append(1, self.to, MESSAGES, &fetches, PRIORITY_LIST) {
            Ok(entry) => Ok(Stage::Kernels(entry, into)),
            Err(why) => {
                assert_eq!(self.call(call::DESCRIPTOR_RELEASE, into), Ok(0));
                Err(why)
            }
        }
    }

    /// Posts a receive; `ask` the kernel if order allows.
    fn post(&mut self, label: u64, ignore: u64, ask: bool) {
        let buffer = self.it.allocate(1, ROOM);
        self.receives.push(Receive { label, ignore, buffer, stage: Stage::Mine });
        let receive = self.receives.len() - 1;
        let wanted = self.unexpected.iter().position(|it| self.receives[receive].takes(it.0));
        if let Some(at) = wanted {
            let (label, bytes, token, byte) = self.unexpected.remove(at).unwrap();
            return self.take(receive, label, bytes, token, byte);
        }
        let earlier = self.receives[..receive].iter().any(|it| it.stage == Stage::Mine);
        if ask && !earlier {
            match self.append(receive) {
                Ok(stage) => self.receives[receive].stage = stage,
                Err(why) => assert_eq!(why, status::IN_USE),
            }
        }
    }

    /// A receive of the program's gets a message of the ring's.
    fn take(&mut self, receive: usize, label: u64, bytes: u64, token: Option<u64>, byte: Option<u8>) {
        let buffer = self.receives[receive].buffer;
        self.receives[receive].stage = match token {
            None => {
                self.it.bytes(1, buffer, bytes.min(ROOM)).fill(byte.unwrap());
                Stage::Done(label, bytes)
            }
            Some(token) => {
                let into = self.it.bind(1, self.to, &descriptor(buffer, ROOM, self.own)).unwrap();
                let get = abi::Operation {
                    table: CONTENT,
                    bits: token,
                    user: OWN | receive as u64,
                    ..operation(kind::GET, NONE, into, bytes.min(ROOM), 0)
                };
                assert_eq!(self.it.operate(1, self.to, &get), Ok(0));
                Stage::Fetching(label, bytes, into)
            }
        };
    }

    /// Takes back a receive of the kernel's, or waits for its message; whether it is back.
    fn recall(&mut self, receive: usize) -> bool {
        let Stage::Kernels(entry, into) = self.receives[receive].stage else { return false };
        let is_back = self.call(call::ENTRY_UNLINK, entry).is_ok();
        if is_back {
            assert_eq!(self.call(call::DESCRIPTOR_RELEASE, into), Ok(0));
            self.receives[receive].stage = Stage::Mine;
        }
        is_back
    }

    /// Looks at what has come.
    fn progress(&mut self) {
        let ended = self.it.events(1, self.own);
        let come = self.it.events(1, self.arrived);
        // An end may be known before its beginning, which has then come meanwhile.
        for event in come {
            self.arrival(&event);
        }
        for event in ended {
            assert_eq!((event.kind, event.failure), (event::REPLY, failure::OK));
            let it = &mut self.receives[(event.user & 0xffff) as usize];
            let Stage::Fetching(label, bytes, into) = it.stage else {
                panic!("nothing is fetched: {:?}", it.stage)
            };
            it.stage = Stage::Done(label, bytes);
            self.call(call::DESCRIPTOR_RELEASE, into).unwrap();
        }
    }

    fn arrival(&mut self, event: &Event) {
        assert_eq!((event.failure, event.dropped, event.table), (failure::OK, 0, MESSAGES));
        let long = event.data & ANNOUNCED != 0;
        if event.list == PRIORITY_LIST {
            let receive = (event.user & 0xffff) as usize;
            let Stage::Kernels(_, into) = self.receives[receive].stage else { panic!("not the kernel's") };
            self.receives[receive].stage = if event.kind == event::AUTO_UNLINK {
                self.counts[2] += 1;
                self.call(call::DESCRIPTOR_RELEASE, into).unwrap();
                Stage::Mine
            } else if long {
                self.counts[1] += 1;
                Stage::Fetching(event.bits, event.requested, into)
            } else {
                self.counts[0] += 1;
                self.call(call::DESCRIPTOR_RELEASE, into).unwrap();
                Stage::Done(event.bits, event.requested)
            };
            return;
        }
        self.seen += 1;
        assert_eq!(event.kind, event::PUT);
        let slot = self.ring + (event.data >> 32) % 64 * UNIT;
        assert_eq!(event.start, slot);
        let (bytes, token, byte) = if long {
            (self.it.word(1, slot), Some(self.it.word(1, slot + 8)), None)
        } else {
            (event.done, None, self.it.bytes(1, slot, event.done).first().copied())
        };
        // All that are the kernel's come back. What it has matched by now has an event behind this one.
        for receive in 0..self.receives.len() {
            self.recall(receive);
        }
        let first = self.receives.iter().position(|it| it.stage == Stage::Mine && it.takes(event.bits));
        match first {
            Some(receive) => self.take(receive, event.bits, bytes, token, byte.or(Some(0))),
            None => self.unexpected.push_back((event.bits, bytes, token, byte.or(Some(0)))),
        }
    }

    /// Which receive gets which message: each message the first that is left (MPI-5.0, section 3.5).
    fn expected(&self) -> Vec<Option<usize>> {
        let mut of_receive = vec![None; self.receives.len()];
        for (number, message) in self.sent.iter().enumerate() {
            let free = (0..of_receive.len()).find(|at| {
                let it = &self.receives[*at];
                of_receive[*at].is_none() && it.stage != Stage::Cancelled && it.takes(message.label)
            });
            if let Some(at) = free {
                of_receive[at] = Some(number);
            }
        }
        of_receive
    }

    fn check(&mut self, seed: u64) {
        for (receive, number) in self.expected().into_iter().enumerate() {
            let it = &self.receives[receive];
            let (stage, buffer) = (it.stage, it.buffer);
            let Some(number) = number else {
                assert!(
                    !matches!(stage, Stage::Done(..) | Stage::Fetching(..)),
                    "seed {seed}: receive {receive}: {stage:?}"
                );
                continue;
            };
            let Sent { label, bytes, .. } = self.sent[number];
            assert_eq!(
                stage,
                Stage::Done(label, bytes),
                "seed {seed}: receive {receive} of message {number}"
            );
            let done = bytes.min(ROOM);
            let got = self.it.bytes(1, buffer, ROOM).to_vec();
            assert!(
                got[..done as usize].iter().all(|byte| *byte == content(number)),
                "seed {seed}: message {number}"
            );
            assert!(
                got[done as usize..].iter().all(|byte| *byte == 0),
                "seed {seed}: beyond message {number}"
            );
        }
    }

    /// Lets some time pass.
    fn pass(&mut self, rng: &mut Rng) {
        let until = self.it.world.now + rng.u64(0..40);
        self.it.settle_until(until);
    }
}

fn seeds() -> u64 {
    std::env::var("MARGAY_SEEDS").map_or(60, |text| text.parse().expect("a number of seeds"))
}

/// Messages short and long, receives of one tag and of any, cancelled ones, in any order and with frames lost: what each receive gets is what the standard says.
#[test]
fn receives_of_kernel_and_program_keep_mpis_order() {
    let mut all = [0; 3];
    for seed in 0..seeds() {
        let mut rng = Rng::with_seed(seed);
        let (nodes, loops) = [(2, false), (2, false), (1, false), (1, true)][seed as usize % 4];
        let mut run = Run::new(nodes, loops);
        run.it.world.rng = Rng::with_seed(seed + 1000);
        run.it.world.lost = [0, 100][rng.usize(0..2)];
        while run.sent.len() < 60 {
            match rng.u32(0..10) {
                0..3 => {
                    let long = rng.bool();
                    let bytes = if long { rng.u64(0..LONGEST) } else { rng.u64(0..UNIT) };
                    run.send(Sent { label: rng.u64(0..3), bytes, long });
                }
                3..6 if run.receives.len() < 80 => {
                    let ignore = if rng.u32(0..4) == 0 { 3 } else { 0 };
                    let ask = rng.u32(0..5) > 0;
                    run.post(rng.u64(0..3), ignore, ask);
                }
                6 if !run.receives.is_empty() => {
                    let receive = rng.usize(0..run.receives.len());
                    if run.receives[receive].stage == Stage::Mine || run.recall(receive) {
                        run.receives[receive].stage = Stage::Cancelled;
                    }
                }
                7 => run.progress(),
                _ => run.pass(&mut rng),
            }
        }
        for _ in 0..3 {
            run.it.settle();
            run.progress();
        }
        run.check(seed);
        all.iter_mut().zip(run.counts).for_each(|(sum, count)| *sum += count);
    }
    assert!(all[0] > 0 && all[1] > 0, "the kernel has matched short messages and long ones: {all:?}");
}

/// The receiver computes: nothing but the network moves, and all is there in the end.
#[test]
fn what_is_posted_comes_in_without_the_program() {
    for (nodes, loops) in [(2, false), (1, false), (1, true)] {
        let mut run = Run::new(nodes, loops);
        for label in 0..3 {
            run.post(label, 0, true);
        }
        for (label, bytes, long) in [(2, ROOM, true), (0, 50, false), (1, LONGEST, true)] {
            run.send(Sent { label, bytes, long });
        }
        run.it.settle();
        // Before the program has looked.
        for (receive, number) in [(0, 1), (1, 2), (2, 0)] {
            let bytes = run.sent[number].bytes.min(ROOM);
            let buffer = run.receives[receive].buffer;
            assert!(run.it.bytes(1, buffer, bytes).iter().all(|byte| *byte == content(number)));
        }
        run.progress();
        run.check(0);
        assert_eq!(run.counts, [1, 2, 0]);
        // Nothing is left behind.
        for (rank, interface) in [(0, run.from), (1, run.to)] {
            assert_eq!(run.it.call(rank, call::INTERFACE_CLOSE, [interface.into(), 0, 0, 0, 0, 0]), Ok(0));
        }
        assert!(run.it.nodes.iter().all(|node| node.is_empty()));
    }
}

/// A message that lies in the ring unseen keeps a later receive from the kernel: the receive may be its.
#[test]
fn a_receive_is_not_posted_before_all_that_has_come_has_been_seen() {
    let mut run = Run::new(2, false);
    run.send(Sent { label: 0, bytes: 9, long: false });
    run.it.settle();
    run.post(0, 0, true);
    assert_eq!(run.receives[0].stage, Stage::Mine);
    run.progress();
    assert_eq!(run.receives[0].stage, Stage::Done(0, 9));
    run.post(0, 0, true);
    assert!(matches!(run.receives[1].stage, Stage::Kernels(..)));
}

/// Where the kernel has no room for a get, the message goes into the ring, and no later one to its receive.
#[test]
fn without_room_to_fetch_the_message_is_the_programs() {
    let mut run = Run::new(2, false);
    for label in [0, 0] {
        run.post(label, 0, true);
    }
    // Gets of what is a long time in coming take all room for operations.
    run.it.world.dead[0] = true;
    let (buffer, own) = (run.it.allocate(1, 8), run.own);
    let into = run.it.bind(1, run.to, &descriptor(buffer, 8, own)).unwrap();
    let get = abi::Operation {
        table: CONTENT,
        bits: 7,
        user: OWN | 0xffff,
        ..operation(kind::GET, NONE, into, 8, 0)
    };
    while run.it.operate(1, run.to, &get) == Ok(0) {}
    run.it.world.dead[0] = false;
    run.send(Sent { label: 0, bytes: ROOM, long: true });
    run.send(Sent { label: 0, bytes: 5, long: false });
    // A little: the link sends again what has been lost only later.
    for _ in 0..10 {
        let until = run.it.world.now + 1;
        run.it.settle_until(until);
    }
    let come = run.it.events(1, run.arrived);
    let told: Vec<_> = come.iter().map(|event| (event.kind, event.list, event.bits)).collect();
    assert_eq!(
        told,
        [
            (event::AUTO_UNLINK, PRIORITY_LIST, 0),
            (event::PUT, OVERFLOW_LIST, 0),
            (event::PUT, PRIORITY_LIST, 0)
        ]
    );
    assert_eq!((come[0].user, come[2].user), (POSTED, POSTED | 1));
}

/// What a program asks for is checked.
#[test]
fn entries_that_fetch_are_checked() {
    let mut run = Run::new(2, false);
    let (to, buffer) = (run.to, run.it.allocate(1, ROOM));
    let into = run.it.bind(1, to, &descriptor(buffer, ROOM, run.own)).unwrap();
    let constant = run.it.bind(1, to, &descriptor(CONSTANTS, 8, run.own)).unwrap();
    let right = abi::Entry { node: 0, reserved: into, ..entry(buffer, ROOM, Options::FETCHES) };
    let wrong = [
        abi::Entry { reserved: NONE, ..right },
        abi::Entry { reserved: constant, ..right },
        abi::Entry { options: Options::FETCHES - Options::USE_ONCE, ..right },
        abi::Entry { options: Options::FETCHES | Options::OP_GET, ..right },
        abi::Entry { uid: 5, ..right },
        abi::Entry { start: CONSTANTS, bytes: 8, ..right },
    ];
    for entry in wrong {
        assert_eq!(
            run.it.append(1, to, MESSAGES, &entry, PRIORITY_LIST),
            Err(status::ARG_INVALID),
            "{entry:?}"
        );
    }
    assert_eq!(run.it.append(1, to, MESSAGES, &right, OVERFLOW_LIST), Err(status::ARG_INVALID));
    let unseen = abi::Entry { min_free: 1, ..right };
    assert_eq!(run.it.append(1, to, MESSAGES, &unseen, PRIORITY_LIST), Err(status::IN_USE));
    let plain = run.it.interface(1, InterfaceOptions::NO_MATCHING | InterfaceOptions::LOGICAL);
    run.it.table(1, plain, TableOptions::empty(), NONE, MESSAGES).unwrap();
    assert_eq!(run.it.append(1, plain, MESSAGES, &right, PRIORITY_LIST), Err(status::ARG_INVALID));
    let entry = run.it.append(1, to, MESSAGES, &right, PRIORITY_LIST).unwrap();
    // The descriptor is the entry's as long as it is on the list.
    assert_eq!(run.call(call::DESCRIPTOR_RELEASE, into), Err(status::IN_USE));
    assert_eq!(run.call(call::ENTRY_UNLINK, entry), Ok(0));
    assert_eq!(run.call(call::DESCRIPTOR_RELEASE, into), Ok(0));
    assert_eq!(ANY, right.uid);
}
