//! Carries out the schedules of all ranks over queues.

use lwk_schedule::*;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Parts of buffers by name; the whole of one without parts has the place `None`.
pub type Memory = HashMap<(u8, Option<Rank>), String>;

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

/// What a rank does of a round by itself, when all that it awaits has come.
fn finish(round: &[Step], memory: &mut Memory, together: &BTreeMap<usize, String>) {
    for step in round {
        match *step {
            Step::Copy { from, into } => {
                let text = load(memory, from);
                memory.insert(key(into), text);
            }
            Step::Fold { left, into } => {
                let text = fold(&load(memory, left), &load(memory, into));
                memory.insert(key(into), text);
            }
            Step::Together { into, .. } => {
                if let Some(place) = into {
                    memory.insert(key(place), together.values().cloned().collect());
                }
            }
            Step::Send { .. } | Step::Receive { .. } => {}
        }
    }
}

/// Runs all ranks to their ends, in a fixed turn that lets no rank run ahead, or one that lets each run as far as it can.
fn play(schedules: &[Schedule], memories: &mut [Memory], far: bool) {
    let ranks = schedules.len();
    let mut queues: HashMap<(usize, usize), VecDeque<String>> = HashMap::new();
    let (mut rounds, mut begun) = (vec![0; ranks], vec![false; ranks]);
    let mut got: Vec<usize> = vec![0; ranks];
    let is_together = |step: &Step| matches!(step, Step::Together { .. });
    let firsts = schedules.iter().filter(|it| it.0.iter().flatten().any(is_together)).count();
    // What they have brought, by rank.
    let mut together: BTreeMap<usize, String> = BTreeMap::new();
    loop {
        let mut moved = false;
        for me in 0..ranks {
            while let Some(round) = schedules[me].0.get(rounds[me]) {
                if !begun[me] {
                    for step in round {
                        if let Step::Together { from, .. } = step {
                            assert_eq!(round.len(), 1, "it is not alone");
                            together
                                .insert(me, from.map_or(String::new(), |place| load(&memories[me], place)));
                        }
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
                let waits = round.iter().any(is_together) && together.len() < firsts;
                if got[me] < receives.len() || waits {
                    break;
                }
                finish(round, &mut memories[me], &together);
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
pub fn check(
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

/// A rank's own letter.
pub fn letter(rank: Rank) -> String {
    char::from_u32('a' as u32 + rank).expect("a letter").to_string()
}

pub fn letters(ranks: std::ops::Range<Rank>) -> String {
    ranks.map(letter).collect()
}

pub fn own(rank: Rank, memory: &mut Memory) {
    memory.insert((0, None), letter(rank));
}
