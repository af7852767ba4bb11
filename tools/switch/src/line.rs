//! The wire from the switch to a station, in simulated time: a queue, a bandwidth and a latency. Pure logic; time is nanoseconds.

use std::collections::VecDeque;

use lwk_frames::frame::{AT_MARK, ETHERTYPE, MARK};
use lwk_frames::pause::{self, BANDWIDTH, UNIT_BITS};

use super::options::Wire;

/// Bytes of a frame on a wire beside its own: checksum, preamble, gap.
const EXTRA_BYTES: u64 = 24;
/// What has become of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    Queued,
    /// Who has sent it is to pause for so many units.
    Pause(u16),
    /// The queue was full, and the frame is lost.
    Lost,
}

/// A wire with what is on it.
#[derive(Debug)]
pub struct Line {
    wire: Wire,
    /// Frames that wait to be sent, and since when each does.
    queue: VecDeque<(u64, Vec<u8>)>,
    /// Frames that have been sent, and when each arrives.
    flying: VecDeque<(u64, Vec<u8>)>,
    /// When the last frame has been sent, and when the station is ready for more.
    free_at: u64,
    paused_until: u64,
    pub overrun: u64,
    pub marked: u64,
    /// Bytes that have arrived.
    pub bytes: u64,
    /// Most frames that have waited.
    pub longest: usize,
}

impl Line {
    pub fn new(wire: Wire) -> Line {
        Line {
            wire,
            queue: VecDeque::new(),
            flying: VecDeque::new(),
            free_at: 0,
            paused_until: 0,
            overrun: 0,
            marked: 0,
            bytes: 0,
            longest: 0,
        }
    }

    /// Frames that wait: to be sent, or for the station to take them.
    fn waiting(&self, now: u64) -> usize {
        let arrived = self.flying.partition_point(|(at, _)| *at <= now);
        self.queue.len() + arrived
    }

    fn transmission(&self, bytes: usize) -> u64 {
        let bits = (bytes as u64 + EXTRA_BYTES) * 8;
        self.wire.bandwidth.map_or(0, |bandwidth| bits * 1000 / bandwidth)
    }

    /// Takes a frame for the station.
    pub fn take(&mut self, now: u64, frame: &[u8]) -> Taken {
        self.advance(now);
        let waiting = self.waiting(now);
        if waiting >= self.wire.queue {
            self.overrun += 1;
            return Taken::Lost;
        }
        let mut frame = frame.to_vec();
        let ours = frame.get(12..14) == Some(&ETHERTYPE.to_be_bytes()[..]);
        if waiting >= self.wire.queue / 2 && ours && frame.len() > AT_MARK {
            frame[AT_MARK] |= MARK;
            self.marked += 1;
        }
        self.longest = self.longest.max(waiting + 1);
        let half = self.transmission(frame.len()) * (self.wire.queue as u64 / 2);
        self.queue.push_back((now, frame));
        self.advance(now);
        if !self.wire.pauses || waiting < self.wire.queue * 3 / 4 {
            return Taken::Queued;
        }
        let quantum = UNIT_BITS * 1000 / self.wire.bandwidth.unwrap_or(BANDWIDTH);
        Taken::Pause((half / quantum.max(1)).clamp(1, u16::MAX.into()) as u16)
    }

    /// Puts frames whose turn has come on the wire.
    fn advance(&mut self, now: u64) {
        while let Some((since, frame)) = self.queue.front() {
            let begins = self.free_at.max(self.paused_until).max(*since);
            if begins > now {
                return;
            }
            self.free_at = begins + self.transmission(frame.len());
            let arrives = self.free_at + self.wire.latency_ns;
            if let Some((_, frame)) = self.queue.pop_front() {
                self.flying.push_back((arrives, frame));
            }
        }
    }

    /// The next frame that has arrived; [`Line::taken`] takes it off.
    pub fn arrived(&mut self, now: u64) -> Option<&[u8]> {
        self.advance(now);
        self.flying.front().filter(|(at, _)| *at <= now).map(|(_, frame)| &frame[..])
    }

    pub fn taken(&mut self) {
        if let Some((_, frame)) = self.flying.pop_front() {
            self.bytes += frame.len() as u64;
        }
    }

    /// When something happens next if nobody sends.
    pub fn next(&self) -> Option<u64> {
        let arrives = self.flying.front().map(|(at, _)| *at);
        let begins = self.queue.front().map(|(since, _)| self.free_at.max(self.paused_until).max(*since));
        arrives.into_iter().chain(begins).min()
    }

    /// The station asks for a pause of so many units; 0 ends one.
    pub fn pause(&mut self, now: u64, quanta: u16) {
        let bandwidth = self.wire.bandwidth.unwrap_or(BANDWIDTH);
        self.paused_until = now + u64::from(quanta) * UNIT_BITS * 1000 / bandwidth;
    }
}

/// A frame that asks for a pause.
pub fn pause_frame(quanta: u16) -> Vec<u8> {
    pause::frame([2, b'M', b'a', b'r', 0xff, 0xff], quanta).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: u8) -> Vec<u8> {
        [&[0; 12][..], &[0x88, 0xb5, 1, 0], &[number; 84]].concat()
    }

    /// When each frame arrives, by going from one event to the next.
    fn arrivals(line: &mut Line, from: u64) -> Vec<(u64, u8)> {
        let (mut now, mut all) = (from, Vec::new());
        loop {
            while let Some(frame) = line.arrived(now) {
                all.push((now, frame[20]));
                line.taken();
            }
            match line.next() {
                Some(next) => now = next,
                None => return all,
            }
        }
    }

    #[test]
    fn frames_take_their_time() {
        // 124 bytes on the wire at 8 Mbit/s: 124 us each.
        let wire = Wire { bandwidth: Some(8), latency_ns: 5_000_000, ..Wire::default() };
        let mut line = Line::new(wire);
        (0..3).for_each(|number| assert_eq!(line.take(1_000, &frame(number)), Taken::Queued));
        let first = 1_000 + 124_000 + 5_000_000;
        assert_eq!(arrivals(&mut line, 0), [(first, 0), (first + 124_000, 1), (first + 248_000, 2)]);
        assert_eq!(line.bytes, 300);
        let mut fast = Line::new(Wire::default());
        fast.take(7, &frame(9));
        assert_eq!(arrivals(&mut fast, 7), [(7, 9)]);
    }

    #[test]
    fn a_queue_marks_from_half_and_loses_beyond_its_length() {
        let wire = Wire { bandwidth: Some(8), queue: 8, pauses: true, ..Wire::default() };
        let mut line = Line::new(wire);
        let taken: Vec<_> = (0..12).map(|number| line.take(0, &frame(number))).collect();
        // The first is sent at once.
        assert!(taken[..7].iter().all(|taken| *taken == Taken::Queued), "{taken:?}");
        assert!(taken[7..9].iter().all(|taken| matches!(taken, Taken::Pause(_))), "{taken:?}");
        assert!(taken[9..].iter().all(|taken| *taken == Taken::Lost), "{taken:?}");
        assert_eq!((line.overrun, line.marked, line.longest), (3, 4, 8));
    }

    #[test]
    fn a_station_can_pause_its_wire() {
        let wire = Wire { bandwidth: Some(8), ..Wire::default() };
        let mut line = Line::new(wire);
        line.take(0, &frame(0));
        line.take(0, &frame(1));
        // 100 units of 64 us.
        line.pause(10, pause::asked(&pause_frame(100)).unwrap());
        assert_eq!(arrivals(&mut line, 0), [(124_000, 0), (10 + 6_400_000 + 124_000, 1)]);
        line.take(7_000_000, &frame(2));
        line.pause(7_000_000, 0xffff);
        line.take(7_000_000, &frame(3));
        line.pause(7_000_000, 0);
        assert_eq!(arrivals(&mut line, 7_000_000).len(), 2);
        assert_eq!(pause::asked(&frame(1)), None);
        assert_eq!(pause::asked(&pause_frame(1)[..17]), None);
    }
}
