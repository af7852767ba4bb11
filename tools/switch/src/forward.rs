//! Where a frame goes, and what happens to it on the way: pure logic, the same in every run with the same seed and the same frames.

use std::collections::HashMap;

use super::options::{Faults, Partition};

/// What a port has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames from and to the station there.
    pub from: u64,
    pub to: u64,
    /// Of those from there: too short to be frames, lost on purpose, repeated, reordered, damaged, and sent to all since nobody knew better. Cut off: each
    /// frame to a port that is apart.
    pub short: u64,
    pub lost: u64,
    pub cut: u64,
    pub duplicated: u64,
    pub reordered: u64,
    pub corrupted: u64,
    pub flooded: u64,
    /// Frames that were dropped since their source is at another port for good.
    pub forged: u64,
}

/// An Ethernet switch, without its wires.
#[derive(Debug)]
pub struct Forwarding {
    faults: Faults,
    state: u64,
    /// Ports by the address of the station there.
    learned: HashMap<[u8; 6], usize>,
    /// Addresses that are at one port and nowhere else, whoever claims them.
    pinned: HashMap<[u8; 6], usize>,
    counts: Vec<Counts>,
    /// By port: a frame that goes behind the next one, or at a time if none comes until then.
    held: Vec<Option<(u64, Vec<u8>)>>,
    partitions: Vec<Partition>,
    /// When the first frame came, in nanoseconds.
    began: Option<u64>,
}

/// Addresses that are remembered: noise must not fill the memory.
const LEARNED_MAX: usize = 4096;
/// How long a frame that is to be overtaken waits for the next one, in nanoseconds.
const HOLD: u64 = 1_000_000;
/// Bytes of Ethernet's head.
const HEAD_BYTES: usize = 14;

impl Forwarding {
    pub fn new(ports: usize, faults: Faults, partitions: Vec<Partition>) -> Forwarding {
        // The generator stands still at 0.
        let state = (faults.seed ^ 0x9e37_79b9_7f4a_7c15).max(1);
        Forwarding {
            faults,
            state,
            learned: HashMap::new(),
            pinned: HashMap::new(),
            counts: vec![Counts::default(); ports],
            held: (0..ports).map(|_| None).collect(),
            partitions,
            began: None,
        }
    }

    /// Says where a station is: frames from elsewhere that carry its address as their source are dropped, so that they cannot lead away what is sent to it.
    pub fn pin(&mut self, address: [u8; 6], port: usize) {
        self.pinned.insert(address, port);
    }

    /// Cuts a port off from all others for good.
    pub fn cut(&mut self, port: usize) {
        self.partitions.push(Partition { ports: vec![port], from: 0, until: u64::MAX });
    }

    /// One port more.
    pub fn add_port(&mut self) {
        self.counts.push(Counts::default());
        self.held.push(None);
    }

    /// Whether two ports are apart, so long after the first frame.
    fn apart(&self, a: usize, b: usize, since: u64) -> bool {
        let cuts = |cut: &Partition| {
            (cut.from..cut.until).contains(&since) && cut.ports.contains(&a) != cut.ports.contains(&b)
        };
        self.partitions.iter().any(cuts)
    }

    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// A number at random: Marsaglia's xorshift64.
    fn random(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn strikes(&mut self, chance: f64) -> bool {
        chance > 0.0 && ((self.random() >> 11) as f64) < chance * (1u64 << 53) as f64
    }

    /// Takes a frame that has come from port `from` at `now`, in nanoseconds, and calls `out` with each port and what goes there. The frame may
    /// be changed.
    pub fn take(&mut self, now: u64, from: usize, frame: &mut [u8], mut out: impl FnMut(usize, &[u8])) {
        let since = now.saturating_sub(*self.began.get_or_insert(now));
        self.counts[from].from += 1;
        let Some((head, _)) = frame.split_first_chunk::<HEAD_BYTES>() else {
            self.counts[from].short += 1;
            return;
        };
        let address =
            |at: usize| [head[at], head[at + 1], head[at + 2], head[at + 3], head[at + 4], head[at + 5]];
        let (to, source) = (address(0), address(6));
        let is_group = |address: [u8; 6]| address[0] & 1 != 0;
        if self.pinned.get(&source).is_some_and(|port| *port != from) {
            self.counts[from].forged += 1;
            return;
        }
        if !is_group(source) && (self.learned.len() < LEARNED_MAX || self.learned.contains_key(&source)) {
            self.learned.insert(source, from);
        }
        let found = || self.pinned.get(&to).or_else(|| self.learned.get(&to)).copied();
        let known = if is_group(to) { None } else { found() };
        if self.strikes(self.faults.loss) {
            self.counts[from].lost += 1;
            return;
        }
        if self.strikes(self.faults.corrupt) {
            let bit = self.random() as usize % (frame.len() * 8);
            frame[bit / 8] ^= 1 << (bit % 8);
            self.counts[from].corrupted += 1;
        }
        self.counts[from].flooded += u64::from(known.is_none());
        let copies = if self.strikes(self.faults.duplicate) { 2 } else { 1 };
        self.counts[from].duplicated += copies - 1;
        // As a bridge in reflective relay (IEEE 802.1Q, clause 5.5.3): what a station sends to itself goes back out at its port.
        let reflects = to == source;
        for port in 0..self.counts.len() {
            if (port == from && !reflects) || known.is_some_and(|known| known != port) {
                continue;
            }
            if self.apart(from, port, since) {
                self.counts[from].cut += 1;
                continue;
            }
            for _ in 0..copies {
                self.counts[port].to += 1;
                if self.held[port].is_none() && self.strikes(self.faults.reorder) {
                    self.counts[from].reordered += 1;
                    self.held[port] = Some((now + HOLD, frame.to_vec()));
                    continue;
                }
                out(port, frame);
                if let Some((_, held)) = self.held[port].take() {
                    out(port, &held);
                }
            }
        }
    }

    /// Lets go what has waited long enough for a next frame.
    pub fn release(&mut self, now: u64, mut out: impl FnMut(usize, &[u8])) {
        for (port, held) in self.held.iter_mut().enumerate() {
            if let Some((_, frame)) = held.take_if(|(until, _)| *until <= now) {
                out(port, &frame);
            }
        }
    }

    /// When [`Forwarding::release`] is due.
    pub fn next(&self) -> Option<u64> {
        self.held.iter().flatten().map(|(until, _)| *until).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(to: u8, from: u8, payload: u8) -> Vec<u8> {
        [&[2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, 0x88, 0xb5][..], &[payload; 50]].concat()
    }

    fn ports(switch: &mut Forwarding, from: usize, mut frame: Vec<u8>) -> Vec<usize> {
        let mut ports = Vec::new();
        switch.take(0, from, &mut frame, |port, _| ports.push(port));
        ports
    }

    #[test]
    fn stations_are_learned_and_others_are_looked_for_everywhere() {
        let mut switch = Forwarding::new(3, Faults::default(), Vec::new());
        assert_eq!(ports(&mut switch, 0, frame(1, 0, 0)), [1, 2], "nobody knows where station 1 is");
        assert_eq!(ports(&mut switch, 1, frame(0, 1, 0)), [0]);
        assert_eq!(ports(&mut switch, 0, frame(1, 0, 0)), [1]);
        assert_eq!(ports(&mut switch, 2, frame(0, 1, 0)), [0], "station 1 has moved");
        assert_eq!(ports(&mut switch, 0, frame(1, 0, 0)), [2]);
        let mut to_all = frame(0, 0, 0);
        to_all[..6].fill(0xff);
        assert_eq!(ports(&mut switch, 0, to_all), [1, 2]);
        assert_eq!(ports(&mut switch, 0, vec![0; 13]), [0usize; 0]);
        assert_eq!(ports(&mut switch, 1, frame(1, 1, 0)), [1], "what a station sends to itself comes back");
        assert_eq!(
            ports(&mut switch, 1, frame(1, 3, 0)),
            [0usize; 0],
            "station 1 has moved to where this comes from"
        );
        assert_eq!(switch.counts()[0].short, 1);
    }

    #[test]
    fn nobody_else_takes_the_address_of_a_station_that_is_pinned() {
        let mut switch = Forwarding::new(3, Faults::default(), Vec::new());
        switch.pin([2, 0, 0, 0, 0, 1], 1);
        assert_eq!(ports(&mut switch, 0, frame(1, 0, 0)), [1], "it need not have said anything");
        assert_eq!(ports(&mut switch, 2, frame(0, 1, 0)), [0usize; 0], "forged");
        assert_eq!(ports(&mut switch, 0, frame(1, 0, 0)), [1]);
        assert_eq!(ports(&mut switch, 1, frame(0, 1, 0)), [0]);
        assert_eq!([0, 1, 2].map(|port| switch.counts()[port].forged), [0, 0, 1]);
    }

    #[test]
    fn what_happens_to_frames_is_as_often_as_asked_and_the_same_each_time() {
        let faults = Faults { loss: 0.1, duplicate: 0.05, reorder: 0.05, corrupt: 0.02, seed: 3 };
        let run = || {
            let mut switch = Forwarding::new(2, faults, Vec::new());
            let mut came = Vec::new();
            for number in 0..10_000u32 {
                switch.take(0, 0, &mut frame(1, 0, number as u8), |_, frame| came.push(frame.to_vec()));
            }
            switch.release(HOLD, |_, frame| came.push(frame.to_vec()));
            (came, switch.counts().to_vec())
        };
        let (came, counts) = run();
        assert_eq!(run(), (came.clone(), counts.clone()));
        let [from, to] = counts[..] else { panic!("two ports") };
        assert_eq!(to.to as usize, came.len());
        assert_eq!(came.len() as u64, 10_000 - from.lost + from.duplicated);
        let near = |count: u64, of: u64| count.abs_diff(of) < of / 5;
        assert!(
            near(from.lost, 1_000) && near(from.duplicated, 450) && near(from.corrupted, 180),
            "{from:?}"
        );
        assert!(near(from.reordered, 470), "{from:?}");
    }

    #[test]
    fn ports_are_apart_for_a_time() {
        let cut = Partition { ports: vec![1, 2], from: 100, until: 200 };
        let mut switch = Forwarding::new(4, Faults::default(), vec![cut]);
        let mut to = |now: u64, from: usize| {
            let mut ports = Vec::new();
            switch.take(now, from, &mut frame(9, from as u8, 0), |port, _| ports.push(port));
            ports
        };
        assert_eq!(to(1_000, 0), [1, 2, 3]);
        assert_eq!(to(1_099, 0), [1, 2, 3]);
        assert_eq!(to(1_100, 0), [3]);
        assert_eq!(to(1_199, 1), [2]);
        assert_eq!(to(1_200, 1), [0, 2, 3]);
        assert_eq!((switch.counts()[0].cut, switch.counts()[1].cut), (2, 2));
    }
}
