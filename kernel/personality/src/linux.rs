//! Linux's calls, by their numbers.

use lwk_abi::syscall::errno::ENOSYS;
use lwk_abi::syscall::{at, fcntl, linux};

use crate::machine::Machine;
use crate::process::Process;
use crate::{Errno, Waiting, fences, file, identity, memory, poll, time};

/// Answers the call with Linux's `number` and up to six arguments, in registers' order; `ENOSYS` if there is none.
pub fn call<M: Machine>(process: &mut Process, machine: &M, number: u64, arguments: [u64; 6]) -> Waiting {
    let outcome = dispatch(process, machine, number, arguments);
    if let Waiting::Done(_) = outcome {
        // However a wait has ended, the next one begins anew.
        process.deadline = None;
    }
    outcome
}

fn dispatch<M: Machine>(process: &mut Process, machine: &M, number: u64, arguments: [u64; 6]) -> Waiting {
    let [a, b, c, d, e, flags] = arguments;
    // Descriptors, flags and the like are `int`s: the upper half of the register means nothing.
    let (fd, code) = (a as u32, b as u32);
    let answer = match number {
        linux::READ => process.read(machine, fd, b, c),
        linux::WRITE => process.write(machine, fd, b, c),
        linux::READV => process.read_vector(machine, fd, b, c, None),
        linux::WRITEV => process.write_vector(machine, fd, b, c, None),
        linux::PREAD64 => process.read_at(machine, fd, b, c, d),
        linux::PWRITE64 => process.write_at(machine, fd, b, c, d),
        linux::PREADV => process.read_vector(machine, fd, b, c, Some(d)),
        linux::PWRITEV => process.write_vector(machine, fd, b, c, Some(d)),
        linux::LSEEK => process.seek(machine, fd, b, c as u32),
        linux::OPEN => process.open(machine, at::CURRENT_FOLDER, a, code, c),
        linux::OPENAT => process.open(machine, fd, b, c as u32, d),
        linux::CREAT => process.open(machine, at::CURRENT_FOLDER, a, file::CREATE_TRUNCATED, b),
        linux::CLOSE => process.close(machine, fd),
        linux::DUP => process.duplicate(fd, 0, false),
        linux::DUP2 => process.duplicate_to(machine, fd, code, false, true),
        linux::DUP3 => process.duplicate_with(machine, fd, code, c as u32),
        linux::PIPE => process.pipe(machine, a, 0),
        linux::PIPE2 => process.pipe(machine, a, code),
        linux::FCNTL if matches!(code, fcntl::GET_LOCK | fcntl::SET_LOCK | fcntl::SET_LOCK_WAIT) => {
            return process.lock_part(machine, fd, code, c);
        }
        linux::FCNTL => process.control(fd, code, c),
        linux::FLOCK => return process.lock_whole(machine, fd, code),
        linux::IOCTL => process.device_control(fd),
        linux::FTRUNCATE => process.truncate_open(machine, fd, b),
        linux::FALLOCATE => process.allocate(machine, fd, b, c, d),
        linux::TRUNCATE => process.truncate(machine, a, b),
        linux::SENDFILE => process.send_file(machine, fd, code, c, d),
        linux::COPY_FILE_RANGE => process.copy_range(machine, (fd, b), (c as u32, d), e, flags as u32),
        linux::STATFS => process.volume(machine, a, b),
        linux::FSTATFS => process.volume_open(machine, fd, b),
        linux::SYNC => Ok(0),
        linux::SYNCFS => process.synchronise_volume(fd),
        linux::FSYNC | linux::FDATASYNC => process.synchronise(fd),
        linux::STAT => process.stat(machine, at::CURRENT_FOLDER, a, b, 0),
        linux::LSTAT => process.stat(machine, at::CURRENT_FOLDER, a, b, at::NO_FOLLOW),
        linux::FSTAT => process.stat_open(machine, fd, b),
        linux::STATX => process.stat_extended(machine, fd, b, c as u32, (d, e)),
        linux::NEWFSTATAT => process.stat(machine, fd, b, c, d as u32),
        linux::ACCESS => process.access(machine, at::CURRENT_FOLDER, a, code, 0),
        linux::FACCESSAT => process.access(machine, fd, b, c as u32, 0),
        linux::FACCESSAT2 => process.access(machine, fd, b, c as u32, d as u32),
        linux::READLINK => process.read_link(machine, at::CURRENT_FOLDER, a, b, c),
        linux::READLINKAT => process.read_link(machine, fd, b, c, d),
        linux::UNLINK => process.unlink(machine, at::CURRENT_FOLDER, a, 0),
        linux::UNLINKAT => process.unlink(machine, fd, b, c as u32),
        linux::RMDIR => process.unlink(machine, at::CURRENT_FOLDER, a, at::REMOVE_FOLDER),
        linux::MKDIR => process.make_folder(machine, at::CURRENT_FOLDER, a, b),
        linux::MKDIRAT => process.make_folder(machine, fd, b, c),
        linux::RENAME => process.rename(machine, (at::CURRENT_FOLDER, a), (at::CURRENT_FOLDER, b), 0),
        linux::RENAMEAT => process.rename(machine, (fd, b), (c as u32, d), 0),
        linux::RENAMEAT2 => process.rename(machine, (fd, b), (c as u32, d), e as u32),
        linux::LINK => process.link(machine, (at::CURRENT_FOLDER, a), (at::CURRENT_FOLDER, b), 0),
        linux::LINKAT => process.link(machine, (fd, b), (c as u32, d), e as u32),
        linux::SYMLINK => process.symbolic_link(machine, a, (at::CURRENT_FOLDER, b)),
        linux::SYMLINKAT => process.symbolic_link(machine, a, (code, c)),
        linux::UTIMENSAT => process.set_times(machine, fd, b, c, d as u32),
        linux::FADVISE64 => process.advise_file(fd, d as u32),
        linux::CHOWN => process.change_owner(machine, at::CURRENT_FOLDER, a, (b, c), 0),
        linux::LCHOWN => process.change_owner(machine, at::CURRENT_FOLDER, a, (b, c), at::NO_FOLLOW),
        linux::FCHOWN => process.change_owner_open(fd, (b, c)),
        linux::FCHOWNAT => process.change_owner(machine, fd, b, (c, d), e as u32),
        linux::FCHMODAT => process.change_mode(machine, fd, b, c),
        linux::CHMOD => process.change_mode(machine, at::CURRENT_FOLDER, a, b),
        linux::FCHMOD => process.change_mode_open(machine, fd, b),
        linux::UMASK => Ok(process.set_umask(a)),
        linux::GETCWD => process.current_folder(machine, a, b),
        linux::CHDIR => process.change_folder(machine, a),
        linux::FCHDIR => process.change_folder_open(machine, fd),
        linux::GETDENTS64 => process.list(machine, fd, b, c),
        linux::BRK => Ok(process.brk(machine, a)),
        linux::MMAP => process.map(machine, &memory::MapRequest::new(arguments)),
        linux::MUNMAP => process.unmap(a, b),
        linux::MREMAP => process.remap(machine, a, b, c, d as u32, e),
        linux::MPROTECT => memory::protect(machine, a, b, c),
        linux::MADVISE => process.advise(machine, a, b, c as u32),
        linux::MLOCK | linux::MUNLOCK => memory::lock(machine, a, b),
        linux::MLOCK2 => memory::lock_as(machine, a, b, c),
        linux::MLOCKALL => memory::lock_all(a),
        linux::MUNLOCKALL => Ok(0),
        linux::MSYNC => memory::synchronise(machine, a, b),
        linux::CLOCK_GETTIME => time::read_clock(machine, a, b),
        linux::CLOCK_GETRES => time::resolution(machine, a, b),
        linux::GETTIMEOFDAY => time::time_of_day(machine, a, b),
        linux::TIME => time::seconds(machine, a),
        linux::TIMES => time::process_times(machine, a),
        linux::GETRUSAGE => time::usage(machine, a, b),
        linux::NANOSLEEP => return process.sleep(machine, a),
        linux::CLOCK_NANOSLEEP => return process.sleep_by(machine, a, b, c),
        linux::POLL => return process.poll(machine, a, b, poll::Timeout::Milliseconds(c)),
        linux::PPOLL => return process.poll(machine, a, b, poll::Timeout::Timespec(c)),
        linux::SELECT => return process.select(machine, a, [b, c, d], poll::Timeout::Timeval(e)),
        linux::PSELECT6 => return process.select(machine, a, [b, c, d], poll::Timeout::Timespec(e)),
        linux::FUTEX => return process.futex(machine, a, code, c as u32, d),
        linux::RT_SIGACTION => process.set_action(machine, fd, b, c, d),
        linux::RT_SIGPROCMASK => process.set_blocked(machine, fd, b, c, d),
        linux::RT_SIGPENDING => process.pending(machine, a, b),
        linux::SIGALTSTACK => process.set_stack(machine, a, b),
        linux::KILL => process.raise(machine, a, None, code),
        linux::TKILL => process.raise(machine, a, Some(a), code),
        linux::TGKILL => process.raise(machine, a, Some(b), c as u32),
        linux::MEMBARRIER => fences::membarrier(machine, a, b),
        linux::GETRANDOM => identity::random(machine, a, b, c),
        linux::GETPID | linux::GETTID | linux::SET_TID_ADDRESS => Ok(identity::process_number(machine)),
        linux::GETPPID => Ok(0),
        linux::GETPGRP => Ok(identity::process_number(machine)),
        linux::GETUID | linux::GETGID | linux::GETEUID | linux::GETEGID => Ok(0),
        linux::SETUID | linux::SETGID => identity::set_user(&[a]),
        linux::SETREUID | linux::SETREGID => identity::set_user(&[a, b]),
        linux::SETRESUID | linux::SETRESGID => identity::set_user(&[a, b, c]),
        linux::GETRESUID | linux::GETRESGID => identity::users(machine, [a, b, c]),
        linux::GETGROUPS => identity::groups(a),
        linux::GETPGID | linux::GETSID => identity::group_of(machine, a),
        linux::GETPRIORITY => identity::priority(machine, a, b),
        linux::SCHED_GETSCHEDULER => identity::policy(machine, a),
        linux::SCHED_GETPARAM => identity::policy_parameter(machine, a, b),
        linux::SCHED_GET_PRIORITY_MAX => identity::policy_range(a, true),
        linux::SCHED_GET_PRIORITY_MIN => identity::policy_range(a, false),
        linux::SETRLIMIT => process.limits(machine, 0, fd, b, 0),
        linux::UNAME => identity::names(machine, a),
        linux::SYSINFO => identity::system(machine, a),
        linux::GETRLIMIT => process.limits(machine, 0, fd, 0, b),
        linux::PRLIMIT64 => process.limits(machine, a, code, c, d),
        linux::SCHED_GETAFFINITY => identity::affinity(machine, a, b, c),
        linux::SCHED_SETAFFINITY => identity::set_affinity(machine, a, b, c),
        linux::GETCPU => identity::core(machine, a, b),
        linux::ARCH_PRCTL => identity::thread_base(machine, a, b),
        linux::SET_ROBUST_LIST => identity::robust_list(b),
        // C libraries ask for it at every start and do without: nothing that a user could want to know of.
        linux::RSEQ => Err(Errno(ENOSYS)),
        _ => {
            machine.count_unsupported(number);
            Err(Errno(ENOSYS))
        }
    };
    Waiting::Done(answer)
}
