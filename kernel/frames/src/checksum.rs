//! CRC-32C (Castagnoli; RFC 3720, appendix B.4), by a table: for homes without an instruction for it, and to check those that have one.
//!
//! The instruction answers after three cycles but can begin anew each cycle. So homes that have it work on three pieces of a long message at once, each
//! of the length of a [`Lane`], and join their sums (Gopal et al., "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction", Intel 2011).

mod sparse;

use core::ops::Range;

use crc::{CRC_32_ISCSI, Crc, Table};
pub use sparse::Sparse;

/// One table takes 1 KiB. Sixteen would be faster, but take 16 KiB of the kernel's image for processors that are older than the instruction.
static TABLE: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISCSI);

/// The checksum of what `seed` is the checksum of (0: of nothing), followed by `bytes`.
pub fn append(seed: u32, bytes: &[u8]) -> u32 {
    // The crate's start value is given before its bits are reversed.
    let mut digest = TABLE.digest_with_initial((!seed).reverse_bits());
    digest.update(bytes);
    digest.finalize()
}

/// The polynomial, lowest power in the highest bit.
const POLYNOMIAL: u32 = 0x82f6_3b78;
/// The polynomial 1.
const ONE: u32 = 1 << 31;

/// A length of pieces whose sums can be joined.
#[derive(Debug)]
pub struct Lane {
    /// Bytes, a multiple of 8.
    pub bytes: usize,
    /// By bit of a sum: what so many bytes of zeros behind it make of that bit.
    behind: [u32; 32],
}

/// Three of them fill the payload of a jumbo frame, or of an ordinary one, but for some bytes.
pub static LANES: [Lane; 2] = [Lane::new(2976), Lane::new(480)];

const fn times_x(a: u32) -> u32 {
    if a & 1 != 0 { a >> 1 ^ POLYNOMIAL } else { a >> 1 }
}

/// The remainder of a power of x, lowest power in the highest bit.
pub const fn power_of_x(of: usize) -> u32 {
    let (mut power, mut bit) = (ONE, 0);
    while bit < of {
        power = times_x(power);
        bit += 1;
    }
    power
}

impl Lane {
    const fn new(bytes: usize) -> Lane {
        let mut power = power_of_x(8 * bytes);
        let mut behind = [0; 32];
        let mut of = 32;
        while of > 0 {
            of -= 1;
            behind[of] = power;
            power = times_x(power);
        }
        Lane { bytes, behind }
    }

    /// The sum of three pieces of this length from the raw sums (not inverted) of each, of which only the first began with a seed.
    pub fn join(&self, [first, second, third]: [u32; 3]) -> u32 {
        self.advance(self.advance(first) ^ second) ^ third
    }

    fn advance(&self, sum: u32) -> u32 {
        let bits = self.behind.iter().enumerate();
        bits.fold(0, |all, (bit, behind)| all ^ (behind & (sum >> bit & 1).wrapping_neg()))
    }
}

/// What a checksum is of: memory that may change meanwhile, so that each byte is to be read once.
pub trait Source {
    /// How many bytes.
    fn bytes(&self) -> usize;

    /// Calls `each` with words of eight bytes from `at` on, so many and each with its number, little-endian.
    fn words(&self, at: usize, count: usize, each: impl FnMut(usize, u64));

    fn byte(&self, at: usize) -> u8;
}

impl Source for [u8] {
    fn bytes(&self) -> usize {
        self.len()
    }

    fn words(&self, at: usize, count: usize, mut each: impl FnMut(usize, u64)) {
        let words = self[at..][..8 * count].as_chunks().0.iter().enumerate();
        words.for_each(|(number, word)| each(number, u64::from_le_bytes(*word)));
    }

    fn byte(&self, at: usize) -> u8 {
        self[at]
    }
}

/// Tables for eight bytes at a time, made where they are first needed: an image need not carry their 8 KiB.
#[derive(Debug)]
struct Tables([[u32; 256]; 8]);

impl Tables {
    /// Nothing yet.
    const EMPTY: Tables = Tables([[0; 256]; 8]);

    /// Makes them, if nobody has.
    fn make(&mut self) {
        let [first, ..] = &mut self.0;
        if first[1] != 0 {
            return;
        }
        for (byte, sum) in (0..).zip(first) {
            *sum = (0..8).fold(byte, |sum, _| times_x(sum));
        }
        for (behind, byte) in (1..8).flat_map(|behind| (0..256).map(move |byte| (behind, byte))) {
            let sum = self.0[behind - 1][byte];
            self.0[behind][byte] = sum >> 8 ^ self.0[0][usize::from(sum as u8)];
        }
    }

    /// The raw sum (not inverted) of what `sum` is that of, and a range of the source behind it.
    fn go_on(&self, sum: u32, source: &(impl Source + ?Sized), range: Range<usize>) -> u32 {
        let (rest, mut sum, it) = (range.end - range.len() % 8, sum, &self.0);
        source.words(range.start, range.len() / 8, |_, word| {
            let word = (word ^ u64::from(sum)).to_le_bytes();
            let [a, b, c, d, e, f, g, h] = word.map(usize::from);
            sum = it[7][a] ^ it[6][b] ^ it[5][c] ^ it[4][d] ^ it[3][e] ^ it[2][f] ^ it[1][g] ^ it[0][h];
        });
        (rest..range.end).fold(sum, |sum, at| sum >> 8 ^ it[0][usize::from(sum as u8 ^ source.byte(at))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        // RFC 3720, appendix B.4.
        assert_eq!(append(0, &[0; 32]), 0x8a91_36aa);
        assert_eq!(append(0, &[0xff; 32]), 0x62a8_ab43);
        assert_eq!(append(0, b"123456789"), 0xe306_9283);
        assert_eq!(append(0, b""), 0);
    }

    #[test]
    fn tables_for_words_say_what_the_table_for_bytes_says() {
        let mut tables = Tables::EMPTY;
        (0..2).for_each(|_| tables.make());
        let bytes: [u8; 100] = core::array::from_fn(|at| ((at * 37) >> 1) as u8);
        for length in 0..=bytes.len() {
            let sum = !tables.go_on(!7, &bytes[..], 0..length);
            assert_eq!(sum, append(7, &bytes[..length]), "{length}");
        }
    }

    #[test]
    fn lanes_are_joined() {
        for lane in &LANES {
            let bytes: std::vec::Vec<u8> = (0..3 * lane.bytes).map(|at| ((at * at) >> 3) as u8).collect();
            let mut seed = !7;
            let raw = [0, 1, 2].map(|piece| {
                let piece = &bytes[piece * lane.bytes..][..lane.bytes];
                !append(!core::mem::take(&mut seed), piece)
            });
            assert_eq!(!lane.join(raw), append(7, &bytes));
        }
    }

    #[test]
    fn parts_add_up() {
        let bytes: [u8; 100] = core::array::from_fn(|at| at as u8);
        for cut in 0..=100 {
            assert_eq!(append(append(0, &bytes[..cut]), &bytes[cut..]), append(0, &bytes), "{cut}");
        }
    }
}
