//! The meeting of all nodes when a job starts: nobody sends before every rank's end is open.
//!
//! When all ranks of a node are ready, its first one goes through a dissemination barrier (Hensgen, Finkel, Manber 1988) with the first ranks of the other nodes. A
//! put to a rank whose end is not open yet fails, which its answer tells, and is repeated after a pause, each twice as long as the one before: nodes that are there wait for
//! those that start, and do not keep them from it by frames.

use super::Portals;
use super::head::{Head, Kind};
use super::wire::Target;
use crate::{Label, Result};
use core::time::Duration;
use lwk_place::WorldRank;
use lwk_user::clock::Instant;
use lwk_user::portals::DescriptorHandle;
use lwk_user::portals::abi::first_rank_of;
use lwk_user::{job, wait};

/// Pauses before a node that has not started is told again: the first, which is as long as a few frames take, and the longest, by which a job starts later at most.
const PAUSE: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(5)];

/// What has been told of the meeting.
#[derive(Default)]
pub struct Seen {
    /// A bit for each round.
    rounds: u64,
    /// What has become of the last put.
    answer: Option<bool>,
    meeting: bool,
}

impl Seen {
    /// A node has come to a round.
    pub fn note(&mut self, round: u64) {
        self.rounds |= 1 << (round % 64);
    }

    /// The next put with an acknowledgement is about to be made.
    pub fn ask(&mut self) {
        self.answer = None;
    }

    /// Whether the last one has been answered.
    pub fn is_answered(&self) -> bool {
        self.answer.is_some()
    }

    /// The last put has been answered.
    pub fn answered(&mut self, arrived: bool) {
        self.answer = Some(arrived);
    }

    /// Whether a peer that cannot be reached is one that has not started.
    pub fn is_meeting(&self) -> bool {
        self.meeting
    }
}

impl Portals {
    /// Waits until the ranks of all nodes have come: called by one rank of each node, when all of its ranks have started this path.
    pub fn meet(&mut self) -> Result<()> {
        let (nodes, node) = (job().nodes(), job().node());
        // SAFETY: nothing is put from it.
        let by = unsafe { self.wire.bind(self.wire.start_of_scratch(), 0) };
        let by = by.map_err(|_| crate::Fault::NoMemory)?;
        self.meetings.meeting = true;
        for (round, distance) in
            (0..).map(|round| (round, 1u64 << round)).take_while(|it| it.1 < nodes.into())
        {
            let to = ((u64::from(node) + distance) % u64::from(nodes)) as u32;
            let peer = WorldRank(first_rank_of(to, job().size(), nodes));
            let mut pause = PAUSE[0];
            while !self.tell_round(peer, round, by) {
                let until = Instant::now().after(pause);
                wait::spin_until(|| {
                    self.take_arrivals();
                    Instant::now() >= until
                });
                pause = (2 * pause).min(PAUSE[1]);
            }
            wait::spin_until(|| {
                self.take_arrivals();
                self.meetings.rounds & 1 << round != 0
            });
        }
        self.meetings.meeting = false;
        self.wire.release(by);
        Ok(())
    }

    /// Tells a peer that this node has come to a round; false if it is not there yet.
    fn tell_round(&mut self, peer: WorldRank, round: u64, by: DescriptorHandle) -> bool {
        let head = Head { kind: Kind::Meet, freed: 0 };
        let target = Target { peer, label: Label(round), head, place: 0 };
        self.meetings.answer = None;
        if self.wire.put_acknowledged(&target, by, 0).is_err() {
            return false;
        }
        wait::spin_until(|| {
            self.take_outcomes();
            self.meetings.answer.is_some()
        });
        self.meetings.answer == Some(true)
    }
}
