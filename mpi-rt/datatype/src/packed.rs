//! Packed bytes to and from nodes of a layout: a node that is copied whole is a few flat loops, whatever it was made of.
//!
//! A run in a loop in a loop is one nest of loops ([`Memory::copy_nest`]). Copies of a list of blocks are turned inside out: each entry of the list
//! is a loop over the copies, as many at a time as stay in the first-level cache. Nothing is looked up from block to block.
//!
//! The words may be a peer's, and damaged. Each node is held to the size that it must have, so that what is read or written on the packed side
//! stays within the bytes that the caller has there; recursion ends at the depth that genuine layouts have.

#![allow(unsafe_code)]

use crate::cursor::{MAX_STACK, Piece, entry};
use crate::error::Result;
use crate::layout::{BLOCKS, LOOP, LayoutView, PARTS, RUN, corrupt};
use crate::memory::{Memory, Nest, Round, Scattered, Shape};

/// Copies of a list that are taken together span no more than this many bytes: half of a usual first-level cache.
const TOGETHER: u64 = 16 << 10;
/// Fewer copies of a list than this are not worth turning it inside out.
const FEWEST: u64 = 4;

/// Copies of one node: where the first lies on either side, and how far the next.
#[derive(Clone, Copy)]
pub(crate) struct Copies {
    /// Index of the node.
    pub node: usize,
    /// Bytes of data in one copy.
    pub size: u64,
    pub count: u64,
    /// Address of the first on the layout's side, and bytes to the next.
    pub address: usize,
    pub stride: i64,
    /// Address of the first on the packed side, and bytes to the next.
    pub place: usize,
    pub step: u64,
}

impl Copies {
    /// `count` copies from number `first` on.
    fn part(&self, first: u64, count: u64) -> Copies {
        let address = moved(self.address, self.stride.wrapping_mul(first as i64));
        let place = self.place.wrapping_add(self.step.wrapping_mul(first) as usize);
        Copies { address, place, count, ..*self }
    }

    /// So many at a time stay in the cache.
    fn together(&self) -> u64 {
        if self.count == 1 {
            return 1;
        }
        (TOGETHER / self.stride.unsigned_abs().max(self.size).max(1)).clamp(1, self.count.max(1))
    }
}

fn moved(address: usize, by: i64) -> usize {
    address.wrapping_add_signed(by as isize)
}

/// The side of a layout, gathered from to packed bytes (`GATHER`) or scattered to from them.
pub(crate) struct Packer<'m, 'a, M, const GATHER: bool> {
    pub memory: &'m M,
    pub layout: LayoutView<'a>,
}

impl<M: Memory, const GATHER: bool> Packer<'_, '_, M, GATHER> {
    /// Copies a run of blocks at `address` to or from `place`.
    ///
    /// # Safety
    /// The blocks are readable or writable on either side as the direction asks, and apart.
    #[inline]
    pub unsafe fn run(&self, address: usize, place: usize, run: Piece) {
        if run.count == 1 {
            let (to, from) = if GATHER { (place, address) } else { (address, place) };
            // SAFETY: the one block is readable at `from`, writable at `to`, and apart (this function's contract).
            return unsafe { self.memory.copy_block(to, from, run.block as usize) };
        }
        let round = round::<GATHER>(run.count, run.stride, run.block);
        if M::LOCAL && matches!(run.block, 4 | 8 | 16) {
            let (to, from) = if GATHER { (place, address) } else { (address, place) };
            // SAFETY: all blocks are readable or writable, and apart (this function's contract), and of one of these sizes.
            return unsafe { self.memory.copy_row(run.block as usize, to, from, round) };
        }
        // SAFETY: all blocks are readable or writable, and apart (this function's contract).
        unsafe { self.nest(address, place, run.block, [Round::ONCE, Round::ONCE, round]) }
    }

    /// Copies of a run: one, or a loop of them.
    ///
    /// # Safety
    /// As [`Packer::run`], for all blocks.
    #[inline]
    unsafe fn runs(&self, address: usize, place: usize, run: Piece, outer: Round) {
        // SAFETY: all blocks are readable or writable, and apart (this function's contract).
        unsafe {
            if outer.times == 1 {
                return self.run(address, place, run);
            }
            let inner = round::<GATHER>(run.count, run.stride, run.block);
            self.nest(address, place, run.block, [Round::ONCE, outer, inner]);
        }
    }

    /// # Safety
    /// As [`Packer::run`], for all blocks of the nest.
    #[inline]
    unsafe fn nest(&self, address: usize, place: usize, block: u64, rounds: [Round; 3]) {
        // Loops of one round go to the outside, so that the innermost is long.
        let rounds = match rounds {
            [a, Round { times: 1, .. }, Round { times: 1, .. }] => [Round::ONCE, Round::ONCE, a],
            [a, b, Round { times: 1, .. }] => [Round::ONCE, a, b],
            rounds => rounds,
        };
        let (to, from) = if GATHER { (place, address) } else { (address, place) };
        // SAFETY: all blocks are readable at their sources, writable at their targets, and apart (this function's contract).
        unsafe { self.memory.copy_nest(&Nest { to, from, block: block as usize, rounds }) }
    }

    /// Copies nodes whole. Class `Intern` if they are damaged.
    ///
    /// # Safety
    /// The layout is genuine, and its blocks at the copies' addresses are readable or writable as the direction asks; `step` bytes for each copy but the
    /// last, and `size` for that, are valid at `place` the other way; the two sides are apart.
    pub unsafe fn copy(&self, copies: Copies) -> Result<()> {
        // SAFETY: the layout is genuine, its blocks are valid on either side, and the two are apart
        // (this function's contract).
        unsafe { self.nodes(copies, 0) }
    }

    /// # Safety
    /// As [`Packer::copy`].
    unsafe fn nodes(&self, copies: Copies, depth: usize) -> Result<()> {
        let Copies { node, size, count, address, stride, place, step } = copies;
        if depth > MAX_STACK || size == 0 {
            return Err(corrupt());
        }
        let outer = round::<GATHER>(count, stride, step);
        match *self.layout.node(node) {
            [RUN, total, block, inner, apart, ..] => {
                check(total == size && is_product(block, inner, size))?;
                let run = Piece { disp: 0, block, count: inner, stride: apart as i64 };
                // SAFETY: the blocks of the copies are valid on either side, of which the packed one has `size` bytes (checked above)
                // for each (this function's contract).
                unsafe { self.runs(address, place, run, outer) };
                Ok(())
            }
            [LOOP, total, times, apart, body, ..] => {
                let (body, apart) = (body as usize, apart as i64);
                let each = self.layout.node(body).get(1).copied().ok_or_else(corrupt)?;
                check(total == size && is_product(each, times, size))?;
                if let [RUN, _, block, inner, stride, ..] = *self.layout.node(body) {
                    check(is_product(block, inner, each))?;
                    let middle = round::<GATHER>(times, apart, each);
                    let rounds = [outer, middle, round::<GATHER>(inner, stride as i64, block)];
                    // SAFETY: the blocks of the copies are valid on either side (this function's contract), of which the packed one has
                    // `size` bytes for each (checked above).
                    unsafe { self.nest(address, place, block, rounds) };
                    return Ok(());
                }
                for copy in 0..count {
                    let Copies { address, place, .. } = copies.part(copy, 1);
                    let bodies = Copies {
                        node: body,
                        size: each,
                        count: times,
                        address,
                        stride: apart,
                        place,
                        step: each,
                    };
                    // SAFETY: the bodies' data are the copy's: valid on either side (this function's contract).
                    unsafe { self.nodes(bodies, depth + 1)? };
                }
                Ok(())
            }
            [BLOCKS, total, entries, block, ref list @ ..] => {
                check(total == size)?;
                let list = list.get(..(entries as usize).saturating_mul(2)).ok_or_else(corrupt)?;
                // SAFETY: the layout is genuine, its blocks are valid on either side, and the two are apart
                // (this function's contract).
                unsafe { self.blocks(copies, list, block) }
            }
            [PARTS, total, entries, common, ref list @ ..] => {
                check(total == size)?;
                // SAFETY: the layout is genuine, its blocks are valid on either side, and the two are apart
                // (this function's contract).
                unsafe { self.parts(copies, common, list, entries, depth) }
            }
            _ => Err(corrupt()),
        }
    }

    /// Copies of a list of blocks, of `block` bytes each if that is not 0.
    ///
    /// # Safety
    /// As [`Packer::copy`].
    unsafe fn blocks(&self, copies: Copies, list: &[u64], block: u64) -> Result<()> {
        // Equal blocks are one loop a copy, or, turned inside out, one an entry.
        let fewest = if block > 0 { FEWEST.max(list.len() as u64 / 2) } else { FEWEST };
        let together = copies.together();
        let each = if together < fewest { 1 } else { together };
        let mut first = 0;
        while first < copies.count {
            let part = copies.part(first, each.min(copies.count - first));
            first += part.count;
            if part.count == 1 && block > 0 {
                check(is_product(block, list.len() as u64 / 2, part.size))?;
                // SAFETY: the listed blocks are valid at the copy's address, and together take its `size` bytes at its place (checked
                // above), which are valid the other way (this function's contract).
                unsafe { self.listed(&part, list, block, Shape::Blocks) };
                continue;
            }
            let mut rest = list;
            while let [disp, start, next @ ..] = rest {
                let end = next.get(1).copied().unwrap_or(copies.size);
                check(*start < end && end <= copies.size)?;
                let run = Piece { disp: 0, block: end - start, count: part.count, stride: copies.stride };
                let (address, place) =
                    (moved(part.address, *disp as i64), part.place.wrapping_add(*start as usize));
                // SAFETY: the entry's block is valid at each copy's address, and lies within its `size` bytes at its place (checked
                // above), which are valid the other way (this function's contract).
                unsafe { self.spread(address, place, run, copies.step) };
                rest = next;
            }
        }
        Ok(())
    }

    /// One copy of a list.
    ///
    /// # Safety
    /// As [`Packer::copy`]; the list's entries are of that shape, and take the copy's `size` bytes.
    #[inline]
    unsafe fn listed(&self, copy: &Copies, entries: &[u64], block: u64, shape: Shape) {
        let list = Scattered { entries, base: copy.address, place: copy.place, block: block as usize, shape };
        // SAFETY: the blocks are valid on either side (this function's contract).
        unsafe { if GATHER { self.memory.gather(&list) } else { self.memory.scatter(&list) } }
    }

    /// Blocks that are `step` bytes apart on the packed side.
    ///
    /// # Safety
    /// As [`Packer::run`].
    #[inline]
    unsafe fn spread(&self, address: usize, place: usize, run: Piece, step: u64) {
        if run.count == 1 {
            // SAFETY: the one block is valid on either side (this function's contract).
            return unsafe { self.run(address, place, run) };
        }
        let rounds = [Round::ONCE, Round::ONCE, round::<GATHER>(run.count, run.stride, step)];
        // SAFETY: all blocks are valid on either side (this function's contract).
        unsafe { self.nest(address, place, run.block, rounds) }
    }

    /// Copies of a list of nodes.
    ///
    /// # Safety
    /// As [`Packer::copy`].
    unsafe fn parts(
        &self,
        copies: Copies,
        common: u64,
        list: &[u64],
        entries: u64,
        depth: usize,
    ) -> Result<()> {
        let mut first = 0;
        let rows = match *self.layout.node(common as usize) {
            [RUN, _, block, times, stride, ..] if common > 0 => {
                let row = block.checked_mul(times).and_then(|row| row.checked_mul(entries));
                check(row == Some(copies.size))?;
                let list = list.get(..(entries as usize).saturating_mul(3)).ok_or_else(corrupt)?;
                Some((list, block, Shape::Rows(times as usize, stride as isize)))
            }
            _ => None,
        };
        while first < copies.count {
            let part = copies.part(first, copies.together().min(copies.count - first));
            first += part.count;
            if part.count == 1
                && let Some((list, block, shape)) = rows
            {
                // SAFETY: the rows are valid at the copy's address, and together take its `size` bytes at its place (checked above),
                // which are valid the other way (this function's contract).
                unsafe { self.listed(&part, list, block, shape) };
                continue;
            }
            for at in 0..entries {
                let [disp, start, node] = *entry(list, at)?;
                let end = if at + 1 < entries { entry::<3>(list, at + 1)?[1] } else { copies.size };
                check(start < end && end <= copies.size)?;
                let child = Copies {
                    node: node as usize,
                    size: end - start,
                    address: moved(part.address, disp as i64),
                    place: part.place.wrapping_add(start as usize),
                    ..part
                };
                // SAFETY: the child's data are the copies': valid on either side, and within the copies' bytes on the packed one
                // (checked above; this function's contract).
                unsafe { self.nodes(child, depth + 1)? };
            }
        }
        Ok(())
    }
}

/// A loop whose layout's side moves by `stride` and whose packed side by `step`.
fn round<const GATHER: bool>(count: u64, stride: i64, step: u64) -> Round {
    let (apart, packed) = (stride as isize, step as isize);
    let (to, from) = if GATHER { (packed, apart) } else { (apart, packed) };
    Round { times: count as usize, to, from }
}

fn is_product(one: u64, other: u64, product: u64) -> bool {
    one.checked_mul(other) == Some(product)
}

fn check(holds: bool) -> Result<()> {
    if holds { Ok(()) } else { Err(corrupt()) }
}
