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
//! A target whose memory cannot be loaded and stored is asked for each operation, and answers when it makes progress (`away`, `answers`,
//! [`crate::asking`]). Puts and updates that fetch nothing are told, and the synchronisation that completes them waits until they have been taken in.
//!
//! Loads and stores of this processor are seen in order by all cores, so what a release store publishes, a barrier's for one, also
//! publishes the puts before it. A flush must do more: a later load of this rank must not overtake its puts, which takes a fence.

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
mod fence;
mod general;
pub mod hints;
mod locate;
mod passive;
mod shared;
mod single;
mod transfer;

pub use crate::buffer::Buffer;
pub use accumulate::Origin;
pub(crate) use attributes::attribute;
pub use attributes::{Attributes, Shape};
pub use create::free;
pub use locate::TargetBuffer;
pub use passive::LockKind;

use crate::abi::PROC_NULL;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::info::Info;
use alloc::boxed::Box;
use alloc::rc::Rc;
use beside::Beside;
use core::cell::Cell;
use epoch::{Epochs, Held};
use lwk_epoch::PairLine;
use lwk_place::{CommRank, Ranks, WorldRank};
use shared::{Control, Memory, Own};

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
pub(crate) struct Window {
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
    /// `None`: only messages get there.
    mapped: Option<Mapped>,
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

impl Engine {
    /// Errors: `WIN`.
    #[inline(always)]
    pub(crate) fn window(&self, window: Handle) -> Result<&Window> {
        self.windows.get(window).ok_or(Error::WIN)
    }

    #[inline(always)]
    fn window_mut(&mut self, window: Handle) -> Result<&mut Window> {
        self.windows.get_mut(window).ok_or(Error::WIN)
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
