//! A bound on what frames of strangers cost: those that are dropped take a fifth of a core's time at most. Beyond that the card is left alone for a
//! while, and what comes meanwhile finds its buffers full.

/// Of so many units of time one may be spent on strangers.
const PASSES: u64 = 5;
/// What may be spent on them at once, in microseconds.
const BURST_US: u64 = 1_000;

/// What has been spent on strangers, and until when no more is. Times are microseconds of any steady clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience {
    /// Spent and not made up for by time since, and when that was reckoned.
    debt: u64,
    at: u64,
    until: u64,
    holds: u64,
}

impl Patience {
    /// The time from `from` to `until` has been spent on `frames` frames, of which `strangers` were dropped.
    pub fn spent(&mut self, from: u64, until: u64, frames: u64, strangers: u64) {
        if strangers == 0 || frames == 0 {
            return;
        }
        let passed = until.saturating_sub(self.at);
        // A microsecond for what the clock does not see.
        let cost = (until.saturating_sub(from) + 1).saturating_mul(strangers.min(frames)) / frames;
        self.debt = self.debt.saturating_sub(passed / PASSES).saturating_add(cost);
        self.at = until;
        if self.debt >= BURST_US {
            self.until = until.saturating_add(self.debt.saturating_mul(PASSES));
            self.holds += 1;
        }
    }

    /// Until when the card is to be left alone, if it is.
    pub fn until(&self, now: u64) -> Option<u64> {
        (now < self.until).then_some(self.until)
    }

    /// Times that the card was left alone.
    pub fn holds(&self) -> u64 {
        self.holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of ten seconds that goes to batches of 32 frames, each frame `cost` microseconds, `strangers` of a batch dropped, as many
    /// batches as there is time for.
    fn share(cost: u64, strangers: u64) -> f64 {
        let mut patience = Patience::default();
        let (mut now, mut busy) = (0, 0);
        while now < 10_000_000 {
            if let Some(until) = patience.until(now) {
                now = until;
                continue;
            }
            let spent = 32 * cost;
            patience.spent(now, now + spent, 32, strangers);
            now += spent;
            busy += spent;
        }
        busy as f64 / 1e7
    }

    #[test]
    fn a_flood_takes_a_fifth_of_the_time() {
        for cost in [1, 5, 30, 200] {
            let share = share(cost, 32);
            assert!((0.15..0.23).contains(&share), "{cost} us a frame: {share}");
        }
    }

    #[test]
    fn a_few_strangers_among_many_frames_do_no_harm() {
        assert!(share(5, 0) > 0.999);
        assert!(share(5, 4) > 0.999);
    }

    #[test]
    fn strangers_now_and_then_are_borne() {
        let mut patience = Patience::default();
        for now in (0..10_000_000).step_by(1_000) {
            patience.spent(now, now + 50, 4, 4);
            assert_eq!(patience.until(now + 50), None);
        }
        assert_eq!(patience.holds(), 0);
    }
}
