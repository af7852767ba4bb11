//! Where a frame goes, and what happens to it on the way: pure logic, the same in every run with the same seed and the same frames.

use std::collections::HashMap;

/// What happens to frames, each with a chance of its own from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    pub loss: f64,
    pub duplicate: f64,
    /// The frame goes behind the next one to the same port.
    pub reorder: f64,
    /// One bit is turned over.
    pub corrupt: f64,
    pub seed: u64,
}

impl Faults {
    /// Reads `loss=0.1,duplicate=0.01,reorder=0.05,corrupt=0.001,seed=7`; what is not named does not happen.
    ///
    /// # Errors
    /// What is wrong, for a person.
    pub fn parse(text: &str) -> Result<Faults, String> {
        let mut faults = Faults { seed: 1, ..Faults::default() };
        for word in text.split(',') {
            let (name, value) = word.split_once('=').ok_or_else(|| format!("'{word}' is not NAME=VALUE"))?;
            let chance = || {
                let chance = value.parse().ok().filter(|chance| (0.0..=1.0).contains(chance));
                chance.ok_or_else(|| format!("{name} is a chance from 0 to 1, not '{value}'"))
            };
            match name {
                "loss" => faults.loss = chance()?,
                "duplicate" => faults.duplicate = chance()?,
                "reorder" => faults.reorder = chance()?,
                "corrupt" => faults.corrupt = chance()?,
                "seed" => {
                    faults.seed =
                        value.parse().map_err(|_| format!("seed is a number from 0 up, not '{value}'"))?;
                }
                _ => return Err(format!("'{name}' is none of loss, duplicate, reorder, corrupt and seed")),
            }
        }
        Ok(faults)
    }
}

/// What a port has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames from and to the station there.
    pub from: u64,
    pub to: u64,
    /// Of those from there: too short to be frames, lost on purpose, repeated, reordered, damaged, and sent to all since nobody knew better.
    pub short: u64,
    pub lost: u64,
    pub duplicated: u64,
    pub reordered: u64,
    pub corrupted: u64,
    pub flooded: u64,
}

/// An Ethernet switch, without its wires.
#[derive(Debug)]
pub struct Forwarding {
    faults: Faults,
    state: u64,
    /// Ports by the address of the station there.
    learned: HashMap<[u8; 6], usize>,
    counts: Vec<Counts>,
    /// By port: a frame that goes behind the next one.
    held: Vec<Option<Vec<u8>>>,
}

/// Addresses that are remembered: noise must not fill the memory.
const LEARNED_MAX: usize = 4096;
/// Bytes of Ethernet's head.
const HEAD_BYTES: usize = 14;

impl Forwarding {
    pub fn new(ports: usize, faults: Faults) -> Forwarding {
        // The generator stands still at 0.
        let state = (faults.seed ^ 0x9e37_79b9_7f4a_7c15).max(1);
        Forwarding {
            faults,
            state,
            learned: HashMap::new(),
            counts: vec![Counts::default(); ports],
            held: vec![None; ports],
        }
    }

    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// A number at random: Marsaglia's xorshift64.
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn strikes(&mut self, chance: f64) -> bool {
        chance > 0.0 && ((self.next() >> 11) as f64) < chance * (1u64 << 53) as f64
    }

    /// Takes a frame that has come from port `from`, and calls `out` with each port and what goes there. The frame may be changed.
    pub fn take(&mut self, from: usize, frame: &mut [u8], mut out: impl FnMut(usize, &[u8])) {
        self.counts[from].from += 1;
        let Some((head, _)) = frame.split_first_chunk::<HEAD_BYTES>() else {
            self.counts[from].short += 1;
            return;
        };
        let address =
            |at: usize| [head[at], head[at + 1], head[at + 2], head[at + 3], head[at + 4], head[at + 5]];
        let (to, source) = (address(0), address(6));
        let is_group = |address: [u8; 6]| address[0] & 1 != 0;
        if !is_group(source) && (self.learned.len() < LEARNED_MAX || self.learned.contains_key(&source)) {
            self.learned.insert(source, from);
        }
        let known = if is_group(to) { None } else { self.learned.get(&to).copied() };
        if self.strikes(self.faults.loss) {
            self.counts[from].lost += 1;
            return;
        }
        if self.strikes(self.faults.corrupt) {
            let bit = self.next() as usize % (frame.len() * 8);
            frame[bit / 8] ^= 1 << (bit % 8);
            self.counts[from].corrupted += 1;
        }
        self.counts[from].flooded += u64::from(known.is_none());
        let copies = if self.strikes(self.faults.duplicate) { 2 } else { 1 };
        self.counts[from].duplicated += copies - 1;
        for port in 0..self.counts.len() {
            if port == from || known.is_some_and(|known| known != port) {
                continue;
            }
            for _ in 0..copies {
                self.counts[port].to += 1;
                if self.held[port].is_none() && self.strikes(self.faults.reorder) {
                    self.counts[from].reordered += 1;
                    self.held[port] = Some(frame.to_vec());
                    continue;
                }
                out(port, frame);
                if let Some(held) = self.held[port].take() {
                    out(port, &held);
                }
            }
        }
    }

    /// Lets go what waits for a next frame that has not come. True if there was something.
    pub fn release(&mut self, mut out: impl FnMut(usize, &[u8])) -> bool {
        let mut any = false;
        for (port, held) in self.held.iter_mut().enumerate() {
            if let Some(frame) = held.take() {
                out(port, &frame);
                any = true;
            }
        }
        any
    }

    /// Whether something waits for a next frame.
    pub fn holds(&self) -> bool {
        self.held.iter().any(Option::is_some)
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
        switch.take(from, &mut frame, |port, _| ports.push(port));
        ports
    }

    #[test]
    fn stations_are_learned_and_others_are_looked_for_everywhere() {
        let mut switch = Forwarding::new(3, Faults::default());
        assert_eq!(ports(&mut switch, 0, frame(1, 0, 0)), [1, 2], "nobody knows where station 1 is");
        assert_eq!(ports(&mut switch, 1, frame(0, 1, 0)), [0]);
        assert_eq!(ports(&mut switch, 0, frame(1, 0, 0)), [1]);
        assert_eq!(ports(&mut switch, 2, frame(0, 1, 0)), [0], "station 1 has moved");
        assert_eq!(ports(&mut switch, 0, frame(1, 0, 0)), [2]);
        let mut to_all = frame(0, 0, 0);
        to_all[..6].fill(0xff);
        assert_eq!(ports(&mut switch, 0, to_all), [1, 2]);
        assert_eq!(ports(&mut switch, 0, vec![0; 13]), [0usize; 0]);
        assert_eq!(
            ports(&mut switch, 1, frame(1, 1, 0)),
            [0usize; 0],
            "station 1 has moved to where this comes from"
        );
        assert_eq!(switch.counts()[0].short, 1);
    }

    #[test]
    fn what_happens_to_frames_is_as_often_as_asked_and_the_same_each_time() {
        let faults = Faults { loss: 0.1, duplicate: 0.05, reorder: 0.05, corrupt: 0.02, seed: 3 };
        let run = || {
            let mut switch = Forwarding::new(2, faults);
            let mut came = Vec::new();
            for number in 0..10_000u32 {
                switch.take(0, &mut frame(1, 0, number as u8), |_, frame| came.push(frame.to_vec()));
            }
            switch.release(|_, frame| came.push(frame.to_vec()));
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
    fn faults_are_read_or_refused() {
        let faults = Faults::parse("loss=0.1,seed=7").unwrap();
        assert_eq!(faults, Faults { loss: 0.1, seed: 7, ..Faults::default() });
        for wrong in ["", "loss", "loss=2", "loss=-0.1", "seed=x", "delay=1", "loss=NaN"] {
            assert!(Faults::parse(wrong).is_err(), "{wrong}");
        }
    }
}
