//! Puts, gets and accumulates between random datatypes, against the bytes the types stand for.

use super::calls::{Win, engine};
use crate::types::{Map, Spec};
use alloc::vec;
use alloc::vec::Vec;
use lwk_boot_tests::random::{self, Random};
use lwk_mpi::Communicator;
use lwk_mpi_rt::abi::op;
use lwk_mpi_rt::error::Error;
use lwk_mpi_rt::{Handle, Result};
use lwk_mpi_window::{Buffer, TargetBuffer};
use lwk_user::println;

const ROUNDS: u64 = 240;
/// Bytes of each rank's part.
const PART: usize = 24 << 10;
const BESIDE: u8 = 0xee;

/// Items of a random type, and where displacement 0 of the first lies so that all bytes are above 0.
struct Items {
    spec: Spec,
    map: Map,
    count: i64,
    origin: i64,
}

impl Items {
    fn random(random: &mut Random, bytes: usize) -> Items {
        let spec = Spec::random(random);
        let map = spec.map();
        let count = (bytes / map.bytes.len()).max(1) as i64;
        let low = map.items(count).into_iter().min().unwrap_or(0).min(0);
        Items { spec, map, count, origin: 8 - low }
    }

    fn bytes(&self) -> usize {
        self.map.bytes.len() * self.count as usize
    }

    /// Where the bytes lie from the start of the buffer, in order.
    fn places(&self) -> Vec<usize> {
        self.map.items(self.count).into_iter().map(|at| (self.origin + at) as usize).collect()
    }

    /// Bytes from the start to behind the last.
    fn end(&self) -> usize {
        self.places().into_iter().max().map_or(0, |last| last + 1)
    }

    /// Bytes of a buffer for them that has some more at its end, which nothing may touch.
    fn room(&self) -> usize {
        self.end() + 8
    }
}

pub fn run(world: Communicator, seed: Option<u64>) -> Result<()> {
    let mut seed = [seed.unwrap_or(random::SEED)];
    world.broadcast(&mut seed, 0)?;
    if world.rank()? == 0 {
        println!("seed {}", seed[0]);
    }
    let window = Win::allocate(PART, 1)?;
    (0..ROUNDS).try_for_each(|round| one_round(world, window, seed[0], round))?;
    window.free()
}

/// An operation of each rank on the next one's part, which the next one checks; both know it from the seed.
fn one_round(world: Communicator, window: Win, seed: u64, round: u64) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let of_origin = |origin: u32| {
        let mut random = Random::new(seed ^ (origin as u64) << 32 ^ round << 8);
        let wanted = random.one_of(&[8, 60, 500, 4000]);
        let there = Items::random(&mut random, wanted);
        let here = Items::random(&mut random, there.bytes());
        (here, there)
    };
    let (here, there) = of_origin(rank);
    let next = (rank + 1) % size;
    let (kind, other) = engine(|engine| Ok((here.spec.make(engine)?, there.spec.make(engine)?)))?;
    (0..PART).for_each(|index| window.store(index, BESIDE));
    window.fence(0)?;
    let mut memory = vec![BESIDE; here.room()];
    for (index, at) in here.places().into_iter().enumerate() {
        memory[at] = value(rank, round, index);
    }
    let origin = Buffer {
        address: memory.as_mut_ptr().wrapping_add(here.origin as usize),
        count: here.count,
        datatype: kind.0,
    };
    let place =
        TargetBuffer { rank: next as i32, displacement: there.origin, count: there.count, datatype: other.0 };
    let fits = here.bytes() <= there.bytes() && there.end() <= PART;
    // SAFETY: the buffer is as large as its type says, and stays until the call returns.
    let outcome = engine(|engine| unsafe {
        match round % 3 {
            0 => engine.put(&origin, &place, window.handle),
            1 => engine.accumulate(&origin, &place, op::REPLACE, window.handle),
            _ => engine.accumulate(&origin, &place, op::BXOR, window.handle),
        }
    });
    assert_eq!(outcome.is_ok(), fits, "{outcome:?}");
    window.fence(0)?;
    check_arrival(window, &of_origin((rank + size - 1) % size), (rank + size - 1) % size, round);
    read_back(window, &there, other, next)?;
    window.fence(0)?;
    engine(|engine| engine.type_free(kind.0).and_then(|()| engine.type_free(other.0)))
}

/// What the previous rank has stored here, and nothing beside.
fn check_arrival(window: Win, (here, there): &(Items, Items), origin: u32, round: u64) {
    let fits = here.bytes() <= there.bytes() && there.end() <= PART;
    let mut expected = vec![BESIDE; PART];
    if fits {
        for (index, at) in there.places().into_iter().take(here.bytes()).enumerate() {
            let value = value(origin, round, index);
            expected[at] = if round % 3 == 2 { value ^ BESIDE } else { value };
        }
    }
    let found: Vec<u8> = (0..PART).map(|index| window.load(index)).collect();
    let wrong = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    assert_eq!(wrong, None, "round {round}");
}

/// Gets the next rank's bytes in order, twice: as a get, and as an accumulate that changes nothing.
fn read_back(window: Win, there: &Items, datatype: Handle, next: u32) -> Result<()> {
    let place = TargetBuffer {
        rank: next as i32,
        displacement: there.origin,
        count: there.count,
        datatype: datatype.0,
    };
    let byte = lwk_mpi_rt::abi::datatype::BYTE;
    let bytes = there.bytes();
    let (mut first, mut second) = (vec![0u8; bytes], vec![0u8; bytes]);
    let into =
        |values: &mut Vec<u8>| Buffer { address: values.as_mut_ptr(), count: bytes as i64, datatype: byte };
    let (one, other) = (into(&mut first), into(&mut second));
    let nothing = Buffer { address: core::ptr::null_mut(), count: 0, datatype: byte };
    // SAFETY: both vectors hold all bytes of the target's items.
    let outcome = engine(|engine| unsafe {
        engine.get(&one, &place, window.handle)?;
        engine.get_accumulate(&nothing, &other, &place, op::NO_OP, window.handle)
    });
    if there.end() > PART {
        assert_eq!(outcome.err(), Some(Error::RMA_RANGE));
        return Ok(());
    }
    outcome?;
    assert!(first == second);
    for (index, at) in there.places().into_iter().enumerate() {
        assert_eq!(window_byte(window, next, at)?, first[index]);
        if index > 40 {
            break;
        }
    }
    Ok(())
}

fn window_byte(window: Win, rank: u32, at: usize) -> Result<u8> {
    Ok(window.get::<u8>(1, rank, at as i64)?[0])
}

fn value(origin: u32, round: u64, index: usize) -> u8 {
    (index * 7 + (index >> 8) * 3 + origin as usize * 31 + round as usize * 13) as u8
}
