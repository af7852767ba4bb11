//! Cursors: a walk over the blocks of a message, in the order of the type map, from any byte position on.
//!
//! A cursor yields [`Piece`]s: strided runs of equal blocks, as long as the layout allows, so that the copy loops see the
//! regular part of a layout at once. Finding a position costs the depth of the layout and a binary search per list; it does
//! not depend on the position or the count.

use smallvec::SmallVec;

use crate::error::Result;
use crate::layout::{BLOCKS, LOOP, LayoutView, PARTS, RUN, corrupt};
use crate::node::MAX_DEPTH;

/// Deepest stack of a genuine layout: lists up to the limit, and loops, of which each at least doubles the data.
pub(crate) const MAX_STACK: usize = MAX_DEPTH as usize + 64;

/// `count` blocks of `block` bytes, each `stride` bytes after the last, the first at displacement `disp` from the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Piece {
    /// Displacement of the first block, bytes.
    pub disp: i64,
    /// Bytes of one block.
    pub block: u64,
    /// Number of blocks.
    pub count: u64,
    /// Bytes from the start of one block to the start of the next.
    pub stride: i64,
}

/// What a cursor gives at once.
pub(crate) enum Taken {
    /// Blocks of a run, or part of one.
    Run(Piece),
    /// `count` copies of a node of `size` bytes, the first at displacement `disp`, each `stride` bytes after the last.
    Nodes { node: usize, size: u64, count: u64, disp: i64, stride: i64 },
}

/// A place in a loop or list that is being walked.
#[derive(Clone, Copy)]
struct Frame {
    node: usize,
    base: i64,
    at: u64,
}

/// The rest of a list of blocks: entries of two words, what follows the last, and where the list lies.
#[derive(Clone, Copy, Default)]
struct BlockList<'a> {
    entries: &'a [u64],
    end: u64,
    base: i64,
}

impl BlockList<'_> {
    /// The next block, which leaves the list; with those that continue it.
    #[inline]
    fn next(&mut self) -> Result<Option<Piece>> {
        let [disp, start, rest @ ..] = self.entries else { return Ok(None) };
        let mut rest = rest;
        let block = loop {
            let end = rest.get(1).copied().unwrap_or(self.end);
            let block = end.checked_sub(*start).filter(|block| *block > 0).ok_or_else(corrupt)?;
            match rest {
                [next, _, after @ ..] if disp.wrapping_add(block) == *next => rest = after,
                _ => break block,
            }
        };
        self.entries = rest;
        Ok(Some(Piece { disp: self.base.wrapping_add(*disp as i64), block, count: 1, stride: 0 }))
    }
}

/// A position in a message of `count` items of one layout.
pub struct Cursor<'a> {
    layout: LayoutView<'a>,
    /// Items left, the current one included; one more before an item has been entered, 0 at the end and for a message that is one run.
    items: u64,
    item_base: i64,
    /// Loops and lists of nodes that are being walked, outermost first. Two are room enough for arrays of structs and
    /// sub-arrays of three dimensions; a cursor is moved about, so that it should be small.
    stack: SmallVec<[Frame; 2]>,
    /// What is left of the list of blocks that is being walked.
    list: BlockList<'a>,
    run: Piece,
    /// Bytes of the run's first block that are behind the cursor.
    into: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor at byte `position` of the packed message of `count` items. A position at or past the end yields nothing.
    pub fn new(layout: LayoutView<'a>, count: u64, position: u64) -> Result<Cursor<'a>> {
        let (stack, list, run) = (SmallVec::new(), BlockList::default(), Piece::default());
        let mut cursor = Cursor { layout, items: 0, item_base: 0, stack, list, run, into: 0 };
        let size = layout.size();
        if size == 0 || position >= layout.total(count)? {
            return Ok(cursor);
        }
        if let Some(whole) = as_one_run(layout, count) {
            cursor.enter_run(whole, position);
            return Ok(cursor);
        }
        let (item, rest) = (position / size, position % size);
        cursor.items = count - item;
        cursor.item_base = layout.disp().wrapping_add(layout.extent().wrapping_mul(item as i64));
        if rest == 0 {
            // Before the item: it may be taken whole.
            cursor.items += 1;
            cursor.item_base = cursor.item_base.wrapping_sub(layout.extent());
        } else {
            cursor.descend(layout.root(), cursor.item_base, rest)?;
        }
        Ok(cursor)
    }

    /// The layout that is walked.
    pub(crate) fn layout(&self) -> LayoutView<'a> {
        self.layout
    }

    /// What is left, if that is part of one block and known without going on.
    #[inline]
    pub(crate) fn last_block(&self) -> Option<Piece> {
        (self.items == 0 && self.run.count == 1).then(|| self.rest_of_block())
    }

    #[inline]
    fn rest_of_block(&self) -> Piece {
        let (disp, block) = (self.run.disp.wrapping_add(self.into as i64), self.run.block - self.into);
        Piece { disp, block, count: 1, stride: 0 }
    }

    /// The longest run that starts here: what is left of a block that has been entered, or whole blocks. `None` at the end.
    #[inline]
    pub fn peek(&mut self) -> Result<Option<Piece>> {
        while self.run.count == 0 {
            if !self.next_run()? {
                return Ok(None);
            }
        }
        Ok(Some(if self.into == 0 { self.run } else { self.rest_of_block() }))
    }

    /// Moves on by `bytes`, at most what [`Cursor::peek`] showed.
    #[inline]
    pub fn advance(&mut self, bytes: u64) {
        debug_assert!(self.into + bytes <= self.run.block.saturating_mul(self.run.count));
        let into = self.into + bytes;
        if into < self.run.block {
            self.into = into;
        } else if into == self.run.block {
            self.skip_blocks(1);
            self.into = 0;
        } else {
            self.skip_blocks(into / self.run.block);
            self.into = into % self.run.block;
        }
    }

    /// Takes as much as one look tells, at most `room` bytes, which must not be 0: nodes that fit whole, else blocks, else part of a block. `None` at
    /// the end.
    pub(crate) fn take(&mut self, room: u64) -> Result<Option<Taken>> {
        loop {
            if self.run.count > 0 {
                return Ok(Some(Taken::Run(self.take_of_run(room))));
            }
            if self.list.entries.is_empty()
                && let Some(nodes) = self.take_nodes(room)?
            {
                return Ok(Some(nodes));
            }
            if !self.next_run()? {
                return Ok(None);
            }
        }
    }

    #[inline]
    fn take_of_run(&mut self, room: u64) -> Piece {
        let whole = (room / self.run.block).min(self.run.count);
        let taken = if self.into == 0 && whole > 0 {
            Piece { count: whole, ..self.run }
        } else {
            let rest = self.rest_of_block();
            Piece { block: rest.block.min(room), ..rest }
        };
        self.advance(taken.block * taken.count);
        taken
    }

    /// Takes the nodes after the last run, if at least one fits; they count as walked.
    fn take_nodes(&mut self, room: u64) -> Result<Option<Taken>> {
        while let Some(frame) = self.stack.last_mut() {
            let (node, next) = (self.layout.node(frame.node), frame.at + 1);
            if next >= steps(node)? {
                self.stack.pop();
                continue;
            }
            let here = Frame { at: next, ..*frame };
            let (size, count, stride) = match *node {
                [LOOP, size, count, stride, ..] => (size / count, count - next, stride as i64),
                [PARTS, end, count, _, ref list @ ..] => {
                    let after = if next + 1 < count { entry::<3>(list, next + 1)?[1] } else { end };
                    (after.saturating_sub(entry::<3>(list, next)?[1]), 1, 0)
                }
                _ => return Err(corrupt()),
            };
            let count = room.checked_div(size).ok_or_else(corrupt)?.min(count);
            if count == 0 {
                return Ok(None);
            }
            let (node, disp) = child(node, here)?;
            frame.at += count;
            return Ok(Some(Taken::Nodes { node, size, count, disp, stride }));
        }
        let (size, stride) = (self.layout.size(), self.layout.extent());
        let count = room.checked_div(size).ok_or_else(corrupt)?.min(self.items.saturating_sub(1));
        if count == 0 {
            return Ok(None);
        }
        let disp = self.item_base.wrapping_add(stride);
        self.items -= count;
        self.item_base = self.item_base.wrapping_add(stride.wrapping_mul(count as i64));
        Ok(Some(Taken::Nodes { node: self.layout.root(), size, count, disp, stride }))
    }

    #[inline]
    fn skip_blocks(&mut self, blocks: u64) {
        self.run.disp = self.run.disp.wrapping_add(self.run.stride.wrapping_mul(blocks as i64));
        self.run.count = self.run.count.saturating_sub(blocks);
    }

    fn enter_run(&mut self, run: Piece, position: u64) {
        (self.run, self.into) = (run, 0);
        if position > 0 {
            self.skip_blocks(position / run.block);
            self.into = position % run.block;
        }
    }

    /// Goes to the run after the one that is used up. False at the end of the message.
    #[inline]
    fn next_run(&mut self) -> Result<bool> {
        self.into = 0;
        match self.list.next()? {
            Some(block) => {
                self.run = block;
                Ok(true)
            }
            None => self.next_node(),
        }
    }

    fn next_node(&mut self) -> Result<bool> {
        while let Some(frame) = self.stack.last_mut() {
            frame.at += 1;
            let frame = *frame;
            let node = self.layout.node(frame.node);
            if frame.at < steps(node)? {
                let (index, base) = child(node, frame)?;
                self.descend(index, base, 0)?;
                return Ok(true);
            }
            self.stack.pop();
        }
        if self.items <= 1 {
            self.items = 0;
            return Ok(false);
        }
        self.items -= 1;
        self.item_base = self.item_base.wrapping_add(self.layout.extent());
        self.descend(self.layout.root(), self.item_base, 0)?;
        Ok(true)
    }

    /// Goes down from a node to the run that holds byte `position` of it.
    fn descend(&mut self, mut index: usize, mut base: i64, mut position: u64) -> Result<()> {
        loop {
            let node = self.layout.node(index);
            let at = match *node {
                [RUN, _, block, count, stride, ..] if block > 0 && count > 0 => {
                    self.enter_run(Piece { disp: base, block, count, stride: stride as i64 }, position);
                    return Ok(());
                }
                [BLOCKS, end, count, _, ref list @ ..] => {
                    let at = if position > 0 { find::<2>(list, count, &mut position)? } else { 0 };
                    let range = at as usize * 2..(count as usize).saturating_mul(2);
                    let entries = list.get(range).ok_or_else(corrupt)?;
                    self.list = BlockList { entries, end, base };
                    let run = self.list.next()?.ok_or_else(corrupt)?;
                    self.enter_run(run, position);
                    return Ok(());
                }
                [LOOP, size, count, ..] if position > 0 => {
                    let body = size.checked_div(count).filter(|body| *body > 0).ok_or_else(corrupt)?;
                    let at = position / body;
                    position %= body;
                    at
                }
                [PARTS, _, count, _, ref list @ ..] if position > 0 => find::<3>(list, count, &mut position)?,
                [LOOP | PARTS, ..] => 0,
                _ => return Err(corrupt()),
            };
            let frame = Frame { node: index, base, at };
            if self.stack.len() >= MAX_STACK || at >= steps(node)? {
                return Err(corrupt());
            }
            self.stack.push(frame);
            (index, base) = child(node, frame)?;
        }
    }
}

/// The number of steps of a loop or list of nodes.
fn steps(node: &[u64]) -> Result<u64> {
    match *node {
        [LOOP | PARTS, _, count, ..] => Ok(count),
        _ => Err(corrupt()),
    }
}

/// The node that the frame's current step leads to, and where it lies.
fn child(node: &[u64], frame: Frame) -> Result<(usize, i64)> {
    match *node {
        [LOOP, _, _, stride, body, ..] => {
            let moved = (stride as i64).wrapping_mul(frame.at as i64);
            Ok((body as usize, frame.base.wrapping_add(moved)))
        }
        [PARTS, _, _, _, ref list @ ..] => {
            let [disp, _, index] = *entry(list, frame.at)?;
            Ok((index as usize, frame.base.wrapping_add(disp as i64)))
        }
        _ => Err(corrupt()),
    }
}

/// Entry `at` of a list whose entries have `N` words.
pub(crate) fn entry<const N: usize>(list: &[u64], at: u64) -> Result<&[u64; N]> {
    let from = (at as usize).checked_mul(N).ok_or_else(corrupt)?;
    list.get(from..).and_then(|rest| rest.first_chunk()).ok_or_else(corrupt)
}

/// The entry of a list that holds byte `position`, which becomes the position within that entry.
fn find<const N: usize>(list: &[u64], count: u64, position: &mut u64) -> Result<u64> {
    let (mut low, mut high) = (0, count);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if entry::<N>(list, middle)?[1] <= *position {
            low = middle;
        } else {
            high = middle;
        }
    }
    *position = position.checked_sub(entry::<N>(list, low)?[1]).ok_or_else(corrupt)?;
    Ok(low)
}

/// The whole message as one run, if the layout of an item is one and the items continue it.
fn as_one_run(layout: LayoutView<'_>, count: u64) -> Option<Piece> {
    let [RUN, size, block, inner, stride, ..] = *layout.node(layout.root()) else { return None };
    let (disp, stride, extent) = (layout.disp(), stride as i64, layout.extent());
    if block == 0 || inner == 0 {
        return None;
    }
    let piece = |block, count, stride| Some(Piece { disp, block, count, stride });
    if count == 1 {
        piece(block, inner, stride)
    } else if inner == 1 && extent as u64 == size {
        piece(size.checked_mul(count)?, 1, 0)
    } else if inner == 1 {
        piece(block, count, extent)
    } else if i128::from(stride) * i128::from(inner) == i128::from(extent) {
        piece(block, inner.checked_mul(count)?, stride)
    } else {
        None
    }
}
