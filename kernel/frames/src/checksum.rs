//! CRC-32C (Castagnoli; RFC 3720, appendix B.4), by a table: for homes without an instruction for it, and to check those that have one.
//!
//! The instruction answers after three cycles but can begin anew each cycle. So homes that have it work on three pieces of a long message at once, each
//! of the length of a [`Lane`], and join their sums (Gopal et al., "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction", Intel 2011).

use crc::{CRC_32_ISCSI, Crc, Table};

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

/// Tables for eight bytes at a time, to be made where they are needed: an image need not carry their 8 KiB.
#[derive(Debug)]
pub struct Tables([[u32; 256]; 8]);

impl Tables {
    /// Makes them.
    pub fn new() -> Tables {
        let first = core::array::from_fn(|byte| (0..8).fold(byte as u32, |sum, _| times_x(sum)));
        let mut tables = [first; 8];
        for behind in 1..8 {
            tables[behind] = tables[behind - 1].map(|sum| sum >> 8 ^ first[usize::from(sum as u8)]);
        }
        Tables(tables)
    }

    /// As [`append`].
    pub fn append(&self, seed: u32, bytes: &[u8]) -> u32 {
        let (words, rest) = bytes.as_chunks::<8>();
        let sum = words.iter().fold(!seed, |sum, word| {
            let word = (u64::from_le_bytes(*word) ^ u64::from(sum)).to_le_bytes();
            let [a, b, c, d, e, f, g, h] = word.map(usize::from);
            let it = &self.0;
            it[7][a] ^ it[6][b] ^ it[5][c] ^ it[4][d] ^ it[3][e] ^ it[2][f] ^ it[1][g] ^ it[0][h]
        });
        !rest.iter().fold(sum, |sum, byte| sum >> 8 ^ self.0[0][usize::from(sum as u8 ^ byte)])
    }
}

impl Default for Tables {
    fn default() -> Tables {
        Tables::new()
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
        let tables = Tables::new();
        let bytes: [u8; 100] = core::array::from_fn(|at| ((at * 37) >> 1) as u8);
        for length in 0..=bytes.len() {
            assert_eq!(tables.append(7, &bytes[..length]), append(7, &bytes[..length]), "{length}");
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
