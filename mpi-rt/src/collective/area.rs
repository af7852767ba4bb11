//! The shared memory of a communicator's collectives: an area in each member, which the others learn of when it is made.

use super::channel::{Channel, SLOTS, Slot};
use super::oneway::{ONEWAY, Oneway};
use crate::transport::seen_from_here;
use crate::transport::smartmap::peer;
use alloc::boxed::Box;
use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::{AtomicU64, Ordering};
use lwk_user::smartmap::{CacheLine, Peer};

/// Rounds of the dissemination barrier for the largest node (255 ranks).
const ROUNDS: usize = 8;
/// Bytes of content that fit the line of a small operation.
pub const SMALL_BYTES: usize = 56;

/// One member's area. Every line has one writer or is said to have several.
pub struct Area {
    /// Dissemination barrier: line `k` is written by the member `2^k` below.
    pub(super) arrivals: [CacheLine<AtomicU64>; ROUNDS],
    /// This rank's contribution to a small operation, by the parity of the operation's number: a rank that is in the
    /// operation after the next knows that all have left this one.
    pub(super) small: [Small; 2],
    /// Of two ranks: one line of both and of both parities, in the first one's area. (Measured: with a line for each parity an
    /// exchange takes twice as long.)
    pub(super) pair: Pair,
    /// The barrier of two ranks: a line of both, in the first one's area.
    pub(super) meeting: CacheLine<[AtomicU64; 2]>,
    /// This rank's buffers in larger operations: see `channel`.
    pub(super) slots: [Slot; SLOTS],
    /// The number of the last operation on such buffers in which this rank has done its part.
    pub(super) finished: CacheLine<AtomicU64>,
    /// The same of two ranks, of both in the first one's area.
    pub(super) both_finished: CacheLine<[AtomicU64; 2]>,
    /// What this rank gives in small operations with one direction: see `oneway`.
    pub(super) oneway: [Small; ONEWAY],
    /// The number of the last one-way operation that this rank is done with.
    pub(super) taken: CacheLine<AtomicU64>,
    /// Members that will not touch this area again.
    departed: CacheLine<AtomicU64>,
}

/// A line with a number and a little content, written by one rank and read by all.
#[repr(C, align(64))]
pub(super) struct Small {
    number: AtomicU64,
    content: UnsafeCell<[u8; SMALL_BYTES]>,
}

// SAFETY: the content is written by its owner before the number is stored, and not again before every reader has entered the next
// operation, which it does after reading; both are release-acquire pairs.
unsafe impl Sync for Small {}

impl Small {
    const fn new() -> Small {
        Small { number: AtomicU64::new(0), content: UnsafeCell::new([0; SMALL_BYTES]) }
    }

    /// Publishes up to [`SMALL_BYTES`] bytes.
    ///
    /// # Safety
    /// Only the owner, once per number and with numbers of one parity; `content` must be readable.
    #[inline(always)]
    pub unsafe fn publish(&self, number: u64, content: *const u8, bytes: usize) {
        // SAFETY: nobody reads the line now (above); `small` takes up to a line.
        unsafe { crate::copy::small(content, self.content.get().cast(), bytes.min(SMALL_BYTES)) };
        // Release: pairs with the acquire load in `has`.
        self.number.store(number, Ordering::Release);
    }

    /// Whether the content of operation `number` is there.
    #[inline(always)]
    pub fn has(&self, number: u64) -> bool {
        // Acquire: pairs with the release store in `publish`.
        self.number.load(Ordering::Acquire) == number
    }

    /// The content, after `has` has said yes.
    #[inline(always)]
    pub fn content(&self) -> *const u8 {
        self.content.get().cast()
    }
}

/// Bytes of content for each of two ranks that share a line.
pub const PAIR_BYTES: usize = 8;

/// A line with a number and a word of content of each of two ranks, by parity of the number and rank.
#[repr(C, align(64))]
pub(super) struct Pair([[Half; 2]; 2]);

#[repr(C)]
struct Half {
    number: AtomicU64,
    content: UnsafeCell<u64>,
}

// SAFETY: as for `Small`, for each half.
unsafe impl Sync for Pair {}

impl Pair {
    const fn new() -> Pair {
        const fn half() -> Half {
            Half { number: AtomicU64::new(0), content: UnsafeCell::new(0) }
        }
        Pair([[half(), half()], [half(), half()]])
    }

    #[inline(always)]
    fn half(&self, rank: u32, number: u64) -> &Half {
        &self.0[(number & 1) as usize][rank as usize & 1]
    }

    /// Publishes up to [`PAIR_BYTES`] bytes of rank `rank`.
    ///
    /// # Safety
    /// As for [`Small::publish`].
    #[inline(always)]
    pub unsafe fn publish(&self, rank: u32, number: u64, content: *const u8, bytes: usize) {
        let half = self.half(rank, number);
        // SAFETY: nobody reads this half now; it takes that many bytes.
        unsafe { crate::copy::small(content, half.content.get().cast(), bytes.min(PAIR_BYTES)) };
        // Release: pairs with the acquire load in `has`.
        half.number.store(number, Ordering::Release);
    }

    /// Whether the content of rank `rank` for operation `number` is there.
    #[inline(always)]
    pub fn has(&self, rank: u32, number: u64) -> bool {
        // Acquire: pairs with the release store in `publish`.
        self.half(rank, number).number.load(Ordering::Acquire) == number
    }

    /// That content, after `has` has said yes.
    #[inline(always)]
    pub fn content(&self, rank: u32, number: u64) -> *const u8 {
        self.half(rank, number).content.get().cast()
    }
}

impl Area {
    fn new() -> Area {
        Area {
            arrivals: [const { CacheLine(AtomicU64::new(0)) }; ROUNDS],
            small: [const { Small::new() }; 2],
            pair: Pair::new(),
            meeting: CacheLine([const { AtomicU64::new(0) }; 2]),
            slots: [const { Slot::new() }; SLOTS],
            finished: CacheLine(AtomicU64::new(0)),
            both_finished: CacheLine([const { AtomicU64::new(0) }; 2]),
            oneway: [const { Small::new() }; ONEWAY],
            taken: CacheLine(AtomicU64::new(0)),
            departed: CacheLine(AtomicU64::new(0)),
        }
    }

    /// An area for a new communicator: one that all members of its former one have left, if there is one.
    pub(crate) fn renewed(used: Option<&'static Area>) -> &'static Area {
        let area: &'static Area = used.unwrap_or_else(|| Box::leak(Box::new(Area::new())));
        area.renew();
        area
    }

    /// Makes an area new that all members of its former communicator have left.
    fn renew(&self) {
        // Relaxed, all: nobody else touches it until the release store that publishes its address again.
        let pair = self.pair.0.iter().flatten().map(|half| &half.number);
        let words = self.arrivals.iter().map(|line| &line.0).chain(self.meeting.iter()).chain(pair);
        let numbers = self.small.iter().chain(&self.oneway).map(|line| &line.number);
        let slots = self.slots.iter().map(Slot::number);
        let counters =
            [&self.finished.0, &self.taken.0, &self.departed.0].into_iter().chain(self.both_finished.iter());
        words.chain(numbers).chain(slots).chain(counters).for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// How many members have left it.
    pub(crate) fn departed(&self) -> u64 {
        // Acquire: pairs with the release addition in `Shared::leave`: what they did here is done.
        self.departed.load(Ordering::Acquire)
    }
}

/// All members' areas as one member sees them.
pub(crate) struct Shared {
    areas: Box<[&'static Area]>,
    members: Box<[u32]>,
    pub rank: u32,
    /// Operations of each sort that this rank has entered.
    pub barriers: Cell<u64>,
    pub smalls: Cell<u64>,
    pub papers: Cell<u64>,
    pub(super) channel: Channel,
    pub(super) oneway: Oneway,
}

impl Shared {
    /// What this rank, number `rank` of the members, knows of a new communicator: every member's area.
    pub fn new(rank: u32, members: &[u32], areas: Box<[&'static Area]>) -> Shared {
        let numbers = || Cell::new(0);
        Shared {
            areas,
            members: members.into(),
            rank,
            barriers: numbers(),
            smalls: numbers(),
            papers: numbers(),
            channel: Channel::new(),
            oneway: Oneway::new(),
        }
    }

    /// Of a communicator that has no collectives of its own.
    pub fn none() -> Shared {
        Shared::new(0, &[], Box::new([]))
    }

    /// Leaves the areas for good; this rank's own, which the others may not have left yet.
    pub fn leave(&self) -> Option<&'static Area> {
        for area in &self.areas {
            // Release: pairs with the acquire load in `Area::departed`.
            area.departed.fetch_add(1, Ordering::Release);
        }
        self.areas.get(self.rank as usize).copied()
    }

    /// Ranks in the communicator.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.areas.len() as u32
    }

    /// A member's area.
    #[inline(always)]
    pub fn of(&self, rank: u32) -> &'static Area {
        self.areas[rank as usize]
    }

    /// A member as a peer.
    pub fn peer(&self, rank: u32) -> Option<Peer> {
        peer(self.members[rank as usize])
    }

    /// This rank's own.
    #[inline(always)]
    pub fn mine(&self) -> &'static Area {
        self.of(self.rank)
    }

    /// What a member calls `address`, as seen from here.
    #[inline]
    pub fn seen(&self, rank: u32, address: u64) -> *mut u8 {
        match peer(self.members[rank as usize]) {
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
