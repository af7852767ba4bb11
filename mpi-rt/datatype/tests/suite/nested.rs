//! Every constructor over every other, with blocks and loops large enough for every way of copying, against the list of bytes.
//!
//! Arguments are random. A failure names the seed; `MARGAY_SEED` repeats it.

use crate::layout::{Memory, overlaps};
use crate::model::{Recipe, recipe};
use lwk_datatype::{
    Basic, DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG, LayoutView, Memory as _, Nest, Pair,
    Plain, Region, Scattered, Transfer, pack, unpack,
};
use proptest::prelude::*;

/// Numbers after Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn seeded() -> (Random, u64) {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        // The everyday test begins where the other property tests begin.
        let of = |name| std::env::var(name).ok().and_then(|seed| seed.parse().ok());
        let seed = of("MARGAY_SEED").or_else(|| of("PROPTEST_RNG_SEED"));
        let seed = seed.unwrap_or(now.as_nanos() as u64) | 1;
        (Random(seed), seed)
    }

    fn up_to(&mut self, below: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as i64
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.up_to(of.len() as i64) as usize]
    }
}

const CONSTRUCTORS: usize = 13;

/// Constructor `which` over an old type, mostly without overlaps; up to `most` blocks.
fn build(which: usize, most: i64, old: Recipe, random: &mut Random) -> Recipe {
    let map = old.map();
    let extent = map.extent().max(map.true_ub() - map.true_lb());
    let blocks = 1 + random.up_to(most);
    let length = 1 + random.up_to(3);
    let same = random.up_to(2) == 0;
    // Places of blocks of random or equal lengths, one after the other with gaps, in items.
    let mut place = random.up_to(3);
    let list: Vec<(i64, i64)> = (0..blocks)
        .map(|_| {
            let length = if same { length } else { 1 + random.up_to(3) };
            let here = place;
            place += length + random.up_to(4);
            (length, here)
        })
        .collect();
    let bytes: Vec<(i64, i64)> = list.iter().map(|(length, at)| (*length, at * (extent + 1))).collect();
    let places: Vec<i64> = list.iter().map(|(_, at)| 3 * at).collect();
    let old = Box::new(old);
    match which {
        0 => Recipe::Contiguous(blocks, old),
        1 => Recipe::Vector(blocks, length, length + random.up_to(3), old),
        2 => Recipe::Hvector(blocks, length, length * extent + random.up_to(9), old),
        3 => Recipe::Indexed(list, old),
        4 => Recipe::Hindexed(bytes, old),
        5 => Recipe::IndexedBlock(length, places, old),
        6 => Recipe::HindexedBlock(length, places.iter().map(|at| at * (extent + 1)).collect(), old),
        7 => {
            let other = Recipe::Basic(random.pick(&[Basic::Byte, Basic::Int, Basic::Double]));
            let after = length * extent + map.true_lb().abs() + 16;
            Recipe::Struct(vec![(length, 0, *old.clone()), (blocks, after, other)])
        }
        8 => Recipe::Resized(-random.up_to(9), extent + random.up_to(40), old),
        9 => Recipe::Dup(old),
        10 => {
            let dims = [most, 4, 3].map(|size| {
                let sub = 1 + random.up_to(size);
                (size, sub, random.up_to(size - sub + 1))
            });
            Recipe::Subarray(dims.to_vec(), same, old)
        }
        11 => {
            let dims = vec![
                (most, DISTRIBUTE_CYCLIC, 1 + random.up_to(3), 2),
                (5, DISTRIBUTE_BLOCK, DISTRIBUTE_DFLT_DARG, 2),
            ];
            Recipe::Darray(dims, random.up_to(4), same, old)
        }
        // Blocks backwards.
        _ => Recipe::Hvector(blocks, length, -(length * extent + random.up_to(9)), old),
    }
}

/// Packs, packs a part, unpacks, and copies from layout to layout.
fn check(one: &Recipe, other: &Recipe, count: i64, random: &mut Random, say: &str) {
    let (datatype, message) = (one.make().unwrap(), one.map().bytes(count));
    datatype.commit();
    let mut memory = Memory::around(&message, 7);
    let region = datatype.region(memory.base(), count).unwrap();
    let total = message.len();
    let a = random.up_to(total as i64 + 1) as usize;
    let b = random.up_to(total as i64 + 1) as usize;
    for (from, to) in [(0, total), (a.min(b), a.max(b))] {
        let mut packed = vec![0u8; to - from];
        let (out, bytes) = (packed.as_mut_ptr() as usize, packed.len() as u64);
        // SAFETY: `memory` spans every byte of the message and `packed` has the length given; neither is shared.
        unsafe { pack(&Plain, region, from as u64, out, bytes) }.unwrap();
        assert!(
            packed.iter().zip(&message[from..to]).all(|(byte, disp)| *byte == memory.at(*disp)),
            "{say}: pack {from}..{to}"
        );
        if overlaps(&message) {
            continue;
        }
        let fresh: Vec<u8> = (0..packed.len()).map(|i| (i * 7) as u8 ^ 0xa5).collect();
        let mut expected = memory.bytes.clone();
        for (byte, disp) in fresh.iter().zip(&message[from..to]) {
            expected[(disp + memory.origin) as usize] = *byte;
        }
        // SAFETY: `fresh` has the length given, `memory` spans every byte of the message, and those do not overlap each other.
        unsafe { unpack(&Plain, fresh.as_ptr() as usize, bytes, region, from as u64) }.unwrap();
        assert!(memory.bytes == expected, "{say}: unpack {from}..{to}");
    }
    let theirs = other.map().bytes(count);
    if overlaps(&theirs) {
        return;
    }
    let target = other.make().unwrap();
    target.commit();
    let mut there = Memory::around(&theirs, 101);
    let to = target.region(there.base(), count).unwrap();
    let bytes = total.min(theirs.len());
    let mut expected = there.bytes.clone();
    for (a, b) in message.iter().zip(&theirs) {
        expected[(b + there.origin) as usize] = memory.at(*a);
    }
    let mut transfer = Transfer::range(region, 0, to, 0, bytes as u64).unwrap();
    while transfer.remaining() > 0 {
        let chunk = 1 + random.up_to(2 * bytes as i64) as u64;
        // SAFETY: both memories span their messages, are distinct, and the target's bytes do not overlap each other.
        unsafe { transfer.step(&Plain, chunk) }.unwrap();
    }
    assert!(there.bytes == expected, "{say}: to {other:?}");
}

#[test]
fn every_constructor_over_every_other_moves_the_right_bytes() {
    let (mut random, seed) = Random::seeded();
    println!("MARGAY_SEED={seed}");
    let leaves = [
        Recipe::Basic(Basic::Byte),
        Recipe::Basic(Basic::Short),
        Recipe::Basic(Basic::Int),
        Recipe::Basic(Basic::Double),
        Recipe::Basic(Basic::CDoubleComplex),
        Recipe::Pair(Pair::DoubleInt),
    ];
    for round in 0..4 {
        for outer in 0..CONSTRUCTORS {
            for inner in 0..CONSTRUCTORS {
                let leaf = leaves[random.up_to(leaves.len() as i64) as usize].clone();
                let old = build(inner, random.pick(&[2, 5, 17]), leaf, &mut random);
                let one = build(outer, random.pick(&[2, 6, 33]), old.clone(), &mut random);
                let other = if round % 2 == 0 { one.clone() } else { build(inner, 40, old, &mut random) };
                let count = random.pick(&[1, 2, 9]);
                check(&one, &other, count, &mut random, &format!("MARGAY_SEED={seed}: {count} of {one:?}"));
            }
        }
    }
}

/// Memory that copies nothing and notes what of the packed side is asked for.
struct Watch {
    packed: std::ops::Range<usize>,
    gather: bool,
}

impl Watch {
    fn see(&self, to: usize, from: usize, bytes: usize) {
        let place = if self.gather { to } else { from };
        let within =
            place >= self.packed.start && place.checked_add(bytes).is_some_and(|end| end <= self.packed.end);
        assert!(within, "{bytes} bytes at {place:#x}, outside {:#x?}", self.packed);
    }
}

impl Watch {
    /// All blocks of a list, by the plain loops.
    fn see_list(&self, list: &Scattered<'_>) {
        // SAFETY: this memory touches nothing.
        unsafe { if self.gather { Watched(self).gather(list) } else { Watched(self).scatter(list) } }
    }
}

/// The same, with the loops of the crate, block by block.
struct Watched<'a>(&'a Watch);

impl lwk_datatype::Memory for Watched<'_> {
    const LOCAL: bool = false;

    unsafe fn copy(&self, to: usize, from: usize, bytes: usize) {
        self.0.see(to, from, bytes);
    }
}

impl lwk_datatype::Memory for Watch {
    const LOCAL: bool = false;

    unsafe fn copy(&self, to: usize, from: usize, bytes: usize) {
        self.see(to, from, bytes);
    }

    unsafe fn copy_nest(&self, nest: &Nest) {
        // The corners: loops are as long as damage makes them.
        let corner = |out: fn(&lwk_datatype::Round) -> isize, base: usize| {
            nest.rounds.iter().fold((base, base), |(low, high), round| {
                let last = out(round).wrapping_mul(round.times as isize - 1);
                (low.wrapping_add_signed(last.min(0)), high.wrapping_add_signed(last.max(0)))
            })
        };
        if nest.rounds.iter().any(|round| round.times == 0) {
            return;
        }
        let (to, from) = (corner(|round| round.to, nest.to), corner(|round| round.from, nest.from));
        self.see(to.0, from.0, nest.block);
        self.see(to.1, from.1, nest.block);
    }

    unsafe fn gather(&self, list: &Scattered<'_>) {
        self.see_list(list);
    }

    unsafe fn scatter(&self, list: &Scattered<'_>) {
        self.see_list(list);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A peer's words are checked: whatever they are, the packed side is touched only where the caller has bytes, and the walk ends.
    #[test]
    fn a_damaged_layout_never_leaves_the_packed_bytes(
        recipe in recipe(), at in any::<prop::sample::Index>(), value in prop_oneof![any::<u64>(), 0..40u64], gather in any::<bool>(),
    ) {
        let datatype = recipe.make().unwrap();
        datatype.commit();
        let mut words = datatype.layout().unwrap().words().to_vec();
        let at = at.index(words.len());
        words[at] = value;
        let Ok(layout) = LayoutView::from_words(&words) else { return Ok(()) };
        let typed = Region { base: 1 << 40, layout, count: 3 };
        let Ok(total) = typed.total() else { return Ok(()) };
        // More bytes than a walk of tests can take are as good as these.
        let bytes = total.min(5000);
        let watch = Watch { packed: 1 << 20..(1 << 20) + bytes as usize, gather };
        let packed = Region::bytes(1 << 20, bytes);
        let transfer =
            if gather { Transfer::range(typed, 0, packed, 0, bytes) } else { Transfer::range(packed, 0, typed, 0, bytes) };
        if let Ok(mut transfer) = transfer {
            // SAFETY: this memory touches nothing.
            let _ = unsafe { transfer.step(&watch, bytes) };
        }
    }
}
