//! Reductions of every operation on every type that Portals folds, around the limit of one operation, in place and not, to all and to every root.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;
use lwk_mpi::{Communicator, Element, Operation};
use lwk_mpi_rt::Result;

/// The most bytes that go this way.
const LIMIT: usize = lwk_triggered::BYTES;

pub fn run(world: Communicator) -> Result<()> {
    integers(world)?;
    reals(world)?;
    one_result(world)
}

/// Small whole numbers, some of them 0; sums and products of them are exact in reals.
fn value(rank: u32, index: usize) -> i64 {
    [1, 2, 0, 3, 1, 1, 2][(rank as usize * 3 + index) % 7]
}

/// Of an operation that is none of the two.
fn fold<T: Copy>(of: &[T], combine: impl Fn(T, T) -> T) -> T {
    of[1..].iter().fold(of[0], |left, right| combine(left, *right))
}

macro_rules! integers {
    ($($type:ty)*) => {
        fn integers(world: Communicator) -> Result<()> {
            $(
                let truth = |yes: bool| <$type>::from(yes);
                check::<$type>(world, |value| value as $type, &[
                    (Operation::Sum, &|of| fold(of, <$type>::wrapping_add)),
                    (Operation::Product, &|of| fold(of, <$type>::wrapping_mul)),
                    (Operation::Min, &|of| fold(of, <$type>::min)),
                    (Operation::Max, &|of| fold(of, <$type>::max)),
                    (Operation::BitAnd, &|of| fold(of, |l, r| l & r)),
                    (Operation::BitOr, &|of| fold(of, |l, r| l | r)),
                    (Operation::BitXor, &|of| fold(of, |l, r| l ^ r)),
                    (Operation::And, &|of| truth(of.iter().all(|it| *it != 0))),
                    (Operation::Or, &|of| truth(of.iter().any(|it| *it != 0))),
                    (Operation::Xor, &|of| truth(of.iter().filter(|it| **it != 0).count() % 2 == 1)),
                ])?;
            )*
            Ok(())
        }
    };
}

macro_rules! reals {
    ($($type:ty)*) => {
        fn reals(world: Communicator) -> Result<()> {
            $(
                check::<$type>(world, |value| value as $type, &[
                    (Operation::Sum, &|of| fold(of, |l, r| l + r)),
                    (Operation::Product, &|of| fold(of, |l, r| l * r)),
                    (Operation::Min, &|of| fold(of, <$type>::min)),
                    (Operation::Max, &|of| fold(of, <$type>::max)),
                ])?;
            )*
            Ok(())
        }
    };
}

integers!(i8 u8 i16 u16 i32 u32 i64 u64);
reals!(f32 f64);

type Definition<'a, T> = (Operation, &'a dyn Fn(&[T]) -> T);

fn check<T: Element + Default + PartialEq + Debug>(
    world: Communicator,
    of: impl Fn(i64) -> T,
    operations: &[Definition<T>],
) -> Result<()> {
    let (rank, size) = (world.rank()?, world.size()?);
    let most = LIMIT / size_of::<T>();
    for count in [0, 1, 3, most - 1, most, most + 1] {
        let part = |rank: u32| -> Vec<T> { (0..count).map(|index| of(value(rank, index))).collect() };
        let parts: Vec<Vec<T>> = (0..size).map(part).collect();
        let send = &parts[rank as usize];
        for (operation, definition) in operations {
            let column = |index: usize| parts.iter().map(|part| part[index]).collect::<Vec<T>>();
            let expected: Vec<T> = (0..count).map(|index| definition(&column(index))).collect();
            let mut receive = vec![T::default(); count];
            world.allreduce(send, &mut receive, *operation)?;
            assert!(receive == expected, "{operation:?} of {count}: {receive:?}, not {expected:?}");
            receive.copy_from_slice(send);
            world.allreduce_in_place(&mut receive, *operation)?;
            assert!(receive == expected, "{operation:?} of {count} in place");
            let root = count as u32 % size;
            receive.fill(T::default());
            world.reduce(send, &mut receive, *operation, root as i32)?;
            let kept = receive.iter().all(|it| *it == T::default());
            assert!(
                if rank == root { receive == expected } else { kept },
                "{operation:?} of {count} to {root}"
            );
        }
        world.barrier()?;
    }
    Ok(())
}

/// What is not exact is the same everywhere all the same.
fn one_result(world: Communicator) -> Result<()> {
    let rank = world.rank()?;
    for round in 0..50 {
        let mut sum = [0f64; 3];
        let own = [0.1, 1e16, -7.3].map(|it: f64| it / f64::from(rank + round + 1));
        world.allreduce(&own, &mut sum, Operation::Sum)?;
        let mut first = sum.map(f64::to_bits);
        world.broadcast(&mut first, 0)?;
        assert_eq!(first, sum.map(f64::to_bits), "ranks have different results");
    }
    Ok(())
}
