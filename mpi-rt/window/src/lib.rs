//! Windows: one-sided communication (MPI-5.0, chapter 12), by loads, stores and atomics in the peers' memory.
//!
//! A window is a piece of memory of each of its ranks. An origin moves data to and from a target's memory itself: a put of a word is a
//! check and a store, an accumulate one locked instruction for each element, and no target ever has to help. All
//! operations are complete at the origin when the call returns, so requests of one-sided operations are complete when they are
//! made, and synchronisation is what is left: barriers for fences, a word for each pair of ranks for post and start, a lock
//! of each target for passive access.
//!
//! What ranks share of a window is in `shared`; what this rank may do at the moment is local state (`epoch`), so an operation outside an
//! epoch is an error class and costs one load to find out. The memory model is the unified one (section 12.4).
//!
//! On other nodes puts, gets, locks and most updates are Portals' operations, which the target's kernel does (`far`). A target that neither reaches is asked for
//! each operation, and answers when it makes progress (`away`, `answers`, [`lwk_mpi_asking`]). Puts and updates that fetch nothing are told, and the synchronisation that completes them waits until they have been taken in.
//!
//! Loads and stores of this processor are seen in order by all cores, so what a release store publishes, a barrier's for one, also
//! publishes the puts before it. A flush must do more: a later load of this rank must not overtake its puts, which takes a fence.
//!
//! Per rank: the table of windows, and counts of what targets have been told. Per window: a communicator, for its barriers and for what its ranks ask each
//! other, and what this rank may do to each target. Nothing is per thread.
#![no_std]

extern crate alloc;

mod accumulate;
mod allocate;
mod answers;
mod attributes;
mod away;
mod beside;
mod bulk;
mod create;
mod dynamic;
mod element;
mod epoch;
mod far;
mod far_lock;
mod far_update;
mod fence;
mod general;
pub mod hints;
mod locate;
mod passive;
mod shared;
mod single;
mod transfer;

pub use accumulate::Origin;
pub use attributes::{Attributes, Shape};
pub use create::free;
pub use locate::TargetBuffer;
pub use lwk_mpi_rt::buffer::Buffer;
pub use passive::LockKind;

use alloc::boxed::Box;
use alloc::rc::Rc;
use beside::Beside;
use core::cell::Cell;
use epoch::{Epochs, Held};
use far::Far;
use lwk_epoch::PairLine;
use lwk_mpi_core::abi::PROC_NULL;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::{Handle, Kind, Table};
use lwk_mpi_core::info::Info;
use lwk_mpi_core::object::{self, Object, Owner};
use lwk_mpi_rt::communicator::Communicator;
use lwk_mpi_rt::subsystem;
use lwk_mpi_rt::subsystem::State;
use lwk_place::{CommRank, Ranks, WorldRank};
use lwk_remote::Remote;
use shared::{Control, Memory, Own};

subsystem! {
    /// The engine, with one-sided communication.
    Windows
}

/// What this rank knows of windows.
struct Known {
    /// Flushes, which now and then make progress.
    flushes: u32,
    /// Targets of windows that have been told what they are not known to have taken in.
    unheard: u32,
    windows: Table<Window>,
    /// This rank's end for windows of several nodes; open from the first of them on.
    remote: Option<Rc<Remote>>,
    /// It has begun what may not have ended.
    is_far_begun: bool,
}

static KNOWN: State<Known> = State::new(Known {
    flushes: 0,
    unheard: 0,
    windows: Table::of(Kind::Window),
    remote: None,
    is_far_begun: false,
});

/// Makes windows known to what lies below. A program that uses windows calls this before the runtime starts.
pub fn start() {
    object::own(Kind::Window, Owner { has, attribute: attributes::attribute });
}

fn has(object: Object) -> Result<bool> {
    with(|windows| Ok(windows.window(object.handle).is_ok()))
}

/// How a window came by its memory (`MPI_WIN_CREATE_FLAVOR`); the numbers are the binary interface's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Flavor {
    Create = 311,
    Allocate = 312,
    Dynamic = 313,
    Shared = 314,
}

/// One window.
struct Window {
    /// A communicator of its own, for its barriers.
    communicator: Rc<Communicator>,
    /// By rank.
    targets: Box<[Target]>,
    epochs: Epochs,
    flavor: Flavor,
    own: Own,
    /// What the runtime has allocated for it in this rank.
    _memory: Option<Memory>,
    attributes: Box<Attributes>,
    hints: Info,
    /// Targets whose elements this rank updates singly.
    single_targets: Rc<Cell<u32>>,
}

/// One rank's part of a window, as this rank sees it.
struct Target {
    /// Where it starts, in this rank's addresses. Of a dynamic window: where the target's address 0 is. Out of reach: 0.
    base: usize,
    /// Bytes that loads and stores reach. Of a dynamic window and out of reach 0, so that no access passes for one that needs no closer look.
    size: u64,
    /// Bytes, as its rank has told.
    told: u64,
    /// Bytes of a unit of displacement.
    unit: u64,
    /// This rank may access it, besides what fences allow.
    open: bool,
    /// Nobody else may access it now, so that nothing has to be atomic.
    alone: bool,
    held: Held,
    /// Epochs in which this rank has accessed it after start, and been exposed to it by post.
    accesses: u64,
    exposures: u64,
    /// Bytes that this rank has told it and does not know to be taken in.
    unheard: usize,
    /// `None`: loads and stores do not get there.
    mapped: Option<Mapped>,
    /// How Portals gets there, where loads and stores do not.
    far: Option<Far>,
    world_rank: WorldRank,
}

/// Words in the memory of a target that can be loaded and stored.
struct Mapped {
    control: &'static Control,
    /// The line that this rank writes.
    line: &'static PairLine,
    /// How this rank updates its elements.
    beside: Rc<Beside>,
}

impl Windows {
    #[inline(always)]
    fn known(&mut self) -> &mut Known {
        KNOWN.of_mut(self)
    }

    /// Errors: `WIN`.
    #[inline(always)]
    fn window(&self, window: Handle) -> Result<&Window> {
        KNOWN.of(self).windows.get(window).ok_or(Error::WIN)
    }

    #[inline(always)]
    fn window_mut(&mut self, window: Handle) -> Result<&mut Window> {
        self.known().windows.get_mut(window).ok_or(Error::WIN)
    }
}

impl Window {
    /// Ends updating singly where another rank wants the lock of elements.
    #[inline(always)]
    fn hear_of_bulk(&self) {
        if self.single_targets.get() > 0 {
            self.targets.iter().filter_map(|it| it.mapped.as_ref()).for_each(|mapped| mapped.beside.hear());
        }
    }

    fn ranks(&self) -> Ranks {
        Ranks::all(self.communicator.size())
    }

    /// A target by the number that a call gives it; `None` for the null process. Errors: `RANK`.
    fn target_rank(&self, number: i32) -> Result<Option<CommRank>> {
        match CommRank::of_number(number) {
            Some(rank) if rank.index() < self.targets.len() => Ok(Some(rank)),
            _ if number == PROC_NULL => Ok(None),
            _ => Err(Error::RANK),
        }
    }

    /// The rank in the window of each world rank. Errors: `GROUP` if one is none of its ranks.
    fn rank_of(&self, world_rank: WorldRank) -> Result<CommRank> {
        let rank = CommRank::of_number(self.communicator.rank_of(world_rank)).ok_or(Error::GROUP)?;
        if self.targets.get(rank.index()).is_some_and(|target| target.world_rank == world_rank) {
            Ok(rank)
        } else {
            Err(Error::GROUP)
        }
    }
}
