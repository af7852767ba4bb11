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
const MAX_STACK: usize = MAX_DEPTH as usize + 64;

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

/// A place in a loop or list that is being walked.
#[derive(Clone, Copy)]
struct Frame {
    node: usize,
    base: i64,
    at: u64,
}

/// A position in a message of `count` items of one layout.
pub struct Cursor<'a> {
    layout: LayoutView<'a>,
    /// Items left, the current one included; 0 before the first and after the last is loaded.
    items: u64,
    item_base: i64,
    stack: SmallVec<[Frame; 6]>,
    run: Piece,
    /// Bytes of the run's first block that are behind the cursor.
    into: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor at byte `position` of the packed message of `count` items. A position at or past the end yields nothing.
    pub fn new(layout: LayoutView<'a>, count: u64, position: u64) -> Result<Cursor<'a>> {
        let (run, into, items, item_base) = (Piece::default(), 0, 0, 0);
        let mut cursor = Cursor { layout, items, item_base, stack: SmallVec::new(), run, into };
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
        cursor.descend(layout.root(), cursor.item_base, rest)?;
        Ok(cursor)
    }

    /// The longest run that starts here: what is left of a block that has been entered, or whole blocks. `None` at the end.
    pub fn peek(&mut self) -> Result<Option<Piece>> {
        while self.run.count == 0 {
            if !self.next_run()? {
                return Ok(None);
            }
        }
        Ok(Some(match self.into {
            0 => self.run,
            into => Piece {
                disp: self.run.disp.wrapping_add(into as i64),
                block: self.run.block - into,
                count: 1,
                stride: 0,
            },
        }))
    }

    /// Moves on by `bytes`, at most what [`Cursor::peek`] showed.
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
    fn next_run(&mut self) -> Result<bool> {
        self.into = 0;
        while let Some(frame) = self.stack.last_mut() {
            frame.at += 1;
            let frame = *frame;
            if frame.at < steps(self.layout.node(frame.node))? {
                self.step_into(frame)?;
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

    /// Enters the frame's current step at its first byte.
    fn step_into(&mut self, frame: Frame) -> Result<()> {
        let node = self.layout.node(frame.node);
        match (child(node, frame)?, node) {
            (Child::Block(run), _) => self.run = run,
            (Child::Node { index, base, .. }, _) => self.descend(index, base, 0)?,
        }
        Ok(())
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
                [LOOP, size, count, ..] if position > 0 => {
                    let body = size.checked_div(count).filter(|body| *body > 0).ok_or_else(corrupt)?;
                    let at = position / body;
                    position %= body;
                    at
                }
                [BLOCKS | PARTS, _, count, ..] if position > 0 => find(node, count, &mut position)?,
                [LOOP | BLOCKS | PARTS, ..] => 0,
                _ => return Err(corrupt()),
            };
            let frame = Frame { node: index, base, at };
            if self.stack.len() >= MAX_STACK || at >= steps(node)? {
                return Err(corrupt());
            }
            self.stack.push(frame);
            match child(node, frame)? {
                Child::Block(run) => {
                    self.enter_run(run, position);
                    return Ok(());
                }
                Child::Node { index: below, base: at } => (index, base) = (below, at),
            }
        }
    }
}

/// What a step of a loop or list leads to.
enum Child {
    Block(Piece),
    Node { index: usize, base: i64 },
}

/// The number of steps of a loop or list.
fn steps(node: &[u64]) -> Result<u64> {
    match *node {
        [LOOP | BLOCKS | PARTS, _, count, ..] => Ok(count),
        _ => Err(corrupt()),
    }
}

fn child(node: &[u64], frame: Frame) -> Result<Child> {
    let at = frame.at as usize;
    match *node {
        [LOOP, _, _, stride, body, ..] => {
            let moved = (stride as i64).wrapping_mul(frame.at as i64);
            Ok(Child::Node { index: body as usize, base: frame.base.wrapping_add(moved) })
        }
        [BLOCKS, size, count, ref list @ ..] => {
            let [disp, start] = *entry(list, at)?;
            let end = if frame.at + 1 < count { entry::<2>(list, at + 1)?[1] } else { size };
            let block = end.checked_sub(start).filter(|block| *block > 0).ok_or_else(corrupt)?;
            Ok(Child::Block(Piece { disp: frame.base.wrapping_add(disp as i64), block, count: 1, stride: 0 }))
        }
        [PARTS, _, _, ref list @ ..] => {
            let [disp, _, index] = *entry(list, at)?;
            Ok(Child::Node { index: index as usize, base: frame.base.wrapping_add(disp as i64) })
        }
        _ => Err(corrupt()),
    }
}

/// Entry `at` of a list whose entries have `N` words.
fn entry<const N: usize>(list: &[u64], at: usize) -> Result<&[u64; N]> {
    let from = at.checked_mul(N).ok_or_else(corrupt)?;
    list.get(from..).and_then(|rest| rest.first_chunk()).ok_or_else(corrupt)
}

/// The entry of a list that holds byte `position`, which becomes the position within that entry.
fn find(node: &[u64], count: u64, position: &mut u64) -> Result<u64> {
    let start = |at: u64| -> Result<u64> {
        match *node {
            [BLOCKS, _, _, ref list @ ..] => Ok(entry::<2>(list, at as usize)?[1]),
            [_, _, _, ref list @ ..] => Ok(entry::<3>(list, at as usize)?[1]),
            _ => Err(corrupt()),
        }
    };
    let (mut low, mut high) = (0, count);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if start(middle)? <= *position {
            low = middle;
        } else {
            high = middle;
        }
    }
    *position = position.checked_sub(start(low)?).ok_or_else(corrupt)?;
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
        piece(size * count, 1, 0)
    } else if inner == 1 {
        piece(block, count, extent)
    } else if i128::from(stride) * i128::from(inner) == i128::from(extent) {
        piece(block, inner * count, stride)
    } else {
        None
    }
}
