//! The lines of one operation, how far a rank is with it, and what the steps along them have in common (`line_steps`, `line_exchange`).

use super::persistent::KeptLane;
use crate::error::Result;
use lwk_mpi_area::{Given, Oneway, Shared};
use lwk_path::region::Region;
use lwk_place::{CommRank, Ranks};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Lines are filled and emptied.
    Lines,
    /// This rank has told all what it has for them, and takes what it is told.
    Taking,
    /// Parts that are too long for a line are on their way.
    LongParts,
    Over,
}

/// How far it is.
pub(super) struct Cursor {
    pub root: CommRank,
    pub phase: Phase,
    /// The ranks before this one have been seen to.
    pub next: CommRank,
    /// Of those from whom this rank takes where all tell all, so many have been seen to.
    pub taken: u32,
    /// There are parts that are too long for a line.
    pub has_long: bool,
    /// For whom it waits.
    pub awaited: Ranks,
    pub outcome: Result<()>,
}

impl Cursor {
    pub fn new(root: CommRank) -> Cursor {
        Cursor {
            root,
            phase: Phase::Lines,
            next: CommRank::FIRST,
            taken: 0,
            has_long: false,
            awaited: Ranks::NONE,
            outcome: Ok(()),
        }
    }

    pub fn note(&mut self, outcome: Result<()>) {
        self.outcome = self.outcome.and(outcome);
    }

    /// Not done: waits for a rank.
    pub fn awaits(&mut self, rank: CommRank) -> bool {
        self.awaited = Ranks::only(rank);
        false
    }

    pub fn goes_on_with_taking(&mut self) {
        self.phase = Phase::Taking;
    }

    pub fn goes_on_with_long_parts(&mut self) {
        (self.phase, self.next) = (Phase::LongParts, CommRank::FIRST);
    }
}

/// The lines of one operation.
pub(super) struct Lanes<'a> {
    pub shared: &'a Shared,
    pub lane: Option<&'a KeptLane>,
    pub it: Oneway,
}

impl Lanes<'_> {
    pub fn has_room(&self) -> bool {
        match self.lane {
            None => self.shared.has_room(self.it),
            Some(lane) => lane.has_room(self.it.number),
        }
    }

    /// As [`Shared::store_given`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn store(&self, to: CommRank, part: &Region) -> Result<bool> {
        // SAFETY: there is room, nobody else gives by the line, and the part is readable (this function's contract).
        unsafe {
            match self.lane {
                None => self.shared.store_given(self.it, to, part),
                Some(lane) => lane.store(self.it.number, to, part).map(|()| true),
            }
        }
    }

    pub fn given(&self, by: CommRank) -> Option<Given> {
        match self.lane {
            None => self.shared.given(self.it, by),
            Some(lane) => lane.given(self.it.number, by),
        }
    }

    pub fn end(&self) {
        match self.lane {
            None => self.shared.end_oneway(self.it),
            Some(lane) => lane.end(self.it.number),
        }
    }

    /// Whether a leaf has done its part of what is too long for a line.
    fn has_ended(&self, rank: CommRank) -> Result<bool> {
        Ok(self.shared.reply(rank, self.it)?.has_ended(self.it.number))
    }
}

/// Gives a part by this rank's own line.
///
/// # Safety
/// The part is readable.
pub(super) unsafe fn give(lanes: &Lanes, part: &Region, cursor: &mut Cursor) -> bool {
    if !lanes.has_room() {
        cursor.awaited = lanes.shared.ranks();
        return false;
    }
    // SAFETY: there is room; this rank alone gives by its lines in this operation, once. The part is readable (this function's contract).
    cursor.note(unsafe { lanes.store(lanes.shared.rank, part).map(drop) });
    true
}

/// Takes what `number` ranks have told, in their order, as far as it is there; true when all are seen to.
///
/// # Safety
/// What `take` does with what is in the line of rank `source(index)`, for the index that it gets, until the operation is ended.
pub(super) unsafe fn take_of(
    lanes: &Lanes,
    cursor: &mut Cursor,
    number: u32,
    source: impl Fn(u32) -> CommRank,
    mut take: impl FnMut(u32, Given) -> Result<()>,
) -> bool {
    while cursor.taken < number {
        let rank = source(cursor.taken);
        let Some(given) = lanes.given(rank) else { return cursor.awaits(rank) };
        cursor.note(take(cursor.taken, given));
        cursor.taken += 1;
    }
    true
}

/// True when all other ranks that `copy` have ended their part.
pub(super) fn await_leaves(lanes: &Lanes, copies: impl Fn(CommRank) -> bool, cursor: &mut Cursor) -> bool {
    while cursor.next.0 < lanes.shared.size() {
        let rank = cursor.next;
        if rank != lanes.shared.rank && copies(rank) {
            match lanes.has_ended(rank) {
                Ok(false) => return cursor.awaits(rank),
                ended => cursor.note(ended.map(drop)),
            }
        }
        cursor.next = cursor.next.next();
    }
    true
}
