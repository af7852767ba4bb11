//! A random sequence of collective calls on overlapping teams, the same in all PEs, with a seed that is printed.

use crate::check::{Check, array};
use lwk_boot_tests::random::Random;
use lwk_shmem::Shmem;
use lwk_shmem::engine::{self, Sum, TEAM_INVALID, TEAM_WORLD};
use lwk_user::println;

/// Calls in the sequence.
const CALLS: u64 = 300;
/// Elements of a block at most.
const MOST: usize = 3000;

pub fn run(_: &Shmem, check: &mut Check) {
    let seed = 0x5eed_0001;
    if engine::my_pe() == 0 {
        println!("stress: seed {seed:#x}");
    }
    let n = engine::n_pes();
    // Teams that overlap in every way: all, a part from the left, a part from the right, one in the middle.
    let mut teams = alloc::vec![(TEAM_WORLD, 0, n)];
    for (start, size) in [(0, (n + 1) / 2), (n / 2, n - n / 2), (n / 4, (n + 1) / 2), (n - 1, 1)] {
        let mut team = TEAM_INVALID;
        engine::team_split_strided(TEAM_WORLD, start, 1, size, None, 0, &mut team);
        teams.push((team, start, size));
    }
    let (source, dest) = (array::<u64>(MOST, 0), array::<u64>(MOST * n as usize, 0));
    let mut random = Random::new(seed);
    for call in 0..CALLS {
        let (team, start, size) = teams[random.below(teams.len() as u64) as usize];
        let what = random.below(5);
        let count = match random.below(3) {
            0 => random.below(10) as usize,
            1 => random.below(200) as usize,
            _ => random.below(MOST as u64) as usize,
        };
        let root = random.below(size as u64) as i32;
        if team == TEAM_INVALID {
            continue;
        }
        let give = |pe: i32, index: usize| call << 32 | (pe as u64) << 24 | index as u64;
        let me = engine::my_pe();
        // SAFETY: the arrays have room for the largest block of every PE; sources are written before the members meet, and
        // read until the call returns; the synchronisation makes destinations ready.
        unsafe {
            for index in 0..count {
                source.add(index).write(give(me, index));
            }
            engine::team_sync(team);
            let mut expect = |place: usize, value: u64| check.equal(dest.add(place).read(), value);
            match what {
                0 => {
                    engine::reduce::<u64, Sum>(team, dest, source, count);
                    for index in (0..count).step_by(1 + count / 50) {
                        expect(index, (start..start + size).map(|pe| give(pe, index)).sum());
                    }
                }
                1 => {
                    engine::broadcast(team, dest, source, count, root);
                    for index in (0..count).step_by(1 + count / 50) {
                        expect(index, give(start + root, index));
                    }
                }
                2 => {
                    engine::fcollect(team, dest, source, count);
                    for member in 0..size {
                        for index in (0..count).step_by(1 + count / 20) {
                            expect(member as usize * count + index, give(start + member, index));
                        }
                    }
                }
                3 => {
                    let share = |pe: i32| count / (pe as usize % 3 + 1);
                    engine::collect(team, dest, source, share(me));
                    let mut place = 0;
                    for pe in start..start + size {
                        if share(pe) > 0 {
                            expect(place, give(pe, 0));
                            expect(place + share(pe) - 1, give(pe, share(pe) - 1));
                        }
                        place += share(pe);
                    }
                }
                _ => {
                    engine::team_sync(team);
                }
            }
        }
    }
    engine::barrier_all();
    for (team, _, _) in teams.into_iter().skip(1).rev() {
        engine::team_destroy(team);
    }
    engine::free(dest.cast());
    engine::free(source.cast());
}
