//! Collectives by messages, where the members of a communicator cannot load and store each other's memory: the schedules of `lwk-schedule`, carried
//! out over point to point.
//!
//! A round's messages are requests of the engine's own, in a context of their own; the tag is the number of the call, so that operations under way at
//! once do not meet. What calls that do not match come to is a message too long, or a wait: there is no shared memory in which to see it.

use super::fold::{Reduction, Scratch};
use crate::communicator::{Communicator, Plane};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::request::{Keeps, Mode, ReceiveOperation, SendOperation};
use crate::wait::NULL;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::mem::take;
use core::ops::Range;
use lwk_datatype::Datatype;
use lwk_matching::Pattern;
use lwk_mpi_area::Shared;
use lwk_path::Label;
use lwk_path::region::{Region, copy_regions};
use lwk_schedule::{Buffer, BufferPart, SCRATCH, Schedule, Step};
use lwk_triggered::{Entered, Failed, Fold};

/// One collective of this rank.
pub(super) struct Played {
    schedule: Schedule,
    communicator: Rc<Communicator>,
    tag: i32,
    round: usize,
    /// Messages of the round, once it has begun.
    messages: Option<Vec<Handle>>,
    /// What the firsts do together in the round, once this one has entered it.
    entered: Option<Entered>,
    buffers: Buffers,
    pub outcome: Result<()>,
}

/// What the places of a schedule are.
#[derive(Default)]
pub(super) struct Buffers {
    /// By [`Buffer::Send`] and [`Buffer::Receive`].
    pub whole: [Option<Region>; 2],
    pub parts: [Vec<Region>; 2],
    pub reduction: Option<Folding>,
    /// How the nodes' firsts fold together, if they do.
    pub fold: Option<Fold>,
    /// Of an alltoall in place: what the parts held at its beginning.
    pub snapshot: Vec<u8>,
    /// Keeps layouts alive.
    pub kept: Vec<Datatype>,
}

/// Buffers of a reduction.
pub(super) struct Folding {
    pub reduction: Reduction,
    /// Of an item that is more than bytes next to each other; the program may have freed its handle.
    pub datatype: Option<Datatype>,
    pub addresses: [*mut u8; 2],
    pub scratch: [Scratch; SCRATCH],
    /// Items of each rank's part, if it has any.
    pub parts: Vec<Range<usize>>,
}

/// A buffer of the caller, as an index.
fn side(buffer: Buffer) -> Option<usize> {
    match buffer {
        Buffer::Send => Some(0),
        Buffer::Receive => Some(1),
        Buffer::Scratch(_) => None,
    }
}

impl Buffers {
    fn region(&mut self, place: BufferPart) -> Result<Region> {
        if let Some(side) = side(place.buffer) {
            let region = match place.part {
                None => self.whole[side],
                Some(rank) => self.parts[side].get(rank as usize).copied(),
            };
            return region.ok_or(Error::INTERN);
        }
        let folding = self.reduction.as_mut().ok_or(Error::INTERN)?;
        let items = match place.part {
            None => 0..folding.reduction.count,
            Some(rank) => folding.parts.get(rank as usize).cloned().ok_or(Error::INTERN)?,
        };
        folding.region(place.buffer, items)
    }
}

impl Folding {
    /// Some items of a buffer.
    fn region(&mut self, buffer: Buffer, items: Range<usize>) -> Result<Region> {
        let address = self.address(buffer);
        let of = &self.reduction.items;
        let first = of.at(address, items.start);
        match &self.datatype {
            Some(datatype) => Ok(Region::items(first, items.len() as u64, datatype.layout()?)?),
            None => Ok(Region::block(first, items.len() * of.extent as usize)),
        }
    }

    /// Item 0 of a buffer.
    pub fn address(&mut self, buffer: Buffer) -> *mut u8 {
        match buffer {
            Buffer::Send => self.addresses[0],
            Buffer::Receive => self.addresses[1],
            Buffer::Scratch(number) => self.scratch[number as usize % SCRATCH].address(),
        }
    }
}

impl Played {
    pub fn new(communicator: &Rc<Communicator>, schedule: Schedule, buffers: Buffers) -> Played {
        let number = Shared::next(&communicator.shared.smalls);
        Played {
            schedule,
            communicator: communicator.clone(),
            tag: (number & i32::MAX as u64) as i32,
            round: 0,
            messages: None,
            entered: None,
            buffers,
            outcome: Ok(()),
        }
    }

    /// Begins, for the first time or again.
    ///
    /// # Safety
    /// The call's buffers must be readable and writable, as [`Engine::collective`] says, until it is
    /// complete.
    pub unsafe fn begin(&mut self) {
        (self.round, self.outcome) = (0, Ok(()));
        if self.buffers.snapshot.is_empty() {
            return;
        }
        let [sends, receives] = &self.buffers.parts;
        for (snapshot, part) in sends.iter().zip(receives) {
            // SAFETY: the snapshot has room for all parts, one after another; the parts are readable (this
            // function's contract).
            let copied = unsafe { copy_regions(part, snapshot) };
            self.outcome = self.outcome.and(copied.map(drop).map_err(Error::from));
        }
    }

    /// Does what can be done now; true when it is complete.
    ///
    /// # Safety
    /// As for [`Played::begin`], which has been called.
    pub unsafe fn advance(&mut self, engine: &mut Engine) -> bool {
        while self.round < self.schedule.0.len() {
            let steps = take(&mut self.schedule.0[self.round]);
            // SAFETY: the call's buffers are readable and writable until it is complete (this function's
            // contract).
            let done = unsafe { self.play(engine, &steps) };
            self.schedule.0[self.round] = steps;
            if !done {
                return false;
            }
            self.round += 1;
        }
        true
    }

    /// One round; true when it is over. An error is the operation's, which goes on: other ranks wait for what this one sends.
    ///
    /// # Safety
    /// As for [`Played::advance`].
    unsafe fn play(&mut self, engine: &mut Engine, steps: &[Step]) -> bool {
        if let [Step::Together { from, into }] = *steps {
            // SAFETY: this function's contract.
            return unsafe { self.play_together(from, into) };
        }
        let messages = match self.messages.take() {
            Some(messages) => messages,
            // SAFETY: the call's buffers are readable and writable until it is complete (this function's contract).
            None => steps.iter().filter_map(|step| unsafe { self.message(engine, step) }).collect(),
        };
        if messages.iter().any(|message| engine.is_complete(*message) == Ok(false)) {
            self.messages = Some(messages);
            return false;
        }
        for message in messages {
            // It is complete, so this does not wait.
            self.outcome = self.outcome.and(engine.wait(message).map(drop));
        }
        for step in steps {
            // SAFETY: the call's buffers are readable and writable until it is complete (this function's
            // contract).
            let done = unsafe { self.step(engine, step) };
            self.outcome = self.outcome.and(done);
        }
        true
    }

    /// A round of the nodes' firsts together; true when it is over. After an error there is nothing to wait for.
    ///
    /// # Safety
    /// As for [`Played::advance`].
    unsafe fn play_together(&mut self, from: Option<BufferPart>, into: Option<BufferPart>) -> bool {
        let (of, buffers) = (&self.communicator, &mut self.buffers);
        let entered = match self.entered {
            Some(entered) => Ok(entered),
            // SAFETY: the call's buffers are readable until it is complete (this function's contract).
            None => unsafe { enter_together(of, buffers, from) },
        };
        // SAFETY: they are writable as well.
        let end = entered.and_then(|entered| unsafe {
            self.entered = Some(entered);
            end_together(of, buffers, &entered, into)
        });
        let is_over = end.unwrap_or(true);
        if is_over {
            self.entered = None;
        }
        self.outcome = self.outcome.and(end.map(drop));
        is_over
    }

    /// Begins a message of a round.
    ///
    /// # Safety
    /// As for [`Played::advance`].
    unsafe fn message(&mut self, engine: &mut Engine, step: &Step) -> Option<Handle> {
        let (peer, place) = match *step {
            Step::Send { to, from } => (to, from),
            Step::Receive { from, into } => (from, into),
            Step::Copy { .. } | Step::Fold { .. } | Step::Together { .. } => return None,
        };
        let nothing = Region::block(core::ptr::null(), 0);
        let region = place.map_or(Ok(nothing), |place| self.buffers.region(place));
        // A peer waits for the message all the same.
        let region = region.unwrap_or_else(|error| {
            self.outcome = self.outcome.and(Err(error));
            nothing
        });
        let context = Plane::Collective.of(self.communicator.context);
        let peer = *self.communicator.members.get(peer as usize)?;
        if matches!(step, Step::Send { .. }) {
            let (label, source) = (Label::new(context, self.tag), region);
            let send = SendOperation {
                peer,
                label,
                source,
                mode: Mode::Standard,
                communicator: NULL,
                buffered: None,
            };
            // SAFETY: the call's buffers are readable until it is complete (this function's contract), which is after its messages.
            return Some(unsafe { engine.send_checked(send, Keeps::Nothing) });
        }
        let pattern = Pattern { context, source: Some(peer), tag: Some(self.tag) };
        let receive = ReceiveOperation { pattern, target: region, communicator: self.communicator.clone() };
        // SAFETY: the call's buffers are writable until it is complete (this function's contract), which is after its messages.
        Some(unsafe { engine.receive_checked(receive, Keeps::Nothing) })
    }

    /// A step of this rank's own.
    ///
    /// # Safety
    /// As for [`Played::advance`].
    unsafe fn step(&mut self, engine: &mut Engine, step: &Step) -> Result<()> {
        match *step {
            Step::Copy { from, into } => {
                let (from, into) = (self.buffers.region(from)?, self.buffers.region(into)?);
                if from.bytes() > into.bytes() {
                    return Err(Error::TRUNCATE);
                }
                // In place there is nothing to do.
                if from.words() != into.words() {
                    // SAFETY: this function's contract: the call's buffers do not overlap, and scratch is this operation's own.
                    unsafe { copy_regions(&from, &into)? };
                }
            }
            Step::Fold { left, into } => {
                let folding = self.buffers.reduction.as_mut().ok_or(Error::INTERN)?;
                let (left, into) = (folding.address(left.buffer), folding.address(into.buffer));
                let Reduction { count, operation, .. } = &folding.reduction;
                // SAFETY: both hold the reduction's items, and are distinct.
                unsafe { operation.apply(engine, left, into, *count) };
            }
            Step::Send { .. } | Step::Receive { .. } | Step::Together { .. } => {}
        }
        Ok(())
    }
}

impl Engine {
    /// Tells all ranks some words of each, by messages; the lists by rank. All ranks must call it.
    pub fn tell_all(&mut self, communicator: &Communicator, words: &[u64]) -> Result<Vec<Vec<u64>>> {
        let (me, members) = (communicator.rank.index(), communicator.members.clone());
        let tag = (Shared::next(&communicator.shared.smalls) & i32::MAX as u64) as i32;
        let context = Plane::Collective.of(communicator.context);
        let others: Vec<i32> =
            (0..members.len()).filter(|rank| *rank != me).map(|rank| rank as i32).collect();
        let by_message = Communicator::for_messages(context, communicator.rank, members.clone(), members);
        self.with_messages(by_message, |engine, handle| {
            for rank in &others {
                engine.send_words(handle, *rank, tag, &[words.len() as u64])?;
                engine.send_words(handle, *rank, tag, words)?;
            }
            let mut told = Vec::new();
            for rank in 0..=others.len() {
                if rank == me {
                    told.push(words.to_vec());
                    continue;
                }
                let length = engine.receive_words(handle, rank as i32, tag, 1)?;
                let length = length.first().copied().unwrap_or(0) as usize;
                told.push(engine.receive_words(handle, rank as i32, tag, length)?);
            }
            Ok(told)
        })
    }
}

fn failed(Failed: Failed) -> Error {
    Error::OTHER
}

impl Buffers {
    /// Item 0 of a buffer of the reduction.
    fn first_item(&mut self, part: BufferPart) -> Result<*mut u8> {
        Ok(self.reduction.as_mut().ok_or(Error::INTERN)?.address(part.buffer))
    }
}

/// A first's part of a collective, from when it begins. Errors: `OTHER`: a kernel has refused an operation.
///
/// # Safety
/// The call's buffers must be readable, as [`Engine::collective`] says.
unsafe fn enter_together(
    communicator: &Communicator,
    buffers: &mut Buffers,
    from: Option<BufferPart>,
) -> Result<Entered> {
    let firsts = communicator.firsts.get().and_then(Option::as_ref).ok_or(Error::INTERN)?;
    match (from, buffers.fold) {
        (Some(part), Some(fold)) => {
            let part = buffers.first_item(part)?;
            // SAFETY: the buffer is readable (this function's contract) and has the reduction's items, `fold.bytes` next to each other (`Engine::fold_of`).
            unsafe { firsts.enter_reduction(part, fold) }.map_err(failed)
        }
        _ => firsts.enter_barrier().map_err(failed),
    }
}

/// Whether it is over; then the result is there. Errors: `OTHER`: a first is gone.
///
/// # Safety
/// The call's buffers must be writable, as [`Engine::collective`] says.
unsafe fn end_together(
    communicator: &Communicator,
    buffers: &mut Buffers,
    entered: &Entered,
    into: Option<BufferPart>,
) -> Result<bool> {
    let firsts = communicator.firsts.get().and_then(Option::as_ref).ok_or(Error::INTERN)?;
    if !firsts.is_over(entered).map_err(failed)? {
        return Ok(false);
    }
    if let Some(part) = into {
        let into = buffers.first_item(part)?;
        // SAFETY: the buffer is writable (this function's contract) and has the reduction's items next to each other (`Engine::fold_of`).
        unsafe { firsts.take(entered, into) };
    }
    Ok(true)
}
