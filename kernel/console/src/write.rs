//! Writing: a header, then text without line feeds, then a line feed.

use lwk_abi::console::{HEADER_END, HEADER_START};

/// Bytes of the longest header: two marks, the kind, the digits of a `u32`.
const HEADER_BYTES: usize = 13;

/// What a record begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    bytes: [u8; HEADER_BYTES],
    first: usize,
}

impl Header {
    /// The header of a record of this kind, a letter, with its number, both as [`lwk_abi::console`] says.
    #[must_use]
    pub const fn new(kind: u8, number: u32) -> Header {
        let mut bytes = [0; HEADER_BYTES];
        bytes[HEADER_BYTES - 1] = HEADER_END;
        let mut first = HEADER_BYTES - 1;
        let mut left = number;
        loop {
            first -= 1;
            bytes[first] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        bytes[first - 1] = kind;
        bytes[first - 2] = HEADER_START;
        Header { bytes, first: first - 2 }
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.first..]
    }
}

/// The pieces of a text that together are one line: a blank in the place of each line feed.
pub fn one_line(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let pieces = text.split(|byte| *byte == b'\n').enumerate();
    pieces.flat_map(|(index, piece)| [if index > 0 { &b" "[..] } else { b"" }, piece])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn headers_hold_any_number() {
        assert_eq!(Header::new(b'k', 0).bytes(), b"\x1ek0\x1f");
        assert_eq!(Header::new(b'o', 12).bytes(), b"\x1eo12\x1f");
        assert_eq!(Header::new(b'x', u32::MAX).bytes(), b"\x1ex4294967295\x1f");
    }

    #[test]
    fn a_text_becomes_one_line() {
        let line = |text: &[u8]| one_line(text).collect::<Vec<_>>().concat();
        assert_eq!(line(b"a\nb\n"), b"a b ");
        assert_eq!(line(b""), b"");
        assert_eq!(line(b"whole"), b"whole");
    }
}
