//! Calls on files by their path: opening, asking about access, removing, renaming.

use lwk_abi::syscall::at::{CURRENT_FOLDER, NO_FOLLOW};
use lwk_abi::syscall::errno::{
    EACCES, EBADF, EEXIST, EFAULT, EFBIG, EINVAL, EISDIR, ELOOP, ENAMETOOLONG, ENODEV, ENOENT, ENOSPC,
    ENOTDIR, ENOTTY, ENXIO, EOPNOTSUPP, ESPIPE,
};
use lwk_abi::syscall::open as open_flag;
use lwk_abi::syscall::open::PATH_ONLY;
use lwk_files::{Files, Kind, NodeId, PAGE_BYTES, PATH_MAX, Pages, Special};

use crate::descriptors::Target;
use crate::machine::{Clock, Machine};
use crate::process::Process;
use crate::{Answer, Errno};

/// What `creat(2)` opens with: writable, created, truncated.
pub const CREATE_TRUNCATED: u32 = 1 | open_flag::CREATE | open_flag::TRUNCATE;

/// A path of the program's, copied.
pub struct Path {
    bytes: [u8; PATH_MAX],
    used: usize,
}

/// User memory is readable or not by pages, so what is left of one of these blocks is read at once.
const BLOCK_BYTES: u64 = 256;

impl Path {
    /// Copies the string at `address`, up to its NUL.
    ///
    /// # Errors
    /// `EFAULT`; `ENAMETOOLONG` if [`PATH_MAX`] bytes have no NUL.
    pub fn read<M: Machine>(machine: &M, address: u64) -> Result<Path, Errno> {
        let mut path = Path { bytes: [0; PATH_MAX], used: 0 };
        loop {
            let at = address.checked_add(path.used as u64).ok_or(Errno(EFAULT))?;
            let room =
                path.bytes.get_mut(path.used..).filter(|room| !room.is_empty()).ok_or(Errno(ENAMETOOLONG))?;
            let piece = ((BLOCK_BYTES - at % BLOCK_BYTES) as usize).min(room.len());
            let room = room.get_mut(..piece).ok_or(Errno(ENAMETOOLONG))?;
            machine.read(at, room)?;
            if let Some(end) = room.iter().position(|byte| *byte == 0) {
                path.used += end;
                return Ok(path);
            }
            path.used += piece;
        }
    }

    /// The path `/`.
    pub fn root() -> Path {
        Path { bytes: [b'/'; PATH_MAX], used: 1 }
    }

    /// Adds bytes to the path's end.
    ///
    /// # Errors
    /// `ENAMETOOLONG` beyond [`PATH_MAX`] bytes.
    pub fn push(&mut self, more: &[u8]) -> Result<(), Errno> {
        let end = self.used + more.len();
        self.bytes.get_mut(self.used..end).ok_or(Errno(ENAMETOOLONG))?.copy_from_slice(more);
        self.used = end;
        Ok(())
    }

    /// The path without its NUL.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.used).unwrap_or_default()
    }
}

impl Process {
    /// The folder that paths start from: that of a descriptor, or the current one. Absolute paths do not care.
    pub(crate) fn base(&self, folder: u32, path: &[u8]) -> Result<NodeId, Errno> {
        if path.first() == Some(&b'/') {
            return Ok(NodeId::ROOT);
        }
        if folder == CURRENT_FOLDER {
            return Ok(self.folder);
        }
        // As on Linux a path that names nothing is found out first. Calls that may mean the descriptor itself do not come here.
        if path.is_empty() {
            return Err(Errno(ENOENT));
        }
        match self.descriptors.get(folder)?.target {
            Target::Folder(id) => Ok(id),
            _ => Err(Errno(ENOTDIR)),
        }
    }

    /// `openat(2)` and its kin.
    #[inline(never)]
    pub(crate) fn open<M: Machine>(
        &mut self,
        machine: &M,
        folder: u32,
        path: u64,
        flags: u32,
        mode: u64,
    ) -> Answer {
        let path = Path::read(machine, path)?;
        let base = self.base(folder, path.bytes())?;
        self.descriptors.check_room()?;
        if flags & open_flag::UNNAMED != 0 {
            return Err(Errno(EOPNOTSUPP));
        }
        if flags & open_flag::ACCESS_MODE == open_flag::ACCESS_MODE {
            return Err(Errno(EINVAL));
        }
        let mode = mode as u16 & 0o7777 & !self.umask;
        let now = machine.clock(Clock::Real);
        let target = machine.files(|files| {
            let target = find_or_create(files, base, path.bytes(), flags, mode, now)?;
            target.node().map_or(Ok(()), |id| files.opened(id))?;
            Ok(target)
        })?;
        self.descriptors
            .open(target, flags & !(open_flag::CREATE | open_flag::EXCLUSIVE | open_flag::TRUNCATE))
    }

    /// `access(2)`, `faccessat(2)`: a rank may do what it likes with what is there, but for texts of the system, which nobody
    /// writes, and but for execution, which there is none of.
    #[inline(never)]
    pub(crate) fn access<M: Machine>(
        &mut self,
        machine: &M,
        folder: u32,
        path: u64,
        mode: u32,
        flags: u32,
    ) -> Answer {
        const EXECUTE: u32 = 1;
        const WRITE: u32 = 2;
        const ALL: u32 = 7;
        /// `AT_EACCESS`, `AT_SYMLINK_NOFOLLOW`, `AT_EMPTY_PATH`.
        const FLAGS: u32 = 0x200 | 0x100 | 0x1000;
        if mode & !ALL != 0 || flags & !FLAGS != 0 {
            return Err(Errno(EINVAL));
        }
        let path = Path::read(machine, path)?;
        let base = self.base(folder, path.bytes())?;
        let itself = flags & NO_FOLLOW != 0;
        let node =
            machine.files(|files| files.find_as(base, path.bytes(), itself).and_then(|id| files.node(id)))?;
        let special = Special::from_number(node.special);
        let is_text = node.kind == Kind::Special && special.is_some_and(|special| !special.is_device());
        let refused = mode & WRITE != 0 && is_text || mode & EXECUTE != 0 && node.kind != Kind::Folder;
        if refused { Err(Errno(EACCES)) } else { Ok(0) }
    }

    /// `truncate(2)`.
    #[inline(never)]
    pub(crate) fn truncate<M: Machine>(&mut self, machine: &M, path: u64, size: u64) -> Answer {
        let path = Path::read(machine, path)?;
        let base = self.base(CURRENT_FOLDER, path.bytes())?;
        let size = checked_size(size)?;
        let now = machine.clock(Clock::Real);
        machine.files(|files| {
            let id = files.find(base, path.bytes())?;
            let node = files.node(id)?;
            if node.kind == Kind::Folder {
                return Err(Errno(EISDIR));
            }
            self.limited_size(node.size, size)?;
            files.truncate(id, size, now)
        })?;
        Ok(0)
    }

    /// `ftruncate(2)`.
    pub(crate) fn truncate_open<M: Machine>(&mut self, machine: &M, fd: u32, size: u64) -> Answer {
        let description = *self.usable(fd)?;
        let Target::File(id) = description.target else { return Err(Errno(EINVAL)) };
        if !description.is_writable() {
            return Err(Errno(EINVAL));
        }
        let size = checked_size(size)?;
        let now = machine.clock(Clock::Real);
        machine.files(|files| {
            self.limited_size(files.node(id)?.size, size)?;
            files.truncate(id, size, now)
        })?;
        Ok(0)
    }

    /// `fallocate(2)` without a mode: there is memory for this part of the file, which is then at least as long.
    pub(crate) fn allocate<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        mode: u64,
        offset: u64,
        bytes: u64,
    ) -> Answer {
        let description = *self.usable(fd)?;
        let end = offset.checked_add(bytes).filter(|end| *end <= i64::MAX as u64);
        if bytes as i64 <= 0 || (offset as i64) < 0 {
            return Err(Errno(EINVAL));
        }
        if !description.is_writable() {
            return Err(Errno(EBADF));
        }
        if mode as u32 != 0 {
            return Err(Errno(EOPNOTSUPP));
        }
        let id = match description.target {
            Target::File(id) => id,
            Target::Input | Target::Output(_) | Target::Pipe(..) => return Err(Errno(ESPIPE)),
            Target::Folder(_) | Target::Special(..) => return Err(Errno(ENODEV)),
        };
        let end = end.ok_or(Errno(EFBIG))?;
        let now = machine.clock(Clock::Real);
        // Pages come into being as they are given out to be written; what is in them stays.
        let done = machine.files(|files| {
            let node = files.node(id)?;
            self.limited_size(node.size, end)?;
            // Refused before anything is filled up, though a little may be missing all the same.
            let most = (u64::from(files.capacity().1) + u64::from(node.page_count))
                .saturating_mul(PAGE_BYTES as u64);
            if bytes > most {
                return Err(Errno(ENOSPC));
            }
            files.write(id, offset, bytes, now, |_| Ok(()))
        })?;
        if done < bytes { Err(Errno(ENOSPC)) } else { Ok(0) }
    }

    /// `fsync(2)`: what is written is there.
    pub(crate) fn synchronise(&mut self, fd: u32) -> Answer {
        match self.usable(fd)?.target {
            Target::File(_) | Target::Folder(_) => Ok(0),
            _ => Err(Errno(EINVAL)),
        }
    }

    /// `ioctl(2)`: nothing here is a terminal, or anything else with controls of its own.
    pub(crate) fn device_control(&mut self, fd: u32) -> Answer {
        self.usable(fd)?;
        Err(Errno(ENOTTY))
    }

    /// `chmod(2)`, `fchmodat(2)`.
    #[inline(never)]
    pub(crate) fn change_mode<M: Machine>(
        &mut self,
        machine: &M,
        folder: u32,
        path: u64,
        mode: u64,
    ) -> Answer {
        let path = Path::read(machine, path)?;
        let base = self.base(folder, path.bytes())?;
        machine.files(|files| {
            let id = files.find(base, path.bytes())?;
            files.set_mode(id, mode as u16 & 0o7777)
        })?;
        Ok(0)
    }

    /// `fchmod(2)`.
    pub(crate) fn change_mode_open<M: Machine>(&mut self, machine: &M, fd: u32, mode: u64) -> Answer {
        let id = self.usable(fd)?.target.node().ok_or(Errno(EINVAL))?;
        machine.files(|files| files.set_mode(id, mode as u16 & 0o7777))?;
        Ok(0)
    }
}

fn checked_size(size: u64) -> Result<u64, Errno> {
    if size > i64::MAX as u64 { Err(Errno(EINVAL)) } else { Ok(size) }
}

/// What `open` leads to.
fn find_or_create<P: Pages>(
    files: &mut Files<'_, P>,
    base: NodeId,
    path: &[u8],
    flags: u32,
    mode: u16,
    now: u64,
) -> Result<Target, Errno> {
    let create = flags & open_flag::CREATE != 0 && flags & PATH_ONLY == 0;
    let writes = flags & open_flag::ACCESS_MODE != 0 && flags & PATH_ONLY == 0;
    let exclusive = create && flags & open_flag::EXCLUSIVE != 0;
    let id = match files.find_as(base, path, exclusive || flags & open_flag::NO_FOLLOW != 0) {
        Ok(_) if exclusive => return Err(Errno(EEXIST)),
        Ok(id) => id,
        Err(Errno(ENOENT)) if create => {
            let (folder, name) = files.place_for(base, path)?;
            return files.create(folder, name.bytes(), Kind::File, mode, now).map(Target::File);
        }
        Err(problem) => return Err(problem),
    };
    let node = files.node(id)?;
    if flags & open_flag::FOLDER != 0 && node.kind != Kind::Folder {
        return Err(Errno(ENOTDIR));
    }
    match node.kind {
        Kind::Folder if writes || create => Err(Errno(EISDIR)),
        Kind::Folder => Ok(Target::Folder(id)),
        Kind::File => {
            if flags & open_flag::TRUNCATE != 0 && writes {
                files.truncate(id, 0, now)?;
            }
            Ok(Target::File(id))
        }
        Kind::Special => {
            let special = Special::from_number(node.special).ok_or(Errno(ENXIO))?;
            if writes && !special.is_device() {
                return Err(Errno(EACCES));
            }
            Ok(Target::Special(special, id))
        }
        // Links are followed, unless the program does not want that.
        Kind::Link => Err(Errno(ELOOP)),
        Kind::Free | Kind::Alias => Err(Errno(EBADF)),
    }
}
