//! What else the reference promises: scattered memory, volatile puts, entries and tables with rarer options, and what is counted. Between ranks of
//! one node and of two.

mod common;

use common::*;
use lwk_abi::portals::{
    self as abi, DescriptorOptions, EntryOptions as Options, Event, InterfaceOptions, NONE, NodeCounts,
    OVERFLOW_LIST, PRIORITY_LIST, RawFrames, TableOptions, ack, atomic, datatype, event, failure,
    operation as kind, status,
};
use lwk_abi::syscall::portals as call;

const MATCHING: InterfaceOptions = InterfaceOptions::MATCHING.union(InterfaceOptions::LOGICAL);
const BYTES: u64 = 32 << 10;
const TABLE: u32 = 2;

/// Rank 0 sends, rank 1 receives: on the same node or on another.
struct Pair {
    it: Cluster,
    from: u32,
    to: u32,
    sends: u32,
    receives: u32,
    source: u64,
    memory: u64,
}

impl Pair {
    fn new(nodes: u16) -> Pair {
        let mut it = Cluster::new(nodes, if nodes == 1 { 2 } else { 1 });
        let (from, to) = (it.interface(0, MATCHING), it.interface(1, MATCHING));
        let (sends, receives) = (it.queue(0, from, 64), it.queue(1, to, 32));
        assert_eq!(it.table(1, to, TableOptions::empty(), receives, TABLE), Ok(TABLE));
        let (source, memory) = (it.allocate(0, BYTES), it.allocate(1, BYTES));
        for (at, byte) in it.bytes(0, source, BYTES).iter_mut().enumerate() {
            *byte = pattern(at as u64);
        }
        Pair { it, from, to, sends, receives, source, memory }
    }

    /// Writes vectors into a rank's memory.
    fn vectors(&mut self, rank: u32, vectors: &[(u64, u64)]) -> u64 {
        let address = self.it.allocate(rank, vectors.len() as u64 * 16);
        for (at, (start, bytes)) in (0..).step_by(16).zip(vectors) {
            let words = [start.to_ne_bytes(), bytes.to_ne_bytes()];
            self.it.bytes(rank, address + at, 16).copy_from_slice(words.as_flattened());
        }
        address
    }

    /// A descriptor of rank 0's, of one piece.
    fn bind(&mut self, options: DescriptorOptions) -> u32 {
        let whole = abi::Descriptor { options, ..descriptor(self.source, BYTES, self.sends) };
        self.it.bind(0, self.from, &whole).unwrap()
    }

    fn append(&mut self, entry: &abi::Entry, list: u32) -> Result<u32, u32> {
        self.it.append(1, self.to, TABLE, entry, list)
    }

    fn send(&mut self, operation: &abi::Operation) {
        let operation = abi::Operation { table: TABLE, ..*operation };
        assert_eq!(self.it.operate(0, self.from, &operation), Ok(0));
        self.it.settle();
    }

    fn received(&mut self) -> Vec<Event> {
        self.it.events(1, self.receives)
    }

    fn counts(&mut self, rank: u32) -> NodeCounts {
        let (address, interface) = (self.it.allocate(rank, COUNTS), [self.from, self.to][rank as usize]);
        assert_eq!(self.it.call(rank, call::NODE_COUNTS, [interface.into(), address, 0, 0, 0, 0]), Ok(0));
        let bytes = self.it.bytes(rank, address, COUNTS).to_vec();
        // SAFETY: counts are made of numbers, for which any bytes will do.
        unsafe { bytes.as_ptr().cast::<NodeCounts>().read_unaligned() }
    }
}

fn each(test: impl Fn(&mut Pair)) {
    for nodes in [1, 2] {
        test(&mut Pair::new(nodes));
    }
}

fn pattern(at: u64) -> u8 {
    (at * 7 + at / 251) as u8
}

/// Pieces of `bytes` bytes in all that lie apart and in no order, some of them empty: where they are in memory from `start` on.
fn pieces(start: u64, bytes: u64, count: u64, seed: u64) -> Vec<(u64, u64)> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut cuts: Vec<u64> = (1..count).map(|_| rng.u64(0..=bytes)).collect();
    cuts.extend([0, bytes]);
    cuts.sort_unstable();
    let mut all: Vec<(u64, u64)> = cuts.windows(2).map(|pair| (start + pair[0], pair[1] - pair[0])).collect();
    rng.shuffle(&mut all);
    all
}

/// Addresses of the bytes of pieces, one behind the other.
fn addresses(pieces: &[(u64, u64)]) -> Vec<u64> {
    pieces.iter().flat_map(|(start, bytes)| *start..start + bytes).collect()
}

#[test]
fn scattered_memory_counts_as_one_piece_at_both_ends() {
    each(|it| {
        for seed in 0..20 {
            let (from, to) = (pieces(it.source, 9_000, 13, seed), pieces(it.memory, 9_000, 7, seed + 50));
            let (at, there) = (it.vectors(0, &from), it.vectors(1, &to));
            let scattered =
                abi::Descriptor { options: DescriptorOptions::IOVEC, ..descriptor(at, 13, it.sends) };
            let put = it.it.bind(0, it.from, &scattered).unwrap();
            let options = Options::OP_PUT | Options::OP_GET | Options::IOVEC | Options::EVENT_LINK_DISABLE;
            let open = entry(there, 7, options);
            let handle = it.append(&open, PRIORITY_LIST).unwrap();
            // What the program does with its list afterwards changes nothing.
            it.it.bytes(0, at, 16).fill(0xff);
            it.it.bytes(1, there, 16).fill(0xff);
            let (offset, remote, bytes) = (seed * 17, seed * 31, 8_000 - seed * 300);
            let memory = it.memory;
            it.it.bytes(1, memory, 9_000).fill(0);
            let asked = operation(kind::PUT, put, NONE, bytes, 1);
            it.send(&abi::Operation { put_offset: offset, remote_offset: remote, ack: ack::FULL, ..asked });
            let (sources, targets) = (addresses(&from), addresses(&to));
            for number in 0..9_000u64 {
                let inside = number.checked_sub(remote).filter(|number| *number < bytes);
                let sent =
                    inside.map_or(0, |number| pattern(sources[(number + offset) as usize] - it.source));
                assert_eq!(it.it.bytes(1, targets[number as usize], 1), [sent], "seed {seed}, byte {number}");
            }
            let received = it.received();
            assert_eq!((received[0].kind, received[0].done), (event::PUT, bytes));
            assert_eq!(received[0].start, targets[remote as usize]);
            let ended: Vec<Event> = it.it.events(0, it.sends);
            assert!(ended.iter().any(|event| event.kind == event::ACK && event.remote_offset == remote));
            // And back again, to other places.
            let into = pieces(it.source + 16_000, 9_000, 9, seed + 99);
            let back = it.vectors(0, &into);
            let scattered =
                abi::Descriptor { options: DescriptorOptions::IOVEC, ..descriptor(back, 9, it.sends) };
            let get = it.it.bind(0, it.from, &scattered).unwrap();
            let asked = operation(kind::GET, NONE, get, bytes, 1);
            it.send(&abi::Operation { get_offset: 5, remote_offset: remote, ..asked });
            let landed = addresses(&into);
            for number in 0..bytes {
                let sent = pattern(sources[(number + offset) as usize] - it.source);
                assert_eq!(it.it.bytes(0, landed[number as usize + 5], 1), [sent]);
            }
            it.it.events(0, it.sends);
            it.received();
            for descriptor in [put, get] {
                let release = [descriptor.into(), 0, 0, 0, 0, 0];
                assert_eq!(it.it.call(0, call::DESCRIPTOR_RELEASE, release), Ok(0));
            }
            assert_eq!(it.it.call(1, call::ENTRY_UNLINK, [handle.into(), 0, 0, 0, 0, 0]), Ok(0));
        }
        for (rank, interface) in [(0, it.from), (1, it.to)] {
            assert_eq!(it.it.call(rank, call::INTERFACE_CLOSE, [interface.into(), 0, 0, 0, 0, 0]), Ok(0));
        }
        assert!(it.it.nodes.iter().all(|node| node.is_empty()));
    });
}

#[test]
fn vectors_are_checked_and_counted() {
    let mut it = Pair::new(1);
    let (source, from) = (it.source, it.from);
    let wrong = Err(status::ARG_INVALID);
    for bad in [(0, 8), (END - 4, 8), (u64::MAX - 3, 8), (source, u64::MAX)] {
        let at = it.vectors(0, &[(source, 8), bad]);
        let scattered = abi::Descriptor { options: DescriptorOptions::IOVEC, ..descriptor(at, 2, NONE) };
        assert_eq!(it.it.bind(0, from, &scattered), wrong, "{bad:x?}");
        let there = it.vectors(1, &[bad]);
        assert_eq!(it.append(&entry(there, 1, Options::OP_PUT | Options::IOVEC), PRIORITY_LIST), wrong);
    }
    // Two lengths whose sum is none.
    let at = it.vectors(0, &[(source, 8); 65]);
    let many = abi::Descriptor { options: DescriptorOptions::IOVEC, ..descriptor(at, 65, NONE) };
    assert_eq!(it.it.bind(0, from, &many), wrong, "more vectors than the limit says");
    for at in [0, END - 8, u64::MAX - 7] {
        let nowhere = abi::Descriptor { options: DescriptorOptions::IOVEC, ..descriptor(at, 2, NONE) };
        assert_eq!(it.it.bind(0, from, &nowhere), wrong);
    }
    // Constants can be sent from, and not fetched into.
    let at = it.vectors(0, &[(source, 8), (CONSTANTS, 8)]);
    let constant = abi::Descriptor { options: DescriptorOptions::IOVEC, ..descriptor(at, 2, NONE) };
    let constant = it.it.bind(0, from, &constant).unwrap();
    let get = |bytes| abi::Operation { table: TABLE, ..operation(kind::GET, NONE, constant, bytes, 1) };
    assert_eq!(it.it.operate(0, from, &get(9)), wrong);
    assert_eq!(it.it.operate(0, from, &get(8)), Ok(0));
    // No room for more pieces than an interface may have.
    let at = it.vectors(0, &[(source, 8); 64]);
    let whole = abi::Descriptor { options: DescriptorOptions::IOVEC, ..descriptor(at, 64, NONE) };
    let bound = (0..100).map_while(|_| it.it.bind(0, from, &whole).ok()).count();
    assert_eq!(bound, (4_096 - 2) / 64);
    assert_eq!(it.it.bind(0, from, &whole), Err(status::NO_SPACE));
}

#[test]
fn atomics_work_in_scattered_memory() {
    each(|it| {
        let memory = it.memory;
        it.it.bytes(1, memory, 64).fill(0);
        let there = it.vectors(1, &[(memory + 40, 3), (memory, 5), (memory + 16, 8)]);
        let open =
            entry(there, 3, Options::OP_PUT | Options::OP_GET | Options::IOVEC | Options::EVENT_LINK_DISABLE);
        it.append(&open, PRIORITY_LIST).unwrap();
        let put = it.bind(DescriptorOptions::empty());
        let source = it.source;
        let words = [0x0102_0304_0506_0708u64, 5].map(u64::to_ne_bytes);
        it.it.bytes(0, source, 16).copy_from_slice(words.as_flattened());
        let sum = abi::Operation {
            atomic: atomic::SUM,
            datatype: datatype::UINT64,
            ..operation(kind::ATOMIC, put, NONE, 16, 1)
        };
        it.send(&sum);
        it.send(&sum);
        let first = [it.it.bytes(1, memory + 40, 3).to_vec(), it.it.bytes(1, memory, 5).to_vec()].concat();
        assert_eq!(first, 0x0204_0608_0a0c_0e10u64.to_ne_bytes());
        assert_eq!(it.it.word(1, memory + 16), 10);
    });
}

#[test]
fn what_is_volatile_may_change_at_once() {
    each(|it| {
        it.append(&entry(it.memory, BYTES, Options::OP_PUT), PRIORITY_LIST).unwrap();
        let put = it.bind(DescriptorOptions::VOLATILE);
        let source = it.source;
        let before = it.it.bytes(0, source, 512).to_vec();
        let copied = it.counts(0).copied_to_send;
        let asked = abi::Operation { table: TABLE, ..operation(kind::PUT, put, NONE, 512, 1) };
        // Nothing has been sent yet when the call returns, if the wire takes nothing.
        assert_eq!(it.it.operate(0, it.from, &asked), Ok(0));
        it.it.bytes(0, source, 512).fill(0xee);
        it.it.settle();
        assert_eq!(it.it.bytes(1, it.memory, 512), before);
        assert!(it.counts(0).copied_to_send >= copied + 512);
        it.it.bytes(0, source, 512).copy_from_slice(&before);
        let add = abi::Operation {
            atomic: atomic::SUM,
            datatype: datatype::UINT64,
            bytes: 8,
            kind: kind::ATOMIC,
            ..asked
        };
        assert_eq!(it.it.operate(0, it.from, &add), Ok(0));
        it.it.bytes(0, source, 8).fill(0);
        it.it.settle();
        let word = u64::from_ne_bytes(before[..8].try_into().unwrap());
        assert_eq!(it.it.word(1, it.memory), word.wrapping_mul(2));
    });
}

const COUNTS: u64 = size_of::<NodeCounts>() as u64;
/// Bytes of the heads of a put's messages with their answer, at most: of frames and of messages.
const HEADS: u64 = 2 * 256;

#[test]
fn payload_is_copied_once_at_the_receiver_and_not_at_the_sender() {
    for nodes in [1, 2] {
        let mut it = Pair::new(nodes);
        it.append(&entry(it.memory, BYTES, Options::OP_PUT | Options::OP_GET), PRIORITY_LIST).unwrap();
        let put = it.bind(DescriptorOptions::empty());
        let (before, other) = (it.counts(1), it.counts(0));
        it.send(&abi::Operation { ack: ack::FULL, ..operation(kind::PUT, put, NONE, BYTES, 1) });
        it.send(&operation(kind::GET, NONE, put, BYTES, 1));
        let (after, mine) = (it.counts(1), it.counts(0));
        // The counts below Portals are those of all nodes here; counts that have been written count for the next.
        let told = match nodes {
            1 => after.told - other.told,
            _ => after.told + mine.told - before.told - COUNTS - other.told,
        };
        assert_eq!(after.written - other.written - told, 2 * BYTES, "{nodes}");
        assert_eq!(it.it.world.placeable > 2, nodes == 2, "both ways to receive are tried");
        let frames = mine.frames_sent - other.frames_sent;
        assert!(mine.copied_to_send - other.copied_to_send <= frames * HEADS, "{nodes}");
        if nodes == 2 {
            assert_eq!((after.payload - before.payload, mine.payload - other.payload), (BYTES, BYTES));
            assert!(frames > 2 * BYTES / 1514);
        }
    }
}

#[test]
fn an_entry_moves_its_offset_by_what_came_unexpected() {
    each(|it| {
        let overflow = abi::Entry {
            ignore: u64::MAX,
            ..entry(it.memory, 4_096, Options::OP_PUT | Options::MANAGE_LOCAL)
        };
        it.append(&overflow, OVERFLOW_LIST).unwrap();
        let put = it.bind(DescriptorOptions::empty());
        for bytes in [100, 200] {
            it.send(&abi::Operation { bits: 5, ..operation(kind::PUT, put, NONE, bytes, 1) });
        }
        it.received();
        let moves = Options::OP_PUT | Options::MANAGE_LOCAL | Options::LOCAL_INC_UH_RLENGTH;
        let late = abi::Entry { bits: 5, min_free: 50, ..entry(it.memory + 8_192, 1_000, moves) };
        it.append(&late, PRIORITY_LIST).unwrap();
        let kinds: Vec<u32> = it.received().iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [event::PUT_OVERFLOW, event::PUT_OVERFLOW, event::LINK]);
        it.send(&abi::Operation { bits: 5, ..operation(kind::PUT, put, NONE, 10, 1) });
        assert_eq!(it.received()[0].start, it.memory + 8_192 + 300);
        // One that has no room left after that is never appended.
        it.send(&abi::Operation { bits: 6, ..operation(kind::PUT, put, NONE, 100, 1) });
        it.received();
        let full = abi::Entry { bits: 6, min_free: 50, ..entry(it.memory + 8_192, 120, moves) };
        it.append(&full, PRIORITY_LIST).unwrap();
        let kinds: Vec<u32> = it.received().iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [event::PUT_OVERFLOW, event::AUTO_UNLINK]);
    });
}

#[test]
fn tables_can_begin_disabled_and_lists_have_an_end() {
    let mut it = Cluster::new(1, 1);
    let desired = abi::Limits { list_size: 2, iovecs: 3, ..abi::Limits::default() };
    let (wish, told) = (it.place(0, &desired), it.allocate(0, 128));
    let from = it.call(0, call::INTERFACE_OPEN, [MATCHING.bits().into(), wish, told, 0, 0, 0]).unwrap();
    let queue = it.queue(0, from, 16);
    assert_eq!(
        it.table(0, from, TableOptions::ALLOC_DISABLED | TableOptions::MATCH_UNORDERED, queue, 0),
        Ok(0)
    );
    assert_eq!(
        it.table(0, from, TableOptions::from_bits_retain(TableOptions::all().bits() + 1), queue, 1),
        Err(status::ARG_INVALID)
    );
    let memory = it.allocate(0, 64);
    for list in [PRIORITY_LIST, OVERFLOW_LIST] {
        let quiet = entry(memory, 8, Options::OP_PUT | Options::EVENT_LINK_DISABLE);
        assert!(it.append(0, from, 0, &quiet, list).is_ok() && it.append(0, from, 0, &quiet, list).is_ok());
        assert_eq!(it.append(0, from, 0, &quiet, list), Err(status::LIST_TOO_LONG));
    }
    let source = it.bind(0, from, &descriptor(memory, 8, queue)).unwrap();
    let put = abi::Operation { ack: ack::FULL, ..operation(kind::PUT, source, NONE, 8, 0) };
    let answer = |it: &mut Cluster| {
        assert_eq!(it.operate(0, from, &put), Ok(0));
        let events = it.events(0, queue);
        events.iter().find(|event| event.kind == event::ACK).unwrap().failure
    };
    assert_eq!(answer(&mut it), failure::PT_DISABLED);
    assert_eq!(it.call(0, call::TABLE_ENABLE, [from.into(), 0, 1, 0, 0, 0]), Ok(0));
    assert_eq!(answer(&mut it), failure::OK);
    assert_eq!(it.call(0, call::TABLE_ENABLE, [from.into(), 0, 0, 0, 0, 0]), Ok(0));
    assert_eq!(answer(&mut it), failure::PT_DISABLED);
    // The interface of an operation is that of its descriptor.
    let address = it.place(0, &put);
    assert_eq!(it.call(0, call::OPERATE, [0, address, 0, 0, 0, 0]), Ok(0));
    for handle in [queue, source, from] {
        assert_eq!(it.call(0, call::HANDLE_INTERFACE, [handle.into(), 0, 0, 0, 0, 0]), Ok(from));
    }
    for handle in [0, 7, NONE, queue + 1] {
        assert_eq!(
            it.call(0, call::HANDLE_INTERFACE, [handle.into(), 0, 0, 0, 0, 0]),
            Err(status::ARG_INVALID)
        );
    }
}

#[test]
fn entries_are_appended_and_unlinked_by_counters() {
    each(|it| {
        let (counter, _) = it.it.counter(1, it.to);
        let put = it.bind(DescriptorOptions::empty());
        let told = it.it.allocate(1, 8);
        let place = it.it.allocate(1, 72);
        let append = abi::Operation {
            kind: kind::ENTRY_APPEND,
            put_offset: place,
            get_offset: told,
            table: TABLE,
            trigger: counter,
            threshold: 3,
            user: 77,
            ..abi::Operation::default()
        };
        let (to, memory) = (it.to, it.memory);
        assert_eq!(it.it.operate(1, to, &append), Ok(0));
        // It is read when the counter has come so far.
        let later = abi::Entry { bits: 9, ..entry(memory, 100, Options::OP_PUT) };
        let temporary = it.it.place(1, &later);
        let bytes = it.it.bytes(1, temporary, 72).to_vec();
        it.it.bytes(1, place, 72).copy_from_slice(&bytes);
        it.send(&abi::Operation { bits: 9, ack: ack::FULL, ..operation(kind::PUT, put, NONE, 8, 1) });
        assert!(it.it.events(0, it.sends).iter().any(|event| event.failure == failure::DROPPED));
        assert_eq!(it.it.call(1, call::COUNTER_CHANGE, [counter.into(), 3, 0, 0, 0, 0]), Ok(0));
        let linked = it.received();
        assert_eq!((linked[0].kind, linked[0].user), (event::LINK, 77));
        it.send(&abi::Operation { bits: 9, ..operation(kind::PUT, put, NONE, 8, 1) });
        assert_eq!(it.received()[0].kind, event::PUT);
        let handle = it.it.word(1, told) as u32;
        let unlink = abi::Operation { kind: kind::ENTRY_UNLINK, put: handle, threshold: 4, ..append };
        assert_eq!(it.it.operate(1, to, &unlink), Ok(0));
        assert_eq!(it.it.call(1, call::COUNTER_CHANGE, [counter.into(), 1, 0, 0, 0, 0]), Ok(0));
        assert_eq!(
            it.it.call(1, call::ENTRY_UNLINK, [handle.into(), 0, 0, 0, 0, 0]),
            Err(status::ARG_INVALID)
        );
        // What is wrong when it is asked for is refused; what becomes wrong until then gives no handle.
        for wrong in [
            abi::Operation { trigger: NONE, ..append },
            abi::Operation { table: 9, ..append },
            abi::Operation { put_offset: 8, ..append },
            abi::Operation { get_offset: CONSTANTS, ..append },
            abi::Operation { atomic: 2, ..append },
            abi::Operation { trigger: NONE, ..unlink },
            unlink,
        ] {
            assert_eq!(it.it.operate(1, to, &wrong), Err(status::ARG_INVALID), "{wrong:?}");
        }
        assert_eq!(it.it.operate(1, to, &abi::Operation { threshold: 9, ..append }), Ok(0));
        it.it.bytes(1, place, 8).fill(0xff);
        assert_eq!(it.it.call(1, call::COUNTER_CHANGE, [counter.into(), 9, 0, 0, 0, 0]), Ok(0));
        assert_eq!(it.it.word(1, told) as u32, NONE);
    });
}

#[test]
fn an_event_tells_of_those_that_were_dropped_before_it() {
    let mut it = Pair::new(2);
    it.append(&entry(it.memory, 100, Options::OP_PUT), PRIORITY_LIST).unwrap();
    let put = it.bind(DescriptorOptions::empty());
    let asked = operation(kind::PUT, put, NONE, 8, 1);
    for _ in 0..40 {
        it.send(&asked);
    }
    assert!(it.received().iter().all(|event| event.dropped == 0));
    it.send(&asked);
    it.send(&asked);
    let dropped: Vec<u32> = it.received().iter().map(|event| event.dropped).collect();
    assert_eq!(dropped, [1, 0]);
}

#[test]
fn complex_numbers_are_added_and_compared_over_the_wire() {
    each(|it| {
        let open = entry(it.memory, BYTES, Options::OP_PUT | Options::OP_GET);
        it.append(&open, PRIORITY_LIST).unwrap();
        let (put, source, memory) = (it.bind(DescriptorOptions::empty()), it.source, it.memory);
        let bytes = |number: [f64; 2]| number.map(f64::to_ne_bytes).as_flattened().to_vec();
        it.it.bytes(1, memory, 16).copy_from_slice(&bytes([1.0, 2.0]));
        it.it.bytes(0, source, 16).copy_from_slice(&bytes([3.0, 4.0]));
        let sum = abi::Operation {
            atomic: atomic::PROD,
            datatype: datatype::DOUBLE_COMPLEX,
            ..operation(kind::ATOMIC, put, NONE, 16, 1)
        };
        it.send(&sum);
        assert_eq!(it.it.bytes(1, memory, 16), bytes([-5.0, 10.0]));
        let swap = |operand: [f64; 2]| abi::Operation {
            kind: kind::SWAP,
            get: put,
            get_offset: 64,
            atomic: atomic::CSWAP,
            operand: operand[0].to_bits(),
            failures: operand[1].to_bits(),
            ..sum
        };
        it.send(&swap([-5.0, 11.0]));
        assert_eq!(it.it.bytes(1, memory, 16), bytes([-5.0, 10.0]));
        it.send(&swap([-5.0, 10.0]));
        assert_eq!(it.it.bytes(1, memory, 16), bytes([3.0, 4.0]));
        assert_eq!(it.it.bytes(0, source + 64, 16), bytes([-5.0, 10.0]));
        for wrong in [
            abi::Operation { datatype: datatype::LONG_DOUBLE, ..sum },
            abi::Operation { atomic: atomic::MIN, ..sum },
            abi::Operation { bytes: 8, ..sum },
        ] {
            let wrong = abi::Operation { table: TABLE, ..wrong };
            assert_eq!(it.it.operate(0, it.from, &wrong), Err(status::ARG_INVALID));
        }
    });
}

/// Sends raw frames of rank 0 to rank 1's node: the words where answers are counted.
fn send_raw(it: &mut Pair, wanted: &RawFrames) -> (Result<u32, u32>, u64) {
    let words = it.it.allocate(0, 16);
    let frames = RawFrames { start: it.source, words, ..*wanted };
    let address = it.it.place(0, &frames);
    let answer = it.it.call(0, call::RAW_FRAMES, [it.from.into(), address, 0, 0, 0, 0]);
    it.it.settle();
    (answer, words)
}

#[test]
fn raw_frames_are_counted_and_answered_and_reach_nobody() {
    let mut it = Pair::new(2);
    it.append(&entry(it.memory, BYTES, Options::OP_PUT), PRIORITY_LIST).unwrap();
    let wanted = RawFrames { node: 1, asks: 1, bytes: 1_000, count: 5, ..RawFrames::default() };
    let (sent, words) = send_raw(&mut it, &wanted);
    assert_eq!(sent, Ok(5));
    assert_eq!((it.it.word(0, words), it.it.word(0, words + 8)), (1, 5));
    let (_, words) = send_raw(&mut it, &RawFrames { asks: 0, ..wanted });
    assert_eq!(it.it.word(0, words), 0, "nobody asked");
    let (_, words) = send_raw(&mut it, &RawFrames { bytes: 0, count: 1, ..wanted });
    assert_eq!((it.it.word(0, words), it.it.word(0, words + 8)), (2, 11));
    let (_, words) = send_raw(&mut it, &RawFrames { asks: 3, ..wanted });
    assert_eq!((it.it.word(0, words), it.it.word(0, words + 8)), (3, 16), "all checksums are right");
    assert_eq!(it.it.bytes(1, it.memory, 1_000), [0; 1_000]);
    for wrong in [
        RawFrames { node: 0, ..wanted },
        RawFrames { node: 2, ..wanted },
        RawFrames { asks: 4, ..wanted },
        RawFrames { bytes: 1_500, ..wanted },
        RawFrames { bytes: u64::MAX, ..wanted },
        RawFrames { count: 1 << 20, ..wanted },
    ] {
        assert_eq!(send_raw(&mut it, &wrong).0, Err(status::ARG_INVALID), "{wrong:?}");
    }
    let nowhere = RawFrames { words: CONSTANTS, start: it.source, ..wanted };
    let address = it.it.place(0, &nowhere);
    let refused = it.it.call(0, call::RAW_FRAMES, [it.from.into(), address, 0, 0, 0, 0]);
    assert_eq!(refused, Err(status::ARG_INVALID));
}

#[test]
fn raw_frames_of_another_job_are_dropped() {
    let mut it = Pair::new(2);
    let wanted = RawFrames { node: 1, asks: 1, bytes: 8, count: 1, ..RawFrames::default() };
    let frames = RawFrames { start: it.source, words: it.it.allocate(0, 16), ..wanted };
    let address = it.it.place(0, &frames);
    assert_eq!(it.it.call(0, call::RAW_FRAMES, [it.from.into(), address, 0, 0, 0, 0]), Ok(1));
    let frame = it.it.world.wires[1].pop_back().unwrap();
    // Job, node, rank, kind, a checksum that is none, length.
    for (at, value) in [(24, 9), (18, 7), (16, 9), (20, 0xff), (14, 3), (15, 1)] {
        let mut forged = frame.clone();
        forged[at] = value;
        it.it.world.wires[1].push_back(forged);
    }
    it.it.world.wires[1].push_back(frame[..20].to_vec());
    it.it.settle();
    assert_eq!(it.it.word(0, frames.words), 0);
    assert_eq!(it.it.nodes[1].counts().0.malformed, 7);
    it.it.world.wires[1].push_back(frame);
    it.it.settle();
    assert_eq!(it.it.word(0, frames.words), 1);
}
