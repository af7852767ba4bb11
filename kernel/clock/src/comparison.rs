//! By how much the counters of two cores differ: each exchange bounds it from both sides, as in the Network Time Protocol (RFC 5905, section 8).

/// What is known of two counters, in ticks. They run at one frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// This counter is ahead of the other by so much at least, and at most; negative if it lags.
    least: i64,
    most: i64,
}

impl Comparison {
    /// Nothing is known.
    #[must_use]
    pub const fn new() -> Comparison {
        Comparison { least: i64::MIN, most: i64::MAX }
    }

    /// An exchange: the other counter was read as `other` after this one read `before`, and before it read `after`.
    pub fn add(&mut self, before: u64, other: u64, after: u64) {
        // Readings are taken modulo 2⁶⁴, in which every difference of two counters fits.
        self.least = self.least.max(before.wrapping_sub(other) as i64);
        self.most = self.most.min(after.wrapping_sub(other) as i64);
    }

    /// By how many ticks this counter is ahead; 0 if they may agree, and if nothing is known.
    #[must_use]
    pub fn ahead(&self) -> i64 {
        if self.least <= 0 && self.most >= 0 {
            return 0;
        }
        self.least.midpoint(self.most)
    }

    /// How far from the truth [`Comparison::ahead`] is at most.
    #[must_use]
    pub fn error(&self) -> u64 {
        self.most.abs_diff(self.least)
    }
}

impl Default for Comparison {
    fn default() -> Comparison {
        Comparison::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exchanges of which each takes `there` ticks to the other core and `back` ticks from it.
    fn compared(ahead: i64, exchanges: &[(u64, u64)]) -> Comparison {
        let mut comparison = Comparison::new();
        for (number, (there, back)) in exchanges.iter().enumerate() {
            let other = 1_000_000 * number as u64;
            let own = |time: u64| time.wrapping_add_signed(ahead);
            comparison.add(own(other.wrapping_sub(*there)), other, own(other.wrapping_add(*back)));
        }
        comparison
    }

    #[test]
    fn the_difference_is_found_whichever_core_is_ahead() {
        for ahead in [700, -700, 1 << 40, -(1 << 40), i64::MAX / 2, i64::MIN / 2] {
            let found = compared(ahead, &[(90, 80), (5000, 40), (30, 9000), (60, 60)]);
            assert!(found.ahead().abs_diff(ahead) <= 5, "{found:?}");
            assert_eq!(found.error(), 70);
        }
    }

    #[test]
    fn counters_that_may_agree_are_left_alone() {
        assert_eq!(compared(0, &[(90, 80), (30, 9000)]).ahead(), 0);
        assert_eq!(compared(20, &[(90, 80), (30, 9000)]).ahead(), 0);
        assert_eq!(Comparison::new().ahead(), 0);
    }

    /// A counter that is set between two exchanges leaves no difference that fits both: what is said lies between them.
    #[test]
    fn a_counter_that_jumps_is_no_overflow() {
        let mut comparison = Comparison::new();
        comparison.add(u64::MAX, 0, 10);
        comparison.add(1 << 62, 0, (1 << 62) + 10);
        let ahead = comparison.ahead();
        assert!(ahead > 0 && ahead < 1 << 62, "{ahead}");
        comparison.add(1 << 63, 0, 1 << 63);
        let _ = (comparison.ahead(), comparison.error());
    }
}
