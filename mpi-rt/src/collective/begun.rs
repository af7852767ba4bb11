//! Collectives that are begun and completed later: their requests. What is complete when it begins leaves none; the rest is pushed on by progress.

use super::arguments::Call;
use super::line_run::LineRun;
use super::run::PlannedRun;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;
use crate::request::{Calls, Keeps};
use crate::status::Status;
use crate::subsystem;
use crate::wait::DONE;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::any::Any;
use core::mem::{replace, take};

/// One collective of this rank under way, or to be started again.
enum Run {
    /// By lines.
    Lines(LineRun),
    /// In place on posted buffers, or by messages.
    Planned(PlannedRun),
}

/// The operation of a request of a collective that is begun once.
struct Once;

/// The same of a persistent one: what it does, unless that is under way.
struct Again(Option<Box<Run>>);

/// Collectives under way.
struct UnderWay {
    /// In the order in which they were begun.
    list: Vec<(Handle, Box<Run>)>,
    /// Whether they are being pushed on, and so the list is elsewhere.
    are_advanced: bool,
}

static UNDER_WAY: subsystem::State<UnderWay> =
    subsystem::State::new(UnderWay { list: Vec::new(), are_advanced: false });

/// What the engine asks of requests of collectives.
static CALLS: Calls = Calls { start, end: |_, _: Box<dyn Any>| () };

/// Starts a persistent one.
fn start(engine: &mut Engine, request: Handle) {
    if let Some(Again(run)) = engine.activity_mut(request)
        && let Some(run) = run.take()
    {
        // SAFETY: the call's buffers are valid whenever the request is active (`Engine::collective_init`'s contract), which it is from here on.
        unsafe { engine.start_collective(request, run) };
    }
}

impl Run {
    /// Begins, for the first time or again.
    ///
    /// # Safety
    /// As for [`Engine::collective`], until the operation is complete.
    unsafe fn begin(&mut self) {
        match self {
            Run::Lines(run) => run.begin(),
            // SAFETY: the call's buffers are readable and writable until the operation is complete (this function's contract).
            Run::Planned(run) => unsafe { run.begin() },
        }
    }

    /// Does what can be done now; true when the operation is complete.
    ///
    /// # Safety
    /// As for [`Run::begin`], which has been called.
    unsafe fn advance(&mut self, engine: &mut Engine) -> bool {
        // SAFETY: it has begun, and the call's buffers are readable and writable (this function's contract).
        unsafe {
            match self {
                Run::Lines(run) => run.advance(),
                Run::Planned(run) => run.advance(engine),
            }
        }
    }

    fn outcome(&self) -> Result<()> {
        match self {
            Run::Lines(run) => run.outcome(),
            Run::Planned(run) => run.outcome,
        }
    }

    fn status(&self) -> Status {
        Status { error: self.outcome().err(), ..Status::EMPTY }
    }
}

impl Engine {
    /// Begins a collective. Errors: those of its arguments; others are the request's.
    ///
    /// # Safety
    /// As for [`Engine::collective`], until the request is complete.
    pub unsafe fn begin_collective(&mut self, call: &Call, communicator: Handle) -> Result<Handle> {
        let communicator = self.communicator(communicator)?.clone();
        if let Some(mut run) = self.line_run(call, &communicator)?
            && run.fits()
        {
            run.begin();
            // SAFETY: the call's buffers are readable and writable until the request is complete (this function's contract).
            let is_complete = unsafe { run.advance() };
            if is_complete && run.outcome().is_ok() {
                return Ok(DONE);
            }
            return Ok(self.add_collective(Run::Lines(run), is_complete));
        }
        let mut run = self.new_run(call, &communicator)?;
        // SAFETY: the call's buffers are readable and writable until the request is complete (this function's
        // contract).
        unsafe { run.begin() };
        let request = self.add_collective(Run::Planned(run), false);
        advance_collectives(self);
        Ok(request)
    }

    /// The request of a collective that has begun.
    fn add_collective(&mut self, run: Run, is_complete: bool) -> Handle {
        if is_complete {
            return self.insert_complete(run.status());
        }
        let request = self.insert_active(Once, &CALLS);
        self.push_collective(request, Box::new(run));
        request
    }

    /// From now on progress pushes it on.
    fn push_collective(&mut self, request: Handle, run: Box<Run>) {
        self.go_on(request, advance_collectives);
        UNDER_WAY.of_mut(self).list.push((request, run));
    }

    /// A collective that is started by [`Engine::start`]. All ranks must call it, in the same order as other collectives, and it waits for them;
    /// each may then start it when it likes. Errors: as for [`Engine::begin_collective`], and `NOT_SAME`.
    ///
    /// # Safety
    /// As for [`Engine::collective`], whenever the request is active.
    pub unsafe fn collective_init(&mut self, call: &Call, communicator: Handle) -> Result<Handle> {
        let communicator = self.communicator(communicator)?.clone();
        let run = Box::new(self.new_persistent_run(call, &communicator)?);
        Ok(self.insert_activity(Again(Some(run)), &CALLS, Keeps::Nothing))
    }

    fn new_persistent_run(&mut self, call: &Call, communicator: &Rc<Communicator>) -> Result<Run> {
        let mut run = self.new_run(call, communicator)?;
        if run.messages.is_some() {
            return Ok(Run::Planned(run));
        }
        let (group, check) = (run.plan.communicator.clone(), run.plan.check);
        if !matches!(call, Call::Barrier) && communicator.inter.is_none() {
            // Whether it goes by lines all ranks decide together.
            let lines = self.line_run(call, communicator)?;
            let most = lines.as_ref().map_or(usize::MAX, LineRun::most);
            if let (Some(lane), Some(mut lines)) = (self.kept_lane(&group, check, most)?, lines) {
                lines.keep(lane);
                return Ok(Run::Lines(lines));
            }
        }
        run.persistent = Some(Rc::new(self.persistent_channel(&group, check)?));
        Ok(Run::Planned(run))
    }

    /// Starts a collective of a persistent request.
    ///
    /// # Safety
    /// As for [`Engine::begin_collective`].
    unsafe fn start_collective(&mut self, request: Handle, mut run: Box<Run>) {
        // SAFETY: the call's buffers are readable and writable until the request is complete (this function's
        // contract).
        unsafe {
            run.begin();
            if let Run::Lines(lines) = &mut *run
                && lines.advance()
            {
                return self.complete_collective(request, run);
            }
        }
        self.push_collective(request, run);
        advance_collectives(self);
    }

    /// Completes the request of a collective; a persistent one keeps what it does.
    fn complete_collective(&mut self, request: Handle, run: Box<Run>) {
        let status = run.status();
        if let Some(Again(kept)) = self.activity_mut(request) {
            *kept = Some(run);
        }
        self.complete(request, status);
    }
}

/// Pushes on all collectives under way, in the order in which they were begun; whether any is left.
fn advance_collectives(engine: &mut Engine) -> bool {
    let under_way = UNDER_WAY.of_mut(engine);
    // A reduction of the program may come back here: it finds an empty list.
    let mut list = take(&mut under_way.list);
    let is_within = replace(&mut under_way.are_advanced, true);
    let mut place = 0;
    while let Some((_, run)) = list.get_mut(place) {
        // SAFETY: `begin` has been called, and the buffers stay readable and writable until the request
        // is complete (contract of `start_collective` and `begin_collective`, which fill the list).
        if unsafe { run.advance(engine) } {
            let (request, run) = list.remove(place);
            engine.complete_collective(request, run);
        } else {
            place += 1;
        }
    }
    let under_way = UNDER_WAY.of_mut(engine);
    list.append(&mut under_way.list);
    under_way.list = list;
    under_way.are_advanced = is_within;
    is_within || !under_way.list.is_empty()
}
