//! The calls about descriptors themselves: `close(2)`, `dup(2)`, `fcntl(2)`.

use lwk_abi::syscall::DESCRIPTORS_MAX;
use lwk_abi::syscall::errno::{EBADF, EINVAL};
use lwk_abi::syscall::fcntl;
use lwk_abi::syscall::open::{APPEND, CLOSE_ON_EXEC, NON_BLOCKING};

use crate::descriptors::Target;
use crate::machine::Machine;
use crate::process::Process;
use crate::{Answer, Errno};

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
