//! A seeded generator, so that a failing run can be repeated: SplitMix64 (Steele, Lea, Flood 2014).

/// What a random part begins with unless it is given another seed: the same every day, so that what fails is a change's doing.
pub const SEED: u64 = 1;

/// The generator.
pub struct Random(u64);

impl Random {
    /// A generator that gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which must not be 0. (The bias of the remainder does not matter here.)
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// One of the choices, of which there must be one.
    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
