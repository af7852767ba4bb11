//! Calls on folders: making, removing, renaming, listing, and the current one.

use lwk_abi::syscall::at::{CURRENT_FOLDER, REMOVE_FOLDER};
use lwk_abi::syscall::errno::{EINVAL, ENAMETOOLONG, ENOENT, ENOTDIR, ENOTEMPTY, ERANGE};
use lwk_files::{Kind, NAME_MAX, NodeId, PATH_MAX};

use crate::descriptors::Target;
use crate::file::Path;
use crate::machine::{Clock, Machine};
use crate::process::Process;
use crate::{Answer, Errno};

/// Linux's `RENAME_NOREPLACE`.
const RENAME_KEEP: u32 = 1;
/// Bytes of an entry of `getdents64(2)` before its name.
const ENTRY_HEAD_BYTES: usize = 19;
/// Longest entry: head, name, NUL, and up to a multiple of eight.
const ENTRY_BYTES_MAX: usize = (ENTRY_HEAD_BYTES + NAME_MAX + 1).next_multiple_of(8);

/// Linux's type of a folder's entry (`DT_…`).
fn entry_type(kind: Kind) -> u8 {
    match kind {
        Kind::Folder => 4,
        Kind::File => 8,
        Kind::Link => 10,
        Kind::Special => 2,
        Kind::Free | Kind::Alias => 0,
    }
}

impl Process {
    /// `mkdirat(2)`.
    #[inline(never)]
    pub(crate) fn make_folder<M: Machine>(
        &mut self,
        machine: &M,
        folder: u32,
        path: u64,
        mode: u64,
    ) -> Answer {
        let path = Path::read(machine, path)?;
        let base = self.base(folder, path.bytes())?;
        let mode = mode as u16 & 0o1777 & !self.umask;
        let now = machine.clock(Clock::Real);
        machine.files(|files| {
            let (parent, name) = match files.parent_of(base, path.bytes()) {
                // `.` and `..` exist, if the rest of the path does.
                Err(Errno(EINVAL)) => {
                    files.find(base, path.bytes())?;
                    return Err(Errno(lwk_abi::syscall::errno::EEXIST));
                }
                other => other?,
            };
            files.create(parent, name, Kind::Folder, mode, now)
        })?;
        Ok(0)
    }

    /// `unlinkat(2)`.
    #[inline(never)]
    pub(crate) fn unlink<M: Machine>(&mut self, machine: &M, folder: u32, path: u64, flags: u32) -> Answer {
        if flags & !REMOVE_FOLDER != 0 {
            return Err(Errno(EINVAL));
        }
        let path = Path::read(machine, path)?;
        let base = self.base(folder, path.bytes())?;
        let now = machine.clock(Clock::Real);
        let folder = flags != 0;
        machine.files(|files| {
            let (parent, name) = files.parent_of(base, path.bytes()).map_err(|problem| match problem {
                // The root is not removed, and neither is `..`.
                Errno(lwk_abi::syscall::errno::EEXIST) => Errno(lwk_abi::syscall::errno::EBUSY),
                Errno(EINVAL) if path.bytes().ends_with(b"..") => {
                    Errno(if folder { ENOTEMPTY } else { lwk_abi::syscall::errno::EISDIR })
                }
                other => other,
            })?;
            if folder {
                files.remove_folder(parent, name, now)
            } else {
                if path.bytes().last() == Some(&b'/') {
                    let kind = files.find(base, path.bytes()).and_then(|id| files.node(id))?.kind;
                    return Err(Errno(if kind == Kind::Folder {
                        lwk_abi::syscall::errno::EISDIR
                    } else {
                        ENOTDIR
                    }));
                }
                files.unlink(parent, name, now)
            }
        })?;
        Ok(0)
    }

    /// `renameat2(2)`; exchanging two files is not supported.
    #[inline(never)]
    pub(crate) fn rename<M: Machine>(
        &mut self,
        machine: &M,
        from: (u32, u64),
        to: (u32, u64),
        flags: u32,
    ) -> Answer {
        if flags & !RENAME_KEEP != 0 {
            return Err(Errno(EINVAL));
        }
        let old = Path::read(machine, from.1)?;
        let new = Path::read(machine, to.1)?;
        let old_base = self.base(from.0, old.bytes())?;
        let new_base = self.base(to.0, new.bytes())?;
        let now = machine.clock(Clock::Real);
        // Neither the root nor `.` and `..` can be moved or replaced.
        let busy = |problem| match problem {
            Errno(lwk_abi::syscall::errno::EEXIST) | Errno(EINVAL) => Errno(lwk_abi::syscall::errno::EBUSY),
            other => other,
        };
        machine.files(|files| {
            let from = files.parent_of(old_base, old.bytes()).map_err(busy)?;
            let to = files.parent_of(new_base, new.bytes()).map_err(busy)?;
            files.rename(from, to, flags & RENAME_KEEP != 0, now)
        })?;
        Ok(0)
    }

    /// `getdents64(2)`.
    pub(crate) fn list<M: Machine>(&mut self, machine: &M, fd: u32, target: u64, bytes: u64) -> Answer {
        let description = *self.usable(fd)?;
        let Target::Folder(folder) = description.target else { return Err(Errno(ENOTDIR)) };
        let bytes = u64::from(bytes as u32).min(i32::MAX as u64);
        machine.check_writable(target, bytes)?;
        let mut position = description.offset;
        let used = machine.files(|files| {
            let mut used: u64 = 0;
            while let Some(entry) = files.entry(folder, position)? {
                let name = match position {
                    0 => b".",
                    1 => &b".."[..],
                    _ => files.name(entry.place)?,
                };
                let length = (ENTRY_HEAD_BYTES + name.len() + 1).next_multiple_of(8);
                if used + length as u64 > bytes {
                    return if used == 0 { Err(Errno(EINVAL)) } else { Ok(used) };
                }
                let mut record = [0; ENTRY_BYTES_MAX];
                record[..8].copy_from_slice(&u64::from(entry.id.0).to_le_bytes());
                record[8..16].copy_from_slice(&entry.next_position.to_le_bytes());
                record[16..18].copy_from_slice(&(length as u16).to_le_bytes());
                record[18] = entry_type(entry.kind);
                let place = record.get_mut(ENTRY_HEAD_BYTES..ENTRY_HEAD_BYTES + name.len());
                place.ok_or(Errno(ENAMETOOLONG))?.copy_from_slice(name);
                machine.write(target + used, record.get(..length).unwrap_or_default())?;
                used += length as u64;
                position = entry.next_position;
            }
            Ok(used)
        })?;
        self.descriptors.get_mut(fd)?.offset = position;
        Ok(used)
    }

    /// `getcwd(2)`: the length with the NUL.
    #[inline(never)]
    pub(crate) fn current_folder<M: Machine>(&mut self, machine: &M, target: u64, bytes: u64) -> Answer {
        let mut buffer = [0; PATH_MAX];
        let folder = self.folder;
        machine.files(|files| {
            let path = files.path_of(folder, &mut buffer)?;
            if path.len() as u64 + 1 > bytes {
                return Err(Errno(ERANGE));
            }
            machine.check_writable(target, path.len() as u64 + 1)?;
            machine.write(target, path)?;
            machine.write(target + path.len() as u64, &[0])?;
            Ok(path.len() as u64 + 1)
        })
    }

    /// `chdir(2)`.
    #[inline(never)]
    pub(crate) fn change_folder<M: Machine>(&mut self, machine: &M, path: u64) -> Answer {
        let path = Path::read(machine, path)?;
        let base = self.base(CURRENT_FOLDER, path.bytes())?;
        let id = machine.files(|files| files.find(base, path.bytes()))?;
        self.enter_folder(machine, id)
    }

    /// `fchdir(2)`.
    pub(crate) fn change_folder_open<M: Machine>(&mut self, machine: &M, fd: u32) -> Answer {
        match self.descriptors.get(fd)?.target {
            Target::Folder(id) => self.enter_folder(machine, id),
            _ => Err(Errno(ENOTDIR)),
        }
    }

    fn enter_folder<M: Machine>(&mut self, machine: &M, id: NodeId) -> Answer {
        let old = self.folder;
        machine.files(|files| {
            let node = files.node(id)?;
            if node.kind != Kind::Folder {
                return Err(Errno(ENOTDIR));
            }
            if node.parent.is_none() {
                return Err(Errno(ENOENT));
            }
            // It stays for as long as it is somebody's current folder.
            files.opened(id)?;
            if old == NodeId::ROOT { Ok(()) } else { files.closed(old) }
        })?;
        self.folder = id;
        Ok(0)
    }
}
