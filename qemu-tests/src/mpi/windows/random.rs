//! Random epochs of random operations against a model of all ranks' memory: every rank follows the whole program from the seed, carries
//! out its own operations, and knows what its memory must hold afterwards.

use super::calls::{Win, engine};
use alloc::vec;
use alloc::vec::Vec;
use lwk_boot_tests::random::{self, Random};
use lwk_mpi::Communicator;
use lwk_mpi_rt::Result;
use lwk_mpi_rt::abi::op;
use lwk_mpi_window::LockKind;
use lwk_user::{Rank, println};

const EPOCHS: u64 = 400;
/// Words of each rank's part: half of them are put to by one origin each, half are added to by all.
const WORDS: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Epoch {
    Fence,
    General,
    LockShared,
    LockExclusive,
    LockAll,
}

pub fn run(world: Communicator, seed: Option<u64>) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()? as usize);
    let mut seed = [seed.unwrap_or(random::SEED)];
    world.broadcast(&mut seed, 0)?;
    if rank == 0 {
        println!("seed {}", seed[0]);
    }
    let mut random = Random::new(seed[0]);
    let window = Win::allocate(8 * WORDS, 8)?;
    let mut model = vec![[0u64; WORDS]; size];
    window.fence(0)?;
    for number in 0..EPOCHS {
        let epoch = random.one_of(&[
            Epoch::Fence,
            Epoch::General,
            Epoch::LockShared,
            Epoch::LockExclusive,
            Epoch::LockAll,
        ]);
        // Who accesses whom: each rank draws some targets, the same on all ranks.
        let targets: Vec<Vec<u32>> =
            (0..size).map(|_| (0..size as u32).filter(|_| random.once_in(2)).collect()).collect();
        begin(window, epoch, rank, &targets)?;
        for (origin, chosen) in targets.iter().enumerate() {
            for target in chosen {
                one_target(window, epoch, origin, *target, rank, &mut random, &mut model)?;
            }
        }
        end(world, window, epoch)?;
        for (index, expected) in model[rank as usize].iter().enumerate() {
            assert_eq!(window.load::<u64>(index), *expected, "epoch {number} ({epoch:?}), word {index}");
        }
        world.barrier()?;
    }
    window.free()
}

fn begin(window: Win, epoch: Epoch, rank: u32, targets: &[Vec<u32>]) -> Result<()> {
    match epoch {
        Epoch::Fence => window.fence(0),
        Epoch::General => {
            let origins: Vec<Rank> = (0..targets.len() as u32)
                .filter(|origin| targets[*origin as usize].contains(&rank))
                .map(Rank)
                .collect();
            let mine: Vec<Rank> = targets[rank as usize].iter().copied().map(Rank).collect();
            engine(|engine| engine.win_post(&origins, 0, window.handle))?;
            engine(|engine| engine.win_start(&mine, 0, window.handle))
        }
        Epoch::LockAll => window.lock_all(),
        Epoch::LockShared | Epoch::LockExclusive => Ok(()),
    }
}

fn end(world: Communicator, window: Win, epoch: Epoch) -> Result<()> {
    match epoch {
        Epoch::Fence => return window.fence(0),
        Epoch::General => {
            engine(|engine| engine.win_complete(window.handle))?;
            return engine(|engine| engine.win_wait(window.handle));
        }
        Epoch::LockAll => window.unlock_all()?,
        Epoch::LockShared | Epoch::LockExclusive => {}
    }
    world.barrier()
}

/// Some operations of one origin on one target.
fn one_target(
    window: Win,
    epoch: Epoch,
    origin: usize,
    target: u32,
    rank: u32,
    random: &mut Random,
    model: &mut [[u64; WORDS]],
) -> Result<()> {
    let mine = origin == rank as usize;
    let size = model.len();
    if mine {
        match epoch {
            Epoch::LockShared => window.lock(LockKind::Shared, target)?,
            Epoch::LockExclusive => window.lock(LockKind::Exclusive, target)?,
            _ => {}
        }
    }
    // The origin's own words of the target's lower half.
    let own = (WORDS / 2 / size).max(1);
    let first = (origin * own) % (WORDS / 2);
    for _ in 0..1 + random.below(5) {
        let memory = &mut model[target as usize];
        let value = random.bits();
        match random.below(5) {
            0 | 1 => {
                let length = 1 + random.below(own as u64) as usize;
                let values: Vec<u64> = (0..length as u64).map(|index| value ^ index).collect();
                memory[first..first + length].copy_from_slice(&values);
                if mine {
                    window.put(&values, target, first as i64)?;
                }
            }
            2 => {
                let expected = memory[first..first + own].to_vec();
                if mine {
                    // Its own earlier puts of the epoch are there: they are complete.
                    assert_eq!(window.get::<u64>(own, target, first as i64)?, expected);
                }
            }
            3 => {
                let at = WORDS / 2 + random.below(WORDS as u64 / 2 - 2) as usize;
                for (index, word) in memory[at..at + 2].iter_mut().enumerate() {
                    *word = word.wrapping_add(value ^ index as u64);
                }
                if mine {
                    window.accumulate(&[value, value ^ 1], target, at as i64, op::SUM)?;
                }
            }
            _ => {
                let at = WORDS / 2 + random.below(WORDS as u64 / 2) as usize;
                memory[at] = memory[at].wrapping_add(value);
                if mine {
                    window.fetch_and_op(value, target, at as i64, op::SUM)?;
                }
            }
        }
    }
    if mine && matches!(epoch, Epoch::LockShared | Epoch::LockExclusive) {
        window.unlock(target)?;
    }
    Ok(())
}
