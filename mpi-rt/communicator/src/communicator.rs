//! Communicators: a context, members, and the shared memory of their collectives.
//!
//! An intracommunicator's messages go between its members; an intercommunicator's (MPI-5.0, section 7.6) between two groups: members are
//! this rank's own group, peers the other one. Beside them an intercommunicator has two hidden intracommunicators, of its local group
//! and of both groups, on which its collectives and everything that is made from it are built.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::OnceCell;
use lwk_mpi_area::Shared;
use lwk_mpi_core::abi::{ANY_SOURCE, PROC_NULL};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_topology::{Neighbours, Topology};
use lwk_place::{CommRank, WorldRank};
use lwk_triggered::Together;

/// A communicator of ranks of this node.
pub struct Communicator {
    /// What separates its messages from those of others, in [`Plane::Program`].
    pub context: u32,
    /// This rank in it (in its local group).
    pub rank: CommRank,
    /// Node rank of each member (of its local group).
    pub members: Rc<[WorldRank]>,
    /// Node rank of those its messages go to: the members, or the remote group.
    pub peers: Rc<[WorldRank]>,
    /// Rank among the peers of each world rank, or [`PROC_NULL`]; `None` if the numbers are the same.
    ranks: Option<Box<[i32]>>,
    /// The members' areas; of an intercommunicator, none: see [`Intercommunicator`].
    pub shared: Shared,
    pub inter: Option<Intercommunicator>,
    pub topology: Option<Rc<Topology>>,
    /// This rank's in the topology, from when they are first asked for.
    neighbours: OnceCell<Rc<Neighbours>>,
    /// This rank's end of what the firsts of its nodes do together by triggered operations, from when they first do; `None` if this rank is no first, or some first has none.
    pub firsts: OnceCell<Option<Together>>,
    /// The session that it comes from, if not from the world model: buffered messages may go through that one's buffer.
    pub session: Option<Handle>,
}

/// What an intercommunicator has beside.
pub struct Intercommunicator {
    /// The local group.
    pub local: Rc<Communicator>,
    /// Both groups, the first one's ranks before the second's.
    pub union: Rc<Communicator>,
    /// Whether the local group is the first.
    pub is_first: bool,
}

/// Kinds of messages of one communicator, which must not match each other. The plane stands in a context's highest bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Plane {
    /// Messages of the program.
    Program = 0,
    /// Of non-blocking and persistent collectives.
    Collective = 1,
    /// Of the making of communicators by the ranks of a group.
    Group = 2,
    /// Between the leaders of an intercommunicator to be.
    Leaders = 3,
    /// Of communicators made without a parent.
    NoParent = 4,
    /// Of non-blocking duplication.
    Duplication = 5,
    /// Between the groups of an intercommunicator.
    Inter = 6,
    /// Rounds of partitioned communication that go by messages.
    Rounds = 7,
    /// Where the two sides of partitioned communication meet; a bit of its own, beside any other plane.
    Partitioned = 8,
}

/// Bits of a context below the plane: the rank that has given it out, and its number there.
const PLANE_SHIFT: u32 = 28;

impl Plane {
    /// A communicator's context for these messages.
    #[inline]
    pub fn of(self, context: u32) -> u32 {
        context | (self as u32) << PLANE_SHIFT
    }
}

/// Where a message goes to, or may come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// Node rank.
    Peer(WorldRank),
    Any,
    Nobody,
}

impl Communicator {
    /// Contexts of `MPI_COMM_WORLD` and `MPI_COMM_SELF`, which nobody has to agree on.
    pub const WORLD_CONTEXT: u32 = 0;
    pub const SELF_CONTEXT: u32 = 1;

    /// An intracommunicator: a context that all members have agreed on, and their areas.
    pub fn new(context: u32, rank: CommRank, members: Rc<[WorldRank]>, shared: Shared) -> Communicator {
        let peers = members.clone();
        Communicator { shared, ..Communicator::for_messages(context, rank, members, peers) }
    }

    /// An intercommunicator. `inter` has the groups.
    pub fn between(inter: Intercommunicator) -> Communicator {
        let (local, union) = (&inter.local, &inter.union);
        let first =
            if inter.is_first { local.members.len() } else { union.members.len() - local.members.len() };
        let peers: Rc<[WorldRank]> =
            if inter.is_first { union.members[first..].into() } else { union.members[..first].into() };
        Communicator {
            context: Plane::Inter.of(union.context),
            rank: local.rank,
            members: local.members.clone(),
            ranks: ranks_of(&peers),
            peers,
            shared: Shared::none(),
            inter: Some(inter),
            topology: None,
            neighbours: OnceCell::new(),
            firsts: OnceCell::new(),
            session: None,
        }
    }

    /// What stands for a communicator while ranks exchange messages to make one: `of` with a context of its own, or ranks that have none in
    /// common yet. It has no collectives.
    pub fn for_messages(
        context: u32,
        rank: CommRank,
        members: Rc<[WorldRank]>,
        peers: Rc<[WorldRank]>,
    ) -> Communicator {
        let ranks = ranks_of(&peers);
        Communicator {
            context,
            rank,
            members,
            peers,
            ranks,
            shared: Shared::none(),
            inter: None,
            topology: None,
            neighbours: OnceCell::new(),
            firsts: OnceCell::new(),
            session: None,
        }
    }

    /// This rank's neighbours. Errors: `TOPOLOGY` if there is no topology.
    pub fn neighbours(&self) -> Result<&Rc<Neighbours>> {
        if let Some(known) = self.neighbours.get() {
            return Ok(known);
        }
        let neighbours = self.topology.as_deref().ok_or(Error::TOPOLOGY)?.neighbours(self.rank)?;
        Ok(self.neighbours.get_or_init(|| Rc::new(neighbours)))
    }

    /// The communicator, come from a session or, if `None`, from the world model.
    pub fn of_session(self, session: Option<Handle>) -> Communicator {
        Communicator { session, ..self }
    }

    /// Whether some of its members cannot load and store each other's memory, so that it has no shared areas. (An intercommunicator has none of its
    /// own: see its union.)
    #[inline]
    pub fn is_out_of_reach(&self) -> bool {
        self.shared.size() == 0
    }

    /// Ranks in it (in its local group).
    #[inline]
    pub fn size(&self) -> u32 {
        self.members.len() as u32
    }

    /// The world ranks of the remote group. Errors: `COMM` if it is not an intercommunicator.
    pub fn remote(&self) -> Result<&Rc<[WorldRank]>> {
        if self.inter.is_some() { Ok(&self.peers) } else { Err(Error::COMM) }
    }

    /// Rank among the peers of a world rank that is one.
    #[inline]
    pub fn rank_of(&self, world_rank: WorldRank) -> i32 {
        match &self.ranks {
            None => world_rank.0 as i32,
            Some(ranks) => ranks.get(world_rank.index()).copied().unwrap_or(PROC_NULL),
        }
    }

    /// The target of a send. Errors: `RANK`.
    #[inline(always)]
    pub fn target(&self, rank: i32) -> Result<Endpoint> {
        match self.peers.get(rank as usize) {
            Some(member) => Ok(Endpoint::Peer(*member)),
            None if rank == PROC_NULL => Ok(Endpoint::Nobody),
            None => Err(Error::RANK),
        }
    }

    /// The source of a receive. Errors: `RANK`.
    #[inline(always)]
    pub fn source(&self, rank: i32) -> Result<Endpoint> {
        if rank == ANY_SOURCE { Ok(Endpoint::Any) } else { self.target(rank) }
    }

    /// Errors: `ROOT` if there is no such rank.
    pub fn root(&self, rank: i32) -> Result<CommRank> {
        let rank = u32::try_from(rank).ok().filter(|rank| *rank < self.size());
        rank.map(CommRank).ok_or(Error::ROOT)
    }
}

/// The rank of each world rank; `None` if the numbers are the same.
fn ranks_of(peers: &[WorldRank]) -> Option<Box<[i32]>> {
    if peers.iter().enumerate().all(|(rank, peer)| rank == peer.index()) {
        return None;
    }
    let count = peers.iter().max().map_or(0, |last| last.index() + 1);
    let mut ranks: Vec<i32> = (0..count).map(|_| PROC_NULL).collect();
    for (rank, peer) in peers.iter().enumerate() {
        ranks[peer.index()] = rank as i32;
    }
    Some(ranks.into_boxed_slice())
}
