//! The steps of short operations by lines, each of which does what can be done now and never waits: `line_run` calls them again.

use super::equal_parts::EqualParts;
use super::fold::Reduction;
use super::line_cursor::{Cursor, Lanes, Phase, await_leaves, give};
use super::line_exchange::{self, Exchange};
use super::varying_parts::{is_left, obey, take_given, take_or_leave};
use crate::error::{Error, Result};
use alloc::vec::Vec;
use lwk_mpi_area::{Kind, LONG_BYTES, SMALL_BYTES, copy_whole};
use lwk_path::region::Region;
use lwk_place::{CommRank, Ranks};

/// What it is.
pub(super) enum Job {
    Broadcast(Region),
    Gather(Option<Region>, Row),
    Scatter(Option<Region>, Row),
    Reduce { reduction: Reduction, send: *const u8, receive: *mut u8 },
    Exchange(Exchange),
}

/// What to do, its kind and root, and whether parts differ.
pub(super) type Described = (Job, Kind, CommRank, bool);

impl Job {
    /// Bytes of the longest part that this rank knows.
    pub fn most(&self) -> usize {
        match self {
            Job::Broadcast(buffer) => buffer.bytes(),
            Job::Gather(mine, row) | Job::Scatter(mine, row) => {
                row.most().max(mine.as_ref().map_or(0, Region::bytes))
            }
            Job::Reduce { reduction, .. } => reduction.dense_bytes().unwrap_or(usize::MAX),
            Job::Exchange(exchange) => exchange.most(),
        }
    }

    /// Whether what is too long for a line is described there, if only giver and taker know how long parts are.
    pub fn describes_long_parts(&self) -> bool {
        !matches!(self, Job::Exchange(exchange) if !exchange.describes_long_parts())
    }
}

/// What the root has for each rank.
pub(super) enum Row {
    Nothing,
    Equal(EqualParts),
    Parts(Vec<Region>),
}

impl Row {
    pub fn part(&self, rank: CommRank) -> Result<Region> {
        match self {
            Row::Nothing => Err(Error::INTERN),
            Row::Equal(parts) => Ok(parts.part(rank)),
            Row::Parts(parts) => parts.get(rank.index()).copied().ok_or(Error::INTERN),
        }
    }

    pub fn most(&self) -> usize {
        match self {
            Row::Nothing => 0,
            Row::Equal(parts) => parts.each(),
            Row::Parts(parts) => parts.iter().map(Region::bytes).max().unwrap_or(0),
        }
    }
}

/// Does what can be done now; true when this rank's part is done.
///
/// # Safety
/// The operation has begun; the call's buffers are readable and writable, as `Engine::collective` says.
pub(super) unsafe fn step(lanes: &Lanes, job: &Job, cursor: &mut Cursor) -> bool {
    let is_root = lanes.shared.rank == cursor.root;
    // SAFETY: what a rank gives is readable, what it takes is written to is writable (this function's contract).
    unsafe {
        match job {
            Job::Broadcast(buffer) if is_root => give(lanes, buffer, cursor),
            Job::Broadcast(buffer) => take(lanes, cursor.root, buffer, cursor),
            Job::Gather(mine, row) if is_root => gather_here(lanes, mine.as_ref(), row, cursor),
            Job::Gather(Some(mine), _) => give_part(lanes, mine, cursor),
            Job::Scatter(mine, row) if is_root => deal(lanes, mine.as_ref(), row, cursor),
            Job::Scatter(Some(mine), _) => take(lanes, lanes.shared.rank, mine, cursor),
            Job::Gather(None, _) | Job::Scatter(None, _) => true,
            Job::Reduce { reduction, send, receive } if is_root => {
                fold_here(lanes, reduction, *send, *receive, cursor)
            }
            Job::Reduce { reduction, send, .. } => {
                let bytes = reduction.dense_bytes().unwrap_or(0);
                give(lanes, &Region::block(*send, bytes), cursor)
            }
            Job::Exchange(exchange) => line_exchange::step(lanes, exchange, cursor),
        }
    }
}

/// Takes what is in the line of `by`, from the root.
///
/// # Safety
/// `to` is writable.
unsafe fn take(lanes: &Lanes, by: CommRank, to: &Region, cursor: &mut Cursor) -> bool {
    let Some(given) = lanes.given(by) else { return cursor.awaits(cursor.root) };
    // SAFETY: the line has not been ended, and `to` is writable (this function's contract).
    cursor.note(unsafe { take_given(lanes.shared, lanes.it, cursor.root, &given, to) });
    true
}

/// A leaf's part of a gather.
///
/// # Safety
/// `mine` is readable.
unsafe fn give_part(lanes: &Lanes, mine: &Region, cursor: &mut Cursor) -> bool {
    if cursor.phase == Phase::Lines {
        // SAFETY: `mine` is readable (this function's contract).
        if !unsafe { give(lanes, mine, cursor) } {
            return false;
        }
        if mine.bytes() <= LONG_BYTES || cursor.outcome.is_err() {
            return true;
        }
        cursor.goes_on_with_long_parts();
    }
    let shared = lanes.shared;
    let answer = shared.reply(shared.rank, lanes.it).map(|reply| reply.answered(lanes.it.number));
    match answer {
        Ok(None) => return cursor.awaits(cursor.root),
        // SAFETY: `mine` is readable (this function's contract).
        Ok(Some(answer)) => cursor.note(unsafe { obey(shared, lanes.it, cursor.root, mine, answer) }),
        Err(error) => cursor.note(Err(error)),
    }
    true
}

/// The root's part of a gather.
///
/// # Safety
/// `mine` is readable, the row writable.
unsafe fn gather_here(lanes: &Lanes, mine: Option<&Region>, row: &Row, cursor: &mut Cursor) -> bool {
    let (shared, it) = (lanes.shared, lanes.it);
    while cursor.phase == Phase::Lines && cursor.next.0 < shared.size() {
        let rank = cursor.next;
        // SAFETY: this rank's parts do not overlap; lines have not been ended; the row is writable (this function's contract).
        let taken = unsafe {
            if rank == cursor.root {
                mine.map_or(Ok(()), |mine| copy_whole(mine, &row.part(rank)?))
            } else {
                let Some(given) = lanes.given(rank) else { return cursor.awaits(rank) };
                let part = row.part(rank);
                part.and_then(|part| take_or_leave(shared, it, rank, &given, &part, &mut cursor.has_long))
            }
        };
        cursor.note(taken);
        cursor.next = cursor.next.next();
    }
    if !cursor.has_long {
        return true;
    }
    if cursor.phase == Phase::Lines {
        cursor.goes_on_with_long_parts();
    }
    let copies = |rank: CommRank| {
        let (Some(given), Ok(part)) = (lanes.given(rank), row.part(rank)) else { return false };
        is_left(shared, &given, &part)
    };
    await_leaves(lanes, copies, cursor)
}

/// The root's part of a scatter.
///
/// # Safety
/// `mine` is writable, the row readable.
unsafe fn deal(lanes: &Lanes, mine: Option<&Region>, row: &Row, cursor: &mut Cursor) -> bool {
    let shared = lanes.shared;
    if cursor.phase == Phase::Lines && !lanes.has_room() {
        cursor.awaited = shared.ranks();
        return false;
    }
    while cursor.phase == Phase::Lines && cursor.next.0 < shared.size() {
        let rank = cursor.next;
        // SAFETY: this rank's parts do not overlap; there is room, and in a scatter the root alone gives by a leaf's lines; the row is readable (this function's
        // contract).
        let given = row.part(rank).and_then(|part| unsafe {
            if rank == cursor.root {
                return mine.map_or(Ok(()), |mine| copy_whole(&part, mine)).map(|()| true);
            }
            cursor.has_long |= part.bytes() > LONG_BYTES;
            lanes.store(rank, &part)
        });
        if given == Ok(false) {
            return cursor.awaits(rank);
        }
        cursor.note(given.map(drop));
        cursor.next = cursor.next.next();
    }
    if !cursor.has_long {
        return true;
    }
    if cursor.phase == Phase::Lines {
        cursor.goes_on_with_long_parts();
    }
    await_leaves(lanes, |rank| row.part(rank).is_ok_and(|part| part.bytes() > LONG_BYTES), cursor)
}

/// The root's part of a reduction.
///
/// # Safety
/// `send` is readable for the reduction's items, which are dense, and `receive` writable.
unsafe fn fold_here(
    lanes: &Lanes,
    reduction: &Reduction,
    send: *const u8,
    receive: *mut u8,
    cursor: &mut Cursor,
) -> bool {
    let (size, root) = (lanes.shared.size(), cursor.root);
    while cursor.next.0 < size {
        let rank = cursor.next;
        if rank != root && lanes.given(rank).is_none() {
            return cursor.awaits(rank);
        }
        cursor.next = cursor.next.next();
    }
    let bytes = reduction.dense_bytes().unwrap_or(0);
    let content = |rank: CommRank| {
        if rank == root {
            return Ok(send);
        }
        let given = lanes.given(rank).ok_or(Error::INTERN)?;
        if given.bytes == bytes { Ok(given.content) } else { Err(Error::COUNT) }
    };
    // SAFETY: `send` is readable and `receive` writable for `bytes` (this function's contract); given lines stay until the operation is ended.
    let folded = unsafe {
        if bytes <= SMALL_BYTES {
            reduction.fold_lines(size, bytes, content, receive)
        } else {
            reduction.fold_told(Ranks::all(size), 0..reduction.count, content, receive)
        }
    };
    cursor.note(folded);
    true
}
