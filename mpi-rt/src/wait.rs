//! Completion: wait and test (MPI-5.0, sections 3.7.3 to 3.7.5).
//!
//! A completed request is freed, unless it is persistent, which becomes inactive. The null request and inactive ones are
//! complete, with an empty status. The error of an operation is in its status; calls for one request return it.

use crate::abi::{REQUEST_DONE, REQUEST_NULL};
use crate::ahead::Limit;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::request::{Keeps, Operation, Request, State};
use crate::status::Status;
use lwk_user::wait::Poll;

/// A loop that polls for one thing makes progress on everything else this often.
pub(crate) const POLLS_PER_PROGRESS: u32 = 16;

/// Who waits for so many requests looks less often, after [`PAUSES_FOR_MANY`] pauses instead of one: each look takes a line away from the
/// peer that is about to write there, and the messages after it are late by as much.
const MANY: usize = 8;
const PAUSES_FOR_MANY: u32 = 4;

/// Who waits for one request looks this seldom whether another one of the call has failed.
const POLLS_PER_LOOK: u32 = 1024;

/// The status of a request that has neither failed nor completed when another one of the call has failed (section 3.7.5).
const PENDING: Status = Status { error: Some(Error::PENDING), ..Status::EMPTY };

/// The null request.
pub const NULL: Handle = Handle(REQUEST_NULL);
/// The request of every send that was complete when it began: nothing is left to know of it.
pub const DONE: Handle = Handle(REQUEST_DONE);

impl Engine {
    /// Waits for a request; the handle is void afterwards unless it is persistent. Errors: `REQUEST`, or the operation's own.
    pub fn wait(&mut self, request: Handle) -> Result<Status> {
        let mut poll = Poll::new();
        let mut round = 0u32;
        while !self.is_complete(request)? {
            self.progress();
            if self.is_complete(request)? {
                break;
            }
            round = round.wrapping_add(1);
            if round.is_multiple_of(POLLS_PER_PROGRESS) {
                self.complete_ahead(request, Limit::After(round));
            }
            poll.pause();
        }
        let status = self.retire(request);
        status.error.map_or(Ok(status), Err)
    }

    /// Completes a request if it can be completed now. Errors: as for [`Engine::wait`].
    pub fn test(&mut self, request: Handle) -> Result<Option<Status>> {
        if !self.is_complete(request)? {
            self.progress();
            if !self.is_complete(request)? {
                return Ok(None);
            }
        }
        let status = self.retire(request);
        status.error.map_or(Ok(Some(status)), Err)
    }

    /// Waits for all requests. `statuses` gets one for each, in order, and `requests` become null unless persistent. Once an operation has failed,
    /// those that are not complete are not waited for, since what they need may never come: they stay, and the error in their statuses is
    /// `PENDING`. Errors: `REQUEST` if one is invalid, and then nothing has been waited for; `IN_STATUS` if an operation failed.
    pub fn wait_all(
        &mut self,
        requests: &mut [Handle],
        mut statuses: impl FnMut(usize, &Status),
    ) -> Result<()> {
        for request in requests.iter() {
            self.is_complete(*request)?;
        }
        let (mut failed, mut round, mut is_ahead) = (false, 0u32, false);
        let mut poll = Poll::new();
        let count = requests.len();
        let mut rest = requests;
        while let Some((request, later)) = rest.split_first_mut() {
            let index = count - later.len() - 1;
            rest = later;
            if let Some(status) = self.retire_compact(request) {
                failed |= status.error.is_some();
                statuses(index, &status);
                continue;
            }
            while !self.is_complete(*request)? {
                self.progress();
                if failed || self.is_complete(*request)? {
                    (round, is_ahead) = (0, false);
                    break;
                }
                round = round.wrapping_add(1);
                // Who has waited in vain for one send does not wait as long for the next.
                if (round.is_multiple_of(POLLS_PER_PROGRESS) || is_ahead)
                    && self.complete_ahead(*request, Limit::After(round))
                {
                    is_ahead = true;
                    break;
                }
                if round.is_multiple_of(POLLS_PER_LOOK) {
                    failed = rest.iter().any(|other| self.has_failed(*other));
                }
                poll.pause();
                if rest.len() + 1 >= MANY {
                    (1..PAUSES_FOR_MANY).for_each(|_| poll.pause());
                }
            }
            let status =
                if failed && !self.is_complete(*request)? { PENDING } else { self.retire_in_place(request) };
            failed |= status.error.is_some();
            statuses(index, &status);
        }
        if failed { Err(Error::IN_STATUS) } else { Ok(()) }
    }

    /// Completes all requests if all can be completed now; otherwise none. Errors: as for [`Engine::wait_all`].
    pub fn test_all(
        &mut self,
        requests: &mut [Handle],
        mut statuses: impl FnMut(usize, &Status),
    ) -> Result<bool> {
        self.progress();
        for request in requests.iter() {
            if !self.is_complete(*request)? {
                return Ok(false);
            }
        }
        let mut failed = false;
        for (index, request) in requests.iter_mut().enumerate() {
            let status = self.retire_in_place(request);
            failed |= status.error.is_some();
            statuses(index, &status);
        }
        if failed { Err(Error::IN_STATUS) } else { Ok(true) }
    }

    /// Waits for one of the requests and says which; `None` if none is active. Errors: `REQUEST`; the operation's own is in the status.
    pub fn wait_any(&mut self, requests: &mut [Handle]) -> Result<Option<(usize, Status)>> {
        let mut poll = Poll::new();
        for round in 1.. {
            match self.test_any(requests)? {
                Any::Done(index, status) => return Ok(Some((index, status))),
                Any::NoneActive => break,
                Any::NotYet => self.pause_for_some(&mut poll, requests, round),
            }
        }
        Ok(None)
    }

    /// Completes one of the requests, if one can be completed now. Errors: as for [`Engine::wait_any`].
    pub fn test_any(&mut self, requests: &mut [Handle]) -> Result<Any> {
        self.progress();
        let mut active = false;
        for (index, request) in requests.iter_mut().enumerate() {
            if !self.is_active(*request)? {
                continue;
            }
            active = true;
            if self.is_complete(*request)? {
                let status = self.retire_in_place(request);
                return Ok(Any::Done(index, status));
            }
        }
        Ok(if active { Any::NotYet } else { Any::NoneActive })
    }

    /// Waits for at least one of the requests and completes all that can be; says how many, or `None` if none is active. `each` gets index and
    /// status. Errors: `IN_STATUS` if an operation failed.
    pub fn wait_some(
        &mut self,
        requests: &mut [Handle],
        mut each: impl FnMut(usize, &Status),
    ) -> Result<Option<usize>> {
        let mut poll = Poll::new();
        for round in 1.. {
            match self.test_some(requests, &mut each)? {
                Some(0) => self.pause_for_some(&mut poll, requests, round),
                count => return Ok(count),
            }
        }
        Ok(None)
    }

    /// Pauses in a wait for one of the requests that has lasted so many rounds; sends among them need not wait for their receivers.
    #[inline]
    fn pause_for_some(&mut self, poll: &mut Poll, requests: &[Handle], round: u32) {
        if round.is_multiple_of(POLLS_PER_PROGRESS) {
            for request in requests {
                self.complete_ahead(*request, Limit::After(round));
            }
        }
        poll.pause();
    }

    /// Completes all requests that can be completed now; as [`Engine::wait_some`], but may find none.
    pub fn test_some(
        &mut self,
        requests: &mut [Handle],
        mut each: impl FnMut(usize, &Status),
    ) -> Result<Option<usize>> {
        self.progress();
        let (mut active, mut done, mut failed) = (false, 0, false);
        for (index, request) in requests.iter_mut().enumerate() {
            if !self.is_active(*request)? {
                continue;
            }
            active = true;
            if self.is_complete(*request)? {
                let status = self.retire_in_place(request);
                failed |= status.error.is_some();
                done += 1;
                each(index, &status);
            }
        }
        match (failed, active) {
            (true, _) => Err(Error::IN_STATUS),
            (_, true) => Ok(Some(done)),
            (_, false) => Ok(None),
        }
    }

    /// Gives a request up: an active one completes by itself. Errors: `REQUEST`.
    pub fn free_request(&mut self, request: Handle) -> Result<()> {
        if self.free_compact(request) {
            return Ok(());
        }
        match self.requests.get_mut(request) {
            None if request == DONE => Ok(()),
            None => Err(Error::REQUEST),
            Some(it) if matches!(it.state, State::Inactive | State::Complete | State::Compound) => {
                if let Operation::Both { send, receive } = it.operation {
                    self.free_request(send)?;
                    self.free_request(receive)?;
                }
                self.remove_request(request);
                Ok(())
            }
            Some(it) => {
                it.detached = true;
                Ok(())
            }
        }
    }

    /// Waits for all sends, and receives that have been matched, also those whose requests have been freed: their buffers are this
    /// rank's memory, and peers wait for their end.
    pub(crate) fn finish_transfers(&mut self) {
        let mut poll = Poll::new();
        while !self.underway.is_empty()
            || !self.ahead.requests.is_empty()
            || !self.arriving.is_empty()
            || !self.deferred.is_empty()
        {
            self.progress();
            poll.pause();
        }
    }

    #[inline(always)]
    pub fn is_complete(&self, request: Handle) -> Result<bool> {
        if request == DONE {
            return Ok(true);
        }
        match self.compact.get(request) {
            Some(compact) => Ok(compact.is_complete()),
            None => self.is_any_complete(request),
        }
    }

    /// The same of requests that are not compact.
    #[inline(never)]
    fn is_any_complete(&self, request: Handle) -> Result<bool> {
        match self.requests.get(request) {
            Some(it) => match it.state {
                State::Complete | State::Inactive => Ok(true),
                State::Compound => self.is_compound_complete(&it.operation),
                _ => Ok(false),
            },
            None if request == NULL => Ok(true),
            None => Err(Error::REQUEST),
        }
    }

    #[cold]
    fn is_compound_complete(&self, operation: &Operation) -> Result<bool> {
        match operation {
            Operation::Both { send, receive } => Ok(self.is_complete(*send)? && self.is_complete(*receive)?),
            Operation::Flush { owner, until } => Ok(self.is_flushed(*owner, *until)),
            _ => Ok(true),
        }
    }

    /// Whether there is such a request, complete or not.
    #[inline]
    pub fn has_request(&self, request: Handle) -> bool {
        self.compact.get(request).is_some() || self.requests.get(request).is_some()
    }

    pub fn is_active(&self, request: Handle) -> Result<bool> {
        if self.compact.get(request).is_some() {
            return Ok(true);
        }
        match self.requests.get(request) {
            Some(it) => Ok(it.state != State::Inactive),
            None if request == NULL => Ok(false),
            None if request == DONE => Ok(true),
            None => Err(Error::REQUEST),
        }
    }

    /// Ends a complete request; its status.
    #[inline(always)]
    fn retire(&mut self, request: Handle) -> Status {
        match self.compact.get(request) {
            Some(compact) => {
                let status = compact.status();
                self.compact.discard(request);
                status
            }
            None => self.retire_any(request),
        }
    }

    #[inline(never)]
    fn retire_any(&mut self, request: Handle) -> Status {
        match self.requests.get_mut(request) {
            Some(it) if it.state == State::Inactive => Status::OF_NOTHING,
            Some(it) if it.persistent => {
                it.state = State::Inactive;
                core::mem::replace(&mut it.status, Status::EMPTY)
            }
            Some(it) => {
                if let Operation::Both { send, receive } = it.operation {
                    let sent = self.retire(send);
                    let status = self.retire(receive);
                    self.remove_request(request);
                    return Status { error: status.error.or(sent.error), ..status };
                }
                self.remove_request(request)
            }
            None if request == DONE => Status::EMPTY,
            None => Status::OF_NOTHING,
        }
    }

    /// Takes a request out, and ends what it would leave behind; its status.
    pub(crate) fn remove_request(&mut self, request: Handle) -> Status {
        let Some(it) = self.requests.remove(request) else { return Status::EMPTY };
        if let Keeps::Ahead { content, peer } = &it.keeps {
            self.ahead.remove(*peer, content.len());
        }
        if let Operation::Activity(activity) = it.operation {
            activity.end(self);
        }
        it.status
    }

    /// What a request's status will be, without completing it (`MPI_REQUEST_GET_STATUS`). `None` if it is not complete; of a null or
    /// inactive one, empty. Errors: `REQUEST`.
    pub fn request_status(&mut self, request: Handle) -> Result<Option<Status>> {
        if !self.is_complete(request)? {
            self.progress();
            if !self.is_complete(request)? {
                return Ok(None);
            }
        }
        Ok(Some(self.outcome(request)))
    }

    /// Whether a request is complete, and its operation has failed.
    #[cold]
    fn has_failed(&self, request: Handle) -> bool {
        self.is_complete(request) == Ok(true) && self.outcome(request).error.is_some()
    }

    /// What the status of a complete request will be.
    fn outcome(&self, request: Handle) -> Status {
        match self.requests.get(request) {
            Some(Request { operation: Operation::Both { receive, .. }, .. }) => self.told(*receive),
            _ => self.told(request),
        }
    }

    /// The status that a request has now.
    fn told(&self, request: Handle) -> Status {
        match (self.compact.get(request), self.requests.get(request)) {
            (Some(compact), _) => compact.status(),
            (None, Some(it)) if it.state == State::Inactive => Status::OF_NOTHING,
            (None, Some(it)) => it.status,
            (None, None) if request == DONE => Status::EMPTY,
            (None, None) => Status::OF_NOTHING,
        }
    }

    #[inline(always)]
    fn retire_in_place(&mut self, request: &mut Handle) -> Status {
        if *request == DONE {
            *request = NULL;
            return Status::EMPTY;
        }
        self.retire_compact(request).unwrap_or_else(|| self.retire_any_in_place(request))
    }

    #[inline(never)]
    fn retire_any_in_place(&mut self, request: &mut Handle) -> Status {
        let status = self.retire_any(*request);
        if self.requests.get(*request).is_none() {
            *request = NULL;
        }
        status
    }
}

/// What [`Engine::test_any`] found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Any {
    Done(usize, Status),
    NotYet,
    NoneActive,
}
