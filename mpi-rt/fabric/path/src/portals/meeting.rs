//! The meeting of all nodes when a job starts: nobody sends before every rank's end is open.
//!
//! When all ranks of a node are ready, its first one goes through a dissemination barrier (Hensgen, Finkel, Manber 1988) with the first ranks of the other nodes. A
//! put to a rank whose end is not open yet fails, which its answer tells, and is repeated.

use super::Portals;
use super::wire::{Head, Kind, Target};
use crate::{Label, Result};
use lwk_place::WorldRank;
use lwk_user::portals::DescriptorHandle;
use lwk_user::portals::abi::first_rank_of;
use lwk_user::{job, wait};

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
            wait::spin_until(|| self.tell_round(peer, round, by));
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
