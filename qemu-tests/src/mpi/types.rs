//! Random datatypes, as the program makes them and as the list of the bytes they stand for.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use lwk_boot_tests::random::Random;
use lwk_mpi_rt::abi::datatype::BYTE;
use lwk_mpi_rt::engine::Engine;
use lwk_mpi_rt::{Form, Handle, Result};

/// A datatype: which constructors with which arguments. Items are bytes at the bottom, so that nothing is aligned and extents are
/// what the bytes span, unless the outermost constructor resizes.
pub enum Spec {
    Byte,
    Contiguous(i64, Box<Spec>),
    Vector(i64, i64, i64, Box<Spec>),
    Hindexed(Vec<i64>, Vec<i64>, Box<Spec>),
    IndexedBlock(i64, Vec<i64>, Box<Spec>),
    Struct(Vec<i64>, Vec<i64>, Vec<Spec>),
    Subarray([i64; 2], [i64; 2], [i64; 2], Box<Spec>),
    Resized(i64, i64, Box<Spec>),
}

/// The bytes of a type in order, by displacement, and its bounds.
#[derive(Clone)]
pub struct Map {
    pub bytes: Vec<i64>,
    pub lb: i64,
    pub ub: i64,
}

impl Map {
    pub fn extent(&self) -> i64 {
        self.ub - self.lb
    }

    /// Displacements of the bytes of `count` items.
    pub fn items(&self, count: i64) -> Vec<i64> {
        (0..count).flat_map(|item| self.bytes.iter().map(move |byte| byte + item * self.extent())).collect()
    }

    /// Blocks of `old`: (items, displacement in bytes).
    fn of_blocks(old: &Map, blocks: impl Iterator<Item = (i64, i64)>) -> Map {
        let mut bytes = Vec::new();
        for (items, displacement) in blocks {
            bytes.extend(old.items(items).iter().map(|byte| byte + displacement));
        }
        Map::spanning(bytes)
    }

    fn spanning(bytes: Vec<i64>) -> Map {
        let lb = bytes.iter().copied().min().unwrap_or(0);
        let ub = bytes.iter().copied().max().map_or(0, |last| last + 1);
        Map { bytes, lb, ub }
    }
}

/// Most bytes of a random type below its outermost constructor: three of them within each other can come to 400,000, and their list to more
/// memory than a rank of the tests has.
const MOST_BYTES: usize = 10_000;

impl Spec {
    /// A random type of few bytes, without overlapping blocks.
    pub fn random(random: &mut Random) -> Spec {
        let inner = loop {
            let inner = Spec::inner(random, 3);
            if inner.map().bytes.len() <= MOST_BYTES {
                break inner;
            }
        };
        let extent = inner.map().extent();
        match random.below(4) {
            0 => {
                let lb = inner.map().lb - random.below(9) as i64;
                Spec::Resized(lb, extent + 9 + random.below(20) as i64, Box::new(inner))
            }
            1 => {
                let sizes = [1, 1].map(|_: i64| 1 + random.below(6) as i64);
                let subsizes = sizes.map(|size| 1 + random.below(size as u64) as i64);
                let starts = [0, 1].map(|d: usize| random.below((sizes[d] - subsizes[d] + 1) as u64) as i64);
                Spec::Subarray(sizes, subsizes, starts, Box::new(inner))
            }
            _ => inner,
        }
    }

    fn inner(random: &mut Random, depth: u64) -> Spec {
        if depth == 0 || random.once_in(5) {
            let bytes = random.one_of(&[1, 2, 3, 4, 7, 8, 8, 16, 24, 100]);
            return Spec::Contiguous(bytes, Box::new(Spec::Byte));
        }
        let old = Spec::inner(random, depth - 1);
        let extent = old.map().extent();
        let some = |random: &mut Random| 1 + random.below(4) as i64;
        match random.below(5) {
            0 => Spec::Contiguous(some(random), Box::new(old)),
            1 => {
                let (blocks, length) = (some(random), some(random));
                Spec::Vector(blocks, length, length + random.below(3) as i64, Box::new(old))
            }
            2 => {
                let lengths: Vec<i64> = (0..some(random)).map(|_| random.below(4) as i64).collect();
                let lengths = if lengths.iter().all(|length| *length == 0) { vec![1] } else { lengths };
                // Backwards as often as forwards, some of it below zero.
                let mut end = -(random.below(50) as i64);
                let mut displacements: Vec<i64> = lengths
                    .iter()
                    .map(|length| {
                        let here = end + random.below(30) as i64;
                        end = here + length * extent;
                        here
                    })
                    .collect();
                let mut lengths = lengths;
                if random.once_in(2) {
                    displacements.reverse();
                    lengths.reverse();
                }
                Spec::Hindexed(lengths, displacements, Box::new(old))
            }
            3 => {
                let length = some(random);
                let displacements = (0..some(random)).map(|i| i * (length + 1) + i % 2).collect();
                Spec::IndexedBlock(length, displacements, Box::new(old))
            }
            _ => {
                let other = Spec::inner(random, depth - 1);
                let (lengths, others) = ([some(random), some(random)], other.map());
                // The first member's bytes end before the second's begin.
                let first = random.below(20) as i64 - old.map().lb;
                let second = first + lengths[0] * extent + old.map().lb - others.lb + random.below(9) as i64;
                Spec::Struct(lengths.into(), vec![first, second], vec![old, other])
            }
        }
    }

    /// The bytes it stands for, computed from the standard's definitions.
    pub fn map(&self) -> Map {
        match self {
            Spec::Byte => Map { bytes: vec![0], lb: 0, ub: 1 },
            Spec::Contiguous(count, old) => Map::of_blocks(&old.map(), [(*count, 0)].into_iter()),
            Spec::Vector(blocks, length, stride, old) => {
                let old = old.map();
                Map::of_blocks(&old, (0..*blocks).map(|block| (*length, block * stride * old.extent())))
            }
            Spec::Hindexed(lengths, displacements, old) => {
                Map::of_blocks(&old.map(), lengths.iter().copied().zip(displacements.iter().copied()))
            }
            Spec::IndexedBlock(length, displacements, old) => {
                let old = old.map();
                Map::of_blocks(&old, displacements.iter().map(|items| (*length, items * old.extent())))
            }
            Spec::Struct(lengths, displacements, types) => {
                let mut bytes = Vec::new();
                for ((length, displacement), old) in lengths.iter().zip(displacements).zip(types) {
                    bytes.extend(old.map().items(*length).iter().map(|byte| byte + displacement));
                }
                Map::spanning(bytes)
            }
            Spec::Subarray(sizes, subsizes, starts, old) => {
                let old = old.map();
                let mut bytes = Vec::new();
                for row in 0..subsizes[0] {
                    for column in 0..subsizes[1] {
                        let item = (starts[0] + row) * sizes[1] + starts[1] + column;
                        bytes.extend(old.bytes.iter().map(|byte| byte + item * old.extent()));
                    }
                }
                Map { bytes, lb: 0, ub: sizes[0] * sizes[1] * old.extent() }
            }
            Spec::Resized(lb, extent, old) => Map { lb: *lb, ub: lb + extent, ..old.map() },
        }
    }

    /// Makes it, and commits it.
    pub fn make(&self, engine: &mut Engine) -> Result<Handle> {
        let handle = self.construct(engine)?;
        engine.type_commit(handle.0)?;
        Ok(handle)
    }

    fn construct(&self, engine: &mut Engine) -> Result<Handle> {
        let form = Form::Large;
        let from = |engine: &mut Engine, old: &Spec, make: &dyn Fn(&mut Engine, u64) -> Result<Handle>| {
            let old = old.construct(engine)?;
            let made = make(engine, old.0);
            // The old type may go as soon as the new one is made.
            if old.0 != BYTE {
                engine.type_free(old.0)?;
            }
            made
        };
        match self {
            Spec::Byte => Ok(Handle(BYTE)),
            Spec::Contiguous(count, old) => {
                from(engine, old, &|engine, old| engine.type_contiguous(form, *count, old))
            }
            Spec::Vector(blocks, length, stride, old) => {
                from(engine, old, &|engine, old| engine.type_vector(form, *blocks, *length, *stride, old))
            }
            Spec::Hindexed(lengths, displacements, old) => {
                from(engine, old, &|engine, old| engine.type_hindexed(form, lengths, displacements, old))
            }
            Spec::IndexedBlock(length, displacements, old) => {
                from(engine, old, &|engine, old| engine.type_indexed_block(form, *length, displacements, old))
            }
            Spec::Struct(lengths, displacements, types) => {
                let members: Result<Vec<u64>> =
                    types.iter().map(|old| old.construct(engine).map(|handle| handle.0)).collect();
                engine.type_struct(form, lengths, displacements, &members?)
            }
            Spec::Subarray(sizes, subsizes, starts, old) => from(engine, old, &|engine, old| {
                const ORDER_C: i32 = 0xc;
                engine.type_subarray(form, sizes, subsizes, starts, ORDER_C, old)
            }),
            Spec::Resized(lb, extent, old) => {
                from(engine, old, &|engine, old| engine.type_resized(form, *lb, *extent, old))
            }
        }
    }
}
