//! All ranks at once: each carries out its schedule over queues; what they hold at the end is compared with the definitions.
//!
//! Contributions are texts and the operator puts them one behind the other, so that an order that is not the ranks' shows.

mod common;

use common::{Memory, check, letter, letters, own};
use lwk_schedule::*;

const SIZES: std::ops::RangeInclusive<Rank> = 1..=17;

#[test]
fn nobody_leaves_a_barrier_before_all_have_entered() {
    for ranks in SIZES {
        check(ranks, |me| dissemination(me, ranks), |_, _| (), |_, _| ());
        // What a rank has heard of, directly or through others.
        let mut heard: Vec<u32> = (0..ranks).map(|rank| 1 << rank).collect();
        for round in 0..dissemination(0, ranks).0.len() {
            let sent = heard.clone();
            for me in 0..ranks {
                for step in &dissemination(me, ranks).0[round] {
                    if let Step::Receive { from, .. } = step {
                        heard[me as usize] |= sent[*from as usize];
                    }
                }
            }
        }
        assert!(heard.iter().all(|it| *it == (1 << ranks) - 1), "{ranks} ranks");
    }
}

#[test]
fn a_broadcast_reaches_all_from_every_root() {
    for ranks in SIZES {
        for root in 0..ranks {
            let give = |rank: Rank, memory: &mut Memory| {
                if rank == root {
                    memory.insert((1, None), "content".into());
                }
            };
            let seen = |_: Rank, memory: &Memory| assert_eq!(memory[&(1, None)], "content");
            check(ranks, |me| binomial_tree(me, ranks, root), give, seen);
        }
    }
}

#[test]
fn gather_and_scatter_bring_each_part_to_its_place() {
    for ranks in SIZES {
        for root in 0..ranks {
            check(
                ranks,
                |me| gather(me, ranks, root),
                own,
                |me, memory| {
                    if me == root {
                        (0..ranks).for_each(|rank| assert_eq!(memory[&(1, Some(rank))], letter(rank)));
                    }
                },
            );
            let parts = |rank: Rank, memory: &mut Memory| {
                if rank == root {
                    (0..ranks).for_each(|part| drop(memory.insert((0, Some(part)), letter(part))));
                }
            };
            let seen = |me: Rank, memory: &Memory| assert_eq!(memory[&(1, None)], letter(me));
            check(ranks, |me| scatter(me, ranks, root), parts, seen);
        }
    }
}

#[test]
fn allgather_and_alltoall_bring_every_part_to_every_rank() {
    for ranks in SIZES {
        check(
            ranks,
            |me| ring(me, ranks),
            own,
            |_, memory| {
                (0..ranks).for_each(|rank| assert_eq!(memory[&(1, Some(rank))], letter(rank)));
            },
        );
        let parts = |me: Rank, memory: &mut Memory| {
            (0..ranks).for_each(|to| drop(memory.insert((0, Some(to)), letter(me) + &letter(to))));
        };
        check(
            ranks,
            |me| pairwise(me, ranks),
            parts,
            |me, memory| {
                (0..ranks).for_each(|from| assert_eq!(memory[&(1, Some(from))], letter(from) + &letter(me)));
            },
        );
    }
}

#[test]
fn reductions_fold_all_contributions_in_the_order_of_ranks() {
    for ranks in SIZES {
        let all = letters(0..ranks);
        let seen = |_: Rank, memory: &Memory| assert_eq!(memory[&(1, None)], all);
        check(ranks, |me| recursive_doubling(me, ranks), own, seen);
        for root in 0..ranks {
            let at_root = |me: Rank, memory: &Memory| {
                assert_eq!(memory.get(&(1, None)), (me == root).then_some(&all));
            };
            check(ranks, |me| reduce(me, ranks, root), own, at_root);
        }
        let parts = |me: Rank, memory: &mut Memory| {
            let pieces: Vec<_> = (0..ranks).map(|part| letter(me) + &letter(part)).collect();
            memory.insert((0, None), pieces.join(";"));
        };
        check(
            ranks,
            |me| reduce_scatter(me, ranks),
            parts,
            |me, memory| {
                let piece: String = (0..ranks).map(|rank| letter(rank) + &letter(me)).collect();
                assert_eq!(memory[&(1, None)], piece);
            },
        );
    }
}

#[test]
fn scans_fold_what_comes_before() {
    for ranks in SIZES {
        let up_to = |me: Rank, memory: &Memory| assert_eq!(memory[&(1, None)], letters(0..me + 1));
        check(ranks, |me| scan(me, ranks), own, up_to);
        let before = |me: Rank, memory: &Memory| {
            let folded = (me > 0).then(|| letters(0..me));
            assert_eq!(memory.get(&(1, None)), folded.as_ref());
        };
        check(ranks, |me| exscan(me, ranks), own, before);
    }
}
