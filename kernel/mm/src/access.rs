//! What a program may do with memory: read, write, execute.

use core::fmt;

/// What is allowed of reading, writing and execution. [`Access::allows`] is the only order on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Access {
    pub read: bool,
    pub write: bool,
    pub execute: bool,
}

impl Access {
    /// Nothing is allowed: such memory is not mapped.
    pub const NONE: Access = Access { read: false, write: false, execute: false };
    /// Read only.
    pub const R: Access = Access { read: true, write: false, execute: false };
    /// Read and write: data, heap, stack.
    pub const RW: Access = Access { read: true, write: true, execute: false };
    /// Read and execute: code.
    pub const RX: Access = Access { read: true, write: false, execute: true };

    /// Whether everything in `needed` is permitted.
    #[must_use]
    pub const fn allows(self, needed: Access) -> bool {
        (self.read || !needed.read) && (self.write || !needed.write) && (self.execute || !needed.execute)
    }

    /// Whether this breaks W^X, which no memory of a job may.
    #[must_use]
    pub const fn is_writable_code(self) -> bool {
        self.write && self.execute
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |allowed, letter| if allowed { letter } else { "-" };
        f.write_str(letter(self.read, "r"))?;
        f.write_str(letter(self.write, "w"))?;
        f.write_str(letter(self.execute, "x"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn allows_is_inclusion() {
        let all =
            (0..8u8).map(|bits| Access { read: bits & 1 != 0, write: bits & 2 != 0, execute: bits & 4 != 0 });
        for (have_bits, have) in all.clone().enumerate() {
            for (needed_bits, needed) in all.clone().enumerate() {
                assert_eq!(have.allows(needed), needed_bits & !have_bits == 0, "{have} {needed}");
            }
        }
    }

    #[test]
    fn prints_as_ls_does() {
        assert_eq!(Access::RX.to_string(), "r-x");
        assert_eq!(Access::RW.to_string(), "rw-");
        assert_eq!(Access::NONE.to_string(), "---");
    }
}
