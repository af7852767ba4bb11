//! Which messages a collective is, and what of the caller's buffers they carry: a call's arguments become a schedule of `lwk-schedule` and its places.

use super::algorithm::Between;
use super::arguments::{BufferArgument, Call, Numbers, Parts, Reducing};
use super::by_messages::{Buffers, Folding, Played};
use super::fold::Scratch;
use super::group_ranges::GroupRanges;
use super::neighbourhood::schedule_of;
use crate::abi::{IN_PLACE, PROC_NULL, ROOT};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;
use lwk_datatype::Datatype;
use lwk_path::region::Region;
use lwk_place::{CommRank, node_of};
use lwk_schedule::{Groups, Levels, Root};

/// Up to so many bytes an allreduce of at most [`FEW_ON_A_NODE`] ranks a node pays no heed to nodes. Measured (docs/measurements/collectives.md): 8 bytes 0.87 of the
/// time by two levels, 1 KiB 1.25.
const ALLREDUCE_FLAT: usize = 256;
const FEW_ON_A_NODE: u32 = 2;

/// Who the root of an operation of two groups is. Errors: `ROOT`.
fn root_of(ranges: &GroupRanges, root: i32) -> Result<Root> {
    match root {
        ROOT => Ok(Root::Here),
        PROC_NULL => Ok(Root::Beside),
        rank => {
            let rank = u32::try_from(rank).ok().filter(|rank| *rank < ranges.remote.size());
            rank.map(|rank| Root::There(ranges.remote.first().0 + rank)).ok_or(Error::ROOT)
        }
    }
}

/// Errors: `BUFFER`: what a group receives is not what it sends.
fn not_in_place(reducing: &Reducing) -> Result<()> {
    if reducing.send.addr() == IN_PLACE { Err(Error::BUFFER) } else { Ok(()) }
}

impl Engine {
    /// Works out a collective by messages. Errors: those of its arguments.
    pub(super) fn by_messages(&mut self, call: &Call, communicator: &Rc<Communicator>) -> Result<Played> {
        // In a schedule ranks are numbers that are calculated with.
        let (CommRank(me), ranks) = (communicator.rank, communicator.size());
        let levels = self.levels_of(communicator);
        let mut it = Buffers::default();
        let schedule = match *call {
            Call::Barrier => match &levels {
                Some(levels) => lwk_schedule::barrier_by_levels(levels),
                None => lwk_schedule::dissemination(me, ranks),
            },
            Call::Broadcast { ref buffer, root } => {
                let CommRank(root) = communicator.root(root)?;
                it.whole[1] = Some(self.part(buffer, &mut it.kept)?);
                match &levels {
                    Some(levels) => lwk_schedule::broadcast_by_levels(levels, root),
                    None => lwk_schedule::binomial_tree(me, ranks, root),
                }
            }
            Call::Gather { ref send, ref receive, root } => {
                let CommRank(root) = communicator.root(root)?;
                if me == root {
                    it.parts[1] = self.parts(receive, ranks as usize, &mut it.kept)?;
                }
                it.whole[0] = Some(self.part_or_in_place(send, &it.parts[1], me, &mut it.kept)?);
                lwk_schedule::gather(me, ranks, root)
            }
            Call::Scatter { ref send, ref receive, root } => {
                let CommRank(root) = communicator.root(root)?;
                if me == root {
                    it.parts[0] = self.parts(send, ranks as usize, &mut it.kept)?;
                }
                it.whole[1] = Some(self.part_or_in_place(receive, &it.parts[0], me, &mut it.kept)?);
                lwk_schedule::scatter(me, ranks, root)
            }
            Call::Allgather { ref send, ref receive } => {
                it.parts[1] = self.parts(receive, ranks as usize, &mut it.kept)?;
                it.whole[0] = Some(self.part_or_in_place(send, &it.parts[1], me, &mut it.kept)?);
                lwk_schedule::ring(me, ranks)
            }
            Call::Alltoall { ref send, ref receive } => {
                it.parts[1] = self.parts(receive, ranks as usize, &mut it.kept)?;
                self.parts_to_send(send, &mut it, ranks)?;
                lwk_schedule::pairwise(me, ranks)
            }
            Call::Reduce { ref reducing, root } => {
                let CommRank(root) = communicator.root(root)?;
                self.folding(reducing, reducing.count, me == root, &mut it)?;
                match &levels {
                    Some(levels) => lwk_schedule::reduce_by_levels(levels, root),
                    None => lwk_schedule::reduce(me, ranks, root),
                }
            }
            Call::Allreduce { ref reducing } => {
                self.folding(reducing, reducing.count, true, &mut it)?;
                let bytes = it.whole[0].map_or(0, |send| send.bytes());
                match &levels {
                    Some(levels) if self.pays(levels, bytes) => lwk_schedule::allreduce_by_levels(levels),
                    _ => lwk_schedule::recursive_doubling(me, ranks),
                }
            }
            Call::Scan { ref reducing } => {
                self.folding(reducing, reducing.count, true, &mut it)?;
                lwk_schedule::scan(me, ranks)
            }
            Call::Exscan { ref reducing } => {
                self.folding(reducing, reducing.count, true, &mut it)?;
                lwk_schedule::exscan(me, ranks)
            }
            Call::ReduceScatter { ref reducing, blocks } => {
                self.folding_parts(reducing, Some(blocks), me..ranks, &mut it)?;
                lwk_schedule::reduce_scatter(me, ranks)
            }
            Call::ReduceScatterBlock { ref reducing } => {
                self.folding_parts(reducing, None, me..ranks, &mut it)?;
                lwk_schedule::reduce_scatter(me, ranks)
            }
            Call::NeighbourAllgather { ref send, ref receive } => {
                let neighbours = communicator.neighbours()?;
                if send.is_in_place() {
                    return Err(Error::BUFFER);
                }
                it.whole[0] = Some(self.part(send, &mut it.kept)?);
                it.parts[1] = self.parts(receive, neighbours.sources.len(), &mut it.kept)?;
                schedule_of(neighbours, false)
            }
            Call::NeighbourAlltoall { ref send, ref receive } => {
                let neighbours = communicator.neighbours()?;
                if send.is_in_place() {
                    return Err(Error::BUFFER);
                }
                it.parts[0] = self.parts(send, neighbours.destinations.len(), &mut it.kept)?;
                it.parts[1] = self.parts(receive, neighbours.sources.len(), &mut it.kept)?;
                schedule_of(neighbours, true)
            }
        };
        Ok(Played::new(communicator, schedule, it))
    }

    /// The levels of a communicator by whose nodes its collectives go, if they do.
    fn levels_of(&self, communicator: &Communicator) -> Option<Levels> {
        if self.algorithms.between == Some(Between::Flat) {
            return None;
        }
        Levels::of(communicator.rank.0, communicator.members.iter().map(|member| node_of(*member).0))
    }

    /// Whether an allreduce of so many bytes goes by two levels: they cross the network less often, but take one round more than ranks that are all alike.
    fn pays(&self, levels: &Levels, bytes: usize) -> bool {
        let few = levels.ranks() <= FEW_ON_A_NODE * levels.nodes();
        bytes > ALLREDUCE_FLAT || !few || self.algorithms.between == Some(Between::Levels)
    }

    /// The same on an intercommunicator, by messages of both groups' ranks.
    pub(super) fn by_messages_between(
        &mut self,
        call: &Call,
        communicator: &Rc<Communicator>,
        union: &Rc<Communicator>,
    ) -> Result<Played> {
        let ranges = GroupRanges::of(communicator);
        let (own, others) = (ranges.rank.0..ranges.local.size(), ranges.remote.len());
        let groups =
            Groups { me: ranges.me.0, local: ranges.local.0.clone(), remote: ranges.remote.0.clone() };
        let mut it = Buffers::default();
        let schedule = match *call {
            Call::Barrier => lwk_schedule::dissemination(union.rank.0, union.size()),
            Call::Broadcast { ref buffer, root } => {
                let root = root_of(&ranges, root)?;
                if root != Root::Beside {
                    it.whole[1] = Some(self.part(buffer, &mut it.kept)?);
                }
                lwk_schedule::broadcast_between(&groups, root)
            }
            Call::Gather { ref send, ref receive, root } => {
                let root = root_of(&ranges, root)?;
                match root {
                    Root::Here => it.parts[1] = self.parts(receive, others, &mut it.kept)?,
                    Root::There(_) => {
                        it.whole[0] = Some(self.part_or_in_place(send, &[], 0, &mut it.kept)?)
                    }
                    Root::Beside => {}
                }
                lwk_schedule::gather_between(&groups, root)
            }
            Call::Scatter { ref send, ref receive, root } => {
                let root = root_of(&ranges, root)?;
                match root {
                    Root::Here => it.parts[0] = self.parts(send, others, &mut it.kept)?,
                    Root::There(_) => {
                        it.whole[1] = Some(self.part_or_in_place(receive, &[], 0, &mut it.kept)?);
                    }
                    Root::Beside => {}
                }
                lwk_schedule::scatter_between(&groups, root)
            }
            Call::Allgather { ref send, ref receive } => {
                it.parts[1] = self.parts(receive, others, &mut it.kept)?;
                it.whole[0] = Some(self.part_or_in_place(send, &[], 0, &mut it.kept)?);
                lwk_schedule::allgather_between(&groups)
            }
            Call::Alltoall { ref send, ref receive } => {
                if send.is_in_place() {
                    return Err(Error::BUFFER);
                }
                it.parts[0] = self.parts(send, others, &mut it.kept)?;
                it.parts[1] = self.parts(receive, others, &mut it.kept)?;
                lwk_schedule::alltoall_between(&groups)
            }
            Call::Reduce { ref reducing, root } => {
                let root = root_of(&ranges, root)?;
                match root {
                    Root::Here if reducing.send.addr() == IN_PLACE => return Err(Error::BUFFER),
                    // It has a result and no contribution.
                    Root::Here => self.folding(
                        &Reducing { send: reducing.receive, ..*reducing },
                        reducing.count,
                        true,
                        &mut it,
                    )?,
                    Root::There(_) => self.folding(reducing, reducing.count, false, &mut it)?,
                    Root::Beside => {}
                }
                lwk_schedule::reduce_between(&groups, root)
            }
            Call::Allreduce { ref reducing } => {
                not_in_place(reducing)?;
                self.folding(reducing, reducing.count, true, &mut it)?;
                lwk_schedule::allreduce_between(&groups)
            }
            Call::ReduceScatter { ref reducing, blocks } => {
                not_in_place(reducing)?;
                self.folding_parts(reducing, Some(blocks), own, &mut it)?;
                lwk_schedule::reduce_scatter_between(&groups)
            }
            Call::ReduceScatterBlock { ref reducing } => {
                not_in_place(reducing)?;
                self.folding_parts(reducing, None, own, &mut it)?;
                lwk_schedule::reduce_scatter_between(&groups)
            }
            Call::Scan { .. } | Call::Exscan { .. } => return Err(Error::COMM),
            Call::NeighbourAllgather { .. } | Call::NeighbourAlltoall { .. } => return Err(Error::TOPOLOGY),
        };
        Ok(Played::new(union, schedule, it))
    }

    /// A buffer that in place is this rank's part of the other. Errors: `BUFFER` where there is none; those of the arguments.
    fn part_or_in_place(
        &self,
        own: &BufferArgument,
        parts: &[Region],
        me: u32,
        kept: &mut Vec<Datatype>,
    ) -> Result<Region> {
        if own.is_in_place() {
            return parts.get(me as usize).copied().ok_or(Error::BUFFER);
        }
        self.part(own, kept)
    }

    /// The parts that an alltoall sends: in place, a snapshot of those that it receives. Errors: `NO_MEM`; those of the arguments.
    fn parts_to_send(&self, send: &Parts, it: &mut Buffers, ranks: u32) -> Result<()> {
        if !send.is_in_place() {
            it.parts[0] = self.parts(send, ranks as usize, &mut it.kept)?;
            return Ok(());
        }
        let bytes: usize = it.parts[1].iter().map(Region::bytes).sum();
        it.snapshot.try_reserve_exact(bytes).map_err(|_| Error::NO_MEM)?;
        it.snapshot.resize(bytes, 0);
        let mut end = 0;
        for index in 0..it.parts[1].len() {
            let bytes = it.parts[1][index].bytes();
            it.parts[0].push(Region::block(it.snapshot.as_mut_ptr().wrapping_add(end), bytes));
            end += bytes;
        }
        Ok(())
    }

    /// The buffers of a reduction of `count` items; whether this rank receives. Errors: as for [`Engine::plan`].
    pub(super) fn folding(
        &self,
        reducing: &Reducing,
        count: i64,
        receives: bool,
        it: &mut Buffers,
    ) -> Result<()> {
        let Reducing { receive, datatype, operation, .. } = *reducing;
        let reduction = self.reduction(count, datatype, operation)?;
        let in_place = reducing.send.addr() == IN_PLACE;
        if in_place && !receives {
            return Err(Error::BUFFER);
        }
        let send = if in_place { receive } else { reducing.send.cast_mut() };
        self.check_buffer(send, count, datatype)?;
        it.whole[0] = Some(self.region(send, count, datatype)?);
        if receives {
            self.check_buffer(receive, count, datatype)?;
            it.whole[1] = Some(self.region(receive, count, datatype)?);
        }
        let scratch = || Scratch::new(&reduction.items, reduction.count);
        let scratch = [scratch()?, scratch()?, scratch()?];
        let dense = crate::datatypes::dense_bytes(datatype) != 0;
        let datatype = if dense { None } else { self.datatype(datatype).ok().cloned() };
        let addresses = [send, receive];
        it.reduction = Some(Folding { reduction, datatype, addresses, scratch, parts: Vec::new() });
        Ok(())
    }

    /// The same where each rank of a group receives a part; `group` is from this rank to their number. Errors: as for [`Engine::plan`].
    fn folding_parts(
        &self,
        reducing: &Reducing,
        blocks: Option<Numbers>,
        group: Range<u32>,
        it: &mut Buffers,
    ) -> Result<()> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut count = 0i64;
        for rank in 0..group.end as usize {
            let block = blocks.map_or(Ok(reducing.count), |blocks| blocks.get(rank))?;
            if block < 0 {
                return Err(Error::COUNT);
            }
            let end = count.checked_add(block).ok_or(Error::VALUE_TOO_LARGE)?;
            parts.push(count as usize..end as usize);
            count = end;
        }
        let own = parts[group.start as usize].len() as i64;
        let in_place = reducing.send.addr() == IN_PLACE;
        let send = if in_place { reducing.receive.cast_const() } else { reducing.send };
        self.folding(&Reducing { send, ..*reducing }, count, false, it)?;
        self.check_buffer(reducing.receive, own, reducing.datatype)?;
        it.whole[1] = Some(self.region(reducing.receive, own, reducing.datatype)?);
        if let Some(folding) = &mut it.reduction {
            folding.parts = parts;
        }
        Ok(())
    }
}
