//! A rank whose files are this machine's: calls on files go to Linux as they are, with the program's own memory at its own addresses.
//!
//! So a program that is started by `mpiexec` reads and writes what its user does, in the user's current folder and with the user's rights. What
//! else it asks of its system, memory above all, is answered as ever. A mapping of a file is a copy of it here, too.
//!
//! Runs in a signal handler on its own stack; see [`crate::rank`] for what it may use.

use lwk_abi::syscall::errno::{EACCES, EBADF, ENODEV};
use lwk_abi::syscall::linux;
use lwk_abi::syscall::map;
use lwk_abi::syscall::protection;
use lwk_personality::{Answer, Errno, Machine, Process, Waiting, linux_call};

use crate::arch::Gate;
use crate::machine::HostMachine;

/// Calls whose first argument is a descriptor.
const ON_DESCRIPTOR: &[u64] = &[
    linux::READ,
    linux::WRITE,
    linux::READV,
    linux::WRITEV,
    linux::PREAD64,
    linux::PWRITE64,
    linux::PREADV,
    linux::PWRITEV,
    linux::LSEEK,
    linux::CLOSE,
    linux::DUP,
    linux::DUP2,
    linux::DUP3,
    linux::FCNTL,
    linux::FLOCK,
    linux::IOCTL,
    linux::FSTAT,
    linux::FTRUNCATE,
    linux::FALLOCATE,
    linux::FADVISE64,
    linux::FSTATFS,
    linux::FSYNC,
    linux::FDATASYNC,
    linux::SYNCFS,
    linux::FCHMOD,
    linux::FCHOWN,
    linux::FCHDIR,
    linux::GETDENTS64,
    linux::SENDFILE,
    linux::COPY_FILE_RANGE,
    linux::OPENAT,
    linux::NEWFSTATAT,
    linux::STATX,
];

/// Further calls that go to Linux.
const FURTHER: &[u64] = &[
    linux::OPEN,
    linux::CREAT,
    linux::PIPE,
    linux::PIPE2,
    linux::STAT,
    linux::LSTAT,
    linux::ACCESS,
    linux::FACCESSAT,
    linux::FACCESSAT2,
    linux::READLINK,
    linux::READLINKAT,
    linux::UNLINK,
    linux::UNLINKAT,
    linux::RMDIR,
    linux::MKDIR,
    linux::MKDIRAT,
    linux::RENAME,
    linux::RENAMEAT,
    linux::RENAMEAT2,
    linux::LINK,
    linux::LINKAT,
    linux::SYMLINK,
    linux::SYMLINKAT,
    linux::TRUNCATE,
    linux::STATFS,
    linux::SYNC,
    linux::UTIMENSAT,
    linux::CHOWN,
    linux::LCHOWN,
    linux::FCHOWNAT,
    linux::CHMOD,
    linux::FCHMODAT,
    linux::UMASK,
    linux::GETCWD,
    linux::CHDIR,
    linux::POLL,
    linux::PPOLL,
    linux::SELECT,
    linux::PSELECT6,
    linux::GETUID,
    linux::GETEUID,
    linux::GETGID,
    linux::GETEGID,
    linux::GETGROUPS,
    linux::GETRESUID,
    linux::GETRESGID,
];

/// Answers a call on files; none if this is another call, which `lwk-personality` answers.
pub fn call(
    machine: &HostMachine,
    process: &mut Process,
    number: u64,
    arguments: [u64; 6],
) -> Option<Answer> {
    let mut arguments = arguments;
    let reports = |fd: u64| fd as i32 == machine.rank.report();
    match number {
        linux::MMAP if arguments[3] & map::ANONYMOUS == 0 => {
            return Some(map_file(machine, process, arguments));
        }
        _ if !ON_DESCRIPTOR.contains(&number) && !FURTHER.contains(&number) => return None,
        // The channel to the node is none of the program's.
        _ if ON_DESCRIPTOR.contains(&number) && reports(arguments[0]) => return Some(Err(Errno(EBADF))),
        linux::DUP2 | linux::DUP3 if reports(arguments[1]) => return Some(Err(Errno(EBADF))),
        linux::READLINK if is_own_file(machine, arguments[0]) => {
            return Some(own_file(machine, arguments[1], arguments[2]));
        }
        linux::READLINKAT if is_own_file(machine, arguments[1]) => {
            return Some(own_file(machine, arguments[2], arguments[3]));
        }
        // Which signals are blocked is the loader's, and kept for the program by `lwk-personality`.
        linux::PPOLL => arguments[3] = 0,
        linux::PSELECT6 => arguments[5] = 0,
        _ => {}
    }
    Some(pass_on(number, arguments))
}

fn pass_on(number: u64, arguments: [u64; 6]) -> Answer {
    // SAFETY: Linux checks every pointer against what is mapped. What the program may have changed by it is its own memory and its files;
    // the loader's lies where no pointer of a sound program leads.
    match unsafe { Gate::call(number as i64, arguments) } {
        error if error < 0 => Err(Errno(-error)),
        value => Ok(value as u64),
    }
}

/// `/proc/self/exe` is the loader's file for Linux, and must be the program's.
const OWN_FILE: &[u8; 15] = b"/proc/self/exe\0";

fn is_own_file(machine: &HostMachine, path: u64) -> bool {
    // By bytes: a shorter path may end where the memory does.
    !machine.rank.program_file.is_empty()
        && (0..).zip(OWN_FILE).all(|(at, wanted)| {
            let mut byte = [0];
            machine.read(path.wrapping_add(at), &mut byte).is_ok() && byte == [*wanted]
        })
}

fn own_file(machine: &HostMachine, target: u64, bytes: u64) -> Answer {
    let file = &machine.rank.program_file;
    let told = file.get(..bytes as usize).unwrap_or(file);
    machine.write(target, told).map(|()| told.len() as u64)
}

/// `mmap(2)` of a file: fresh memory with what is in the file. One that is to be shared for writing is `ENODEV`, as on a node.
fn map_file(
    machine: &HostMachine,
    process: &mut Process,
    [address, bytes, wanted, flags, fd, offset]: [u64; 6],
) -> Answer {
    if flags & map::TYPE & map::SHARED != 0 && wanted & protection::WRITE != 0 {
        return Err(Errno(ENODEV));
    }
    // What cannot be read cannot be shown: a look at its first bytes, in no memory at all, tells.
    pass_on(linux::PREAD64, [fd, 0, 0, offset, 0, 0]).map_err(|Errno(error)| {
        if error == i64::from(libc::ESPIPE) || error == i64::from(libc::EISDIR) {
            Errno(ENODEV)
        } else {
            Errno(error)
        }
    })?;
    let anonymous = [address, bytes, wanted, flags | map::ANONYMOUS, u64::MAX, 0];
    let start = match linux_call(process, machine, linux::MMAP, anonymous) {
        Waiting::Done(answer) => answer?,
        Waiting::Again => return Err(Errno(EACCES)),
    };
    let mut done = 0;
    while done < bytes {
        match pass_on(linux::PREAD64, [fd, start + done, bytes - done, offset + done, 0, 0]) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) => {
                // What has just been mapped can be given back.
                let _ = linux_call(process, machine, linux::MUNMAP, [start, bytes, 0, 0, 0, 0]);
                return Err(error);
            }
        }
    }
    Ok(start)
}
