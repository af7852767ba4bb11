//! The shared memory of a communicator's collectives: an area in each member, which the others learn of when it is made, and what members do with it. Members are ranks
//! that can load and store each other's memory.
//!
//! An [`Area`] has lines for small operations (`oneway`, `long_lines`), places where buffers are posted (`channel`), and what its owner is calling (`calls`).
//! [`Shared`] is all members' areas as one member sees them, with the numbers of its operations. Nothing here waits: who has to, looks again.
//!
//! Per communicator: an area in each member and a [`Shared`]. Nothing is per rank or per thread.
#![no_std]

extern crate alloc;

mod calls;
mod channel;
mod kind;
mod long_lines;
mod oneway;
mod whole;

pub use calls::{HISTORY, sort, sort_of_all, sort_of_all_begun};
pub use channel::{Channel, Member, SLOTS, check, same_kind, sort_of};
pub use kind::{Kind, NO_ROOT};
pub use oneway::{Given, LONG_BYTES, LONG_WORDS, Oneway, fill, fill_long, long_given};
pub use whole::copy_whole;

use alloc::boxed::Box;
use calls::{Calls, Record};
use core::cell::Cell;
use long_lines::{Made, ONEWAY_LONG};
use lwk_copy::threshold::TOLD_LIMIT;
use lwk_path::seen_from_here;
use lwk_place::{CommRank, NodeRank, Ranks, WorldRank, peer_of};
use lwk_ring::{
    DATA_BYTES, Departed, ExchangeLines, Finished, Lines, MeetingLine, Pace, PairLine, Slots, Turns,
};
use lwk_user::barrier::Arrivals;
use lwk_user::smartmap::{CacheLine, Peer};
use oneway::{ONEWAY, ONEWAY_WORDS};

/// Bytes of content that fit the line of a small operation.
pub const SMALL_BYTES: usize = DATA_BYTES;

/// One member's area. Every line has one writer or is said to have several.
pub struct Area {
    /// Dissemination barrier.
    pub arrivals: Arrivals,
    /// The same for the direct form: word `d - 1` is that of the rank `d` below.
    pub direct_arrivals: Arrivals,
    /// This rank's contribution to a small operation of all with all.
    pub small: ExchangeLines<{ SMALL_BYTES / 8 }>,
    /// The same of more than a line, by several.
    pub eager: ExchangeLines<{ TOLD_LIMIT / 8 }>,
    /// The same of two ranks, for both in the first one's area.
    pub pair: PairLine,
    /// The barrier of two ranks: a line of both, in the first one's area.
    pub meeting: MeetingLine,
    /// This rank's buffers in larger operations: see `channel`.
    slots: Slots<SLOTS>,
    /// The number of the last operation on such buffers in which this rank has done its part.
    finished: CacheLine<Finished>,
    /// The same of two ranks, of both in the first one's area.
    both_finished: CacheLine<[Finished; 2]>,
    /// What this rank gives in small operations with one direction: see `oneway`.
    pub oneway: Lines<ONEWAY, { SMALL_BYTES / 8 }>,
    /// The same of a word.
    pub oneway_words: Lines<ONEWAY_WORDS, 1>,
    /// The same of more than a line, and of parts that differ.
    long: Made,
    /// The forms of the SMARTMAP paper.
    pub paper: Turns,
    /// What this rank calls: see `calls`.
    record: Record,
    /// Members that will not touch this area again.
    departed: CacheLine<Departed>,
}

impl Area {
    fn new() -> Area {
        Area {
            arrivals: Arrivals::new(),
            direct_arrivals: Arrivals::new(),
            small: ExchangeLines::new(),
            eager: ExchangeLines::new(),
            pair: PairLine::new(),
            meeting: MeetingLine::new(),
            slots: Slots::new(),
            finished: CacheLine(Finished::new()),
            both_finished: CacheLine([const { Finished::new() }; 2]),
            oneway: Lines::new(),
            oneway_words: Lines::new(),
            long: Made::new(),
            paper: Turns::new(),
            record: Record::new(),
            departed: CacheLine(Departed::new()),
        }
    }

    /// An area for a new communicator: one that all members of its former one have left, if there is one.
    pub fn renewed(used: Option<&'static Area>) -> &'static Area {
        let area: &'static Area = used.unwrap_or_else(|| Box::leak(Box::new(Area::new())));
        area.renew();
        area
    }

    /// Makes an area new that all members of its former communicator have left.
    fn renew(&self) {
        // Nobody else touches it until its address is published again.
        self.arrivals.renew();
        self.direct_arrivals.renew();
        self.meeting.renew();
        self.departed.renew();
        self.small.renew();
        self.eager.renew();
        self.pair.renew();
        self.slots.renew();
        self.finished.renew();
        self.both_finished.iter().for_each(Finished::renew);
        self.oneway.renew();
        self.oneway_words.renew();
        self.long.renew();
        self.paper.renew();
        self.record.renew();
    }

    /// Whether so many members have left it.
    pub fn have_left(&self, members: u64) -> bool {
        self.departed.have_all(members)
    }
}

/// What a communicator takes in each member that is used for messages only, or for nothing: a program may have thousands.
const _: () = assert!(size_of::<Area>() <= 8 << 10);

/// All members' areas as one member sees them.
pub struct Shared {
    areas: Box<[&'static Area]>,
    /// On this node, of which all of them are.
    members: Box<[NodeRank]>,
    pub rank: CommRank,
    /// Operations of each sort that this rank has entered.
    pub smalls: Cell<u64>,
    pub eagers: Cell<u64>,
    pub papers: Cell<u64>,
    pub channel: Channel,
    pub pace: Pace<ONEWAY>,
    pub pace_of_words: Pace<ONEWAY_WORDS>,
    pub pace_of_long: Pace<ONEWAY_LONG>,
    calls: Calls,
}

impl Shared {
    /// What this rank, number `rank` of the members, knows of a new communicator: every member's area.
    pub fn new(rank: CommRank, members: &[WorldRank], areas: Box<[&'static Area]>) -> Shared {
        let numbers = || Cell::new(0);
        let both = areas.len() == 2;
        let channel = areas.iter().enumerate().map(|(index, area)| Member {
            slots: &area.slots,
            finished: if both { &areas[0].both_finished[index] } else { &area.finished },
        });
        let channel = Channel::new(rank, channel);
        Shared {
            areas,
            members: members.iter().filter_map(|member| Some(peer_of(*member)?.node_rank())).collect(),
            rank,
            smalls: numbers(),
            eagers: numbers(),
            papers: numbers(),
            channel,
            pace: Pace::new(),
            pace_of_words: Pace::new(),
            pace_of_long: Pace::new(),
            calls: Calls::new(),
        }
    }

    /// Of a communicator that has no collectives of its own.
    pub fn none() -> Shared {
        Shared::new(CommRank::FIRST, &[], Box::new([]))
    }

    /// Leaves the areas for good; this rank's own, which the others may not have left yet.
    pub fn leave(&self) -> Option<&'static Area> {
        self.areas.iter().for_each(|area| area.departed.leave());
        self.areas.get(self.rank.index()).copied()
    }

    /// Ranks in the communicator.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.areas.len() as u32
    }

    #[inline(always)]
    pub fn ranks(&self) -> Ranks {
        Ranks::all(self.size())
    }

    /// A member's area.
    #[inline(always)]
    pub fn of(&self, rank: CommRank) -> &'static Area {
        self.areas[rank.index()]
    }

    /// A member as a peer.
    pub fn peer(&self, rank: CommRank) -> Option<Peer> {
        Peer::new(self.members[rank.index()])
    }

    /// This rank's own.
    #[inline(always)]
    pub fn mine(&self) -> &'static Area {
        self.of(self.rank)
    }

    /// What a member calls `address`, as seen from here.
    #[inline]
    pub fn seen(&self, rank: CommRank, address: u64) -> *mut u8 {
        match Peer::new(self.members[rank.index()]) {
            // This rank's own memory needs no detour through its slot.
            Some(member) if rank != self.rank => seen_from_here(member, address as usize),
            _ => core::ptr::with_exposed_provenance_mut(address as usize),
        }
    }

    /// The number of the next operation of a sort.
    #[inline(always)]
    pub fn next(counter: &Cell<u64>) -> u64 {
        let number = counter.get() + 1;
        counter.set(number);
        number
    }
}
