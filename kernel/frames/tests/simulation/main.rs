//! Links over a simulated network that loses, repeats, reorders and damages frames, with nodes that restart and networks that fall apart,
//! against a model: every message arrives once and in order, or its sender is told.

mod timing;
mod watching;
mod world;

use std::cmp::Reverse;
use std::collections::VecDeque;

use fastrand::Rng;
use lwk_frames::{Dropped, FRAME_BYTES_MAX, HEAD_BYTES, MESSAGES_MAX, checksum};
use world::{Fate, Node, Port, Simulation, Weather};

fn weather(rng: &mut Rng) -> Weather {
    let mut some = |most: u32| if rng.bool() { rng.u32(0..=most) } else { 0 };
    Weather {
        lost: some(150),
        repeated: some(100),
        damaged: some(100),
        marked: some(200),
        delay_us: some(2_000).into(),
        refused: some(100),
        crowded: some(100),
        ..Weather::default()
    }
}

/// Runs `work` for seeds, 15 or as many as `MARGAY_SEEDS` says, and says which one failed.
fn seeds(work: impl Fn(u64)) {
    let count = std::env::var("MARGAY_SEEDS").map_or(15, |text| text.parse().expect("a number of seeds"));
    for seed in 0..count {
        let told = Told(seed);
        work(seed);
        std::mem::forget(told);
    }
}

struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        eprintln!("seed {}", self.0);
    }
}

#[test]
fn every_message_arrives_once_and_in_order_whatever_the_network_does() {
    seeds(|seed| {
        let mut rng = Rng::with_seed(seed ^ 0xfeed);
        let nodes = rng.u16(2..5);
        let frame_bytes = rng.usize(HEAD_BYTES + 8..1514);
        // Where no card limits them frames are long, and are taken in otherwise.
        let long = rng.u32(0..4) == 0;
        let (frame_bytes, most) =
            if long { (FRAME_BYTES_MAX - frame_bytes, 300_000) } else { (frame_bytes, 30_000) };
        let mut it = Simulation::new(seed, nodes, frame_bytes, weather(&mut rng));
        // Windows keep 32 bits of the time.
        it.world.now += rng.u64(0..1 << 34);
        it.world.places = long || rng.bool();
        for _ in 0..rng.u32(1..120) {
            let from = rng.u16(0..nodes);
            let to = (from + rng.u16(1..nodes)) % nodes;
            let bytes = if rng.bool() { rng.u64(4..64) } else { rng.u64(4..most) };
            assert!(it.send(from, to, bytes));
            for _ in 0..rng.u32(0..4) {
                it.step(u64::MAX);
            }
        }
        it.settle();
        assert!(it.world.messages.iter().all(|sent| sent.fate == Fate::Completed && sent.delivered == 1));
        assert!(it.world.places || it.world.placed_count == 0);
    });
}

/// Of long frames fewer have room to wait for their turn. Those for which there is none go again.
#[test]
fn long_frames_that_come_early_are_kept_as_long_as_there_is_room() {
    let weather = Weather { lost: 100, delay_us: 200, ..Weather::default() };
    let mut it = Simulation::new(12, 3, FRAME_BYTES_MAX, weather);
    it.world.places = true;
    for _ in 0..10 {
        assert!(it.send(0, 1, 1 << 20) && it.send(2, 1, 1 << 20));
    }
    it.settle();
    assert!(it.world.messages.iter().all(|sent| sent.fate == Fate::Completed && sent.delivered == 1));
    let one = it.counters()[1];
    assert!(one.held > 0 && one.dropped(Dropped::NoRoom) > 0 && it.world.placed_count > 0, "{one:?}");
}

#[test]
fn short_messages_that_wait_go_together_and_one_alone_goes_at_once() {
    const MESSAGES: u64 = 800;
    let mut it = Simulation::new(1, 2, 1514, Weather::default());
    // Nodes get to know each other.
    assert!(it.send(0, 1, 8));
    it.settle();
    let before = *it.nodes[0].link.counters();
    for _ in 0..MESSAGES {
        assert!(it.send(0, 1, 100));
    }
    it.settle();
    let after = *it.nodes[0].link.counters();
    // One in four stays in a frame of its own, and ends the one before.
    let (frames, together) = (after.sent - before.sent, after.bundled - before.bundled);
    assert!(frames < MESSAGES * 6 / 10 && together > MESSAGES / 2, "{frames} frames, {together} messages");
    assert!(it.world.messages.iter().all(|sent| sent.fate == Fate::Completed && sent.delivered == 1));
    for _ in 0..20 {
        assert!(it.send(0, 1, 100) && it.send(1, 0, 100));
        it.settle();
    }
    let lone = *it.nodes[0].link.counters();
    assert_eq!(lone.bundled, after.bundled);
}

#[test]
fn nodes_that_restart_and_networks_that_fall_apart_lose_messages_only_with_a_report() {
    seeds(|seed| {
        let mut rng = Rng::with_seed(seed ^ 0xbeef);
        let nodes = rng.u16(2..4);
        let mut it = Simulation::new(seed, nodes, 300, weather(&mut rng));
        it.world.places = rng.bool();
        for _ in 0..rng.u32(20..150) {
            it.world.troubled = true;
            match rng.u32(0..40) {
                0 => it.restart(rng.u16(0..nodes)),
                1 => {
                    let node = rng.usize(0..usize::from(nodes));
                    it.world.apart[node] ^= true;
                }
                2 => {
                    let until = it.world.now + rng.u64(0..8_000_000);
                    while it.step(until) {}
                    it.world.now = until;
                }
                _ => {
                    let from = rng.u16(0..nodes);
                    it.send(from, (from + rng.u16(1..nodes)) % nodes, rng.u64(4..5_000));
                }
            }
            for _ in 0..rng.u32(0..6) {
                it.step(u64::MAX);
            }
        }
        it.settle();
        // When all is well again, messages arrive again.
        it.world.apart.fill(false);
        it.world.weather = Weather::default();
        let before = it.world.messages.len();
        for from in 0..nodes {
            for to in (0..nodes).filter(|to| *to != from) {
                assert!(it.send(from, to, 2_000));
            }
        }
        it.settle();
        // At most one message of a pair is the one by which a peer learns of the other's new life.
        for from in 0..nodes {
            assert!(it.send(from, (from + 1) % nodes, 2_000));
        }
        it.settle();
        let again = &it.world.messages[before..];
        assert!(
            again[again.len() - usize::from(nodes)..].iter().all(|sent| sent.delivered == 1),
            "{again:?}"
        );
    });
}

#[test]
fn a_peer_that_is_silent_is_given_up_within_ten_seconds() {
    let mut it = Simulation::new(1, 2, 1514, Weather::default());
    it.world.apart[1] = true;
    it.send(0, 1, 100_000);
    it.settle();
    assert_eq!(it.world.messages[0].fate, Fate::Failed);
    assert!(it.world.now < 10_000_000, "{} us", it.world.now);
}

#[test]
fn a_peer_that_falls_silent_in_the_middle_is_given_up() {
    let mut it = Simulation::new(1, 2, 1514, Weather::default());
    it.send(0, 1, 1_000_000);
    for _ in 0..20 {
        it.step(u64::MAX);
    }
    let since = it.world.now;
    it.world.apart[1] = true;
    it.settle();
    assert_eq!(it.world.messages[0].fate, Fate::Failed);
    assert!(it.world.now - since < 10_000_000);
}

/// A peer that answers and has never room for a message, as one whose memory is full: its sender is told, and room that comes late is used again.
#[test]
fn a_peer_that_never_takes_a_message_in_is_given_up_within_ten_seconds() {
    let mut it = Simulation::new(2, 2, 1514, Weather::default());
    it.world.troubled = true;
    assert!(it.send(0, 1, 100));
    it.settle();
    let began = it.world.now;
    it.world.weather.crowded = 1000;
    assert!(it.send(0, 1, 5_000));
    it.settle();
    assert_eq!(it.world.messages[1].fate, Fate::Failed);
    assert!(it.world.now - began < 10_000_000, "{} us", it.world.now - began);
    assert!(it.counters()[1].dropped(Dropped::NoRoom) > 0);
    it.world.weather.crowded = 0;
    assert!(it.send(0, 1, 5_000) && it.send(0, 1, 5_000));
    it.settle();
    assert_eq!(it.world.messages[3].fate, Fate::Completed);
}

/// More messages than there is room for are refused at once; those that were taken arrive.
#[test]
fn messages_beyond_the_room_for_them_are_refused() {
    let mut it = Simulation::new(2, 2, 1514, Weather::default());
    let taken = (0..2 * MESSAGES_MAX).take_while(|_| it.send(0, 1, 8)).count();
    assert_eq!(taken, MESSAGES_MAX);
    it.settle();
    assert!(it.send(0, 1, 8));
    it.settle();
    assert!(it.world.messages.iter().all(|sent| sent.fate == Fate::Completed));
}

#[test]
fn replayed_frames_of_an_earlier_life_change_nothing() {
    let mut it = Simulation::new(3, 2, 400, Weather::default());
    for _ in 0..5 {
        it.send(0, 1, 1_000);
    }
    // Everything that goes over the wire is remembered.
    let mut seen: VecDeque<(u16, Vec<u8>)> = VecDeque::new();
    loop {
        seen.extend(it.world.wire.iter().map(|Reverse((_, _, to, frame))| (*to, frame.clone())));
        if !it.step(u64::MAX) {
            break;
        }
    }
    it.restart(1);
    it.send(0, 1, 500);
    it.settle();
    it.send(0, 1, 500);
    it.settle();
    let before = it.counters();
    for (node, frame) in seen {
        let Node { link, incoming, .. } = &mut it.nodes[usize::from(node)];
        link.receive(&frame, it.world.now, &mut Port { node, world: &mut it.world, incoming });
    }
    it.settle();
    assert!(it.counters()[1].dropped(Dropped::Epoch) > before[1].dropped(Dropped::Epoch));
    assert!(it.send(0, 1, 500));
    it.settle();
    assert_eq!(it.world.messages.last().unwrap().fate, Fate::Completed);
    assert_eq!(it.counters()[0].restarts, 1);
}

/// A peer that is cut off when most of what it sent came too early leaves that behind; others need the room.
#[test]
fn room_for_early_frames_comes_back_from_peers_that_are_gone() {
    let nodes = 12;
    let mut it = Simulation::new(11, nodes, 300, Weather::default());
    it.world.troubled = true;
    let early = |it: &mut Simulation, from: u16| {
        it.send(from, 0, 100);
        it.settle();
        it.send(from, 0, 6_000);
        // The first frame of those on the wire is lost, and then the peer.
        while it.world.wire.len() < 8 {
            assert!(it.step(u64::MAX));
        }
        it.world.wire =
            std::mem::take(&mut it.world.wire).into_sorted_vec().into_iter().rev().skip(1).collect();
        it.world.apart[usize::from(from)] = true;
        it.settle();
    };
    for from in 1..nodes {
        early(&mut it, from);
        let passed = it.world.now + 20_000_000;
        it.world.now = passed;
    }
    let zero = it.counters()[0];
    assert!(zero.held > 64, "{zero:?}");
    assert_eq!(zero.dropped(Dropped::NoRoom), 0, "{zero:?}");
}

#[test]
fn floods_of_noise_make_no_peer_and_disturb_no_message() {
    let mut rng = Rng::with_seed(9);
    let mut it = Simulation::new(9, 3, 600, Weather::default());
    it.send(0, 1, 200_000);
    let mut noise = 0;
    while it.step(u64::MAX) {
        for _ in 0..20 {
            let length = rng.usize(0..700);
            let frame: Vec<u8> = (0..length).map(|_| rng.u8(..)).collect();
            let Node { link, incoming, .. } = &mut it.nodes[1];
            link.receive(&frame, it.world.now, &mut Port { node: 1, world: &mut it.world, incoming });
            noise += 1;
        }
    }
    assert_eq!(it.world.messages[0].fate, Fate::Completed);
    assert_eq!(it.counters()[1].all_dropped(), noise);
    assert_eq!(it.nodes[1].link.peers(), 1);
}

#[test]
fn forged_frames_are_dropped_and_counted_by_what_is_wrong_with_them() {
    let mut it = Simulation::new(4, 3, 600, Weather::default());
    it.send(0, 1, 1_000);
    let mut taken = Vec::new();
    while it.step(u64::MAX) {
        taken.extend(it.world.wire.iter().map(|Reverse((_, _, to, frame))| (*to, frame.clone())));
    }
    let (_, data) = taken.iter().find(|(to, frame)| *to == 1 && frame[16] & 2 != 0).unwrap().clone();
    let forge = |at: usize, bytes: &[u8]| {
        let mut frame = data.clone();
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        let (head, payload) = frame.split_first_chunk_mut::<HEAD_BYTES>().unwrap();
        let sum = checksum::append(lwk_frames::frame::head_checksum(head, checksum::append), payload);
        lwk_frames::frame::seal(head, sum);
        frame
    };
    let far = 1_000u32.to_le_bytes();
    let cases = [
        (forge(24, &[1]), Dropped::Job),
        (forge(20, &[2]), Dropped::Destination),
        (forge(18, &[1]), Dropped::Source),
        (forge(18, &[77]), Dropped::Source),
        (forge(32, &[0; 8]), Dropped::Source),
        (forge(32, &[1, 0, 0, 0, 0, 0, 0, 0]), Dropped::Epoch),
        (forge(40, &[1]), Dropped::Epoch),
        (forge(52, &far), Dropped::Acknowledgement),
        (forge(48, &far), Dropped::Window),
        (data.clone(), Dropped::Duplicate),
        (forge(14, &[9]), Dropped::Form),
        (forge(17, &[1]), Dropped::Form),
        (forge(22, &[0xff, 0xff]), Dropped::Length),
    ];
    for (frame, why) in cases {
        let before = it.counters()[1].dropped(why);
        let Node { link, incoming, .. } = &mut it.nodes[1];
        link.receive(&frame, it.world.now, &mut Port { node: 1, world: &mut it.world, incoming });
        assert_eq!(it.counters()[1].dropped(why), before + 1, "{why:?}");
    }
    assert!(it.send(0, 1, 1_000));
    it.settle();
    assert!(it.world.messages.iter().all(|sent| sent.fate == Fate::Completed));
}
