//! Which operations a first gives its kernel for one collective, and what its two counting events have come to when it is over. No memory, no calls.
//!
//! * [`Way::Up`] counts what has come from the children, and that the parent's buffer can be folded into.
//! * [`Way::Down`] counts what has come from the parent: the result, or that all are there.
//!
//! Neither is ever reset: each collective adds what it will count to what is expected. That is enough, because nothing of a collective comes to a first before
//! all that it awaits upwards in the one before has come: it comes from firsts that have ended that one, which nobody does before the root has had everybody's part.

use crate::tree::Tree;

/// Which of a first's entries and counting events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    Up,
    Down,
}

/// What a collective does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Barrier,
    /// An allreduce.
    Reduction,
}

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Nothing: it only counts.
    Nothing,
    /// The buffer, to be folded into the target's.
    Part,
    /// The buffer, in place of the target's.
    Result,
}

/// An operation for the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asked {
    /// The first that it goes to.
    pub to: u32,
    /// What it counts there.
    pub counts: Way,
    pub content: Content,
    /// The counting event here that sets it off, and at which count; at once.
    pub after: Option<(Way, u64)>,
}

/// How far a first is: what its counting events come to when its last collective is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    tree: Tree,
    up: u64,
    down: u64,
    reductions: u64,
}

/// One collective of a first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Epoch {
    kind: Kind,
    tree: Tree,
    up: u64,
    down: u64,
    /// The buffer that it uses, 0 or 1. They take turns: when a first uses one anew, all have entered the reduction in between, and so have ended the one
    /// that used it before.
    pub lane: usize,
}

impl Plan {
    /// Before the first collective.
    pub fn new(tree: Tree) -> Plan {
        Plan { tree, up: 0, down: 0, reductions: 0 }
    }

    /// The next collective. All firsts must begin the same ones, and end each before they begin the next.
    pub fn begin(&mut self, kind: Kind) -> Epoch {
        self.up += self.tree.children().count() as u64;
        if self.tree.parent().is_some() {
            self.down += 1;
            self.up += u64::from(kind == Kind::Reduction);
        }
        self.reductions += u64::from(kind == Kind::Reduction);
        let lane = (self.reductions % 2) as usize;
        Epoch { kind, tree: self.tree, up: self.up, down: self.down, lane }
    }
}

impl Epoch {
    /// When it is over: the counting event, and its count.
    pub fn end(&self) -> (Way, u64) {
        match self.tree.parent() {
            None => (Way::Up, self.up),
            Some(_) => (Way::Down, self.down),
        }
    }

    /// What to ask of the kernel, in this order, when the own part lies in the buffer.
    pub fn operations(&self) -> impl Iterator<Item = Asked> + use<> {
        let (part, result) = match self.kind {
            Kind::Barrier => (Content::Nothing, Content::Nothing),
            Kind::Reduction => (Content::Part, Content::Result),
        };
        let (tree, up, end) = (self.tree, self.up, self.end());
        let is_reduction = self.kind == Kind::Reduction;
        let ready = tree.children().filter(move |_| is_reduction).map(|to| Asked {
            to,
            counts: Way::Up,
            content: Content::Nothing,
            after: None,
        });
        let upwards =
            tree.parent().map(|to| Asked { to, counts: Way::Up, content: part, after: Some((Way::Up, up)) });
        let downwards =
            tree.children().map(move |to| Asked { to, counts: Way::Down, content: result, after: Some(end) });
        ready.chain(upwards).chain(downwards)
    }
}
