//! File descriptors, and the open descriptions they lead to (POSIX, 3.238 and 3.239): descriptors made by `dup` share one, and
//! with it the offset.

use lwk_abi::syscall::DESCRIPTORS_MAX;
use lwk_abi::syscall::errno::{EBADF, EINVAL, EMFILE};
pub use lwk_abi::syscall::fcntl;
use lwk_abi::syscall::open::{
    ACCESS_MODE, APPEND, CLOSE_ON_EXEC, NON_BLOCKING, PATH_ONLY, READ_WRITE, WRITE_ONLY,
};
use lwk_files::{NodeId, Special};

use crate::machine::{Machine, Stream};
use crate::pipe::End;
use crate::process::Process;
use crate::{Answer, Errno};

/// What an open description leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard input, which is at its end.
    Input,
    /// The console.
    Output(Stream),
    /// A regular file.
    File(NodeId),
    /// A folder.
    Folder(NodeId),
    /// What the kernel makes up, and its node.
    Special(Special, NodeId),
    /// An end of one of the rank's pipes.
    Pipe(u8, End),
}

impl Target {
    /// The node that stays as long as the description does.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Target::File(id) | Target::Folder(id) | Target::Special(_, id) => Some(id),
            Target::Input | Target::Output(_) | Target::Pipe(..) => None,
        }
    }
}

/// An open description.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    pub target: Target,
    /// Linux's `O_…` bits that stay after opening.
    pub flags: u32,
    /// Where the next read or write begins, in bytes; of a folder, the position of the next entry ([`lwk_files::Files::entry`]).
    pub offset: u64,
    /// Descriptors that lead here; 0: unused.
    users: u16,
}

impl Description {
    /// Whether it was opened with `O_RDONLY` or `O_RDWR`, and not with `O_PATH`.
    pub fn is_readable(&self) -> bool {
        self.flags & (ACCESS_MODE | PATH_ONLY) == 0 || self.flags & (ACCESS_MODE | PATH_ONLY) == READ_WRITE
    }

    /// Whether it was opened with `O_WRONLY` or `O_RDWR`, and not with `O_PATH`.
    pub fn is_writable(&self) -> bool {
        matches!(self.flags & (ACCESS_MODE | PATH_ONLY), WRITE_ONLY | READ_WRITE)
    }
}

/// A descriptor: the description's number plus one, 0 if closed, and whether `exec` would close it.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    description: u16,
    close_on_exec: bool,
}

/// A rank's descriptors, [`DESCRIPTORS_MAX`] at most, and as many descriptions.
#[derive(Debug)]
pub struct Descriptors {
    slots: [Slot; DESCRIPTORS_MAX],
    descriptions: [Description; DESCRIPTORS_MAX],
}

impl Descriptors {
    /// The three that a program starts with: 0 to read from, 1 and 2 to write to.
    pub fn standard() -> Descriptors {
        let unused = Description { target: Target::Input, flags: 0, offset: 0, users: 0 };
        let mut descriptors = Descriptors {
            slots: [Slot::default(); DESCRIPTORS_MAX],
            descriptions: [unused; DESCRIPTORS_MAX],
        };
        let standard = [
            (Target::Input, 0),
            (Target::Output(Stream::Out), WRITE_ONLY),
            (Target::Output(Stream::Error), WRITE_ONLY),
        ];
        for (index, (target, flags)) in standard.into_iter().enumerate() {
            descriptors.descriptions[index] = Description { target, flags, offset: 0, users: 1 };
            descriptors.slots[index] = Slot { description: index as u16 + 1, close_on_exec: false };
        }
        descriptors
    }

    /// Number of the description behind a descriptor. Errors: `EBADF`.
    pub(crate) fn index(&self, fd: u32) -> Result<usize, Errno> {
        let slot = self.slots.get(fd as usize).ok_or(Errno(EBADF))?;
        (slot.description as usize).checked_sub(1).ok_or(Errno(EBADF))
    }

    /// The description behind a descriptor.
    ///
    /// # Errors
    /// `EBADF` if the descriptor is not open.
    pub fn get(&self, fd: u32) -> Result<&Description, Errno> {
        self.descriptions.get(self.index(fd)?).ok_or(Errno(EBADF))
    }

    /// As [`Descriptors::get`], to be changed.
    pub fn get_mut(&mut self, fd: u32) -> Result<&mut Description, Errno> {
        let index = self.index(fd)?;
        self.descriptions.get_mut(index).ok_or(Errno(EBADF))
    }

    /// A descriptor that is free, from `least` on.
    fn free_slot(&self, least: u32) -> Result<usize, Errno> {
        let free = |fd: &usize| self.slots[*fd].description == 0;
        (least as usize..DESCRIPTORS_MAX).find(free).ok_or(Errno(EMFILE))
    }

    /// Whether one more file can be opened. Errors: `EMFILE` if not.
    pub fn check_room(&self) -> Result<(), Errno> {
        self.free_slot(0).map(|_| ())
    }

    /// The lowest free descriptor, for a new description with these `O_…` bits and offset 0. The caller has told the file system that the
    /// target is open.
    ///
    /// # Errors
    /// `EMFILE` if all are open.
    pub fn open(&mut self, target: Target, flags: u32) -> Answer {
        let fd = self.free_slot(0)?;
        // As many descriptions as descriptors, so one is free as well.
        let index = self.descriptions.iter().position(|one| one.users == 0).ok_or(Errno(EMFILE))?;
        self.descriptions[index] = Description { target, flags: flags & !CLOSE_ON_EXEC, offset: 0, users: 1 };
        self.slots[fd] = Slot { description: index as u16 + 1, close_on_exec: flags & CLOSE_ON_EXEC != 0 };
        Ok(fd as u64)
    }

    /// Closes a descriptor; what its description leads to if that has gone with it.
    pub(crate) fn forget(&mut self, fd: u32) -> Result<Option<Target>, Errno> {
        let index = self.index(fd)?;
        self.slots[fd as usize] = Slot::default();
        let description = &mut self.descriptions[index];
        description.users = description.users.saturating_sub(1);
        Ok(if description.users == 0 { Some(description.target) } else { None })
    }

    fn share(&mut self, fd: u32, to: usize, close_on_exec: bool) -> Answer {
        let index = self.index(fd)?;
        self.descriptions[index].users += 1;
        self.slots[to] = Slot { description: index as u16 + 1, close_on_exec };
        Ok(to as u64)
    }
}

/// Flags that `F_SETFL` can change: append, non-blocking and what has no effect here.
const CHANGEABLE: u32 = APPEND | NON_BLOCKING | 0o20000 | 0o40000;

impl Process {
    /// `close(2)`.
    pub(crate) fn close<M: Machine>(&mut self, machine: &M, fd: u32) -> Answer {
        let index = self.descriptors.index(fd)?;
        let node = self.descriptors.get(fd)?.target.node();
        let gone = self.descriptors.forget(fd)?;
        if let Some(id) = node {
            self.release_locks(machine, id, index, gone.is_some())?;
        }
        match gone {
            Some(Target::Pipe(pipe, end)) => self.close_pipe(machine, pipe, end)?,
            Some(target) => target.node().map_or(Ok(()), |id| machine.files(|files| files.closed(id)))?,
            None => {}
        }
        Ok(0)
    }

    /// `dup(2)`, and `fcntl(2)` with a least descriptor.
    pub(crate) fn duplicate(&mut self, fd: u32, least: u32, close_on_exec: bool) -> Answer {
        self.descriptors.get(fd)?;
        if least as usize >= DESCRIPTORS_MAX {
            return Err(Errno(EINVAL));
        }
        let to = self.descriptors.free_slot(least)?;
        self.descriptors.share(fd, to, close_on_exec)
    }

    /// `dup2(2)` and `dup3(2)`: `same_is_fine` tells them apart.
    pub(crate) fn duplicate_to<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        to: u32,
        close_on_exec: bool,
        same_is_fine: bool,
    ) -> Answer {
        self.descriptors.get(fd)?;
        if to as usize >= DESCRIPTORS_MAX {
            return Err(Errno(EBADF));
        }
        if fd == to {
            return if same_is_fine { Ok(u64::from(to)) } else { Err(Errno(EINVAL)) };
        }
        if self.descriptors.get(to).is_ok() {
            self.close(machine, to)?;
        }
        self.descriptors.share(fd, to as usize, close_on_exec)
    }

    /// `dup3(2)`.
    pub(crate) fn duplicate_with<M: Machine>(&mut self, machine: &M, fd: u32, to: u32, flags: u32) -> Answer {
        if flags & !CLOSE_ON_EXEC != 0 {
            return Err(Errno(EINVAL));
        }
        self.duplicate_to(machine, fd, to, flags != 0, false)
    }

    /// `fcntl(2)`.
    pub(crate) fn control(&mut self, fd: u32, command: u32, value: u64) -> Answer {
        let description = self.descriptors.get_mut(fd)?;
        match command {
            fcntl::DUP => self.duplicate(fd, value as u32, false),
            fcntl::DUP_CLOSE_ON_EXEC => self.duplicate(fd, value as u32, true),
            fcntl::GET_FD => Ok(u64::from(self.descriptors.slots[fd as usize].close_on_exec)),
            fcntl::SET_FD => {
                self.descriptors.slots[fd as usize].close_on_exec = value & 1 != 0;
                Ok(0)
            }
            fcntl::GET_FLAGS => Ok(u64::from(description.flags)),
            fcntl::SET_FLAGS => {
                description.flags = description.flags & !CHANGEABLE | value as u32 & CHANGEABLE;
                Ok(0)
            }
            _ => Err(Errno(EINVAL)),
        }
    }
}
