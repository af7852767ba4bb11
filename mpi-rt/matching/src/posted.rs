//! Posted receives, oldest first for each message (MPI-5.0, section 3.5).

use crate::key::{KINDS, Key, Pattern, Table};
use crate::list::{Ends, Links, NONE};
use lwk_place::WorldRank;
use slab::Slab;

/// Places for queues of exact receives that are found without the table. Receives of a loop that a program is in have few keys at a
/// time; a queue whose place is taken is in the table, as all with wildcards are.
const NEAR: usize = 16;

/// Receives that wait for a message, each with a value `T` that says what to do with it.
#[derive(Debug)]
pub struct Posted<T> {
    entries: Slab<Entry<T>>,
    /// Each key has one place, [`place_of`]. A key's receives are all here or all in `queues`.
    near: [Near; NEAR],
    queues: Table<Pattern, Ends>,
    /// Entries in `queues`, of each kind of pattern: kinds that nobody uses are not looked up.
    of_kind: [usize; KINDS],
    /// All entries in `queues`.
    far: usize,
    /// The number the next receive gets; numbers order receives of different patterns.
    next: u64,
}

/// The receives of one key, or of none.
#[derive(Clone, Copy, Debug)]
struct Near {
    key: Key,
    ends: Ends,
}

#[derive(Debug)]
struct Entry<T> {
    number: u64,
    pattern: Pattern,
    links: Links,
    value: T,
}

/// Names a posted receive, so that it can be withdrawn; names nothing once a message has taken the receive out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    index: usize,
    number: u64,
}

/// The place of a key among the near queues.
#[inline(always)]
fn place_of(key: &Key) -> usize {
    key.context.wrapping_add(key.source.0).wrapping_add(key.tag as u32) as usize % NEAR
}

impl<T> Posted<T> {
    /// No receives.
    pub fn new() -> Posted<T> {
        let near = [Near { key: Key { context: 0, source: WorldRank(0), tag: 0 }, ends: Ends::EMPTY }; NEAR];
        Posted { entries: Slab::new(), near, queues: Table::default(), of_kind: [0; KINDS], far: 0, next: 0 }
    }

    /// How many receives wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no receive waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Posts a receive, which is younger than all others; `value` is what the message that takes it out is given.
    #[inline]
    pub fn post(&mut self, pattern: Pattern, value: T) -> Token {
        let number = self.next;
        self.next += 1;
        let links = Links { before: NONE, after: NONE };
        let index = self.entries.insert(Entry { number, pattern, links, value });
        if let Some(key) = pattern.exact()
            && self.is_near(&pattern, &key)
        {
            let near = &mut self.near[place_of(&key)];
            near.key = key;
            near.ends.append(&mut self.entries, index, |entries, index| &mut entries[index].links);
            return Token { index, number };
        }
        self.append_far(pattern, index);
        Token { index, number }
    }

    /// Posts a receive again that a message has just taken out, as old as it was (the message was none after all).
    #[cold]
    pub fn put_back(&mut self, pattern: Pattern, token: Token, value: T) -> Token {
        let number = token.number;
        let links = Links { before: NONE, after: NONE };
        let index = self.entries.insert(Entry { number, pattern, links, value });
        match pattern.exact() {
            Some(key) if self.is_near(&pattern, &key) => {
                let near = &mut self.near[place_of(&key)];
                near.key = key;
                near.ends.prepend(&mut self.entries, index, |entries, index| &mut entries[index].links);
            }
            _ => {
                self.of_kind[pattern.kind()] += 1;
                self.far += 1;
                let queue = self.queues.entry(pattern).or_insert(Ends::EMPTY);
                queue.prepend(&mut self.entries, index, |entries, index| &mut entries[index].links);
            }
        }
        Token { index, number }
    }

    /// Whether a receive of this pattern, which is exact, belongs to the near queues.
    #[inline(always)]
    fn is_near(&self, pattern: &Pattern, key: &Key) -> bool {
        let near = &self.near[place_of(key)];
        if near.ends.is_empty() { !self.has_far(pattern) } else { near.key == *key }
    }

    /// Whether the table has receives of an exact pattern.
    #[inline]
    fn has_far(&self, pattern: &Pattern) -> bool {
        self.of_kind[pattern.kind()] > 0 && self.queues.contains_key(pattern)
    }

    #[inline(never)]
    fn append_far(&mut self, pattern: Pattern, index: usize) {
        self.of_kind[pattern.kind()] += 1;
        self.far += 1;
        let queue = self.queues.entry(pattern).or_insert(Ends::EMPTY);
        queue.append(&mut self.entries, index, |entries, index| &mut entries[index].links);
    }

    /// Takes out the oldest receive that accepts the message.
    #[inline]
    pub fn take(&mut self, key: &Key) -> Option<T> {
        let near = &mut self.near[place_of(key)];
        let first = if near.key == *key { near.ends.first } else { NONE };
        if self.far > 0 {
            return self.take_oldest(key, first);
        }
        if first == NONE {
            return None;
        }
        near.ends.remove(&mut self.entries, first, |entries, index| &mut entries[index].links);
        Some(self.entries.remove(first).value)
    }

    /// The same when the table has receives as well; `near` is the oldest beside it.
    #[inline(never)]
    fn take_oldest(&mut self, key: &Key, near: usize) -> Option<T> {
        let mut oldest = (near != NONE).then(|| (self.entries[near].number, near));
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

    /// Withdraws a receive, and says what it was; `None` if it has been matched or withdrawn before.
    pub fn withdraw(&mut self, token: Token) -> Option<(Pattern, T)> {
        let entry = self.entries.get(token.index)?;
        let pattern = entry.pattern;
        (entry.number == token.number).then(|| (pattern, self.remove(token.index)))
    }

    /// The receives, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&Pattern, &T)> {
        self.entries.iter().map(|(_, entry)| (&entry.pattern, &entry.value))
    }

    fn remove(&mut self, index: usize) -> T {
        let pattern = self.entries[index].pattern;
        match pattern.exact().map(|key| (place_of(&key), key)) {
            Some((place, key)) if self.near[place].key == key && !self.near[place].ends.is_empty() => {
                let ends = &mut self.near[place].ends;
                ends.remove(&mut self.entries, index, |entries, index| &mut entries[index].links);
            }
            _ => {
                if let Some(queue) = self.queues.get_mut(&pattern) {
                    queue.remove(&mut self.entries, index, |entries, index| &mut entries[index].links);
                    if queue.is_empty() {
                        self.queues.remove(&pattern);
                    }
                }
                self.of_kind[pattern.kind()] -= 1;
                self.far -= 1;
            }
        }
        self.entries.remove(index).value
    }
}

impl<T> Default for Posted<T> {
    fn default() -> Posted<T> {
        Posted::new()
    }
}
