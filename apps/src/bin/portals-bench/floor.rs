//! What the same card and driver do without Portals (`lwk_user::portals::RawFrames`), and what a receive leaves of the core that waits for it. Of rank 0
//! and its peer, while all other ranks wait.
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use lwk_user::clock::Instant;
use lwk_user::portals::abi::{NodeCounts, RawFrames};
use lwk_user::portals::{Interface, Result, physical};
use lwk_user::wait::Poll;
use lwk_user::{job, println};

use crate::{Side, median};

/// An answer that has not come after so many microseconds is lost.
const LOST_US: u64 = 200_000;
/// Frames between two that ask for an answer, and how many such are under way.
const BATCH: u64 = 16;
const BATCHES: u64 = 2;
/// Bytes of the receive that computation is to overlap.
const OVERLAP_BYTES: usize = 1 << 20;
const OVERLAP_ROUNDS: usize = 9;

/// A size's raw frames: of as many bytes, or of as many as fit into a frame.
pub struct Row {
    pub bytes: usize,
    pub raw_mb_s: f64,
    /// With a checksum and a copy of the payload at the other node.
    pub checked_mb_s: f64,
}
lwk_apps::json_object!(Row { bytes, raw_mb_s, checked_mb_s });

pub struct Floors {
    /// Half a round trip of a frame of 8 bytes, echoed by the other node's interrupt, median, in nanoseconds.
    raw_latency_ns: u64,
    /// The same of an 8-byte put and its acknowledgement, which that interrupt sends.
    acknowledged_latency_ns: u64,
    /// Most payload of such a frame.
    frame_bytes: u64,
    bandwidth: Vec<Row>,
    /// Interrupts of rank 0's node a message at low rate, and a frame at full rate.
    interrupts_a_message: f64,
    interrupts_a_frame: f64,
    /// Of the time that a receive of [`OVERLAP_BYTES`] takes: how much could be computed meanwhile.
    overlap: f64,
    /// Bytes copied by processors for each byte of payload: at the receiver, and at the sender beyond heads.
    copies_to_receive: f64,
    head_bytes_a_frame: f64,
    /// Times that rank 0's node has reset its card since it sent no more, in the whole run.
    card_resets: u64,
}
lwk_apps::json_object!(Floors {
    raw_latency_ns,
    acknowledged_latency_ns,
    frame_bytes,
    bandwidth,
    interrupts_a_message,
    interrupts_a_frame,
    overlap,
    copies_to_receive,
    head_bytes_a_frame,
    card_resets
});

impl Floors {
    pub fn print(&self) {
        println!("# a raw frame of 8 bytes, half round trip: {} ns", self.raw_latency_ns);
        println!("# a put of 8 bytes and its acknowledgement: {} ns", self.acknowledged_latency_ns);
        println!("#   bytes   raw MB/s checked MB/s");
        for row in &self.bandwidth {
            println!("{:9} {:10.1} {:10.1}", row.bytes, row.raw_mb_s, row.checked_mb_s);
        }
        println!("# interrupts a message at low rate: {:.2}", self.interrupts_a_message);
        println!("# interrupts a frame at full rate: {:.3}", self.interrupts_a_frame);
        println!("# a receive of 1 MiB leaves for computation: {:.2}", self.overlap);
        println!("# copies of each byte at the receiver: {:.3}", self.copies_to_receive);
        println!("# bytes of heads copied to send a frame: {:.0}", self.head_bytes_a_frame);
        println!("# resets of the card: {}", self.card_resets);
    }
}

/// Answers that have come, and frames that the other node has had.
static WORDS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

struct Raw<'a> {
    interface: &'a Interface,
    node: u32,
    /// What is sent.
    start: u64,
    asked: u64,
    checked: bool,
}

impl Raw<'_> {
    fn send(&mut self, bytes: u64, count: u64, asks: bool) -> Result<u64> {
        let words = WORDS.as_ptr().expose_provenance() as u64;
        let frames = RawFrames {
            node: self.node,
            asks: u32::from(asks) | u32::from(self.checked) << 1,
            start: self.start,
            bytes,
            count,
            words,
        };
        // SAFETY: memory of atomics, which lives as long as the program.
        let sent = unsafe { self.interface.send_raw(&frames) }?.into();
        self.asked += u64::from(asks && sent == count);
        Ok(sent)
    }

    /// Sends frames, the last of which asks, as soon as there is room.
    fn send_all(&mut self, bytes: u64, mut count: u64) -> Result<()> {
        while count > 0 {
            count -= self.send(bytes, count, true)?;
        }
        Ok(())
    }

    /// Waits until no more than `left` answers are missing. False: one is lost.
    fn wait(&self, left: u64) -> bool {
        let (since, mut poll) = (Instant::now(), Poll::new());
        // Acquire: pairs with the kernel's release of the count.
        while WORDS[0].load(Ordering::Acquire) + left < self.asked {
            if since.elapsed().as_micros() as u64 > LOST_US {
                return false;
            }
            poll.pause();
        }
        true
    }

    /// What is lost is not waited for any more.
    fn forget_lost(&mut self) {
        // Acquire: as in `wait`.
        self.asked = WORDS[0].load(Ordering::Acquire);
    }

    fn latency(&mut self, rounds: u64) -> Result<u64> {
        let mut times = Vec::new();
        for _ in 0..rounds {
            let begun = Instant::now();
            self.send_all(8, 1)?;
            if self.wait(0) {
                times.push(begun.elapsed().as_nanos() as u64 / 2);
            }
            self.forget_lost();
        }
        Ok(median(&mut times))
    }

    /// Million bytes of payload a second that reach the other node's driver.
    fn bandwidth(&mut self, bytes: u64, all: u64) -> Result<f64> {
        self.send_all(bytes, 1)?;
        let arrived = |raw: &mut Self| {
            let there = raw.wait(0);
            raw.forget_lost();
            // Relaxed: written before the count that `wait` has seen.
            there.then(|| WORDS[1].load(Ordering::Relaxed))
        };
        let before = arrived(self);
        let begun = Instant::now();
        for _ in 0..(all / bytes / BATCH).clamp(4, 400) {
            self.send_all(bytes, BATCH)?;
            if !self.wait(BATCHES - 1) {
                self.forget_lost();
            }
        }
        self.wait(0);
        let seconds = begun.elapsed().as_secs_f64();
        self.forget_lost();
        // Relaxed: as above. Frames of a batch whose answer was lost are in the next one's count.
        let after = WORDS[1].load(Ordering::Relaxed);
        Ok(before.map_or(0.0, |before| after.saturating_sub(before) as f64 * bytes as f64 / seconds / 1e6))
    }
}

/// The longest frame of this job's cards.
fn frame_bytes(raw: &mut Raw<'_>) -> u64 {
    let (mut fits, mut too_long) = (64, 100_000);
    while too_long - fits > 1 {
        let middle = (fits + too_long) / 2;
        match raw.send(middle, 0, false) {
            Ok(_) => fits = middle,
            Err(_) => too_long = middle,
        }
    }
    fits
}

/// Counts to measure by: how many there have been since.
fn since(now: &NodeCounts, then: &NodeCounts, of: impl Fn(&NodeCounts) -> u64) -> f64 {
    of(now).saturating_sub(of(then)) as f64
}

fn ratio(value: f64, of: f64) -> f64 {
    if of > 0.0 { value / of } else { 0.0 }
}

/// Measures what stands beside Portals' own figures; of rank 0 only. Nothing if its peer is on the same node.
///
/// # Errors
/// Those of Portals' calls.
pub fn measure(side: &mut Side, rounds: u64, sizes: &[usize], source: u64) -> Result<Option<Floors>> {
    let (node, _) = physical(side.peer());
    if node == job().node() {
        return Ok(None);
    }
    let (raw_latency_ns, frame_bytes, bandwidth) = {
        let mut raw = Raw { interface: side.interface(), node, start: source, asked: 0, checked: false };
        let frame_bytes = frame_bytes(&mut raw);
        let latency = raw.latency(rounds)?;
        let mut rows = Vec::new();
        for bytes in sizes.iter().copied() {
            let payload = (bytes as u64).min(frame_bytes);
            let mut rates = [Vec::new(), Vec::new()];
            for _ in 0..3 {
                for (checked, rates) in [false, true].into_iter().zip(&mut rates) {
                    raw.checked = checked;
                    rates.push(raw.bandwidth(payload, 4 << 20)? as u64);
                }
            }
            let [raw_mb_s, checked_mb_s] = rates.map(|mut rates| median(&mut rates) as f64);
            rows.push(Row { bytes, raw_mb_s, checked_mb_s });
        }
        (latency, frame_bytes, rows)
    };
    let acknowledged_latency_ns = side.acknowledged(rounds)?;
    let low = interrupts_at_low_rate(side, rounds)?;
    let before = side.interface().node_counts()?;
    for _ in 0..4 {
        side.fetch(OVERLAP_BYTES.min(side.largest()), 1)?;
    }
    side.drain();
    let after = side.interface().node_counts()?;
    let payload = since(&after, &before, |it| it.payload);
    let sent = since(&after, &before, |it| it.frames_sent);
    Ok(Some(Floors {
        raw_latency_ns,
        acknowledged_latency_ns,
        frame_bytes,
        bandwidth,
        interrupts_a_message: low,
        interrupts_a_frame: ratio(
            since(&after, &before, |it| it.interrupts),
            since(&after, &before, |it| it.frames_received),
        ),
        overlap: overlap(side)?,
        copies_to_receive: ratio(
            since(&after, &before, |it| it.written) - since(&after, &before, |it| it.told),
            payload,
        ),
        head_bytes_a_frame: ratio(since(&after, &before, |it| it.copied_to_send), sent),
        card_resets: side.interface().node_counts()?.resets,
    }))
}

/// Interrupts of this node for each answer to a get that comes alone.
fn interrupts_at_low_rate(side: &mut Side, rounds: u64) -> Result<f64> {
    let before = side.interface().node_counts()?;
    for _ in 0..rounds {
        side.fetch(8, 1)?;
        side.drain();
    }
    let after = side.interface().node_counts()?;
    Ok(ratio(since(&after, &before, |it| it.interrupts), rounds as f64))
}

/// Adds numbers for a while.
fn compute(additions: u64) -> u64 {
    (0..additions).fold(1, |sum, number| core::hint::black_box(sum ^ number))
}

/// How much of a receive's time is left for computation.
fn overlap(side: &mut Side) -> Result<f64> {
    let bytes = OVERLAP_BYTES.min(side.largest());
    let time = |work: &mut dyn FnMut() -> Result<()>| {
        let begun = Instant::now();
        work()?;
        Ok(begun.elapsed().as_nanos() as u64)
    };
    let mut shares = Vec::new();
    for _ in 0..OVERLAP_ROUNDS {
        let alone = time(&mut || {
            side.fetch(bytes, 1)?;
            side.drain();
            Ok(())
        })?;
        // As many additions as take about that time, and what they take now.
        const TRIAL: u64 = 100_000;
        let trial = time(&mut || {
            compute(TRIAL);
            Ok(())
        })?;
        let additions = TRIAL * alone / trial.max(1);
        let computing = time(&mut || {
            compute(additions);
            Ok(())
        })?;
        let both = time(&mut || {
            side.fetch(bytes, 1)?;
            compute(additions);
            side.drain();
            Ok(())
        })?;
        let saved = (alone + computing).saturating_sub(both);
        shares.push((saved.min(alone) * 1000) / alone.min(computing).max(1));
    }
    Ok(median(&mut shares) as f64 / 1000.0)
}
