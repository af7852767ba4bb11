//! The contract's structures (`lwk_abi::portals`) as bytes in programs' memory, field by field.

use lwk_abi::portals::{
    Descriptor, DescriptorOptions, Entry, EntryOptions, Event, Limits, NodeCounts, Operation, RawFrames,
};

/// Bytes of an event.
pub fn event_bytes(event: &Event) -> [u8; size_of::<Event>()] {
    let mut bytes = [0; size_of::<Event>()];
    let mut to = Writer(&mut bytes);
    to.long(event.sequence);
    let words = [
        event.kind,
        event.failure,
        event.list,
        event.table,
        event.node,
        event.process,
        event.uid,
        event.atomic,
        event.datatype,
        event.dropped,
    ];
    for word in words {
        to.word(word);
    }
    let longs =
        [event.bits, event.requested, event.done, event.remote_offset, event.start, event.user, event.data];
    for long in longs {
        to.long(long);
    }
    bytes
}

/// Bytes of limits.
pub fn limits_bytes(limits: &Limits) -> [u8; size_of::<Limits>()] {
    let mut bytes = [0; size_of::<Limits>()];
    let mut to = Writer(&mut bytes);
    let words = [
        limits.entries,
        limits.unexpected_headers,
        limits.descriptors,
        limits.queues,
        limits.counters,
        limits.table_index,
        limits.iovecs,
        limits.list_size,
        limits.triggered,
        limits.reserved,
    ];
    for word in words {
        to.word(word);
    }
    let longs = [
        limits.message_bytes,
        limits.atomic_bytes,
        limits.fetch_atomic_bytes,
        limits.ordered_bytes,
        limits.volatile_bytes,
    ];
    for long in longs {
        to.long(long);
    }
    bytes
}

/// Bytes of a node's counts.
pub fn counts_bytes(counts: &NodeCounts) -> [u8; size_of::<NodeCounts>()] {
    let mut bytes = [0; size_of::<NodeCounts>()];
    let mut to = Writer(&mut bytes);
    let longs = [
        counts.sent,
        counts.arrived,
        counts.payload,
        counts.written,
        counts.told,
        counts.copied_to_send,
        counts.frames_sent,
        counts.frames_received,
        counts.retransmitted,
        counts.interrupts,
        counts.timer,
        counts.kept,
        counts.peers,
        counts.resets,
        counts.triggered,
        counts.strangers,
    ];
    for long in longs {
        to.long(long);
    }
    bytes
}

/// Limits out of their bytes.
pub fn limits(bytes: &[u8; size_of::<Limits>()]) -> Limits {
    let mut from = Reader(bytes);
    Limits {
        entries: from.word(),
        unexpected_headers: from.word(),
        descriptors: from.word(),
        queues: from.word(),
        counters: from.word(),
        table_index: from.word(),
        iovecs: from.word(),
        list_size: from.word(),
        triggered: from.word(),
        reserved: from.word(),
        message_bytes: from.long(),
        atomic_bytes: from.long(),
        fetch_atomic_bytes: from.long(),
        ordered_bytes: from.long(),
        volatile_bytes: from.long(),
    }
}

/// A memory descriptor out of its bytes.
pub fn descriptor(bytes: &[u8; size_of::<Descriptor>()]) -> Descriptor {
    let mut from = Reader(bytes);
    Descriptor {
        start: from.long(),
        bytes: from.long(),
        options: DescriptorOptions::from_bits_retain(from.word()),
        queue: from.word(),
        counter: from.word(),
        reserved: from.word(),
    }
}

/// A list entry out of its bytes.
pub fn entry(bytes: &[u8; size_of::<Entry>()]) -> Entry {
    let mut from = Reader(bytes);
    Entry {
        start: from.long(),
        bytes: from.long(),
        counter: from.word(),
        uid: from.word(),
        options: EntryOptions::from_bits_retain(from.word()),
        node: from.word(),
        process: from.word(),
        reserved: from.word(),
        bits: from.long(),
        ignore: from.long(),
        min_free: from.long(),
        user: from.long(),
    }
}

/// Frames to measure by out of their bytes.
pub fn raw_frames(bytes: &[u8; size_of::<RawFrames>()]) -> RawFrames {
    let mut from = Reader(bytes);
    RawFrames {
        node: from.word(),
        asks: from.word(),
        start: from.long(),
        bytes: from.long(),
        count: from.long(),
        words: from.long(),
    }
}

/// An operation out of its bytes.
pub fn operation(bytes: &[u8; size_of::<Operation>()]) -> Operation {
    let mut from = Reader(bytes);
    Operation {
        kind: from.word(),
        put: from.word(),
        get: from.word(),
        ack: from.word(),
        put_offset: from.long(),
        get_offset: from.long(),
        bytes: from.long(),
        node: from.word(),
        process: from.word(),
        table: from.word(),
        atomic: from.word(),
        datatype: from.word(),
        trigger: from.word(),
        threshold: from.long(),
        bits: from.long(),
        remote_offset: from.long(),
        user: from.long(),
        data: from.long(),
        operand: from.long(),
        failures: from.long(),
        counter: from.word(),
        reserved: from.word(),
    }
}

/// Native-endian numbers, one after the other.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn next<const N: usize>(&mut self) -> [u8; N] {
        let Some((bytes, rest)) = self.0.split_first_chunk() else { return [0; N] };
        self.0 = rest;
        *bytes
    }

    fn word(&mut self) -> u32 {
        u32::from_ne_bytes(self.next())
    }

    fn long(&mut self) -> u64 {
        u64::from_ne_bytes(self.next())
    }
}

/// See [`Reader`].
struct Writer<'a>(&'a mut [u8]);

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let (to, rest) = core::mem::take(&mut self.0).split_at_mut(bytes.len());
        to.copy_from_slice(bytes);
        self.0 = rest;
    }

    fn word(&mut self, word: u32) {
        self.put(&word.to_ne_bytes());
    }

    fn long(&mut self, long: u64) {
        self.put(&long.to_ne_bytes());
    }
}
