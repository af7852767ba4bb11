//! File descriptors, and the open descriptions they lead to (POSIX, 3.238 and 3.239): descriptors made by `dup` share one, and
//! with it the offset.

use lwk_abi::syscall::DESCRIPTORS_MAX;
use lwk_abi::syscall::errno::{EBADF, EMFILE};
use lwk_abi::syscall::open::{ACCESS_MODE, CLOSE_ON_EXEC, PATH_ONLY, READ_WRITE, WRITE_ONLY};
use lwk_files::{NodeId, Special};

use crate::machine::Stream;
use crate::pipes::End;
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
pub(crate) struct Slot {
    description: u16,
    pub close_on_exec: bool,
}

/// A rank's descriptors, [`DESCRIPTORS_MAX`] at most, and as many descriptions.
#[derive(Debug)]
pub struct Descriptors {
    pub(crate) slots: [Slot; DESCRIPTORS_MAX],
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
    pub(crate) fn free_slot(&self, least: u32) -> Result<usize, Errno> {
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

    /// Makes another descriptor of one's description.
    pub(crate) fn share(&mut self, fd: u32, to: usize, close_on_exec: bool) -> Answer {
        let index = self.index(fd)?;
        self.descriptions[index].users += 1;
        self.slots[to] = Slot { description: index as u16 + 1, close_on_exec };
        Ok(to as u64)
    }
}
