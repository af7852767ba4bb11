//! Calls on what a file has beside its content: further names, owners, times. A file of this system has one owner, who is everybody, and one
//! time, that of its last change.

use lwk_abi::syscall::at::{CURRENT_FOLDER, EMPTY_PATH, FOLLOW, NO_FOLLOW};
use lwk_abi::syscall::errno::{EEXIST, EINVAL, ENOENT, EPERM, EXDEV};
use lwk_files::{Files, Kind, NodeId, Special};

use crate::file::Path;
use crate::machine::{Clock, Machine, read_u64};
use crate::process::Process;
use crate::{Answer, Errno};

/// Linux's `UTIME_NOW` and `UTIME_OMIT`, in the place of nanoseconds.
const TIME_NOW: u64 = 0x3fff_ffff;
const TIME_OMIT: u64 = 0x3fff_fffe;
const SECOND_NS: u64 = 1_000_000_000;

impl Process {
    /// What a path leads to; with `itself`, a symbolic link that it ends with.
    fn target<M: Machine>(
        &self,
        machine: &M,
        folder: u32,
        path: &Path,
        itself: bool,
    ) -> Result<NodeId, Errno> {
        let base = self.base(folder, path.bytes())?;
        machine.files(|files| files.find_as(base, path.bytes(), itself))
    }

    /// `linkat(2)`: one more name for a file, or with `AT_EMPTY_PATH` for what is open.
    #[inline(never)]
    pub(crate) fn link<M: Machine>(
        &mut self,
        machine: &M,
        from: (u32, u64),
        to: (u32, u64),
        flags: u32,
    ) -> Answer {
        if flags & !(FOLLOW | EMPTY_PATH) != 0 {
            return Err(Errno(EINVAL));
        }
        let old = Path::read(machine, from.1)?;
        let id = if old.bytes().is_empty() && flags & EMPTY_PATH != 0 && from.0 != CURRENT_FOLDER {
            // What is open and no file of the file system is of another one.
            self.descriptors.get(from.0)?.target.node().ok_or(Errno(EXDEV))?
        } else {
            self.target(machine, from.0, &old, flags & FOLLOW == 0)?
        };
        self.make_name(machine, to, |files, folder, name, now| files.link(id, folder, name, now))
    }

    /// `symlinkat(2)`: a name that stands for a path, whether that leads anywhere or not.
    #[inline(never)]
    pub(crate) fn symbolic_link<M: Machine>(&mut self, machine: &M, content: u64, to: (u32, u64)) -> Answer {
        let content = Path::read(machine, content)?;
        if content.bytes().is_empty() {
            return Err(Errno(ENOENT));
        }
        self.make_name(machine, to, |files, folder, name, now| {
            files.symbolic_link(folder, name, content.bytes(), now).map(drop)
        })
    }

    /// Has `make` make something at a path that is free.
    fn make_name<M: Machine>(
        &self,
        machine: &M,
        (folder, path): (u32, u64),
        make: impl FnOnce(&mut Files<'_, M::Pages>, NodeId, &[u8], u64) -> Result<(), Errno>,
    ) -> Answer {
        let path = Path::read(machine, path)?;
        let base = self.base(folder, path.bytes())?;
        let now = machine.clock(Clock::Real);
        machine.files(|files| {
            let (folder, name) = files.parent_of(base, path.bytes()).map_err(|problem| match problem {
                // `.` and `..` are there, as the root is.
                Errno(EINVAL) => Errno(EEXIST),
                other => other,
            })?;
            // Only a folder's name may have a slash behind it, and that is not what is made.
            if path.bytes().last() == Some(&b'/') {
                return Err(files.find(base, path.bytes()).map_or_else(|problem| problem, |_| Errno(EEXIST)));
            }
            make(files, folder, name, now)
        })?;
        Ok(0)
    }

    /// `readlink(2)`.
    #[inline(never)]
    pub(crate) fn read_link<M: Machine>(
        &mut self,
        machine: &M,
        folder: u32,
        path: u64,
        target: u64,
        bytes: u64,
    ) -> Answer {
        if bytes as i32 <= 0 {
            return Err(Errno(EINVAL));
        }
        let path = Path::read(machine, path)?;
        let base = self.base(folder, path.bytes())?;
        let room = (bytes as u32).min(i32::MAX as u32) as usize;
        let give = |content: &[u8]| {
            let content = content.get(..room).unwrap_or(content);
            machine.check_writable(target, content.len() as u64)?;
            machine.write(target, content)?;
            Ok(content.len() as u64)
        };
        machine.files(|files| {
            let id = files.find_itself(base, path.bytes())?;
            if files.node(id)?.special != Special::Program as u32 {
                return give(files.link_content(id)?);
            }
            // The program's file by its last name: where it was on the host means nothing here.
            let mut name = Path::root();
            let whole = machine.program_name();
            name.push(whole.rsplit(|byte| *byte == b'/').next().unwrap_or_default())?;
            give(name.bytes())
        })
    }

    /// `utimensat(2)`, and `futimens(3)` by it without a path: sets the time of the last change; that of the last access is the same.
    #[inline(never)]
    pub(crate) fn set_times<M: Machine>(
        &mut self,
        machine: &M,
        folder: u32,
        path: u64,
        times: u64,
        flags: u32,
    ) -> Answer {
        if flags & !(NO_FOLLOW | EMPTY_PATH) != 0 {
            return Err(Errno(EINVAL));
        }
        let changed = if times == 0 {
            Some(machine.clock(Clock::Real))
        } else {
            machine.check_readable(times, 32)?;
            let [seconds, nanoseconds] = [read_u64(machine, times + 16)?, read_u64(machine, times + 24)?];
            // The first is checked and has no place here.
            let access = read_u64(machine, times + 8)?;
            let valid = |part: u64| part < SECOND_NS || matches!(part, TIME_NOW | TIME_OMIT);
            if !valid(access) || !valid(nanoseconds) {
                return Err(Errno(EINVAL));
            }
            match nanoseconds {
                TIME_OMIT => None,
                TIME_NOW => Some(machine.clock(Clock::Real)),
                // What is before 1970 or after the clock's end is as near as there is.
                _ if (seconds as i64) < 0 => Some(0),
                _ => Some(seconds.saturating_mul(SECOND_NS).saturating_add(nanoseconds)),
            }
        };
        let id = if path == 0 && folder != CURRENT_FOLDER {
            self.usable(folder)?.target.node()
        } else {
            let path = Path::read(machine, path)?;
            Some(self.target(machine, folder, &path, flags & NO_FOLLOW != 0)?)
        };
        if let (Some(id), Some(changed)) = (id, changed) {
            machine.files(|files| match files.node(id)?.kind {
                // Texts that the kernel makes up are always of now.
                Kind::File | Kind::Folder | Kind::Link => files.set_changed(id, changed),
                _ => Ok(()),
            })?;
        }
        Ok(0)
    }

    /// `chown(2)` and its kin: everything belongs to user 0, who is the only one, so giving it to nobody else changes nothing. Errors: `EPERM`
    /// for another owner.
    #[inline(never)]
    pub(crate) fn change_owner<M: Machine>(
        &mut self,
        machine: &M,
        folder: u32,
        path: u64,
        owner: (u64, u64),
        flags: u32,
    ) -> Answer {
        if flags & !(NO_FOLLOW | EMPTY_PATH) != 0 {
            return Err(Errno(EINVAL));
        }
        let path = Path::read(machine, path)?;
        if path.bytes().is_empty() && flags & EMPTY_PATH != 0 && folder != CURRENT_FOLDER {
            return self.change_owner_open(folder, owner);
        }
        self.target(machine, folder, &path, flags & NO_FOLLOW != 0)?;
        check_owner(owner)
    }

    /// `fchown(2)`.
    pub(crate) fn change_owner_open(&mut self, fd: u32, owner: (u64, u64)) -> Answer {
        self.usable(fd)?;
        check_owner(owner)
    }

    /// `posix_fadvise(2)`: there is nothing to advise about.
    pub(crate) fn advise_file(&mut self, fd: u32, advice: u32) -> Answer {
        /// `POSIX_FADV_NOREUSE`.
        const LAST: u32 = 5;
        let target = self.usable(fd)?.target;
        if let crate::descriptors::Target::Pipe(..) = target {
            return Err(Errno(lwk_abi::syscall::errno::ESPIPE));
        }
        if advice > LAST { Err(Errno(EINVAL)) } else { Ok(0) }
    }
}

/// User and group; -1 leaves one as it is.
fn check_owner((user, group): (u64, u64)) -> Answer {
    let is_own = |number: u64| matches!(number as u32, 0 | u32::MAX);
    if is_own(user) && is_own(group) { Ok(0) } else { Err(Errno(EPERM)) }
}
