//! Two groups, and neighbourhoods: all ranks at once, as in `all_ranks`.

mod common;

use common::{Memory, check, letter, letters, own};
use lwk_schedule::*;

/// What rank `me` sees of groups of so many ranks, the first one's ranks before the second's.
fn groups(me: Rank, first: Rank, second: Rank) -> Groups {
    let (one, other) = (0..first, first..first + second);
    if me < first {
        Groups { me, local: one, remote: other }
    } else {
        Groups { me, local: other, remote: one }
    }
}

/// Every two small groups.
fn sizes() -> impl Iterator<Item = (Rank, Rank)> {
    (1..=6).flat_map(|first| (1..=6).map(move |second| (first, second)))
}

/// The letters of the other group.
fn others(it: &Groups) -> String {
    letters(it.remote.clone())
}

#[test]
fn a_root_reaches_the_other_group_and_only_it() {
    for (first, second) in sizes() {
        let ranks = first + second;
        for root in 0..ranks {
            let seen_by = |me: Rank| {
                let it = groups(me, first, second);
                let root = if me == root {
                    Root::Here
                } else if it.remote.contains(&root) {
                    Root::There(root)
                } else {
                    Root::Beside
                };
                (it, root)
            };
            let with = |schedule: fn(&Groups, Root) -> Schedule| {
                move |me| {
                    let (it, root) = seen_by(me);
                    schedule(&it, root)
                }
            };
            let give = |me: Rank, memory: &mut Memory| {
                if me == root {
                    memory.insert((1, None), "content".into());
                }
            };
            check(ranks, with(broadcast_between), give, |me, memory| {
                let (_, place) = seen_by(me);
                let wanted = (place != Root::Beside).then(|| "content".to_owned());
                assert_eq!(memory.get(&(1, None)), wanted.as_ref());
            });
            check(ranks, with(gather_between), own, |me, memory| {
                let (it, _) = seen_by(me);
                for (place, rank) in it.remote.enumerate() {
                    let wanted = (me == root).then(|| letter(rank));
                    assert_eq!(memory.get(&(1, Some(place as Rank))), wanted.as_ref());
                }
            });
            let parts = |me: Rank, memory: &mut Memory| {
                let (it, _) = seen_by(me);
                if me == root {
                    it.remote.enumerate().for_each(|(place, rank)| {
                        memory.insert((0, Some(place as Rank)), letter(rank));
                    });
                }
            };
            check(ranks, with(scatter_between), parts, |me, memory| {
                let (_, place) = seen_by(me);
                let wanted = matches!(place, Root::There(_)).then(|| letter(me));
                assert_eq!(memory.get(&(1, None)), wanted.as_ref());
            });
            check(ranks, with(reduce_between), own, |me, memory| {
                let (it, _) = seen_by(me);
                assert_eq!(memory.get(&(1, None)), (me == root).then(|| others(&it)).as_ref());
            });
        }
    }
}

#[test]
fn two_groups_exchange_what_all_of_them_have() {
    for (first, second) in sizes() {
        let ranks = first + second;
        let of = |me| groups(me, first, second);
        check(
            ranks,
            |me| allgather_between(&of(me)),
            own,
            |me, memory| {
                for (place, rank) in of(me).remote.enumerate() {
                    assert_eq!(memory[&(1, Some(place as Rank))], letter(rank));
                }
            },
        );
        let parts = |me: Rank, memory: &mut Memory| {
            for (place, to) in of(me).remote.enumerate() {
                memory.insert((0, Some(place as Rank)), letter(me) + &letter(to));
            }
        };
        check(
            ranks,
            |me| alltoall_between(&of(me)),
            parts,
            |me, memory| {
                for (place, from) in of(me).remote.enumerate() {
                    assert_eq!(memory[&(1, Some(place as Rank))], letter(from) + &letter(me));
                }
            },
        );
        check(
            ranks,
            |me| allreduce_between(&of(me)),
            own,
            |me, memory| {
                assert_eq!(memory[&(1, None)], others(&of(me)));
            },
        );
    }
}

#[test]
fn parts_of_a_result_are_counted_by_the_own_group() {
    // Both groups divide the same items, so they have equally many ranks here.
    for ranks in 1..=6 {
        let of = |me| groups(me, ranks, ranks);
        let parts = |me: Rank, memory: &mut Memory| {
            let pieces: Vec<_> = (0..ranks).map(|part| letter(me) + &letter(part)).collect();
            memory.insert((0, None), pieces.join(";"));
        };
        check(
            2 * ranks,
            |me| reduce_scatter_between(&of(me)),
            parts,
            |me, memory| {
                let part = me % ranks;
                let piece: String = of(me).remote.map(|rank| letter(rank) + &letter(part)).collect();
                assert_eq!(memory[&(1, None)], piece);
            },
        );
    }
}

#[test]
fn along_a_ring_what_goes_up_comes_from_below() {
    for ranks in 1..=5 {
        let around = |me: Rank| [Some((me + ranks - 1) % ranks), Some((me + 1) % ranks)];
        let schedule = |me: Rank, parts| {
            neighbours(&Edges { sources: &around(me), destinations: &around(me), grid: true }, parts)
        };
        let two = |me: Rank, memory: &mut Memory| {
            memory.insert((0, Some(0)), letter(me) + "down");
            memory.insert((0, Some(1)), letter(me) + "up");
        };
        check(
            ranks,
            |me| schedule(me, true),
            two,
            |me, memory| {
                let [below, above] = around(me).map(|it| letter(it.expect("a ring has no edge")));
                assert_eq!(memory[&(1, Some(0))], below + "up");
                assert_eq!(memory[&(1, Some(1))], above + "down");
            },
        );
        check(
            ranks,
            |me| schedule(me, false),
            own,
            |me, memory| {
                let [below, above] = around(me).map(|it| letter(it.expect("a ring has no edge")));
                assert_eq!([&memory[&(1, Some(0))], &memory[&(1, Some(1))]], [&below, &above]);
            },
        );
    }
}

#[test]
fn edges_of_a_graph_meet_in_the_order_of_both_lists() {
    // Rank 0 has two edges to rank 1, one of them behind that to nobody; rank 1 lists one of its own between them.
    let (none, to_one, own_one) = ([], [Some(1), None, Some(1)], [Some(1)]);
    let from = [Some(0), Some(1), Some(0)];
    let schedule = |me: Rank| match me {
        0 => neighbours(&Edges { sources: &none, destinations: &to_one, grid: false }, true),
        _ => neighbours(&Edges { sources: &from, destinations: &own_one, grid: false }, true),
    };
    let parts = |me: Rank, memory: &mut Memory| {
        (0..3).for_each(|part| drop(memory.insert((0, Some(part)), letter(me) + &part.to_string())));
    };
    check(2, schedule, parts, |me, memory| {
        if me == 1 {
            let seen: Vec<_> = (0..3).map(|part| memory[&(1, Some(part))].as_str()).collect();
            assert_eq!(seen, ["a0", "b0", "a2"]);
        }
    });
}
