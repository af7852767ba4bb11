//! Layouts as trees: how the bytes of one datatype lie in memory, in the order of its type map, as loops over blocks.
//!
//! A tree is built when a datatype is constructed, from the trees of the types it is made of, which it shares. Building
//! merges what can be merged (adjacent blocks, strided runs, nested loops that are one loop), so that a vector of a million
//! blocks is one node and a contiguous type is one block however it was put together. Displacements are moved outwards: a
//! node's own first block is at 0 and the parent says where the node lies.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::error::{Class, Error, Result, narrow};

/// Nesting of lists and loops that this implementation carries. Loops double the data at every level, so only a tower of
/// hundreds of structs, each holding the last, can reach it; the limit bounds every stack that walks a tree.
pub(crate) const MAX_DEPTH: u32 = 250;

/// A list of lists of blocks with so many blocks in all, at most, becomes one list: one loop copies it.
const FLAT: usize = 1024;

/// A layout whose first block is at displacement 0.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// `count` blocks of `block` bytes, `stride` bytes from the start of one to the next. One block has stride 0.
    Run { block: u64, count: u64, stride: i64 },
    /// `count` copies of `body`, `stride` bytes apart. Never over a single block.
    Loop { count: u64, stride: i64, body: Rc<Node>, size: u64 },
    /// Blocks at irregular places.
    Blocks { blocks: Box<[Block]>, size: u64 },
    /// Nodes at irregular places.
    Parts { parts: Box<[ListEntry]>, size: u64, depth: u32 },
}

/// One block of a list: where it lies and how many bytes of the list come before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub disp: i64,
    pub start: u64,
}

/// One node of a list.
#[derive(Clone, Debug)]
pub(crate) struct ListEntry {
    pub disp: i64,
    pub start: u64,
    pub node: Rc<Node>,
}

/// A node and where it lies. `None` is the layout of a type without data.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub disp: i64,
    pub node: Rc<Node>,
}

impl Node {
    /// Bytes of data.
    pub fn size(&self) -> u64 {
        match self {
            Node::Run { block, count, .. } => block * count,
            Node::Loop { size, .. } | Node::Blocks { size, .. } | Node::Parts { size, .. } => *size,
        }
    }

    fn depth(&self) -> u32 {
        match self {
            Node::Run { .. } | Node::Blocks { .. } => 1,
            Node::Loop { body, .. } => body.depth_under_loop(),
            Node::Parts { depth, .. } => *depth,
        }
    }

    // Loops nest at most 63 deep over non-empty data (each doubles it), so this recursion is short.
    fn depth_under_loop(&self) -> u32 {
        self.depth() + 1
    }

    /// `count` copies of this node `stride` bytes apart, as one node; `count` at least 1. The caller's bounds have been
    /// checked, so sizes fit.
    pub fn repeated(self: &Rc<Node>, count: u64, stride: i64) -> Rc<Node> {
        if count == 1 {
            return self.clone();
        }
        match **self {
            Node::Run { block, count: 1, .. } if stride == block as i64 => {
                Rc::new(Node::Run { block: block * count, count: 1, stride: 0 })
            }
            Node::Run { block, count: 1, .. } => Rc::new(Node::Run { block, count, stride }),
            Node::Run { block, count: inner, stride: step } if continues(inner, step, stride) => {
                Rc::new(Node::Run { block, count: inner * count, stride: step })
            }
            Node::Loop { count: inner, stride: step, ref body, size } if continues(inner, step, stride) => {
                Rc::new(Node::Loop {
                    count: inner * count,
                    stride: step,
                    body: body.clone(),
                    size: size * count,
                })
            }
            _ => Rc::new(Node::Loop { count, stride, body: self.clone(), size: self.size() * count }),
        }
    }
}

/// Whether copies `stride` apart of a loop of `count` steps of `step` bytes are one longer loop.
fn continues(count: u64, step: i64, stride: i64) -> bool {
    i128::from(step) * i128::from(count) == i128::from(stride)
}

/// `count` copies of a layout `stride` bytes apart, the first moved by `disp`.
pub(crate) fn repeated(
    layout: &Option<Placed>,
    disp: i128,
    count: u64,
    stride: i128,
) -> Result<Option<Placed>> {
    let Some(placed) = layout.as_ref().filter(|_| count > 0) else { return Ok(None) };
    let stride = if count == 1 { 0 } else { narrow(stride)? };
    let disp = narrow(disp.saturating_add(i128::from(placed.disp)))?;
    Ok(Some(Placed { disp, node: placed.node.repeated(count, stride) }))
}

/// Collects layouts in the order of a type map into one.
pub(crate) struct List {
    parts: Vec<Placed>,
}

impl List {
    pub fn with_capacity(parts: usize) -> List {
        List { parts: Vec::with_capacity(parts) }
    }

    /// Appends a layout; a block that starts where the last one ends becomes part of it.
    pub fn push(&mut self, layout: Option<Placed>) {
        let Some(next) = layout else { return };
        if let Some(last) = self.parts.last_mut()
            && let Node::Run { block: ahead, count: 1, .. } = *last.node
            && let Node::Run { block, count: 1, .. } = *next.node
            && i128::from(last.disp) + i128::from(ahead) == i128::from(next.disp)
        {
            last.node = Rc::new(Node::Run { block: ahead + block, count: 1, stride: 0 });
            return;
        }
        self.parts.push(next);
    }

    /// The whole, moved so that its first block is at 0.
    pub fn finish(self) -> Result<Option<Placed>> {
        let Some(first) = self.parts.first() else { return Ok(None) };
        let origin = first.disp;
        if let Some(run) = self.as_run() {
            return Ok(Some(Placed { disp: origin, node: run }));
        }
        if let Some(node) = self.as_flat_list(origin)? {
            return Ok(Some(Placed { disp: origin, node: Rc::new(node) }));
        }
        let mut size = 0;
        let node = if self.parts.iter().all(|part| matches!(*part.node, Node::Run { count: 1, .. })) {
            let blocks = self.parts.iter().map(|part| {
                let start = size;
                size += part.node.size();
                Ok(Block { disp: distance(origin, part.disp)?, start })
            });
            let blocks = blocks.collect::<Result<_>>()?;
            Node::Blocks { blocks, size }
        } else {
            let depth = 1 + self.parts.iter().map(|part| part.node.depth()).max().unwrap_or(0);
            if depth > MAX_DEPTH {
                return Err(Error::new(
                    Class::Other,
                    "the datatype nests deeper than this implementation carries (250)",
                ));
            }
            let parts = self.parts.into_iter().map(|part| {
                let start = size;
                size += part.node.size();
                Ok(ListEntry { disp: distance(origin, part.disp)?, start, node: part.node })
            });
            let parts = parts.collect::<Result<_>>()?;
            Node::Parts { parts, size, depth }
        };
        Ok(Some(Placed { disp: origin, node: Rc::new(node) }))
    }

    /// A list of short lists of blocks as one list of blocks.
    fn as_flat_list(&self, origin: i64) -> Result<Option<Node>> {
        let number = |part: &Placed| match &*part.node {
            Node::Run { count: 1, .. } => Some(1),
            Node::Blocks { blocks, .. } => Some(blocks.len()),
            _ => None,
        };
        let total = self.parts.iter().try_fold(0usize, |sum, part| sum.checked_add(number(part)?));
        if total.is_none_or(|total| total > FLAT) {
            return Ok(None);
        }
        let (mut blocks, mut size, mut end) = (Vec::new(), 0, None);
        let mut push = |disp: i64, length: u64| {
            if end != Some(disp) {
                blocks.push(Block { disp, start: size });
            }
            size += length;
            end = disp.checked_add_unsigned(length);
        };
        for part in &self.parts {
            let at = distance(origin, part.disp)?;
            match &*part.node {
                Node::Blocks { blocks: inner, size } => {
                    let ends = inner.iter().skip(1).map(|block| block.start).chain([*size]);
                    for (block, end) in inner.iter().zip(ends) {
                        push(at.checked_add(block.disp).ok_or_else(too_far)?, end - block.start);
                    }
                }
                node => push(at, node.size()),
            }
        }
        Ok(Some(regular(&blocks, size).unwrap_or(Node::Blocks { blocks: blocks.into(), size })))
    }

    /// The list as one node, if all its parts are the same node at equal distances.
    fn as_run(&self) -> Option<Rc<Node>> {
        let [first, rest @ ..] = self.parts.as_slice() else { return None };
        let Some(second) = rest.first() else { return Some(first.node.clone()) };
        let stride = second.disp.checked_sub(first.disp)?;
        let mut last = first.disp;
        for part in rest {
            if !same(&first.node, &part.node) || part.disp.checked_sub(last)? != stride {
                return None;
            }
            last = part.disp;
        }
        Some(first.node.repeated(self.parts.len() as u64, stride))
    }
}

pub(crate) fn same(a: &Rc<Node>, b: &Rc<Node>) -> bool {
    match (&**a, &**b) {
        (Node::Run { block: x, count: m, stride: s }, Node::Run { block: y, count: n, stride: t }) => {
            (x, m, s) == (y, n, t)
        }
        _ => Rc::ptr_eq(a, b),
    }
}

/// A list of blocks as a run, if it is one.
fn regular(blocks: &[Block], size: u64) -> Option<Node> {
    let count = blocks.len() as u64;
    let (block, stride) = match blocks {
        [] => return None,
        [_] => (size, 0),
        [first, second, ..] => (second.start, second.disp.checked_sub(first.disp)?),
    };
    let is_run = block.checked_mul(count) == Some(size)
        && (0..)
            .zip(blocks)
            .all(|(i, it): (i64, _)| it.start == block * i as u64 && stride.checked_mul(i) == Some(it.disp));
    is_run.then_some(Node::Run { block, count, stride })
}

fn distance(from: i64, to: i64) -> Result<i64> {
    to.checked_sub(from).ok_or_else(too_far)
}

fn too_far() -> Error {
    Error::new(Class::ValueTooLarge, "two blocks of the datatype are more than 2^63 bytes apart")
}
