//! Making windows (MPI-5.0, section 12.2), and freeing them.
//!
//! A rank whose arguments are wrong takes part all the same and says so, so that all ranks get an error and none waits for it.

use crate::answers::Answers;
use crate::attributes::Attributes;
use crate::beside::Beside;
use crate::epoch::{Epochs, Held};
use crate::far::Far;
use crate::shared::{Control, Memory, Own, OwnMemory, control_of, lines_of};
use crate::{Flavor, Mapped, Target, Window, hints};
use crate::{Windows, with};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::Cell;
use lwk_mpi_asking::{answer_for, stop_answering};
use lwk_mpi_core::attribute;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_core::info::Info;
use lwk_mpi_core::object::Object;
use lwk_mpi_rt::collective::with_room;
use lwk_mpi_rt::communicator::Communicator;
use lwk_path::{Reach, seen_from_here};
use lwk_place::peer_of;
use lwk_user::job;

/// A window in the making, all of whose ranks have told where their control words are.
pub(super) struct Draft {
    pub parent: Rc<Communicator>,
    pub own: Own,
    /// What each rank has told of its part.
    pub parts: Vec<OwnMemory>,
    /// `None`: out of reach.
    controls: Vec<Option<&'static Control>>,
    /// Of those out of reach, if Portals gets to them. Empty where it does not get to all: then many elements may be updated at once.
    far: Vec<Option<Far>>,
    /// Room for as many as there are ranks.
    targets: Vec<Target>,
    hints: Info,
}

/// Frees a window, after the attributes that programs have attached to it; all its ranks must call it. Errors: `WIN`; `RMA_SYNC` while this
/// rank is in an epoch, or what a callback of an attribute answers, and then the window stays.
pub fn free(window: Handle) -> Result<()> {
    with(|windows| if windows.window(window)?.epochs.is_idle() { Ok(()) } else { Err(Error::RMA_SYNC) })?;
    attribute::delete_all(Object::window(window))?;
    lwk_mpi_core::forget(Object::window(window));
    with(|windows| windows.win_free(window))
}

impl Windows {
    /// A window of memory that the caller has: `size` bytes at `base`, with displacements in units of `unit` bytes. All ranks of
    /// the communicator must call it. Errors: `COMM`, `SIZE`, `DISP`, `NO_MEM`; `ARG` if there is no memory at `base`; `RMA_SHARED` if it is not all
    /// in a rank's segment, and so out of the peers' reach. If any rank has one, all have.
    ///
    /// # Safety
    /// The memory must stay until the window is freed.
    pub unsafe fn win_create(
        &mut self,
        base: *mut u8,
        size: i64,
        unit: i64,
        communicator: Handle,
    ) -> Result<Handle> {
        let part = check(size, unit).and_then(|(size, unit)| {
            let base = base.expose_provenance();
            match size {
                0 => {}
                _ if base == 0 => return Err(Error::ARG),
                _ if !job().segments_contain(base as u64, size) => return Err(Error::RMA_SHARED),
                _ => {}
            }
            Ok(OwnMemory { base, size, unit })
        });
        let draft = self.draft(communicator, part)?;
        self.finish(draft, Flavor::Create, None)
    }

    /// Errors: as for [`free`].
    fn win_free(&mut self, window: Handle) -> Result<()> {
        if !self.window(window)?.epochs.is_idle() {
            return Err(Error::RMA_SYNC);
        }
        // What a target has not taken in does not keep the window.
        let heard = self.complete_far().and(self.hear_all(window));
        let it = self.known().windows.remove(window).ok_or(Error::WIN)?;
        // After it no rank touches another's control words or memory or asks for them, and what is left of the window goes.
        self.barrier(&it.communicator)?;
        if it.communicator.is_out_of_reach() {
            stop_answering(self, it.communicator.context);
        }
        self.communicators.retire(it.communicator.clone());
        heard
    }

    /// Tells all ranks of the communicator where this rank's control words are, or that its arguments are wrong.
    pub(super) fn draft(&mut self, communicator: Handle, part: Result<OwnMemory>) -> Result<Draft> {
        let parent = self.communicators.intracommunicator(communicator)?.clone();
        // Before the exchange: after it others use this rank's end.
        let opened = self.open_far(&parent);
        // All that may find no memory comes before the exchange: after it the peers use this rank's control words.
        let ranks = parent.size();
        let made = part.and_then(|part| {
            Ok((
                Own::new(ranks, part)?,
                with_room(ranks)?,
                with_room(ranks)?,
                with_room(ranks)?,
                hints::defaults()?,
                part,
            ))
        });
        let word = made.as_ref().map(|(own, ..)| own.address()).map_err(|error| *error);
        let words = self.exchange_outcomes(&parent, word)?;
        // Without an error of any rank there is none of this one.
        let (own, mut controls, mut parts, targets, hints, part) = made?;
        // Those who cannot look there are told.
        let told = if parent.is_out_of_reach() {
            let mut words = [part.size, part.unit, part.base as u64].to_vec();
            words.extend(opened.words());
            self.tell_all(&parent, &words)?
        } else {
            Vec::new()
        };
        let far = self.far_targets(&parent.members, &told, &words);
        for (rank, (member, word)) in parent.members.iter().zip(words).enumerate() {
            let peer = peer_of(*member).filter(|_| self.reach(*member) == Reach::Mapped);
            // SAFETY: the peer has just told its address; the reference becomes part of the window.
            let control = peer.map(|peer| unsafe { control_of(peer, word) });
            parts.push(match (control, told.get(rank).map(Vec::as_slice)) {
                (Some(control), _) => control.part(),
                (None, Some([size, unit, ..])) => OwnMemory { base: 0, size: *size, unit: *unit },
                (None, _) => return Err(Error::INTERN),
            });
            controls.push(control);
        }
        Ok(Draft { parent, own, parts, controls, far, targets, hints })
    }

    /// Makes the window; all ranks come here, or none.
    pub(super) fn finish(&mut self, draft: Draft, flavor: Flavor, memory: Option<Memory>) -> Result<Handle> {
        let Draft { parent, own, parts, controls, mut far, mut targets, hints } = draft;
        // Portals knows of no lock, so where it updates elements all others do so by instructions.
        let may_bulk = far.is_empty();
        let (rank, ranks) = (parent.rank, parts.len());
        let single_targets: Rc<Cell<u32>> = Rc::default();
        for ((member, control), part) in parent.members.iter().zip(controls).zip(&parts) {
            let reached = control.zip(peer_of(*member));
            let base = match reached {
                _ if targets.len() == rank.index() => part.base,
                Some((_, peer)) => seen_from_here::<u8>(peer, part.base).expose_provenance(),
                None => 0,
            };
            let mapped = match reached {
                Some((control, peer)) => {
                    // SAFETY: the control words are the peer's, who has a line for each rank.
                    let lines = unsafe { lines_of(peer, control, ranks) };
                    let line = lines.get(rank.index()).ok_or(Error::INTERN)?;
                    let beside = Beside::new(control, lines, Some(rank), single_targets.clone(), may_bulk);
                    Some(Mapped { control, line, beside: Rc::new(beside) })
                }
                None => None,
            };
            let far = far.get_mut(targets.len()).and_then(Option::take).filter(|_| mapped.is_none());
            targets.push(Target {
                base,
                size: if reached.is_some() { part.size } else { 0 },
                told: part.size,
                unit: part.unit,
                open: false,
                alone: false,
                held: Held::Not,
                accesses: 0,
                exposures: 0,
                unheard: 0,
                mapped,
                far,
                world_rank: *member,
            });
        }
        let mine = parts.get(rank.index()).ok_or(Error::INTERN)?;
        let attributes = Box::new(Attributes::new(flavor, mine));
        let communicator = self.duplicate_hidden(&parent)?;
        if communicator.is_out_of_reach() {
            let answers = Answers::new(&own, mine, flavor, communicator.members.clone(), may_bulk);
            answer_for(self, communicator.context, Box::new(answers));
        }
        Ok(self.known().windows.insert(Window {
            communicator: Rc::new(communicator),
            targets: targets.into_boxed_slice(),
            epochs: Epochs::new(),
            flavor,
            own,
            _memory: memory,
            attributes,
            hints,
            single_targets,
        }))
    }
}

/// Size and unit of displacement in bytes. Errors: `SIZE` if negative, `DISP` if there is no such unit.
pub(super) fn check(size: i64, unit: i64) -> Result<(u64, u64)> {
    let size = u64::try_from(size).map_err(|_| Error::SIZE)?;
    let unit = u64::try_from(unit).ok().filter(|unit| *unit > 0).ok_or(Error::DISP)?;
    Ok((size, unit))
}
