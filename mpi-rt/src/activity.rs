//! Operations of subsystems over the engine, in requests of the engine's: it starts them, carries them on in progress and lets them end, and knows nothing
//! else of them. Waiting, testing and freeing are those of all requests.

use crate::engine::Engine;
use crate::handle::Handle;
use crate::request::{Activity, Calls, Keeps, Operation, Request, State};
use crate::status::Status;
use alloc::boxed::Box;
use core::any::Any;
use core::ptr::fn_addr_eq;

/// Carries on what a subsystem has under way; whether anything is left.
pub type Advance = fn(&mut Engine) -> bool;

impl Engine {
    /// A persistent request of a subsystem's, with what must live as long.
    pub fn insert_activity<O: Any>(&mut self, operation: O, calls: &'static Calls, keeps: Keeps) -> Handle {
        let activity = Activity { operation: Box::new(operation), calls };
        self.requests.insert(Request { keeps, ..Request::persistent(Operation::Activity(activity)) })
    }

    /// A request of a subsystem's that has begun.
    pub fn insert_active<O: Any>(&mut self, operation: O, calls: &'static Calls) -> Handle {
        let activity = Activity { operation: Box::new(operation), calls };
        self.requests.insert(Request { state: State::Active, ..Request::new(Operation::Activity(activity)) })
    }

    /// The operation of a request, if it is of that type.
    pub fn activity<O: Any>(&self, request: Handle) -> Option<&O> {
        match &self.requests.get(request)?.operation {
            Operation::Activity(activity) => activity.operation.downcast_ref(),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn activity_mut<O: Any>(&mut self, request: Handle) -> Option<&mut O> {
        match &mut self.requests.get_mut(request)?.operation {
            Operation::Activity(activity) => activity.operation.downcast_mut(),
            _ => None,
        }
    }

    /// Whether a request of a subsystem's has been started and is not complete.
    pub fn is_going_on(&self, request: Handle) -> bool {
        self.requests.get(request).is_some_and(|it| it.state == State::Active)
    }

    /// From now on it is. Progress calls `advance` until nothing is left.
    pub fn go_on(&mut self, request: Handle, advance: Advance) {
        self.set_state(request, State::Active);
        self.carry_on(advance);
    }

    /// Progress calls `advance` from now on, until nothing is left.
    pub fn carry_on(&mut self, advance: Advance) {
        if !self.advancing.iter().any(|it| fn_addr_eq(*it, advance)) {
            self.advancing.push(advance);
        }
    }

    /// Sets what a request's status will be.
    pub fn set_status(&mut self, request: Handle, status: Status) {
        if let Some(it) = self.requests.get_mut(request) {
            it.status = status;
        }
    }

    /// Carries on what subsystems have under way.
    #[cold]
    pub(crate) fn advance_activities(&mut self) {
        let mut index = 0;
        while let Some(advance) = self.advancing.get(index).copied() {
            let goes_on = advance(self);
            // A callback of the program may have come here meanwhile, and have changed the list.
            match self.advancing.iter().position(|it| fn_addr_eq(*it, advance)) {
                Some(place) if goes_on => index = place + 1,
                Some(place) => drop(self.advancing.remove(place)),
                None if goes_on => self.advancing.push(advance),
                None => {}
            }
        }
    }

    /// Takes a request out if it is complete; its status.
    pub fn take_complete(&mut self, request: Handle) -> Option<Status> {
        if !self.requests.get(request)?.is_complete() {
            return None;
        }
        self.requests.remove(request).map(|it| it.status)
    }

    /// Withdraws a receive, and takes its request out; false if a message has been matched with it.
    pub fn withdraw(&mut self, request: Handle) -> bool {
        let is_withdrawn = self.cancel_receive(request);
        if is_withdrawn {
            self.requests.remove(request);
        }
        is_withdrawn
    }
}
