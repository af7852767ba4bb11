//! Two levels: all ranks at once, as in `all_ranks`, on nodes of many sizes.

mod common;

use common::{Memory, check, letters, own};
use lwk_schedule::*;

/// Members of each node: a few equal ones, and what is left when some are not in the communicator.
const NODES: &[&[u32]] = &[
    &[2, 2],
    &[1, 2],
    &[3, 1],
    &[2, 2, 2],
    &[4, 4],
    &[1, 1, 5],
    &[3, 2, 4, 1],
    &[8, 8],
    &[2, 2, 2, 2, 2],
    &[5, 1, 1, 1, 1, 7],
];

/// The node of each rank; nodes have any numbers.
fn places(members: &[u32]) -> Vec<u32> {
    (0..).zip(members).flat_map(|(node, members)| vec![7 * node + 3; *members as usize]).collect()
}

fn levels(me: Rank, members: &[u32]) -> Levels {
    Levels::of(me, places(members)).expect("two levels")
}

/// Messages of a schedule that leave the node.
fn crossings(schedule: impl Fn(Rank) -> Schedule, members: &[u32]) -> usize {
    let places = places(members);
    let crosses =
        |me: usize, step: &Step| matches!(step, Step::Send { to, .. } if places[*to as usize] != places[me]);
    let of = |me: usize| schedule(me as Rank).0.iter().flatten().filter(|step| crosses(me, step)).count();
    (0..places.len()).map(of).sum()
}

#[test]
fn two_levels_are_seen_only_where_they_are() {
    assert_eq!(Levels::of(0, [1, 1, 1]), None, "one node");
    assert_eq!(Levels::of(0, [1, 2, 3]), None, "one member on each");
    assert_eq!(Levels::of(0, [1, 2, 1]), None, "not next to each other");
    assert!(Levels::of(2, [5, 5, 2]).is_some());
}

#[test]
fn nobody_leaves_a_barrier_before_all_have_entered() {
    for members in NODES {
        let ranks = members.iter().sum();
        let schedules: Vec<_> = (0..ranks).map(|me| barrier_by_levels(&levels(me, members))).collect();
        check(ranks, |me| schedules[me as usize].clone(), |_, _| (), |_, _| ());
        // Rank `late` enters last: nobody has left when no other can go on.
        for late in 0..ranks as usize {
            let (mut rounds, mut sent) = (vec![0; ranks as usize], vec![Vec::new(); ranks as usize]);
            let mut moved = true;
            while std::mem::take(&mut moved) {
                for me in (0..ranks as usize).filter(|me| *me != late) {
                    let Some(round) = schedules[me].0.get(rounds[me]) else { continue };
                    for step in round {
                        if let Step::Send { to, .. } = step
                            && !sent[me].contains(&(rounds[me], *to))
                        {
                            sent[me].push((rounds[me], *to));
                            moved = true;
                        }
                    }
                    let heard = |from: Rank| {
                        let before = schedules[me].0[..=rounds[me]].iter().flatten();
                        let awaited =
                            before.filter(|it| matches!(it, Step::Receive { from: of, .. } if *of == from));
                        sent[from as usize].iter().filter(|it| it.1 as usize == me).count() >= awaited.count()
                    };
                    if round.iter().all(|step| !matches!(step, Step::Receive { from, .. } if !heard(*from))) {
                        rounds[me] += 1;
                        moved = true;
                    }
                }
            }
            let left = (0..ranks as usize).filter(|me| *me != late && rounds[*me] == schedules[*me].0.len());
            assert_eq!(left.count(), 0, "{members:?}, rank {late} late");
        }
    }
}

#[test]
fn a_broadcast_reaches_all_from_every_root_and_each_node_once() {
    for members in NODES {
        let ranks: Rank = members.iter().sum();
        for root in 0..ranks {
            let give = |rank: Rank, memory: &mut Memory| {
                if rank == root {
                    memory.insert((1, None), "content".into());
                }
            };
            let seen = |_: Rank, memory: &Memory| assert_eq!(memory[&(1, None)], "content");
            let schedule = |me| broadcast_by_levels(&levels(me, members), root);
            check(ranks, schedule, give, seen);
            assert_eq!(crossings(schedule, members), members.len() - 1);
        }
    }
}

#[test]
fn reductions_fold_all_contributions_in_the_order_of_ranks() {
    for members in NODES {
        let ranks: Rank = members.iter().sum();
        let all = letters(0..ranks);
        let seen = |_: Rank, memory: &Memory| assert_eq!(memory[&(1, None)], all);
        let schedule = |me| allreduce_by_levels(&levels(me, members));
        check(ranks, schedule, own, seen);
        let nodes = members.len();
        assert!(crossings(schedule, members) <= nodes * (nodes.ilog2() as usize + 1));
        for root in 0..ranks {
            let at_root = |me: Rank, memory: &Memory| {
                assert_eq!(memory.get(&(1, None)), (me == root).then_some(&all));
            };
            let schedule = |me| reduce_by_levels(&levels(me, members), root);
            check(ranks, schedule, own, at_root);
            assert!(crossings(schedule, members) <= nodes);
        }
    }
}

/// Nodes as above, and with one member each.
fn with_firsts() -> impl Iterator<Item = Vec<u32>> {
    let alone = [2, 3, 4, 7].map(|nodes| vec![1; nodes]);
    NODES.iter().map(|members| members.to_vec()).chain(alone)
}

#[test]
fn what_firsts_do_together_takes_the_place_of_all_messages_between_nodes() {
    for members in with_firsts() {
        let ranks: Rank = members.iter().sum();
        let levels = |me| Levels::of_nodes(me, places(&members)).expect("two nodes").together();
        let all = letters(0..ranks);
        let seen = |_: Rank, memory: &Memory| assert_eq!(memory[&(1, None)], all);
        let schedule = |me| allreduce_by_levels(&levels(me));
        check(ranks, schedule, own, seen);
        assert_eq!(crossings(schedule, &members), 0);
        let schedule = |me| barrier_by_levels(&levels(me));
        check(ranks, schedule, |_, _| (), |_, _| ());
        assert_eq!(crossings(schedule, &members), 0);
        for root in 0..ranks {
            let at_root = |me: Rank, memory: &Memory| {
                assert_eq!(memory.get(&(1, None)), (me == root).then_some(&all));
            };
            let schedule = |me| reduce_by_levels(&levels(me), root);
            check(ranks, schedule, own, at_root);
            assert!(crossings(schedule, &members) <= 1);
        }
    }
}
