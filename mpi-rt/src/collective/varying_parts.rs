//! Blocking gather and scatter of small parts, and of parts that differ, by lines in turn (`oneway`): a leaf's part is in its line, and who gives goes on.
//!
//! How long a part is only its leaf and the root know, so every part has a line of its own that says. A part that is too long for it is described there. The
//! root of a scatter then waits until the leaf has fetched it; that of a gather fetches it, or answers where it goes if it is worth that all leaves copy at
//! once (`lwk_ring::Reply`), and the leaf waits for that.

use super::arguments::{BufferArgument, Parts, VaryingParts};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use lwk_copy::threshold::LEAVES_COPY_FROM;
use lwk_mpi_area::{Given, Kind, LONG_BYTES, Oneway, Shared, copy_whole, sort};
use lwk_path::region::Region;
use lwk_place::CommRank;
use lwk_ring::REPLY_WORDS;

/// In an answer: whether the leaf is to copy; then the root's part, as [`Region::words`], and its bytes.
const COPY: u64 = 1;

impl Engine {
    /// Gather with varying parts. Errors: `COUNT`, `TYPE`, `BUFFER`, `ARG`, and `NOT_SAME`, `ROOT`, `TRUNCATE` where calls do not match.
    ///
    /// # Safety
    /// As for [`Engine::collective`].
    pub(super) unsafe fn gather_parts(
        &mut self,
        communicator: &Communicator,
        send: &BufferArgument,
        receive: &Parts,
        root: CommRank,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let parts = self.parts_of_root(shared, receive, root)?;
        let mine = self.own(shared, send, root)?;
        let row = |rank: CommRank| parts.as_ref().ok_or(Error::INTERN)?.part(rank.index());
        let it = shared.enter_long(sort(Kind::GatherParts, root, 0))?;
        // SAFETY: this rank's part is readable, the root's are writable (this function's contract).
        unsafe { self.gather_by_lines(shared, it, root, mine.as_ref(), row) }
    }

    /// Scatter with varying parts. Errors: as for [`Engine::gather_parts`].
    ///
    /// # Safety
    /// As for [`Engine::collective`].
    pub(super) unsafe fn scatter_parts(
        &mut self,
        communicator: &Communicator,
        send: &Parts,
        receive: &BufferArgument,
        root: CommRank,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let parts = self.parts_of_root(shared, send, root)?;
        let mine = self.own(shared, receive, root)?;
        let row = |rank: CommRank| parts.as_ref().ok_or(Error::INTERN)?.part(rank.index());
        let it = shared.enter_long(sort(Kind::ScatterParts, root, 0))?;
        // SAFETY: this rank's part is writable, the root's are readable (this function's contract).
        unsafe { self.scatter_by_lines(shared, it, root, mine.as_ref(), row) }
    }

    /// The parts, at the root. Errors: those of [`Engine::varying`].
    fn parts_of_root<'a>(
        &self,
        shared: &Shared,
        parts: &Parts<'a>,
        root: CommRank,
    ) -> Result<Option<VaryingParts<'a>>> {
        if shared.rank == root { self.varying(parts, shared.size() as usize).map(Some) } else { Ok(None) }
    }

    /// This rank's part, unless it is in place, which only the root's may be. Errors: `COUNT`, `TYPE`, `BUFFER`.
    #[inline]
    pub(super) fn own(
        &self,
        shared: &Shared,
        own: &BufferArgument,
        root: CommRank,
    ) -> Result<Option<Region>> {
        if !own.is_in_place() {
            return Ok(Some(self.buffer(own.address, own.count, own.datatype)?));
        }
        if shared.rank == root { Ok(None) } else { Err(Error::BUFFER) }
    }

    /// Every rank's part goes to the root, who has `row`; not one that is in place. Errors: `TRUNCATE`, and those of `await_rank`.
    ///
    /// # Safety
    /// The operation has been entered. `mine` is readable, and the root's row writable.
    #[inline]
    pub(super) unsafe fn gather_by_lines(
        &mut self,
        shared: &Shared,
        it: Oneway,
        root: CommRank,
        mine: Option<&Region>,
        row: impl Fn(CommRank) -> Result<Region>,
    ) -> Result<()> {
        // SAFETY: `mine` is readable, the root's row writable (this function's contract).
        let here = |engine: &mut Engine| unsafe { engine.gather_here(shared, it, mine, row) };
        // SAFETY: `mine` is readable (this function's contract).
        let leaf = |engine: &mut Engine, mine: &Region| unsafe { engine.give_part(shared, it, root, mine) };
        self.root_or_leaf(shared, it, root, mine, here, leaf)
    }

    /// An operation between a root and its leaves, of which one in place has nothing to do; then it has ended here.
    #[inline(always)]
    fn root_or_leaf(
        &mut self,
        shared: &Shared,
        it: Oneway,
        root: CommRank,
        mine: Option<&Region>,
        here: impl FnOnce(&mut Engine) -> Result<()>,
        leaf: impl FnOnce(&mut Engine, &Region) -> Result<()>,
    ) -> Result<()> {
        let outcome = match mine {
            _ if shared.rank == root => here(self),
            Some(mine) => leaf(self, mine),
            None => Ok(()),
        };
        shared.end_oneway(it);
        outcome
    }

    /// A leaf's part of a gather.
    ///
    /// # Safety
    /// `mine` is readable.
    #[inline]
    unsafe fn give_part(&mut self, shared: &Shared, it: Oneway, root: CommRank, mine: &Region) -> Result<()> {
        // SAFETY: `mine` is readable (this function's contract), and a leaf gives by its own lines, once.
        unsafe { self.give(shared, it, shared.rank, mine)? };
        if mine.bytes() <= LONG_BYTES {
            return Ok(());
        }
        let reply = shared.reply(shared.rank, it)?;
        let mut answer = None;
        self.await_rank(shared, root, || {
            answer = reply.answered(it.number);
            answer.is_some()
        })?;
        // SAFETY: `mine` is readable (this function's contract).
        unsafe { obey(shared, it, root, mine, answer.ok_or(Error::INTERN)?) }
    }

    /// The root's part of a gather.
    ///
    /// # Safety
    /// As for [`Engine::gather_by_lines`].
    #[inline]
    unsafe fn gather_here(
        &mut self,
        shared: &Shared,
        it: Oneway,
        mine: Option<&Region>,
        row: impl Fn(CommRank) -> Result<Region>,
    ) -> Result<()> {
        let (root, mut outcome, mut has_left) = (shared.rank, Ok(()), false);
        if let Some(mine) = mine {
            // SAFETY: both are this rank's own, which do not overlap (this function's contract).
            outcome = row(root).and_then(|part| unsafe { copy_whole(mine, &part) });
        }
        for rank in shared.ranks().filter(|rank| *rank != root) {
            let taken = self.await_given(shared, rank, rank, it).and_then(|given| {
                let part = row(rank)?;
                // SAFETY: the line has not been ended, and the part is writable (this function's contract).
                unsafe { take_or_leave(shared, it, rank, &given, &part, &mut has_left) }
            });
            outcome = outcome.and(taken);
        }
        if has_left { outcome.and(self.await_leaves(shared, it, row)) } else { outcome }
    }

    /// Waits for the leaves that copy their parts of a gather.
    #[cold]
    fn await_leaves(
        &mut self,
        shared: &Shared,
        it: Oneway,
        row: impl Fn(CommRank) -> Result<Region>,
    ) -> Result<()> {
        let mut outcome = Ok(());
        for rank in shared.ranks().filter(|rank| *rank != shared.rank) {
            // It is there, or will not come, as before.
            let ended = self.await_given(shared, rank, rank, it).and_then(|given| {
                if !is_left(shared, &given, &row(rank)?) {
                    return Ok(());
                }
                let reply = shared.reply(rank, it)?;
                self.await_rank(shared, rank, || reply.has_ended(it.number))
            });
            outcome = outcome.and(ended);
        }
        outcome
    }

    /// Every rank gets its part of the row that the root has; not one that is in place. Errors: as for [`Engine::gather_by_lines`].
    ///
    /// # Safety
    /// The operation has been entered. `mine` is writable, and the root's row readable.
    #[inline]
    pub(super) unsafe fn scatter_by_lines(
        &mut self,
        shared: &Shared,
        it: Oneway,
        root: CommRank,
        mine: Option<&Region>,
        row: impl Fn(CommRank) -> Result<Region>,
    ) -> Result<()> {
        // SAFETY: `mine` is writable, the root's row readable (this function's contract).
        let here = |engine: &mut Engine| unsafe { engine.deal(shared, it, mine, row) };
        // SAFETY: `mine` is writable (this function's contract).
        let leaf = |engine: &mut Engine, mine: &Region| unsafe { engine.take_part(shared, it, root, mine) };
        self.root_or_leaf(shared, it, root, mine, here, leaf)
    }

    /// A leaf's part of a scatter.
    ///
    /// # Safety
    /// `mine` is writable.
    #[inline]
    unsafe fn take_part(&mut self, shared: &Shared, it: Oneway, root: CommRank, mine: &Region) -> Result<()> {
        let given = self.await_given(shared, root, shared.rank, it)?;
        // SAFETY: the line has not been ended, and `mine` is writable (this function's contract).
        unsafe { take_given(shared, it, root, &given, mine) }
    }

    /// The root's part of a scatter.
    ///
    /// # Safety
    /// As for [`Engine::scatter_by_lines`].
    #[inline]
    unsafe fn deal(
        &mut self,
        shared: &Shared,
        it: Oneway,
        mine: Option<&Region>,
        row: impl Fn(CommRank) -> Result<Region>,
    ) -> Result<()> {
        let (root, mut outcome, mut is_long) = (shared.rank, Ok(()), false);
        for rank in shared.ranks().filter(|rank| *rank != root) {
            let given = row(rank).and_then(|part| {
                is_long |= part.bytes() > LONG_BYTES;
                // SAFETY: the part is readable (this function's contract); in a scatter only the root gives by a leaf's lines.
                unsafe { self.give(shared, it, rank, &part) }
            });
            outcome = outcome.and(given);
        }
        if let Some(mine) = mine {
            // SAFETY: both are this rank's own, which do not overlap (this function's contract).
            let copied = row(root).and_then(|part| unsafe { copy_whole(&part, mine) });
            outcome = outcome.and(copied);
        }
        if is_long { outcome.and(self.await_takers(shared, it, row)) } else { outcome }
    }

    /// Waits for the leaves that fetch their parts of a scatter.
    #[cold]
    fn await_takers(
        &mut self,
        shared: &Shared,
        it: Oneway,
        row: impl Fn(CommRank) -> Result<Region>,
    ) -> Result<()> {
        let mut outcome = Ok(());
        for rank in shared.ranks().filter(|rank| *rank != shared.rank) {
            if row(rank)?.bytes() > LONG_BYTES {
                let reply = shared.reply(rank, it)?;
                let ended = self.await_rank(shared, rank, || reply.has_ended(it.number));
                outcome = outcome.and(ended);
            }
        }
        outcome
    }
}

/// A leaf does what the root has answered for its part of a gather. Errors: `INTERN`.
///
/// # Safety
/// `mine` is readable.
pub(super) unsafe fn obey(
    shared: &Shared,
    it: Oneway,
    root: CommRank,
    mine: &Region,
    answer: [u64; REPLY_WORDS],
) -> Result<()> {
    let [what, a, b, c, d, bytes] = answer;
    if what != COPY {
        return Ok(());
    }
    let part = Region::of_peer(shared.peer(root).ok_or(Error::INTERN)?, [a, b, c, d], bytes as usize);
    // SAFETY: `mine` is readable (this function's contract); the root's part is writable until this rank says that it has ended.
    let copied = unsafe { copy_whole(mine, &part) };
    shared.reply(shared.rank, it)?.end(it.number);
    copied
}

/// Takes what a root has given: its line's content, or what it describes, which stays until this rank says that it has ended. Errors: `TRUNCATE`, `INTERN`.
///
/// # Safety
/// The line has not been ended, and `to` is writable.
#[inline]
pub(super) unsafe fn take_given(
    shared: &Shared,
    it: Oneway,
    root: CommRank,
    given: &Given,
    to: &Region,
) -> Result<()> {
    // SAFETY: this function's contract.
    unsafe {
        if !given.is_described() {
            return given.copy_to(to);
        }
        let described = shared.peer(root).ok_or(Error::INTERN).map(|root| given.described(root));
        let copied = described.and_then(|part| copy_whole(&part, to));
        shared.reply(shared.rank, it)?.end(it.number);
        copied
    }
}

/// Whether a part of a gather is left to its leaf to copy: it is described, several leaves can copy at once, and it is long enough.
#[inline]
pub(super) fn is_left(shared: &Shared, given: &Given, part: &Region) -> bool {
    let is_long = given.bytes >= LEAVES_COPY_FROM && given.bytes <= part.bytes();
    given.is_described() && shared.size() > 2 && is_long
}

/// The root takes a leaf's part of a gather out of the line, or if it is only described there fetches it, or tells the leaf where to copy it: then `has_left` is
/// set. Errors: `TRUNCATE`; the leaf has its answer in any case.
///
/// # Safety
/// The line has not been ended; `part` is writable until the leaf has ended the operation.
#[inline]
pub(super) unsafe fn take_or_leave(
    shared: &Shared,
    it: Oneway,
    rank: CommRank,
    given: &Given,
    part: &Region,
    has_left: &mut bool,
) -> Result<()> {
    if !given.is_described() {
        // SAFETY: the line has not been ended, and `part` is writable (this function's contract).
        return unsafe { given.copy_to(part) };
    }
    // SAFETY: this function's contract.
    unsafe { answer_described(shared, it, rank, given, part, has_left) }
}

/// As [`take_or_leave`], of a part that is described.
///
/// # Safety
/// As for [`take_or_leave`].
unsafe fn answer_described(
    shared: &Shared,
    it: Oneway,
    rank: CommRank,
    given: &Given,
    part: &Region,
    has_left: &mut bool,
) -> Result<()> {
    let reply = shared.reply(rank, it)?;
    let left = is_left(shared, given, part);
    *has_left |= left;
    let (answer, outcome) = if left {
        let [a, b, c, d] = part.words();
        ([COPY, a, b, c, d, part.bytes() as u64], Ok(()))
    } else {
        let owner = shared.peer(rank).ok_or(Error::INTERN);
        // SAFETY: the leaf's part is readable until it is answered, and `part` writable (this function's contract).
        let copied = owner.and_then(|owner| unsafe { copy_whole(&given.described(owner), part) });
        ([0; REPLY_WORDS], copied)
    };
    // SAFETY: this rank is the operation's root, has seen the leaf's line, and answers once.
    unsafe { reply.answer(it.number, answer) };
    outcome
}
