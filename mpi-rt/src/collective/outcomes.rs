//! Outcomes that all ranks of a communicator learn: a rank that fails takes part all the same and says so, so that all get an error and none waits for it.

use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::vec::Vec;

/// Set in a word that is an error class instead of what is told.
const FAILED: u64 = 1 << 63;

impl Engine {
    /// Tells all ranks a word of each, below 2^63. Errors: this rank's, or another's.
    pub fn exchange_outcomes(&mut self, parent: &Communicator, outcome: Result<u64>) -> Result<Vec<u64>> {
        let room = with_room(parent.size());
        let outcome = outcome.and_then(|word| room.as_ref().map(|_| word).map_err(|error| *error));
        let mut words = room.unwrap_or_default();
        let word = outcome.unwrap_or_else(|error| FAILED | error.class() as u64);
        let mut failure = outcome.err();
        self.exchange_words(parent, [word as i32, (word >> 32) as i32], |_, [low, high]| {
            let word = low as u32 as u64 | (high as u32 as u64) << 32;
            if word & FAILED != 0 {
                let theirs = Error::from_class((word & !FAILED) as i32).unwrap_or(Error::OTHER);
                failure.get_or_insert(theirs);
            } else if failure.is_none() {
                words.push(word);
            }
        })?;
        failure.map_or(Ok(words), Err)
    }
}

/// An empty list with room for one of each rank. Errors: `NO_MEM`.
pub fn with_room<T>(ranks: u32) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(ranks as usize).map_err(|_| Error::NO_MEM)?;
    Ok(list)
}
