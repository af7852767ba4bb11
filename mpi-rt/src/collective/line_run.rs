//! Short operations with one direction that are begun and completed later, or started again and again: steps along the lines of `oneway`, or along those that a
//! persistent collective has of its own (`persistent`).
//!
//! Who only gives stores its line and is done when the call returns. Who takes looks once, and is done as well if all is there. What is left then is
//! pushed on by progress, in any order: an operation's line stays until it has ended in every rank, whatever has ended meanwhile.

use super::arguments::{BufferArgument, Call, Division, Parts, Reducing};
use super::channel::Kind;
use super::equal_parts::equal;
use super::line_steps::{Cursor, Job, Lanes, Phase, Row, step};
use super::matching_calls::{POLLS_PER_LOOK, sort};
use super::oneway::{LONG_BYTES, Oneway};
use super::persistent::KeptLane;
use crate::abi::IN_PLACE;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_datatype::Datatype;
use lwk_path::region::Region;
use lwk_place::CommRank;

/// One operation of this rank.
pub(crate) struct LineRun {
    place: Place,
    job: Job,
    cursor: Cursor,
    /// Keeps layouts alive.
    _kept: Vec<Datatype>,
    /// How often nothing could be done.
    idle: u32,
}

/// Where it is carried out.
struct Place {
    communicator: Rc<Communicator>,
    /// The lines of a persistent one; others have those of the communicator.
    lane: Option<KeptLane>,
    kind: Kind,
    /// Bytes that all ranks know of, of a part or of all; in the v-forms the longest part that this rank knows.
    bytes: usize,
    is_varying: bool,
    it: Oneway,
}

impl Place {
    fn lanes(&self) -> Lanes<'_> {
        Lanes { shared: &self.communicator.shared, lane: self.lane.as_ref(), it: self.it }
    }

    /// Takes the operation's number. Errors: those of `Shared::enter_oneway`.
    fn enter(&mut self, root: CommRank) -> Result<()> {
        let shared = &self.communicator.shared;
        self.it = match &self.lane {
            Some(lane) => Oneway::of_lane(lane.call()),
            None if self.is_varying => shared.enter_long(sort(self.kind, root, 0))?,
            None => shared.enter_oneway(sort(self.kind, root, self.bytes), self.bytes)?,
        };
        Ok(())
    }
}

impl LineRun {
    pub fn outcome(&self) -> Result<()> {
        self.cursor.outcome
    }

    /// Bytes of the longest part that this rank knows.
    pub(super) fn most(&self) -> usize {
        self.place.bytes
    }

    /// Whether it goes by the communicator's lines: what all know the length of must fit.
    pub(super) fn fits(&self) -> bool {
        self.place.is_varying || self.place.bytes <= LONG_BYTES
    }

    /// Has it go by lines of its own.
    pub(super) fn keep(&mut self, lane: KeptLane) {
        self.place.lane = Some(lane);
    }

    /// Begins, for the first time or again: takes the operation's number, unless the call has failed already.
    pub(super) fn begin(&mut self) {
        self.cursor = Cursor::new(self.cursor.root);
        self.idle = 0;
        if let Err(error) = self.place.enter(self.cursor.root) {
            self.cursor.outcome = Err(error);
            self.cursor.phase = Phase::Over;
        }
    }

    /// Does what can be done now; true when the operation is complete.
    ///
    /// # Safety
    /// It has begun; the call's buffers are readable and writable, as `Engine::collective` says, until the operation is complete.
    pub(super) unsafe fn advance(&mut self) -> bool {
        let LineRun { place, job, cursor, .. } = self;
        if cursor.phase == Phase::Over {
            return true;
        }
        let lanes = place.lanes();
        // SAFETY: the call's buffers are readable and writable (this function's contract).
        let is_done = unsafe { step(&lanes, job, cursor) };
        if is_done {
            lanes.end();
            cursor.phase = Phase::Over;
            return true;
        }
        self.idle = self.idle.wrapping_add(1);
        self.idle.is_multiple_of(POLLS_PER_LOOK) && self.look_for_others()
    }

    /// Whether an awaited rank has entered a call that does not match: then this one's part is over, and the outcome is the class of the mismatch.
    #[cold]
    fn look_for_others(&mut self) -> bool {
        let LineRun { place, cursor, .. } = self;
        if place.lane.is_some() {
            return false;
        }
        let shared = &place.communicator.shared;
        let Err(class) = cursor.awaited.clone().try_for_each(|rank| shared.look_beside(rank, place.it.word))
        else {
            return false;
        };
        cursor.note(Err(class));
        place.lanes().end();
        cursor.phase = Phase::Over;
        true
    }
}

impl Engine {
    /// What this rank has to do in a short operation with one direction, by lines. `None` for others, and where there are no lines. Errors: `ROOT`, `COUNT`, `TYPE`,
    /// `OP`, `BUFFER`, `ARG`, `NO_MEM`.
    #[inline]
    pub(super) fn line_run(
        &mut self,
        call: &Call,
        communicator: &Rc<Communicator>,
    ) -> Result<Option<LineRun>> {
        if communicator.inter.is_some() || communicator.is_out_of_reach() {
            return Ok(None);
        }
        let mut kept = Vec::new();
        let (job, kind, root, is_varying) = match *call {
            Call::Broadcast { ref buffer, root } => {
                let root = communicator.root(root)?;
                (Job::Broadcast(self.part(buffer, &mut kept)?), Kind::Broadcast, root, false)
            }
            Call::Gather { ref send, ref receive, root } => {
                let root = communicator.root(root)?;
                let Some(row) = self.row_of_root(communicator, receive, root, &mut kept)? else {
                    return Ok(None);
                };
                let mine = self.own_kept(communicator, send, root, &mut kept)?;
                let is_varying = receive.division.is_varying();
                let kind = if is_varying { Kind::GatherParts } else { Kind::Gather };
                (Job::Gather(mine, row), kind, root, is_varying)
            }
            Call::Scatter { ref send, ref receive, root } => {
                let root = communicator.root(root)?;
                let Some(row) = self.row_of_root(communicator, send, root, &mut kept)? else {
                    return Ok(None);
                };
                let mine = self.own_kept(communicator, receive, root, &mut kept)?;
                let is_varying = send.division.is_varying();
                let kind = if is_varying { Kind::ScatterParts } else { Kind::Scatter };
                (Job::Scatter(mine, row), kind, root, is_varying)
            }
            Call::Reduce { ref reducing, root } => {
                let root = communicator.root(root)?;
                match self.reduce_job(communicator, reducing, root)? {
                    Some(job) => (job, Kind::Reduce, root, false),
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let most = |mine: &Option<Region>, row: &Row| row.most().max(mine.as_ref().map_or(0, Region::bytes));
        let bytes = match &job {
            Job::Broadcast(buffer) => buffer.bytes(),
            Job::Gather(mine, row) | Job::Scatter(mine, row) => most(mine, row),
            Job::Reduce { reduction, .. } => reduction.dense_bytes().unwrap_or(usize::MAX),
        };
        let (communicator, it) = (communicator.clone(), Oneway::of_lane(0));
        let place = Place { communicator, lane: None, kind, bytes, is_varying, it };
        Ok(Some(LineRun { place, job, cursor: Cursor::new(root), _kept: kept, idle: 0 }))
    }

    /// The parts, at the root. `None` if they have datatypes of their own. Errors: those of [`Engine::parts`].
    fn row_of_root(
        &self,
        communicator: &Communicator,
        parts: &Parts,
        root: CommRank,
        kept: &mut Vec<Datatype>,
    ) -> Result<Option<Row>> {
        if matches!(parts.division, Division::Typed(..)) {
            return Ok(None);
        }
        if communicator.rank != root {
            return Ok(Some(Row::Nothing));
        }
        match equal(&parts.division) {
            Some(count) => {
                let row = self.row(parts, count)?;
                self.keep(parts.datatype, kept);
                Ok(Some(Row::Equal(row)))
            }
            None => {
                self.parts(parts, communicator.size() as usize, kept).map(|parts| Some(Row::Parts(parts)))
            }
        }
    }

    /// As [`Engine::own`]; the datatype is kept.
    fn own_kept(
        &self,
        communicator: &Communicator,
        own: &BufferArgument,
        root: CommRank,
        kept: &mut Vec<Datatype>,
    ) -> Result<Option<Region>> {
        let mine = self.own(&communicator.shared, own, root)?;
        if mine.is_some() {
            self.keep(own.datatype, kept);
        }
        Ok(mine)
    }

    /// A reduction whose contributions are bytes that can be copied. Errors: those of [`Engine::reduce`]'s arguments.
    fn reduce_job(
        &self,
        communicator: &Communicator,
        reducing: &Reducing,
        root: CommRank,
    ) -> Result<Option<Job>> {
        let Reducing { send, receive, count, datatype, operation } = *reducing;
        let reduction = self.reduction(count, datatype, operation)?;
        let in_place = send.addr() == IN_PLACE;
        if in_place && communicator.rank != root {
            return Err(Error::BUFFER);
        }
        let send = if in_place { receive.cast_const() } else { send };
        if communicator.rank == root {
            self.check_buffer(receive, count, datatype)?;
        }
        self.check_buffer(send, count, datatype)?;
        Ok(reduction.told_bytes().map(|_| Job::Reduce { reduction, send, receive }))
    }
}
