//! Waiting for many that come one after another.

/// Waits as long as somebody comes: the patience begins anew with each arrival, so that many may take long and none that is lost does.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals {
    patience: u64,
    count: usize,
    since: u64,
}

impl Arrivals {
    /// Begins to wait at the time `now`, in any unit, which is that of `patience`.
    #[must_use]
    pub const fn new(now: u64, patience: u64) -> Arrivals {
        Arrivals { patience, count: 0, since: now }
    }

    /// Whether nobody has come for longer than the patience, when there are `count` by now.
    pub fn are_late(&mut self, now: u64, count: usize) -> bool {
        if count != self.count {
            (self.count, self.since) = (count, now);
        }
        now.saturating_sub(self.since) > self.patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_arrival_begins_the_wait_anew() {
        let mut arrivals = Arrivals::new(1000, 30);
        assert!(!arrivals.are_late(1030, 0));
        // 250 that take 20 each are far beyond one patience, and not late.
        assert!((1..=250).all(|count| !arrivals.are_late(1010 + 20 * count as u64, count)));
        assert!(!arrivals.are_late(6040, 250));
        assert!(arrivals.are_late(6041, 250));
    }

    #[test]
    fn who_never_comes_is_late_and_a_counter_that_steps_back_harms_nothing() {
        let mut arrivals = Arrivals::new(1000, 30);
        assert!(!arrivals.are_late(0, 0) && arrivals.are_late(1031, 0));
    }
}
