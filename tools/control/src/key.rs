//! The key that nodes and their launchers share.

use std::fmt;

/// Bytes of a key.
const KEY_BYTES: usize = 32;

/// A key. It is shown as nothing, so that it gets into no message by mistake.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; KEY_BYTES]);

/// A text is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoKey;

impl fmt::Display for NoKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a key is {} hexadecimal digits", 2 * KEY_BYTES)
    }
}

impl std::error::Error for NoKey {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// The key of these bytes, which nobody must be able to guess.
    pub fn new(bytes: [u8; KEY_BYTES]) -> Key {
        Key(bytes)
    }

    /// Reads a key as [`Key::text`] writes it; blanks around it do not count.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<Key, NoKey> {
        let digits = text.trim().as_bytes();
        if digits.len() != 2 * KEY_BYTES {
            return Err(NoKey);
        }
        let mut key = [0; KEY_BYTES];
        for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |at: usize| char::from(pair[at]).to_digit(16).ok_or(NoKey);
            *byte = (digit(0)? * 16 + digit(1)?) as u8;
        }
        Ok(Key(key))
    }

    /// The key in hexadecimal digits, for a file that only its owner can read.
    pub fn text(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let key = Key::new(std::array::from_fn(|at| at as u8 * 7));
        assert_eq!(Key::parse(&format!(" {}\n", key.text())), Ok(key.clone()));
        assert_eq!(format!("{key:?}"), "Key(…)");
        for wrong in ["", "00", &"g".repeat(64), &"é".repeat(32), &"0".repeat(65)] {
            assert_eq!(Key::parse(wrong), Err(NoKey));
        }
    }
}
