//! How often the card interrupts at what it has been told, with a driver that works each frame as soon as it is told of it.

use super::*;

/// A wire of 1 Gb/s: 8 ns a byte, and 24 bytes between two frames, checksum and preamble included.
const NS_A_BYTE: u64 = 8;
const BETWEEN: u64 = 24;
const FRAMES_IN_ALL: u64 = 10_000;

impl Bench {
    /// Has frames come and be worked, as the kernel does it.
    fn work(&mut self, bytes: usize) {
        self.driver.interrupt(false);
        for _ in 0..10 {
            self.arriving.send(std::vec![7; bytes]).unwrap();
            assert_eq!(self.take().len(), bytes);
        }
        self.driver.interrupt(true);
    }

    /// Interrupts if frames come at such a distance: the first at once, further ones not before their time (82574 datasheet, section 7.4).
    fn interrupts(&self, distance_ns: u64) -> u64 {
        let told = |register: usize| self.driver.registers.word(register).read();
        let delays = [registers::RECEIVE.delay(), registers::RECEIVE.delay_most()].map(told);
        assert_eq!(delays, [0, 0], "an idle card would wait for more frames");
        let gap_ns = u64::from(told(registers::GAP)) * u64::from(registers::GAP_UNIT_NS);
        let (mut count, mut worked, mut earliest) = (0, 0, 0);
        while worked < FRAMES_IN_ALL {
            // The next frame is there, or comes yet; so are all that come while the card must wait.
            let at = u64::max(worked * distance_ns, earliest);
            (count, earliest) = (count + 1, at + gap_ns);
            worked = at / distance_ns + 1;
        }
        count
    }
}

fn at_full_rate(bytes: usize) -> u64 {
    (bytes as u64 + BETWEEN) * NS_A_BYTE
}

#[test]
fn each_frame_interrupts_once_at_low_rate() {
    let mut it = Bench::new();
    assert_eq!(it.interrupts(1_000_000), FRAMES_IN_ALL);
    for bytes in [60, 1_514, 9_014] {
        it.work(bytes);
        assert_eq!(it.interrupts(1_000_000), FRAMES_IN_ALL);
    }
}

#[test]
fn ten_frames_at_least_share_an_interrupt_at_full_rate() {
    let mut it = Bench::new();
    assert!(it.interrupts(at_full_rate(60)) * 10 <= FRAMES_IN_ALL, "before any has come");
    for bytes in [60, 200, 1_514] {
        it.work(bytes);
        let count = it.interrupts(at_full_rate(bytes));
        assert!(count * 10 <= FRAMES_IN_ALL, "{count} for frames of {bytes} bytes");
    }
}

#[test]
fn answers_to_answers_wait_50_us_at_most_and_after_a_reset_too() {
    let mut it = Bench::new();
    for reset in [false, true] {
        if reset {
            assert!(it.driver.reset());
            it.driver.begin();
        }
        assert!(it.interrupts(25_000) <= FRAMES_IN_ALL / 2 + 1, "before any has come");
        it.work(1_514);
        assert!(it.interrupts(50_200) < FRAMES_IN_ALL, "after long frames");
        it.work(60);
        assert_eq!(it.interrupts(50_200), FRAMES_IN_ALL, "after short frames");
        assert!(it.interrupts(25_000) <= FRAMES_IN_ALL / 2 + 1, "after short frames");
    }
}
