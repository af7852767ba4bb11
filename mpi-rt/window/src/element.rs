//! Updates of elements in a target's memory: `target = origin op target`, and what was there before, for runs of elements of one
//! predefined type (MPI-5.0, section 12.3.4).
//!
//! An element of 1, 2, 4 or 8 bytes at an address aligned to them is updated by the processor's atomics, and two updates of it, by
//! whatever operations, never mix. Other elements (complex numbers, long doubles, pairs, unaligned ones) are updated under the target's
//! element lock; an element is always treated the one way or the other, since that depends on its type and address only. Many words at once are updated under
//! that lock as well, and then single ones, too ([`crate::beside`]).

use crate::beside::{Beside, Manner};
use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use lwk_copy::copy;
use lwk_copy::{Word, update};
use lwk_datatype::op::{Op, combine, reduce};
use lwk_datatype::{Basic, Predefined, Scalar};
use lwk_mpi_core::error::Result;

/// Whether others may update the elements at the same time.
#[derive(Clone, Copy)]
pub(super) enum How<'t> {
    Beside(&'t Beside),
    /// This rank alone has access.
    Plain,
}

/// Elements next to each other, at any alignment: addresses in this rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Not looked at by `NO_OP`.
    pub origin: usize,
    pub target: usize,
    /// Where what was there goes.
    pub result: Option<usize>,
    pub count: usize,
}

/// The word that an element is updated as, if it is.
pub(super) fn word_of(element: Predefined, target: usize) -> Option<Basic> {
    let Predefined::Basic(basic) = element else { return None };
    let bytes = basic.size();
    (matches!(bytes, 1 | 2 | 4 | 8) && target.is_multiple_of(bytes)).then_some(basic)
}

/// Updates a run. Errors: `OP` if the operation is not defined for the type.
///
/// # Safety
/// The origin's elements are readable unless the operation is `NO_OP`, the target's lie in its memory, the result's are writable and overlap
/// neither; [`How::Beside`] is the target's, and [`How::Plain`] only if no other rank accesses them.
pub(super) unsafe fn update_run(how: How<'_>, op: Op, element: Predefined, run: Run) -> Result<()> {
    // SAFETY: origin and result hold the run's elements, which lie in the target's memory (this function's
    // contract); under the lock nobody else updates such elements, or words by other means than instructions if the manner is not `Bulk`.
    unsafe {
        let How::Beside(beside) = how else { return plain(op, element, run) };
        let Some(word) = word_of(element, run.target) else {
            return beside.locked(|| plain(op, element, run));
        };
        let manner = beside.manner(run.count);
        if manner == Manner::Singly {
            return words(op, word, run);
        }
        let is_bulk = manner == Manner::Bulk;
        let mut first = 0;
        while first < run.count {
            let part = run.part(first, beside.words_at_once(word.size()), word.size());
            beside.locked(|| if is_bulk { plain(op, element, part) } else { words(op, word, part) })?;
            first += part.count;
        }
        Ok(())
    }
}

impl Run {
    /// At most `count` of its elements of `size` bytes from `first` on.
    fn part(&self, first: usize, count: usize, size: usize) -> Run {
        Run {
            origin: self.origin.wrapping_add(first * size),
            target: self.target + first * size,
            result: self.result.map(|result| result + first * size),
            count: count.min(self.count - first),
        }
    }
}

/// Without atomics.
///
/// # Safety
/// As for [`update_run`], with [`How::Plain`].
pub(super) unsafe fn plain(op: Op, element: Predefined, run: Run) -> Result<()> {
    let bytes = run.count * element.extent();
    // SAFETY: the origin is readable, target and result are writable for the run's elements, which nobody
    // else accesses (this function's contract).
    unsafe {
        if let Some(result) = run.result {
            copy(with_exposed_provenance(run.target), with_exposed_provenance_mut(result), bytes);
        }
        match op {
            Op::NoOp => Ok(()),
            Op::Replace => {
                copy(with_exposed_provenance(run.origin), with_exposed_provenance_mut(run.target), bytes);
                Ok(())
            }
            _ => Ok(reduce(op, element, run.origin, run.target, run.count)?),
        }
    }
}

/// # Safety
/// As for [`update_run`]; the elements are words, and aligned.
#[inline]
unsafe fn words(op: Op, basic: Basic, run: Run) -> Result<()> {
    // SAFETY: the run's elements are aligned words of `basic.size()` bytes, which origin and result hold, too
    // (this function's contract).
    unsafe {
        match basic.size() {
            8 => words_of::<u64>(op, basic, run),
            4 => words_of::<u32>(op, basic, run),
            2 => words_of::<u16>(op, basic, run),
            _ => words_of::<u8>(op, basic, run),
        }
    }
}

/// # Safety
/// As for [`words`], for words of type `W`.
unsafe fn words_of<W: Word>(op: Op, basic: Basic, run: Run) -> Result<()> {
    use Scalar::*;
    let is_integer = matches!(basic.scalar(), I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64);
    // SAFETY: the target's elements are aligned words of type `W`; origin and result hold as many (this
    // function's contract).
    unsafe {
        match (op, basic.scalar()) {
            (Op::NoOp, _) => {
                for index in 0..run.count {
                    keep(run.result, index, W::load(with_exposed_provenance_mut::<W>(run.target).add(index)));
                }
            }
            (Op::Replace, _) if run.result.is_none() => each(run, |at, value: W| {
                W::store(at, value);
                value
            }),
            (Op::Replace, _) => each(run, |at, value: W| W::swap(at, value)),
            (Op::Sum, _) if is_integer => each(run, |at, value: W| W::add(at, value)),
            (Op::Band, _) => each(run, |at, value: W| W::and(at, value)),
            (Op::Bor, _) => each(run, |at, value: W| W::or(at, value)),
            (Op::Bxor, _) => each(run, |at, value: W| W::xor(at, value)),
            (Op::Sum, F64) => each(run, |at, value: W| {
                let value = f64::from_bits(value.to_bits());
                update(at, |old: W| W::from_bits((value + f64::from_bits(old.to_bits())).to_bits()))
            }),
            (Op::Sum, F32) => each(run, |at, value: W| {
                let value = f32::from_bits(value.to_bits() as u32);
                let sum = |old: W| value + f32::from_bits(old.to_bits() as u32);
                update(at, |old| W::from_bits(sum(old).to_bits() as u64))
            }),
            _ => return by_table::<W>(op, basic, run),
        }
    }
    Ok(())
}

/// Any other operation: computed aside by the reductions' loops, for one element at a time.
///
/// # Safety
/// As for [`words_of`].
unsafe fn by_table<W: Word>(op: Op, basic: Basic, run: Run) -> Result<()> {
    let element = Predefined::Basic(basic);
    let mut outcome = Ok(());
    // SAFETY: the run's elements are aligned words of type `W` (this function's contract); the reduction is
    // of three variables here.
    unsafe {
        each(run, |at, value: W| {
            update(at, |old: W| {
                let mut new = old;
                let (input, here) =
                    ((&raw const value).expose_provenance(), (&raw const old).expose_provenance());
                let result = combine(op, element, input, here, (&raw mut new).expose_provenance(), 1);
                if let Err(error) = result {
                    outcome = Err(error.into());
                }
                new
            })
        });
    }
    outcome
}

/// Updates each word; `step` takes its address and the origin's value, and answers what was there.
///
/// # Safety
/// As for [`words_of`].
#[inline(always)]
unsafe fn each<W: Word>(run: Run, mut step: impl FnMut(*mut W, W) -> W) {
    let (origin, target) =
        (with_exposed_provenance::<W>(run.origin), with_exposed_provenance_mut::<W>(run.target));
    for index in 0..run.count {
        // SAFETY: `index` is below the run's count, for which origin, target and result hold words (this
        // function's contract).
        unsafe {
            let old = step(target.add(index), origin.add(index).read_unaligned());
            keep(run.result, index, old);
        }
    }
}

/// # Safety
/// There is room for a word at that index of the result, if there is one.
#[inline(always)]
unsafe fn keep<W: Word>(result: Option<usize>, index: usize, old: W) {
    if let Some(result) = result {
        // SAFETY: the result has room for a word at `index`, aligned or not (this function's contract).
        unsafe { with_exposed_provenance_mut::<W>(result).add(index).write_unaligned(old) };
    }
}
