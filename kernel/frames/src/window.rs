//! The sender's window: what is under way to a peer, how long an answer takes, and how much the way between bears.
//!
//! Round-trip time and time limit as in RFC 6298, with limits for a machine room. Congestion as in RFC 5681 with frames instead of
//! bytes; selective acknowledgement marks a frame lost when three later ones have arrived; a mark of a full queue counts as a
//! loss without the retransmission (RFC 3168).

use bytemuck::Zeroable;

/// Most frames under way to a peer; what the selective acknowledgement's 32 bits can tell of.
pub const WINDOW: u32 = 32;
/// Later frames that must have arrived before one is taken for lost.
const REORDERED_MAX: u32 = 3;
/// Limits of the time after which nothing heard is a loss, and the first guess, in microseconds.
const TIMEOUT_MIN_US: u32 = 2_000;
const TIMEOUT_MAX_US: u32 = 200_000;
const TIMEOUT_FIRST_US: u32 = 20_000;
/// The congestion window counts in parts of a frame.
const FRAME: u32 = 256;
/// Frames that may be sent to a peer at first, and at least after a loss.
const FIRST_FRAMES: u32 = 8;
const LEAST_FRAMES: u32 = 2;

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
    padding: u16,
}

/// What an acknowledgement has changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Frames that are now known to have arrived.
    pub arrived: u32,
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
    entries: [Entry; WINDOW as usize],
}

fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
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

    /// A new frame has been sent.
    pub fn sent(&mut self, message: u32, piece: u32, now: u64) {
        let number = self.next;
        *self.entry(number) =
            Entry { message, piece, sent_at: now as u32, state: WAITING, times: 1, padding: 0 };
        self.next = number.wrapping_add(1);
        self.under_way += 1;
    }

    /// A lost frame has been sent again.
    pub fn sent_again(&mut self, number: u32, now: u64) {
        let entry = self.entry(number);
        entry.state = WAITING;
        entry.sent_at = now as u32;
        entry.times = entry.times.saturating_add(1);
        self.under_way += 1;
        self.lost_count -= 1;
    }

    /// Takes an acknowledgement in: the next frame expected, and a bit for each that is there behind it. Calls `arrived` for the message of each
    /// frame that has now been handed up there: one that is kept for its turn can still be lost. Nothing if it acknowledges what has not been sent.
    pub fn acknowledged(
        &mut self,
        expected: u32,
        selective: u32,
        now: u64,
        mut arrived: impl FnMut(u32),
    ) -> Option<Progress> {
        if before(self.next, expected) {
            return None;
        }
        let mut progress = Progress::default();
        let mut sample = None;
        while before(self.first, expected) {
            self.take(self.first, &mut progress, &mut sample);
            arrived(self.entry(self.first).message);
            self.first = self.first.wrapping_add(1);
        }
        let mut highest = None;
        for bit in (0..WINDOW).filter(|bit| selective >> bit & 1 != 0) {
            let number = expected.wrapping_add(bit + 1);
            // An old acknowledgement may speak of frames before the window.
            if before(number, self.first) || !before(number, self.next) {
                continue;
            }
            self.take(number, &mut progress, &mut sample);
            highest = Some(number);
        }
        if let Some(sent_at) = sample {
            self.measure((now as u32).wrapping_sub(sent_at));
        }
        if let Some(highest) = highest {
            self.find_losses(highest);
        }
        Some(progress)
    }

    fn take(&mut self, number: u32, progress: &mut Progress, sample: &mut Option<u32>) {
        let entry = *self.entry(number);
        match entry.state {
            WAITING => self.under_way -= 1,
            LOST => self.lost_count -= 1,
            _ => return,
        }
        self.entry(number).state = ARRIVED;
        // Of a frame sent more than once nobody knows which has arrived (Karn's algorithm).
        if entry.times == 1 {
            *sample = Some(entry.sent_at);
        }
        self.grow();
        progress.arrived += 1;
    }

    fn grow(&mut self) {
        let step = if self.room < self.threshold { FRAME } else { (FRAME * FRAME / self.room).max(1) };
        self.room = (self.room + step).min(WINDOW * FRAME);
    }

    fn measure(&mut self, sample_us: u32) {
        let sample = sample_us.min(TIMEOUT_MAX_US);
        if self.smooth_us == 0 {
            (self.smooth_us, self.variation_us) = (sample.max(1), sample / 2);
        } else {
            let off = sample.abs_diff(self.smooth_us);
            self.variation_us = (3 * self.variation_us + off) / 4;
            self.smooth_us = ((7 * self.smooth_us + sample) / 8).max(1);
        }
        self.timeout_us = (self.smooth_us + 4 * self.variation_us).clamp(TIMEOUT_MIN_US, TIMEOUT_MAX_US);
    }

    /// Frames well before one that has arrived are lost, unless they have been sent again since.
    fn find_losses(&mut self, highest: u32) {
        let mut found = false;
        let mut number = self.first;
        while before(number.wrapping_add(REORDERED_MAX - 1), highest) {
            let entry = self.entry(number);
            if entry.state == WAITING && entry.times == 1 {
                entry.state = LOST;
                self.under_way -= 1;
                self.lost_count += 1;
                found |= !before(number, self.recover);
            }
            number = number.wrapping_add(1);
        }
        if found {
            self.shrink();
        }
    }

    /// The peer has told of a mark.
    pub fn marked(&mut self) {
        if !before(self.first, self.recover) {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        self.threshold = (self.room / 2).max(LEAST_FRAMES * FRAME);
        self.room = self.threshold;
        self.recover = self.next;
    }

    /// When the first of the frames under way counts as lost, if any is. Frames that are kept there count, too, if all are: the word that
    /// they have been handed up may have been lost.
    pub fn deadline(&self, now: u64) -> Option<u64> {
        let count = self.next.wrapping_sub(self.first);
        let all_kept = self.under_way == 0 && self.lost_count == 0;
        let entries =
            (0..count).map(|ahead| &self.entries[(self.first.wrapping_add(ahead) % WINDOW) as usize]);
        let waiting = entries.filter(|entry| entry.state == WAITING || all_kept);
        let oldest = waiting.map(|entry| (now as u32).wrapping_sub(entry.sent_at)).max()?;
        Some((now + u64::from(self.timeout_us)).saturating_sub(u64::from(oldest)))
    }

    /// Takes all frames under way for lost, since nothing was heard for too long. Returns how many.
    pub fn timed_out(&mut self) -> u32 {
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
        self.threshold = (self.room / 2).max(LEAST_FRAMES * FRAME);
        self.room = FRAME;
        self.recover = self.next;
        self.timeout_us = (2 * self.timeout_us).min(TIMEOUT_MAX_US);
        lost
    }

    /// Gives up: calls `gone` for the message of each frame that is not known to have arrived.
    pub fn abandon(&mut self, mut gone: impl FnMut(u32)) {
        while before(self.first, self.next) {
            gone(self.entry(self.first).message);
            self.first = self.first.wrapping_add(1);
        }
        self.start();
    }

    /// The time after which nothing heard is a loss, in microseconds.
    pub fn timeout_us(&self) -> u32 {
        self.timeout_us
    }
}
