//! Links over a simulated network that loses, repeats, reorders and damages frames, with nodes that restart and networks that fall apart,
//! against a model: every message arrives once and in order, or its sender is told.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

use bytemuck::allocation::zeroed_box;
use fastrand::Rng;
use lwk_frames::{Counters, Dropped, HEAD_BYTES, Identity, Link, NodeId, Sender, Upper, checksum};

const JOB: u64 = 0x4d41_5247;

/// What the network does to frames, in parts of a thousand, and how long they take at most, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Weather {
    lost: u32,
    repeated: u32,
    damaged: u32,
    marked: u32,
    delay_us: u64,
    /// The card has no room.
    refused: u32,
    /// The messages' owner has none.
    crowded: u32,
}

/// Content of a message: told by its number.
fn byte_of(message: u32, offset: u64) -> u8 {
    (message as u64).wrapping_mul(0x9e37_79b9).wrapping_add(offset.wrapping_mul(7)) as u8
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fate {
    #[default]
    Open,
    Completed,
    Failed,
}

#[derive(Clone, Debug, Default)]
struct Sent {
    from: u16,
    to: u16,
    bytes: u64,
    fate: Fate,
    delivered: u32,
}

/// When a frame arrives, a tie breaker, its target and its bytes.
type OnTheWire = (u64, u64, u16, Vec<u8>);

/// What all nodes share: the wires and the model.
struct World {
    now: u64,
    rng: Rng,
    weather: Weather,
    wire: BinaryHeap<Reverse<OnTheWire>>,
    count: u64,
    /// A network has fallen apart or a node has restarted.
    troubled: bool,
    messages: Vec<Sent>,
    /// Nodes apart from all others.
    apart: Vec<bool>,
    /// The last message delivered of each pair of nodes, in the target's present life.
    last: HashMap<(u16, u16), u32>,
}

/// A message that is being delivered: its number and how much of it is there.
#[derive(Default)]
struct Incoming(BTreeMap<u16, (u32, u64)>);

struct Port<'a> {
    node: u16,
    world: &'a mut World,
    incoming: &'a mut Incoming,
}

impl Upper<u32> for Port<'_> {
    fn checksum(&self, seed: u32, message: &u32, offset: u64, bytes: usize) -> u32 {
        checksum::append(seed, &content(*message, offset, bytes))
    }

    fn transmit(&mut self, to: NodeId, head: &[u8; HEAD_BYTES], piece: Option<(&u32, u64, usize)>) -> bool {
        let world = &mut *self.world;
        let weather = world.weather;
        let mut happens = |parts: u32| world.rng.u32(0..1000) < parts;
        if happens(weather.refused) {
            return false;
        }
        let (lost, twice, damaged, marked) = (
            happens(weather.lost),
            happens(weather.repeated),
            happens(weather.damaged),
            happens(weather.marked),
        );
        if lost || world.apart[usize::from(self.node)] || world.apart[usize::from(to.0)] {
            return true;
        }
        let mut frame = head.to_vec();
        if let Some((message, offset, bytes)) = piece {
            frame.extend(content(*message, offset, bytes));
        }
        if marked {
            frame[lwk_frames::frame::AT_MARK] = lwk_frames::frame::MARK;
        }
        if damaged {
            // The checksum finds any burst of 32 bits; what goes beyond is found but for one in four thousand million.
            let at = world.rng.usize(12..frame.len());
            frame[at] ^= world.rng.u8(1..);
        }
        for _ in 0..=u32::from(twice) {
            world.count += 1;
            let at = world.now + 10 + world.rng.u64(0..=weather.delay_us);
            world.wire.push(Reverse((at, world.count, to.0, frame.clone())));
        }
        true
    }

    fn deliver(&mut self, from: Sender, payload: &[u8], first: bool, last: bool) -> bool {
        let (world, from) = (&mut *self.world, from.node);
        if world.rng.u32(0..1000) < world.weather.crowded {
            return false;
        }
        // A message begins with its number, if it has room for it.
        if first {
            let number = u32::from_le_bytes(payload[..4].try_into().unwrap());
            let before = self.incoming.0.insert(from.0, (number, 0));
            assert!(before.is_none(), "the message before was finished");
        }
        let (number, done) = self.incoming.0.get_mut(&from.0).expect("a message begins with its first piece");
        assert_eq!(payload, content(*number, *done, payload.len()), "wrong bytes");
        *done += payload.len() as u64;
        if last {
            let (number, done) = self.incoming.0.remove(&from.0).unwrap();
            let sent = &mut world.messages[number as usize];
            assert_eq!((sent.from, sent.to, sent.bytes), (from.0, self.node, done));
            sent.delivered += 1;
            assert_eq!(sent.delivered, 1, "message {number} came twice");
            let before = world.last.insert((from.0, self.node), number);
            assert!(before.is_none_or(|before| before < number), "out of order");
        }
        true
    }

    fn completed(&mut self, to: NodeId, message: &u32) {
        self.end(to, *message, Fate::Completed);
    }

    fn failed(&mut self, to: NodeId, message: &u32) {
        self.end(to, *message, Fate::Failed);
    }

    fn broken(&mut self, from: Sender) {
        self.incoming.0.remove(&from.node.0);
    }
}

impl Port<'_> {
    fn end(&mut self, to: NodeId, message: u32, fate: Fate) {
        let sent = &mut self.world.messages[message as usize];
        assert_eq!((sent.from, sent.to, sent.fate), (self.node, to.0, Fate::Open));
        assert!(fate == Fate::Failed || sent.delivered == 1, "completed means delivered");
        sent.fate = fate;
    }
}

fn content(message: u32, offset: u64, bytes: usize) -> Vec<u8> {
    let number = message.to_le_bytes();
    (offset..offset + bytes as u64)
        .map(|at| number.get(at as usize).copied().unwrap_or_else(|| byte_of(message, at)))
        .collect()
}

struct Node {
    link: Box<Link<u32>>,
    incoming: Incoming,
    life: u64,
}

struct Simulation {
    world: World,
    nodes: Vec<Node>,
    frame_bytes: usize,
}

fn start(node: u16, nodes: u16, life: u64, frame_bytes: usize) -> Node {
    let mut link: Box<Link<u32>> = zeroed_box();
    link.start(Identity { node: NodeId(node), nodes, job: JOB, epoch: life * 1_000_000, frame_bytes });
    Node { link, incoming: Incoming::default(), life }
}

impl Simulation {
    fn new(seed: u64, nodes: u16, frame_bytes: usize, weather: Weather) -> Simulation {
        let world = World {
            now: 1_000,
            rng: Rng::with_seed(seed),
            weather,
            wire: BinaryHeap::new(),
            count: 0,
            troubled: false,
            messages: Vec::new(),
            apart: vec![false; usize::from(nodes)],
            last: HashMap::new(),
        };
        let nodes = (0..nodes).map(|node| start(node, nodes, 1, frame_bytes)).collect();
        Simulation { world, nodes, frame_bytes }
    }

    fn send(&mut self, from: u16, to: u16, bytes: u64) -> bool {
        let number = self.world.messages.len() as u32;
        let link = &mut self.nodes[usize::from(from)].link;
        if link.send(NodeId(to), bytes, number, self.world.now).is_err() {
            return false;
        }
        self.world.messages.push(Sent { from, to, bytes, ..Sent::default() });
        true
    }

    fn work(&mut self, node: u16) {
        let Node { link, incoming, .. } = &mut self.nodes[usize::from(node)];
        link.work(self.world.now, &mut Port { node, world: &mut self.world, incoming });
    }

    fn restart(&mut self, node: u16) {
        let life = self.nodes[usize::from(node)].life + 1;
        self.nodes[usize::from(node)] = start(node, self.nodes.len() as u16, life, self.frame_bytes);
        // What it sent in its earlier life nobody will report on; what arrives from now on begins anew.
        for sent in self.world.messages.iter_mut().filter(|sent| sent.from == node && sent.fate == Fate::Open)
        {
            sent.fate = Fate::Failed;
        }
        self.world.last.retain(|(_, to), _| *to != node);
    }

    /// Goes on to the next thing that happens; false if nothing will, or it is after `until`.
    fn step(&mut self, until: u64) -> bool {
        let arrival = self.world.wire.peek().map(|Reverse((at, ..))| *at);
        let deadlines = self.nodes.iter().filter_map(|node| node.link.deadline(self.world.now));
        let Some(next) = arrival.into_iter().chain(deadlines).min() else { return false };
        if next > until {
            return false;
        }
        self.world.now = self.world.now.max(next);
        while let Some(Reverse((at, ..))) = self.world.wire.peek()
            && *at <= self.world.now
        {
            let Reverse((_, _, node, frame)) = self.world.wire.pop().unwrap();
            let Node { link, incoming, .. } = &mut self.nodes[usize::from(node)];
            link.receive(&frame, self.world.now, &mut Port { node, world: &mut self.world, incoming });
        }
        for node in 0..self.nodes.len() as u16 {
            self.work(node);
        }
        true
    }

    /// Goes on until nothing is under way.
    fn settle(&mut self) {
        let mut steps = 0;
        while self.step(u64::MAX) {
            steps += 1;
            assert!(steps < 2_000_000, "it never comes to rest");
        }
        for node in &self.nodes {
            let (messages, held) = node.link.used();
            assert_eq!(messages, 0, "all room is free again");
            // What came from a peer that was cut off in the middle stays until the peer says more, or the room is needed.
            assert!(held == 0 || node.link.counters().restarts > 0 || self.world.troubled);
        }
        assert!(self.world.messages.iter().all(|sent| sent.fate != Fate::Open), "every sender was told");
    }

    fn counters(&self) -> Vec<Counters> {
        self.nodes.iter().map(|node| *node.link.counters()).collect()
    }
}

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
        let mut it = Simulation::new(seed, nodes, frame_bytes, weather(&mut rng));
        for _ in 0..rng.u32(1..120) {
            let from = rng.u16(0..nodes);
            let to = (from + rng.u16(1..nodes)) % nodes;
            let bytes = if rng.bool() { rng.u64(4..64) } else { rng.u64(4..30_000) };
            assert!(it.send(from, to, bytes));
            for _ in 0..rng.u32(0..4) {
                it.step(u64::MAX);
            }
        }
        it.settle();
        assert!(it.world.messages.iter().all(|sent| sent.fate == Fate::Completed && sent.delivered == 1));
    });
}

#[test]
fn nodes_that_restart_and_networks_that_fall_apart_lose_messages_only_with_a_report() {
    seeds(|seed| {
        let mut rng = Rng::with_seed(seed ^ 0xbeef);
        let nodes = rng.u16(2..4);
        let mut it = Simulation::new(seed, nodes, 300, weather(&mut rng));
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
        let sum = checksum::append(lwk_frames::frame::head_checksum(head), payload);
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

/// Goodput with one frame in a hundred lost, of that without loss.
#[test]
fn a_little_loss_costs_little() {
    let time = |lost| {
        let mut it = Simulation::new(5, 2, 1514, Weather { lost, delay_us: 20, ..Weather::default() });
        for _ in 0..200 {
            it.send(0, 1, 10_000);
        }
        it.settle();
        it.world.now as f64
    };
    let ratio = time(0) / time(10);
    assert!(ratio >= 0.7, "{ratio}");
}
