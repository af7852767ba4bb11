//! The sender's window: what is under way to a peer, how long an answer takes, and how much the way between bears.
//!
//! Round-trip time and time limit as in RFC 6298, with limits for a machine room; each acknowledgement of something new starts the time
//! anew (its section 5.3). Congestion as in RFC 5681 with frames instead of bytes. Selective acknowledgement marks a frame lost when three later
//! ones have arrived, and one that was sent again when something sent clearly later has (RFC 8985, section 6.2). A mark of a full queue
//! halves the window, a loss takes three tenths of it (RFC 3168; RFC 9438, section 4.6): where queues are marked, few losses are of full ones.
//!
//! Silence is answered twice. First by probes: one frame goes again, some times, and the window stays as it is (RFC 8985, section 7). So a peer that was
//! busy for a moment, as an emulated or a swapped-out node is, costs some frames at most, and its late answer teaches the time limit. Only when the
//! probes have had no answer either all frames are taken for lost.

use bytemuck::Zeroable;

/// Most frames under way to a peer; what the selective acknowledgement's 32 bits can tell of.
pub const WINDOW: u32 = 32;
/// Later frames that must have arrived before one is taken for lost.
const REORDERED_MAX: u32 = 3;
/// Least time without an answer after which one frame goes again, in microseconds; each further time it is twice as long.
const PROBE_MIN_US: u32 = 2_000;
/// Times that it goes again. Where one frame in ten is lost, the probe or its answer is one time in five.
const PROBES: u32 = 3;
/// Limits of the time after which nothing heard is a loss, and the first guess, in microseconds. An emulated node may be
/// away for a slice of the host's scheduler.
const TIMEOUT_MIN_US: u32 = 20_000;
const TIMEOUT_MAX_US: u32 = 200_000;
const TIMEOUT_FIRST_US: u32 = 20_000;
/// The congestion window counts in parts of a frame.
const FRAME: u32 = 256;
/// Frames that may be sent to a peer at first, and at least after a mark and after a loss. Switches mark before their queues are full, so a loss alone may be
/// damage on the way, and of fewer frames than this, often none would come behind a lost one to tell of it.
const FIRST_FRAMES: u32 = 8;
const LEAST_MARKED: u32 = 2;
const LEAST_LOST: u32 = 8;

/// States of a frame under way.
const WAITING: u8 = 1;
const LOST: u8 = 2;
const ARRIVED: u8 = 3;

/// One frame under way.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Entry {
    /// The message, and which of its pieces.
    pub message: u32,
    pub piece: u32,
    /// When it was last sent, in microseconds, truncated.
    sent_at: u32,
    state: u8,
    /// Times it has been sent; stays at 255.
    times: u8,
    /// How much it holds further short messages back while it is under way.
    weight: u8,
    padding: u8,
}

/// What an acknowledgement has changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Frames that are now known to have arrived.
    pub arrived: u32,
}

/// Round-trip times of the frames that an acknowledgement speaks of, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    longest: Option<u32>,
    shortest: Option<u32>,
}

#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub struct Window {
    /// Number of the first frame that is not known to have arrived, and of the next one to be sent.
    first: u32,
    next: u32,
    /// Frames waiting for their acknowledgement.
    under_way: u32,
    lost_count: u32,
    /// Congestion window and slow start's threshold, in parts of a frame.
    room: u32,
    threshold: u32,
    /// A loss before this number belongs to one that has been reacted to.
    recover: u32,
    /// Smoothed round-trip time, its variation and the time limit, in microseconds.
    smooth_us: u32,
    variation_us: u32,
    timeout_us: u32,
    /// Smoothed round-trip time of answers that no probe came before, in microseconds: others may be late because one was lost.
    usual_us: u32,
    /// When something new was acknowledged last, or sent into the empty window, in microseconds, truncated.
    progress_at: u32,
    /// Probes that have gone since then.
    probed: u32,
    /// No frame from this number on has been sent again.
    fresh: u32,
    /// Frames sent since one that asked for an acknowledgement.
    unasked: u32,
    entries: [Entry; WINDOW as usize],
}

fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Microseconds since a truncated time. 0 if that is still to come: whoever calls may have looked at the clock before another did.
fn since(then: u32, now: u64) -> u32 {
    let passed = (now as u32).wrapping_sub(then);
    if before(passed, 0) { 0 } else { passed }
}

impl Window {
    /// An empty window, at the beginning of a stream.
    pub fn start(&mut self) {
        *self = Window {
            room: FIRST_FRAMES * FRAME,
            threshold: WINDOW * FRAME,
            timeout_us: TIMEOUT_FIRST_US,
            ..Window::zeroed()
        };
    }

    fn entry(&mut self, number: u32) -> &mut Entry {
        &mut self.entries[(number % WINDOW) as usize]
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.first == self.next
    }

    /// Whether a frame that has not been sent before may go.
    pub fn has_room(&self) -> bool {
        self.next.wrapping_sub(self.first) < WINDOW && self.under_way < (self.room / FRAME).max(1)
    }

    /// The first frame to be sent again, if one may go: its number, message and piece.
    pub fn lost(&self) -> Option<(u32, Entry)> {
        if self.lost_count == 0 || self.under_way >= (self.room / FRAME).max(1) {
            return None;
        }
        let count = self.next.wrapping_sub(self.first);
        (0..count)
            .map(|ahead| self.first.wrapping_add(ahead))
            .map(|number| (number, self.entries[(number % WINDOW) as usize]))
            .find(|(_, entry)| entry.state == LOST)
    }

    /// The number that the next new frame has.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Whether the next new frame is to ask for an acknowledgement: one of each quarter of the window does, so that room comes back before there is none.
    pub fn asks(&self) -> bool {
        self.unasked + 1 >= self.room / FRAME / 4
    }

    /// A new frame has been sent, which asks for an acknowledgement or not.
    pub fn sent(&mut self, message: u32, piece: u32, asks: bool, weight: u8, now: u64) {
        self.unasked = if asks { 0 } else { self.unasked + 1 };
        // What was acknowledged before may be longer ago than a truncated time can say.
        self.progress_at = if self.is_empty() { now as u32 } else { self.progress_at };
        let number = self.next;
        *self.entry(number) =
            Entry { message, piece, sent_at: now as u32, state: WAITING, times: 1, weight, padding: 0 };
        self.next = number.wrapping_add(1);
        self.under_way += 1;
    }

    /// The weight of all frames that wait for their acknowledgement.
    pub fn weight(&self) -> u32 {
        let waiting = self.all().filter(|entry| entry.state == WAITING);
        waiting.map(|entry| u32::from(entry.weight)).sum()
    }

    /// What is under way, in order.
    fn all(&self) -> impl Iterator<Item = &Entry> {
        let count = self.next.wrapping_sub(self.first);
        (0..count).map(|ahead| &self.entries[(self.first.wrapping_add(ahead) % WINDOW) as usize])
    }

    /// A lost frame has been sent again.
    pub fn sent_again(&mut self, number: u32, now: u64) {
        let entry = self.entry(number);
        entry.state = WAITING;
        entry.sent_at = now as u32;
        entry.times = entry.times.saturating_add(1);
        self.under_way += 1;
        self.lost_count -= 1;
        if before(self.fresh, number.wrapping_add(1)) {
            self.fresh = number.wrapping_add(1);
        }
    }

    /// Takes an acknowledgement in: the next frame expected, and a bit for each that is there behind it. Calls `arrived` for message and piece of each
    /// frame that has now been handed up there: one that is kept for its turn can still be lost. Nothing if it acknowledges what has not been sent.
    pub fn acknowledged(
        &mut self,
        expected: u32,
        selective: u32,
        now: u64,
        mut arrived: impl FnMut(u32, u32),
    ) -> Option<Progress> {
        if before(self.next, expected) {
            return None;
        }
        let mut progress = Progress::default();
        let mut sample = Sample::default();
        while before(self.first, expected) {
            self.take(self.first, now, &mut progress, &mut sample);
            let Entry { message, piece, .. } = *self.entry(self.first);
            arrived(message, piece);
            self.first = self.first.wrapping_add(1);
        }
        let mut highest = None;
        for bit in (0..WINDOW).filter(|bit| selective >> bit & 1 != 0) {
            let number = expected.wrapping_add(bit + 1);
            // An old acknowledgement may speak of frames before the window.
            if before(number, self.first) || !before(number, self.next) {
                continue;
            }
            self.take(number, now, &mut progress, &mut sample);
            highest = Some(number);
        }
        if let Some(longest) = sample.longest {
            let longest = longest.min(TIMEOUT_MAX_US);
            self.measure(longest);
            if self.probed == 0 {
                let usual = if self.usual_us == 0 { longest } else { (7 * self.usual_us + longest) / 8 };
                self.usual_us = usual.max(1);
            }
        }
        if progress.arrived > 0 {
            (self.progress_at, self.probed) = (now as u32, 0);
        }
        if self.is_empty() {
            self.unasked = 0;
        }
        self.find_losses(highest, sample.shortest, now);
        Some(progress)
    }

    fn take(&mut self, number: u32, now: u64, progress: &mut Progress, sample: &mut Sample) {
        let entry = *self.entry(number);
        match entry.state {
            WAITING => self.under_way -= 1,
            LOST => self.lost_count -= 1,
            _ => return,
        }
        self.entry(number).state = ARRIVED;
        // Of a frame sent more than once nobody knows which has arrived (Karn's algorithm).
        if entry.times == 1 {
            let age = since(entry.sent_at, now);
            sample.longest = Some(sample.longest.map_or(age, |longest| longest.max(age)));
            sample.shortest = Some(sample.shortest.map_or(age, |shortest| shortest.min(age)));
        }
        self.grow();
        progress.arrived += 1;
    }

    fn grow(&mut self) {
        let step = if self.room < self.threshold { FRAME } else { (FRAME * FRAME / self.room).max(1) };
        self.room = (self.room + step).min(WINDOW * FRAME);
    }

    fn measure(&mut self, sample: u32) {
        if self.smooth_us == 0 {
            (self.smooth_us, self.variation_us) = (sample.max(1), sample / 2);
        } else {
            let off = sample.abs_diff(self.smooth_us);
            self.variation_us = (3 * self.variation_us + off) / 4;
            self.smooth_us = ((7 * self.smooth_us + sample) / 8).max(1);
        }
        self.timeout_us = (self.smooth_us + 4 * self.variation_us).clamp(TIMEOUT_MIN_US, TIMEOUT_MAX_US);
    }

    /// Frames well before one that has arrived (`highest`) are lost. One that was sent again is lost if what has arrived was sent
    /// clearly later: `newest` microseconds ago.
    fn find_losses(&mut self, highest: Option<u32>, newest: Option<u32>, now: u64) {
        let any_again = newest.is_some() && before(self.first, self.fresh);
        if highest.is_none() && !any_again {
            return;
        }
        let mut found = false;
        let late = newest.map(|newest| newest.saturating_add(self.smooth_us / 4 + 1));
        let mut number = self.first;
        while before(number, self.next) {
            let overtaken =
                highest.is_some_and(|highest| before(number.wrapping_add(REORDERED_MAX - 1), highest));
            let entry = self.entry(number);
            let age = since(entry.sent_at, now);
            let lost = match entry.times {
                1 => overtaken,
                _ => late.is_some_and(|late| age > late),
            };
            if entry.state == WAITING && lost {
                entry.state = LOST;
                self.under_way -= 1;
                self.lost_count += 1;
                found |= !before(number, self.recover);
            }
            number = number.wrapping_add(1);
        }
        if found {
            self.shrink((self.room / 10 * 7).max(LEAST_LOST * FRAME));
        }
    }

    /// The peer has told of a mark.
    pub fn marked(&mut self) {
        if !before(self.first, self.recover) {
            self.shrink((self.room / 2).max(LEAST_MARKED * FRAME));
        }
    }

    fn shrink(&mut self, room: u32) {
        self.threshold = room;
        self.room = room.min(self.room);
        self.recover = self.next;
    }

    /// When something is to be done about silence ([`Window::timed_out`]), if an answer is awaited. Frames that are kept there count, too, if
    /// all are: the word that they have been handed up may have been lost.
    pub fn deadline(&self, now: u64) -> Option<u64> {
        let all_kept = self.all_kept();
        let waiting = self.all().filter(|entry| entry.state == WAITING || all_kept);
        let mut ages = waiting.map(|entry| since(entry.sent_at, now));
        // Where none has gone again, they went in their order.
        let oldest = if before(self.first, self.fresh) { ages.max()? } else { ages.next()? };
        let silence = oldest.min(since(self.progress_at, now));
        let limit = if self.probed < PROBES { self.probe_us() } else { self.timeout_us };
        Some((now + u64::from(limit)).saturating_sub(u64::from(silence)))
    }

    /// How long to wait for an answer before one frame goes again.
    fn probe_us(&self) -> u32 {
        let expected = (4 * self.usual_us).max(PROBE_MIN_US);
        // Before the first answer there is nothing to go by.
        if self.usual_us == 0 { self.timeout_us } else { (expected << self.probed).min(self.timeout_us) }
    }

    fn all_kept(&self) -> bool {
        self.under_way == 0 && self.lost_count == 0
    }

    /// Nothing was heard for too long: the first frame goes again, and the second time all frames under way are taken for lost. Returns how
    /// many were.
    pub fn timed_out(&mut self) -> u32 {
        if self.probed < PROBES {
            self.probed += 1;
            self.probe();
            return 0;
        }
        let mut lost = 0;
        let mut number = self.first;
        while before(number, self.next) {
            let entry = self.entry(number);
            if entry.state == WAITING {
                entry.state = LOST;
                lost += 1;
            }
            number = number.wrapping_add(1);
        }
        if lost == 0 && self.lost_count == 0 && !self.is_empty() {
            // Sending one again asks for the word.
            self.entry(self.first).state = LOST;
            lost = 1;
        }
        self.under_way = 0;
        self.lost_count += lost;
        self.threshold = (self.room / 2).max(LEAST_LOST * FRAME);
        self.room = FRAME;
        self.recover = self.next;
        self.timeout_us = (2 * self.timeout_us).min(TIMEOUT_MAX_US);
        lost
    }

    /// Has the first frame that waits sent again; if all are kept there, the first, which asks for the word.
    fn probe(&mut self) {
        let all_kept = self.all_kept();
        let mut number = self.first;
        while before(number, self.next) {
            let entry = self.entry(number);
            if entry.state == WAITING || all_kept {
                let waited = u32::from(core::mem::replace(&mut entry.state, LOST) == WAITING);
                self.under_way -= waited;
                self.lost_count += 1;
                return;
            }
            number = number.wrapping_add(1);
        }
    }

    /// Gives up: calls `gone` for message and piece of each frame that is not known to have arrived.
    pub fn abandon(&mut self, mut gone: impl FnMut(u32, u32)) {
        while before(self.first, self.next) {
            let Entry { message, piece, .. } = *self.entry(self.first);
            gone(message, piece);
            self.first = self.first.wrapping_add(1);
        }
        self.start();
    }

    /// The time after which nothing heard is a loss, in microseconds.
    pub fn timeout_us(&self) -> u32 {
        self.timeout_us
    }
}

#[cfg(test)]
mod tests;
