//! A tournament of ranks: every two meet once, in rounds in which each has one partner at most (the circle method).

/// Rounds until every two of so many ranks have met.
pub fn rounds(ranks: u32) -> u32 {
    if ranks < 2 { 0 } else { seats(ranks) - 1 }
}

/// Whom a rank meets in a round; `None` if it has a pause, which happens where ranks are odd in number.
pub fn partner(rank: u32, round: u32, ranks: u32) -> Option<u32> {
    let seats = seats(ranks);
    // One seat stays; the others turn. Two of these meet where their numbers add up to the round's, modulo `turning`.
    let (fixed, turning) = (seats - 1, seats - 1);
    let met = if rank == fixed {
        // Half of the round's number, modulo an odd number.
        round * seats.div_ceil(2) % turning
    } else {
        let other = (round + turning - rank) % turning;
        if other == rank { fixed } else { other }
    };
    (met < ranks).then_some(met)
}

/// Ranks, and one empty seat if they are odd in number.
fn seats(ranks: u32) -> u32 {
    ranks.next_multiple_of(2)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::{partner, rounds};
    use std::collections::BTreeSet;

    #[test]
    fn every_two_meet_once() {
        for ranks in (1..=33).chain([64, 254, 255]) {
            let mut met = BTreeSet::new();
            for round in 0..rounds(ranks) {
                for rank in 0..ranks {
                    let Some(other) = partner(rank, round, ranks) else { continue };
                    assert_ne!(rank, other);
                    assert_eq!(partner(other, round, ranks), Some(rank), "{ranks} ranks, round {round}");
                    if rank < other {
                        assert!(met.insert((rank, other)), "{rank} and {other} of {ranks} meet twice");
                    }
                }
            }
            assert_eq!(met.len() as u32, ranks * (ranks - 1) / 2, "{ranks} ranks");
        }
    }
}
