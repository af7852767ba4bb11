//! Committed layouts: a tree of blocks and loops as one array of 64-bit words without pointers.
//!
//! The array means the same wherever it lies, so a receiver walks the sender's layout straight in the sender's memory: an
//! envelope needs only the array's address and length, the buffer's address and the count. A reader checks every index, so
//! an array that is not a layout yields an error of class `Intern`, never a panic or an endless loop; but the addresses it
//! produces are only as good as the array.
//!
//! Words 0 to 6 are the header: magic, index of the root node (0: no data), displacement of the root, size, extent, lowest and highest
//! displacement of an item. A node is its tag, its size, and then: run: block, count, stride; loop: count, stride, body; blocks: number, bytes of
//! each or 0 if they differ, then (displacement, bytes before) for each; parts: number, the node that all have in common or 0, then (displacement,
//! bytes before, node) for each. A list of short blocks that differ is written as one of equal blocks, some of them next to each other, so that
//! one loop copies it.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use crate::bounds::Bounds;
use crate::error::{Class, Error, Result};
use crate::node::{Block, ListEntry, Node, Placed, same};

/// "LWKTYPE" and the version of the form.
const MAGIC: u64 = 0x4c57_4b54_5950_4502;
const HEADER: usize = 7;

pub(crate) const RUN: u64 = 1;
pub(crate) const LOOP: u64 = 2;
pub(crate) const BLOCKS: u64 = 3;
pub(crate) const PARTS: u64 = 4;

/// Blocks that differ are divided into equal ones if that makes no more than so many of each, on the average.
const FEW_PIECES: u64 = 4;
/// Bytes of the largest of those: what is copied at once.
const LARGEST_PIECE: u64 = 16;

/// Bytes next to each other, one a count: the layout of packed data.
static BYTES: [u64; 12] = [MAGIC, HEADER as u64, 0, 1, 1, 0, 1, RUN, 1, 1, 1, 0];

/// The layout of one committed datatype, readable by whoever can read its words.
#[derive(Clone, Copy, Debug)]
pub struct LayoutView<'a> {
    words: &'a [u64],
}

impl<'a> LayoutView<'a> {
    /// Reads a layout that [`LayoutView::words`] of a peer showed. Fails (class `Intern`) if the words are something else.
    pub fn from_words(words: &'a [u64]) -> Result<LayoutView<'a>> {
        match words {
            [MAGIC, root, ..] if words.len() >= HEADER && *root <= words.len() as u64 => {
                Ok(LayoutView { words })
            }
            _ => Err(corrupt()),
        }
    }

    /// Single bytes, each next to the last.
    pub fn bytes() -> LayoutView<'static> {
        LayoutView { words: &BYTES }
    }

    /// The layout as words; they stay valid as long as the datatype lives.
    pub fn words(&self) -> &'a [u64] {
        self.words
    }

    /// Bytes of data in one item.
    pub fn size(&self) -> u64 {
        self.words[3]
    }

    /// Bytes from one item to the next.
    pub fn extent(&self) -> i64 {
        self.words[4] as i64
    }

    /// Displacement of the first block and number of bytes, if the data of `count` items is one block.
    pub fn contiguous(&self, count: u64) -> Option<(i64, u64)> {
        if count == 0 || self.size() == 0 {
            return Some((0, 0));
        }
        match *self.node(self.root()) {
            [RUN, size, _, 1, ..] if count == 1 || self.extent() as u64 == size => {
                Some((self.disp(), size.checked_mul(count)?))
            }
            _ => None,
        }
    }

    /// Bytes of data in `count` items; class `Count` if that exceeds 63 bits.
    pub fn total(&self, count: u64) -> Result<u64> {
        let total = self.size().checked_mul(count).filter(|total| *total <= i64::MAX as u64);
        total.ok_or(Error::new(Class::Count, "the count makes the message larger than 2^63 bytes"))
    }

    /// Displacement of the lowest byte of one item, and of the one after the highest.
    pub(crate) fn bounds(&self) -> [i64; 2] {
        [self.words[5] as i64, self.words[6] as i64]
    }

    pub(crate) fn root(&self) -> usize {
        self.words[1] as usize
    }

    pub(crate) fn disp(&self) -> i64 {
        self.words[2] as i64
    }

    /// The words from a node's tag on; empty if there is no such place.
    pub(crate) fn node(&self, index: usize) -> &'a [u64] {
        self.words.get(index..).unwrap_or(&[])
    }
}

pub(crate) fn corrupt() -> Error {
    Error::new(
        Class::Intern,
        "a peer's datatype layout is damaged: its words are not a layout of this runtime's version",
    )
}

/// Writes a layout as words.
pub(crate) fn flatten(layout: &Option<Placed>, bounds: &Bounds) -> Rc<[u64]> {
    let header = [bounds.size, bounds.extent, bounds.true_lb, bounds.true_ub].map(|word| word as u64);
    let mut out = Writer { words: vec![MAGIC, 0, 0], ..Writer::default() };
    out.words.extend(header);
    if let Some(placed) = layout {
        out.words[1] = out.place(&placed.node);
        out.words[2] = placed.disp as u64;
        while let Some((at, node)) = out.pending.pop() {
            out.write(at, &node);
        }
    }
    out.words.into()
}

#[derive(Default)]
struct Writer {
    words: Vec<u64>,
    /// Where shared nodes have been put, by address; the nodes stay alive in the tree being written.
    placed: BTreeMap<*const Node, u64>,
    pending: Vec<(usize, Rc<Node>)>,
}

impl Writer {
    /// The index of a node, which is given room and queued for writing when first met.
    fn place(&mut self, node: &Rc<Node>) -> u64 {
        if let Some(index) = self.placed.get(&Rc::as_ptr(node)) {
            return *index;
        }
        let at = self.words.len();
        let room = match &**node {
            Node::Run { .. } | Node::Loop { .. } => 5,
            Node::Blocks { blocks, size } => 4 + 2 * pieces(blocks, *size).count(),
            Node::Parts { parts, .. } => 4 + 3 * parts.len(),
        };
        self.words.resize(at + room, 0);
        self.placed.insert(Rc::as_ptr(node), at as u64);
        self.pending.push((at, node.clone()));
        at as u64
    }

    fn write(&mut self, at: usize, node: &Node) {
        match node {
            Node::Run { block, count, stride } => {
                self.put(at, &[RUN, node.size(), *block, *count, *stride as u64]);
            }
            Node::Loop { count, stride, body, size } => {
                let body = self.place(body);
                self.put(at, &[LOOP, *size, *count, *stride as u64, body]);
            }
            Node::Blocks { blocks, size } => {
                let (mut number, piece) = (0, common_length(blocks, *size));
                for (disp, start) in pieces(blocks, *size) {
                    self.put(at + 4 + 2 * number, &[disp as u64, start]);
                    number += 1;
                }
                self.put(at, &[BLOCKS, *size, number as u64, piece.unwrap_or(0)]);
            }
            Node::Parts { parts, size, .. } => {
                let common = self.common(parts);
                self.put(at, &[PARTS, *size, parts.len() as u64, common]);
                for (i, part) in parts.iter().enumerate() {
                    let child = self.place(&part.node);
                    self.put(at + 4 + 3 * i, &[part.disp as u64, part.start, child]);
                }
            }
        }
    }

    /// The index of the run that all parts are, or 0.
    fn common(&mut self, parts: &[ListEntry]) -> u64 {
        match parts {
            [first, rest @ ..]
                if matches!(*first.node, Node::Run { .. })
                    && rest.iter().all(|part| same(&first.node, &part.node)) =>
            {
                self.place(&first.node)
            }
            _ => 0,
        }
    }

    fn put(&mut self, at: usize, words: &[u64]) {
        self.words[at..at + words.len()].copy_from_slice(words);
    }
}

/// Bytes of each block, or of the pieces that blocks which differ are divided into.
fn common_length(blocks: &[Block], size: u64) -> Option<u64> {
    let number = blocks.len() as u64;
    let length = size / number.max(1);
    if length * number == size && blocks.iter().zip(0..).all(|(block, i)| block.start == length * i) {
        return Some(length);
    }
    let all = blocks.iter().fold(size | LARGEST_PIECE, |all, block| all | block.start);
    let piece = 1 << all.trailing_zeros();
    (size / piece <= number * FEW_PIECES).then_some(piece)
}

/// The blocks as they are written: displacement of each, and the bytes before.
fn pieces(blocks: &[Block], size: u64) -> impl Iterator<Item = (i64, u64)> {
    let piece = common_length(blocks, size).unwrap_or(u64::MAX);
    let ends = blocks.iter().skip(1).map(|block| block.start).chain([size]);
    blocks.iter().zip(ends).flat_map(move |(block, end)| {
        let number = (end - block.start).div_ceil(piece);
        (0..number).map(move |i| (block.disp + (i * piece) as i64, block.start + i * piece))
    })
}
