//! Making communicators from others (MPI-5.0, section 7.4.2), comparing and freeing them.
//!
//! [`duplicate`] and [`free`] are functions, not the engine's calls: they call the program's attribute functions, which may call the
//! engine.

use crate::abi::{COMM_SELF, COMM_WORLD, UNDEFINED};
use crate::attribute;
use crate::communicator::{Communicator, Intercommunicator};
use crate::engine::{Engine, with};
use crate::error::{Error, Result};
use crate::error_handler;
use crate::group::Group;
use crate::handle::Handle;
use crate::object::Object;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_path::Reach;
use lwk_place::{CommRank, WorldRank};

/// A communicator of the same groups, with attributes as their copy functions say, and topology. All members must call it. Errors: `COMM`,
/// `NO_MEM`; what a copy function returns, and then this rank has no new communicator.
pub fn duplicate(parent: Handle) -> Result<Handle> {
    with(|engine| engine.communicator(parent).map(|_| ()))?;
    let from = Object::communicator(parent);
    let copies = attribute::copies(from);
    // The others do not know whether the copy functions have failed here: this rank takes part all the same.
    let made = with(|engine| {
        let parent = engine.communicator(parent)?.clone();
        engine.duplicate_hidden(&parent)
    })?;
    let copies = match copies {
        Ok(copies) => copies,
        Err(error) => {
            with(|engine| {
                engine.communicators.retire(Rc::new(made));
                Ok(())
            })?;
            return Err(error);
        }
    };
    let handle = with(|engine| Ok(engine.communicators.insert(Rc::new(made))))?;
    attribute::adopt(Object::communicator(handle), copies)?;
    error_handler::inherit(from, Object::communicator(handle));
    Ok(handle)
}

/// Frees a communicator; requests begun on it still complete. All members must call it; it waits for nobody. Errors: `COMM`, also for
/// predefined ones; what the delete function of an attribute returns, and then the communicator stays.
pub fn free(communicator: Handle) -> Result<()> {
    with(|engine| engine.communicator(communicator).map(|_| ()))?;
    if matches!(communicator.0, COMM_WORLD | COMM_SELF) {
        return Err(Error::COMM);
    }
    attribute::delete_all(Object::communicator(communicator))?;
    lwk_mpi_core::forget(Object::communicator(communicator));
    with(|engine| {
        let it = engine.communicators.remove(communicator).ok_or(Error::COMM)?;
        engine.communicators.retire(it);
        Ok(())
    })
}

impl Engine {
    /// A communicator of the same groups without a handle, for the runtime's own messages; whoever has it gives it back with
    /// [`lwk_mpi_communicator::Communicators::retire`]. All members must call it. Errors: `NO_MEM`.
    pub fn duplicate_hidden(&mut self, parent: &Communicator) -> Result<Communicator> {
        let mut made = match &parent.inter {
            Some(inter) => {
                let remote = parent.peers.clone();
                self.make_inter(&inter.union, parent.members.clone(), remote, inter.is_first)?
            }
            None => self.make_intra(parent, Some(parent.members.clone()))?.ok_or(Error::INTERN)?,
        };
        made.topology = parent.topology.clone();
        made.session = parent.session;
        Ok(made)
    }

    /// Divides a communicator: ranks of the same color come together, ordered by key, then by rank. `None` for ranks whose color is
    /// undefined, and for those whose color nobody of the other group of an intercommunicator has. All must call it. Errors: `COMM`, `NO_MEM`;
    /// `ARG` for a negative color.
    pub fn split(&mut self, parent: Handle, color: i32, key: i32) -> Result<Option<Handle>> {
        if color < 0 && color != UNDEFINED {
            self.communicator(parent)?;
            return Err(Error::ARG);
        }
        let made = self.split_hidden(parent, color, key)?;
        Ok(made.map(|made| self.insert_child(parent, made)))
    }

    fn split_hidden(&mut self, parent: Handle, color: i32, key: i32) -> Result<Option<Communicator>> {
        let parent = self.communicator(parent)?.clone();
        let all = parent.inter.as_ref().map_or(&parent, |inter| &inter.union).clone();
        let mut ranks: Vec<(i32, i32, CommRank)> = Vec::new();
        ranks.try_reserve_exact(all.size() as usize).map_err(|_| Error::NO_MEM)?;
        self.exchange_words(&all, [color, key], |rank, [color, key]| ranks.push((color, key, rank)))?;
        ranks.retain(|rank| rank.0 == color && color != UNDEFINED);
        ranks.sort_unstable();
        let of = |group: &[WorldRank]| -> Rc<[WorldRank]> {
            let members = ranks.iter().map(|(_, _, rank)| all.members[rank.index()]);
            members.filter(|member| group.contains(member)).collect()
        };
        let Some(inter) = &parent.inter else {
            let members = of(&parent.members);
            return self.make_intra(&parent, (!members.is_empty()).then_some(members));
        };
        let (local, remote) = (of(&parent.members), of(&parent.peers));
        self.make_inter_if(&all, local, remote, inter.is_first)
    }

    /// A communicator of the members of a group, of which all in it name the same group; `None` for ranks that are not in theirs. All members of the
    /// parent must call it. Of an intercommunicator, an intercommunicator of both sides' groups. Errors: `COMM`; `GROUP` if the group is invalid or
    /// has others than members; `NO_MEM`.
    pub fn create(&mut self, parent: Handle, group: Handle) -> Result<Option<Handle>> {
        let it = self.communicator(parent)?.clone();
        let group = self.groups.get(group)?.clone();
        if group.members().iter().any(|member| !it.members.contains(member)) {
            return Err(Error::GROUP);
        }
        let made = match &it.inter {
            None => {
                let within = group.members().contains(&self.me);
                self.make_intra(&it, within.then(|| group.members().into()))?
            }
            Some(inter) => {
                let union = inter.union.clone();
                let mine = if group.members().contains(&self.me) { group.members() } else { &[] };
                let mine_as_words: Vec<u32> = mine.iter().map(|member| member.0).collect();
                let mut theirs: Vec<Vec<WorldRank>> = Vec::new();
                self.share_all(&union, &mine_as_words, |rank, words| {
                    if it.peers.contains(&union.members[rank.index()]) && !words.is_empty() {
                        theirs.push(words.iter().copied().map(WorldRank).collect());
                    }
                })?;
                // All groups of the other side are disjoint; MPI pairs one group of each side.
                let remote = theirs.into_iter().next().unwrap_or_default();
                self.make_inter_if(&union, mine.into(), remote.into(), inter.is_first)?
            }
        };
        Ok(made.map(|made| self.insert_child(parent, made)))
    }

    /// Gives a new communicator a handle, and its parent's session and error handler.
    pub(crate) fn insert_child(&mut self, parent: Handle, made: Communicator) -> Handle {
        let session = self.communicator(parent).ok().and_then(|parent| parent.session);
        let handle = self.communicators.insert(Rc::new(made.of_session(session)));
        error_handler::inherit(Object::communicator(parent), Object::communicator(handle));
        handle
    }

    /// An intracommunicator of the members that this rank names, which all of them must do alike, or of none. All ranks of the parent, an
    /// intracommunicator, must call it. Errors: `NO_MEM`.
    pub(crate) fn make_intra(
        &mut self,
        parent: &Communicator,
        members: Option<Rc<[WorldRank]>>,
    ) -> Result<Option<Communicator>> {
        let announced = self.announce_among(parent, members.as_deref())?;
        match members {
            Some(members) => self.join_and_wait(announced, members).map(Some),
            None => Ok(None),
        }
    }

    /// The announcement that the first of `members` makes, of which this rank is one, or not. All ranks of the parent must call it.
    fn announce_among(&mut self, parent: &Communicator, members: Option<&[WorldRank]>) -> Result<u64> {
        let first = members.and_then(|members| members.first().copied());
        let announcement =
            if first == Some(self.me) { self.announce(members.unwrap_or_default()) } else { 0 };
        let mut announced = 0;
        self.exchange_word(parent, announcement, |rank, word| {
            if Some(parent.members[rank.index()]) == first {
                announced = word;
            }
        })?;
        Ok(announced)
    }

    /// An intercommunicator of two groups. All ranks of `parent`, an intracommunicator, must call it, each with its own group and the
    /// other, unless both are empty. Errors: `NO_MEM`.
    pub(crate) fn make_inter(
        &mut self,
        parent: &Communicator,
        local: Rc<[WorldRank]>,
        remote: Rc<[WorldRank]>,
        is_first: bool,
    ) -> Result<Communicator> {
        self.make_inter_if(parent, local, remote, is_first)?.ok_or(Error::INTERN)
    }

    /// The same, and `None` for ranks that are in neither group or have no counterpart.
    pub(crate) fn make_inter_if(
        &mut self,
        parent: &Communicator,
        local: Rc<[WorldRank]>,
        remote: Rc<[WorldRank]>,
        is_first: bool,
    ) -> Result<Option<Communicator>> {
        let within = !local.is_empty() && !remote.is_empty();
        let (first, second) = if is_first { (&local, &remote) } else { (&remote, &local) };
        let union: Rc<[WorldRank]> = first.iter().chain(second.iter()).copied().collect();
        let union = self.make_intra(parent, within.then_some(union));
        let local = self.make_intra(parent, within.then_some(local));
        match (union, local) {
            (Ok(Some(union)), Ok(Some(local))) => {
                let (union, local) = (Rc::new(union), Rc::new(local));
                Ok(Some(Communicator::between(Intercommunicator { local, union, is_first })))
            }
            (Ok(None), Ok(None)) => Ok(None),
            (union, local) => {
                // One of them has not come about: neither is of any use.
                let error = union.as_ref().err().or(local.as_ref().err()).copied();
                for made in [union, local].into_iter().flatten().flatten() {
                    self.communicators.retire(Rc::new(made));
                }
                Err(error.unwrap_or(Error::INTERN))
            }
        }
    }

    /// Whether all of these ranks can load and store each other's memory.
    fn are_in_reach(&self, members: &[WorldRank]) -> bool {
        members.iter().all(|member| self.paths.reach(*member) == Reach::Mapped)
    }

    /// Announces a communicator of those members, as [`lwk_mpi_communicator::Communicators::announce`].
    pub(crate) fn announce(&mut self, members: &[WorldRank]) -> u64 {
        let in_reach = self.are_in_reach(members);
        self.communicators.announce(members, in_reach)
    }

    /// Joins an announced communicator and waits for the other members. Errors: those of [`lwk_mpi_communicator::Communicators::join`] and
    /// [`lwk_mpi_communicator::Communicators::complete_joining`].
    pub(crate) fn join_and_wait(
        &mut self,
        announcement: u64,
        members: Rc<[WorldRank]>,
    ) -> Result<Communicator> {
        let joining = self.communicators.join(announcement, members)?;
        self.wait_until(|| joining.is_complete());
        self.communicators.complete_joining(joining)
    }

    /// The group of a communicator (the local one). Errors: `COMM`.
    pub fn group_of(&mut self, communicator: Handle) -> Result<Handle> {
        let it = self.communicator(communicator)?;
        let group = Group::new(it.members.clone()).of_session(it.session);
        Ok(self.groups.insert(group))
    }

    /// The remote group of an intercommunicator. Errors: `COMM`.
    pub fn remote_group_of(&mut self, communicator: Handle) -> Result<Handle> {
        let it = self.communicator(communicator)?;
        let group = Group::new(it.remote()?.clone()).of_session(it.session);
        Ok(self.groups.insert(group))
    }

    /// Tells all ranks of an intracommunicator a word of each.
    pub(crate) fn exchange_word(
        &mut self,
        communicator: &Communicator,
        word: u64,
        mut each: impl FnMut(CommRank, u64),
    ) -> Result<()> {
        let halves = [word as u32 as i32, (word >> 32) as u32 as i32];
        self.exchange_words(communicator, halves, |rank, [low, high]| {
            each(rank, low as u32 as u64 | (high as u32 as u64) << 32)
        })
    }

    /// Shows all ranks of an intracommunicator some words of each, which they read where they are.
    pub(crate) fn share_all(
        &mut self,
        communicator: &Communicator,
        words: &[u32],
        mut each: impl FnMut(CommRank, &[u32]),
    ) -> Result<()> {
        if communicator.is_out_of_reach() {
            let wide: Vec<u64> = words.iter().map(|word| u64::from(*word)).collect();
            for (rank, told) in self.tell_all(communicator, &wide)?.iter().enumerate() {
                let told: Vec<u32> = told.iter().map(|word| *word as u32).collect();
                each(CommRank::at(rank), &told);
            }
            return Ok(());
        }
        // A count and the words, at an address that means the same in every rank.
        let mut counted: Vec<u32> = Vec::new();
        counted.try_reserve_exact(words.len() + 1).map_err(|_| Error::NO_MEM)?;
        counted.push(words.len() as u32);
        counted.extend_from_slice(words);
        let me = lwk_user::smartmap::Peer::me();
        let address = lwk_user::smartmap::remote_address(me, counted.as_ptr()).expose_provenance();
        self.exchange_word(communicator, address as u64, |rank, address| {
            let first: *const u32 = core::ptr::with_exposed_provenance(address as usize);
            // SAFETY: every rank has posted the address of a count and as many words, which stay until the barrier that ends the
            // exchange.
            let words = unsafe { core::slice::from_raw_parts(first.add(1), first.read() as usize) };
            each(rank, words);
        })
    }
}
