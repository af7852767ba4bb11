//! Blocking broadcast, gather, scatter, allgather and alltoall with equal parts, without a plan: each rank posts a row, which is one
//! region for each rank at equal distances, in one line.

use super::Exchange;
use super::algorithm::Alltoall;
use super::arguments::{BufferArgument, Division, Parts};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use lwk_copy::threshold::TOLD_LIMIT;
use lwk_mpi_area::{Kind, LONG_BYTES, NO_ROOT, SMALL_BYTES, Shared, check, copy_whole, sort};
use lwk_path::region::Region;
use lwk_place::CommRank;
use lwk_ring::PAIR_BYTES;
use lwk_user::smartmap::Peer;

/// As many regions as there are ranks: the first, and the bytes from one to the next.
#[derive(Clone, Copy)]
pub(super) struct EqualParts {
    first: Region,
    stride: i64,
}

impl EqualParts {
    /// The same region for all.
    pub fn same(region: Region) -> EqualParts {
        EqualParts { first: region, stride: 0 }
    }

    /// Bytes of each region.
    pub fn each(&self) -> usize {
        self.first.bytes()
    }

    /// The words of a post.
    pub fn words(&self) -> [u64; 6] {
        let [address, layout, length, count] = self.first.words();
        [address, layout, length, count, self.first.bytes() as u64, self.stride as u64]
    }

    /// The region for `rank` of the row that `owner` describes by these words.
    pub fn posted(owner: Peer, words: [u64; 6], rank: CommRank) -> Region {
        let [address, layout, length, count, bytes, stride] = words;
        let address = address.wrapping_add(stride.wrapping_mul(rank.0 as u64));
        Region::of_peer(owner, [address, layout, length, count], bytes as usize)
    }

    /// The region for `rank`.
    pub fn part(&self, rank: CommRank) -> Region {
        let [address, layout, length, count] = self.first.words();
        let address = address.wrapping_add((self.stride as u64).wrapping_mul(rank.0 as u64));
        Region::of_words([address, layout, length, count], self.first.bytes())
    }
}

impl Engine {
    /// The row of a buffer that is divided equally. Errors: `COUNT`, `TYPE`, `BUFFER`.
    pub(super) fn row(&self, parts: &Parts, count: i64) -> Result<EqualParts> {
        let first = self.region(parts.address, count, parts.datatype)?;
        self.check_buffer(parts.address, count, parts.datatype)?;
        let stride = count.checked_mul(self.extent(parts.datatype)?).ok_or(Error::VALUE_TOO_LARGE)?;
        Ok(EqualParts { first, stride })
    }

    /// The region of a part that lives as long as the call. Errors: `COUNT`, `TYPE`, `BUFFER`.
    fn own_part(&self, part: &BufferArgument) -> Result<Region> {
        self.check_buffer(part.address, part.count, part.datatype)?;
        self.region(part.address, part.count, part.datatype)
    }

    /// Every rank's part comes into the root's buffer: by lines, or each stores it there. Errors: `COUNT`, `TYPE`, `BUFFER`, and `NOT_SAME`, `ROOT`, `TRUNCATE` where calls do
    /// not match.
    ///
    /// # Safety
    /// As for [`Engine::collective`].
    pub(super) unsafe fn gather_row(
        &mut self,
        communicator: &Communicator,
        send: &BufferArgument,
        receive: &Parts,
        count: i64,
        root: CommRank,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let (mine, row) = self.own_and_row(shared, send, receive, count, root)?;
        let bytes = part_bytes(mine.as_ref(), row.as_ref());
        if bytes <= LONG_BYTES {
            let it = shared.enter_oneway(sort(Kind::GatherRow, root, bytes), bytes)?;
            let row = |rank| Ok(row.ok_or(Error::INTERN)?.part(rank));
            // SAFETY: `mine` is readable and the root's row writable (this function's contract).
            return unsafe { self.gather_by_lines(shared, it, root, mine.as_ref(), row) };
        }
        // SAFETY: `mine` is readable; the root's part for this rank is writable until all have finished (each
        // rank's contract).
        let store = |mine: &Region, part: &Region| unsafe { copy_whole(mine, part) };
        self.rooted_row(shared, Kind::GatherRow, mine, row, root, store)
    }

    /// Every rank gets its part of the root's buffer: by lines, or each loads it. Errors: as for [`Engine::gather_row`].
    ///
    /// # Safety
    /// As for [`Engine::collective`].
    pub(super) unsafe fn scatter_row(
        &mut self,
        communicator: &Communicator,
        send: &Parts,
        count: i64,
        receive: &BufferArgument,
        root: CommRank,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let (mine, row) = self.own_and_row(shared, receive, send, count, root)?;
        let bytes = part_bytes(mine.as_ref(), row.as_ref());
        if bytes <= LONG_BYTES {
            let it = shared.enter_oneway(sort(Kind::ScatterRow, root, bytes), bytes)?;
            let row = |rank| Ok(row.ok_or(Error::INTERN)?.part(rank));
            // SAFETY: `mine` is writable and the root's row readable (this function's contract).
            return unsafe { self.scatter_by_lines(shared, it, root, mine.as_ref(), row) };
        }
        // SAFETY: the root's part is readable until all have finished; `mine` is writable (each rank's
        // contract).
        let load = |mine: &Region, part: &Region| unsafe { copy_whole(part, mine) };
        self.rooted_row(shared, Kind::ScatterRow, mine, row, root, load)
    }

    /// This rank's part, unless it is in place, which only the root's may be, and what the root has for all. Errors: `COUNT`, `TYPE`, `BUFFER`.
    #[inline(always)]
    fn own_and_row(
        &self,
        shared: &Shared,
        own: &BufferArgument,
        parts: &Parts,
        count: i64,
        root: CommRank,
    ) -> Result<(Option<Region>, Option<EqualParts>)> {
        let mine = self.own(shared, own, root)?;
        Ok((mine, if shared.rank == root { Some(self.row(parts, count)?) } else { None }))
    }

    /// The root posts its row, and every rank calls `copy` with its own part and with the root's for it, which stays until all have finished
    /// and which no other rank copies; not with a part that is in place, which only the root's may be.
    fn rooted_row(
        &mut self,
        shared: &Shared,
        kind: Kind,
        mine: Option<Region>,
        row: Option<EqualParts>,
        root: CommRank,
        copy: impl FnOnce(&Region, &Region) -> Result<()>,
    ) -> Result<()> {
        let check = check(kind, root, 0);
        let number = self.open(shared, check, row.map_or([0; 6], |row| row.words()).as_slice())?;
        let mut outcome = Ok(());
        if let Some(mine) = mine {
            outcome = self.await_post(shared, root, number, check);
            if outcome.is_ok() {
                outcome = shared.posted_part(root, number, shared.rank).and_then(|part| copy(&mine, &part));
            }
        }
        self.end_rooted(shared, root, number, outcome)
    }

    /// Ends a rooted operation: the root waits for all, the others for nobody.
    pub(super) fn end_rooted(
        &mut self,
        shared: &Shared,
        root: CommRank,
        number: u64,
        outcome: Result<()>,
    ) -> Result<()> {
        if shared.rank == root {
            return self.close(shared, number, outcome);
        }
        shared.finish(number);
        outcome
    }

    /// Every rank loads every rank's part. Errors: as for [`Engine::gather_row`].
    ///
    /// # Safety
    /// As for [`Engine::collective`].
    pub(super) unsafe fn allgather_row(
        &mut self,
        communicator: &Communicator,
        send: &BufferArgument,
        receive: &Parts,
        count: i64,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let row = self.row(receive, count)?;
        let in_place = send.is_in_place();
        let own = row.part(shared.rank);
        let mine = if in_place { own } else { self.own_part(send)? };
        if mine.bytes() <= TOLD_LIMIT {
            let part = |rank| Ok(row.part(rank));
            // SAFETY: `mine` is readable, all parts are writable, without overlap (this function's contract).
            return unsafe {
                self.tell_parts(shared, Kind::AllgatherRow, own.bytes(), (&mine, in_place), part)
            };
        }
        let check = check(Kind::AllgatherRow, NO_ROOT, 0);
        let number = self.open(shared, check, &EqualParts::same(mine).words())?;
        let (rank, size) = (shared.rank, shared.size());
        let mut outcome = Ok(());
        for peer in rank.and_on(size).filter(|peer| !(in_place && *peer == rank)) {
            let moved = self.await_post(shared, peer, number, check).and_then(|()| {
                let part = shared.posted_part(peer, number, rank)?;
                // SAFETY: the peer's posted part is readable until all have finished; the part of `receive`
                // for it is writable (each rank's contract).
                unsafe { copy_whole(&part, &row.part(peer)) }
            });
            outcome = outcome.and(moved);
        }
        self.close(shared, number, outcome)
    }

    /// Every rank has something for every other. Errors: as for [`Engine::gather_row`].
    ///
    /// # Safety
    /// As for [`Engine::collective`].
    pub(super) unsafe fn alltoall_row(
        &mut self,
        communicator: &Communicator,
        send: &Parts,
        receive: &Parts,
        counts: (i64, i64),
        form: Option<Alltoall>,
    ) -> Result<()> {
        let shared = &communicator.shared;
        let (from, to) = (self.row(send, counts.0)?, self.row(receive, counts.1)?);
        let (rank, size) = (shared.rank, shared.size());
        let each = from.first.bytes();
        let fits = each * size as usize <= SMALL_BYTES;
        // By what all ranks know, whatever datatypes they use.
        let form = match form {
            Some(form @ (Alltoall::Paper | Alltoall::Pull | Alltoall::Push)) => form,
            None | Some(Alltoall::Pair) if size == 2 && each <= PAIR_BYTES => Alltoall::Pair,
            _ if fits => Alltoall::Line,
            _ => Alltoall::Push,
        };
        if form == Alltoall::Paper {
            // SAFETY: all parts of `from` are readable and those of `to` writable, without overlap (this
            // function's contract).
            return unsafe { self.alltoall_paper(communicator, &from, &to) };
        }
        if matches!(form, Alltoall::Pair | Alltoall::Line) && each != to.first.bytes() {
            return Err(if each > to.first.bytes() { Error::TRUNCATE } else { Error::COUNT });
        }
        if form == Alltoall::Pair {
            // SAFETY: two ranks and parts of one size (checked above); `from` is readable and `to` writable
            // (this function's contract).
            return unsafe { self.alltoall_pair_of_rows(shared, &from, &to) };
        }
        if form == Alltoall::Line {
            let exchange = Exchange::begin(shared, sort(Kind::AlltoallRow, NO_ROOT, each), |line| {
                shared.ranks().try_for_each(|peer| {
                    let target = Region::block(line.wrapping_add(peer.index() * each), each);
                    // SAFETY: the line takes all parts, at most `SMALL_BYTES` (`fits`); those of `from` are
                    // readable (this function's contract).
                    unsafe { copy_whole(&from.part(peer), &target) }
                })
            })?;
            for peer in shared.ranks() {
                let line = exchange.content(self, shared, peer)?;
                let source = Region::block(line.wrapping_add(rank.index() * each), each);
                // SAFETY: the line holds all parts until this rank's next operation; those of `to` are
                // writable (this function's contract).
                unsafe { copy_whole(&source, &to.part(peer))? };
            }
            return Ok(());
        }
        let push = form == Alltoall::Push;
        let check = check(if push { Kind::AlltoallPush } else { Kind::AlltoallRow }, NO_ROOT, 0);
        let number = self.open(shared, check, &if push { to.words() } else { from.words() })?;
        let mut outcome = Ok(());
        for peer in rank.and_on(size) {
            let moved = self.await_post(shared, peer, number, check).and_then(|()| {
                let theirs = shared.posted_part(peer, number, rank)?;
                // SAFETY: the peer has posted its row and keeps it until all have finished; parts do not overlap.
                unsafe {
                    if push {
                        copy_whole(&from.part(peer), &theirs)
                    } else {
                        copy_whole(&theirs, &to.part(peer))
                    }
                }
            });
            outcome = outcome.and(moved);
        }
        self.close(shared, number, outcome)
    }
}

/// Bytes of each part, as this rank knows them.
#[inline(always)]
fn part_bytes(mine: Option<&Region>, row: Option<&EqualParts>) -> usize {
    row.map(EqualParts::each).or(mine.map(Region::bytes)).unwrap_or(0)
}

/// The number of items of each part, if the division is equal.
pub(super) fn equal(division: &Division) -> Option<i64> {
    match division {
        Division::Equal(count) => Some(*count),
        _ => None,
    }
}
