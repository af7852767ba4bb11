//! Error classes and codes that a program adds to the standard's own (MPI-5.0, section 9.5), and the texts of all.
//!
//! They may be used before the runtime starts and after it has ended, so they are not the engine's. Numbers of removed classes and
//! codes are not used again.

use crate::error::{Error, LAST_CODE, Result};
use crate::local::RankLocal;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

/// Bytes of an error's text, with the NUL that ends it: the binary interface's `MPI_MAX_ERROR_STRING`.
pub const MAX_TEXT: usize = 512;

struct Added {
    /// Its own code, if it is a class.
    class: i32,
    text: Vec<u8>,
}

struct Codes {
    last: i32,
    added: BTreeMap<i32, Added>,
}

static CODES: RankLocal<Codes> = RankLocal::new(Codes { last: LAST_CODE, added: BTreeMap::new() });

fn with<R>(call: impl FnOnce(&mut Codes) -> Result<R>) -> Result<R> {
    CODES.try_with(call).unwrap_or(Err(Error::INTERN))
}

impl Codes {
    fn add(&mut self, class: impl FnOnce(i32) -> i32) -> Result<i32> {
        let code = self.last.checked_add(1).ok_or(Error::INTERN)?;
        self.last = code;
        self.added.insert(code, Added { class: class(code), text: Vec::new() });
        Ok(code)
    }
}

/// A new class. Its code is itself. Errors: `INTERN` when there are no more numbers.
pub fn add_class() -> Result<i32> {
    with(|codes| codes.add(|code| code))
}

/// A new code of a class, the standard's or an added one. Errors: `ARG` if there is no such class.
pub fn add_code(class: i32) -> Result<i32> {
    if class_of(class) != Some(class) {
        return Err(Error::ARG);
    }
    with(|codes| codes.add(|_| class))
}

/// Gives an added class or code a text, cut to what the binary interface allows. Errors: `ARG` if it has not been added.
pub fn add_text(code: i32, text: &[u8]) -> Result<()> {
    with(|codes| {
        let added = codes.added.get_mut(&code).ok_or(Error::ARG)?;
        added.text = text[..text.len().min(MAX_TEXT - 1)].to_vec();
        Ok(())
    })
}

/// Removes an added class. Errors: `ARG` if it has not been added or still has codes.
pub fn remove_class(class: i32) -> Result<()> {
    with(|codes| {
        let is_class = codes.added.get(&class).is_some_and(|it| it.class == class);
        let has_codes = codes.added.iter().any(|(code, it)| it.class == class && *code != class);
        if !is_class || has_codes {
            return Err(Error::ARG);
        }
        codes.added.remove(&class);
        Ok(())
    })
}

/// Removes an added code. Errors: `ARG` if it has not been added, or is a class.
pub fn remove_code(code: i32) -> Result<()> {
    with(|codes| {
        if codes.added.get(&code).is_none_or(|it| it.class == code) {
            return Err(Error::ARG);
        }
        codes.added.remove(&code);
        Ok(())
    })
}

/// Takes the text of an added class or code away. Errors: `ARG` if it has not been added or has none.
pub fn remove_text(code: i32) -> Result<()> {
    with(|codes| match codes.added.get_mut(&code) {
        Some(added) if !added.text.is_empty() => {
            added.text = Vec::new();
            Ok(())
        }
        _ => Err(Error::ARG),
    })
}

/// The class of a code; 0, success, is its own. `None` if there is no such code.
pub fn class_of(code: i32) -> Option<i32> {
    if code == 0 {
        return Some(0);
    }
    if code == Error::ORDER.code() {
        return Some(Error::OTHER.code());
    }
    if code <= LAST_CODE {
        return Error::from_class(code).map(Error::code);
    }
    with(|codes| Ok(codes.added.get(&code).map(|added| added.class))).ok().flatten()
}

/// The text of a code: empty if it has been added without one. That of a code which nobody has made, as a program's callback may return,
/// is the text of `UNKNOWN`, as its class is ([`Error::class`]). Errors: `INTERN`.
pub fn text(code: i32) -> Result<Vec<u8>> {
    if code == 0 {
        return Ok(b"no error".to_vec());
    }
    let own = if code == Error::ORDER.code() { Some(Error::ORDER) } else { Error::from_class(code) };
    if let Some(error) = own {
        return Ok(error.text().as_bytes().to_vec());
    }
    with(|codes| {
        Ok(codes.added.get(&code).map_or(Error::UNKNOWN.text().as_bytes(), |added| &added.text).to_vec())
    })
}

/// The largest code in use, the attribute `MPI_LASTUSEDCODE`: it never falls.
pub fn last_used() -> i32 {
    with(|codes| Ok(codes.last)).unwrap_or(LAST_CODE)
}

impl Error {
    /// The class of the code: the engine's codes are classes, a program's are looked up.
    pub fn class(self) -> i32 {
        class_of(self.code()).unwrap_or(Error::UNKNOWN.code())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} (MPI error class {})", self.text(), self.class())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_the_standard_has_its_own_text() {
        let mut texts = Vec::new();
        for class in 1..=62 {
            let text = text(class).unwrap_or_default();
            assert!(!text.is_empty() && !texts.contains(&text), "class {class}");
            assert_eq!(class_of(class), Some(class));
            texts.push(text);
        }
        let order = Error::ORDER.code();
        assert_eq!(class_of(order), Some(Error::OTHER.code()));
        assert!(text(order) != text(Error::OTHER.code()) && add_code(order) == Err(Error::ARG));
    }

    #[test]
    fn added_classes_and_codes_come_and_go() {
        // One test for all that looks into the table: it is of one rank, and so of one thread.
        let unknown = text(Error::UNKNOWN.code());
        for code in [63, -1, LAST_CODE, i32::MAX] {
            assert_eq!((class_of(code), text(code)), (None, unknown.clone()));
            assert_eq!(Error::from_code(code).map(Error::class), Some(Error::UNKNOWN.code()));
        }
        let class = add_class().unwrap_or_default();
        assert_eq!((class, last_used()), (LAST_CODE + 1, LAST_CODE + 1));
        let code = add_code(class).unwrap_or_default();
        let other = add_code(Error::ARG.code()).unwrap_or_default();
        assert_eq!((class_of(class), class_of(code)), (Some(class), Some(class)));
        assert_eq!(class_of(other), Some(Error::ARG.code()));
        assert_eq!(add_code(code), Err(Error::ARG), "a code is not a class");
        assert_eq!(text(code), Ok(Vec::new()));
        assert_eq!(add_text(code, b"mine"), Ok(()));
        assert_eq!(text(code), Ok(b"mine".to_vec()));
        assert_eq!(
            add_text(code, &[b'x'; 2000]).and_then(|()| text(code)).map(|it| it.len()),
            Ok(MAX_TEXT - 1)
        );
        assert_eq!(add_text(Error::ARG.code(), b"mine"), Err(Error::ARG));
        assert_eq!(remove_class(class), Err(Error::ARG), "it has a code");
        assert_eq!(remove_code(class), Err(Error::ARG), "it is a class");
        assert_eq!((remove_text(code), remove_text(code)), (Ok(()), Err(Error::ARG)));
        assert_eq!((remove_code(code), remove_code(code)), (Ok(()), Err(Error::ARG)));
        assert_eq!((remove_class(class), remove_class(class)), (Ok(()), Err(Error::ARG)));
        assert_eq!((class_of(class), class_of(code), last_used()), (None, None, other));
        assert_eq!(remove_class(Error::COMM.code()), Err(Error::ARG));
    }
}
