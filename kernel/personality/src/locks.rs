//! Locks on files: `fcntl(2)` with `F_SETLK` and its like, whose owner is the rank, and `flock(2)`, whose owner is the open description.
//!
//! They are between the ranks of the node. Who waits makes its call again; a wait for oneself is `EDEADLK`, one in a ring of
//! ranks lasts until the job's time limit.

use lwk_abi::syscall::errno::{EAGAIN, EBADF, EDEADLK, EINVAL, EOVERFLOW};
use lwk_abi::syscall::fcntl;
use lwk_files::{Lock, LockKind, NodeId};

use crate::identity::process_number;
use crate::machine::{Machine, read_u64};
use crate::process::Process;
use crate::{Errno, Waiting};

/// Kinds of `struct flock`.
const READ: u16 = 0;
const WRITE: u16 = 1;
const UNLOCK: u16 = 2;
/// Bytes of a `struct flock`, and of its parts.
const FLOCK_BYTES: u64 = 32;
const AT_START: u64 = 8;
const AT_BYTES: u64 = 16;
const AT_PROCESS: u64 = 24;
/// Operations of `flock(2)`.
const SHARED: u32 = 1;
const EXCLUSIVE: u32 = 2;
const AT_ONCE: u32 = 4;
const FREE: u32 = 8;
/// Behind the last byte that a file can have.
const END: u64 = 1 << 63;
/// How long a rank that waits for a lock leaves its core to others, in nanoseconds.
const PAUSE_NS: u64 = 50_000;

/// A description's number as an owner: above all ranks', which are the lower half's.
fn owner_of_description(process: u64, index: usize) -> u32 {
    ((process as u32) << 16) | (index as u32 + 1)
}

/// The rank behind an owner.
fn process_of(lock: &Lock) -> u32 {
    match lock.kind {
        LockKind::Record => lock.owner,
        LockKind::Whole => lock.owner >> 16,
    }
}

impl Process {
    /// `fcntl(2)` with a lock of a part of a file. Errors: `EBADF`, also for a descriptor that cannot do what the lock is for; `EINVAL`,
    /// `EOVERFLOW`, `EFAULT`; `EAGAIN` where it is not to wait; `ENOLCK`, `ENOSPC`.
    #[inline(never)]
    pub(crate) fn lock_part<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        command: u32,
        address: u64,
    ) -> Waiting {
        match self.lock_part_once(machine, fd, command, address) {
            Err(Errno(EAGAIN)) if command == fcntl::SET_LOCK_WAIT => wait(machine),
            Err(problem) => Waiting::Done(Err(problem)),
            Ok(()) => Waiting::Done(Ok(0)),
        }
    }

    fn lock_part_once<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        command: u32,
        address: u64,
    ) -> Result<(), Errno> {
        let description = *self.usable(fd)?;
        let id = description.target.node().ok_or(Errno(EINVAL))?;
        machine.check_readable(address, FLOCK_BYTES)?;
        let head = read_u64(machine, address)?;
        let (kind, whence) = (head as u16, (head >> 16) as u16);
        let base = match whence {
            0 => 0,
            1 => description.offset,
            2 => machine.files(|files| files.node(id))?.size,
            _ => return Err(Errno(EINVAL)),
        };
        let (first, bytes) =
            (read_u64(machine, address + AT_START)?, read_u64(machine, address + AT_BYTES)? as i64);
        let first =
            base.checked_add_signed(first as i64).filter(|first| *first < END).ok_or(Errno(EINVAL))?;
        let (start, end) = match bytes {
            0 => (first, END),
            1.. => {
                (first, first.checked_add_signed(bytes).filter(|end| *end <= END).ok_or(Errno(EOVERFLOW))?)
            }
            _ => (first.checked_add_signed(bytes).ok_or(Errno(EINVAL))?, first),
        };
        let owner = process_number(machine) as u32;
        let lock = Lock { kind: LockKind::Record, owner, start, end, exclusive: kind == WRITE };
        match (command, kind) {
            (fcntl::GET_LOCK, READ | WRITE) => {
                machine.check_writable(address, FLOCK_BYTES)?;
                let found = machine.files(|files| files.lock_in_the_way(id, &lock))?;
                let Some(found) = found else { return machine.write(address, &UNLOCK.to_le_bytes()) };
                let kind = if found.exclusive { WRITE } else { READ };
                machine.write(address, &u32::from(kind).to_le_bytes())?;
                let length = if found.end == END { 0 } else { found.end - found.start };
                machine.write(address + AT_START, &found.start.to_le_bytes())?;
                machine.write(address + AT_BYTES, &length.to_le_bytes())?;
                machine.write(address + AT_PROCESS, &process_of(&found).to_le_bytes())
            }
            (fcntl::GET_LOCK, _) => Err(Errno(EINVAL)),
            (_, UNLOCK) => machine.files(|files| files.unlock(id, lock)),
            (_, READ) if !description.is_readable() => Err(Errno(EBADF)),
            (_, WRITE) if !description.is_writable() => Err(Errno(EBADF)),
            (_, READ | WRITE) => machine.files(|files| files.lock(id, lock)),
            _ => Err(Errno(EINVAL)),
        }
    }

    /// `flock(2)`. Errors: `EBADF`, `EINVAL`, `ENOLCK`, `ENOSPC`; `EAGAIN` where it is not to wait, `EDEADLK` where it would wait for
    /// another description of its own.
    #[inline(never)]
    pub(crate) fn lock_whole<M: Machine>(&mut self, machine: &M, fd: u32, operation: u32) -> Waiting {
        match self.lock_whole_once(machine, fd, operation & !AT_ONCE) {
            Ok(()) => Waiting::Done(Ok(0)),
            Err((Errno(EAGAIN), own)) if operation & AT_ONCE == 0 => {
                if own {
                    Waiting::Done(Err(Errno(EDEADLK)))
                } else {
                    wait(machine)
                }
            }
            Err((problem, _)) => Waiting::Done(Err(problem)),
        }
    }

    /// With an error, whether it is the rank's own lock that is in the way.
    fn lock_whole_once<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        operation: u32,
    ) -> Result<(), (Errno, bool)> {
        let plain = |problem| (problem, false);
        let id = self.usable(fd).map_err(plain)?.target.node().ok_or(plain(Errno(EINVAL)))?;
        let process = process_number(machine);
        let index = self.descriptors.index(fd).map_err(plain)?;
        let owner = owner_of_description(process, index);
        let lock =
            Lock { kind: LockKind::Whole, owner, start: 0, end: END, exclusive: operation == EXCLUSIVE };
        match operation {
            FREE => machine.files(|files| files.unlock(id, lock)).map_err(plain),
            SHARED | EXCLUSIVE => {
                let found = machine.files(|files| files.lock_in_the_way(id, &lock)).map_err(plain)?;
                let own = found.is_some_and(|found| u64::from(process_of(&found)) == process);
                machine.files(|files| files.lock(id, lock)).map_err(|problem| (problem, own))
            }
            _ => Err(plain(Errno(EINVAL))),
        }
    }

    /// A descriptor of the rank's is about to be closed: with it go all its locks of parts of the file (POSIX, close), and with the
    /// last of its description the lock of the whole.
    pub(crate) fn release_locks<M: Machine>(
        &self,
        machine: &M,
        id: NodeId,
        index: usize,
        is_last: bool,
    ) -> Result<(), Errno> {
        let process = process_number(machine);
        machine.files(|files| {
            let record =
                Lock { kind: LockKind::Record, owner: process as u32, start: 0, end: END, exclusive: false };
            files.unlock(id, record)?;
            if is_last {
                let owner = owner_of_description(process, index);
                files.unlock(id, Lock { kind: LockKind::Whole, owner, ..record })?;
            }
            Ok(())
        })
    }
}

/// Somebody else has it: others may run, and then the call is made again.
fn wait<M: Machine>(machine: &M) -> Waiting {
    machine.idle(PAUSE_NS);
    Waiting::Again
}
