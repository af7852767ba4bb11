//! Reductions to all: and, or, xor, max, min, sum, prod (the standard, section 9.9, SHMEM_REDUCTIONS).
//!
//! * Up to [`LETTER_BYTES`], the elements travel in the letters themselves: up to [`FLAT_PES`] PEs, each tells all others and all
//!   combine in the same order; above, by recursive doubling (Thakur, Rabenseifner, Gropp 2005, section 4.5).
//! * Above, every PE reduces a slice of its own over all sources, where they lie, and writes the result to all destinations.

use crate::engine::copy::{product, transfer};
use crate::engine::element::{Element, Operation, Reduction};
use crate::engine::far;
use crate::engine::group::Group;
use crate::engine::pair::{Kind, post, take};
use crate::engine::pe::{all_are_near, mapped};
use crate::engine::rma::putmem;
use crate::engine::team;
use crate::protocol::mailbox::{LETTER_BYTES, LETTER_WORDS};
use alloc::vec;
use alloc::vec::Vec;
use lwk_copy::threshold::REDUCED_AT_A_TIME;
use lwk_place::TeamRank;

use super::sync::synchronise;

/// Up to that many PEs, small reductions are one exchange of all with all: `n - 1` lines out, of which the stores overlap,
/// against one line's latency for each doubling.
pub const FLAT_PES: i32 = 8;

/// Reduces `count` elements of all members to the `dest` of all (`shmem_TYPE_OP_reduce`). 0, or not 0 if there is no such team.
///
/// # Safety
/// `dest` and `source` must be symmetric, for `count` elements, the same in all members, and equal or
/// disjoint. Every member's `dest` must be ready before any member calls; until a member returns, nobody else
/// may use its `dest` or change its `source`.
pub unsafe fn reduce<T: Element, O: Operation<T>>(
    team: i32,
    dest: *mut T,
    source: *const T,
    count: usize,
) -> i32 {
    super::super::life::check("shmem_reduce");
    let Some(group) = team::group(team) else { return 1 };
    // SAFETY: `dest` and `source` are symmetric for `count` elements, equal or disjoint (this function's
    // contract).
    unsafe { reduce_group(group, Reduction::of::<T, O>(), dest.cast(), source.cast(), count) };
    0
}

/// # Safety
/// As for [`reduce`], with the members of `group` and elements of the reduction's type.
pub(crate) unsafe fn reduce_group(
    group: Group,
    reduction: Reduction,
    dest: *mut u8,
    source: *const u8,
    count: usize,
) {
    let bytes = product(count, reduction.bytes);
    // SAFETY: `dest` and `source` are symmetric for `bytes` bytes, equal or disjoint (this function's
    // contract); only what fits a letter goes to `small`.
    unsafe {
        if group.size() == 1 {
            if dest.cast_const() != source {
                transfer(source, dest, bytes);
            }
        } else if bytes <= LETTER_BYTES {
            small(group, reduction, dest, source, count);
        } else {
            slices(group, reduction, dest, source, count);
        }
    }
}

/// The words of a letter.
type Words = [u64; LETTER_WORDS];

/// # Safety
/// As for [`reduce_group`]; the elements fit a letter.
unsafe fn small(group: Group, reduction: Reduction, dest: *mut u8, source: *const u8, count: usize) {
    let bytes = count * reduction.bytes;
    let used = bytes.div_ceil(8);
    let mut mine: Words = [0; LETTER_WORDS];
    // SAFETY: `source` is readable for `bytes` bytes, which fit a letter (this function's contract).
    unsafe { lwk_user::copy::copy(source, mine.as_mut_ptr().cast(), bytes) };
    let combined = if group.size() <= FLAT_PES {
        // SAFETY: `mine` holds `count` elements, copied above.
        unsafe { all_with_all(group, reduction, &mine, used, count) }
    } else {
        // SAFETY: `mine` holds `count` elements, copied above.
        unsafe { doubling(group, reduction, mine, used, count) }
    };
    // SAFETY: `combined` holds `bytes` bytes, and `dest` is writable for as many (this function's contract).
    unsafe { lwk_user::copy::copy(combined.as_ptr().cast(), dest, bytes) };
}

/// # Safety
/// `words` hold `count` elements.
unsafe fn all_with_all(group: Group, reduction: Reduction, mine: &Words, used: usize, count: usize) -> Words {
    for distance in 1..group.size() {
        post(group.ahead(distance), Kind::Reduce, mine, used);
    }
    let mut result = [0; LETTER_WORDS];
    for member in group.members() {
        let mut letter = *mine;
        if member != group.me() {
            take(group.pe(member), Kind::Reduce, &mut letter, used);
        }
        if member == TeamRank::FIRST {
            result = letter;
        } else {
            // SAFETY: `result` and `letter` hold `count` elements: this PE's (this function's contract) or a
            // member's of the same call.
            unsafe { combine(reduction, &mut result, &letter, count) };
        }
    }
    result
}

/// # Safety
/// Both hold `count` elements.
unsafe fn combine(reduction: Reduction, result: &mut Words, other: &Words, count: usize) {
    let target = result.as_mut_ptr().cast::<u8>();
    // SAFETY: both hold `count` elements (this function's contract); the target is the first operand and,
    // borrowed exclusively, not the second.
    unsafe { reduction.combine(target, target, other.as_ptr().cast(), count) }
}

/// The PEs beyond the largest power of two give their part to a PE below it first, and get the result from it in the end; so
/// each pair exchanges one letter each way, which is the mailbox's rule.
///
/// # Safety
/// `mine` holds `count` elements.
unsafe fn doubling(group: Group, reduction: Reduction, mut mine: Words, used: usize, count: usize) -> Words {
    let (size, me) = (group.size(), group.me());
    let power = 1 << size.ilog2();
    let mut theirs = [0; LETTER_WORDS];
    if let Some(below) = group.member(me.number() - power) {
        let partner = group.pe(below);
        post(partner, Kind::Reduce, &mine, used);
        take(partner, Kind::Reduce, &mut mine, used);
        return mine;
    }
    let extra = group.member(me.number() + power).map(|above| group.pe(above));
    if let Some(extra) = extra {
        take(extra, Kind::Reduce, &mut theirs, used);
        // SAFETY: `mine` holds `count` elements (this function's contract), and so does `theirs`, a member's
        // of the same call.
        unsafe { combine(reduction, &mut mine, &theirs, count) };
    }
    let mut bit = 1;
    while bit < power {
        let partner = group.pe(me.across(bit));
        post(partner, Kind::Reduce, &mine, used);
        take(partner, Kind::Reduce, &mut theirs, used);
        // The lower PE's part is always the first operand, so that both come to the same result to the last bit.
        if me.number() & bit != 0 {
            core::mem::swap(&mut mine, &mut theirs);
        }
        // SAFETY: `mine` holds `count` elements (this function's contract), and so does `theirs`, a member's
        // of the same call.
        unsafe { combine(reduction, &mut mine, &theirs, count) };
        bit <<= 1;
    }
    if let Some(extra) = extra {
        post(extra, Kind::Reduce, &mine, used);
    }
    mine
}

/// # Safety
/// As for [`reduce_group`].
unsafe fn slices(group: Group, reduction: Reduction, dest: *mut u8, source: *const u8, count: usize) {
    // All sources are ready.
    synchronise(group, Kind::Reduce);
    let (begin, end) = slice(count, reduction.bytes, group.size(), group.me().index());
    let chunk = (REDUCED_AT_A_TIME / reduction.bytes).max(1);
    // Where slices lie that no load reaches.
    let mut fetched = if all_are_near() { Vec::new() } else { vec![0; chunk * reduction.bytes] };
    let mut first = begin;
    while first < end {
        let elements = chunk.min(end - first);
        let (offset, bytes) = (first * reduction.bytes, elements * reduction.bytes);
        let (dest, source) = (dest.wrapping_add(offset), source.wrapping_add(offset));
        // SAFETY: the chunk is part of every `source` and `dest` (this function's contract; `slice` ends at
        // `count`). This PE alone reads and writes this slice, in all PEs; its own destination may be its own
        // source, which is why that is the first operand.
        unsafe {
            let mut other = |distance| {
                let pe = group.ahead(distance);
                mapped(source, pe).unwrap_or_else(|| {
                    far::get(fetched.as_mut_ptr(), source, bytes, pe);
                    fetched.as_mut_ptr()
                })
            };
            reduction.combine(dest, source, other(1), elements);
            for distance in 2..group.size() {
                reduction.combine(dest, dest, other(distance), elements);
            }
            for distance in 1..group.size() {
                putmem(dest, dest, bytes, group.ahead(distance));
            }
        }
        first += elements;
    }
    // All slices are done.
    synchronise(group, Kind::Reduce);
}

/// The elements that member `me` reduces: whole cache lines, so that no line has two writers if the destination is aligned.
fn slice(count: usize, bytes: usize, size: i32, me: usize) -> (usize, usize) {
    let line = (64 / bytes).max(1);
    let per_pe = count.div_ceil(size as usize).next_multiple_of(line);
    let begin = per_pe.saturating_mul(me).min(count);
    (begin, begin.saturating_add(per_pe).min(count))
}

#[cfg(test)]
mod tests {
    use super::slice;

    #[test]
    fn slices_cover_everything_once() {
        for count in [1, 7, 8, 9, 100, 1000, 4097] {
            for bytes in [1, 2, 4, 8, 16, 32] {
                for size in [1, 2, 3, 5, 8] {
                    let mut next = 0;
                    for me in 0..size as usize {
                        let (begin, end) = slice(count, bytes, size, me);
                        assert_eq!(begin, next.min(count));
                        assert!(end >= begin);
                        next = end;
                    }
                    assert_eq!(next, count);
                }
            }
        }
    }
}
