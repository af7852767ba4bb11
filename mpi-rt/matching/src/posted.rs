//! Posted receives.

use crate::key::{KINDS, Key, Pattern, Table};
use crate::list::{Ends, Links, NONE};
use slab::Slab;

/// Receives that wait for a message, each with a value `T` that says what to do with it.
#[derive(Debug)]
pub struct Posted<T> {
    entries: Slab<Entry<T>>,
    queues: Table<Pattern, Ends>,
    /// Entries of each kind of pattern: kinds that nobody uses are not looked up.
    of_kind: [usize; KINDS],
    /// The number the next receive gets; numbers order receives of different patterns.
    next: u64,
}

#[derive(Debug)]
struct Entry<T> {
    number: u64,
    pattern: Pattern,
    links: Links,
    value: T,
}

/// Names a posted receive, so that it can be withdrawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    index: usize,
    number: u64,
}

impl<T> Posted<T> {
    /// No receives.
    pub fn new() -> Posted<T> {
        Posted { entries: Slab::new(), queues: Table::default(), of_kind: [0; KINDS], next: 0 }
    }

    /// How many receives wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no receive waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Posts a receive.
    pub fn post(&mut self, pattern: Pattern, value: T) -> Token {
        let number = self.next;
        self.next += 1;
        let links = Links { before: NONE, after: NONE };
        let index = self.entries.insert(Entry { number, pattern, links, value });
        self.of_kind[pattern.kind()] += 1;
        let queue = self.queues.entry(pattern).or_insert(Ends::EMPTY);
        queue.append(&mut self.entries, index, |entries, index| &mut entries[index].links);
        Token { index, number }
    }

    /// Takes out the oldest receive that accepts the message.
    pub fn take(&mut self, key: &Key) -> Option<T> {
        let mut oldest: Option<(u64, usize)> = None;
        for kind in (0..KINDS).filter(|kind| self.of_kind[*kind] > 0) {
            if let Some(queue) = self.queues.get(&Pattern::of_kind(kind, key)) {
                let number = self.entries[queue.first].number;
                if oldest.is_none_or(|(other, _)| number < other) {
                    oldest = Some((number, queue.first));
                }
            }
        }
        oldest.map(|(_, index)| self.remove(index))
    }

    /// Withdraws a receive; `None` if it has been matched or withdrawn before.
    pub fn withdraw(&mut self, token: Token) -> Option<T> {
        let entry = self.entries.get(token.index)?;
        (entry.number == token.number).then(|| self.remove(token.index))
    }

    /// The receives, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&Pattern, &T)> {
        self.entries.iter().map(|(_, entry)| (&entry.pattern, &entry.value))
    }

    fn remove(&mut self, index: usize) -> T {
        let pattern = self.entries[index].pattern;
        if let Some(queue) = self.queues.get_mut(&pattern) {
            queue.remove(&mut self.entries, index, |entries, index| &mut entries[index].links);
            if queue.is_empty() {
                self.queues.remove(&pattern);
            }
        }
        self.of_kind[pattern.kind()] -= 1;
        self.entries.remove(index).value
    }
}

impl<T> Default for Posted<T> {
    fn default() -> Posted<T> {
        Posted::new()
    }
}
