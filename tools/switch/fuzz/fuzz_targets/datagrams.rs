//! Any datagrams at any ports of a switch with trouble of its own: each goes to ports that there are, whole, and to that of a pinned station only if it is meant.
#![no_main]

use lwk_switch::Faults;
use lwk_switch::forward::Forwarding;

const PORTS: usize = 4;
const PINNED: [u8; 6] = [2, 0, 0, 0, 0, 1];

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&chance, mut rest)) = input.split_first() else { return };
    let chance = f64::from(chance & 63) / 256.0;
    let faults = Faults { loss: chance, duplicate: chance, reorder: chance, corrupt: chance, seed: 1 };
    let mut switch = Forwarding::new(PORTS, faults, Vec::new());
    switch.pin(PINNED, 1);
    let mut now = 0;
    // A byte says where a datagram comes from, and how long it is.
    while let Some((&head, after)) = rest.split_first() {
        let (bytes, after) = after.split_at(after.len().min(usize::from(head >> 2)));
        (rest, now) = (after, now + 1_000);
        let mut frame = bytes.to_vec();
        if head & 128 != 0 && frame.len() >= 14 {
            frame[..6].copy_from_slice(&PINNED);
        }
        let whole = |port: usize, frame: &[u8]| assert!(port < PORTS && frame.len() >= 14);
        switch.take(now, usize::from(head & 3), &mut frame, whole);
        assert_eq!(frame.len(), bytes.len());
        switch.release(now, whole);
    }
    switch.release(u64::MAX, |port, _| assert!(port < PORTS));
    assert_eq!(switch.next(), None, "nothing is kept");
    let counts = switch.counts();
    let came: u64 = counts.iter().map(|it| it.from).sum();
    let gone: u64 = counts.iter().map(|it| it.to).sum();
    assert!(gone <= came * 2 * (PORTS as u64));
});
