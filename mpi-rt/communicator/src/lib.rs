//! Communicators and groups of a rank (MPI-5.0, chapter 7): what they are, which there are, and what new ones are made of: contexts, announcements, and areas of
//! those that are gone. Members' agreement on a new one is words that somebody else brings to them; who waits for members looks here whether they have come.
//!
//! Per rank: all of it. Per communicator: a [`Communicator`], whose collectives have shared memory ([`lwk_mpi_area`]). Nothing is per thread.
#![no_std]

extern crate alloc;

mod announcements;
pub mod communicator;
mod context;
pub mod group;
mod groups;
mod joining;
mod topologies;
mod world;

pub use communicator::{Communicator, Endpoint, Intercommunicator, Plane};
pub use group::Group;
pub use groups::Groups;
pub use joining::Joining;

use alloc::boxed::Box;
use alloc::rc::Rc;
use announcements::Announcements;
use context::Contexts;
use group::Comparison;
use lwk_mpi_area::{Area, Shared};
use lwk_mpi_core::abi;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::{Handle, Kind, Table};
use lwk_place::{CommRank, WorldRank};

/// The communicators of a rank. What every message needs comes first.
#[repr(C)]
pub struct Communicators {
    world: Rc<Communicator>,
    /// Whether the program sees the predefined ones.
    are_predefined: bool,
    alone: Rc<Communicator>,
    all: Table<Rc<Communicator>>,
    /// This rank in the job.
    me: WorldRank,
    /// Ranks of the job.
    ranks: u32,
    contexts: Box<Contexts>,
    announcements: Announcements,
}

impl Communicators {
    /// The predefined ones, which the program does not see yet. Every rank of the job must call it. If they can load and store each other's memory, it waits for the
    /// others. Errors: `NO_MEM`.
    pub fn start(me: WorldRank, ranks: u32, in_reach: bool) -> Result<Communicators> {
        let members: Rc<[WorldRank]> = (0..ranks).map(WorldRank).collect();
        let shared = match in_reach {
            true => Shared::new(CommRank(me.0), &members, world::world_areas(&members)?),
            false => Shared::none(),
        };
        let world = Communicator::new(Communicator::WORLD_CONTEXT, CommRank(me.0), members, shared);
        let shared = Shared::new(CommRank::FIRST, &[me], Box::new([Area::renewed(None)]));
        let alone = Communicator::new(Communicator::SELF_CONTEXT, CommRank::FIRST, [me].into(), shared);
        Ok(Communicators {
            world: Rc::new(world),
            are_predefined: false,
            alone: Rc::new(alone),
            all: Table::of(Kind::Communicator),
            me,
            ranks,
            contexts: Box::new(Contexts::new(me)),
            announcements: Announcements::new(),
        })
    }

    /// Shows the program the predefined ones, or hides them: they are there while the world model is (MPI-5.0, section 11.2).
    pub fn show_predefined(&mut self, are_predefined: bool) {
        self.are_predefined = are_predefined;
    }

    /// All ranks, whether or not the program sees them as a communicator.
    pub fn world(&self) -> &Rc<Communicator> {
        &self.world
    }

    /// The communicator with that handle. Errors: `COMM`.
    #[inline(always)]
    pub fn get(&self, handle: Handle) -> Result<&Rc<Communicator>> {
        match handle.0 {
            abi::COMM_WORLD if self.are_predefined => Ok(&self.world),
            abi::COMM_SELF if self.are_predefined => Ok(&self.alone),
            _ => self.all.get(handle).ok_or(Error::COMM),
        }
    }

    /// The same, for calls that have no meaning on an intercommunicator. Errors: `COMM`.
    #[inline(always)]
    pub fn intracommunicator(&self, handle: Handle) -> Result<&Rc<Communicator>> {
        self.get(handle).and_then(|it| if it.inter.is_none() { Ok(it) } else { Err(Error::COMM) })
    }

    /// Gives a communicator a handle.
    pub fn insert(&mut self, communicator: Rc<Communicator>) -> Handle {
        self.all.insert(communicator)
    }

    /// Takes a communicator from its handle; `None` if it has none, as predefined ones.
    pub fn remove(&mut self, handle: Handle) -> Option<Rc<Communicator>> {
        self.all.remove(handle)
    }

    /// A handle for a communicator to come ([`Communicators::fill`]).
    pub fn reserve(&mut self) -> Handle {
        self.all.reserve()
    }

    /// Gives a reserved handle its communicator; with `None`, gives the handle up.
    pub fn fill(&mut self, handle: Handle, communicator: Option<Rc<Communicator>>) {
        self.all.fill(handle, communicator);
    }

    /// Frees a communicator without a handle. It is left when no request names it any more; its context and its area are used again when all members
    /// have left it. Waits for nobody.
    pub fn retire(&mut self, communicator: Rc<Communicator>) {
        self.contexts.retire(communicator);
    }

    /// This rank in a communicator (in its local group). Errors: `COMM`.
    pub fn rank(&self, communicator: Handle) -> Result<u32> {
        self.get(communicator).map(|it| it.rank.0)
    }

    /// Ranks of a communicator (of its local group). Errors: `COMM`.
    pub fn size(&self, communicator: Handle) -> Result<u32> {
        self.get(communicator).map(|it| it.size())
    }

    /// Compares two communicators: by both groups, if they are intercommunicators. Errors: `COMM`.
    pub fn compare(&self, left: Handle, right: Handle) -> Result<Comparison> {
        let (first, second) = (self.get(left)?, self.get(right)?);
        if left == right {
            return Ok(Comparison::Identical);
        }
        if first.inter.is_some() != second.inter.is_some() {
            return Ok(Comparison::Unequal);
        }
        let compare = |left: &Rc<[WorldRank]>, right: &Rc<[WorldRank]>| match Group::new(left.clone())
            .compare(&Group::new(right.clone()))
        {
            Comparison::Identical => Comparison::Congruent,
            other => other,
        };
        let local = compare(&first.members, &second.members);
        let remote = compare(&first.peers, &second.peers);
        Ok(if local as i32 > remote as i32 { local } else { remote })
    }

    /// Whether it is an intercommunicator. Errors: `COMM`.
    pub fn is_inter(&self, communicator: Handle) -> Result<bool> {
        self.get(communicator).map(|it| it.inter.is_some())
    }

    /// Ranks in the remote group. Errors: `COMM`, also if it is not an intercommunicator.
    pub fn remote_size(&self, communicator: Handle) -> Result<u32> {
        Ok(self.get(communicator)?.remote()?.len() as u32)
    }
}
