//! The job page's time: how fast the time stamp counter runs, and where it stands against the wall clock.
//!
//! Linux keeps the counter's frequency to itself, so it is measured against `CLOCK_MONOTONIC_RAW`, which is derived from
//! the very same counter, over the time the loader has been at work anyway.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

use crate::arch::time_stamp;

/// The least time to measure over. A pair of readings is good to about 30 ns, so this gives 6 parts in a million.
const BASE: Duration = Duration::from_millis(10);
/// Readings of which the tightest is taken.
const TRIES: usize = 16;

/// A moment on two clocks.
#[derive(Clone, Copy, Debug)]
struct Moment {
    ticks: u64,
    time: Duration,
}

impl Moment {
    /// Now, with the tightest of a few readings: the counter is read before and after the clock.
    fn now(clock: ClockId) -> nix::Result<Moment> {
        let mut best = (u64::MAX, Moment { ticks: 0, time: Duration::ZERO });
        for _ in 0..TRIES {
            let before = time_stamp();
            let time = Duration::from(clock_gettime(clock)?);
            let after = time_stamp();
            let width = after.wrapping_sub(before);
            if width < best.0 {
                best = (width, Moment { ticks: before.wrapping_add(width / 2), time });
            }
        }
        Ok(best.1)
    }
}

/// The time fields of a job page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeBase {
    /// Ticks in a second.
    pub tsc_hz: u64,
    /// The counter at `wall_base_ns`.
    pub tsc_base: u64,
    /// Nanoseconds since the Unix epoch.
    pub wall_base_ns: u64,
}

/// A measurement under way.
#[derive(Clone, Copy, Debug)]
pub struct Calibration(Moment);

impl Calibration {
    /// Begins to measure. Errors: Linux has no such clock, here and at the end.
    pub fn begin() -> nix::Result<Calibration> {
        Moment::now(ClockId::CLOCK_MONOTONIC_RAW).map(Calibration)
    }

    /// Ends the measurement, after what is left of 10 ms.
    pub fn end(self) -> nix::Result<TimeBase> {
        let start = self.0;
        let elapsed = Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC_RAW)?).saturating_sub(start.time);
        // Not a synchronisation: the measurement is the passing of time.
        std::thread::sleep(BASE.saturating_sub(elapsed));
        let end = Moment::now(ClockId::CLOCK_MONOTONIC_RAW)?;
        let wall = Moment::now(ClockId::CLOCK_REALTIME)?;
        let nanoseconds = (end.time - start.time).as_nanos().max(1);
        let ticks = u128::from(end.ticks.wrapping_sub(start.ticks));
        Ok(TimeBase {
            tsc_hz: u64::try_from(ticks * 1_000_000_000 / nanoseconds).unwrap_or(u64::MAX),
            tsc_base: wall.ticks,
            wall_base_ns: u64::try_from(wall.time.as_nanos()).unwrap_or(u64::MAX),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether two measurements agree on the counter's frequency and on the time between them, and what they say.
    fn agree() -> (bool, String) {
        let measure = || Calibration::begin().unwrap().end().unwrap();
        let (a, b) = (measure(), measure());
        let parts = a.tsc_hz.abs_diff(b.tsc_hz) as f64 / a.tsc_hz as f64;
        let seconds = b.tsc_base.wrapping_sub(a.tsc_base) as f64 / a.tsc_hz as f64;
        let wall = (b.wall_base_ns as f64 - a.wall_base_ns as f64) * 1e-9;
        // Whoever sets this machine's clock may be slewing it: by a tenth at most (adjtimex(2)).
        let slewed = 0.1 * seconds;
        let holds = parts < 1e-3 && (seconds - wall).abs() < 1e-3 + slewed;
        (holds, format!("{a:?}, {b:?}: {seconds} s by the counter, {wall} s by the clock"))
    }

    /// Not every time: the clock may be set in between, or the machine be taken away from under all readings of one moment.
    #[test]
    fn two_measurements_agree() {
        let tries: Vec<_> = (0..10).map(|_| agree()).take_while(|(holds, _)| !holds).collect();
        assert!(tries.len() < 10, "{tries:#?}");
    }
}
