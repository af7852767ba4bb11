//! Partitioned communication (MPI-5.0, chapter "Partitioned Point-to-Point Communication").
//!
//! A partitioned send and a partitioned receive meet once: the sender's `MPI_PSEND_INIT` sends where its [`Channel`] is, in a context
//! of its own beside the communicator's, and the receiver's `MPI_PRECV_INIT` receives that. From then on no messages pass: the two
//! agree by `lwk-rendezvous`'s [`Partitions`], checked under loom there. The receiver, when it makes progress, copies every partition that
//! is ready straight from the sender's buffer to its own, from layout to layout. The two sides may cut the message differently.
//!
//! Where the two cannot load each other's memory, a round is one message, sent when all of its partitions are ready ([`rounds`]).
//!
//! Per rank: the list of requests that have been started, and what freed ones have left. Per request: its channel. Nothing is per thread or per communicator.
#![no_std]

extern crate alloc;

mod channel;
mod rounds;

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use channel::{Channel, Left};
use core::any::Any;
use core::cell::Cell;
use lwk_matching::Pattern;
use lwk_mpi_core::abi::ANY_TAG;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_core::status::Status;
use lwk_mpi_rt::communicator::{Communicator, Endpoint, Plane};
use lwk_mpi_rt::engine::Engine;
use lwk_mpi_rt::receive::ReceiveArguments;
use lwk_mpi_rt::request::{Calls, Keeps, Mode, ReceiveOperation, SendOperation};
use lwk_mpi_rt::send::SendArguments;
use lwk_mpi_rt::subsystem;
use lwk_mpi_rt::subsystem::State;
use lwk_path::region::{Region, copy_part};
use lwk_path::{Label, Reach, seen_from_here};
use lwk_place::{Peer, WorldRank, peer_of};
use lwk_rendezvous::{Partitions, Readiness};
use rounds::{ReceivedRounds, SentRounds};

subsystem! {
    /// The engine, with partitioned communication.
    PartitionedCalls
}

/// What this rank knows of partitioned communication.
struct Known {
    /// Requests that have been started.
    started: Vec<Handle>,
    left: Left,
}

static KNOWN: State<Known> = State::new(Known { started: Vec::new(), left: Left::new() });

/// What the engine asks of partitioned requests.
static CALLS: Calls = Calls { start, end };

/// What a partitioned request does.
enum Partitioned {
    Send(PartitionedSend),
    Receive(PartitionedReceive),
}

fn start(engine: &mut Engine, request: Handle) {
    PartitionedCalls::of(engine).start_partitioned(request);
}

fn end(engine: &mut Engine, operation: Box<dyn Any>) {
    let calls = PartitionedCalls::of(engine);
    match operation.downcast().map(|it| *it) {
        Ok(Partitioned::Send(send)) => calls.retire_channel(send),
        Ok(Partitioned::Receive(receive)) => calls.leave_channel(receive),
        Err(_) => unreachable!("the operation of a partitioned request"),
    }
}

/// Whether any request is still under way.
fn advance(engine: &mut Engine) -> bool {
    PartitionedCalls::of(engine).advance_partitioned();
    !KNOWN.of(engine).started.is_empty()
}

/// The sending side.
struct PartitionedSend {
    /// `None` if it goes to nobody, or by messages.
    channel: Option<&'static Channel>,
    /// Where the receiver cannot load this rank's memory.
    rounds: Option<Box<SentRounds>>,
    partitions: usize,
    round: u64,
    /// Partitions marked ready in this round.
    ready: usize,
}

/// The receiving side.
struct PartitionedReceive {
    /// `None` if it comes from nobody.
    from: Option<From>,
    target: Region,
    partitions: usize,
    partition_bytes: usize,
    round: u64,
    /// By partition of the sender: whether it has been copied in this round. Empty until the sides have met.
    copied: Vec<bool>,
    outcome: Result<()>,
}

struct From {
    pub peer: WorldRank,
    /// The same, if its memory can be loaded.
    mapped: Option<Peer>,
    pub source: i32,
    pub tag: i32,
    /// Receives the channel's address, or the rounds' number; void when it has come.
    pub meeting: Handle,
    pub address: Box<Cell<u64>>,
    channel: Option<&'static Channel>,
    /// Where this rank cannot load the sender's memory.
    pub rounds: Option<ReceivedRounds>,
}

impl PartitionedSend {
    /// One whose rounds go by messages.
    fn by_rounds(rounds: Box<SentRounds>, partitions: usize) -> PartitionedSend {
        PartitionedSend { channel: None, rounds: Some(rounds), partitions, round: 0, ready: 0 }
    }
}

impl PartitionedReceive {
    /// The sender's partitions that a range of bytes takes, if the sides have met.
    fn overlapping(&self, channel: &Channel, start: usize, bytes: usize) -> core::ops::Range<usize> {
        let each = channel.partition_bytes as usize;
        if each == 0 || bytes == 0 {
            return 0..0;
        }
        (start / each).min(self.copied.len())..(start + bytes).div_ceil(each).min(self.copied.len())
    }

    /// Copies what has become ready; true when all has been copied.
    fn advance(&mut self) -> bool {
        let Some(from) = &self.from else { return true };
        let (Some(channel), Some(peer)) = (from.channel, from.mapped) else { return false };
        let each = channel.partition_bytes as usize;
        let source = Region::of_peer(peer, channel.source, channel.bytes as usize);
        let ready = seen_from_here::<Readiness>(peer, channel.partitions.words().as_ptr().addr());
        let mut all = true;
        for partition in 0..self.copied.len() {
            if self.copied[partition] {
                continue;
            }
            // SAFETY: the channel has as many words, and is not given up before this rank has left it.
            let word = unsafe { &*ready.add(partition) };
            if !word.is_ready(self.round) {
                all = false;
                continue;
            }
            let start = partition * each;
            let bytes = each.min(self.target.bytes().saturating_sub(start));
            // SAFETY: the sender keeps buffer and datatype until the round is over; `target` is writable
            // while the receive's round is active (`PartitionedCalls::precv_init`'s contract).
            let copied = unsafe { copy_part(&source, start, &self.target, start, bytes) };
            self.outcome = self.outcome.and(copied.map_err(Error::from));
            self.copied[partition] = true;
        }
        if all {
            channel.partitions.tell_copied(self.round);
        }
        all
    }

    fn status(&self) -> Status {
        let Some(from) = &self.from else { return Status::PROC_NULL };
        let sent = from.channel.map_or(0, |channel| channel.bytes as usize);
        let truncated = (sent > self.target.bytes()).then_some(Error::TRUNCATE);
        let bytes = sent.min(self.target.bytes()) as u64;
        let error = self.outcome.err().or(truncated);
        Status { source: from.source, tag: from.tag, error, bytes, cancelled: false, empty: false }
    }
}

impl PartitionedCalls {
    fn known(&mut self) -> &mut Known {
        KNOWN.of_mut(self)
    }

    /// A send of `partitions` partitions of `arguments.count` items each (`MPI_PSEND_INIT`), to be started. Errors: as for a send;
    /// `ARG` for a negative number of partitions, `NO_MEM`.
    ///
    /// # Safety
    /// The buffer must be readable whenever the request is active.
    pub unsafe fn psend_init(&mut self, arguments: &SendArguments, partitions: i32) -> Result<Handle> {
        let partitions = usize::try_from(partitions).map_err(|_| Error::ARG)?;
        let all = SendArguments { count: whole(arguments.count, partitions)?, ..*arguments };
        let Some(send) = self.check_send(&all, Mode::Standard)? else {
            let nothing = PartitionedSend { channel: None, rounds: None, partitions, round: 0, ready: 0 };
            return Ok(self.insert_activity(Partitioned::Send(nothing), &CALLS, Keeps::Nothing));
        };
        let keeps = self.layout_of(arguments.datatype, &send.source);
        if self.reach(send.peer) != Reach::Mapped {
            return self.begin_rounds(&send, partitions, keeps);
        }
        let mut ready = Vec::new();
        ready.try_reserve_exact(partitions).map_err(|_| Error::NO_MEM)?;
        ready.extend((0..partitions).map(|_| Readiness::new()));
        let bytes = send.source.bytes();
        self.reclaim_channels();
        let channel = Box::leak(Box::new(Channel {
            address: 0,
            source: send.source.words(),
            bytes: bytes as u64,
            partition_bytes: bytes.checked_div(partitions).unwrap_or(0) as u64,
            partitions: Partitions::new(ready.into_boxed_slice()),
        }));
        channel.address = core::ptr::from_ref(channel).expose_provenance() as u64;
        let channel: &'static Channel = channel;
        let operation =
            PartitionedSend { channel: Some(channel), rounds: None, partitions, round: 0, ready: 0 };
        let request = self.insert_activity(Partitioned::Send(operation), &CALLS, keeps);
        // The meeting message completes by itself; its content is the channel's first word, which stays.
        let label = Label::new(Plane::Partitioned.of(send.label.context()), send.label.tag());
        let source = Region::block((&raw const channel.address).cast(), 8);
        // SAFETY: the channel stays until the receiver, to which this message leads, has left it.
        let meeting = unsafe { self.send_checked(SendOperation { label, source, ..send }, Keeps::Nothing) };
        self.free_request(meeting)?;
        Ok(request)
    }

    /// A receive of `partitions` partitions of `arguments.count` items each (`MPI_PRECV_INIT`), to be started. Errors: as for a
    /// receive, and no wildcards; `ARG` for a negative number of partitions.
    ///
    /// # Safety
    /// The buffer must be writable whenever the request is active.
    pub unsafe fn precv_init(&mut self, arguments: &ReceiveArguments, partitions: i32) -> Result<Handle> {
        let partitions = usize::try_from(partitions).map_err(|_| Error::ARG)?;
        if arguments.tag == ANY_TAG {
            return Err(Error::TAG);
        }
        let all = ReceiveArguments { count: whole(arguments.count, partitions)?, ..*arguments };
        let target = self.buffer(all.address, all.count, all.datatype)?;
        let communicator = Rc::clone(self.communicator(arguments.communicator)?);
        let from = match communicator.source(arguments.source)? {
            Endpoint::Any => return Err(Error::RANK),
            Endpoint::Nobody => None,
            Endpoint::Peer(peer) => {
                // Checks the tag as well.
                self.check_receive(&all)?;
                Some(self.begin_meeting(communicator, peer, arguments)?)
            }
        };
        let keeps = self.layout_of(arguments.datatype, &target);
        let partition_bytes = target.bytes().checked_div(partitions).unwrap_or(0);
        let operation = PartitionedReceive {
            from,
            target,
            partitions,
            partition_bytes,
            round: 0,
            copied: Vec::new(),
            outcome: Ok(()),
        };
        Ok(self.insert_activity(Partitioned::Receive(operation), &CALLS, keeps))
    }

    /// Begins to receive where the sender's channel is.
    fn begin_meeting(
        &mut self,
        communicator: Rc<Communicator>,
        peer: WorldRank,
        arguments: &ReceiveArguments,
    ) -> Result<From> {
        let mapped = peer_of(peer).filter(|_| self.reach(peer) == Reach::Mapped);
        let rounds = mapped.is_none().then(|| ReceivedRounds::new(communicator.clone()));
        let address = Box::new(Cell::new(0u64));
        let context = Plane::Partitioned.of(communicator.context);
        let pattern = Pattern { context, source: Some(peer), tag: Some(arguments.tag) };
        let target = Region::block(address.as_ptr().cast(), 8);
        // SAFETY: the box lives until the request is complete: beside it in the receive, or in what a freed one has left.
        let meeting = unsafe {
            self.receive_checked(ReceiveOperation { pattern, target, communicator }, Keeps::Nothing)
        };
        Ok(From {
            peer,
            mapped,
            source: arguments.source,
            tag: arguments.tag,
            meeting,
            address,
            channel: None,
            rounds,
        })
    }

    /// Starts a round of a partitioned request, which is inactive.
    fn start_partitioned(&mut self, request: Handle) {
        match self.activity_mut(request) {
            Some(Partitioned::Send(send)) => {
                (send.round, send.ready) = (send.round + 1, 0);
                if let Some(rounds) = &mut send.rounds {
                    rounds.restart();
                }
            }
            Some(Partitioned::Receive(receive)) => {
                receive.round += 1;
                receive.copied.fill(false);
                receive.outcome = Ok(());
            }
            None => return,
        }
        self.known().started.push(request);
        self.go_on(request, advance);
        self.advance_partitioned();
    }

    /// Marks a partition of an active send as ready (`MPI_PREADY`). Errors: `REQUEST`; `ARG` if there is no such partition, or it is
    /// ready already.
    pub fn pready(&mut self, request: Handle, partition: i32) -> Result<()> {
        let is_active = self.is_going_on(request);
        let (true, Some(Partitioned::Send(send))) = (is_active, self.activity_mut(request)) else {
            return Err(Error::REQUEST);
        };
        let partition = usize::try_from(partition).ok().filter(|partition| *partition < send.partitions);
        let partition = partition.ok_or(Error::ARG)?;
        if send.channel.is_some_and(|channel| !channel.partitions.mark_ready(partition, send.round))
            || send.rounds.as_mut().is_some_and(|rounds| !rounds.mark_ready(partition))
        {
            return Err(Error::ARG);
        }
        send.ready += 1;
        if send.rounds.is_some() && send.ready == send.partitions {
            self.advance_partitioned();
        }
        Ok(())
    }

    /// Whether a partition of a receive has arrived (`MPI_PARRIVED`); of an inactive one, yes. Errors: `REQUEST`, `ARG`.
    pub fn parrived(&mut self, request: Handle, partition: i32) -> Result<bool> {
        self.progress();
        let Some(Partitioned::Receive(receive)) = self.activity(request) else { return Err(Error::REQUEST) };
        let partition = usize::try_from(partition).ok().filter(|partition| *partition < receive.partitions);
        let partition = partition.ok_or(Error::ARG)?;
        if !self.is_going_on(request) {
            return Ok(true);
        }
        let Some(channel) = receive.from.as_ref().and_then(|from| from.channel) else {
            return Ok(receive.from.is_none());
        };
        let start = partition * receive.partition_bytes;
        let parts = receive.overlapping(channel, start, receive.partition_bytes);
        Ok(receive.copied[parts].iter().all(|copied| *copied))
    }

    /// Makes progress on the rounds that are under way.
    fn advance_partitioned(&mut self) {
        let mut index = 0;
        while let Some(request) = self.known().started.get(index).copied() {
            if self.goes_by_rounds(request) {
                match self.advance_round(request) {
                    Some(status) => {
                        self.known().started.swap_remove(index);
                        self.complete(request, status);
                    }
                    None => index += 1,
                }
                continue;
            }
            self.find_channel(request);
            let status = match self.activity_mut(request) {
                Some(Partitioned::Send(send)) => {
                    let copied = send.channel.is_none_or(|channel| channel.partitions.is_copied(send.round));
                    // Without partitions there is nothing to copy, but the receiver still has to come.
                    (send.ready == send.partitions && copied).then_some(Status::EMPTY)
                }
                Some(Partitioned::Receive(receive)) => {
                    if receive.advance() {
                        Some(receive.status())
                    } else {
                        None
                    }
                }
                None => Some(Status::EMPTY),
            };
            match status {
                Some(status) => {
                    self.known().started.swap_remove(index);
                    self.complete(request, status);
                }
                None => index += 1,
            }
        }
    }
}

/// Items of all partitions. Errors: `COUNT`.
fn whole(count: i64, partitions: usize) -> Result<i64> {
    if count < 0 {
        return Err(Error::COUNT);
    }
    count.checked_mul(partitions as i64).ok_or(Error::COUNT)
}
