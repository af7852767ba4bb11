//! Persistent collectives: made by all members in the same order, and then started by each in an order of its own (MPI-5.0, section 6.13).
//!
//! So each has a [`Channel`] of its own, whose operations are its starts, or, if it is short and has one direction, lines of its own. When it is made, the
//! members exchange where their posts or lines for it are, in a collective of the communicator: what is matched by the order of calls is the making. A member
//! that gives the request up leaves those of all, and uses its own for another when all have left them.

use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;
use lwk_mpi_area::{
    Channel, Given, Kind, LONG_BYTES, LONG_WORDS, Member, NO_ROOT, SLOTS, SMALL_BYTES, check, fill_long,
    long_given, same_kind,
};
use lwk_path::region::Region;
use lwk_place::{CommRank, Ranks};
use lwk_ring::{Departed, Finished, Lines, Pace, Slots};
use lwk_user::smartmap::CacheLine;

/// Lines of a persistent collective, and bytes of content that fit the shorter ones, which begin with the number of bytes. Not measured: the operations
/// that the giver can be ahead of the slowest rank, at the price of memory for each request.
const SHORT_LINES: usize = 16;
const LONG_LINES: usize = 8;
const SHORT_WORDS: usize = SMALL_BYTES / 8;
const SHORT_BYTES: usize = SMALL_BYTES - 8;

/// What a member has in its own memory for a persistent collective, and uses for another one when all have left it.
trait Renewed: 'static {
    fn new() -> Self;
    /// Makes it as new before anybody hears of it again.
    fn renew(&self);
    /// Members that will not touch it any more.
    fn departed(&self) -> &Departed;
}

struct Posts {
    slots: Slots<SLOTS>,
    finished: CacheLine<Finished>,
    departed: CacheLine<Departed>,
}

struct LinesOfOne<const N: usize, const W: usize> {
    lines: Lines<N, W>,
    departed: CacheLine<Departed>,
}

impl Renewed for Posts {
    fn new() -> Posts {
        Posts {
            slots: Slots::new(),
            finished: CacheLine(Finished::new()),
            departed: CacheLine(Departed::new()),
        }
    }

    fn renew(&self) {
        self.slots.renew();
        self.finished.renew();
        self.departed.renew();
    }

    fn departed(&self) -> &Departed {
        &self.departed
    }
}

impl<const N: usize, const W: usize> Renewed for LinesOfOne<N, W> {
    fn new() -> Self {
        LinesOfOne { lines: Lines::new(), departed: CacheLine(Departed::new()) }
    }

    fn renew(&self) {
        self.lines.renew();
        self.departed.renew();
    }

    fn departed(&self) -> &Departed {
        &self.departed
    }
}

/// What this rank has given up, each with the number of its members.
struct Left<T: 'static>(RefCell<Vec<(&'static T, u64)>>);

impl<T: Renewed> Left<T> {
    fn none() -> Rc<Left<T>> {
        Rc::new(Left(RefCell::new(Vec::new())))
    }

    /// One that nobody uses. Errors: `NO_MEM`.
    fn take(&self) -> Result<&'static T> {
        let mut left = self.0.borrow_mut();
        let free = left.iter().position(|(it, members)| it.departed().have_all(*members));
        if let Some(place) = free {
            let (it, _) = left.swap_remove(place);
            it.renew();
            return Ok(it);
        }
        let mut memory = Vec::new();
        memory.try_reserve_exact(1).map_err(|_| Error::NO_MEM)?;
        memory.push(T::new());
        let made: &'static [T] = Box::leak(memory.into_boxed_slice());
        Ok(&made[0])
    }
}

/// Of each sort, what freed persistent collectives have left.
pub(crate) struct LeftPosts {
    posts: Rc<Left<Posts>>,
    short: Rc<Left<LinesOfOne<SHORT_LINES, SHORT_WORDS>>>,
    long: Rc<Left<LinesOfOne<LONG_LINES, LONG_WORDS>>>,
}

impl Default for LeftPosts {
    fn default() -> LeftPosts {
        LeftPosts { posts: Left::none(), short: Left::none(), long: Left::none() }
    }
}

/// What all members have for one; all of it is left when this is dropped.
struct Members<T: Renewed> {
    all: Box<[&'static T]>,
    mine: &'static T,
    left: Rc<Left<T>>,
}

impl<T: Renewed> Drop for Members<T> {
    fn drop(&mut self) {
        self.all.iter().for_each(|it| it.departed().leave());
        self.left.0.borrow_mut().push((self.mine, self.all.len() as u64));
    }
}

/// The channel of one persistent collective.
pub(super) struct PersistentChannel {
    pub channel: Channel,
    _members: Members<Posts>,
}

/// The lines of one.
struct Lane<const N: usize, const W: usize> {
    members: Members<LinesOfOne<N, W>>,
    rank: CommRank,
    pace: Pace<N>,
}

impl<const N: usize, const W: usize> Lane<N, W> {
    fn lines(&self, rank: CommRank) -> &'static Lines<N, W> {
        &self.members.all[rank.index()].lines
    }

    fn has_room(&self, number: u64) -> bool {
        if self.pace.has_room(number) {
            return true;
        }
        let others = Ranks::all(self.members.all.len() as u32).filter(|rank| *rank != self.rank);
        self.pace.learn(others.map(|rank| self.lines(rank).ended()).min().unwrap_or(number));
        self.pace.has_room(number)
    }

    /// # Safety
    /// As for [`KeptLane::store`].
    unsafe fn store(&self, number: u64, to: CommRank, part: &Region) -> Result<()> {
        let mut outcome = Ok(());
        // SAFETY: there is room, and nobody else gives by the line; the part is readable and fits (this function's contract).
        unsafe { self.lines(to).give(number, number, |line| outcome = fill_long(part, line.cast())) };
        outcome
    }

    fn given(&self, number: u64, by: CommRank) -> Option<Given> {
        let lines = self.lines(by);
        // SAFETY: the line has this operation's word; this rank ends the operation after its last use of the content.
        (lines.word(number) == number).then(|| unsafe { long_given(lines, number) })
    }
}

/// The lines of a persistent collective, by the length of what they take.
pub(super) struct KeptLane(ByLength);

enum ByLength {
    Short(Lane<SHORT_LINES, SHORT_WORDS>),
    Long(Lane<LONG_LINES, LONG_WORDS>),
}

/// The same of whichever lane it is.
macro_rules! of_lane {
    ($lane:expr, $it:ident => $what:expr) => {
        match &$lane.0 {
            ByLength::Short($it) => $what,
            ByLength::Long($it) => $what,
        }
    };
}

impl KeptLane {
    /// The number of the operation that is started now.
    pub(super) fn call(&self) -> u64 {
        of_lane!(self, it => it.pace.call())
    }

    /// Whether what is in the lines for an operation is not used any more.
    pub(super) fn has_room(&self, number: u64) -> bool {
        of_lane!(self, it => it.has_room(number))
    }

    /// Stores a part into the line of `to`. Errors: `INTERN`.
    ///
    /// # Safety
    /// [`KeptLane::has_room`] has said yes; once an operation and rank, of which nobody else gives by its lines. The part is readable and no longer than any member
    /// said when the lines were made.
    pub(super) unsafe fn store(&self, number: u64, to: CommRank, part: &Region) -> Result<()> {
        // SAFETY: this function's contract.
        of_lane!(self, it => unsafe { it.store(number, to, part) })
    }

    /// What is given by the lines of `by`, if it is there; it stays until [`KeptLane::end`].
    pub(super) fn given(&self, number: u64, by: CommRank) -> Option<Given> {
        of_lane!(self, it => it.given(number, by))
    }

    /// This rank is done with an operation.
    pub(super) fn end(&self, number: u64) {
        of_lane!(self, it => it.pace.end(it.lines(it.rank), number));
    }
}

impl Engine {
    /// Exchanges with all members of `communicator` what each has for a persistent collective whose operations have the check word `of`. Waits for them.
    /// Errors: `NOT_SAME` if another makes one of another kind, `NO_MEM`, and those of `Engine::open`.
    fn exchange_places<T: Renewed>(
        &mut self,
        communicator: &Communicator,
        left: &Rc<Left<T>>,
        of: u64,
    ) -> Result<Members<T>> {
        let shared = &communicator.shared;
        let size = shared.size();
        let mut all: Vec<&'static T> = Vec::new();
        all.try_reserve_exact(size as usize).map_err(|_| Error::NO_MEM)?;
        let mine = left.take()?;
        let check = check(Kind::Init, NO_ROOT, 0);
        let address = core::ptr::from_ref(mine).expose_provenance() as u64;
        let number = self.open(shared, check, &[address, of])?;
        let mut outcome = self.await_posts(shared, number, check);
        if outcome.is_ok() {
            for rank in shared.ranks() {
                outcome = outcome.and(same_kind(of, shared.channel.posted_word(rank, number, 1)));
                // SAFETY: the member leaks what it posts, which is shared through atomics, and does not use it for another collective before this rank has left
                // it. All post the same sort: they are in the same making, and have agreed if there is a choice.
                all.push(unsafe { &*shared.posted_address(rank, number, 0).cast::<T>() });
            }
        }
        // After an error nobody can say who has seen what this rank has posted: it is not used again.
        self.close(shared, number, outcome)?;
        Ok(Members { all: all.into(), mine, left: left.clone() })
    }

    /// Makes the channel of a persistent collective, with all members of `communicator`. Waits for them. Errors: `NOT_SAME`, `NO_MEM`, and those of
    /// `Engine::open`.
    pub(super) fn persistent_channel(
        &mut self,
        communicator: &Communicator,
        of: u64,
    ) -> Result<PersistentChannel> {
        let left = self.left_posts.posts.clone();
        let members = self.exchange_places(communicator, &left, of)?;
        let posts = members.all.iter().map(|it| Member { slots: &it.slots, finished: &it.finished });
        let channel = Channel::new(communicator.shared.rank, posts);
        Ok(PersistentChannel { channel, _members: members })
    }

    /// Makes lines for a persistent collective with one direction, of which this rank knows that its parts have at most `most` bytes, if all members make
    /// the same and their parts fit. `None` if not. Waits for the members. Errors: as for [`Engine::persistent_channel`].
    pub(super) fn kept_lane(
        &mut self,
        communicator: &Communicator,
        of: u64,
        most: usize,
    ) -> Result<Option<KeptLane>> {
        let shared = &communicator.shared;
        let check = check(Kind::Init, NO_ROOT, 0);
        let number = self.open(shared, check, &[most as u64, of])?;
        let (mut all_same, mut longest) = (true, 0);
        let mut outcome = self.await_posts(shared, number, check);
        if outcome.is_ok() {
            for rank in shared.ranks() {
                let theirs = shared.channel.posted_word(rank, number, 1);
                outcome = outcome.and(same_kind(of, theirs));
                all_same &= theirs == of;
                longest = longest.max(shared.channel.posted_word(rank, number, 0) as usize);
            }
        }
        self.close(shared, number, outcome)?;
        if !all_same || longest > LONG_BYTES {
            return Ok(None);
        }
        let (rank, left) = (shared.rank, self.left_posts.clone());
        Ok(Some(KeptLane(if longest <= SHORT_BYTES {
            let members = self.exchange_places(communicator, &left.short, of)?;
            ByLength::Short(Lane { members, rank, pace: Pace::new() })
        } else {
            let members = self.exchange_places(communicator, &left.long, of)?;
            ByLength::Long(Lane { members, rank, pace: Pace::new() })
        })))
    }
}
