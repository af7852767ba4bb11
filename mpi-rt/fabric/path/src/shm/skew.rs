//! Thresholds by skew (section 6.3.2 of Chai's dissertation): a receiver that is away while messages wait for it has its sender copy them through shared memory,
//! so that the sender does not wait, too; when the receiver keeps up again, the sender switches back.
//!
//! The receiver watches the length of its unexpected queue from each peer over time: what is held for a receive, and what still lies in the FIFO. Skew is
//! that [`LENGTH`] messages or more wait while the receiver is elsewhere, for [`AWAY_NS`] in all: the time in which it takes messages, one after the
//! other, does not count, so a window of messages that come faster than they are copied is none. It has gone when [`CALM`] messages in a row have
//! been taken with fewer behind them.
//!
//! Only messages count whose way depends on it: those above the switch point and not above the raised one (`MARGAY_SHM_SKEW_ABOVE`).

use alloc::vec::Vec;

/// Messages that wait for a receiver that is late. Not measured: more than a program has that answers each message.
const LENGTH: usize = 4;
/// For so long, in nanoseconds. Not measured: ten times figure 6.6's longest computation between two messages.
const AWAY_NS: u64 = 500_000;
/// Messages in a row that find the receiver there. Not measured: half of figure 6.5's window, of which the first few always do.
const CALM: u32 = 32;

/// What a receiver knows of its peers, by rank of the job.
pub struct Watch {
    peers: Vec<Peer>,
    /// [`AWAY_NS`] in ticks.
    away: u64,
}

#[derive(Clone, Copy, Default)]
struct Peer {
    /// Messages that are held for a receive.
    held: usize,
    /// When a message was taken last, in ticks.
    left: u64,
    /// Ticks elsewhere since enough messages wait.
    away: u64,
    /// Enough waited when the last was taken.
    is_long: bool,
    /// Messages in a row without enough behind them.
    calm: u32,
    is_late: bool,
}

impl Watch {
    /// Nobody is late. `ticks` converts nanoseconds.
    pub fn new(peers: usize, ticks: impl FnOnce(u64) -> u64) -> Watch {
        Watch { peers: (0..peers).map(|_| Peer::default()).collect(), away: ticks(AWAY_NS) }
    }

    /// How many messages of the peer must be looked for in the FIFO: none more matter.
    pub fn enough(&self, peer: usize) -> usize {
        LENGTH.saturating_sub(self.peers[peer].held)
    }

    /// A message is held for a receive.
    pub fn hold(&mut self, peer: usize) {
        self.peers[peer].held += 1;
    }

    /// One that was held is taken.
    pub fn release(&mut self, peer: usize) {
        self.peers[peer].held -= 1;
    }

    /// The receiver has come for a message at `came`, with `behind` more in the FIFO, and has taken it at `left`. If that changes what the sender should
    /// do: whether to copy through shared memory.
    pub fn taken(&mut self, peer: usize, came: u64, left: u64, behind: usize) -> Option<bool> {
        let enough = self.enough(peer);
        let it = &mut self.peers[peer];
        let elsewhere = came.saturating_sub(core::mem::replace(&mut it.left, left));
        // For as long as it was elsewhere before, nobody may have waited.
        let waited = if it.is_long { elsewhere } else { 0 };
        it.is_long = behind >= enough;
        if it.is_long {
            (it.away, it.calm) = (it.away.saturating_add(waited), 0);
        } else {
            (it.away, it.calm) = (0, it.calm.saturating_add(1));
        }
        let was_late = it.is_late;
        it.is_late = if was_late { it.calm < CALM } else { it.away >= self.away };
        (it.is_late != was_late).then_some(it.is_late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks are nanoseconds here.
    fn watch() -> Watch {
        Watch::new(1, |ns| ns)
    }

    /// Takes `count` messages, each `away` after the one before and copied in 3 us, with `behind` more: what the sender is told, and after which.
    fn take(watch: &mut Watch, now: &mut u64, count: u32, away: u64, behind: usize) -> Vec<(u32, bool)> {
        let mut told = Vec::new();
        for number in 0..count {
            let came = *now + away;
            *now = came + 3_000;
            told.extend(watch.taken(0, came, *now, behind).map(|is_late| (number, is_late)));
        }
        told
    }

    #[test]
    fn a_receiver_that_computes_between_messages_is_late_until_it_keeps_up() {
        let (mut watch, mut now) = (watch(), 0);
        assert_eq!(take(&mut watch, &mut now, 64, 50_000, LENGTH), [(10, true)]);
        assert_eq!(take(&mut watch, &mut now, 64, 50_000, LENGTH), []);
        // The end of a window, and the first messages of the next.
        assert_eq!(take(&mut watch, &mut now, 2 * LENGTH as u32, 50_000, 0), []);
        assert_eq!(take(&mut watch, &mut now, 64, 50_000, LENGTH), []);
        assert_eq!(take(&mut watch, &mut now, 64, 1_000, 0), [(CALM - 1, false)]);
    }

    #[test]
    fn a_window_that_waits_to_be_copied_is_no_skew() {
        let (mut watch, mut now) = (watch(), 0);
        assert_eq!(take(&mut watch, &mut now, 64, 200, 60), []);
        // Nor is a long computation that nobody waits for, or one during which messages begin to wait.
        assert_eq!(take(&mut watch, &mut now, 1, 200, 0), []);
        assert_eq!(take(&mut watch, &mut now, 1, 10_000_000, 60), []);
        assert_eq!(take(&mut watch, &mut now, 1, 200, 0), []);
        assert_eq!(take(&mut watch, &mut now, 64, 10_000_000, LENGTH - 1), []);
    }

    #[test]
    fn messages_that_are_held_wait_as_well() {
        let (mut watch, mut now) = (watch(), 0);
        (0..LENGTH).for_each(|_| watch.hold(0));
        assert_eq!(watch.enough(0), 0);
        assert_eq!(take(&mut watch, &mut now, 11, 50_000, 0), [(10, true)]);
        watch.release(0);
        assert_eq!(take(&mut watch, &mut now, 40, 50_000, 0), [(CALM - 1, false)]);
    }
}
