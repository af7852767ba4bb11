//! How a communicator comes about: one member, who gives out the context, announces it; all leave the addresses of their areas in the
//! announcement and take the others' from there.
//!
//! An announcement (`lwk_ring::Announcement`) is a few words in its maker's memory, and its address, which means the same in every rank, is all that has to
//! reach the others: through a collective of a parent, or in a message where there is none. Nobody waits for more than the members'
//! arrival, and a member that has arrived can do something else meanwhile.

use crate::Communicators;
use crate::communicator::Communicator;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_mpi_area::{Area, Shared};
use lwk_mpi_core::error::{Error, Result};
use lwk_path::seen_from_here;
use lwk_place::{CommRank, WorldRank, peer_of};
use lwk_ring::{Announcement, Word};
use lwk_user::smartmap::{Peer, remote_address};

/// In place of an area's address: that member has no memory for one.
const REFUSED: u64 = 1;

/// In place of an announcement: whoever was to make it has no memory for it, or has given out all of its contexts.
const NO_MEMORY: u64 = 0;
const NO_CONTEXT: u64 = 1;
/// The lowest byte of what is told where members are out of reach; above is the context, and no member has an area.
const BY_MESSAGES: u64 = 2;
const BY_MESSAGES_BITS: u32 = 8;

/// A communicator to be, after this rank has left its own area's address.
pub struct Joining {
    /// None where members are out of reach: then nothing is waited for.
    announcement: Option<Announcement<'static>>,
    rank: CommRank,
    members: Rc<[WorldRank]>,
    context: u32,
    area: Option<&'static Area>,
}

impl Joining {
    /// Whether all members have arrived.
    pub fn is_complete(&self) -> bool {
        self.announcement.as_ref().is_none_or(|it| it.all_have_arrived())
    }

    /// The members' areas. Errors: `NO_MEM` if a member has none, `INTERN`.
    fn areas(&self) -> Result<Box<[&'static Area]>> {
        let Some(announcement) = &self.announcement else { return Ok(Box::new([])) };
        let mut areas: Vec<&'static Area> = Vec::new();
        areas.try_reserve_exact(self.members.len()).map_err(|_| Error::NO_MEM)?;
        for (address, member) in announcement.addresses().zip(self.members.iter()) {
            let member = peer_of(*member).ok_or(Error::INTERN)?;
            if address == REFUSED {
                return Err(Error::NO_MEM);
            }
            // SAFETY: a member leaves the address of an initialised area that it leaks; areas are shared through atomics.
            areas.push(unsafe { &*seen_from_here::<Area>(member, address as usize) });
        }
        Ok(areas.into_boxed_slice())
    }
}

impl Communicators {
    /// Announces a communicator of those members, who can load and store each other's memory or not; this rank must be one of them, and all must join it. The number for
    /// [`Communicators::join`], which means the same in every rank; if no context or no memory is free, they learn that by it.
    pub fn announce(&mut self, members: &[WorldRank], in_reach: bool) -> u64 {
        if !in_reach {
            let context = self.take_context();
            return context
                .map_or(NO_CONTEXT, |context| u64::from(context) << BY_MESSAGES_BITS | BY_MESSAGES);
        }
        let members = members.len();
        if !has_room(size_of::<u64>() * Announcement::words(members).next_power_of_two()) {
            return NO_MEMORY;
        }
        let Some(context) = self.take_context() else { return NO_CONTEXT };
        match self.announcements.make(members, context) {
            Ok(words) => {
                let address: *mut Word = words.as_ptr().cast_mut();
                remote_address(Peer::me(), address).expose_provenance() as u64
            }
            Err(_) => {
                self.contexts.give_back(context);
                NO_MEMORY
            }
        }
    }

    /// Joins an announced communicator. Errors: `NO_MEM`, or `INTERN` for want of a context, if the announcement says so; `INTERN` if this rank
    /// is no member.
    pub fn join(&mut self, announcement: u64, members: Rc<[WorldRank]>) -> Result<Joining> {
        self.contexts.reclaim();
        if announcement % (1 << BY_MESSAGES_BITS) == BY_MESSAGES {
            let rank = self.rank_among(&members)?;
            let context = (announcement >> BY_MESSAGES_BITS) as u32;
            return Ok(Joining { announcement: None, rank, members, context, area: None });
        }
        let (announcement, rank) = self.announced(announcement, &members)?;
        let context = announcement.name() as u32;
        // For each member an area, a world rank, a rank, beside the communicator itself.
        let needed = members.len() * 24 + self.ranks as usize * size_of::<i32>() + size_of::<Communicator>();
        // Freeing allocates, too: what is kept of freed communicators until all have left them grows with their number. Where one has left
        // its area there may be less, or nothing could be made where something was freed.
        let live = self.all.len();
        let (slack, less) = (SLACK + live * KEPT_BYTES, (SLACK + live * KEPT_BYTES) / 4 * 3);
        let used = self.contexts.used_area();
        let new = if used.is_none() { slack + size_of::<Area>() } else { less };
        let fits = has_room(needed + new);
        // One that is not used now goes back with the rest.
        let area = if fits { Some(Area::renewed(used)) } else { used };
        let address = match area {
            Some(area) if fits => core::ptr::from_ref(area).expose_provenance() as u64,
            _ => REFUSED,
        };
        announcement.arrive(rank.index(), address);
        Ok(Joining { announcement: Some(announcement), rank, members, context, area })
    }

    /// Tells the other members of an announced communicator that this rank cannot be one.
    pub fn refuse(&mut self, announcement: u64, members: &[WorldRank]) {
        if announcement % (1 << BY_MESSAGES_BITS) == BY_MESSAGES {
            return;
        }
        let Ok((announcement, rank)) = self.announced(announcement, members) else { return };
        announcement.arrive(rank.index(), REFUSED);
        // Before the end: then the words may be used for another. Nobody will use this context.
        let context = announcement.name() as u32;
        announcement.end();
        self.contexts.abandon(context, None);
    }

    fn take_context(&mut self) -> Option<u32> {
        self.contexts.reclaim();
        self.contexts.take()
    }

    /// This rank among the members of a communicator to be. Errors: `INTERN` if it is none.
    fn rank_among(&self, members: &[WorldRank]) -> Result<CommRank> {
        members.iter().position(|member| *member == self.me).map(CommRank::at).ok_or(Error::INTERN)
    }

    /// An announcement, and this rank's number. Errors: as for [`Communicators::join`].
    fn announced(
        &self,
        announcement: u64,
        members: &[WorldRank],
    ) -> Result<(Announcement<'static>, CommRank)> {
        match announcement {
            NO_MEMORY => return Err(Error::NO_MEM),
            NO_CONTEXT => return Err(Error::INTERN),
            _ => {}
        }
        let rank = self.rank_among(members)?;
        let first: *const Word = core::ptr::with_exposed_provenance(announcement as usize);
        // SAFETY: an announcement has that many words for so many members, is never given back, and is shared through atomics.
        let words = unsafe { core::slice::from_raw_parts(first, Announcement::words(members.len())) };
        Ok((Announcement::of(words), rank))
    }

    /// The communicator, after [`Joining::is_complete`] has said yes. Errors: `NO_MEM` in all members if one of them has no memory.
    pub fn complete_joining(&mut self, joining: Joining) -> Result<Communicator> {
        let areas = joining.areas();
        if let Some(announcement) = &joining.announcement {
            announcement.end();
        }
        let Joining { rank, members, context, area, .. } = joining;
        match areas {
            Ok(areas) => {
                let shared =
                    if areas.is_empty() { Shared::none() } else { Shared::new(rank, &members, areas) };
                Ok(Communicator::new(context, rank, members, shared))
            }
            Err(error) => {
                // No member uses any of it.
                self.contexts.abandon(context, area);
                Err(error)
            }
        }
    }
}

/// Memory that communicators leave free, for everything small that the runtime allocates meanwhile, and for each that is alive: lists
/// that double hold up to 40 bytes of each, twice while they grow, and so does the table of handles with 16.
const SLACK: usize = 32 << 10;
const KEPT_BYTES: usize = 160;

/// Whether the heap has that many bytes: peers that wait for this rank must learn it if not.
fn has_room(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}
