//! Access modes (MPI-5.0, section 14.2.1): the bits, which of them go together, and what they allow.

use lwk_mpi_core::error::{Error, Result};

/// The bits of `amode`, numbered as in the binary interface.
pub mod bit {
    pub const APPEND: i32 = 1;
    pub const CREATE: i32 = 2;
    pub const DELETE_ON_CLOSE: i32 = 4;
    pub const EXCL: i32 = 8;
    pub const RDONLY: i32 = 16;
    pub const RDWR: i32 = 32;
    pub const SEQUENTIAL: i32 = 64;
    pub const UNIQUE_OPEN: i32 = 128;
    pub const WRONLY: i32 = 256;
}

const ALL: i32 = bit::APPEND
    | bit::CREATE
    | bit::DELETE_ON_CLOSE
    | bit::EXCL
    | bit::RDONLY
    | bit::RDWR
    | bit::SEQUENTIAL
    | bit::UNIQUE_OPEN
    | bit::WRONLY;

/// A valid access mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessMode(i32);

impl AccessMode {
    /// Errors: `AMODE` unless exactly one of reading, writing and both is asked for, for a file that is only read and yet created, for one that is
    /// sequential and both read and written, and for unknown bits.
    pub fn new(bits: i32) -> Result<AccessMode> {
        let one =
            matches!(bits & (bit::RDONLY | bit::WRONLY | bit::RDWR), bit::RDONLY | bit::WRONLY | bit::RDWR);
        let has = |wanted: i32| bits & wanted != 0;
        let contradiction =
            has(bit::RDONLY) && has(bit::CREATE | bit::EXCL) || has(bit::RDWR) && has(bit::SEQUENTIAL);
        if one && !contradiction && bits & !ALL == 0 { Ok(AccessMode(bits)) } else { Err(Error::AMODE) }
    }

    /// The bits, as the program has given them.
    pub fn bits(self) -> i32 {
        self.0
    }

    pub fn has(self, bit: i32) -> bool {
        self.0 & bit != 0
    }

    /// Errors: `ACCESS` if the file is only written.
    pub fn check_readable(self) -> Result<()> {
        if self.has(bit::WRONLY) { Err(Error::ACCESS) } else { Ok(()) }
    }

    /// Errors: `READ_ONLY` if the file is only read.
    pub fn check_writable(self) -> Result<()> {
        if self.has(bit::RDONLY) { Err(Error::READ_ONLY) } else { Ok(()) }
    }

    /// For what a sequential file does not allow. Errors: `UNSUPPORTED_OPERATION`.
    pub fn check_random(self) -> Result<()> {
        if self.has(bit::SEQUENTIAL) { Err(Error::UNSUPPORTED_OPERATION) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_kind_of_access_is_asked_for() {
        let kinds = [bit::RDONLY, bit::WRONLY, bit::RDWR];
        for mask in 0..8 {
            let bits = (0..3).filter(|kind| mask >> kind & 1 == 1).map(|kind| kinds[kind as usize]).sum();
            assert_eq!(AccessMode::new(bits).is_ok(), i32::count_ones(mask) == 1, "{bits}");
        }
    }

    #[test]
    fn modes_that_contradict_themselves_are_refused() {
        for bits in [
            bit::RDONLY | bit::CREATE,
            bit::RDONLY | bit::EXCL,
            bit::RDWR | bit::SEQUENTIAL,
            bit::RDWR | 512,
            -1,
            0,
        ] {
            assert_eq!(AccessMode::new(bits), Err(Error::AMODE), "{bits}");
        }
        for bits in [bit::RDONLY | bit::SEQUENTIAL, bit::WRONLY | bit::CREATE | bit::EXCL | bit::APPEND] {
            assert_eq!(AccessMode::new(bits).map(AccessMode::bits), Ok(bits));
        }
    }

    #[test]
    fn a_mode_allows_what_it_says() {
        let of = |bits| {
            AccessMode::new(bits)
                .map(|mode| (mode.check_readable(), mode.check_writable(), mode.check_random()))
        };
        assert_eq!(of(bit::RDONLY), Ok((Ok(()), Err(Error::READ_ONLY), Ok(()))));
        assert_eq!(of(bit::WRONLY), Ok((Err(Error::ACCESS), Ok(()), Ok(()))));
        let sequential = Err(Error::UNSUPPORTED_OPERATION);
        assert_eq!(of(bit::WRONLY | bit::SEQUENTIAL), Ok((Err(Error::ACCESS), Ok(()), sequential)));
        assert_eq!(of(bit::RDWR), Ok((Ok(()), Ok(()), Ok(()))));
    }
}
