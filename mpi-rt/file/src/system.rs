//! The system calls on files, and the error classes for what they answer (MPI-5.0, section 14.7).

use crate::access_mode::{AccessMode, bit};
use crate::in_use;
use alloc::vec::Vec;
use lwk_mpi_core::error::{Error, Result};
use lwk_place::WorldRank;
use lwk_user::Errno;
use lwk_user::abi::syscall::{errno, linux};
use lwk_user::syscall::raw;

/// Linux's bits of `open(2)`, `lseek(2)` and `openat(2)`.
const WRITE_ONLY: u64 = 1;
const READ_WRITE: u64 = 2;
const CREATE: u64 = 0o100;
const EXCLUSIVE: u64 = 0o200;
const CLOSE_ON_EXEC: u64 = 0o2_000_000;
const SEEK_END: u64 = 2;
const CURRENT_FOLDER: u64 = -100i64 as u64;

/// Most bytes of a path with its NUL.
const PATH_MAX: usize = 4096;

/// Words of Linux's `struct stat`, the places of the file's number and mode, and what the mode of a regular file is.
const STAT_WORDS: usize = 18;
const STAT_NUMBER: usize = 1;
const STAT_MODE: usize = 3;
const TYPE_MASK: u64 = 0o170_000;
const REGULAR: u64 = 0o100_000;

/// An open file of this rank, which all ranks can see; closed when dropped.
#[derive(Debug)]
pub(super) struct Descriptor(u64);

/// A call that touches no memory but what its arguments name.
///
/// # Safety
/// The memory that the arguments name must be readable or writable, as the call needs it.
unsafe fn call(number: u64, arguments: [u64; 6]) -> Result<u64> {
    loop {
        // SAFETY: the memory that the arguments name is readable or writable, as the call needs it (this
        // function's contract).
        match Errno::check(unsafe { raw(number, arguments) }) {
            Err(Errno::EINTR) => {}
            Err(error) if i64::from(error.number()) == errno::EFBIG && limit() != UNLIMITED => {
                return Err(Error::QUOTA);
            }
            answer => return answer.map_err(class),
        }
    }
}

/// The limit of a rank that has none.
const UNLIMITED: u64 = u64::MAX;

/// Bytes that this rank's files may have (`RLIMIT_FSIZE`). A file that is too large for that is so by what the rank has been granted, not by what the file system
/// takes.
#[cold]
pub(super) fn limit() -> u64 {
    limits(None).map_or(UNLIMITED, |limits| limits[0])
}

/// The limits of this rank's files that hold, and up to which it may set them; which are set, if any are given.
fn limits(new: Option<[u64; 2]>) -> Option<[u64; 2]> {
    const FILE_BYTES: u64 = 1;
    let mut old = [UNLIMITED; 2];
    let new = new.as_ref().map_or(0, |new| new.as_ptr().expose_provenance() as u64);
    let arguments = [0, FILE_BYTES, new, old.as_mut_ptr().expose_provenance() as u64, 0, 0];
    // SAFETY: the call writes two words, and reads two if it is given any.
    let told = Errno::check(unsafe { raw(linux::PRLIMIT64, arguments) });
    told.is_ok().then_some(old)
}

/// Does something for a rank with a limit of its own, which has been looked at: this rank's does not hold meanwhile, as far as it may lift it.
pub(super) fn beyond_limit<R>(work: impl FnOnce() -> R) -> R {
    let held = limits(None).filter(|[limit, most]| limit < most);
    if let Some([_, most]) = held {
        limits(Some([most, most]));
    }
    let outcome = work();
    if held.is_some() {
        limits(held);
    }
    outcome
}

/// The class of a system's error.
pub(super) fn class(error: Errno) -> Error {
    match i64::from(error.number()) {
        errno::ENOENT => Error::NO_SUCH_FILE,
        errno::EEXIST => Error::FILE_EXISTS,
        errno::ENAMETOOLONG | errno::ENOTDIR | errno::EISDIR | errno::ELOOP => Error::BAD_FILE,
        errno::EACCES | errno::EPERM => Error::ACCESS,
        errno::EROFS => Error::READ_ONLY,
        errno::ENOSPC | errno::EFBIG => Error::NO_SPACE,
        errno::EDQUOT => Error::QUOTA,
        errno::EBUSY | errno::ETXTBSY => Error::FILE_IN_USE,
        errno::ENOMEM => Error::NO_MEM,
        errno::EFAULT => Error::BUFFER,
        _ => Error::IO,
    }
}

/// A file's name as the system takes it: absolute, so that it means the same after the current folder has changed, with its NUL. Errors:
/// `BAD_FILE` if it is empty or too long; those of the current folder.
pub(super) fn absolute(name: &[u8]) -> Result<Vec<u8>> {
    if name.is_empty() || name.len() >= PATH_MAX || name.contains(&0) {
        return Err(Error::BAD_FILE);
    }
    let mut path = Vec::new();
    path.try_reserve_exact(2 * PATH_MAX).map_err(|_| Error::NO_MEM)?;
    if name.first() != Some(&b'/') {
        path.resize(PATH_MAX, 0);
        let arguments = [path.as_mut_ptr().expose_provenance() as u64, PATH_MAX as u64, 0, 0, 0, 0];
        // SAFETY: the call writes at most as many bytes as the vector has.
        let length = unsafe { call(linux::GETCWD, arguments)? };
        // The length counts the NUL.
        path.truncate((length as usize).saturating_sub(1));
        path.push(b'/');
    }
    path.extend_from_slice(name);
    if path.len() >= PATH_MAX {
        return Err(Error::BAD_FILE);
    }
    path.push(0);
    Ok(path)
}

/// Removes the name of a file that no rank within reach has open, or of a link. Errors: `FILE_IN_USE`; the classes of `lstat(2)` and `unlink(2)`.
pub(super) fn delete(path: &[u8], reaches: impl Fn(WorldRank) -> bool) -> Result<()> {
    let mut stat = Stat::new();
    // SAFETY: the call only reads the path, which ends with a NUL, and writes the structure.
    unsafe { call(linux::LSTAT, [terminated(path)?, stat.address(), 0, 0, 0, 0])? };
    if in_use::is_open(stat.number(), reaches) { Err(Error::FILE_IN_USE) } else { unlink(path) }
}

/// Removes a file's name. Errors: the classes of `unlink(2)`.
pub(super) fn unlink(path: &[u8]) -> Result<()> {
    let path = terminated(path)?;
    // SAFETY: the call only reads the path, which ends with a NUL.
    unsafe { call(linux::UNLINK, [path, 0, 0, 0, 0, 0]).map(drop) }
}

/// The address of a path that ends with a NUL.
fn terminated(path: &[u8]) -> Result<u64> {
    if path.last() == Some(&0) { Ok(path.as_ptr().expose_provenance() as u64) } else { Err(Error::INTERN) }
}

/// What the system tells of a file.
struct Stat([u64; STAT_WORDS]);

impl Stat {
    fn new() -> Stat {
        Stat([0; STAT_WORDS])
    }

    /// Where a call writes it.
    fn address(&mut self) -> u64 {
        self.0.as_mut_ptr().expose_provenance() as u64
    }

    fn number(&self) -> u64 {
        self.0[STAT_NUMBER]
    }

    fn is_regular(&self) -> bool {
        self.0[STAT_MODE] & TYPE_MASK == REGULAR
    }
}

impl Descriptor {
    /// Opens a file, and makes it if the mode says so and `create` does. `permissions` are a new file's. Errors: the classes of `open(2)`.
    pub fn open(path: &[u8], mode: AccessMode, create: bool, permissions: u32) -> Result<Descriptor> {
        let mut flags = CLOSE_ON_EXEC;
        flags |= if mode.has(bit::WRONLY) { WRITE_ONLY } else { 0 };
        flags |= if mode.has(bit::RDWR) { READ_WRITE } else { 0 };
        flags |= if create && mode.has(bit::CREATE) { CREATE } else { 0 };
        flags |= if create && mode.has(bit::EXCL) { EXCLUSIVE } else { 0 };
        let arguments = [CURRENT_FOLDER, terminated(path)?, flags, u64::from(permissions), 0, 0];
        // SAFETY: the call only reads the path, which ends with a NUL.
        unsafe { call(linux::OPENAT, arguments).map(Descriptor) }
    }

    /// The file's number, the same in every rank. Errors: `BAD_FILE` for what is no regular file.
    pub fn number(&self) -> Result<u64> {
        let mut stat = Stat::new();
        // SAFETY: the call writes the structure.
        unsafe { call(linux::FSTAT, [self.0, stat.address(), 0, 0, 0, 0])? };
        if stat.is_regular() { Ok(stat.number()) } else { Err(Error::BAD_FILE) }
    }

    /// Lets all ranks see that this one has the file open. Errors: as for [`Descriptor::number`].
    pub fn show(&self) -> Result<()> {
        in_use::opened(self.0, self.number()?);
        Ok(())
    }

    /// From now on this rank does not count as having the file open.
    pub fn hide(&self) {
        in_use::closed(self.0);
    }

    /// Bytes of the file. Errors: the classes of `lseek(2)`.
    pub fn size(&self) -> Result<u64> {
        // SAFETY: no memory is involved.
        unsafe { call(linux::LSEEK, [self.0, 0, SEEK_END, 0, 0, 0]) }
    }

    /// Cuts the file to a size, or makes it longer with zeros. Errors: `NO_SPACE`, and the other classes of `ftruncate(2)`.
    pub fn set_size(&self, bytes: u64) -> Result<()> {
        // SAFETY: no memory is involved.
        unsafe { call(linux::FTRUNCATE, [self.0, bytes, 0, 0, 0, 0]).map(drop) }
    }

    /// Makes sure that there is space for the first bytes of the file. Errors: `NO_SPACE`, and the other classes of `fallocate(2)`.
    pub fn allocate(&self, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: no memory is involved.
        unsafe { call(linux::FALLOCATE, [self.0, 0, 0, bytes, 0, 0]).map(drop) }
    }

    /// What has been written is where it belongs. Errors: the classes of `fsync(2)`.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: no memory is involved.
        unsafe { call(linux::FSYNC, [self.0, 0, 0, 0, 0, 0]).map(drop) }
    }

    /// Reads at a place in the file until there is no more; how many bytes. Errors: the classes of `pread(2)`.
    ///
    /// # Safety
    /// `bytes` bytes must be writable at `target`.
    pub unsafe fn read(&self, target: *mut u8, bytes: u64, offset: u64) -> Result<u64> {
        // SAFETY: `target` is writable for `bytes` (this function's contract).
        unsafe { self.each(linux::PREAD64, target, bytes, offset) }
    }

    /// Writes at a place in the file. Errors: `NO_SPACE` and others; then some of it may have been written.
    ///
    /// # Safety
    /// `bytes` bytes must be readable at `source`.
    pub unsafe fn write(&self, source: *const u8, bytes: u64, offset: u64) -> Result<()> {
        // SAFETY: `source` is readable for `bytes` (this function's contract); the call only reads.
        let done = unsafe { self.each(linux::PWRITE64, source.cast_mut(), bytes, offset)? };
        if done == bytes { Ok(()) } else { Err(Error::IO) }
    }

    /// Repeats a call until it has moved everything or nothing more.
    ///
    /// # Safety
    /// `memory` must be readable or writable, as the call needs it, for `bytes`.
    unsafe fn each(&self, number: u64, memory: *mut u8, bytes: u64, offset: u64) -> Result<u64> {
        let mut done = 0;
        while done < bytes {
            let at = memory.wrapping_add(done as usize).expose_provenance() as u64;
            // SAFETY: `memory` is readable or writable for `bytes` (this function's contract); the call gets
            // what is left of them.
            match unsafe { call(number, [self.0, at, bytes - done, offset + done, 0, 0])? } {
                0 => break,
                moved => done += moved,
            }
        }
        Ok(done)
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        self.hide();
        // SAFETY: no memory is involved. Nothing is buffered, so that an error could not concern anything written.
        let _ = unsafe { call(linux::CLOSE, [self.0, 0, 0, 0, 0, 0]) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_files_has_its_error_numbers() {
        let class = |number: i64| Errno::check(-number).map_err(class);
        let expected = [
            (errno::ENOENT, Error::NO_SUCH_FILE),
            (errno::EEXIST, Error::FILE_EXISTS),
            (errno::ENAMETOOLONG, Error::BAD_FILE),
            (errno::EISDIR, Error::BAD_FILE),
            (errno::EACCES, Error::ACCESS),
            (errno::EROFS, Error::READ_ONLY),
            (errno::ENOSPC, Error::NO_SPACE),
            (errno::EDQUOT, Error::QUOTA),
            (errno::ETXTBSY, Error::FILE_IN_USE),
            (errno::EIO, Error::IO),
        ];
        for (number, wanted) in expected {
            assert_eq!(class(number), Err(wanted), "{number}");
        }
    }
}
