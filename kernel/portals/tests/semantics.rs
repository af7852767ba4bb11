//! What each part of Portals promises, between ranks of one node, of one that is its own peer, and of two: the same tests for all.

mod common;

use common::*;
use lwk_abi::portals::{
    self as abi, DescriptorOptions, EntryOptions as Options, Event, InterfaceOptions, NONE, OVERFLOW_LIST,
    PRIORITY_LIST, PT_ANY, SEARCH_DELETE, SEARCH_ONLY, TableOptions, ack, atomic, datatype, event, failure,
    operation as kind, status,
};
use lwk_abi::syscall::portals as call;

const MATCHING: InterfaceOptions = InterfaceOptions::MATCHING.union(InterfaceOptions::LOGICAL);
const PLAIN: InterfaceOptions = InterfaceOptions::NO_MATCHING.union(InterfaceOptions::LOGICAL);

/// Where two ranks are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    OneNode,
    /// The node is its own peer.
    Loop,
    TwoNodes,
}

/// Rank 0 sends, `target` receives.
struct Pair {
    it: Cluster,
    target: u32,
    from: u32,
    to: u32,
    /// Queues of both.
    sends: u32,
    receives: u32,
    /// A descriptor of 64 KiB of the sender's, with its queue, and where that is.
    put: u32,
    source: u64,
    /// 64 KiB of the target's.
    memory: u64,
}

const BYTES: u64 = 64 << 10;

impl Pair {
    fn new(place: Place, options: InterfaceOptions, flags: TableOptions) -> Pair {
        let mut it = match place {
            Place::TwoNodes => Cluster::new(2, 1),
            _ => Cluster::with_loops(1, 2, place == Place::Loop),
        };
        let target = 1;
        let (from, to) = (it.interface(0, options), it.interface(target, options));
        let (sends, receives) = (it.queue(0, from, 64), it.queue(target, to, 32));
        assert_eq!(it.table(target, to, flags, receives, 3), Ok(3));
        let source = it.allocate(0, BYTES);
        for (at, byte) in it.bytes(0, source, BYTES).iter_mut().enumerate() {
            *byte = (at * 7 + at / 251) as u8;
        }
        let memory = it.allocate(target, BYTES);
        let put = it.bind(0, from, &descriptor(source, BYTES, sends)).unwrap();
        Pair { it, target, from, to, sends, receives, put, source, memory }
    }

    fn put(&mut self, bits: u64, bytes: u64) -> abi::Operation {
        abi::Operation {
            bits,
            table: 3,
            user: 5,
            ack: ack::FULL,
            ..operation(kind::PUT, self.put, NONE, bytes, self.target)
        }
    }

    fn send(&mut self, operation: &abi::Operation) {
        assert_eq!(self.it.operate(0, self.from, operation), Ok(0));
        self.it.settle();
    }

    fn append(&mut self, entry: &abi::Entry, list: u32) -> u32 {
        self.it.append(self.target, self.to, 3, entry, list).unwrap()
    }

    fn sent(&mut self) -> Vec<Event> {
        self.it.events(0, self.sends)
    }

    fn received(&mut self) -> Vec<Event> {
        self.it.events(self.target, self.receives)
    }

    fn assert_same(&mut self, at: u64, bytes: u64) {
        let sent = self.it.bytes(0, self.source, bytes).to_vec();
        assert_eq!(self.it.bytes(self.target, self.memory + at, bytes), sent);
    }
}

fn each(options: InterfaceOptions, flags: TableOptions, test: impl Fn(&mut Pair)) {
    for place in [Place::OneNode, Place::Loop, Place::TwoNodes] {
        test(&mut Pair::new(place, options, flags));
    }
}

fn kinds(events: &[Event]) -> Vec<(u32, u32)> {
    events.iter().map(|event| (event.kind, event.failure)).collect()
}

#[test]
fn a_put_arrives_and_both_are_told() {
    for bytes in [0, 1, 8, 1400, 1500, 5000, BYTES] {
        each(MATCHING, TableOptions::empty(), |it| {
            let entry = abi::Entry { bits: 77, user: 9, ..entry(it.memory, BYTES, Options::OP_PUT) };
            it.append(&entry, PRIORITY_LIST);
            let put = abi::Operation { data: 42, ..it.put(77, bytes) };
            it.send(&put);
            it.assert_same(0, bytes);
            let received = it.received();
            assert_eq!(kinds(&received), [(event::LINK, 0), (event::PUT, 0)]);
            let Event { done, requested, bits, data, user, node, start, .. } = received[1];
            assert_eq!(
                (done, requested, bits, data, user, node, start),
                (bytes, bytes, 77, 42, 9, 0, it.memory)
            );
            let mut sent = it.sent();
            sent.sort_by_key(|event| event.kind);
            assert_eq!(kinds(&sent), [(event::SEND, 0), (event::ACK, 0)]);
            assert_eq!((sent[1].done, sent[1].user), (bytes, 5));
        });
    }
}

#[test]
fn messages_leave_a_node_that_is_its_own_peer_and_no_other_one() {
    for (place, leave) in [(Place::OneNode, false), (Place::Loop, true)] {
        let mut it = Pair::new(place, MATCHING, TableOptions::empty());
        it.append(&entry(it.memory, BYTES, Options::OP_PUT), PRIORITY_LIST);
        // One frame in five is lost: the node sends it to itself again.
        it.it.world.lost = 200;
        let put = it.put(0, BYTES);
        it.send(&put);
        it.assert_same(0, BYTES);
        assert_eq!(it.it.world.counts.frames_sent > BYTES / 1514, leave);
    }
}

#[test]
fn an_interface_without_matching_takes_what_comes() {
    each(PLAIN, TableOptions::empty(), |it| {
        let entry = abi::Entry { bits: 5, ..entry(it.memory, BYTES, Options::OP_PUT) };
        it.append(&entry, PRIORITY_LIST);
        let put = abi::Operation { remote_offset: 100, ..it.put(1234, 50) };
        it.send(&put);
        it.assert_same(100, 50);
        assert_eq!(kinds(&it.received()), [(event::LINK, 0), (event::PUT, 0)]);
    });
}

#[test]
fn physical_interfaces_name_node_and_process() {
    each(InterfaceOptions::MATCHING | InterfaceOptions::PHYSICAL, TableOptions::empty(), |it| {
        // Half a wildcard: process 0 of any node.
        let entry = abi::Entry { process: 0, ..entry(it.memory, BYTES, Options::OP_PUT) };
        it.append(&entry, PRIORITY_LIST);
        let on_one_node = it.it.nodes.len() == 1;
        let (node, process) = if on_one_node { (0, 1) } else { (1, 0) };
        let put = abi::Operation { node, process, ..it.put(0, 8) };
        it.send(&put);
        let received = it.received();
        assert_eq!(kinds(&received), [(event::LINK, 0), (event::PUT, 0)]);
        assert_eq!((received[1].node, received[1].process), (0, 0));
        let nobody = abi::Operation { node: 9, ..put };
        assert_eq!(it.it.operate(0, it.from, &nobody), Err(status::ARG_INVALID));
    });
}

#[test]
fn a_get_fetches() {
    for bytes in [1, 3000, BYTES] {
        each(MATCHING, TableOptions::empty(), |it| {
            for (at, byte) in it.it.bytes(1, it.memory, BYTES).iter_mut().enumerate() {
                *byte = (at / 3) as u8;
            }
            it.append(&entry(it.memory, BYTES, Options::OP_GET), PRIORITY_LIST);
            let get = abi::Operation { table: 3, user: 8, ..operation(kind::GET, NONE, it.put, bytes, 1) };
            it.send(&get);
            let expected = it.it.bytes(1, it.memory, bytes).to_vec();
            assert_eq!(it.it.bytes(0, it.source, bytes), expected);
            let sent = it.sent();
            assert_eq!(kinds(&sent), [(event::REPLY, 0)]);
            assert_eq!((sent[0].done, sent[0].user), (bytes, 8));
            assert_eq!(kinds(&it.received()), [(event::LINK, 0), (event::GET, 0)]);
        });
    }
}

#[test]
fn atomics_work_at_the_target_and_fetch_what_was_there() {
    each(MATCHING, TableOptions::empty(), |it| {
        it.append(&entry(it.memory, BYTES, Options::OP_PUT | Options::OP_GET), PRIORITY_LIST);
        let there = it.it.allocate(0, 64);
        let get = it.it.bind(0, it.from, &descriptor(there, 64, it.sends)).unwrap();
        let set =
            |it: &mut Pair, value: u64| it.it.bytes(0, it.source, 8).copy_from_slice(&value.to_ne_bytes());
        set(it, 5);
        let sum = abi::Operation {
            table: 3,
            atomic: atomic::SUM,
            datatype: datatype::UINT64,
            ack: ack::FULL,
            ..operation(kind::ATOMIC, it.put, NONE, 8, 1)
        };
        it.send(&sum);
        it.send(&sum);
        assert_eq!(it.it.word(1, it.memory), 10);
        let fetch = abi::Operation { kind: kind::FETCH_ATOMIC, get, ack: ack::NONE, ..sum };
        it.send(&fetch);
        assert_eq!((it.it.word(0, there), it.it.word(1, it.memory)), (10, 15));
        let swap = abi::Operation { kind: kind::SWAP, atomic: atomic::CSWAP, operand: 15, ..fetch };
        set(it, 99);
        it.send(&swap);
        it.send(&swap);
        assert_eq!((it.it.word(0, there), it.it.word(1, it.memory)), (99, 99));
        let received = it.received();
        let atomics =
            [event::ATOMIC, event::ATOMIC, event::FETCH_ATOMIC, event::FETCH_ATOMIC, event::FETCH_ATOMIC];
        assert_eq!(received[1..].iter().map(|event| event.kind).collect::<Vec<_>>(), atomics);
        assert_eq!(received[1].atomic, atomic::SUM);
        // What makes no sense is refused.
        for wrong in [
            abi::Operation { bytes: 7, ..sum },
            abi::Operation { bytes: 1024, ..sum },
            abi::Operation { datatype: 77, ..sum },
            abi::Operation { atomic: atomic::CSWAP, ..sum },
            abi::Operation { bytes: 16, ..swap },
            abi::Operation { get: NONE, ..swap },
            abi::Operation { kind: 99, ..sum },
        ] {
            assert_eq!(it.it.operate(0, it.from, &wrong), Err(status::ARG_INVALID), "{wrong:?}");
        }
    });
}

/// An atomic operation on aligned words loses nothing of what ranks do to each by instructions of their own.
#[test]
fn atomics_on_a_word_hold_against_the_ranks_of_the_node() {
    each(MATCHING, TableOptions::empty(), |it| {
        it.append(&entry(it.memory, BYTES, Options::OP_PUT | Options::OP_GET), PRIORITY_LIST);
        let there = it.it.allocate(0, 64);
        let get = it.it.bind(0, it.from, &descriptor(there, 64, it.sends)).unwrap();
        it.it.bytes(0, it.source, 8).copy_from_slice(&5u64.to_ne_bytes());
        let sum = abi::Operation {
            table: 3,
            atomic: atomic::SUM,
            datatype: datatype::UINT64,
            ..operation(kind::FETCH_ATOMIC, it.put, get, 8, 1)
        };
        it.it.world.added_between = vec![2000, 1000];
        it.send(&sum);
        assert_eq!((it.it.word(0, there), it.it.word(1, it.memory)), (3000, 3005));
        it.send(&sum);
        assert_eq!((it.it.word(0, there), it.it.word(1, it.memory)), (3005, 3010));
        it.it.bytes(0, it.source + 8, 8).copy_from_slice(&7u64.to_ne_bytes());
        it.it.world.added_between = vec![200, 0, 100];
        it.send(&abi::Operation { bytes: 16, ..sum });
        let words = [0, 8].map(|at| (it.it.word(0, there + at), it.it.word(1, it.memory + at)));
        assert_eq!(words, [(3110, 3115), (200, 207)]);
    });
}

#[test]
fn unexpected_messages_wait_in_the_overflow_list() {
    each(MATCHING, TableOptions::empty(), |it| {
        let overflow = abi::Entry {
            ignore: u64::MAX,
            min_free: 100,
            user: 1,
            ..entry(it.memory, 300, Options::OP_PUT | Options::MANAGE_LOCAL)
        };
        it.append(&overflow, OVERFLOW_LIST);
        for bits in [1, 2, 3] {
            let put = it.put(bits, 90);
            it.send(&put);
        }
        it.assert_same(90, 90);
        let received = it.received();
        // The third leaves 30 bytes, which is too little.
        let expected = [event::LINK, event::PUT, event::PUT, event::AUTO_UNLINK, event::PUT];
        assert_eq!(received.iter().map(|event| event.kind).collect::<Vec<_>>(), expected);
        assert!(received[1..].iter().all(|event| event.list == OVERFLOW_LIST && event.user == 1));
        assert_eq!(received[2].start, it.memory + 90);
        let wanted =
            |bits| abi::Entry { bits, user: 2, ..entry(0x10_0000, 0, Options::OP_PUT | Options::USE_ONCE) };
        // Looking changes nothing.
        for _ in 0..2 {
            assert_eq!(it.it.search(1, it.to, 3, &wanted(2), SEARCH_ONLY), Ok(0));
            let found = it.received();
            assert_eq!(
                (found[0].kind, found[0].failure, found[0].bits, found[0].start),
                (event::SEARCH, 0, 2, it.memory + 90)
            );
        }
        assert_eq!(it.it.search(1, it.to, 3, &wanted(7), SEARCH_ONLY), Ok(0));
        assert_eq!(kinds(&it.received()), [(event::SEARCH, failure::NO_MATCH)]);
        it.append(&wanted(2), PRIORITY_LIST);
        let taken = it.received();
        assert_eq!(
            taken.iter().map(|event| event.kind).collect::<Vec<_>>(),
            [event::PUT_OVERFLOW, event::AUTO_UNLINK]
        );
        assert_eq!((taken[0].bits, taken[0].user, taken[0].start, taken[0].done), (2, 2, it.memory + 90, 90));
        assert_eq!(it.it.search(1, it.to, 3, &wanted(1), SEARCH_DELETE), Ok(0));
        assert_eq!(kinds(&it.received()), [(event::PUT_OVERFLOW, 0)]);
        // With the last of them the memory is free again. An entry that stays takes all there are.
        let all = abi::Entry { ignore: u64::MAX, ..entry(0x10_0000, 0, Options::OP_PUT) };
        it.append(&all, PRIORITY_LIST);
        assert_eq!(
            kinds(&it.received()),
            [(event::PUT_OVERFLOW, 0), (event::AUTO_FREE, 0), (event::LINK, 0)]
        );
    });
}

#[test]
fn the_target_manages_offsets_and_truncates() {
    each(MATCHING, TableOptions::empty(), |it| {
        it.append(
            &abi::Entry { bits: 1, ..entry(it.memory, 100, Options::OP_PUT | Options::MANAGE_LOCAL) },
            PRIORITY_LIST,
        );
        it.append(
            &abi::Entry { bits: 2, ..entry(it.memory, 100, Options::OP_PUT | Options::NO_TRUNCATE) },
            PRIORITY_LIST,
        );
        let mut done = Vec::new();
        for (bits, bytes, remote_offset) in [(1, 60, 50), (1, 60, 0), (1, 60, 0), (2, 60, 50), (2, 50, 50)] {
            let put = abi::Operation { remote_offset, ..it.put(bits, bytes) };
            it.send(&put);
            let sent = it.sent();
            let answer = sent.iter().find(|event| event.kind == event::ACK).unwrap();
            done.push((answer.failure, answer.done, answer.remote_offset));
        }
        assert_eq!(done, [(0, 60, 0), (0, 40, 60), (0, 0, 100), (failure::DROPPED, 0, 0), (0, 50, 50)]);
    });
}

#[test]
fn what_is_not_allowed_is_told_and_counted() {
    each(MATCHING, TableOptions::empty(), |it| {
        it.append(&abi::Entry { bits: 1, ..entry(it.memory, 100, Options::OP_GET) }, PRIORITY_LIST);
        it.append(&abi::Entry { bits: 2, uid: 7, ..entry(it.memory, 100, Options::OP_PUT) }, PRIORITY_LIST);
        let mut failures = Vec::new();
        for (bits, table) in [(1, 3), (2, 3), (3, 3), (1, 4), (1, 4000)] {
            let put = abi::Operation { table, ..it.put(bits, 8) };
            it.send(&put);
            failures.push(it.sent().iter().find(|event| event.kind == event::ACK).unwrap().failure);
        }
        let dropped = failure::DROPPED;
        assert_eq!(failures, [failure::OP_VIOLATION, failure::PERM_VIOLATION, dropped, dropped, dropped]);
        for (register, count) in [(0, 3), (1, 1), (2, 1)] {
            assert_eq!(
                it.it.call(1, call::INTERFACE_STATUS, [it.to.into(), register, 0, 0, 0, 0]),
                Ok(count)
            );
        }
        assert_eq!(it.it.bytes(1, it.memory, 8), [0; 8]);
    });
}

#[test]
fn kinds_of_acknowledgements() {
    each(MATCHING, TableOptions::empty(), |it| {
        it.append(&entry(it.memory, 100, Options::OP_PUT), PRIORITY_LIST);
        it.append(
            &abi::Entry { bits: 1, ..entry(it.memory, 100, Options::OP_PUT | Options::ACK_DISABLE) },
            PRIORITY_LIST,
        );
        let (counter, words) = it.it.counter(0, it.from);
        let counting = abi::Descriptor {
            options: DescriptorOptions::EVENT_CT_ACK,
            counter,
            ..descriptor(it.source, BYTES, it.sends)
        };
        let put = it.it.bind(0, it.from, &counting).unwrap();
        for (kind, bits, events, count) in [
            (ack::NONE, 0, 1, 0),
            (ack::FULL, 0, 2, 1),
            (ack::COUNTING, 0, 1, 2),
            (ack::OPERATION_COMPLETED, 0, 1, 3),
            (ack::FULL, 1, 1, 3),
        ] {
            let operation = abi::Operation { ack: kind, put, ..it.put(bits, 8) };
            it.send(&operation);
            assert_eq!((it.sent().len(), it.it.word(0, words)), (events, count), "{kind} {bits}");
        }
        assert_eq!(it.it.call(0, call::DESCRIPTOR_RELEASE, [put.into(), 0, 0, 0, 0, 0]), Ok(0));
    });
}

#[test]
fn a_receiver_without_room_disables_its_table_and_loses_nothing() {
    each(MATCHING, TableOptions::FLOWCTRL, |it| {
        // Room for three messages; then there is no entry, and later no place for an event.
        let mut got = Vec::new();
        let mut next = 0u64;
        let mut disabled = 0;
        let mut outstanding = std::collections::VecDeque::new();
        for round in 0..40 {
            for _ in 0..3 {
                let entry = abi::Entry {
                    ignore: u64::MAX,
                    ..entry(it.memory, 100, Options::OP_PUT | Options::USE_ONCE)
                };
                it.append(&entry, PRIORITY_LIST);
            }
            for _ in 0..5 {
                if outstanding.len() < 5 {
                    outstanding.push_back(next);
                    next += 1;
                }
            }
            for number in outstanding.clone() {
                let put = abi::Operation { data: number, user: number, ..it.put(0, 8) };
                it.send(&put);
            }
            // Every second time the receiver does not look at its queue at once.
            for event in if round % 2 == 0 { it.received() } else { Vec::new() } {
                match event.kind {
                    event::PUT => got.push(event.data),
                    event::PT_DISABLED => disabled += 1,
                    _ => {}
                }
            }
            for event in it.sent() {
                if event.kind == event::ACK && event.failure == 0 {
                    outstanding.retain(|number| *number != event.user);
                } else if event.kind == event::ACK {
                    assert_eq!(event.failure, failure::PT_DISABLED);
                }
            }
            assert_eq!(it.it.call(1, call::TABLE_ENABLE, [it.to.into(), 3, 1, 0, 0, 0]), Ok(0));
        }
        got.extend(it.received().iter().filter(|event| event.kind == event::PUT).map(|event| event.data));
        let acknowledged = next - outstanding.len() as u64;
        assert_eq!(got, (0..acknowledged).collect::<Vec<_>>(), "each once and in order");
        assert!(disabled > 5 && acknowledged > 30, "{disabled} {acknowledged}");
        // The queue is the first thing that the target has allocated.
        assert_eq!(it.it.word(1, BASE + abi::QUEUE_DROPPED), 0, "no event was dropped");
    });
}

#[test]
fn a_full_queue_without_flow_control_drops_events_and_says_so() {
    each(MATCHING, TableOptions::empty(), |it| {
        it.append(&entry(it.memory, 100, Options::OP_PUT), PRIORITY_LIST);
        for _ in 0..40 {
            let put = it.put(0, 8);
            it.send(&put);
        }
        assert_eq!(it.received().len(), 32);
        assert_eq!(it.it.word(1, BASE + abi::QUEUE_DROPPED), 41 - 32);
    });
}

#[test]
fn counting_events_trigger_in_order_and_in_chains() {
    each(MATCHING, TableOptions::empty(), |it| {
        it.append(&entry(it.memory, BYTES, Options::OP_PUT), PRIORITY_LIST);
        let (first, _) = it.it.counter(0, it.from);
        let (second, words) = it.it.counter(0, it.from);
        for (data, threshold) in [(1, 2), (2, 1), (3, 2), (4, 3)] {
            let put = abi::Operation { trigger: first, threshold, data, ack: ack::NONE, ..it.put(0, 8) };
            it.send(&put);
        }
        let chain = abi::Operation {
            kind: kind::CT_INC,
            trigger: first,
            threshold: 2,
            counter: second,
            operand: 10,
            failures: 1,
            ..it.put(0, 0)
        };
        it.send(&chain);
        let last = abi::Operation { trigger: second, threshold: 11, data: 5, ack: ack::NONE, ..it.put(0, 8) };
        it.send(&last);
        it.received();
        assert_eq!(it.it.call(0, call::COUNTER_CHANGE, [first.into(), 2, 0, 0, 0, 0]), Ok(0));
        it.it.settle();
        let data: Vec<u64> = it.received().iter().map(|event| event.data).collect();
        assert_eq!(data, [2, 1, 3, 5]);
        assert_eq!((it.it.word(0, words), it.it.word(0, words + 8)), (10, 1));
        assert_eq!(it.it.call(0, call::COUNTER_CANCEL, [first.into(), 0, 0, 0, 0, 0]), Ok(0));
        assert_eq!(it.it.call(0, call::COUNTER_CHANGE, [first.into(), 9, 0, 1, 0, 0]), Ok(0));
        it.it.settle();
        assert!(it.received().is_empty(), "what was cancelled does not happen");
        // A threshold that has been reached triggers at once.
        let put = abi::Operation { trigger: first, threshold: 9, data: 6, ack: ack::NONE, ..it.put(0, 8) };
        it.send(&put);
        assert_eq!(it.received()[0].data, 6);
    });
}

#[test]
fn handles_of_others_old_ones_and_guesses_are_refused() {
    let mut it = Pair::new(Place::OneNode, MATCHING, TableOptions::empty());
    let (queue, to) = (it.receives, it.to);
    let entry = it.append(&entry(it.memory, 100, Options::OP_PUT), PRIORITY_LIST);
    let (counter, _) = it.it.counter(1, to);
    let refused = Err(status::ARG_INVALID);
    let call_of = |it: &mut Pair, rank: u32, number: u64, handle: u32| {
        it.it.call(rank, number, [handle.into(), 0, 0, 0, 0, 0])
    };
    for (number, handle) in [
        (call::QUEUE_FREE, queue),
        (call::ENTRY_UNLINK, entry),
        (call::COUNTER_FREE, counter),
        (call::COUNTER_CHANGE, counter),
        (call::COUNTER_CANCEL, counter),
        (call::INTERFACE_CLOSE, to),
        (call::INTERFACE_STATUS, to),
        (call::BUNDLE, to),
        (call::TABLE_FREE, to),
        (call::QUEUE_FREE, counter),
        (call::QUEUE_FREE, 0),
        (call::QUEUE_FREE, u32::MAX),
    ] {
        assert_eq!(call_of(&mut it, 0, number, handle), refused, "{number:#x}");
    }
    // Another's queue or counter cannot be one's own.
    let (from, source) = (it.from, it.source);
    assert_eq!(it.it.bind(0, from, &descriptor(source, 8, queue)), refused);
    assert_eq!(it.it.table(0, from, TableOptions::empty(), queue, PT_ANY), refused);
    let own = it.put;
    let wrong = abi::Operation { trigger: counter, threshold: 1, ..it.put(0, 8) };
    assert_eq!(it.it.operate(0, from, &wrong), refused);
    let wrong = abi::Operation { put: own, ..it.put(0, 8) };
    assert_eq!(it.it.operate(1, it.to, &wrong), refused);
    assert_eq!(call_of(&mut it, 1, call::ENTRY_UNLINK, entry), Ok(0));
    assert_eq!(call_of(&mut it, 1, call::ENTRY_UNLINK, entry), refused);
    assert_eq!(call_of(&mut it, 1, call::INTERFACE_CLOSE, to), Ok(0));
    assert_eq!(call_of(&mut it, 1, call::QUEUE_FREE, queue), refused);
    assert_eq!(call_of(&mut it, 1, call::INTERFACE_CLOSE, to), refused);
    let again = it.it.interface(1, MATCHING);
    assert_ne!(again, to);
}

#[test]
fn no_argument_leads_out_of_the_callers_memory() {
    let mut it = Pair::new(Place::OneNode, MATCHING, TableOptions::empty());
    let refused = Err(status::ARG_INVALID);
    let from = it.from;
    for (start, bytes) in
        [(0, 8), (BASE - 1, 8), (END - 1, 8), (u64::MAX - 3, 8), (BASE, u64::MAX), (BASE, END - BASE + 1)]
    {
        assert_eq!(it.it.bind(0, from, &descriptor(start, bytes, NONE)), refused, "{start:#x} {bytes}");
        assert_eq!(it.it.append(1, it.to, 3, &entry(start, bytes, Options::OP_PUT), PRIORITY_LIST), refused);
        assert_eq!(it.it.append(1, it.to, 3, &entry(start, bytes, Options::OP_GET), PRIORITY_LIST), refused);
    }
    // Constants can be read, and not written.
    assert_eq!(it.it.append(1, it.to, 3, &entry(CONSTANTS, 8, Options::OP_PUT), PRIORITY_LIST), refused);
    assert!(it.it.append(1, it.to, 3, &entry(CONSTANTS, 8, Options::OP_GET), PRIORITY_LIST).is_ok());
    let constants = it.it.bind(0, from, &descriptor(CONSTANTS, 8, NONE)).unwrap();
    let get = abi::Operation { table: 3, ..operation(kind::GET, NONE, constants, 8, 1) };
    assert_eq!(it.it.operate(0, from, &get), refused);
    for (offset, bytes) in [(BYTES, 1), (u64::MAX, 2), (1, u64::MAX), (0, BYTES + 1)] {
        let wrong = abi::Operation { put_offset: offset, ..it.put(0, bytes) };
        assert_eq!(it.it.operate(0, from, &wrong), refused);
    }
    for address in [0, 8, END, u64::MAX] {
        for number in call::RANGE {
            if matches!(
                number,
                call::DESCRIPTOR_BIND | call::OPERATE | call::ENTRY_APPEND | call::ENTRY_SEARCH
            ) {
                let arguments = if (call::ENTRY_APPEND..=call::ENTRY_SEARCH).contains(&number) {
                    [it.to.into(), 3, address, 0, 0, 0]
                } else {
                    [from.into(), address, 0, 0, 0, 0]
                };
                let rank = u32::from(arguments[0] == u64::from(it.to));
                assert_eq!(it.it.call(rank, number, arguments), refused, "{number:#x} {address:#x}");
            }
        }
        assert_eq!(it.it.call(0, call::QUEUE_ALLOCATE, [from.into(), address, 8, 0, 0, 0]), refused);
        assert_eq!(it.it.call(0, call::COUNTER_ALLOCATE, [from.into(), address, 0, 0, 0, 0]), refused);
    }
    for size in [0, 1 << 30, u64::MAX] {
        assert_eq!(it.it.call(0, call::QUEUE_ALLOCATE, [from.into(), BASE, size, 0, 0, 0]), refused);
    }
}

#[test]
fn limits_hold_and_everything_comes_back() {
    let mut it = Cluster::new(1, 1);
    let desired = abi::Limits {
        entries: 3,
        descriptors: 2,
        queues: 1,
        counters: 1,
        table_index: 1,
        ..abi::Limits::default()
    };
    for _ in 0..5 {
        let (wish, told) = (it.place(0, &desired), it.allocate(0, 128));
        let from = it.call(0, call::INTERFACE_OPEN, [MATCHING.bits().into(), wish, told, 0, 0, 0]).unwrap();
        assert_eq!(it.word(0, told) as u32, 3);
        let queue = it.queue(0, from, 8);
        it.counter(0, from);
        assert_eq!(
            it.call(0, call::COUNTER_ALLOCATE, [from.into(), BASE, 0, 0, 0, 0]),
            Err(status::NO_SPACE)
        );
        assert_eq!(it.table(0, from, TableOptions::FLOWCTRL, NONE, 0), Err(status::PT_EQ_NEEDED));
        assert_eq!(it.table(0, from, TableOptions::empty(), queue, 0), Ok(0));
        assert_eq!(it.table(0, from, TableOptions::empty(), queue, 0), Err(status::PT_IN_USE));
        assert_eq!(it.table(0, from, TableOptions::empty(), queue, PT_ANY), Ok(1));
        assert_eq!(it.table(0, from, TableOptions::empty(), queue, PT_ANY), Err(status::PT_FULL));
        assert_eq!(it.call(0, call::QUEUE_FREE, [queue.into(), 0, 0, 0, 0, 0]), Err(status::IN_USE));
        for _ in 0..3 {
            it.append(0, from, 0, &entry(BASE, 8, Options::OP_PUT), PRIORITY_LIST).unwrap();
        }
        assert_eq!(
            it.append(0, from, 0, &entry(BASE, 8, Options::OP_PUT), PRIORITY_LIST),
            Err(status::NO_SPACE)
        );
        assert_eq!(it.call(0, call::TABLE_FREE, [from.into(), 0, 0, 0, 0, 0]), Err(status::PT_IN_USE));
        for _ in 0..2 {
            it.bind(0, from, &descriptor(BASE, 8, queue)).unwrap();
        }
        assert_eq!(it.bind(0, from, &descriptor(BASE, 8, queue)), Err(status::NO_SPACE));
        assert_eq!(it.call(0, call::INTERFACE_CLOSE, [from.into(), 0, 0, 0, 0, 0]), Ok(0));
        assert!(it.nodes[0].is_empty());
    }
}

#[test]
fn an_operation_on_a_dead_node_fails_within_ten_seconds() {
    for sent_before in [false, true] {
        let mut it = Pair::new(Place::TwoNodes, MATCHING, TableOptions::empty());
        it.append(&entry(it.memory, BYTES, Options::OP_PUT | Options::OP_GET), PRIORITY_LIST);
        let warm = it.put(0, 8);
        it.send(&warm);
        it.sent();
        let get = abi::Operation { table: 3, ..operation(kind::GET, NONE, it.put, 8, 1) };
        if sent_before {
            // The node has the request, and dies before it answers.
            assert_eq!(it.it.operate(0, it.from, &get), Ok(0));
            let frames = std::mem::take(&mut it.it.world.wires[1]);
            let now = it.it.world.now;
            for frame in frames {
                it.it.nodes[1].receive(&frame, now, &mut Home { world: &mut it.it.world, node: 1 });
            }
        }
        it.it.world.dead[1] = true;
        let since = it.it.world.now;
        if !sent_before {
            assert_eq!(it.it.operate(0, it.from, &get), Ok(0));
        }
        let put = it.put(0, 5000);
        assert_eq!(it.it.operate(0, it.from, &put), Ok(0));
        it.it.settle_until(since + 10_000_000);
        let mut told = kinds(&it.sent());
        told.sort();
        let failed = failure::UNDELIVERABLE;
        assert_eq!(
            told,
            [(event::REPLY, failed), (event::SEND, failed), (event::ACK, failed)],
            "{sent_before}"
        );
    }
}

/// What is under way to a node that begins anew fails by an event, whether its earlier life had it or not; and whoever waits there learns of it.
#[test]
fn an_operation_on_a_node_that_restarts_fails_within_ten_seconds() {
    for sent_before in [false, true] {
        let mut it = Pair::new(Place::TwoNodes, MATCHING, TableOptions::empty());
        it.append(&entry(it.memory, BYTES, Options::OP_PUT | Options::OP_GET), PRIORITY_LIST);
        let warm = it.put(0, 8);
        it.send(&warm);
        it.sent();
        assert_eq!(it.it.watch(0), None);
        let get = abi::Operation { table: 3, ..operation(kind::GET, NONE, it.put, 8, 1) };
        assert_eq!(it.it.operate(0, it.from, &get), Ok(0));
        if sent_before {
            let frames = std::mem::take(&mut it.it.world.wires[1]);
            let now = it.it.world.now;
            for frame in frames {
                it.it.nodes[1].receive(&frame, now, &mut Home { world: &mut it.it.world, node: 1 });
            }
        }
        it.it.restart(1);
        let since = it.it.world.now;
        it.it.settle_until(since + 10_000_000);
        assert_eq!(kinds(&it.sent()), [(event::REPLY, failure::UNDELIVERABLE)], "{sent_before}");
        let lost = it.it.watch(0).expect("the node that was there is not any more");
        assert!(lost.node.0 == 1 && lost.restarted, "{lost:?}");
    }
}

#[test]
fn a_node_cannot_speak_for_the_ranks_of_another() {
    use lwk_frames::{Sender, Upper};
    // Three nodes of one rank: node 2 forges messages of rank 0's to rank 1.
    let mut it = Cluster::new(3, 1);
    let to = it.interface(1, MATCHING);
    let queue = it.queue(1, to, 16);
    it.table(1, to, TableOptions::empty(), queue, 3).unwrap();
    it.append(1, to, 3, &entry(BASE + 65536, 64, Options::OP_PUT), PRIORITY_LIST).unwrap();
    it.kinds(1, queue);
    struct Forger(Vec<u8>, Vec<Vec<u8>>);
    impl Upper<u32> for Forger {
        fn checksum(&self, seed: u32, _: &u32, offset: u64, bytes: usize) -> u32 {
            lwk_frames::checksum::append(seed, &self.0[offset as usize..][..bytes])
        }
        fn is_waited_for(&self, _: &u32) -> bool {
            false
        }
        fn transmit(
            &mut self,
            _: lwk_frames::NodeId,
            head: &[u8; 64],
            piece: Option<(&u32, u64, usize)>,
        ) -> bool {
            let body = piece.map_or(&[][..], |(_, offset, bytes)| &self.0[offset as usize..][..bytes]);
            self.1.push([head, body].concat());
            true
        }
        fn deliver(&mut self, _: Sender, _: &[u8], _: bool, _: bool) -> bool {
            true
        }
        fn completed(&mut self, _: lwk_frames::NodeId, _: &u32) {}
        fn failed(&mut self, _: lwk_frames::NodeId, _: &u32) {}
        fn broken(&mut self, _: Sender) {}
    }
    let mut link: Box<lwk_frames::Link<u32>> = bytemuck::allocation::zeroed_box();
    let identity =
        lwk_frames::Identity { node: lwk_frames::NodeId(2), nodes: 3, job: JOB, epoch: 9, frame_bytes: 1514 };
    link.start(identity);
    use lwk_portals::message::{Message, kind};
    let honest = Message {
        kind: kind::PUT,
        interface: 3,
        table: 3,
        source: 2,
        target: 1,
        bytes: 8,
        ..Message::default()
    };
    let forged = [
        Message { source: 0, ..honest },
        Message { source: 77, ..honest },
        Message { target: 0, ..honest },
        Message { target: 77, ..honest },
        Message { kind: kind::ACK, bytes: 0, ..honest },
        Message { kind: kind::REPLY, done: 8, bytes: 0, ..honest },
        Message { kind: kind::ATOMIC, datatype: 99, ..honest },
        Message { kind: kind::SWAP, atomic: 255, ..honest },
    ];
    let send = |it: &mut Cluster, link: &mut lwk_frames::Link<u32>, message: &Message| {
        let body = message.body_bytes() as usize;
        let mut port = Forger([&message.encode()[..], &vec![7; body]].concat(), Vec::new());
        link.send(lwk_frames::NodeId(1), port.0.len() as u64, 0, it.world.now).unwrap();
        for _ in 0..6 {
            link.work(it.world.now, &mut port);
            it.world.wires[1].extend(port.1.drain(..));
            it.settle_until(it.world.now);
            for frame in std::mem::take(&mut it.world.wires[2]) {
                link.receive(&frame, it.world.now, &mut port);
            }
            // What node 2 itself would answer is not wanted.
            it.world.now += 1;
        }
    };
    // Node 2's own state must not answer for the forger.
    it.nodes.pop();
    for (done, message) in forged.iter().enumerate() {
        send(&mut it, &mut link, message);
        assert_eq!(it.nodes[1].counts().0.malformed, done as u64 + 1, "{message:?}");
    }
    assert!(it.kinds(1, queue).is_empty());
    send(&mut it, &mut link, &honest);
    assert_eq!(it.kinds(1, queue), [event::PUT]);
}
