//! Progress: taking in what has arrived and pushing on what has begun. Every call that waits makes it.

use crate::engine::Engine;
use crate::error::Error;
use crate::handle::Handle;
use crate::request::{Operation, Request, State};
use crate::status::Status;
use core::mem::take;
use lwk_path::{Delivery, Started, Ticket};
use lwk_place::WorldRank;
use lwk_user::wait::give_way_after;

/// All sends under way are looked at once in so many times, the oldest always.
const SCAN_ALL: u32 = 16;

/// Messages taken from one peer before the next one's turn.
pub(crate) const BATCH: usize = 64;

impl Engine {
    /// Takes in messages of all peers and pushes on all sends.
    pub fn progress(&mut self) {
        self.progress_except(None);
    }

    /// The same without the messages of one peer, whose ring the caller is looking at itself.
    pub(crate) fn progress_except(&mut self, but: Option<WorldRank>) {
        for peer in (0..self.size).map(WorldRank).filter(|peer| Some(*peer) != but) {
            self.take_in(peer);
        }
        self.paths.advance_markers();
        if !self.underway.is_empty() || !self.ahead.requests.is_empty() {
            self.advance_sends();
        }
        if !self.arriving.is_empty() {
            self.advance_receives();
        }
        if !self.handed.is_empty() {
            self.complete_handed();
        }
        if !self.deferred.is_empty() {
            self.start_deferred();
        }
        // Before the questions of those that have called are answered, which is an activity.
        let calls = self.paths.take_calls();
        if calls > 0 {
            self.found = true;
            self.be_called(calls);
        }
        if !self.advancing.is_empty() {
            self.advance_activities();
        }
        if !self.duplications.is_empty() {
            self.advance_duplications();
        }
        // A program that tests in a loop comes here, too.
        give_way_after(&mut self.found);
    }

    /// Takes in messages of one peer.
    #[inline]
    pub(crate) fn take_in(&mut self, peer: WorldRank) {
        for _ in 0..BATCH {
            let Some(arrival) = self.paths.arrival(peer) else { return };
            self.found = true;
            if !self.accept(peer, &arrival) {
                return;
            }
        }
    }

    /// Helps with and completes sends that the transport has under way. Messages are mostly received in the order in which they were
    /// sent, and looking at a completion takes its line away from the receiver that is about to write there; so this looks at the
    /// oldest ones until one is not done, and at all of them only once in [`SCAN_ALL`] times.
    fn advance_sends(&mut self) {
        while let Some(oldest) = self.underway.front()
            && self.has_gone(*oldest)
        {
            self.underway.pop_front();
        }
        self.scans = self.scans.wrapping_add(1);
        if self.scans.is_multiple_of(SCAN_ALL) {
            self.advance_all_sends();
        }
    }

    #[cold]
    fn advance_all_sends(&mut self) {
        let (mut underway, mut ahead) = (take(&mut self.underway), take(&mut self.ahead.requests));
        underway.retain(|request| !self.has_gone(*request));
        ahead.retain(|request| !self.has_gone(*request));
        (self.underway, self.ahead.requests) = (underway, ahead);
    }

    /// Helps with a send that is under way; true when it is complete, and so is its request.
    #[inline(always)]
    pub(crate) fn has_gone(&mut self, request: Handle) -> bool {
        if let Some(gone) = self.advance_compact(request) {
            return gone;
        }
        let Some(ticket) = self.ticket(request) else { unreachable!("a send under way without a request") };
        // SAFETY: the ticket is the request's, which is under way, so its content is readable: the program's
        // buffer (contract of the send that made it) or the request's copy.
        let gone = unsafe { self.paths.advance(ticket) }.is_some();
        if gone {
            self.complete(request, Status::EMPTY);
        }
        gone
    }

    /// The transport's name of a request's message that is under way.
    #[inline]
    fn ticket(&self, request: Handle) -> Option<Ticket> {
        if let Some(compact) = self.compact.get(request) {
            return compact.ticket();
        }
        match self.requests.get(request) {
            Some(Request { state: State::Underway(ticket) | State::Arriving(ticket), .. }) => Some(*ticket),
            _ => None,
        }
    }

    /// Pushes on and completes receives whose message is on its way.
    #[cold]
    fn advance_receives(&mut self) {
        let mut index = 0;
        while index < self.arriving.len() {
            let request = self.arriving[index];
            let Some(ticket) = self.ticket(request) else {
                unreachable!("an arriving message without a request")
            };
            // SAFETY: the ticket is the request's, which is under way, so the buffer is writable and nobody
            // else uses it (contract of the receive that made it).
            if let Some(outcome) = unsafe { self.paths.advance(ticket) } {
                let outcome = outcome.map_err(Error::from);
                self.arriving.remove(index);
                if !self.complete_compact(request, outcome)
                    && let Some(it) = self.requests.get(request)
                {
                    let status = Status { error: outcome.err().or(it.status.error), ..it.status };
                    self.complete(request, status);
                }
            } else {
                index += 1;
            }
        }
    }

    /// Starts sends for which there was no room.
    #[cold]
    fn start_deferred(&mut self) {
        let mut from = WorldRank(0);
        while let Some((peer, request)) = self.deferred.first_from(from) {
            let (send, is_waited_for) = match self.requests.get(request) {
                Some(Request { operation: Operation::Send(send), detached, .. }) => (*send, !detached),
                _ => unreachable!("a deferred send without a request"),
            };
            // SAFETY: the send is not complete, so its buffer is readable until it is (contract of
            // `Engine::isend`), or a copy the request keeps.
            match unsafe { self.start_send(&send) } {
                Started::Full => {
                    from = WorldRank(peer.0 + 1);
                    continue;
                }
                Started::Done => self.complete(request, Status::EMPTY),
                Started::Underway(ticket) => {
                    let queue = if is_waited_for { &mut self.underway } else { &mut self.ahead.requests };
                    queue.push_back(request);
                    self.set_state(request, State::Underway(ticket));
                }
            }
            self.deferred.remove(peer, request);
        }
    }

    /// Marks a request complete; one that its owner has freed goes now.
    pub fn complete(&mut self, request: Handle, status: Status) {
        let Some(it) = self.requests.get_mut(request) else { return };
        it.state = State::Complete;
        it.status = status;
        if it.detached {
            self.remove_request(request);
        }
    }

    /// Completes a receive with a message that is in its buffer, or will be.
    #[inline]
    pub(crate) fn settle(&mut self, request: Handle, delivery: lwk_path::Result<Delivery>, status: Status) {
        let Ok(Delivery::Underway(ticket)) = delivery else { return self.complete(request, status) };
        let Some(it) = self.requests.get_mut(request) else { return };
        (it.state, it.status) = (State::Arriving(ticket), status);
        self.arriving.push(request);
    }

    pub(crate) fn set_state(&mut self, request: Handle, state: State) {
        if let Some(it) = self.requests.get_mut(request) {
            it.state = state;
        }
    }
}
