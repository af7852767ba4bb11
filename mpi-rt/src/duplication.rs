//! Non-blocking duplication (MPI-5.0, section 7.4.2, `MPI_COMM_IDUP`): the first rank announces the new communicator in messages; the
//! others join when theirs has come, whenever they make progress.
//!
//! The handle is given out at once and names nothing until the request is complete.

use crate::abi::datatype;
use crate::attribute;
use crate::communicator::{Communicator, Intercommunicator, Plane};
use crate::engine::{Engine, with};
use crate::error::{Error, Result};
use crate::error_handler;
use crate::handle::Handle;
use crate::object::Object;
use crate::receive::ReceiveArguments;
use crate::request::{Mode, Operation, Request, State};
use crate::send::SendArguments;
use crate::status::Status;
use crate::topology::Topology;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::Cell;
use lwk_mpi_communicator::Joining;
use lwk_place::{CommRank, WorldRank};

/// A duplication under way.
pub(crate) struct Duplication {
    request: Handle,
    /// The new communicator's handle.
    handle: Handle,
    /// The communicator itself; of an intercommunicator, that of both groups and the local one.
    parts: Vec<IntracommunicatorInMaking>,
    /// Of an intercommunicator: whether the local group is the first.
    inter: Option<bool>,
    topology: Option<Rc<Topology>>,
    session: Option<Handle>,
}

/// An intracommunicator of it.
struct IntracommunicatorInMaking {
    members: Rc<[WorldRank]>,
    /// The announcement, which messages bring or take away.
    announcement: Rc<Cell<u64>>,
    messages: Vec<Handle>,
    joining: Option<Joining>,
    outcome: Option<Result<Communicator>>,
}

/// Begins to duplicate a communicator, as [`crate::communicators::duplicate`]: the handle of the new one, and the request. Errors: `COMM`;
/// what a copy function returns, and then this rank has no new communicator.
pub fn begin(parent: Handle) -> Result<(Handle, Handle)> {
    with(|engine| engine.communicator(parent).map(|_| ()))?;
    let from = Object::communicator(parent);
    let copies = attribute::copies(from);
    let (handle, request) = with(|engine| engine.begin_duplication(parent))?;
    let copies = copies.inspect_err(|_| {
        // The others do not know that a copy function has failed here: this rank's part goes on, for nobody.
        let _ = with(|engine| engine.free_request(request));
    })?;
    attribute::adopt(Object::communicator(handle), copies)?;
    error_handler::inherit(from, Object::communicator(handle));
    Ok((handle, request))
}

impl Engine {
    fn begin_duplication(&mut self, parent: Handle) -> Result<(Handle, Handle)> {
        let it = self.communicator(parent)?.clone();
        let parts = match &it.inter {
            None => [self.begin_part(&it, 0)?].into(),
            Some(inter) => [self.begin_part(&inter.union, 0)?, self.begin_part(&inter.local, 1)?].into(),
        };
        let handle = self.communicators.reserve();
        let request = Request { state: State::Making, ..Request::new(Operation::Nothing) };
        let request = self.requests.insert(request);
        let inter = it.inter.as_ref().map(|inter| inter.is_first);
        let (topology, session) = (it.topology.clone(), it.session);
        self.duplications.push(Duplication { request, handle, parts, inter, topology, session });
        Ok((handle, request))
    }

    /// Announces the duplicate of an intracommunicator, or begins to listen for the announcement.
    fn begin_part(&mut self, parent: &Communicator, tag: i32) -> Result<IntracommunicatorInMaking> {
        let members = parent.members.clone();
        let context = Plane::Duplication.of(parent.context);
        let by_message = Communicator::for_messages(context, parent.rank, members.clone(), members.clone());
        let announcing = parent.rank == CommRank::FIRST;
        let announcement = if announcing { self.announce(&members) } else { 0 };
        let mut part = IntracommunicatorInMaking {
            announcement: Rc::new(Cell::new(announcement)),
            messages: Vec::new(),
            joining: None,
            outcome: None,
            members,
        };
        let begun: Result<()> = self.with_messages(by_message, |engine, communicator| {
            let (count, datatype) = (1, datatype::UINT64);
            if announcing {
                for target in 1..part.members.len() as i32 {
                    let address = part.announcement.as_ptr().cast_const().cast();
                    let arguments = SendArguments { address, count, datatype, target, tag, communicator };
                    // SAFETY: the word stays where it is until the duplication is complete, which is after its messages.
                    part.messages.push(unsafe { engine.isend(&arguments, Mode::Standard)? });
                }
            } else {
                let address = part.announcement.as_ptr().cast();
                let arguments = ReceiveArguments { address, count, datatype, source: 0, tag, communicator };
                // SAFETY: the word stays where it is until the duplication is complete, which is after its
                // messages; nobody reads it before the request is complete.
                part.messages.push(unsafe { engine.irecv(&arguments)? });
            }
            Ok(())
        });
        if let Err(error) = begun {
            // Messages that have begun still use the word.
            core::mem::forget(part.announcement);
            return Err(error);
        }
        Ok(part)
    }

    /// Carries on with the duplications under way.
    pub(crate) fn advance_duplications(&mut self) {
        // Taken out: what is done for one uses the engine.
        let mut all = core::mem::take(&mut self.duplications);
        all.retain_mut(|it| match self.advance_duplication(it) {
            Ok(None) => true,
            Ok(Some(made)) => {
                self.communicators.fill(it.handle, Some(Rc::new(made)));
                self.complete(it.request, Status::EMPTY);
                false
            }
            Err(error) => {
                self.communicators.fill(it.handle, None);
                self.complete(it.request, Status { error: Some(error), ..Status::EMPTY });
                false
            }
        });
        all.append(&mut self.duplications);
        self.duplications = all;
    }

    /// The communicator, when it is made.
    fn advance_duplication(&mut self, it: &mut Duplication) -> Result<Option<Communicator>> {
        // Each part goes to its end, whatever becomes of the other: its messages are under way, and peers wait for it.
        for part in it.parts.iter_mut().filter(|part| part.outcome.is_none()) {
            part.outcome = self.advance_part(part).transpose();
        }
        if it.parts.iter().any(|part| part.outcome.is_none()) {
            return Ok(None);
        }
        let outcomes: Vec<_> = it.parts.drain(..).filter_map(|part| part.outcome).collect();
        let mut made = Vec::new();
        let mut failure = None;
        for outcome in outcomes {
            match outcome {
                Ok(communicator) => made.push(communicator),
                Err(error) => failure = Some(error),
            }
        }
        if let Some(error) = failure {
            for communicator in made {
                self.communicators.retire(Rc::new(communicator));
            }
            return Err(error);
        }
        let mut made = made.into_iter();
        let first = made.next().ok_or(Error::INTERN)?;
        let mut communicator = match (it.inter, made.next()) {
            (Some(is_first), Some(local)) => Communicator::between(Intercommunicator {
                union: Rc::new(first),
                local: Rc::new(local),
                is_first,
            }),
            _ => first,
        };
        communicator.topology = it.topology.take();
        communicator.session = it.session;
        Ok(Some(communicator))
    }

    /// The intracommunicator, when it is made.
    fn advance_part(&mut self, part: &mut IntracommunicatorInMaking) -> Result<Option<Communicator>> {
        while let Some(message) = part.messages.last().copied() {
            if !self.is_complete(message)? {
                return Ok(None);
            }
            part.messages.pop();
            // It is complete, so this does not wait.
            self.wait(message)?;
        }
        let joining = match part.joining.take() {
            Some(joining) => joining,
            None => self.communicators.join(part.announcement.get(), part.members.clone())?,
        };
        if !joining.is_complete() {
            part.joining = Some(joining);
            return Ok(None);
        }
        self.communicators.complete_joining(joining).map(Some)
    }
}
