//! Plans: what one rank has to do in a collective, worked out from its arguments before anything begins.
//!
//! A collective of buffers is a list of moves, each between a region of this rank and one that a peer has posted; a reduction is a
//! fold of the contributions that the peers have posted, into the buffers they have posted. With that every operation has the
//! same three steps (`channel`), and blocking, non-blocking and persistent forms differ only in who drives them (`run`).
//!
//! On an intercommunicator contributions come from the other group; with both groups the same it is the intracommunicator's operation.

mod buffers;
mod reductions;

use super::arguments::Call;
use super::fold::{Reduction, Scratch};
use super::group_ranges::{GroupRanges, channel_of};
use crate::abi::{PROC_NULL, ROOT};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::topology::PieceIndex;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;
use lwk_datatype::Datatype;
use lwk_mpi_area::{Kind, NO_ROOT, check};
use lwk_path::region::{Region, copy_regions};
use lwk_place::{CommRank, Ranks};

/// A region as a peer reads it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Piece {
    pub words: [u64; 4],
    pub bytes: u64,
}

impl Piece {
    pub fn of(region: &Region) -> Piece {
        Piece { words: region.words(), bytes: region.bytes() as u64 }
    }
}

/// A copy between a region of this rank and a peer's piece.
#[derive(Clone, Copy)]
pub(super) struct Move {
    /// The peer: its place in the shared areas.
    pub peer: CommRank,
    pub place: PieceIndex,
    pub mine: Region,
    /// Into the peer's receive buffer; otherwise from its send buffer.
    pub push: bool,
}

/// The reduction that a rank does.
#[derive(Clone)]
pub(super) struct Fold {
    pub reduction: Reduction,
    /// Ranks whose contributions are folded.
    pub sources: Ranks,
    /// Items of the contributions.
    pub part: Range<usize>,
    pub target: Target,
}

/// Where the result goes.
#[derive(Clone)]
pub(super) enum Target {
    /// The same items of what these ranks have posted.
    Posted(Ranks),
    /// A buffer of this rank: address of item 0.
    Own(*mut u8),
}

/// What the caller's buffer holds when the operation begins, for those who read it after it has been overwritten.
pub(super) enum Snapshot {
    /// The parts of an alltoall in place, one after another.
    Parts(Vec<Region>, Vec<u8>),
    /// A contribution to a reduction.
    Items(Reduction, *const u8, Scratch),
}

/// One rank's part of a collective.
pub(crate) struct Plan {
    /// The one whose shared areas are used.
    pub communicator: Rc<Communicator>,
    pub(super) check: u64,
    /// What this rank posts: pieces, or addresses of a reduction.
    pub(super) sends: Vec<Piece>,
    pub(super) receives: Vec<Piece>,
    /// Whom the pieces are for, in a neighbourhood.
    pub(super) partners: Vec<CommRank>,
    pub(super) addresses: Option<[u64; 2]>,
    pub(super) snapshot: Option<Snapshot>,
    pub(super) moves: Vec<Move>,
    pub(super) fold: Option<Fold>,
    /// Ranks that must have posted.
    pub(super) awaited: Ranks,
    /// Ranks that use what this rank has posted.
    pub(super) users: Users,
    /// Keeps layouts alive.
    pub(super) kept: Vec<Datatype>,
}

/// Ranks that use what a rank has posted.
#[derive(Clone)]
pub(super) enum Users {
    Range(Ranks),
    These(Vec<CommRank>),
}

/// Who gives and who gets in a rooted operation.
enum Role {
    Root,
    /// The root is this one, by its place in the shared areas.
    Of(CommRank),
    /// In the root's group of an intercommunicator, and not the root.
    Beside,
}

impl Plan {
    /// A plan of nothing; `communicator` is the caller's.
    pub(super) fn new(communicator: &Rc<Communicator>, check: u64) -> Plan {
        Plan {
            communicator: channel_of(communicator).clone(),
            check,
            sends: Vec::new(),
            receives: Vec::new(),
            partners: Vec::new(),
            addresses: None,
            snapshot: None,
            moves: Vec::new(),
            fold: None,
            awaited: Ranks::NONE,
            users: Users::Range(Ranks::NONE),
            kept: Vec::new(),
        }
    }
}

fn pieces(regions: &[Region]) -> Vec<Piece> {
    regions.iter().map(Piece::of).collect()
}

/// Who the root is to this rank; the root's place in the shared areas where this rank can know it. Errors: `ROOT`.
fn role(communicator: &Communicator, groups: &GroupRanges, root: i32) -> Result<(Role, CommRank)> {
    if !groups.inter {
        let root = communicator.root(root)?;
        return Ok((if root == groups.me { Role::Root } else { Role::Of(root) }, root));
    }
    match root {
        ROOT => Ok((Role::Root, CommRank::FIRST)),
        PROC_NULL => Ok((Role::Beside, CommRank::FIRST)),
        rank => {
            let rank = u32::try_from(rank).map_err(|_| Error::ROOT)?;
            if rank >= groups.remote.size() {
                return Err(Error::ROOT);
            }
            Ok((Role::Of(CommRank(groups.remote.first().0 + rank)), CommRank::FIRST))
        }
    }
}

impl Engine {
    /// Works out this rank's part. Errors: `COMM`, `COUNT`, `TYPE`, `OP`, `ROOT`, `ARG`, `NO_MEM`; `BUFFER` for a null pointer, and for `MPI_IN_PLACE` where
    /// the standard does not allow it; `TOPOLOGY` for a neighbourhood that is none.
    pub(super) fn plan(&mut self, call: &Call, communicator: &Rc<Communicator>) -> Result<Plan> {
        let groups = GroupRanges::of(communicator);
        match *call {
            Call::Barrier => {
                let mut plan = Plan::new(communicator, check(Kind::Barrier, NO_ROOT, 0));
                plan.awaited = groups.all();
                Ok(plan)
            }
            Call::Broadcast { ref buffer, root } => self.plan_broadcast(communicator, &groups, buffer, root),
            Call::Gather { ref send, ref receive, root } => {
                self.plan_gather(communicator, &groups, send, receive, root)
            }
            Call::Scatter { ref send, ref receive, root } => {
                self.plan_scatter(communicator, &groups, send, receive, root)
            }
            Call::Allgather { ref send, ref receive } => {
                self.plan_allgather(communicator, &groups, send, receive)
            }
            Call::Alltoall { ref send, ref receive } => {
                self.plan_alltoall(communicator, &groups, send, receive)
            }
            Call::Reduce { ref reducing, root } => self.plan_reduce(communicator, &groups, reducing, root),
            Call::Allreduce { ref reducing } => self.plan_allreduce(communicator, &groups, reducing),
            Call::ReduceScatter { ref reducing, blocks } => {
                self.plan_reduce_scatter(communicator, &groups, reducing, Some(blocks))
            }
            Call::ReduceScatterBlock { ref reducing } => {
                self.plan_reduce_scatter(communicator, &groups, reducing, None)
            }
            Call::Scan { ref reducing } => self.plan_scan(communicator, &groups, reducing, false),
            Call::Exscan { ref reducing } => self.plan_scan(communicator, &groups, reducing, true),
            Call::NeighbourAllgather { ref send, ref receive } => {
                self.plan_neighbour_allgather(communicator, send, receive)
            }
            Call::NeighbourAlltoall { ref send, ref receive } => {
                self.plan_neighbour_alltoall(communicator, send, receive)
            }
        }
    }
}

impl Plan {
    /// Takes what must be as it is now.
    ///
    /// # Safety
    /// The buffers of which the plan has a snapshot must be readable.
    pub(super) unsafe fn take_snapshot(&mut self) -> Result<()> {
        match &mut self.snapshot {
            None => Ok(()),
            Some(Snapshot::Parts(regions, memory)) => {
                let mut end = 0;
                for region in regions.iter() {
                    let place = memory.as_mut_ptr().wrapping_add(end);
                    // SAFETY: `memory` was reserved for the bytes of all regions, which are readable (this
                    // function's contract).
                    unsafe { copy_regions(region, &Region::block(place, region.bytes()))? };
                    end += region.bytes();
                }
                Ok(())
            }
            Some(Snapshot::Items(reduction, from, scratch)) => {
                // SAFETY: `scratch` has room for all items; the contribution is readable for as many (this
                // function's contract).
                unsafe { reduction.items.copy(*from, scratch.address(), reduction.count) }
            }
        }
    }
}
