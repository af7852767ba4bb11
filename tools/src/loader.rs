//! How a program that is started by its file finds this command, which runs it as a job of one rank: its path is recorded in the copies of
//! libraries and programs that are installed (`lwk_user`'s start-up reads it there).

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use lwk_abi::runtime::{LOADER_BYTES, LOADER_MARK};

use crate::cc;
use crate::failure::{Doing, Failure, Outcome};

/// The command's name in the folder of programs of an installation.
pub const COMMAND: &str = "margay";
/// The names by which it is called as other MPIs' launchers are.
pub const LAUNCHERS: [&str; 3] = ["mpiexec", "mpirun", "oshrun"];

/// Copies a library or a program, unless that has been done, and records in it the command of the folder `bin`, an absolute path.
///
/// # Errors
/// The file cannot be copied, has no place for the path, or the path is too long.
pub fn copy(from: &Path, to: &Path, bin: &Path) -> Outcome<()> {
    if cc::is_copy(from, to)? {
        return Ok(());
    }
    let mut bytes = fs::read(from).doing(|| format!("read {}", from.display()))?;
    let path = bin.join(COMMAND);
    if !record(&mut bytes, path.as_os_str().as_bytes())? {
        return Err(Failure::host(format!("{} has no place for the path of {COMMAND}", from.display())));
    }
    cc::replace(to, &bytes)?;
    let mode = from.metadata().doing(|| format!("read {}", from.display()))?.permissions();
    fs::set_permissions(to, mode).doing(|| format!("change the mode of {}", to.display()))
}

/// Writes `path` wherever there is a place for it; whether there is one.
fn record(bytes: &mut [u8], path: &[u8]) -> Outcome<bool> {
    if path.len() >= LOADER_BYTES {
        return Err(Failure::usage("the path of the folder is too long; choose another"));
    }
    let (mut at, mut found) = (0, false);
    while let Some(next) = bytes[at..].windows(LOADER_MARK.len()).position(|piece| piece == LOADER_MARK) {
        at += next + LOADER_MARK.len();
        if let Some(place) = bytes.get_mut(at..at + LOADER_BYTES) {
            place.fill(0);
            place[..path.len()].copy_from_slice(path);
            found = true;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_written_over_an_earlier_one() {
        let mut bytes = [&b"front"[..], &LOADER_MARK, &[0; LOADER_BYTES], b"back"].concat();
        assert!(record(&mut bytes, b"/a/longer/path").unwrap() && record(&mut bytes, b"/b").unwrap());
        let rest = [&b"front"[..], &LOADER_MARK, b"/b", &[0; LOADER_BYTES - 2], b"back"].concat();
        assert_eq!(bytes, rest);
        assert!(!record(&mut b"nothing".to_vec(), b"/b").unwrap());
        assert_eq!(record(&mut bytes, &[b'x'; LOADER_BYTES]).unwrap_err().status, 2);
    }
}
