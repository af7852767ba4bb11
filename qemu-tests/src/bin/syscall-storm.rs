//! Many system calls with hostile arguments from a seeded generator; every answer must be one of Linux's and nothing else happen
//!
//! Every rank makes the given number of calls at once. Pointers are of the kernel, unmapped, wrapping, misaligned, into peers'
//! slots, or into code that they would overwrite; lengths go up to everything; numbers, flags and descriptors are arbitrary. The
//! calls may write to the ranks' scratch, whose neighbourhood, the code and a piece of heap and stack are checked for
//! change. Left out are the calls that end a rank, and output that would be valid: what is written to the console comes from
//! unreadable places, or is nothing. The seed is printed first, so that a failing run can be repeated.
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

extern crate alloc;

use alloc::vec;
use core::fmt::{self, Write};
use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering};
use lwk_apps::cli::{Argument, Cli};
use lwk_boot_tests::hostile::{length, scratch as scratch_place, unreadable, unwritable};
use lwk_boot_tests::random::Random;
use lwk_boot_tests::scratch::{self, SCRATCH_BYTES};
use lwk_user::abi::limic::{Descriptor, RX_COMP, TX_COMP, TX_INIT};
use lwk_user::abi::syscall::{
    CORE_COUNTERS, CoreCounters, JOB_ABORT, JOB_END, JOB_HALT, JOB_HOLD, JOB_LEAVE, JOB_WAITS, REPORT,
    linux::*,
};
use lwk_user::barrier::node_barrier;
use lwk_user::smartmap::{Peer, Symmetric, peers};
use lwk_user::{Env, Errno, eprintln, job, println, syscall};

const USAGE: &str = "syscall-storm [--seed N] [CALLS]";

/// Linux's error numbers end here (`EHWPOISON`).
const LAST_ERRNO: usize = 133;
/// Wrong answers of one rank that are shown; more are only counted.
const SHOWN: u64 = 10;

/// In each rank: how often each answer came, by error number; number 0 is success.
static ANSWERS: Symmetric<[AtomicU64; LAST_ERRNO + 1]> =
    Symmetric::new([const { AtomicU64::new(0) }; LAST_ERRNO + 1]);
/// In rank 0: wrong answers of all ranks.
static WRONG: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));

lwk_user::entry!(main);

fn main(env: &Env) -> i32 {
    let (seed, calls) = parse(env);
    let me = Peer::me();
    if me == Peer::root() {
        println!("syscall-storm: seed {seed}, {} ranks, {calls} calls each", Peer::count());
    }
    node_barrier();
    let heap = vec![0x5au8; 64 << 10];
    let stack = black_box([0xa5u8; 4096]);
    let checksum = scratch::code_checksum();
    let mut random = Random::new(seed.wrapping_add(u64::from(me.node_rank().0)));
    for number in 0..calls {
        let call = Call::random(&mut random);
        if let Err(problem) = call.make() {
            wrong(number, &call, problem);
        }
    }
    // The last of the calls on it may have told that peers count on this rank.
    syscall::hold_job(false);
    let intact = [
        ("the memory around the scratch", scratch::is_intact()),
        ("the code", scratch::code_checksum() == checksum),
        ("the heap", black_box(&heap).iter().all(|byte| *byte == 0x5a)),
        ("the stack", black_box(&stack).iter().all(|byte| *byte == 0xa5)),
    ];
    for (what, _) in intact.iter().filter(|(_, intact)| !intact) {
        WRONG.at(Peer::root()).get().fetch_add(1, Ordering::Relaxed);
        eprintln!("rank {me}: {what} has changed");
    }
    node_barrier();
    if me == Peer::root() { report() } else { 0 }
}

fn parse(env: &Env) -> (u64, u64) {
    let mut cli = Cli::new(env, USAGE);
    let (mut seed, mut calls) = (1, None);
    while let Some(argument) = cli.argument() {
        match argument {
            Argument::Option("seed") => seed = cli.number("seed", 0..=u64::MAX),
            Argument::Word(word) if calls.is_none() => match word.parse() {
                Ok(number) => calls = Some(number),
                Err(_) => cli.refuse(&format_args!("`{word}` is not a number of calls")),
            },
            other => cli.unknown(other),
        }
    }
    (seed, calls.unwrap_or(100_000))
}

/// What a call may answer besides an error.
#[derive(Clone, Copy, Debug)]
enum Success {
    /// Nothing: the arguments are such that it must fail.
    Never,
    /// A number up to this one.
    UpTo(u64),
    /// An address of the heap, or one past it.
    Heap,
}

struct Call {
    number: u64,
    arguments: [u64; 6],
    success: Success,
}

impl Call {
    fn random(random: &mut Random) -> Call {
        let (number, arguments, success) = match random.below(22) {
            0 => read(random),
            1 => write(random),
            2 => write_vector(random),
            3 => (BRK, [unreadable(random), 0, 0, 0, 0, 0], Success::Heap),
            4 => map(random),
            5 => unmap(random),
            6 => {
                let (target, success) = target(random, 16);
                (CLOCK_GETTIME, [random.one_of(&[0, 1, 2, 4, 11, 99, u64::MAX]), target, 0, 0, 0, 0], success)
            }
            7 => random_bytes(random),
            8 => {
                let (target, success) = target(random, 390);
                (UNAME, [target, 0, 0, 0, 0, 0], success)
            }
            9 => thread_pointer(random),
            10 => {
                let (target, success) = target(random, size_of::<CoreCounters>() as u64);
                (CORE_COUNTERS, [target, 0, 0, 0, 0, 0], success)
            }
            11 => (random.one_of(&[GETPID, GETTID]), [0; 6].map(|_| random.bits()), Success::UpTo(1 << 22)),
            12 => (random.one_of(&[SCHED_YIELD, JOB_HOLD]), [0; 6].map(|_| random.bits()), Success::UpTo(0)),
            13..=17 => any_other(random),
            18 => signals(random),
            19 => copies(random),
            _ => unknown(random),
        };
        Call { number, arguments, success }
    }

    /// Makes the call and judges the answer.
    fn make(&self) -> Result<(), i64> {
        // SAFETY: what the generators below see to: the call has no valid business with any memory but the scratch and unused
        // heap.
        let result = unsafe { syscall::raw(self.number, self.arguments) };
        let (errno, right) = match (Errno::check(result), self.success) {
            (Err(errno), _) => (errno.number() as usize, true),
            (Ok(_), Success::Never) => (0, false),
            (Ok(value), Success::UpTo(most)) => (0, value <= most),
            (Ok(value), Success::Heap) => {
                let page = job().page();
                (0, (page.heap_start..=page.heap_end).contains(&value))
            }
        };
        let Some(count) = ANSWERS.here().get(errno) else { return Err(result) };
        // Relaxed: the barrier before the report orders it.
        count.fetch_add(1, Ordering::Relaxed);
        if let (MMAP, Ok(address), true) = (self.number, Errno::check(result), right) {
            // SAFETY: what has just been mapped, and nobody has used; a refusal is counted by the next `munmap`.
            unsafe { syscall::raw(MUNMAP, [address, self.arguments[1], 0, 0, 0, 0]) };
        }
        if right { Ok(()) } else { Err(result) }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "call {}(", self.number)?;
        for (index, argument) in self.arguments.iter().enumerate() {
            if index > 0 {
                f.write_char(' ')?;
            }
            write!(f, "{argument:#x}")?;
        }
        write!(f, "), success {:?}", self.success)
    }
}

/// Shows a wrong answer.
fn wrong(index: u64, call: &Call, result: i64) {
    // Relaxed: the barrier before the report orders it.
    if WRONG.at(Peer::root()).get().fetch_add(1, Ordering::Relaxed) < SHOWN {
        eprintln!("rank {}: wrong answer {result} to number {index}, {call}", job().rank());
    }
}

type Arguments = (u64, [u64; 6], Success);

/// A place for `bytes` bytes of result: somebody's scratch, or where it must fail.
fn target(random: &mut Random, bytes: u64) -> (u64, Success) {
    if random.once_in(4) {
        (scratch_place(random, bytes), Success::UpTo(0))
    } else {
        (unwritable(random), Success::Never)
    }
}

/// A descriptor: valid ones, and what is only valid when cut to 32 bits.
fn descriptor(random: &mut Random) -> u64 {
    random.one_of(&[0, 1, 2, 3, 77, 255, 1 << 31, u64::MAX, 1 << 32 | 1, 1 << 63 | 2])
}

fn read(random: &mut Random) -> Arguments {
    if random.once_in(4) {
        let bytes = random.below(SCRATCH_BYTES as u64);
        return (READ, [descriptor(random), scratch_place(random, bytes), bytes, 0, 0, 0], Success::UpTo(0));
    }
    (READ, [descriptor(random), unwritable(random), length(random), 0, 0, 0], Success::UpTo(0))
}

fn write(random: &mut Random) -> Arguments {
    if random.once_in(8) {
        return (WRITE, [descriptor(random), scratch_place(random, 0), 0, 0, 0, 0], Success::UpTo(0));
    }
    (WRITE, [descriptor(random), unreadable(random), length(random), 0, 0, 0], Success::UpTo(0))
}

fn write_vector(random: &mut Random) -> Arguments {
    static VECTOR: Symmetric<[[u64; 2]; 8]> = Symmetric::new([[0; 2]; 8]);
    let entries = random.below(8);
    let mut vector = [[0; 2]; 8];
    for [base, bytes] in &mut vector {
        (*base, *bytes) = (unreadable(random), if random.once_in(2) { 0 } else { length(random) });
    }
    // SAFETY: this rank's own; peers do not know of it.
    unsafe { VECTOR.as_ptr().write_volatile(vector) };
    let own = VECTOR.as_ptr().expose_provenance() as u64;
    match random.below(3) {
        0 => (WRITEV, [descriptor(random), own, entries, 0, 0, 0], Success::UpTo(0)),
        1 => {
            let too_many = random.one_of(&[1025, 1 << 31, u32::MAX as u64, u64::MAX]);
            (WRITEV, [descriptor(random), own, too_many, 0, 0, 0], Success::Never)
        }
        _ => (WRITEV, [descriptor(random), unreadable(random), length(random), 0, 0, 0], Success::UpTo(0)),
    }
}

fn map(random: &mut Random) -> Arguments {
    let flags =
        random.one_of(&[0x22, 0x21, 0x23, 0x32, 0x31, 0x10_0022, 0x20, 0x2, 0]) | random.below(4) << 12;
    // Fixed places are hostile ones only: the heap has an owner.
    let address = if random.once_in(4) { 0 } else { unwritable(random) };
    let offset = random.one_of(&[0, 0, 0, 1, 4096, u64::MAX]);
    let arguments = [address, length(random), random.below(16), flags, descriptor(random), offset];
    (MMAP, arguments, Success::Heap)
}

fn unmap(random: &mut Random) -> Arguments {
    (MUNMAP, [unwritable(random), length(random), 0, 0, 0, 0], Success::Never)
}

fn random_bytes(random: &mut Random) -> Arguments {
    let flags = random.one_of(&[0, 0, 1, 2, 3, 4, 6, 8, u64::MAX]);
    if random.once_in(4) {
        let bytes = random.below(SCRATCH_BYTES as u64);
        return (GETRANDOM, [scratch_place(random, bytes), bytes, flags, 0, 0, 0], Success::UpTo(bytes));
    }
    // Nothing may be written there, but writing nothing is no offence.
    (GETRANDOM, [unwritable(random), length(random), flags, 0, 0, 0], Success::UpTo(0))
}

fn thread_pointer(random: &mut Random) -> Arguments {
    let code = random.one_of(&[0x1001, 0x1002, 0x1003, 0x1004, 0x1005, 0, u64::MAX]);
    let reads = matches!(code, 0x1003 | 0x1004);
    if reads && random.once_in(4) {
        return (ARCH_PRCTL, [code, scratch_place(random, 8), 0, 0, 0, 0], Success::UpTo(0));
    }
    let success = if reads { Success::Never } else { Success::UpTo(0) };
    (ARCH_PRCTL, [code, unwritable(random), 0, 0, 0, 0], success)
}

/// What a rank says about signals, and signals that are none, to itself and to others. What it may set comes from nowhere, or from code, whose
/// handlers are never called: no signal is raised.
fn signals(random: &mut Random) -> Arguments {
    let number = random.one_of(&[0, 1, 9, 11, 19, 64, 65, 1 << 31, u64::MAX, 1 << 32 | 11]);
    let bytes = random.one_of(&[8, 8, 8, 0, 4, 9, 16, u64::MAX]);
    match random.below(6) {
        0 => (RT_SIGACTION, [number, unreadable(random), unwritable(random), bytes, 0, 0], Success::Never),
        1 => {
            let (old, success) = target(random, 32);
            (RT_SIGACTION, [number, 0, old, bytes, 0, 0], success)
        }
        2 => {
            let how = random.one_of(&[0, 1, 2, 3, u64::MAX]);
            (RT_SIGPROCMASK, [how, unreadable(random), unwritable(random), bytes, 0, 0], Success::Never)
        }
        3 => {
            let (set, success) = target(random, 8);
            // No bytes are nothing to write.
            let success = if bytes == 0 { Success::UpTo(0) } else { success };
            (RT_SIGPENDING, [set, bytes, 0, 0, 0, 0], success)
        }
        4 => (SIGALTSTACK, [unreadable(random), unwritable(random), 0, 0, 0, 0], Success::Never),
        _ => {
            let none = random.one_of(&[0, 65, 99, 1 << 31, u64::MAX]);
            let (process, thread) = (length(random), length(random));
            match random.below(3) {
                0 => (KILL, [process, none, 0, 0, 0, 0], Success::UpTo(0)),
                1 => (TKILL, [thread, none, 0, 0, 0, 0], Success::UpTo(0)),
                _ => (TGKILL, [process, thread, none, 0, 0, 0], Success::UpTo(0)),
            }
        }
    }
}

/// Linux's calls that have no generator of their own.
const OTHERS: [u64; 115] = [
    OPEN,
    CLOSE,
    STAT,
    FSTAT,
    LSTAT,
    POLL,
    LSEEK,
    MPROTECT,
    IOCTL,
    PREAD64,
    READV,
    ACCESS,
    PIPE,
    SELECT,
    MREMAP,
    MSYNC,
    MADVISE,
    DUP,
    DUP2,
    NANOSLEEP,
    FCNTL,
    FSYNC,
    FDATASYNC,
    TRUNCATE,
    FTRUNCATE,
    GETCWD,
    SYNC,
    SYNCFS,
    STATFS,
    FSTATFS,
    SENDFILE,
    COPY_FILE_RANGE,
    MLOCK,
    MUNLOCK,
    MLOCK2,
    MLOCKALL,
    MUNLOCKALL,
    SETUID,
    SETGID,
    SETREUID,
    SETREGID,
    SETRESUID,
    SETRESGID,
    GETRESUID,
    GETRESGID,
    GETGROUPS,
    GETPGID,
    GETSID,
    GETPRIORITY,
    SCHED_GETSCHEDULER,
    SCHED_GETPARAM,
    SCHED_GET_PRIORITY_MAX,
    SCHED_GET_PRIORITY_MIN,
    SETRLIMIT,
    CHDIR,
    FCHDIR,
    RENAME,
    MKDIR,
    RMDIR,
    CREAT,
    UNLINK,
    READLINK,
    CHMOD,
    FCHMOD,
    UMASK,
    GETTIMEOFDAY,
    GETRLIMIT,
    GETRUSAGE,
    SYSINFO,
    TIMES,
    GETUID,
    GETGID,
    GETEUID,
    GETEGID,
    GETPPID,
    GETPGRP,
    TIME,
    FUTEX,
    SCHED_SETAFFINITY,
    SCHED_GETAFFINITY,
    GETDENTS64,
    SET_TID_ADDRESS,
    CLOCK_GETRES,
    CLOCK_NANOSLEEP,
    OPENAT,
    MKDIRAT,
    NEWFSTATAT,
    UNLINKAT,
    RENAMEAT,
    READLINKAT,
    FACCESSAT,
    PSELECT6,
    PPOLL,
    SET_ROBUST_LIST,
    DUP3,
    PIPE2,
    PREADV,
    PRLIMIT64,
    GETCPU,
    RENAMEAT2,
    STATX,
    RSEQ,
    FACCESSAT2,
    LINK,
    SYMLINK,
    CHOWN,
    FCHOWN,
    LCHOWN,
    FADVISE64,
    FCHOWNAT,
    LINKAT,
    SYMLINKAT,
    FCHMODAT,
    UTIMENSAT,
    FALLOCATE,
];

/// What is called elsewhere here, or not at all.
const NOT_UNKNOWN: [u64; 34] = [
    ARCH_PRCTL,
    BRK,
    CLOCK_GETTIME,
    EXIT,
    EXIT_GROUP,
    GETPID,
    GETRANDOM,
    GETTID,
    KILL,
    MMAP,
    MUNMAP,
    PWRITE64,
    PWRITEV,
    READ,
    RT_SIGACTION,
    RT_SIGPENDING,
    RT_SIGPROCMASK,
    RT_SIGRETURN,
    SCHED_YIELD,
    SIGALTSTACK,
    TGKILL,
    TKILL,
    UNAME,
    WRITE,
    WRITEV,
    JOB_ABORT,
    JOB_END,
    JOB_HALT,
    JOB_HOLD,
    JOB_LEAVE,
    JOB_WAITS,
    CORE_COUNTERS,
    REPORT,
    FLOCK,
];

/// One of the other calls with arguments that are addresses where nothing can be written, lengths, or small numbers. Nothing
/// that it waits for or prints is readable, the standard streams stay open, and the heap keeps what is in it.
fn any_other(random: &mut Random) -> Arguments {
    let number = random.one_of(&OTHERS);
    let mut arguments = [0; 6].map(|_| match random.below(4) {
        0 => random.below(8),
        1 => length(random),
        _ => unwritable(random),
    });
    let own_descriptor = |random: &mut Random| 3 + random.below(300);
    match number {
        NANOSLEEP | CLOCK_NANOSLEEP | POLL | PPOLL | SELECT | PSELECT6 | FUTEX => {
            arguments = [0; 6].map(|_| unreadable(random));
        }
        // Nor does it wait for a lock that a peer has and that it waits for in turn.
        FCNTL => arguments[1] = random.one_of(&[0, 1, 2, 3, 4, 5, 6, 8, 1030, u64::MAX]),
        CLOSE | SENDFILE => arguments[0] = own_descriptor(random),
        DUP2 | DUP3 => arguments[1] = own_descriptor(random),
        // Not "is needed no more".
        MADVISE => arguments[2] = random.one_of(&[0, 1, 2, 3, 5, 8, 14, 99, u64::MAX]),
        _ => {}
    }
    (number, arguments, Success::UpTo(1 << 47))
}

/// Copies by the kernel, by descriptors of any bits, which lie in somebody's scratch. What such a descriptor names by chance is only read.
fn copies(random: &mut Random) -> Arguments {
    const DESCRIBED: u64 = 64;
    let descriptor = scratch_place(random, size_of::<Descriptor>() as u64);
    let buffer = if random.once_in(2) { scratch_place(random, DESCRIBED) } else { unwritable(random) };
    let (number, bytes) = match random.below(3) {
        0 => (TX_INIT, random.below(DESCRIBED)),
        1 => (RX_COMP, random.below(DESCRIBED)),
        _ => return (TX_COMP, [unreadable(random), DESCRIBED, descriptor, 0, 0, 0], Success::UpTo(0)),
    };
    (number, [buffer, bytes, descriptor, 0, 0, 0], Success::UpTo(DESCRIBED))
}

/// A number that is no call: any bits, or close to those that are.
fn unknown(random: &mut Random) -> Arguments {
    loop {
        let number = match random.below(3) {
            0 => random.bits(),
            1 => random.below(512),
            _ => 0x1000 + random.below(64),
        };
        // A kernel that looks at the low half only, as Linux does, may take these for the call.
        let low = number & u64::from(u32::MAX);
        if !OTHERS.contains(&low) && !NOT_UNKNOWN.contains(&low) {
            return (number, [0; 6].map(|_| unwritable(random)), Success::Never);
        }
    }
}

/// Rank 0 adds up the answers.
fn report() -> i32 {
    for number in 0..=LAST_ERRNO {
        // Relaxed: ordered by the barrier.
        let count: u64 = peers().map(|peer| ANSWERS.at(peer).get()[number].load(Ordering::Relaxed)).sum();
        match (number, Errno::check(-(number as i64))) {
            _ if count == 0 => {}
            (0, _) => println!("{:>12} {count}", "success"),
            (_, Err(errno)) => println!("{errno:>12} {count}"),
            (_, Ok(_)) => {}
        }
    }
    // Relaxed: ordered by the barrier.
    let wrong = WRONG.here().load(Ordering::Relaxed);
    println!("syscall-storm: {wrong} wrong");
    if wrong == 0 { 0 } else { 1 }
}
