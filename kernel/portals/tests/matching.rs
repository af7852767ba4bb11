//! Matching against a plain list that is walked from its beginning, and a network that loses frames against what was sent.

mod common;

use common::*;
use fastrand::Rng;
use lwk_abi::portals::{
    self as abi, ANY, EntryOptions as Options, InterfaceOptions, NONE, OVERFLOW_LIST, PRIORITY_LIST,
    TableOptions, ack, event, operation as kind,
};
use lwk_abi::syscall::portals as call;
use lwk_portals::lists::{Entry, Heads, Initiator, Lists, Wanted};
use lwk_portals::{Memory, Span};

const MATCHING: InterfaceOptions = InterfaceOptions::MATCHING.union(InterfaceOptions::LOGICAL);

/// An entry of the plain list.
struct Plain {
    handle: u32,
    entry: abi::Entry,
    list: u32,
    used: u64,
}

impl Plain {
    fn takes(&self, source: u32, bits: u64, bytes: u64, offset: u64) -> bool {
        let entry = &self.entry;
        let from = if entry.options.contains(Options::MANAGE_LOCAL) { self.used } else { offset };
        (entry.bits ^ bits) & !entry.ignore == 0
            && (entry.node == ANY || entry.node == source)
            && (!entry.options.contains(Options::NO_TRUNCATE) || from + bytes <= entry.bytes)
    }
}

/// The plain model of a table: its lists, and the messages that came unexpected, by their number.
#[derive(Default)]
struct Model {
    entries: Vec<Plain>,
    /// Source, bits, number, bytes asked for.
    unexpected: Vec<(u32, u64, u64, u64)>,
    /// What the events say: kind, the entry's name, the message's number.
    events: Vec<(u32, u64, u64)>,
}

impl Model {
    fn put(&mut self, source: u32, bits: u64, bytes: u64, offset: u64, number: u64) {
        for list in [PRIORITY_LIST, OVERFLOW_LIST] {
            let found =
                self.entries.iter().position(|it| it.list == list && it.takes(source, bits, bytes, offset));
            let Some(at) = found else { continue };
            let it = &mut self.entries[at];
            let options = it.entry.options;
            let from = if options.contains(Options::MANAGE_LOCAL) { it.used } else { offset };
            let done = bytes.min(it.entry.bytes.saturating_sub(from));
            if options.contains(Options::MANAGE_LOCAL) {
                it.used += done;
            }
            if list == OVERFLOW_LIST {
                self.unexpected.push((source, bits, number, bytes));
            }
            let user = it.entry.user;
            let full = options.contains(Options::MANAGE_LOCAL)
                && it.entry.min_free > 0
                && it.entry.bytes - it.used < it.entry.min_free;
            if options.contains(Options::USE_ONCE) || full {
                self.entries.remove(at);
            }
            self.events.push((event::PUT, user, number));
            return;
        }
    }

    fn append(&mut self, entry: abi::Entry, list: u32, handle: u32) {
        let probe = Plain { handle, entry, list, used: 0 };
        if list == PRIORITY_LIST {
            let mut at = 0;
            while at < self.unexpected.len() {
                let (source, bits, number, bytes) = self.unexpected[at];
                if !probe.takes(source, bits, bytes, 0) {
                    at += 1;
                    continue;
                }
                self.unexpected.remove(at);
                self.events.push((event::PUT_OVERFLOW, entry.user, number));
                if entry.options.contains(Options::USE_ONCE) {
                    return;
                }
            }
        }
        self.entries.push(probe);
    }
}

fn random_entry(rng: &mut Rng, start: u64, user: u64) -> abi::Entry {
    let mut options = Options::OP_PUT
        | Options::EVENT_LINK_DISABLE
        | Options::EVENT_UNLINK_DISABLE
        | if rng.bool() { Options::USE_ONCE } else { Options::empty() };
    let bytes = rng.u64(0..200);
    let mut min_free = 0;
    match rng.u32(0..4) {
        0 => options |= Options::NO_TRUNCATE,
        1 => {
            options |= Options::MANAGE_LOCAL;
            min_free = rng.u64(0..60);
        }
        _ => {}
    }
    abi::Entry {
        bits: rng.u64(0..6),
        ignore: if rng.u32(0..3) == 0 { rng.u64(0..8) } else { 0 },
        node: if rng.bool() { ANY } else { rng.u32(0..3) },
        min_free,
        user,
        ..entry(start, bytes, options)
    }
}

#[test]
fn every_message_finds_the_entry_that_a_walk_of_the_list_finds() {
    let seeds = std::env::var("MARGAY_SEEDS").map_or(25, |text| text.parse().expect("a number of seeds"));
    for seed in 0..seeds {
        let mut rng = Rng::with_seed(seed);
        // Rank 2 receives from all three, of which rank 0 is on another node.
        let mut it = Cluster::new(2, 2);
        let target = 2;
        let to = it.interface(target, MATCHING);
        let queue = it.queue(target, to, 4096);
        it.table(target, to, TableOptions::empty(), queue, 0).unwrap();
        let start = it.allocate(target, 4096);
        let sources: Vec<(u32, u32, u32)> = [0, 1, 2]
            .into_iter()
            .map(|rank| {
                let from = if rank == target { to } else { it.interface(rank, MATCHING) };
                let source = it.allocate(rank, 256);
                (rank, from, it.bind(rank, from, &descriptor(source, 256, NONE)).unwrap())
            })
            .collect();
        let mut model = Model::default();
        for step in 0..300u64 {
            match rng.u32(0..5) {
                0 | 1 => {
                    let entry = random_entry(&mut rng, start, step);
                    let list = if rng.u32(0..3) == 0 { OVERFLOW_LIST } else { PRIORITY_LIST };
                    let handle = it.append(target, to, 0, &entry, list).unwrap();
                    model.append(entry, list, handle);
                }
                2 if !model.entries.is_empty() => {
                    let at = rng.usize(0..model.entries.len());
                    let handle = model.entries[at].handle;
                    // Not while a message that has come unexpected lies there.
                    if it.call(target, call::ENTRY_UNLINK, [handle.into(), 0, 0, 0, 0, 0]).is_ok() {
                        model.entries.remove(at);
                    }
                }
                _ => {
                    let (rank, from, put) = sources[rng.usize(0..3)];
                    let (bits, bytes) = (rng.u64(0..6), rng.u64(0..200));
                    let offset = if rng.bool() { 0 } else { rng.u64(0..100) };
                    let operation = abi::Operation {
                        bits,
                        data: step,
                        remote_offset: offset,
                        ..operation(kind::PUT, put, NONE, bytes, target)
                    };
                    assert_eq!(it.operate(rank, from, &operation), Ok(0));
                    it.settle();
                    model.put(rank, bits, bytes, offset, step);
                }
            }
            let seen: Vec<(u32, u64, u64)> =
                it.events(target, queue).iter().map(|event| (event.kind, event.user, event.data)).collect();
            assert_eq!(seen, std::mem::take(&mut model.events), "seed {seed}, step {step}");
        }
    }
}

/// Memory that is nowhere.
struct Nowhere;

impl Memory for Nowhere {
    fn check(&self, _: u32, _: u64, _: u64, _: bool) -> bool {
        true
    }
    fn read(&self, _: &Span, _: &mut [u8]) {}
    fn write(&mut self, _: &Span, _: &[u8]) {}
    fn copy(&mut self, _: &Span, _: &Span) {}
    fn publish(&mut self, _: &Span, _: u64) {}
    fn checksum(&self, seed: u32, _: &Span) -> u32 {
        seed
    }
}

#[test]
fn exact_bits_are_found_at_once_whatever_the_length_of_the_list() {
    let search = |length: u64| {
        let mut lists: Box<Lists> = bytemuck::allocation::zeroed_box();
        let mut heads = Heads::default();
        let span = Span::check(&Nowhere, 0, 1, 1, true).unwrap();
        for bits in 0..length {
            let node = if bits % 2 == 0 { ANY } else { 5 };
            let asked = abi::Entry {
                bits,
                node,
                process: if node == ANY { ANY } else { 0 },
                ..entry(1, 1, Options::OP_PUT)
            };
            let mut new = Entry::new(&asked, span.into());
            (new.table, new.logical) = (1, 1);
            lists.append(&mut heads, new).unwrap();
        }
        for bits in (0..length).rev().take(1_000) {
            let initiator = Initiator { node: 5, process: 0 };
            let wanted = Wanted { table: 1, bits, initiator, bytes: 1, offset: 0 };
            let found = lists.find(&heads, PRIORITY_LIST, &wanted).unwrap();
            assert_eq!(lists.entries.get(found).bits, bits);
        }
        lists.looked_at()
    };
    let (short, long) = (search(1_000), search(30_000));
    // A chain has half an entry on average when the table is as full as it can be.
    assert!(long < 2 * short, "{short} entries looked at in a short list, {long} in a long one");
}

#[test]
fn a_network_that_loses_frames_changes_nothing_but_the_time() {
    for seed in 0..6 {
        let mut it = Cluster::new(3, 2);
        it.world.rng = Rng::with_seed(seed);
        it.world.lost = 100;
        let mut rng = Rng::with_seed(seed ^ 99);
        let size = 6;
        let mut ranks = Vec::new();
        const ROOM: u64 = 40_000;
        for rank in 0..size {
            let of = it.interface(rank, MATCHING);
            let queue = it.queue(rank, of, 2048);
            it.table(rank, of, TableOptions::empty(), queue, 0).unwrap();
            let memory = it.allocate(rank, ROOM * u64::from(size));
            for (at, byte) in it.bytes(rank, memory, ROOM * u64::from(size)).iter_mut().enumerate() {
                *byte = ((at as u64 * (u64::from(rank) + 3)) >> 3) as u8;
            }
            let landing = it.allocate(rank, ROOM * u64::from(size));
            for source in 0..size {
                // A place for each source.
                let from = landing + ROOM * u64::from(source);
                let entry = abi::Entry {
                    node: source,
                    bits: 1,
                    ..entry(from, ROOM, Options::OP_PUT | Options::OP_GET)
                };
                it.append(rank, of, 0, &entry, PRIORITY_LIST).unwrap();
            }
            let put = it.bind(rank, of, &descriptor(memory, ROOM * u64::from(size), queue)).unwrap();
            it.events(rank, queue);
            ranks.push((of, queue, put, memory, landing));
        }
        let mut last = std::collections::HashMap::new();
        for _ in 0..60 {
            let (from, to) = (rng.u32(0..size), rng.u32(0..size));
            let (of, _, put, ..) = ranks[from as usize];
            let bytes = rng.u64(1..ROOM);
            let at = rng.u64(0..ROOM * u64::from(size) - bytes);
            let operation = abi::Operation {
                bits: 1,
                put_offset: at,
                ack: ack::FULL,
                ..operation(kind::PUT, put, NONE, bytes, to)
            };
            assert_eq!(it.operate(from, of, &operation), Ok(0));
            // The last one of a pair wins, since messages keep their order; what an earlier one has put behind its end stays.
            let landed = last.entry((from, to)).or_insert_with(|| vec![None; ROOM as usize]);
            for (offset, byte) in landed.iter_mut().enumerate().take(bytes as usize) {
                *byte = Some(at + offset as u64);
            }
        }
        it.settle();
        for ((from, to), landed) in last {
            let source = ranks[from as usize].3;
            let landing = ranks[to as usize].4 + ROOM * u64::from(from);
            let sent = it.bytes(from, source, ROOM * u64::from(size)).to_vec();
            let there = it.bytes(to, landing, ROOM);
            for (byte, from) in there.iter().zip(&landed) {
                assert_eq!(*byte, from.map_or(0, |at| sent[at as usize]), "seed {seed}");
            }
        }
        let events: usize = (0..size).map(|rank| it.events(rank, ranks[rank as usize].1).len()).sum();
        assert_eq!(events, 60 * 3, "a send, an acknowledgement and an arrival each");
        for (rank, (of, ..)) in (0..).zip(&ranks) {
            assert_eq!(it.call(rank, call::INTERFACE_CLOSE, [(*of).into(), 0, 0, 0, 0, 0]), Ok(0));
        }
        assert!(it.nodes.iter().all(|node| node.is_empty()));
    }
}
