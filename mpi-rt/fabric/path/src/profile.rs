//! `--profile`: the distribution of messages by size and by how far apart the cores are, by count and by volume, as tables 2.1 and 6.1
//! of the dissertation have it.
//!
//! The table counts what it sends, and where there is no profile does nothing for it. Counted are point-to-point messages, at their sender;
//! collectives and windows work in the peers' memory and send none.

use crate::WorldRank;
use alloc::vec::Vec;
use core::fmt;
use lwk_place::{distance, peer_of};
use lwk_user::abi::runtime::{DISTANCES, PROFILE_DISTANCES, SIZE_LIMITS, SIZES};
use lwk_user::job;

/// Messages and their bytes.
#[derive(Clone, Copy, Default)]
struct Count {
    messages: u64,
    bytes: u64,
}

/// What has been counted.
pub struct Profile {
    /// Distance of each peer, by rank: an index of [`PROFILE_DISTANCES`].
    distances: Vec<usize>,
    counts: [[Count; SIZES.len()]; PROFILE_DISTANCES.len()],
}

/// How far away a rank is.
fn distance_of(rank: WorldRank) -> usize {
    match peer_of(rank) {
        Some(_) => distance(job().rank(), rank),
        None => DISTANCES.len(),
    }
}

impl Profile {
    /// Nothing has been counted.
    pub fn new() -> Profile {
        Profile {
            distances: (0..job().size()).map(|rank| distance_of(WorldRank(rank))).collect(),
            counts: [[Count::default(); SIZES.len()]; PROFILE_DISTANCES.len()],
        }
    }

    /// A message has been sent.
    pub fn count(&mut self, peer: WorldRank, bytes: usize) {
        if let Some(distance) = self.distances.get(peer.index()) {
            let count = &mut self.counts[*distance][size_class(bytes)];
            count.messages += 1;
            count.bytes += bytes as u64;
        }
    }

    /// Tells what has been counted since the last time, a record at a time.
    pub fn tell(&mut self, mut tell: impl FnMut(fmt::Arguments<'_>)) {
        let rank = job().rank().0;
        for (counts, distance) in self.counts.iter().zip(PROFILE_DISTANCES) {
            for (count, size) in counts.iter().zip(SIZES).filter(|(count, _)| count.messages > 0) {
                let Count { messages, bytes } = count;
                tell(format_args!(
                    "profile rank={rank} distance={distance} size={size} messages={messages} bytes={bytes}"
                ));
            }
        }
        self.counts = Default::default();
    }
}

/// Which of [`SIZES`] a message is of.
fn size_class(bytes: usize) -> usize {
    SIZE_LIMITS.iter().position(|limit| bytes < *limit).unwrap_or(SIZE_LIMITS.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fall_into_the_dissertations_classes() {
        let classes = [0, 255, 256, 1023, 1024, 32 << 10, (1 << 20) - 1, 1 << 20, usize::MAX].map(size_class);
        assert_eq!(classes, [0, 0, 1, 1, 2, 5, 7, 8, 10]);
    }
}
