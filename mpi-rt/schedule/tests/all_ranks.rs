//! All ranks at once: each carries out its schedule over queues; what they hold at the end is compared with the definitions.
//!
//! Contributions are texts and the operator puts them one behind the other, so that an order that is not the ranks' shows.

use lwk_schedule::*;
use std::collections::{HashMap, VecDeque};

/// Parts of buffers by name; the whole of one without parts has the place `None`.
type Memory = HashMap<(u8, Option<Rank>), String>;

fn number(buffer: Buffer) -> u8 {
    match buffer {
        Buffer::Send => 0,
        Buffer::Receive => 1,
        Buffer::Scratch(number) => 2 + number,
    }
}

fn key(place: BufferPart) -> (u8, Option<Rank>) {
    (number(place.buffer), place.part)
}

/// A part of what is kept whole is one piece of it; texts of ranks have pieces of one letter.
fn load(memory: &Memory, place: BufferPart) -> String {
    if let Some(text) = memory.get(&key(place)) {
        return text.clone();
    }
    let whole = memory.get(&(number(place.buffer), None)).unwrap_or_else(|| panic!("{place:?} is empty"));
    whole.split(';').nth(place.part.expect("a whole that is empty") as usize).expect("a part").into()
}

/// Pieces that are divided by `;` are folded one by one.
fn fold(left: &str, right: &str) -> String {
    let pieces: Vec<_> = left.split(';').zip(right.split(';')).map(|(l, r)| format!("{l}{r}")).collect();
    pieces.join(";")
}

/// Runs all ranks to their ends, in a fixed turn that lets no rank run ahead, or one that lets each run as far as it can.
fn play(schedules: &[Schedule], memories: &mut [Memory], far: bool) {
    let ranks = schedules.len();
    let mut queues: HashMap<(usize, usize), VecDeque<String>> = HashMap::new();
    let (mut rounds, mut begun) = (vec![0; ranks], vec![false; ranks]);
    let mut got: Vec<usize> = vec![0; ranks];
    loop {
        let mut moved = false;
        for me in 0..ranks {
            while let Some(round) = schedules[me].0.get(rounds[me]) {
                if !begun[me] {
                    for step in round {
                        if let Step::Send { to, from } = step {
                            let text = from.map_or(String::new(), |place| load(&memories[me], place));
                            queues.entry((me, *to as usize)).or_default().push_back(text);
                        }
                    }
                    (begun[me], got[me], moved) = (true, 0, true);
                }
                let receives: Vec<_> = round
                    .iter()
                    .filter_map(|step| match step {
                        Step::Receive { from, into } => Some((*from, *into)),
                        _ => None,
                    })
                    .collect();
                while let Some((from, into)) = receives.get(got[me]) {
                    let queue = queues.entry((*from as usize, me)).or_default();
                    let Some(text) = queue.pop_front() else { break };
                    if let Some(place) = into {
                        memories[me].insert(key(*place), text);
                    }
                    (got[me], moved) = (got[me] + 1, true);
                }
                if got[me] < receives.len() {
                    break;
                }
                for step in round {
                    match *step {
                        Step::Copy { from, into } => {
                            let text = load(&memories[me], from);
                            memories[me].insert(key(into), text);
                        }
                        Step::Fold { left, into } => {
                            let text = fold(&load(&memories[me], left), &load(&memories[me], into));
                            memories[me].insert(key(into), text);
                        }
                        Step::Send { .. } | Step::Receive { .. } => {}
                    }
                }
                (rounds[me], begun[me], moved) = (rounds[me] + 1, false, true);
                if !far {
                    break;
                }
            }
        }
        if !moved {
            break;
        }
    }
    for me in 0..ranks {
        assert_eq!(rounds[me], schedules[me].0.len(), "rank {me} of {ranks} waits for ever");
    }
    assert!(queues.values().all(VecDeque::is_empty), "a message that nobody receives");
}

/// Schedules of all ranks, carried out; `before` fills their memories and `after` looks at them.
fn check(
    ranks: Rank,
    schedule: impl Fn(Rank) -> Schedule,
    before: impl Fn(Rank, &mut Memory),
    after: impl Fn(Rank, &Memory),
) {
    let schedules: Vec<_> = (0..ranks).map(&schedule).collect();
    assert!(schedules.iter().all(|it| it.is_sound(ranks)));
    for far in [false, true] {
        let mut memories: Vec<Memory> = vec![Memory::new(); ranks as usize];
        (0..ranks).for_each(|rank| before(rank, &mut memories[rank as usize]));
        play(&schedules, &mut memories, far);
        (0..ranks).for_each(|rank| after(rank, &memories[rank as usize]));
    }
}

const SIZES: std::ops::RangeInclusive<Rank> = 1..=17;

/// A rank's own letter.
fn letter(rank: Rank) -> String {
    char::from_u32('a' as u32 + rank).expect("a letter").to_string()
}

fn letters(ranks: std::ops::Range<Rank>) -> String {
    ranks.map(letter).collect()
}

fn own(rank: Rank, memory: &mut Memory) {
    memory.insert((0, None), letter(rank));
}

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
