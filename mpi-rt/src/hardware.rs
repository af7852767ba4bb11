//! Splitting communicators by what their ranks share: memory, packages, caches, cores (MPI-5.0, section 7.4.2, `MPI_COMM_SPLIT_TYPE`).

use crate::abi::{UNDEFINED, topology};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::info::Info;
use lwk_place::{WorldRank, node_of, peer_of};
use lwk_user::abi::job_page::RankPlace;
use lwk_user::job;

/// A kind of shared hardware.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    Node,
    Package,
    /// Cores with the same memory near them.
    Memory,
    LastCache,
    SecondCache,
    Core,
    Thread,
}

/// From the whole to its parts.
pub const LEVELS: [Level; 7] = [
    Level::Node,
    Level::Package,
    Level::Memory,
    Level::LastCache,
    Level::SecondCache,
    Level::Core,
    Level::Thread,
];

/// The key of the info object that names a level.
pub const RESOURCE_KEY: &[u8] = b"mpi_hw_resource_type";
/// The key that names a process set.
pub const PSET_KEY: &[u8] = b"mpi_pset_name";

impl Level {
    /// Its name in info objects.
    pub fn name(self) -> &'static str {
        match self {
            Level::Node => "margay://node",
            Level::Package => "margay://package",
            Level::Memory => "margay://memory",
            Level::LastCache => "margay://l3",
            Level::SecondCache => "margay://l2",
            Level::Core => "margay://core",
            Level::Thread => "margay://thread",
        }
    }

    /// The level with that name; `mpi_shared_memory` is the standard's for the node.
    pub fn from_name(name: &[u8]) -> Option<Level> {
        if name == b"mpi_shared_memory" {
            return Some(Level::Node);
        }
        LEVELS.into_iter().find(|level| level.name().as_bytes() == name)
    }

    /// Which of them a rank is on; equal numbers mean the same one.
    fn of(self, place: &RankPlace) -> i32 {
        (match self {
            Level::Node => 0,
            Level::Package => place.package,
            Level::Memory => place.memory_node,
            Level::LastCache => place.l3,
            Level::SecondCache => place.l2,
            Level::Core => place.physical_core,
            Level::Thread => place.core,
        }) as i32
    }
}

/// Bits of the numbers in a [`RankPlace`].
const PLACE_BITS: u32 = u16::BITS;

/// Where a rank runs, as a number that no other node has, too.
fn color(level: Level, world_rank: WorldRank) -> Result<i32> {
    let node = node_of(world_rank).0 as i32;
    if level == Level::Node {
        return Ok(node);
    }
    let peer = peer_of(world_rank).ok_or(Error::INTERN)?;
    let place = job().place(peer.node_rank()).ok_or(Error::INTERN)?;
    Ok(node << PLACE_BITS | level.of(place))
}

impl Engine {
    /// Divides a communicator by what ranks share, and orders each part by key, then rank. `kind` is one of the binary interface's
    /// `MPI_COMM_TYPE_…`; `hints` names the resource of a guided split; an unguided one says what it has divided by. `None` for an undefined
    /// kind and where there is nothing to divide by. All ranks must call it. Errors: `COMM`, also for an intercommunicator; `ARG` for an unknown
    /// kind; `NO_MEM`.
    pub fn split_type(
        &mut self,
        parent: Handle,
        kind: i32,
        key: i32,
        hints: &Info,
    ) -> Result<(Option<Handle>, Option<Level>)> {
        let it = self.communicators.intracommunicator(parent)?.clone();
        let named = hints.get(RESOURCE_KEY)?.and_then(Level::from_name);
        let (color, level) = match kind {
            UNDEFINED => (UNDEFINED, None),
            topology::SHARED => (color(Level::Node, self.me)?, None),
            topology::HW_GUIDED => (self.color_of(named)?, None),
            topology::RESOURCE_GUIDED => match hints.get(PSET_KEY)? {
                Some(crate::session::WORLD_SET) => (0, None),
                Some(crate::session::SELF_SET) => (self.me.0 as i32, None),
                Some(_) => (UNDEFINED, None),
                None => (self.color_of(named)?, None),
            },
            topology::HW_UNGUIDED => {
                // The first level at which this communicator falls apart.
                let divides = |level: &Level| {
                    it.members.iter().any(|member| color(*level, *member) != color(*level, it.members[0]))
                };
                let level = LEVELS.into_iter().find(divides);
                (self.color_of(level)?, level)
            }
            _ => return Err(Error::ARG),
        };
        Ok((self.split(parent, color, key)?, level))
    }

    fn color_of(&self, level: Option<Level>) -> Result<i32> {
        level.map_or(Ok(UNDEFINED), |level| color(level, self.me))
    }
}

/// What hardware there is, and whether this rank is bound to one of it (MPI-5.0, section 9.1.2): it is, to its core.
pub fn resources() -> Result<Info> {
    let mut info = Info::new();
    for level in LEVELS {
        let shared = job().places().iter().any(|place| level.of(place) != level.of(job().my_place()));
        // Bound to one of several, or to the only one there is as far as this job's ranks show.
        let bound = shared || level >= Level::Core;
        info.set(level.name().as_bytes(), if bound { b"true" } else { b"false" })?;
    }
    Ok(info)
}
