//! Pieces of a heap, and copies between them.

use lwk_abi::address::PAGE_BYTES;

/// Whole pages of a heap, at least one. Only a [`Heap`](super::Heap) makes spans, and only of memory that is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Span {
    /// Address of the first byte.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Address after the last byte.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// How many bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.end - self.start
    }

    /// The part of it that lies in `start..end`, both page aligned; `None` if there is none.
    #[must_use]
    pub fn within(&self, start: u64, end: u64) -> Option<Span> {
        debug_assert!(start.is_multiple_of(PAGE_BYTES) && end.is_multiple_of(PAGE_BYTES));
        let part = Span { start: self.start.max(start), end: self.end.min(end) };
        (part.start < part.end).then_some(part)
    }

    /// Whether any byte of `start..end` is in it.
    #[must_use]
    pub const fn touches(&self, start: u64, end: u64) -> bool {
        self.start < end && start < self.end
    }
}

/// A copy of one span to another that has room for it and does not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    from: Span,
    to: Span,
}

impl Transfer {
    /// A copy of all of `from` to the beginning of `to`; `None` if it does not fit or they overlap.
    #[must_use]
    pub fn new(from: Span, to: Span) -> Option<Transfer> {
        let apart = !from.touches(to.start, to.end);
        (apart && from.bytes() <= to.bytes()).then_some(Transfer { from, to })
    }

    /// Where the bytes are.
    #[must_use]
    pub const fn from(&self) -> Span {
        self.from
    }

    /// Where they go: as many.
    #[must_use]
    pub const fn to(&self) -> Span {
        Span { start: self.to.start, end: self.to.start + self.from.bytes() }
    }
}
