//! LiMIC's message queues (Chai's dissertation, section 4.2): for each pair of ranks of a node, sends that wait for their receive and receives that wait for their
//! send, matched by tag and context. The one that comes later finds the other here, and copies.
//!
//! Pure logic: no copy, no lock, no pointer. The home gives the memory, keeps a lock around every call, and copies what has been matched behind it. Memory of
//! zeros is a set of empty queues, so that processes may share it. Queues are lists of places in one pool, oldest first: a rank's posts cost what is
//! in its pairs' queues, whatever others have there.
#![no_std]
#![forbid(unsafe_code)]

use bytemuck::{Pod, Zeroable};
use lwk_abi::limic::{Envelope, READS, RECEIVES, SENDS, WRITES};

/// Something that waits: a send or a receive, as its rank has described it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Posted {
    /// Of a send, the message's; of a receive, that of the message it takes.
    pub context: u32,
    pub tag: i32,
    /// Not 0: a receive takes a message of any tag.
    pub any_tag: u64,
    pub bytes: u64,
    /// Where the bytes are, or go to, in the slot of its rank.
    pub address: u64,
    /// Where its rank is told, in its slot; it names the post for its rank.
    pub request: u64,
}

impl Posted {
    /// What a probe sees of a send.
    fn envelope(&self) -> Envelope {
        Envelope { context: self.context, tag: self.tag, bytes: self.bytes }
    }

    fn takes(&self, message: &Posted) -> bool {
        self.context == message.context && (self.any_tag != 0 || self.tag == message.tag)
    }
}

/// Which of a pair's queues. Writes and reads are of another kind than sends and receives, and never meet these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Sends = SENDS as isize,
    Receives = RECEIVES as isize,
    Writes = WRITES as isize,
    Reads = READS as isize,
}

impl Side {
    /// The side that the interface gives this number.
    #[must_use]
    pub fn of(number: u64) -> Option<Side> {
        [Side::Sends, Side::Receives, Side::Writes, Side::Reads]
            .into_iter()
            .find(|side| *side as u64 == number)
    }

    /// Whether a message leaves the rank that posts here.
    #[must_use]
    pub const fn is_outward(self) -> bool {
        matches!(self, Side::Sends | Side::Writes)
    }

    /// Where its counterpart is posted.
    const fn other(self) -> Side {
        match self {
            Side::Sends => Side::Receives,
            Side::Receives => Side::Sends,
            Side::Writes => Side::Reads,
            Side::Reads => Side::Writes,
        }
    }
}

/// A place for what waits. Numbers of places are one more than their index; 0 is none.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub struct Place {
    posted: Posted,
    next: u32,
    unused: u32,
}

/// A queue: its oldest and its youngest.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
struct Queue {
    first: u32,
    last: u32,
}

/// Messages from one rank to another.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub struct Pair {
    queues: [Queue; 4],
}

/// What all queues have in common.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub struct Pool {
    /// The first of those that have been given back.
    free: u32,
    /// How many have ever been used.
    used: u32,
}

/// All queues of a node, in memory of its home's.
pub struct Queues<'m> {
    pool: &'m mut Pool,
    /// Of rank `from` to rank `to`: at `from * ranks + to`.
    pairs: &'m mut [Pair],
    places: &'m mut [Place],
    ranks: u32,
}

/// What a probe looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub context: u32,
    /// None: any.
    pub tag: Option<i32>,
}

impl Pattern {
    fn accepts(&self, message: &Envelope) -> bool {
        self.context == message.context && self.tag.is_none_or(|tag| tag == message.tag)
    }
}

/// Places for sends and receives that wait, of all ranks. Not measured: some thousand, of which a rank that finds none left keeps its own account.
pub const PLACES: usize = 4096;

/// Memory as words, if it is aligned to them.
pub fn words(memory: &mut [u8]) -> Option<&mut [u64]> {
    bytemuck::try_cast_slice_mut(memory).ok()
}

impl<'m> Queues<'m> {
    /// Words of the queues of a node of `ranks` ranks.
    #[must_use]
    pub const fn words_for(ranks: u32) -> usize {
        let bytes = size_of::<Pool>()
            + ranks as usize * ranks as usize * size_of::<Pair>()
            + PLACES * size_of::<Place>();
        bytes / size_of::<u64>()
    }

    /// The queues in memory that began as zeros; none if it is not [`Queues::words_for`] so many ranks.
    pub fn of(words: &'m mut [u64], ranks: u32) -> Option<Queues<'m>> {
        if words.len() != Self::words_for(ranks) {
            return None;
        }
        let (pool, rest) = words.split_at_mut(size_of::<Pool>() / size_of::<u64>());
        let pairs = ranks as usize * ranks as usize * size_of::<Pair>() / size_of::<u64>();
        let (pairs, places) = rest.split_at_mut(pairs);
        let pool = bytemuck::try_cast_slice_mut(pool).ok()?.first_mut()?;
        let (pairs, places) =
            (bytemuck::try_cast_slice_mut(pairs).ok()?, bytemuck::try_cast_slice_mut(places).ok()?);
        Some(Queues { pool, pairs, places, ranks })
    }

    /// Ranks of the node.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.ranks
    }
}

// Memory is cut at words, and nothing is left over.
const _: () = assert!(
    size_of::<Pool>().is_multiple_of(size_of::<u64>())
        && size_of::<Pair>().is_multiple_of(size_of::<u64>())
        && size_of::<Place>().is_multiple_of(size_of::<u64>())
);

/// There is no place left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl Queues<'_> {
    /// Posts a send or a receive of messages from one rank to another. If the oldest counterpart that matches waits, it is taken out and returned, and nothing is
    /// posted. Errors: [`Full`]; nothing has happened.
    ///
    /// # Panics
    /// If a rank is not below `ranks`: the home numbers them.
    #[inline(never)]
    pub fn post(&mut self, from: u32, to: u32, side: Side, posted: &Posted) -> Result<Option<Posted>, Full> {
        if let Some(found) = self.meet(from, to, side, posted) {
            return Ok(Some(found));
        }
        let pair = self.pair(from, to);
        let place = self.allocate().ok_or(Full)?;
        self.places[place as usize - 1] = Place { posted: *posted, next: 0, unused: 0 };
        let queue = &mut self.pairs[pair].queues[side as usize];
        match core::mem::replace(&mut queue.last, place) {
            0 => queue.first = place,
            last => self.places[last as usize - 1].next = place,
        }
        Ok(None)
    }

    /// Takes out the oldest counterpart that matches, if one waits; otherwise nothing happens.
    ///
    /// # Panics
    /// As [`Queues::post`].
    #[inline(never)]
    pub fn meet(&mut self, from: u32, to: u32, side: Side, posted: &Posted) -> Option<Posted> {
        let pair = self.pair(from, to);
        let fits = |other: &Posted| if side.is_outward() { other.takes(posted) } else { posted.takes(other) };
        self.take(pair, side.other(), fits)
    }

    /// The oldest message from one rank to another, which waits, that a pattern accepts.
    ///
    /// # Panics
    /// As [`Queues::post`].
    #[inline(never)]
    pub fn probe(&self, from: u32, to: u32, pattern: &Pattern) -> Option<Envelope> {
        let pair = self.pair(from, to);
        let mut sent =
            self.walk(pair, Side::Sends).map(|(_, place)| self.places[place as usize - 1].posted.envelope());
        sent.find(|envelope| pattern.accepts(envelope))
    }

    /// Takes back what a rank has posted under a request; false if it has been matched.
    ///
    /// # Panics
    /// As [`Queues::post`].
    #[inline(never)]
    pub fn withdraw(&mut self, from: u32, to: u32, side: Side, request: u64) -> bool {
        let pair = self.pair(from, to);
        self.take(pair, side, |posted| posted.request == request).is_some()
    }

    /// The `bytes` bytes of a send or a write that waits are at another address from now on; false if it has been matched, or has others.
    ///
    /// # Panics
    /// As [`Queues::post`].
    #[inline(never)]
    pub fn relocate(
        &mut self,
        (from, to): (u32, u32),
        side: Side,
        request: u64,
        (address, bytes): (u64, u64),
    ) -> bool {
        let pair = self.pair(from, to);
        let named = |place: &u32| {
            let posted = &self.places[*place as usize - 1].posted;
            posted.request == request && posted.bytes == bytes
        };
        let Some(place) = self.walk(pair, side).map(|(_, place)| place).find(named) else {
            return false;
        };
        self.places[place as usize - 1].posted.address = address;
        true
    }

    fn pair(&self, from: u32, to: u32) -> usize {
        assert!(from < self.ranks && to < self.ranks, "a rank that the node has not");
        from as usize * self.ranks as usize + to as usize
    }

    /// The places of a queue, oldest first, each with the one before it.
    fn walk(&self, pair: usize, side: Side) -> impl Iterator<Item = (u32, u32)> {
        let mut before = 0;
        let mut place = self.pairs[pair].queues[side as usize].first;
        core::iter::from_fn(move || {
            let next = self.places.get((place as usize).wrapping_sub(1))?.next;
            let found = (before, place);
            (before, place) = (place, next);
            Some(found)
        })
    }

    /// Takes the oldest out of a queue that fits.
    fn take(&mut self, pair: usize, side: Side, fits: impl Fn(&Posted) -> bool) -> Option<Posted> {
        let fitting = |(_, place): &(u32, u32)| fits(&self.places[*place as usize - 1].posted);
        let (before, place) = self.walk(pair, side).find(fitting)?;
        let Place { posted, next, .. } = self.places[place as usize - 1];
        let queue = &mut self.pairs[pair].queues[side as usize];
        match before {
            0 => queue.first = next,
            before => self.places[before as usize - 1].next = next,
        }
        if queue.last == place {
            queue.last = before;
        }
        self.places[place as usize - 1].next = core::mem::replace(&mut self.pool.free, place);
        Some(posted)
    }

    /// A place that is in no queue.
    fn allocate(&mut self) -> Option<u32> {
        match self.pool.free {
            0 if (self.pool.used as usize) < self.places.len() => {
                self.pool.used += 1;
                Some(self.pool.used)
            }
            0 => None,
            place => {
                self.pool.free = self.places[place as usize - 1].next;
                Some(place)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    const RANKS: u32 = 3;

    fn memory() -> Vec<u64> {
        vec![0; Queues::words_for(RANKS)]
    }

    fn posted(context: u32, tag: i32, request: u64) -> Posted {
        Posted { context, tag, bytes: 8, request, ..Posted::default() }
    }

    fn of_any_tag(context: u32, request: u64) -> Posted {
        Posted { any_tag: 1, ..posted(context, -1, request) }
    }

    #[test]
    fn the_later_finds_the_earlier_of_its_pair_whoever_it_is() {
        let mut memory = memory();
        let mut queues = Queues::of(&mut memory, RANKS).unwrap();
        let (send, receive) = (posted(1, 5, 10), posted(1, 5, 20));
        assert_eq!(queues.post(0, 1, Side::Sends, &send), Ok(None));
        for (from, to) in [(1, 0), (0, 2), (2, 1), (0, 0)] {
            assert_eq!(queues.post(from, to, Side::Receives, &receive), Ok(None), "another pair");
        }
        assert_eq!(queues.post(0, 1, Side::Receives, &receive), Ok(Some(send)));
        assert_eq!(queues.post(0, 2, Side::Sends, &send), Ok(Some(receive)));
        assert_eq!(queues.post(0, 1, Side::Receives, &receive), Ok(None), "it is gone");
    }

    #[test]
    fn a_write_meets_reads_only() {
        let mut memory = memory();
        let mut queues = Queues::of(&mut memory, RANKS).unwrap();
        let (write, read) = (posted(1, 5, 10), posted(1, 5, 20));
        assert_eq!(queues.post(0, 1, Side::Writes, &write), Ok(None));
        for side in [Side::Receives, Side::Sends, Side::Writes] {
            assert!(queues.post(0, 1, side, &read).is_ok_and(|found| found != Some(write)));
        }
        assert_eq!(queues.post(0, 1, Side::Reads, &read), Ok(Some(write)));
        for number in 0..4 {
            assert_eq!(Side::of(number).map(|side| side as u64), Some(number));
        }
        assert_eq!(Side::of(4), None);
    }

    #[test]
    fn context_and_tag_match_and_the_oldest_is_first() {
        let mut memory = memory();
        let mut queues = Queues::of(&mut memory, RANKS).unwrap();
        let sends = [posted(1, 5, 10), posted(2, 5, 11), posted(1, 6, 12), posted(1, 5, 13)];
        for send in &sends {
            assert_eq!(queues.post(0, 1, Side::Sends, send), Ok(None));
        }
        let at = |context, tag| Pattern { context, tag };
        let seen = |number: usize| Some(sends[number].envelope());
        assert_eq!(queues.probe(0, 1, &at(1, None)), seen(0));
        assert_eq!(queues.probe(0, 1, &at(1, Some(6))), seen(2));
        assert_eq!((queues.probe(0, 1, &at(3, None)), queues.probe(1, 0, &at(1, None))), (None, None));
        let mut take = |receive: Posted| queues.post(0, 1, Side::Receives, &receive).unwrap();
        assert_eq!(take(of_any_tag(2, 20)), Some(sends[1]));
        assert_eq!(take(posted(1, 6, 20)), Some(sends[2]));
        assert_eq!(take(of_any_tag(1, 20)), Some(sends[0]));
        assert_eq!(take(posted(1, 5, 20)), Some(sends[3]));
        // Receives wait in their order, too.
        assert_eq!((take(of_any_tag(1, 20)), take(posted(1, 5, 21))), (None, None));
        assert_eq!(queues.post(0, 1, Side::Sends, &sends[0]), Ok(Some(of_any_tag(1, 20))));
    }

    #[test]
    fn a_send_that_only_meets_leaves_nothing_behind() {
        let mut memory = memory();
        let mut queues = Queues::of(&mut memory, RANKS).unwrap();
        let (send, receive) = (posted(1, 5, 10), posted(1, 5, 20));
        assert_eq!(queues.meet(0, 1, Side::Sends, &send), None);
        assert_eq!(queues.post(0, 1, Side::Receives, &receive), Ok(None));
        assert_eq!(queues.meet(0, 1, Side::Sends, &posted(1, 6, 10)), None);
        assert_eq!(queues.meet(0, 1, Side::Sends, &send), Some(receive));
        assert!(!queues.withdraw(0, 1, Side::Receives, 20), "it has been matched");
        assert_eq!(queues.post(0, 1, Side::Receives, &receive), Ok(None));
    }

    #[test]
    fn what_waits_can_be_taken_back_and_moved_once() {
        let mut memory = memory();
        let mut queues = Queues::of(&mut memory, RANKS).unwrap();
        let send = posted(1, 5, 10);
        assert_eq!(queues.post(0, 1, Side::Sends, &send), Ok(None));
        assert!(!queues.withdraw(0, 1, Side::Receives, 10) && !queues.withdraw(0, 2, Side::Sends, 10));
        let mut relocate = |side, request, bytes| queues.relocate((0, 1), side, request, (99, bytes));
        assert!(
            !relocate(Side::Sends, 11, 8) && !relocate(Side::Sends, 10, 9) && !relocate(Side::Writes, 10, 8)
        );
        assert!(relocate(Side::Sends, 10, 8));
        let moved = Posted { address: 99, ..send };
        assert_eq!(queues.post(0, 1, Side::Receives, &posted(1, 5, 20)), Ok(Some(moved)));
        assert!(!queues.withdraw(0, 1, Side::Sends, 10), "it has been matched");
        assert_eq!(queues.post(0, 1, Side::Sends, &send), Ok(None));
        assert!(queues.withdraw(0, 1, Side::Sends, 10) && !queues.withdraw(0, 1, Side::Sends, 10));
        assert_eq!(queues.probe(0, 1, &Pattern { context: 1, tag: None }), None);
    }

    #[test]
    fn full_queues_take_nothing_and_go_on_when_something_has_been_taken() {
        let mut memory = memory();
        let mut queues = Queues::of(&mut memory, RANKS).unwrap();
        for number in 0..PLACES as u64 {
            assert_eq!(queues.post(0, 1, Side::Sends, &posted(1, 5, number)), Ok(None));
        }
        assert_eq!(queues.post(2, 1, Side::Sends, &posted(1, 5, 0)), Err(Full));
        assert_eq!(queues.post(0, 1, Side::Receives, &posted(1, 5, 0)), Ok(Some(posted(1, 5, 0))));
        assert_eq!(queues.post(2, 1, Side::Sends, &posted(1, 5, 0)), Ok(None));
        assert_eq!(queues.post(2, 1, Side::Sends, &posted(1, 5, 0)), Err(Full));
        assert!(Queues::of(&mut memory[1..], RANKS).is_none());
    }

    proptest! {
        /// Against lists that are searched from the front.
        #[test]
        fn whatever_is_posted_the_oldest_that_matches_is_found(
            steps in prop::collection::vec((0..RANKS, 0..RANKS, any::<bool>(), 0..2u32, 0..3i32, any::<bool>(), 0..8u8), 1..200)
        ) {
            let mut memory = memory();
            let mut queues = Queues::of(&mut memory, RANKS).unwrap();
            let mut lists: Vec<(u32, u32, Side, Posted)> = Vec::new();
            for (number, (from, to, sends, context, tag, any, what)) in (0..).zip(steps) {
                let side = if sends { Side::Sends } else { Side::Receives };
                let own = if any && !sends { of_any_tag(context, number) } else { posted(context, tag, number) };
                if what == 0 && let Some(old) = lists.pop() {
                    prop_assert!(queues.withdraw(old.0, old.1, old.2, old.3.request));
                    continue;
                }
                let fits = |other: &(u32, u32, Side, Posted)| {
                    let (send, receive) = if sends { (own, other.3) } else { (other.3, own) };
                    (other.0, other.1) == (from, to) && other.2 != side && receive.takes(&send)
                };
                let expected = lists.iter().position(fits).map(|index| lists.remove(index).3);
                prop_assert_eq!(queues.post(from, to, side, &own), Ok(expected));
                if expected.is_none() {
                    lists.push((from, to, side, own));
                }
            }
        }
    }
}
