//! Nodes and the network between them, in simulated time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use bytemuck::allocation::zeroed_box;
use fastrand::Rng;
use lwk_frames::{Counters, HEAD_BYTES, Identity, Link, Lost, NodeId, Sender, Upper, checksum};

pub const JOB: u64 = 0x4d41_5247;

/// What the network does to frames, in parts of a thousand, and how long they take at most, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    pub lost: u32,
    pub repeated: u32,
    pub damaged: u32,
    pub marked: u32,
    pub delay_us: u64,
    /// The card has no room.
    pub refused: u32,
    /// The messages' owner has none.
    pub crowded: u32,
    /// Every node but the first is away for so long, in microseconds, out of each [`PERIOD_US`].
    pub away_us: u64,
    /// A bottleneck on the way to every node: microseconds for each frame, and the frames that its queue holds, of which those from
    /// `mark_from` on are marked.
    pub bottleneck: Option<(u64, u64)>,
    pub mark_from: u64,
}

/// See [`Weather::away_us`].
pub const PERIOD_US: u64 = 20_000;

/// Content of a message: told by its number.
fn byte_of(message: u32, offset: u64) -> u8 {
    (message as u64).wrapping_mul(0x9e37_79b9).wrapping_add(offset.wrapping_mul(7)) as u8
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    #[default]
    Open,
    Completed,
    Failed,
}

#[derive(Clone, Debug, Default)]
pub struct Sent {
    pub from: u16,
    pub to: u16,
    pub bytes: u64,
    pub fate: Fate,
    pub delivered: u32,
}

/// When a frame arrives, a tie breaker, its target and its bytes.
pub type OnTheWire = (u64, u64, u16, Vec<u8>);

/// What all nodes share: the wires and the model.
pub struct World {
    pub now: u64,
    pub rng: Rng,
    pub weather: Weather,
    pub wire: BinaryHeap<Reverse<OnTheWire>>,
    pub count: u64,
    /// A network has fallen apart or a node has restarted.
    pub troubled: bool,
    /// Somebody waits for the end of every message.
    pub waited_for: bool,
    /// Every short message may go with others.
    pub all_own: bool,
    /// Payload is put where it belongs before the frame is looked at, now and then, where it can be.
    pub places: bool,
    /// What has been put so, and how often.
    pub placed: Vec<u8>,
    pub placed_count: u64,
    pub messages: Vec<Sent>,
    /// Nodes apart from all others.
    pub apart: Vec<bool>,
    /// Frames from and to them.
    pub cut: Vec<Vec<u8>>,
    /// When the bottleneck to each node is free again, and frames for which it had no room.
    pub free_at: Vec<u64>,
    pub overrun: u64,
    /// The last message delivered of each pair of nodes, in the target's present life.
    pub last: HashMap<(u16, u16), u32>,
}

/// A message that is being delivered: its number and how much of it is there.
#[derive(Default)]
pub struct Incoming(pub BTreeMap<u16, (u32, u64)>);

pub struct Port<'a> {
    pub node: u16,
    pub world: &'a mut World,
    pub incoming: &'a mut Incoming,
}

impl Upper<u32> for Port<'_> {
    fn checksum(&self, seed: u32, message: &u32, offset: u64, bytes: usize) -> u32 {
        checksum::append(seed, &content(*message, offset, bytes))
    }

    fn is_waited_for(&self, _: &u32) -> bool {
        self.world.waited_for
    }

    fn is_own(&self, message: &u32) -> bool {
        self.world.all_own || !message.is_multiple_of(4)
    }

    fn read_own(&self, message: &u32, into: &mut [u8]) {
        into.copy_from_slice(&content(*message, 0, into.len()));
    }

    /// Now and then there is none for a while.
    fn has_room(&self, _: NodeId, bytes: usize) -> bool {
        !self.world.places || bytes == 0 || !(self.world.now / 100).is_multiple_of(3)
    }

    fn transmit_bytes(&mut self, to: NodeId, head: &[u8; HEAD_BYTES], bytes: &[u8]) -> bool {
        self.put(to, [head, bytes].concat())
    }

    fn transmit(&mut self, to: NodeId, head: &[u8; HEAD_BYTES], piece: Option<(&u32, u64, usize)>) -> bool {
        let body = piece.map(|(message, offset, bytes)| content(*message, offset, bytes));
        self.put(to, [&head[..], &body.unwrap_or_default()].concat())
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

    fn deliver_placed(&mut self, from: Sender, bytes: usize, last: bool) -> bool {
        let placed = std::mem::take(&mut self.world.placed);
        assert_eq!(placed.len(), bytes);
        self.deliver(from, &placed, false, last)
    }

    fn checksum_placed(&self, seed: u32, _: Sender, bytes: usize) -> u32 {
        assert_eq!(self.world.placed.len(), bytes);
        checksum::append(seed, &self.world.placed)
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
    /// Puts a frame on the wire; false if the card has no room.
    fn put(&mut self, to: NodeId, mut frame: Vec<u8>) -> bool {
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
        if world.apart[usize::from(self.node)] || world.apart[usize::from(to.0)] {
            world.cut.push(frame);
            return true;
        }
        if lost {
            return true;
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
            let mut at = world.now + 10 + world.rng.u64(0..=weather.delay_us);
            if let Some((each, room)) = weather.bottleneck {
                let free_at = &mut world.free_at[usize::from(to.0)];
                let waiting = free_at.saturating_sub(world.now) / each;
                if waiting >= room {
                    world.overrun += 1;
                    continue;
                }
                if waiting >= weather.mark_from {
                    frame[lwk_frames::frame::AT_MARK] = lwk_frames::frame::MARK;
                }
                *free_at = (*free_at).max(world.now) + each;
                at = *free_at + 10;
            }
            if to.0 != 0 && at % PERIOD_US < weather.away_us {
                at += weather.away_us - at % PERIOD_US;
            }
            world.wire.push(Reverse((at, world.count, to.0, frame.clone())));
        }
        true
    }

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

pub struct Node {
    pub link: Box<Link<u32>>,
    pub incoming: Incoming,
    pub life: u64,
}

pub struct Simulation {
    pub world: World,
    pub nodes: Vec<Node>,
    pub frame_bytes: usize,
}

pub fn start(node: u16, nodes: u16, life: u64, frame_bytes: usize) -> Node {
    let mut link: Box<Link<u32>> = zeroed_box();
    link.start(Identity { node: NodeId(node), nodes, job: JOB, epoch: life * 1_000_000, frame_bytes });
    Node { link, incoming: Incoming::default(), life }
}

impl Simulation {
    pub fn new(seed: u64, nodes: u16, frame_bytes: usize, weather: Weather) -> Simulation {
        let world = World {
            now: 1_000,
            rng: Rng::with_seed(seed),
            weather,
            wire: BinaryHeap::new(),
            count: 0,
            troubled: false,
            waited_for: false,
            all_own: false,
            places: false,
            placed: Vec::new(),
            placed_count: 0,
            messages: Vec::new(),
            apart: vec![false; usize::from(nodes)],
            cut: Vec::new(),
            free_at: vec![0; usize::from(nodes)],
            overrun: 0,
            last: HashMap::new(),
        };
        let nodes = (0..nodes).map(|node| start(node, nodes, 1, frame_bytes)).collect();
        Simulation { world, nodes, frame_bytes }
    }

    pub fn send(&mut self, from: u16, to: u16, bytes: u64) -> bool {
        let number = self.world.messages.len() as u32;
        let link = &mut self.nodes[usize::from(from)].link;
        if link.send(NodeId(to), bytes, number, self.world.now).is_err() {
            return false;
        }
        self.world.messages.push(Sent { from, to, bytes, ..Sent::default() });
        true
    }

    pub fn work(&mut self, node: u16) {
        let Node { link, incoming, .. } = &mut self.nodes[usize::from(node)];
        link.work(self.world.now, &mut Port { node, world: &mut self.world, incoming });
    }

    /// Somebody on a node waits.
    pub fn watch(&mut self, node: u16) -> Option<Lost> {
        let Node { link, incoming, .. } = &mut self.nodes[usize::from(node)];
        link.watch(self.world.now, &mut Port { node, world: &mut self.world, incoming })
    }

    pub fn restart(&mut self, node: u16) {
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
    pub fn step(&mut self, until: u64) -> bool {
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
            self.receive(node, &frame);
        }
        for node in 0..self.nodes.len() as u16 {
            self.work(node);
        }
        true
    }

    pub fn receive(&mut self, node: u16, frame: &[u8]) {
        let Node { link, incoming, .. } = &mut self.nodes[usize::from(node)];
        let world = &mut self.world;
        if let Some((head, payload)) = frame.split_first_chunk::<HEAD_BYTES>()
            && world.places
            && link.continues(head, payload.len()).is_some()
            && world.rng.bool()
        {
            world.placed = payload.to_vec();
            world.placed_count += 1;
            return link.receive_placed(head, payload.len(), world.now, &mut Port { node, world, incoming });
        }
        link.receive(frame, world.now, &mut Port { node, world, incoming });
    }

    /// Goes on until nothing is under way.
    pub fn settle(&mut self) {
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

    pub fn counters(&self) -> Vec<Counters> {
        self.nodes.iter().map(|node| *node.link.counters()).collect()
    }
}
