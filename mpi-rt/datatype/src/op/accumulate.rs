//! Accumulates: a predefined operation from one layout into another (`MPI_ACCUMULATE` and its kin), element by element.
//!
//! Here the types may be derived, if all their basic elements are of one predefined type (MPI 5.0, "Accumulate Functions").
//! Whether elements are updated atomically is the caller's business, which holds the lock of the target.

use super::kernel::{located, reduce};
use super::table::Op;
use crate::basic::{Basic, Pair, Predefined};
use crate::cursor::Cursor;
use crate::datatype::Datatype;
use crate::error::{Class, Error, Result};
use crate::layout::corrupt;
use crate::transfer::Region;

/// `target[i] = origin[i] op target[i]` for every element of the message. `element` is [`Datatype::element_for`] of both
/// types. Class `Op` if the operation is not defined for it, `Type` if a side is no whole number of elements, `Truncate` if
/// the target has fewer than the origin.
///
/// # Safety
/// As [`crate::Transfer::step`], for the regions' whole messages, except that the target is read too.
pub unsafe fn accumulate(op: Op, element: Predefined, origin: Region<'_>, target: Region<'_>) -> Result<()> {
    if !op.allows(element) {
        return Err(Error::new(Class::Op, "the predefined operation is not defined for this datatype"));
    }
    let size = match element {
        Predefined::Basic(basic) => basic.size(),
        Predefined::Pair(pair) => pair.value().size() + pair.index().size(),
    } as u64;
    let (bytes, room) = (origin.total()?, target.total()?);
    if !bytes.is_multiple_of(size) || !room.is_multiple_of(size) {
        return Err(Error::new(
            Class::Type,
            "the datatypes of an accumulate are not made of one predefined type",
        ));
    }
    if bytes > room {
        return Err(Error::new(
            Class::Truncate,
            "the origin of the accumulate has more elements than the target",
        ));
    }
    let mut walk = Walk {
        origin: Cursor::new(origin.layout, origin.count, 0)?,
        target: Cursor::new(target.layout, target.count, 0)?,
        bases: [origin.base, target.base],
    };
    // SAFETY: the origin's blocks are readable, the target's readable and writable, and apart (this
    // function's contract); the cursors yield blocks of these only.
    unsafe {
        match element {
            Predefined::Basic(basic) => walk.basics(op, basic, bytes),
            Predefined::Pair(pair) => walk.pairs(op, pair, bytes / size),
        }
    }
}

struct Walk<'a> {
    origin: Cursor<'a>,
    target: Cursor<'a>,
    bases: [usize; 2],
}

impl Walk<'_> {
    /// The addresses of what comes next on both sides, at least `least` and at most `most` bytes of it, and how many.
    fn next(&mut self, least: u64, most: u64) -> Result<([usize; 2], u64)> {
        let (Some(from), Some(to)) = (self.origin.peek()?, self.target.peek()?) else {
            return Err(corrupt());
        };
        let bytes = from.block.min(to.block).min(most) / least * least;
        if bytes == 0 {
            return Err(corrupt());
        }
        self.origin.advance(bytes);
        self.target.advance(bytes);
        let at = |base: usize, disp: i64| base.wrapping_add_signed(disp as isize);
        Ok(([at(self.bases[0], from.disp), at(self.bases[1], to.disp)], bytes))
    }

    /// # Safety
    /// As [`accumulate`].
    unsafe fn basics(&mut self, op: Op, basic: Basic, mut left: u64) -> Result<()> {
        let size = basic.size() as u64;
        while left > 0 {
            let ([from, to], bytes) = self.next(size, left)?;
            // SAFETY: `bytes` of one block each: readable at `from`, readable and writable at `to`, and apart
            // (this function's contract).
            unsafe { reduce(op, basic.into(), from, to, (bytes / size) as usize)? };
            left -= bytes;
        }
        Ok(())
    }

    /// # Safety
    /// As [`accumulate`].
    unsafe fn pairs(&mut self, op: Op, pair: Pair, count: u64) -> Result<()> {
        let (value, index) = (pair.value(), pair.index());
        for _ in 0..count {
            let ([from, to], _) = self.next(value.size() as u64, value.size() as u64)?;
            let ([from_index, to_index], _) = self.next(index.size() as u64, index.size() as u64)?;
            let target = [to, to_index];
            // SAFETY: each member lies within one block: readable in the origin, readable and writable in the
            // target, and apart (this function's contract).
            unsafe {
                match op {
                    Op::Minloc | Op::Maxloc => located(op, pair, [[from, from_index], target, target], 1),
                    _ => {
                        reduce(op, value.into(), from, to, 1)?;
                        reduce(op, index.into(), from_index, to_index, 1)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Datatype {
    /// The predefined type that all of this type's elements are, as the operation sees them: MINLOC and MAXLOC see pairs. Class
    /// `Type` if they are not of one type (a type without data is of any), `Op` if the operation is not defined for it.
    pub fn element_for(&self, op: Op) -> Result<Predefined> {
        let fits = |on: &Predefined| op.allows(*on);
        let undefined = Error::new(Class::Op, "the predefined operation is not defined for this datatype");
        if self.size() == 0 {
            return Predefined::all().find(fits).ok_or(undefined);
        }
        let element = self.as_predefined().or_else(|| self.homogeneous());
        let pair = || {
            let elements = self.fingerprint(1).elements;
            let same =
                |pair: &Pair| Datatype::predefined(*pair).fingerprint(elements / 2) == self.fingerprint(1);
            Pair::ALL.iter().copied().find(same).map(Predefined::Pair)
        };
        match element.filter(fits).or_else(|| pair().filter(fits)) {
            Some(element) => Ok(element),
            None if element.is_some() || pair().is_some() => Err(undefined),
            None => Err(Error::new(Class::Type, "the datatype is not made of one predefined type")),
        }
    }
}
