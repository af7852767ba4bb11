//! What is matched with what: context, source and tag (MPI-5.0, sections 3.2.3 and 3.2.4).

use core::hash::{BuildHasherDefault, Hasher};
use lwk_place::WorldRank;

/// A message's envelope, as far as it matters for matching.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    /// The communicator's context.
    pub context: u32,
    /// The sender.
    pub source: WorldRank,
    /// The tag: any value; which are valid is the callers' business.
    pub tag: i32,
}

/// What a receive accepts; `None` is a wildcard.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pattern {
    /// The communicator's context, which is never wild.
    pub context: u32,
    pub source: Option<WorldRank>,
    pub tag: Option<i32>,
}

/// Kinds of pattern: source wild or not, tag wild or not.
pub(crate) const KINDS: usize = 4;

impl Pattern {
    /// Whether a message with that key may be received.
    #[inline]
    pub fn accepts(&self, key: &Key) -> bool {
        self.context == key.context
            && self.source.is_none_or(|source| source == key.source)
            && self.tag.is_none_or(|tag| tag == key.tag)
    }

    /// The key, if nothing is wild.
    #[inline]
    pub fn exact(&self) -> Option<Key> {
        Some(Key { context: self.context, source: self.source?, tag: self.tag? })
    }

    /// Which of the [`KINDS`] it is.
    #[inline]
    pub(crate) fn kind(&self) -> usize {
        self.source.is_none() as usize * 2 + self.tag.is_none() as usize
    }

    /// The pattern of a kind that accepts a key.
    #[inline]
    pub(crate) fn of_kind(kind: usize, key: &Key) -> Pattern {
        Pattern {
            context: key.context,
            source: (kind & 2 == 0).then_some(key.source),
            tag: (kind & 1 == 0).then_some(key.tag),
        }
    }
}

/// Mixes a few integers; not meant to withstand an adversary: the keys are those of one job's own ranks.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Mix {
    #[inline]
    fn add(&mut self, word: u64) {
        /// 2^64 divided by the golden ratio, odd: spreads consecutive integers (Knuth, volume 3, section 6.4).
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for Mix {
    #[inline]
    fn finish(&self) -> u64 {
        // The table takes its index from the low bits and its tags from the high ones; the product's best bits are high.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.add(*byte as u64));
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.add(word as u64);
    }

    #[inline]
    fn write_i32(&mut self, word: i32) {
        self.add(word as u32 as u64);
    }

    #[inline]
    fn write_isize(&mut self, word: isize) {
        self.add(word as u64);
    }
}

pub(crate) type Table<K, V> = hashbrown::HashMap<K, V, BuildHasherDefault<Mix>>;
