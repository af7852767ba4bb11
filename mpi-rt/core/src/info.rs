//! Info objects: hints and facts by name (MPI-5.0, chapter 10). They may be used before the runtime starts and after it has ended.

use crate::abi::{INFO_ENV, INFO_NULL};
use crate::error::{Error, Result};
use crate::handle::{Handle, Kind, Table};
use crate::local::RankLocal;
use alloc::string::ToString;
use alloc::vec::Vec;

/// Bytes of a key and of a value, each with the NUL that ends it: the binary interface's `MPI_MAX_INFO_KEY` and `MPI_MAX_INFO_VAL`.
pub const MAX_KEY: usize = 256;
pub const MAX_VALUE: usize = 1024;

/// Keys and values, in the order in which the keys came.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Info(Vec<(Vec<u8>, Vec<u8>)>);

static INFOS: RankLocal<Table<Info>> = RankLocal::new(Table::of(Kind::Info));

impl Info {
    /// No keys.
    pub const fn new() -> Info {
        Info(Vec::new())
    }

    /// The value of a key. Spaces around both do not count (MPI-5.0, chapter 10). Errors: `INFO_KEY`.
    pub fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let key = valid_key(key)?;
        Ok(self.0.iter().find(|(it, _)| it == key).map(|(_, value)| value.as_slice()))
    }

    /// Sets a key. Errors: `INFO_KEY`, `INFO_VALUE`.
    pub fn set(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let key = valid_key(key)?;
        let value = value.trim_ascii();
        if value.len() >= MAX_VALUE {
            return Err(Error::INFO_VALUE);
        }
        match self.0.iter_mut().find(|(it, _)| it == key) {
            Some((_, old)) => *old = value.to_vec(),
            None => self.0.push((key.to_vec(), value.to_vec())),
        }
        Ok(())
    }

    /// Takes a key out. Errors: `INFO_KEY`; `INFO_NOKEY` if it is not there.
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        let key = valid_key(key)?;
        let place = self.0.iter().position(|(it, _)| it == key).ok_or(Error::INFO_NOKEY)?;
        self.0.remove(place);
        Ok(())
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key with that number, in the order in which they came. Errors: `ARG`.
    pub fn key(&self, number: i32) -> Result<&[u8]> {
        let entry = usize::try_from(number).ok().and_then(|number| self.0.get(number));
        entry.map(|(key, _)| key.as_slice()).ok_or(Error::ARG)
    }

    /// Only those keys.
    pub fn only(&self, keys: &[&[u8]]) -> Info {
        Info(self.0.iter().filter(|(key, _)| keys.contains(&key.as_slice())).cloned().collect())
    }

    /// Takes over the keys of another.
    pub fn merge(&mut self, other: &Info) {
        for (key, value) in &other.0 {
            // Keys and values of an info object are valid.
            let _ = self.set(key, value);
        }
    }
}

/// Errors: `INFO_KEY` if it is empty or too long.
fn valid_key(key: &[u8]) -> Result<&[u8]> {
    let key = key.trim_ascii();
    if key.is_empty() || key.len() >= MAX_KEY { Err(Error::INFO_KEY) } else { Ok(key) }
}

fn with<R>(call: impl FnOnce(&mut Table<Info>) -> Result<R>) -> Result<R> {
    INFOS.try_with(call).unwrap_or(Err(Error::INTERN))
}

/// Gives an info object a handle.
pub fn insert(info: Info) -> Result<Handle> {
    with(|infos| Ok(infos.insert(info)))
}

/// Frees an info object. Errors: `INFO`, also for predefined ones.
pub fn free(info: Handle) -> Result<()> {
    with(|infos| infos.remove(info).map(|_| ()).ok_or(Error::INFO))
}

/// What is in an info object. Errors: `INFO`, also for the null object.
pub fn content(info: Handle) -> Result<Info> {
    if info.0 == INFO_ENV {
        return environment(&[]);
    }
    with(|infos| infos.get(info).cloned().ok_or(Error::INFO))
}

/// What is in an info object that may be null, which is empty: an argument of hints. Errors: `INFO`.
pub fn hints(info: Handle) -> Result<Info> {
    if info.0 == INFO_NULL { Ok(Info::new()) } else { content(info) }
}

/// Changes an info object. Errors: `INFO`, also for the predefined one; what `change` returns.
pub fn change<R>(info: Handle, change: impl FnOnce(&mut Info) -> Result<R>) -> Result<R> {
    with(|infos| change(infos.get_mut(info).ok_or(Error::INFO)?))
}

/// The key of the level of thread support, and the only value that it has: a rank is one thread.
pub const THREAD_LEVEL: &[u8] = b"thread_level";
pub const THREAD_LEVEL_PROVIDED: &[u8] = b"MPI_THREAD_SINGLE";

/// How the program was started (MPI-5.0, section 10.3), as far as there is something to say: `arguments` are its own, the first its name.
pub fn environment(arguments: &[&[u8]]) -> Result<Info> {
    let mut info = Info::new();
    if let [command, rest @ ..] = arguments {
        let cut = |text: &[u8]| text[..text.len().min(MAX_VALUE - 1)].to_vec();
        info.set(b"command", &cut(command))?;
        info.set(b"argv", &cut(&rest.join(&b' ')))?;
    }
    lwk_user::start::require_job();
    info.set(b"maxprocs", lwk_user::job().size().to_string().as_bytes())?;
    info.set(b"arch", b"x86_64")?;
    info.set(THREAD_LEVEL, THREAD_LEVEL_PROVIDED)?;
    Ok(info)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn keys_keep_their_order_and_spaces_around_do_not_count() {
        let mut info = Info::new();
        assert_eq!(info.set(b" a ", b" 1 2 "), Ok(()));
        assert_eq!(info.set(b"b", b"x"), Ok(()));
        assert_eq!(info.set(b"a", b""), Ok(()));
        assert_eq!((info.len(), info.key(0), info.key(1)), (2, Ok(&b"a"[..]), Ok(&b"b"[..])));
        assert_eq!((info.key(2), info.key(-1)), (Err(Error::ARG), Err(Error::ARG)));
        assert_eq!((info.get(b"a"), info.get(b"c")), (Ok(Some(&b""[..])), Ok(None)));
        assert_eq!((info.delete(b"a"), info.delete(b"a")), (Ok(()), Err(Error::INFO_NOKEY)));
        assert_eq!(info.key(0), Ok(&b"b"[..]));
    }

    #[test]
    fn limits_are_those_of_the_binary_interface() {
        let mut info = Info::new();
        let (key, value) = (vec![b'k'; MAX_KEY], vec![b'v'; MAX_VALUE]);
        assert_eq!(info.set(&key[1..], &value[1..]), Ok(()));
        assert_eq!(info.get(&key[1..]), Ok(Some(&value[1..])));
        assert_eq!(info.set(&key, b"1"), Err(Error::INFO_KEY));
        assert_eq!((info.set(b"", b"1"), info.get(b" ")), (Err(Error::INFO_KEY), Err(Error::INFO_KEY)));
        assert_eq!(info.set(b"k", &value), Err(Error::INFO_VALUE));
    }

    #[test]
    fn objects_are_their_own() {
        let Ok(first) = insert(Info::new()) else { panic!("a handle") };
        assert_eq!(change(first, |it| it.set(b"k", b"1")), Ok(()));
        let second = content(first).and_then(insert);
        assert_eq!(change(first, |it| it.set(b"k", b"2")), Ok(()));
        let value =
            second.and_then(content).and_then(|it| it.get(b"k").map(|value| value.map(<[u8]>::to_vec)));
        assert_eq!(value, Ok(Some(b"1".to_vec())));
        assert_eq!((free(first), free(first)), (Ok(()), Err(Error::INFO)));
        assert_eq!(content(Handle(INFO_NULL)), Err(Error::INFO));
        assert_eq!(hints(Handle(INFO_NULL)), Ok(Info::new()));
        assert_eq!(free(Handle(INFO_ENV)), Err(Error::INFO));
    }
}
