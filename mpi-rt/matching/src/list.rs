//! Doubly linked first-in first-out lists over indices, for entries that leave from the middle in constant time.

/// No entry.
pub(crate) const NONE: usize = usize::MAX;

/// First and last entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub first: usize,
    pub last: usize,
}

/// An entry's neighbours in a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    pub before: usize,
    pub after: usize,
}

impl Ends {
    pub const EMPTY: Ends = Ends { first: NONE, last: NONE };

    /// Appends entry `index`. `links(i)` are the links of entry `i` in this list.
    pub fn append<E>(&mut self, entries: &mut E, index: usize, links: impl Fn(&mut E, usize) -> &mut Links) {
        *links(entries, index) = Links { before: self.last, after: NONE };
        match self.last {
            NONE => self.first = index,
            last => links(entries, last).after = index,
        }
        self.last = index;
    }

    /// The same at the other end.
    pub fn prepend<E>(&mut self, entries: &mut E, index: usize, links: impl Fn(&mut E, usize) -> &mut Links) {
        *links(entries, index) = Links { before: NONE, after: self.first };
        match self.first {
            NONE => self.last = index,
            first => links(entries, first).before = index,
        }
        self.first = index;
    }

    /// Takes entry `index`, which is in this list, out.
    pub fn remove<E>(&mut self, entries: &mut E, index: usize, links: impl Fn(&mut E, usize) -> &mut Links) {
        let Links { before, after } = *links(entries, index);
        match before {
            NONE => self.first = after,
            before => links(entries, before).after = after,
        }
        match after {
            NONE => self.last = before,
            after => links(entries, after).before = before,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }
}
