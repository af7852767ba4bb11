//! Short operations that are begun and completed later, or started again and again: steps along the lines of `oneway`, or along those that a persistent
//! collective has of its own (`persistent`).
//!
//! Who only gives stores its line and is done when the call returns. Who takes looks once, and is done as well if all is there. What is left then is
//! pushed on by progress, in any order: an operation's line stays until it has ended in every rank, whatever has ended meanwhile. Where all tell all, every
//! rank must know that what each tells fits a line, or tell how long its parts are: what does neither is posted instead.

use super::alltoall_parts::PartsOfAll;
use super::arguments::{BufferArgument, Call, Division, Parts, Reducing};
use super::equal_parts::equal;
use super::line_cursor::{Cursor, Lanes, Phase};
use super::line_exchange::Exchange;
use super::line_steps::{Described, Job, Row, step};
use super::matching_calls::POLLS_PER_LOOK;
use super::persistent::KeptLane;
use crate::abi::IN_PLACE;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_datatype::Datatype;
use lwk_mpi_area::{Kind, LONG_BYTES, Oneway, sort, sort_of_all_begun};
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
    /// Where one rank has another part than the others.
    has_root: bool,
    it: Oneway,
}

impl Place {
    fn lanes(&self) -> Lanes<'_> {
        Lanes { shared: &self.communicator.shared, lane: self.lane.as_ref(), it: self.it }
    }

    /// Takes the operation's number. Errors: those of `Shared::enter_oneway`.
    fn enter(&mut self, root: CommRank) -> Result<()> {
        let shared = &self.communicator.shared;
        let common = if self.is_varying { 0 } else { self.bytes };
        let sort =
            if self.has_root { sort(self.kind, root, common) } else { sort_of_all_begun(self.kind, common) };
        self.it = match &self.lane {
            Some(lane) => Oneway::of_lane(lane.call()),
            None if self.is_varying => shared.enter_long(sort)?,
            None => shared.enter_oneway(sort, self.bytes)?,
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
        self.place.is_varying && self.job.describes_long_parts() || self.place.bytes <= LONG_BYTES
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
    /// The whole of one. Errors: its outcome.
    ///
    /// # Safety
    /// As for [`LineRun::advance`], until this returns.
    pub(super) unsafe fn run_by_lines(&mut self, mut run: LineRun) -> Result<()> {
        run.begin();
        // SAFETY: it has begun, and the buffers are readable and writable until this returns, which is when the operation is complete (this function's contract).
        self.wait_until(|| unsafe { run.advance() });
        run.outcome()
    }

    /// What this rank has to do in a short operation, by lines. `None` for others, and where there are no lines. Errors: `ROOT`, `COUNT`, `TYPE`, `OP`, `BUFFER`, `ARG`,
    /// `TOPOLOGY`, `NO_MEM`, `TRUNCATE`.
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
        let (is_directed, described) = match self.directed_job(call, communicator, &mut kept)? {
            Some(described) => (true, Some(described)),
            None => (false, self.exchange_job(call, communicator, &mut kept)?),
        };
        let Some((job, kind, root, is_varying)) = described else { return Ok(None) };
        let place = Place {
            communicator: communicator.clone(),
            lane: None,
            kind,
            bytes: job.most(),
            is_varying,
            has_root: is_directed,
            it: Oneway::of_lane(0),
        };
        Ok(Some(LineRun { place, job, cursor: Cursor::new(root), _kept: kept, idle: 0 }))
    }

    /// One with one direction: what to do, its kind and root, and whether parts differ.
    fn directed_job(
        &mut self,
        call: &Call,
        communicator: &Communicator,
        kept: &mut Vec<Datatype>,
    ) -> Result<Option<Described>> {
        Ok(Some(match *call {
            Call::Broadcast { ref buffer, root } => {
                let root = communicator.root(root)?;
                (Job::Broadcast(self.part(buffer, kept)?), Kind::Broadcast, root, false)
            }
            Call::Gather { ref send, ref receive, root } => {
                let root = communicator.root(root)?;
                let Some(row) = self.row_of_root(communicator, receive, root, kept)? else {
                    return Ok(None);
                };
                let mine = self.own_kept(communicator, send, root, kept)?;
                let is_varying = receive.division.is_varying();
                let kind = if is_varying { Kind::GatherParts } else { Kind::Gather };
                (Job::Gather(mine, row), kind, root, is_varying)
            }
            Call::Scatter { ref send, ref receive, root } => {
                let root = communicator.root(root)?;
                let Some(row) = self.row_of_root(communicator, send, root, kept)? else {
                    return Ok(None);
                };
                let mine = self.own_kept(communicator, receive, root, kept)?;
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
        }))
    }

    /// One in which all tell all: as [`Engine::directed_job`].
    fn exchange_job(
        &mut self,
        call: &Call,
        communicator: &Communicator,
        kept: &mut Vec<Datatype>,
    ) -> Result<Option<Described>> {
        let (exchange, kind, is_varying) = match call {
            Call::Allgather { send, receive } => {
                let Some(row) = self.whole_row(communicator, receive, kept)? else { return Ok(None) };
                let own = row.part(communicator.rank)?;
                let mine = if send.is_in_place() { own } else { self.part(send, kept)? };
                if mine.bytes() != own.bytes() {
                    return Err(if mine.bytes() > own.bytes() { Error::TRUNCATE } else { Error::COUNT });
                }
                let is_varying = receive.division.is_varying();
                let kind = if is_varying { Kind::AllgatherParts } else { Kind::Allgather };
                (Exchange::Allgather(mine, row), kind, is_varying)
            }
            Call::Alltoall { send, receive } => {
                let sent = if send.is_in_place() { receive } else { send };
                let (Some(each), Some(count)) = (equal(&sent.division), equal(&receive.division)) else {
                    let Some(parts) = self.parts_of_all(communicator, send, receive, kept)? else {
                        return Ok(None);
                    };
                    let exchange = Exchange::AlltoallParts(parts);
                    return Ok(Some((Job::Exchange(exchange), Kind::AlltoallParts, CommRank::FIRST, true)));
                };
                let sent = self.all_parts(sent, each, communicator.size() as usize, kept)?;
                let row = self.row(receive, count)?;
                self.keep(receive.datatype, kept);
                if sent.bytes() != row.each() * communicator.size() as usize {
                    return Err(Error::COUNT);
                }
                (Exchange::Alltoall(sent, row), Kind::Alltoall, false)
            }
            Call::NeighbourAllgather { .. } | Call::NeighbourAlltoall { .. } => {
                return self.neighbour_job(call, communicator, kept);
            }
            _ => match self.folding_of(communicator, call)? {
                Some(folding) if folding.reduction.told_bytes().is_some() => {
                    let kind = folding.kind;
                    (Exchange::Fold(folding), kind, false)
                }
                _ => return Ok(None),
            },
        };
        Ok(Some((Job::Exchange(exchange), kind, CommRank::FIRST, is_varying)))
    }

    /// The parts for all ranks. `None` if they have datatypes of their own. Errors: those of [`Engine::parts`].
    fn whole_row(
        &self,
        communicator: &Communicator,
        parts: &Parts,
        kept: &mut Vec<Datatype>,
    ) -> Result<Option<Row>> {
        self.row_of_root(communicator, parts, communicator.rank, kept)
    }

    /// Parts of an alltoall that differ. `None` in place. Errors: those of [`Engine::parts`].
    fn parts_of_all(
        &self,
        communicator: &Communicator,
        send: &Parts,
        receive: &Parts,
        kept: &mut Vec<Datatype>,
    ) -> Result<Option<PartsOfAll>> {
        if send.is_in_place() {
            return Ok(None);
        }
        let size = communicator.size() as usize;
        let (send, receive) = (self.parts(send, size, kept)?, self.parts(receive, size, kept)?);
        PartsOfAll::new(&communicator.shared, send, receive).map(Some)
    }

    /// So many equal parts as one region. Errors: `COUNT`, `TYPE`, `BUFFER`.
    pub(super) fn all_parts(
        &self,
        parts: &Parts,
        each: i64,
        number: usize,
        kept: &mut Vec<Datatype>,
    ) -> Result<Region> {
        let count = each.checked_mul(number as i64).ok_or(Error::VALUE_TOO_LARGE)?;
        self.part(&BufferArgument { address: parts.address, count, datatype: parts.datatype }, kept)
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
