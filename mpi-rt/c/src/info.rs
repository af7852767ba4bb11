//! Info objects (MPI-5.0, chapter 10).

use crate::types::{Info, array, give, text, value};
use crate::{conversions, mpi};
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int};
use lwk_mpi_rt::abi::INFO_NULL;
use lwk_mpi_rt::info::{self, MAX_KEY};
use lwk_mpi_rt::{Error, Handle, Result, hardware};

/// A key or value; a null pointer is none.
///
/// # Safety
/// `place` must be null or lead to a text that ends with a zero.
unsafe fn part<'a>(place: *const c_char, wrong: Error) -> Result<&'a [u8]> {
    // SAFETY: `place` is null or leads to a text that ends with a zero (this function's contract).
    unsafe { text(place) }.map_err(|_| wrong)
}

/// Writes as much of a text as `room` bytes take with the closing zero.
///
/// # Safety
/// `place` must be writable for `room` bytes, if that is not 0.
unsafe fn write(place: *mut u8, room: usize, text: &[u8]) {
    let Some(most) = room.checked_sub(1) else { return };
    let text = &text[..text.len().min(most)];
    // SAFETY: `place` is writable for `room` bytes (this function's contract); text and zero are at most
    // that, cut above.
    unsafe {
        place.copy_from_nonoverlapping(text.as_ptr(), text.len());
        place.add(text.len()).write(0);
    }
}

mpi! {
    fn Info_create(info: *mut Info) on Nothing {
        give(info, info::insert(info::Info::new())?.0)
    }

    /// How the program was started; `argv` is that of `main`.
    fn Info_create_env(argc: c_int, argv: *const *const c_char, info: *mut Info) on Nothing {
        let arguments = if argv.is_null() { &[] } else { array(argv, argc)? };
        let arguments: Vec<&[u8]> = arguments
            .iter()
            .filter(|argument| !argument.is_null())
            .map(|argument| CStr::from_ptr(*argument).to_bytes())
            .collect();
        give(info, info::insert(info::environment(&arguments)?)?.0)
    }

    fn Info_dup(info: Info, newinfo: *mut Info) on Nothing {
        give(newinfo, info::insert(info::content(Handle(info))?)?.0)
    }

    fn Info_free(info: *mut Info) on Nothing {
        let handle = value(info)?;
        info::free(Handle(handle))?;
        conversions::forget(handle);
        give(info, INFO_NULL)
    }

    fn Info_set(info: Info, key: *const c_char, word: *const c_char) on Nothing {
        let (key, word) = (part(key, Error::INFO_KEY)?, part(word, Error::INFO_VALUE)?);
        info::change(Handle(info), |it| it.set(key, word))
    }

    fn Info_delete(info: Info, key: *const c_char) on Nothing {
        let key = part(key, Error::INFO_KEY)?;
        info::change(Handle(info), |it| it.delete(key))
    }

    fn Info_get(info: Info, key: *const c_char, valuelen: c_int, word: *mut u8, flag: *mut c_int) on Nothing {
        let content = info::content(Handle(info))?;
        let found = content.get(part(key, Error::INFO_KEY)?)?;
        let room = usize::try_from(valuelen).map_err(|_| Error::ARG)?;
        if let Some(found) = found {
            if word.is_null() {
                return Err(Error::INFO_VALUE);
            }
            // `valuelen` does not count the closing zero.
            write(word, room + 1, found);
        }
        give(flag, found.is_some() as c_int)
    }

    /// `buflen` counts the closing zero, going in and coming out; 0 going in asks for the length only.
    fn Info_get_string(info: Info, key: *const c_char, buflen: *mut c_int, word: *mut u8, flag: *mut c_int) on Nothing {
        let content = info::content(Handle(info))?;
        let found = content.get(part(key, Error::INFO_KEY)?)?;
        let room = usize::try_from(value(buflen)?).map_err(|_| Error::ARG)?;
        if let Some(found) = found {
            if word.is_null() && room > 0 {
                return Err(Error::INFO_VALUE);
            }
            write(word, room, found);
            give(buflen, found.len() as c_int + 1)?;
        }
        give(flag, found.is_some() as c_int)
    }

    fn Info_get_valuelen(info: Info, key: *const c_char, valuelen: *mut c_int, flag: *mut c_int) on Nothing {
        let content = info::content(Handle(info))?;
        let found = content.get(part(key, Error::INFO_KEY)?)?;
        if let Some(found) = found {
            give(valuelen, found.len() as c_int)?;
        }
        give(flag, found.is_some() as c_int)
    }

    fn Info_get_nkeys(info: Info, nkeys: *mut c_int) on Nothing {
        give(nkeys, info::content(Handle(info))?.len() as c_int)
    }

    fn Info_get_nthkey(info: Info, n: c_int, key: *mut u8) on Nothing {
        let content = info::content(Handle(info))?;
        let found = content.key(n)?;
        if key.is_null() {
            return Err(Error::INFO_KEY);
        }
        write(key, MAX_KEY, found);
        Ok(())
    }

    fn Get_hw_resource_info(hw_info: *mut Info) on Nothing {
        give(hw_info, info::insert(hardware::resources()?)?.0)
    }
}
