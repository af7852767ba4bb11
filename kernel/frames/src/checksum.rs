//! CRC-32C (Castagnoli; RFC 3720, appendix B.4), by a table: for homes without an instruction for it, and to check those that have one.

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
    fn parts_add_up() {
        let bytes: [u8; 100] = core::array::from_fn(|at| at as u8);
        for cut in 0..=100 {
            assert_eq!(append(append(0, &bytes[..cut]), &bytes[cut..]), append(0, &bytes), "{cut}");
        }
    }
}
