//! Partitioned communication between ranks that cannot load each other's memory: a round is one message.
//!
//! The sides meet as others do; what the sender tells is a number of its own, by which the rounds' messages match, in a context beside the
//! communicator's. A round is sent when all of its partitions are ready, so a partition arrives with the last one.

use crate::{CALLS, From, Partitioned, PartitionedCalls, PartitionedSend};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_matching::Pattern;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_core::status::Status;
use lwk_mpi_rt::communicator::{Communicator, Plane};
use lwk_mpi_rt::request::{Keeps, ReceiveOperation, SendOperation};
use lwk_path::Label;
use lwk_path::region::Region;

/// The sending side.
pub(super) struct SentRounds {
    /// A round's message.
    message: SendOperation,
    /// By partition, in this round.
    ready: Vec<bool>,
    under_way: Option<Handle>,
}

/// The receiving side.
pub(super) struct ReceivedRounds {
    communicator: Rc<Communicator>,
    /// Once the sides have met.
    number: Option<i32>,
    under_way: Option<Handle>,
}

/// A round's message.
enum Message {
    Send(SendOperation),
    Receive(ReceiveOperation),
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

impl PartitionedCalls {
    /// A partitioned send by messages, whose checked arguments `send` are. Errors: `NO_MEM`.
    pub(super) fn begin_rounds(
        &mut self,
        send: &SendOperation,
        partitions: usize,
        keeps: Keeps,
    ) -> Result<Handle> {
        let mut ready = Vec::new();
        ready.try_reserve_exact(partitions).map_err(|_| Error::NO_MEM)?;
        ready.resize(partitions, false);
        let last = &mut self.known().left.last_number;
        *last += 1;
        let number = *last & i32::MAX as u64;
        let context = send.label.context();
        let message = SendOperation { label: Label::new(Plane::Rounds.of(context), number as i32), ..*send };
        let rounds = Box::new(SentRounds { message, ready, under_way: None });
        let operation = Partitioned::Send(PartitionedSend::by_rounds(rounds, partitions));
        let request = self.insert_activity(operation, &CALLS, keeps);
        // As of others, the meeting message completes by itself.
        let label = Label::new(Plane::Partitioned.of(context), send.label.tag());
        let source = Region::block((&raw const number).cast(), 8);
        // SAFETY: the content is the number, here.
        let meeting = unsafe { self.send_copy(&SendOperation { label, source, ..*send })? };
        self.free_request(meeting)?;
        Ok(request)
    }

    /// Whether a partitioned request's rounds go by messages.
    pub(super) fn goes_by_rounds(&self, request: Handle) -> bool {
        match self.activity(request) {
            Some(Partitioned::Send(send)) => send.rounds.is_some(),
            Some(Partitioned::Receive(receive)) => {
                receive.from.as_ref().is_some_and(|from| from.rounds.is_some())
            }
            None => false,
        }
    }

    /// Makes progress on a round by messages; its outcome when it is over.
    pub(super) fn advance_round(&mut self, request: Handle) -> Option<Status> {
        self.take_number(request);
        let (under_way, message) = match self.activity(request)? {
            Partitioned::Send(PartitionedSend { rounds, ready, partitions, .. }) => {
                let rounds = rounds.as_ref()?;
                if ready < partitions {
                    return None;
                }
                (rounds.under_way, Message::Send(rounds.message))
            }
            Partitioned::Receive(receive) => {
                let from = receive.from.as_ref()?;
                let rounds = from.rounds.as_ref()?;
                let context = Plane::Rounds.of(rounds.communicator.context);
                let (source, tag) = (Some(from.peer), Some(rounds.number?));
                let pattern = Pattern { context, source, tag };
                let communicator = rounds.communicator.clone();
                let receive = ReceiveOperation { pattern, target: receive.target, communicator };
                (rounds.under_way, Message::Receive(receive))
            }
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
        match self.activity(request)? {
            Partitioned::Receive(receive) => {
                let From { source, tag, .. } = *receive.from.as_ref()?;
                Some(Status { source, tag, ..status })
            }
            Partitioned::Send(_) => Some(Status::EMPTY),
        }
    }

    /// Takes note of the number of a receive's rounds when it has come.
    fn take_number(&mut self, request: Handle) {
        let Some(Partitioned::Receive(receive)) = self.activity(request) else { return };
        let Some(From { meeting, rounds: Some(ReceivedRounds { number: None, .. }), .. }) = &receive.from
        else {
            return;
        };
        let meeting = *meeting;
        if self.take_complete(meeting).is_none() {
            return;
        }
        if let Some(Partitioned::Receive(receive)) = self.activity_mut(request)
            && let Some(From { address, rounds: Some(rounds), .. }) = &mut receive.from
        {
            rounds.number = Some(address.get() as i32);
        }
    }

    /// Begins a round's message.
    fn begin_message(&mut self, message: Message) -> Handle {
        match message {
            // SAFETY: the target is writable while the round is active, which ends after the message (`PartitionedCalls::precv_init`'s contract).
            Message::Receive(receive) => unsafe { self.receive_checked(receive, Keeps::Nothing) },
            // SAFETY: the buffer is readable while the round is active, which ends after the message (`PartitionedCalls::psend_init`'s contract).
            Message::Send(send) => unsafe { self.send_checked(send, Keeps::Nothing) },
        }
    }

    fn round_under_way(&mut self, request: Handle) -> Option<&mut Option<Handle>> {
        match self.activity_mut(request)? {
            Partitioned::Send(send) => Some(&mut send.rounds.as_mut()?.under_way),
            Partitioned::Receive(receive) => Some(&mut receive.from.as_mut()?.rounds.as_mut()?.under_way),
        }
    }
}
