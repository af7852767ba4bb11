//! Time without a system call: the time stamp counter, and the two numbers in the job page that make it seconds.
//!
//! Integer arithmetic throughout: a tick count becomes nanoseconds exactly (rounded down), however large. [`Instant`]s and the wall clock of a node's ranks
//! compare: where the counters of two cores differ, the job page says by how much.

use crate::{arch, job};
use core::time::Duration;

const NS_PER_S: u64 = 1_000_000_000;

/// The time stamp counter now, not ordered with the instructions around it: the cheapest clock.
#[inline(always)]
pub fn ticks() -> u64 {
    arch::ticks()
}

/// The time stamp counter, read between what is before and what is after: for measuring a stretch of code.
#[inline(always)]
pub fn ticks_ordered() -> u64 {
    arch::ticks_ordered()
}

/// As [`ticks_ordered`], by the counter that all ranks of this node agree on: [`ticks`] of two ranks compare only where their cores' counters are set
/// alike, which firmware does not always see to.
#[inline(always)]
pub fn node_ticks_ordered() -> u64 {
    arch::ticks_ordered().wrapping_sub(job().page().tsc_ahead)
}

/// Ticks of the counter in a second, as the home has measured or been told.
#[inline]
pub fn ticks_per_second() -> u64 {
    job().page().tsc_hz
}

/// Nanoseconds in that many ticks, rounded down; `u64::MAX` if it is more (584 years).
pub fn ticks_to_ns(ticks: u64) -> u64 {
    scale(ticks, NS_PER_S, ticks_per_second())
}

/// Ticks in that many nanoseconds, rounded down; `u64::MAX` if it is more.
pub fn ns_to_ticks(ns: u64) -> u64 {
    scale(ns, ticks_per_second(), NS_PER_S)
}

/// Nanoseconds since the Unix epoch: the home's wall clock at the job's start, gone on by the counter; never set in between.
pub fn wall_clock_ns() -> u64 {
    let page = job().page();
    let now = ticks().wrapping_sub(page.tsc_ahead);
    page.wall_base_ns.saturating_add(ticks_to_ns(now.saturating_sub(page.tsc_base)))
}

/// A point in time on this node; comparable between its ranks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Instant(u64);

impl Instant {
    /// Now: after everything before it, before anything after it ([`node_ticks_ordered`]).
    #[inline]
    pub fn now() -> Instant {
        Instant(node_ticks_ordered())
    }

    /// Time from this to now; zero for one that lies ahead.
    pub fn elapsed(self) -> Duration {
        Instant::now().since(self)
    }

    /// Time from `earlier` to this; zero if it was not earlier.
    pub fn since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(ticks_to_ns(self.0.saturating_sub(earlier.0)))
    }

    /// The instant that much later; the last there is, if the counter does not reach so far.
    pub fn after(self, time: Duration) -> Instant {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Instant(self.0.saturating_add(ns_to_ticks(ns)))
    }

    /// [`ticks`] of this rank's core at this instant.
    pub fn ticks(self) -> u64 {
        self.0.wrapping_add(job().page().tsc_ahead)
    }
}

/// `value * multiplier / divisor` without losing bits in between; saturates. A zero divisor counts as 1.
fn scale(value: u64, multiplier: u64, divisor: u64) -> u64 {
    let wide = value as u128 * multiplier as u128 / divisor.max(1) as u128;
    u64::try_from(wide).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversion_is_exact_where_floating_point_is_not() {
        // A year at 2.9 GHz, and one tick more than a whole number of nanoseconds.
        let hz = 2_900_000_000;
        let ticks = hz * 31_536_000 + 3;
        assert_eq!(scale(ticks, NS_PER_S, hz), 31_536_000 * NS_PER_S + 1);
        assert_eq!(scale(hz, NS_PER_S, hz), NS_PER_S);
    }

    #[test]
    fn extremes_saturate_instead_of_wrapping_or_trapping() {
        assert_eq!(scale(u64::MAX, NS_PER_S, 1), u64::MAX);
        assert_eq!(scale(5, 1, 0), 5);
    }
}
