//! What ranks tell each other without events: numbers that are added to words of a rank, which it looks at when it has to know.
//!
//! They are added by atomic operations of Portals, so that a word is always a whole one.

use super::head::WORDS;
use lwk_place::WorldRank;
use lwk_user::job;
use lwk_user::portals::DescriptorHandle;
use lwk_user::portals::abi::{ANY, Entry, EntryOptions, NONE, Operation, atomic, datatype, operation};
use lwk_words::Sum;

/// Match bits of what is added; no round of a meeting has them.
const TOLD: u64 = 1 << 63;

/// A word that others add to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// How far that rank has come with what it has received.
    Freed(WorldRank),
    /// How often others were about to ask its owner for what it may not be listening for.
    Calls,
}

impl Word {
    /// Its index among those of a rank.
    pub fn index(self) -> usize {
        match self {
            Word::Freed(of) => of.index(),
            Word::Calls => job().size() as usize,
        }
    }
}

/// The entry by which others add to the words that lie there.
pub fn entry(start: u64, bytes: usize) -> Entry {
    Entry {
        start,
        bytes: bytes as u64,
        counter: NONE,
        uid: ANY,
        options: EntryOptions::OP_PUT | EntryOptions::EVENT_LINK_DISABLE | EntryOptions::EVENT_COMM_DISABLE,
        node: ANY,
        process: ANY,
        bits: TOLD,
        ..Entry::default()
    }
}

/// The operation that adds the number at the beginning of a descriptor's memory to a word of a peer.
pub fn addition(peer: WorldRank, word: Word, by: DescriptorHandle) -> Operation {
    let bytes = size_of::<Sum>() as u64;
    Operation {
        kind: operation::ATOMIC,
        atomic: atomic::SUM,
        datatype: datatype::UINT32,
        put: by.0,
        get: NONE,
        bytes,
        node: peer.0,
        table: WORDS,
        trigger: NONE,
        counter: NONE,
        bits: TOLD,
        remote_offset: word.index() as u64 * bytes,
        ..Operation::default()
    }
}
