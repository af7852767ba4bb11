//! Collectives by a plan: how far one is. Driven by the engine's progress (`begun`), or by the blocking call itself.

use super::arguments::Call;
use super::by_messages::Played;
use super::fold::{Every, One};
use super::matching_calls::POLLS_PER_LOOK;
use super::persistent::PersistentChannel;
use super::plan::{Fold, Move, Piece, Plan, Target, Users};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::topology::PieceIndex;
use alloc::boxed::Box;
use alloc::rc::Rc;
use lwk_mpi_area::{Channel, Shared, sort_of};
use lwk_path::region::{Region, copy_regions};
use lwk_place::{CommRank, Ranks};
use lwk_user::wait::Poll;

/// Words of a post of pieces: addresses of the pieces to be read and to be written and of the partners, and from [`NUMBERS`] on how many of each.
const SENDS: usize = 0;
const RECEIVES: usize = 1;
const PARTNERS: usize = 2;
const NUMBERS: usize = 3;
/// Words of a post of a reduction: addresses of the contribution and of the result.
pub(super) const CONTRIBUTION: usize = 0;
pub(super) const RESULT: usize = 1;

/// One collective of this rank under way, or to be started again.
pub(crate) struct PlannedRun {
    pub(super) plan: Plan,
    /// In place of the plan where members are out of reach.
    pub(super) messages: Option<Box<Played>>,
    /// Of a persistent one, whose starts match each other; others match by the calls on the communicator.
    pub(super) persistent: Option<Rc<PersistentChannel>>,
    number: u64,
    /// As `matching_calls` has it.
    word: u64,
    stage: Stage,
    /// Moves that are done.
    moved: usize,
    /// How often nothing could be done.
    idle: u32,
    pub(super) outcome: Result<()>,
}

/// The ranks of an operation, and how they are told of its steps.
struct Group {
    communicator: Rc<Communicator>,
    persistent: Option<Rc<PersistentChannel>>,
}

impl Group {
    fn shared(&self) -> &Shared {
        &self.communicator.shared
    }

    fn channel(&self) -> &Channel {
        self.persistent.as_ref().map_or(&self.communicator.shared.channel, |it| &it.channel)
    }

    /// The address in a word of a rank's post, which is there, as seen from here.
    fn posted_address(&self, rank: CommRank, number: u64, index: usize) -> *mut u8 {
        self.shared().seen(rank, self.channel().posted_word(rank, number, index))
    }

    /// This rank has done its part of operation `number`.
    fn finish(&self, number: u64) {
        self.channel().finish(number);
        self.shared().pass_mismatch_on();
    }

    /// If `rank` is in another call of the communicator in place of that with this word: the class of the mismatch.
    fn elsewhere(&self, rank: CommRank, word: u64) -> Option<Error> {
        if self.persistent.is_some() { None } else { self.shared().elsewhere(rank, word) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Not posted yet.
    Called,
    /// Posted; this rank's part is not done.
    Posted,
    /// Its part is done; peers may still use its buffers.
    Finished,
    Complete,
}

impl PlannedRun {
    fn new(plan: Plan) -> PlannedRun {
        PlannedRun {
            plan,
            messages: None,
            persistent: None,
            number: 0,
            word: 0,
            stage: Stage::Complete,
            moved: 0,
            idle: 0,
            outcome: Ok(()),
        }
    }

    fn by_messages(communicator: &Rc<Communicator>, played: Played) -> PlannedRun {
        PlannedRun { messages: Some(Box::new(played)), ..PlannedRun::new(Plan::new(communicator, 0)) }
    }

    fn group(&self) -> Group {
        Group { communicator: self.plan.communicator.clone(), persistent: self.persistent.clone() }
    }

    /// Begins: takes the operation's number, unless the call has failed already.
    ///
    /// # Safety
    /// The plan's buffers must be readable and writable, as [`Engine::collective`] says, until the operation
    /// is complete.
    pub(super) unsafe fn begin(&mut self) {
        if let Some(messages) = &mut self.messages {
            // SAFETY: the call's buffers are readable and writable until it is complete (this function's
            // contract).
            return unsafe { messages.begin() };
        }
        let group = self.group();
        if group.persistent.is_none() {
            match group.shared().enter(sort_of(self.plan.check)) {
                Ok(word) => self.word = word,
                Err(error) => {
                    self.outcome = Err(error);
                    return;
                }
            }
        }
        self.number = group.channel().progress.call();
        self.stage = Stage::Called;
        self.moved = 0;
        // SAFETY: the buffers to be copied are the call's, which are readable (this function's contract).
        self.outcome = unsafe { self.plan.take_snapshot() };
    }

    fn post(&self, channel: &Channel) {
        let plan = &self.plan;
        if let Some([contribution, result]) = plan.addresses {
            return channel.post(self.number, plan.check, &[contribution, result]);
        }
        let address = |pieces: &[Piece]| pieces.as_ptr().expose_provenance() as u64;
        let partners = plan.partners.as_ptr().expose_provenance() as u64;
        let addresses = [address(&plan.sends), address(&plan.receives), partners];
        let numbers =
            [plan.sends.len(), plan.receives.len(), plan.partners.len()].map(|number| number as u64);
        let ([a, b, c], [k, l, m]) = (addresses, numbers);
        channel.post(self.number, plan.check, &[a, b, c, k, l, m]);
    }

    /// Does what can be done now; true when the operation is complete.
    ///
    /// # Safety
    /// As for [`PlannedRun::begin`], which has been called.
    pub(super) unsafe fn advance(&mut self, engine: &mut Engine) -> bool {
        if let Some(messages) = &mut self.messages {
            // SAFETY: `begin` has been called, and the call's buffers are readable and writable until it is
            // complete (this function's contract).
            let complete = unsafe { messages.advance(engine) };
            self.outcome = messages.outcome;
            return complete;
        }
        // SAFETY: the plan's buffers are readable and writable until the operation is complete (this
        // function's contract).
        let complete = unsafe { self.step(engine) };
        self.idle = if complete { 0 } else { self.idle.wrapping_add(1) };
        if !complete && self.idle.is_multiple_of(POLLS_PER_LOOK) {
            self.look_for_others();
        }
        complete
    }

    /// If another rank has entered a call that does not match: this one's part is done, and the outcome is the class of the mismatch.
    #[cold]
    fn look_for_others(&mut self) {
        let group = self.group();
        if self.stage == Stage::Posted
            && group.channel().progress.is_next(self.number)
            && let Some((rank, class)) =
                group.shared().ranks().find_map(|rank| Some((rank, group.elsewhere(rank, self.word)?)))
        {
            // Else this rank's next call might be taken for the one that the other one waits in.
            group.shared().tell_of_mismatch(rank, class);
            self.outcome = self.outcome.and(Err(class));
            group.finish(self.number);
            self.stage = Stage::Finished;
        }
    }

    /// # Safety
    /// As for [`PlannedRun::advance`].
    unsafe fn step(&mut self, engine: &mut Engine) -> bool {
        let group = self.group();
        let channel = group.channel();
        if self.stage == Stage::Called {
            if !channel.may_post(self.number) {
                return false;
            }
            self.post(channel);
            self.stage = Stage::Posted;
        }
        if self.stage == Stage::Posted {
            // SAFETY: the plan's buffers are readable and writable until the operation is complete (this
            // function's contract).
            if !channel.progress.is_next(self.number) || !unsafe { self.do_part(engine) } {
                return false;
            }
            group.finish(self.number);
            self.stage = Stage::Finished;
        }
        if self.stage == Stage::Finished {
            // Who is in another call will not use the buffers.
            let failed = self.outcome.is_err();
            let done = |rank: CommRank| {
                channel.finished_by(rank) >= self.number
                    || failed && group.elsewhere(rank, self.word).is_some()
            };
            let left = match &self.plan.users {
                Users::Range(range) => range.clone().all(done),
                Users::These(ranks) => ranks.iter().copied().all(done),
            };
            if !left {
                return false;
            }
            self.stage = Stage::Complete;
        }
        true
    }

    /// This rank's part; true when it is done.
    ///
    /// # Safety
    /// As for [`PlannedRun::advance`].
    unsafe fn do_part(&mut self, engine: &mut Engine) -> bool {
        let group = self.group();
        let channel = group.channel();
        while let Some(step) = self.plan.moves.get(self.moved) {
            if !channel.has_posted(step.peer, self.number) {
                return false;
            }
            let step = *step;
            self.moved += 1;
            // SAFETY: the peer has posted and keeps its buffers until this rank has finished; this rank's are
            // readable and writable (this function's contract).
            let moved = unsafe { self.carry_out(&group, &step) };
            self.outcome = self.outcome.and(moved);
        }
        let posted = |rank: CommRank| channel.has_posted(rank, self.number);
        if !self.plan.awaited.clone().all(posted) {
            return false;
        }
        let Some(fold) = &self.plan.fold else { return true };
        let targets = match &fold.target {
            Target::Posted(ranks) => ranks.clone(),
            Target::Own(_) => Ranks::NONE,
        };
        if !fold.sources.clone().chain(targets.clone()).all(posted) {
            return false;
        }
        let agree = |rank: CommRank| channel.agree(rank, self.number, self.plan.check);
        let agreed = fold.sources.clone().chain(targets).map(agree).fold(Ok(()), Result::and);
        self.outcome = self.outcome.and(agreed);
        if self.outcome.is_ok() {
            let fold = fold.clone();
            // SAFETY: all have posted buffers of as many items; parts do not overlap.
            self.outcome = unsafe { self.fold(engine, &group, fold) };
        }
        true
    }

    /// # Safety
    /// Contributions and targets must have been posted, for the reduction's items; nobody else writes the
    /// part's meanwhile.
    unsafe fn fold(&self, engine: &mut Engine, group: &Group, fold: Fold) -> Result<()> {
        let Fold { reduction, sources, part, target } = fold;
        let source = |rank: CommRank| group.posted_address(rank, self.number, CONTRIBUTION).cast_const();
        // SAFETY: contributions and targets are posted for all items and stay until this rank has finished;
        // nobody else writes the part (this function's contract).
        unsafe {
            match target {
                Target::Own(own) => engine.fold(&reduction, sources, part, source, One(own)),
                Target::Posted(ranks) => {
                    let result = |rank: CommRank| group.posted_address(rank, self.number, RESULT);
                    engine.fold(&reduction, sources, part, source, Every(ranks, result))
                }
            }
        }
    }

    /// # Safety
    /// The peer must have posted, and keeps its regions until this rank has finished; the source must be
    /// readable and the target writable, without overlap.
    unsafe fn carry_out(&self, group: &Group, step: &Move) -> Result<()> {
        let (shared, channel) = (group.shared(), group.channel());
        channel.agree(step.peer, self.number, self.plan.check)?;
        let [sends, receives, partners] = [SENDS, RECEIVES, PARTNERS]
            .map(|list| channel.posted_word(step.peer, self.number, NUMBERS + list));
        let place = match step.place {
            PieceIndex::At(place) => place,
            PieceIndex::Occurrence(before) => {
                let list = group.posted_address(step.peer, self.number, PARTNERS).cast::<CommRank>();
                // SAFETY: the peer has posted that many partners.
                let partner = |index: u64| unsafe { list.add(index as usize).read() };
                let mut places = (0..partners).filter(|index| partner(*index) == shared.rank);
                // No such edge at the peer: the graph's two groups do not match.
                places.nth(before as usize).ok_or(Error::TOPOLOGY)? as u32
            }
        };
        let (word, number) = if step.push { (RECEIVES, receives) } else { (SENDS, sends) };
        if place as u64 >= number {
            return Err(Error::ARG);
        }
        let list = group.posted_address(step.peer, self.number, word).cast::<Piece>();
        // SAFETY: the peer has posted that many pieces.
        let piece = unsafe { list.add(place as usize).read() };
        let theirs = if step.peer == shared.rank {
            Region::of_words(piece.words, piece.bytes as usize)
        } else {
            let peer = shared.peer(step.peer).ok_or(Error::INTERN)?;
            Region::of_peer(peer, piece.words, piece.bytes as usize)
        };
        let (from, to) = if step.push { (&step.mine, &theirs) } else { (&theirs, &step.mine) };
        if from.bytes() > to.bytes() {
            return Err(Error::TRUNCATE);
        }
        // SAFETY: the peer's region stays until this rank has finished; both are readable and writable (this
        // function's contract). The plans keep the datatypes.
        unsafe { copy_regions(from, to)? };
        Ok(())
    }
}

impl Engine {
    /// What a collective does: in place by a plan, or by messages where members are out of reach. Errors: those of its arguments.
    pub(super) fn new_run(&mut self, call: &Call, communicator: &Rc<Communicator>) -> Result<PlannedRun> {
        match &communicator.inter {
            Some(inter) if inter.union.is_out_of_reach() => {
                let played = self.by_messages_between(call, communicator, &inter.union)?;
                Ok(PlannedRun::by_messages(communicator, played))
            }
            None if communicator.is_out_of_reach() => {
                let played = self.by_messages(call, communicator)?;
                Ok(PlannedRun::by_messages(communicator, played))
            }
            _ => Ok(PlannedRun::new(self.plan(call, communicator)?)),
        }
    }

    /// Carries out a collective by a plan. Errors: as for [`Engine::collective`].
    ///
    /// # Safety
    /// As for [`Engine::collective`].
    pub(super) unsafe fn run_collective(
        &mut self,
        call: &Call,
        communicator: &Rc<Communicator>,
    ) -> Result<()> {
        let mut run = match self.together_by_firsts(call, communicator)? {
            Some(played) => PlannedRun::by_messages(communicator, played),
            None => self.new_run(call, communicator)?,
        };
        // SAFETY: the call's buffers are readable and writable until this returns (this function's contract),
        // which is when the operation is complete.
        unsafe {
            run.begin();
            let mut poll = Poll::new();
            while !run.advance(self) {
                self.progress();
                poll.pause();
            }
        }
        run.outcome
    }
}
