//! Partitioned communication between ranks that cannot load each other's memory: a round is one message.
//!
//! The sides meet as others do; what the sender tells is a number of its own, by which the rounds' messages match, in a context beside the
//! communicator's. A round is sent when all of its partitions are ready, so a partition arrives with the last one.

use crate::communicator::{Communicator, Plane};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::partitioned::{From, PartitionedSend};
use crate::request::{Keeps, Operation, ReceiveOperation, Request, SendOperation};
use crate::status::Status;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_matching::Pattern;
use lwk_path::Label;
use lwk_path::region::Region;

/// The sending side.
pub(crate) struct SentRounds {
    /// A round's message.
    message: SendOperation,
    /// By partition, in this round.
    ready: Vec<bool>,
    under_way: Option<Handle>,
}

/// The receiving side.
pub(crate) struct ReceivedRounds {
    communicator: Rc<Communicator>,
    /// Once the sides have met.
    number: Option<i32>,
    under_way: Option<Handle>,
}

impl SentRounds {
    pub fn restart(&mut self) {
        self.ready.fill(false);
    }

    /// False if the partition is ready already.
    pub fn mark_ready(&mut self, partition: usize) -> bool {
        self.ready.get_mut(partition).is_some_and(|ready| !core::mem::replace(ready, true))
    }
}

impl ReceivedRounds {
    pub fn new(communicator: Rc<Communicator>) -> ReceivedRounds {
        ReceivedRounds { communicator, number: None, under_way: None }
    }

    pub fn have_met(&self) -> bool {
        self.number.is_some()
    }
}

impl Engine {
    /// A partitioned send by messages, whose checked arguments `send` are. Errors: `NO_MEM`.
    pub(crate) fn begin_rounds(
        &mut self,
        send: &SendOperation,
        partitions: usize,
        keeps: Keeps,
    ) -> Result<Handle> {
        let mut ready = Vec::new();
        ready.try_reserve_exact(partitions).map_err(|_| Error::NO_MEM)?;
        ready.resize(partitions, false);
        self.channels.last_number += 1;
        let number = self.channels.last_number & i32::MAX as u64;
        let context = send.label.context();
        let message = SendOperation { label: Label::new(Plane::Rounds.of(context), number as i32), ..*send };
        let rounds = Box::new(SentRounds { message, ready, under_way: None });
        let operation = Operation::PartitionedSend(PartitionedSend::by_rounds(rounds, partitions));
        let request = self.requests.insert(Request { keeps, ..Request::persistent(operation) });
        // As of others, the meeting message completes by itself.
        let label = Label::new(Plane::Partitioned.of(context), send.label.tag());
        let source = Region::block((&raw const number).cast(), 8);
        // SAFETY: the content is the number, here.
        let meeting = unsafe { self.send_copy(&SendOperation { label, source, ..*send })? };
        self.free_request(meeting)?;
        Ok(request)
    }

    /// Whether a partitioned request's rounds go by messages.
    pub(crate) fn goes_by_rounds(&self, request: Handle) -> bool {
        match self.requests.get(request).map(|it| &it.operation) {
            Some(Operation::PartitionedSend(send)) => send.rounds.is_some(),
            Some(Operation::PartitionedReceive(receive)) => {
                receive.from.as_ref().is_some_and(|from| from.rounds.is_some())
            }
            _ => false,
        }
    }

    /// Makes progress on a round by messages; its outcome when it is over.
    pub(crate) fn advance_round(&mut self, request: Handle) -> Option<Status> {
        self.take_number(request);
        let (under_way, message) = match &self.requests.get(request)?.operation {
            Operation::PartitionedSend(PartitionedSend {
                rounds: Some(rounds), ready, partitions, ..
            }) => {
                if ready < partitions {
                    return None;
                }
                (rounds.under_way, Operation::Send(rounds.message))
            }
            Operation::PartitionedReceive(receive) => {
                let from = receive.from.as_ref()?;
                let rounds = from.rounds.as_ref()?;
                let context = Plane::Rounds.of(rounds.communicator.context);
                let (source, tag) = (Some(from.peer), Some(rounds.number?));
                let pattern = Pattern { context, source, tag };
                let communicator = rounds.communicator.clone();
                let receive = ReceiveOperation { pattern, target: receive.target, communicator };
                (rounds.under_way, Operation::Receive(receive))
            }
            _ => return None,
        };
        let Some(under_way) = under_way else {
            let handle = self.begin_message(message);
            *self.round_under_way(request)? = Some(handle);
            return None;
        };
        if self.is_complete(under_way) == Ok(false) {
            return None;
        }
        *self.round_under_way(request)? = None;
        // It is complete, so this does not wait.
        let status =
            self.wait(under_way).unwrap_or_else(|error| Status { error: Some(error), ..Status::EMPTY });
        match &self.requests.get(request)?.operation {
            Operation::PartitionedReceive(receive) => {
                let From { source, tag, .. } = *receive.from.as_ref()?;
                Some(Status { source, tag, ..status })
            }
            _ => Some(Status::EMPTY),
        }
    }

    /// Takes note of the number of a receive's rounds when it has come.
    fn take_number(&mut self, request: Handle) {
        let Some(Operation::PartitionedReceive(receive)) = self.requests.get(request).map(|it| &it.operation)
        else {
            return;
        };
        let Some(From { meeting, address, rounds: Some(ReceivedRounds { number: None, .. }), .. }) =
            &receive.from
        else {
            return;
        };
        let (meeting, told) = (*meeting, address.get() as i32);
        if !self.requests.get(meeting).is_some_and(Request::is_complete) {
            return;
        }
        self.requests.remove(meeting);
        if let Some(Operation::PartitionedReceive(receive)) =
            self.requests.get_mut(request).map(|it| &mut it.operation)
            && let Some(From { rounds: Some(rounds), .. }) = &mut receive.from
        {
            rounds.number = Some(told);
        }
    }

    /// Begins a round's message.
    fn begin_message(&mut self, message: Operation) -> Handle {
        match message {
            Operation::Receive(receive) => {
                let handle = self.requests.insert(Request::new(Operation::Receive(receive.clone())));
                self.begin_receive(handle, &receive);
                handle
            }
            Operation::Send(send) => {
                let handle = self.requests.insert(Request::new(Operation::Send(send)));
                self.begin_send(handle, &send);
                handle
            }
            _ => unreachable!("a round is a send or a receive"),
        }
    }

    fn round_under_way(&mut self, request: Handle) -> Option<&mut Option<Handle>> {
        match &mut self.requests.get_mut(request)?.operation {
            Operation::PartitionedSend(send) => Some(&mut send.rounds.as_mut()?.under_way),
            Operation::PartitionedReceive(receive) => {
                Some(&mut receive.from.as_mut()?.rounds.as_mut()?.under_way)
            }
            _ => None,
        }
    }
}
