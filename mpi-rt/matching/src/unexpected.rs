//! Messages that have arrived before their receive.

use crate::key::{Key, Pattern, Table};
use crate::list::{Ends, Links, NONE};
use slab::Slab;

/// Messages that wait for a receive, each with a value `M` that says where its content is.
#[derive(Debug)]
pub struct Unexpected<M> {
    entries: Slab<Entry<M>>,
    /// Messages of one key, in order of arrival.
    exact: Table<Key, Ends>,
    /// Messages of one context, in order of arrival.
    of_context: Table<u32, Ends>,
}

#[derive(Debug)]
struct Entry<M> {
    key: Key,
    exact: Links,
    of_context: Links,
    message: M,
}

impl<M> Unexpected<M> {
    /// No messages.
    pub fn new() -> Unexpected<M> {
        Unexpected { entries: Slab::new(), exact: Table::default(), of_context: Table::default() }
    }

    /// How many messages wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no message waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A message has arrived.
    pub fn add(&mut self, key: Key, message: M) {
        let links = Links { before: NONE, after: NONE };
        let index = self.entries.insert(Entry { key, exact: links, of_context: links, message });
        let queue = self.exact.entry(key).or_insert(Ends::EMPTY);
        queue.append(&mut self.entries, index, |entries, index| &mut entries[index].exact);
        let queue = self.of_context.entry(key.context).or_insert(Ends::EMPTY);
        queue.append(&mut self.entries, index, |entries, index| &mut entries[index].of_context);
    }

    /// The oldest message that the pattern accepts.
    pub fn find(&self, pattern: &Pattern) -> Option<(&Key, &M)> {
        let entry = &self.entries[self.index(pattern)?];
        Some((&entry.key, &entry.message))
    }

    /// Takes that message out.
    pub fn take(&mut self, pattern: &Pattern) -> Option<(Key, M)> {
        let index = self.index(pattern)?;
        let key = self.entries[index].key;
        if let Some(queue) = self.exact.get_mut(&key) {
            queue.remove(&mut self.entries, index, |entries, index| &mut entries[index].exact);
            if queue.is_empty() {
                self.exact.remove(&key);
            }
        }
        if let Some(queue) = self.of_context.get_mut(&key.context) {
            queue.remove(&mut self.entries, index, |entries, index| &mut entries[index].of_context);
            if queue.is_empty() {
                self.of_context.remove(&key.context);
            }
        }
        Some((key, self.entries.remove(index).message))
    }

    fn index(&self, pattern: &Pattern) -> Option<usize> {
        if self.entries.is_empty() {
            return None;
        }
        if let Some(key) = pattern.exact() {
            return self.exact.get(&key).map(|queue| queue.first);
        }
        let mut index = self.of_context.get(&pattern.context)?.first;
        while index != NONE {
            let entry = &self.entries[index];
            if pattern.accepts(&entry.key) {
                return Some(index);
            }
            index = entry.of_context.after;
        }
        None
    }
}

impl<M> Default for Unexpected<M> {
    fn default() -> Unexpected<M> {
        Unexpected::new()
    }
}
