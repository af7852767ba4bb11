//! A node that is asked for a pause sends nothing until it is over, or is ended, and nothing is lost by it.

mod common;

use common::*;
use lwk_abi::portals::{
    EntryOptions as Options, InterfaceOptions, NONE, TableOptions, ack, operation as kind,
};
use lwk_frames::pause;

const BYTES: u64 = 60_000;
const UNITS: u16 = 10_000;

/// Rank 0 puts something on the other node while its own pauses; then `after` does something.
fn put_in_a_pause(after: impl FnOnce(&mut Cluster)) -> Cluster {
    let mut it = Cluster::new(2, 1);
    let options = InterfaceOptions::NO_MATCHING | InterfaceOptions::LOGICAL;
    let (from, to) = (it.interface(0, options), it.interface(1, options));
    let (sends, receives) = (it.queue(0, from, 64), it.queue(1, to, 64));
    assert_eq!(it.table(1, to, TableOptions::empty(), receives, 3), Ok(3));
    let (source, memory) = (it.allocate(0, BYTES), it.allocate(1, BYTES));
    it.bytes(0, source, BYTES).fill(7);
    it.append(1, to, 3, &entry(memory, BYTES, Options::OP_PUT), lwk_abi::portals::PRIORITY_LIST).unwrap();
    let put = it.bind(0, from, &descriptor(source, BYTES, sends)).unwrap();
    // The nodes know each other before.
    let mut asked = operation(kind::PUT, put, NONE, 0, 1);
    (asked.table, asked.ack) = (3, ack::FULL);
    assert_eq!(it.operate(0, from, &asked), Ok(0));
    it.settle();

    it.world.wires[0].push_back(pause::frame([2; 6], UNITS).into());
    it.settle_until(it.world.now);
    let (began, sent) = (it.world.now, it.world.counts.frames_sent);
    asked.bytes = BYTES;
    assert_eq!(it.operate(0, from, &asked), Ok(0));
    it.settle_until(began + pause::micros(UNITS) - 1_000);
    assert_eq!(it.world.counts.frames_sent, sent, "frames go in the pause");
    after(&mut it);
    assert!(it.bytes(1, memory, BYTES).iter().all(|byte| *byte == 7));
    assert!(it.world.counts.frames_sent > sent);
    assert_eq!(it.nodes[1].counts().0.pauses, 0);
    it
}

#[test]
fn a_pause_holds_frames_back_until_it_is_over() {
    let it = put_in_a_pause(Cluster::settle);
    assert_eq!(it.nodes[0].counts().0.pauses, 1);
}

#[test]
fn a_pause_of_nothing_ends_one() {
    let it = put_in_a_pause(|it| {
        let now = it.world.now;
        it.world.wires[0].push_back(pause::frame([2; 6], 0).into());
        it.settle_until(now + 500);
    });
    assert_eq!(it.nodes[0].counts().0.pauses, 2);
}
