//! Intercommunicators from two groups, and back (MPI-5.0, section 7.6.2).
//!
//! The leaders tell each other their groups; the one with the lower world rank, whose group is the first, announces the communicator of
//! both; each tells its own group, through the local communicator.

use crate::communicator::{Communicator, Intercommunicator, Plane};
use crate::creation::{MAX_STRING_TAG, tag_of};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_place::{CommRank, WorldRank};

/// A remote leader, as its counterpart reaches it.
struct Leader {
    messages: Communicator,
    /// The remote leader's rank in it.
    rank: i32,
    tag: i32,
}

/// What a leader finds out and tells its group: error code, announcements of the union and of the local group, who is first, and the remote
/// group.
struct Found {
    union: u64,
    is_first: bool,
    remote: Vec<WorldRank>,
}

impl Engine {
    /// An intercommunicator of the ranks of `local` and of those of a communicator that calls it likewise. All ranks of both must call it; `peer`
    /// and `remote_leader` matter in the local leader only. Errors: `COMM`, also if the groups have ranks in common; `RANK` for a leader that
    /// does not exist; `TAG`, `NO_MEM`.
    pub fn create_inter(
        &mut self,
        local: Handle,
        local_leader: i32,
        peer: Handle,
        remote_leader: i32,
        tag: i32,
    ) -> Result<Handle> {
        let group = self.communicators.intracommunicator(local)?.clone();
        let leading = group.root(local_leader).map_err(|_| Error::RANK)?;
        let leads = group.rank == leading;
        if tag < 0 {
            return Err(Error::TAG);
        }
        // A leader's mistake must reach its group, which waits for it.
        let leader = leads.then(|| self.leader(peer, remote_leader, tag));
        let made = self.make_between(&group, leading, leader)?;
        Ok(self.insert_child(local, made))
    }

    fn leader(&self, peer: Handle, remote: i32, tag: i32) -> Result<Leader> {
        let peer = self.communicator(peer)?;
        let world_rank = usize::try_from(remote).ok().and_then(|rank| peer.peers.get(rank));
        if world_rank.is_none() {
            return Err(Error::RANK);
        }
        let context = Plane::Leaders.of(peer.context);
        let messages =
            Communicator::for_messages(context, peer.rank, peer.members.clone(), peer.peers.clone());
        Ok(Leader { messages, rank: remote, tag })
    }

    /// An intercommunicator of two groups, all of whose ranks must call it with the same string, each with its own group first. `None` for a rank
    /// that is not in its local group. Errors: `GROUP`, `RANK`, `COMM` if the groups have ranks in common, `ARG`, `NO_MEM`.
    pub fn create_inter_from_groups(
        &mut self,
        local: Handle,
        local_leader: i32,
        remote: Handle,
        remote_leader: i32,
        string_tag: &[u8],
    ) -> Result<Option<Handle>> {
        let (local, remote) = (self.groups.get(local)?.clone(), self.groups.get(remote)?.clone());
        let valid = |leader: i32, size: usize| usize::try_from(leader).is_ok_and(|leader| leader < size);
        if string_tag.len() >= MAX_STRING_TAG {
            return Err(Error::ARG);
        }
        if local.rank_of(self.me) < 0 {
            return Ok(None);
        }
        if !valid(local_leader, local.size()) || !valid(remote_leader, remote.size()) {
            return Err(Error::RANK);
        }
        let context = Plane::NoParent.of(Communicator::WORLD_CONTEXT);
        let tag = tag_of(string_tag);
        let members: Rc<[WorldRank]> = local.members().into();
        let group = self.make_within(context, tag, members.clone())?.ok_or(Error::INTERN)?;
        let leading = group.root(local_leader)?;
        let leads = group.rank == leading;
        let context = Plane::Leaders.of(Communicator::WORLD_CONTEXT);
        let messages = Communicator::for_messages(context, group.rank, members, remote.members().into());
        let leader = leads.then_some(Ok(Leader { messages, rank: remote_leader, tag }));
        let made = self.make_between(&group, leading, leader);
        self.communicators.retire(Rc::new(group));
        let made = made?.of_session(local.session());
        Ok(Some(self.communicators.insert(Rc::new(made))))
    }

    /// All of `group` call it; its leader has the way to the other group's.
    fn make_between(
        &mut self,
        group: &Communicator,
        local_leader: CommRank,
        leader: Option<Result<Leader>>,
    ) -> Result<Communicator> {
        let found = leader.map(|leader| leader.and_then(|leader| self.meet(group, leader)));
        let words = match &found {
            None => Vec::new(),
            Some(Err(error)) => [error.code() as u32, 0, 0, 0].to_vec(),
            Some(Ok(found)) => {
                let head = [0, found.union as u32, (found.union >> 32) as u32, found.is_first as u32];
                head.into_iter().chain(found.remote.iter().map(|member| member.0)).collect()
            }
        };
        let mut told: Vec<u32> = Vec::new();
        self.share_all(group, &words, |rank, words| {
            if rank == local_leader {
                told = words.to_vec();
            }
        })?;
        let [code, low, high, first, remote @ ..] = told.as_slice() else { return Err(Error::INTERN) };
        if let Some(error) = Error::from_code(*code as i32) {
            return Err(error);
        }
        let is_first = *first != 0;
        let remote: Vec<WorldRank> = remote.iter().copied().map(WorldRank).collect();
        let local = self.make_intra(group, Some(group.members.clone()));
        let mine = &group.members[..];
        let (before, after) = if is_first { (mine, &remote[..]) } else { (&remote[..], mine) };
        let union: Rc<[WorldRank]> = before.iter().chain(after).copied().collect();
        let announcement = *low as u64 | (*high as u64) << 32;
        let local = match local {
            Ok(Some(local)) => local,
            // The other group waits for this rank.
            other => {
                self.communicators.refuse(announcement, &union);
                return Err(other.err().unwrap_or(Error::INTERN));
            }
        };
        match self.join_and_wait(announcement, union) {
            Ok(union) => {
                let (local, union) = (Rc::new(local), Rc::new(union));
                Ok(Communicator::between(Intercommunicator { local, union, is_first }))
            }
            Err(error) => {
                self.communicators.retire(Rc::new(local));
                Err(error)
            }
        }
    }

    /// The leaders' part: groups there and back, then the announcement of the communicator of both.
    fn meet(&mut self, group: &Communicator, leader: Leader) -> Result<Found> {
        let Leader { messages, rank, tag } = leader;
        let remote_leader = *messages.peers.get(rank as usize).ok_or(Error::RANK)?;
        let ours: Vec<u64> = group.members.iter().map(|member| u64::from(member.0)).collect();
        let is_first = self.me < remote_leader;
        let ranks = self.size as usize;
        self.with_messages(messages, |engine, handle| {
            let theirs = engine.swap_words(handle, rank, tag, &ours, ranks)?;
            let world_ranks = |words: &[u64]| -> Vec<WorldRank> {
                words.iter().map(|word| WorldRank(*word as u32)).collect()
            };
            // Both leaders see the same, so both find the mistake.
            if theirs.iter().any(|member| ours.contains(member)) || remote_leader == engine.me {
                return Err(Error::COMM);
            }
            let union = if is_first {
                let union = [world_ranks(&ours), world_ranks(&theirs)].concat();
                let announcement = engine.announce(&union);
                engine.send_words(handle, rank, tag, &[announcement])?;
                announcement
            } else {
                engine.receive_words(handle, rank, tag, 1)?.first().copied().unwrap_or(0)
            };
            Ok(Found { union, is_first, remote: world_ranks(&theirs) })
        })
    }

    /// An intracommunicator of both groups of an intercommunicator; the group whose ranks pass a false `high` comes first, and if both
    /// pass the same, either. All ranks of both must call it. Errors: `COMM` if it is not an intercommunicator, `NO_MEM`.
    pub fn merge(&mut self, communicator: Handle, high: bool) -> Result<Handle> {
        let it = self.communicator(communicator)?.clone();
        let inter = it.inter.as_ref().ok_or(Error::COMM)?;
        let union = &inter.union;
        let mut first_is_high = false;
        let mut second_is_high = false;
        let first = if inter.is_first { it.size() } else { union.size() - it.size() };
        self.exchange_word(union, high as u64, |rank, high| {
            let side = if rank.0 < first { &mut first_is_high } else { &mut second_is_high };
            *side |= high != 0;
        })?;
        let (first, second) = union.members.split_at(first as usize);
        let (before, after) =
            if first_is_high && !second_is_high { (second, first) } else { (first, second) };
        let members: Rc<[WorldRank]> = before.iter().chain(after).copied().collect();
        let made = self.make_intra(union, Some(members))?.ok_or(Error::INTERN)?;
        Ok(self.insert_child(communicator, made))
    }
}
