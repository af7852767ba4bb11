//! The program of the host home's tests: a static ELF file without any library, built by the tests with plain `rustc`.
//!
//! The first argument names what to do. A check that fails ends the rank with the number of its line, modulo 256.
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

mod arch;

use arch::call;
use core::sync::atomic::{AtomicU64, Ordering};

const READ: u64 = 0;
const WRITE: u64 = 1;
const MMAP: u64 = 9;
const MUNMAP: u64 = 11;
const BRK: u64 = 12;
const WRITEV: u64 = 20;
const GETPID: u64 = 39;
const UNAME: u64 = 63;
const CLOCK_GETTIME: u64 = 228;
const EXIT_GROUP: u64 = 231;
const GETRANDOM: u64 = 318;
const JOB_ABORT: u64 = 0x1000;
const CORE_COUNTERS: u64 = 0x1001;

const EBADF: i64 = -9;
const ENOMEM: i64 = -12;
const EACCES: i64 = -13;
const EFAULT: i64 = -14;
const ENODEV: i64 = -19;
const EINVAL: i64 = -22;
const ENOSYS: i64 = -38;

const SLOT: u64 = 1 << 39;
const PAGE: u64 = 4096;

/// Symmetric: the same address in every rank.
static BOARD: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];

macro_rules! check {
    ($condition:expr) => {
        if !$condition {
            exit(1 + (line!() as u64 - 1) % 255)
        }
    };
}

fn sys(number: u64, arguments: &[u64]) -> i64 {
    let mut all = [0; 6];
    for (to, from) in all.iter_mut().zip(arguments) {
        *to = *from;
    }
    // SAFETY: the checks only pass memory that is theirs, or that the loader must refuse.
    unsafe { call(number, all) }
}

fn exit(status: u64) -> ! {
    sys(EXIT_GROUP, &[status]);
    loop {}
}

fn print(fd: u64, text: &[u8]) {
    check!(sys(WRITE, &[fd, text.as_ptr() as u64, text.len() as u64]) == text.len() as i64);
}

/// Where the job page is (`lwk_abi::address`).
const JOB_PAGE: u64 = 0x1f_f000;

/// A word of the job page.
fn job(offset: u64) -> u32 {
    // SAFETY: the job page is readable memory.
    unsafe { *((JOB_PAGE + offset) as *const u32) }
}

fn job_long(offset: u64) -> u64 {
    // SAFETY: the job page is readable memory.
    unsafe { *((JOB_PAGE + offset) as *const u64) }
}

fn rank() -> u32 {
    job(16)
}

fn size() -> u32 {
    job(20)
}

/// The peers' entries of the board.
fn board(of: u32, index: u32) -> &'static AtomicU64 {
    let address = &raw const BOARD[index as usize] as u64;
    // SAFETY: the same static in the slot of another rank of the job.
    unsafe { &*((address + (of as u64 + 1) * SLOT) as *const AtomicU64) }
}

#[unsafe(no_mangle)]
extern "C" fn begin(stack: *const u64) -> ! {
    check!(stack as u64 % 16 == 0);
    // SAFETY: the initial stack: a count, then that many pointers to strings.
    let (count, arguments) = unsafe { (*stack, stack.add(1)) };
    check!(count == 2);
    // SAFETY: the second of two arguments, a string ended by NUL; a check fails before a byte behind it is read.
    let is = |name: &[u8]| unsafe {
        let text = *arguments.add(1) as *const u8;
        name.iter().chain(&[0]).enumerate().all(|(index, &byte)| *text.add(index) == byte)
    };
    match () {
        _ if is(b"peers") => peers(),
        _ if is(b"memory") => memory(),
        _ if is(b"pointers") => pointers(),
        _ if is(b"identity") => identity(),
        _ if is(b"lines") => lines(),
        _ if is(b"unsupported") => {
            check!(sys(999, &[]) == ENOSYS && sys(999, &[]) == ENOSYS && sys(57, &[]) == ENOSYS);
        }
        _ if is(b"last-dies") => die_alone(),
        _ if is(b"last-aborts") => {
            if rank() + 1 == size() {
                sys(JOB_ABORT, &[7]);
            }
            spin()
        }
        _ if is(b"last-exits") => {
            if rank() + 1 == size() {
                exit(9);
            }
            spin()
        }
        _ if is(b"all-fail") => {
            peers();
            fail()
        }
        _ if is(b"told") => {
            print(1, b"before\n");
            let mut byte = 0u8;
            check!(sys(READ, &[0, &raw mut byte as u64, 1]) == 1);
            print(1, b"after\n");
        }
        _ if is(b"spin") => {
            print(1, b"spinning\n");
            spin()
        }
        _ => exit(255),
    }
    exit(0)
}

fn spin() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// One rank dies of a fault, the next aborts, the third exits, the fourth dies again.
fn fail() -> ! {
    match rank() % 3 {
        0 => poke(),
        1 => drop(sys(JOB_ABORT, &[7])),
        _ => exit(9),
    }
    exit(253)
}

/// Every rank tells every other its number, and waits for all.
fn peers() {
    for peer in 0..size() {
        board(peer, rank()).store(rank() as u64 + 1, Ordering::Release);
    }
    for from in 0..size() {
        // Pairs with the store above.
        while board(rank(), from).load(Ordering::Acquire) != from as u64 + 1 {
            sys(24, &[]);
        }
        check!(BOARD[from as usize].load(Ordering::Relaxed) == from as u64 + 1);
    }
}

fn bytes(address: u64, count: u64) -> &'static mut [u8] {
    // SAFETY: memory that the loader has just given.
    unsafe { core::slice::from_raw_parts_mut(address as *mut u8, count as usize) }
}

/// Memory comes from the segment, zeroed, also when it has been used before.
fn memory() {
    let (start, end) = (job_long(104), job_long(112));
    check!(start % PAGE == 0 && start < end);
    let first = sys(BRK, &[0]) as u64;
    check!(first == start);
    check!(sys(BRK, &[first + 3 * PAGE]) as u64 == first + 3 * PAGE);
    bytes(first, 3 * PAGE).fill(7);
    check!(sys(BRK, &[first + PAGE]) as u64 == first + PAGE);
    check!(sys(BRK, &[first + 3 * PAGE]) as u64 == first + 3 * PAGE);
    check!(bytes(first, PAGE).iter().all(|&byte| byte == 7));
    check!(bytes(first + PAGE, 2 * PAGE).iter().all(|&byte| byte == 0));
    check!(sys(BRK, &[end + PAGE]) as u64 == first + 3 * PAGE);

    let map = |size: u64| sys(MMAP, &[0, size, 3, 0x22, u64::MAX, 0]);
    let area = map(5 << 20) as u64;
    check!(area % PAGE == 0 && area > first && area + (5 << 20) <= end);
    check!(bytes(area, 5 << 20).iter().all(|&byte| byte == 0));
    bytes(area, 5 << 20).fill(9);
    check!(sys(MUNMAP, &[area, 5 << 20]) == 0);
    check!(map(5 << 20) as u64 == area);
    check!(bytes(area, 5 << 20).iter().all(|&byte| byte == 0));
    check!(map(0) == EINVAL && map(1 << 45) == ENOMEM && map(u64::MAX) == ENOMEM);
    check!(sys(MUNMAP, &[area + 1, PAGE]) == EINVAL && sys(MUNMAP, &[1 << 40, PAGE]) == EINVAL);
    // Executable memory, and files, there are none.
    check!(sys(MMAP, &[0, PAGE, 7, 0x22, u64::MAX, 0]) == EACCES);
    check!(sys(MMAP, &[0, PAGE, 3, 2, 1, 0]) == ENODEV && sys(MMAP, &[0, PAGE, 3, 2, 7, 0]) == EBADF);
}

/// What Linux could reach but no node has.
fn pointers() {
    let text = b"x\n";
    let good = text.as_ptr() as u64;
    let loader_stack = 0x7fff_ffff_0000u64;
    for bad in
        [0, 0x1000, SLOT - 1, (size() as u64 + 1) * SLOT + good, loader_stack, 1 << 47, 1 << 63, u64::MAX]
    {
        check!(sys(WRITE, &[1, bad, 2]) == EFAULT);
        check!(sys(WRITEV, &[1, bad, 1]) == EFAULT);
        check!(sys(GETRANDOM, &[bad, 8, 0]) == EFAULT);
        check!(sys(CLOCK_GETTIME, &[1, bad]) == EFAULT);
        check!(sys(UNAME, &[bad]) == EFAULT);
        let vector = [bad, 2];
        check!(sys(WRITEV, &[1, vector.as_ptr() as u64, 1]) == EFAULT);
    }
    check!(sys(WRITE, &[1, good, u64::MAX]) == EFAULT);
    check!(sys(GETRANDOM, &[JOB_PAGE, 8, 0]) == EFAULT);
    check!(sys(GETRANDOM, &[begin as *const () as u64, 8, 0]) == EFAULT);
    check!(sys(WRITEV, &[1, good, 1025]) == EINVAL);
    for fd in [0, 3, 4, 5, 100, u64::MAX] {
        check!(sys(WRITE, &[fd, good, 2]) == EBADF);
    }
    check!(sys(READ, &[3, 0x40_0000, 1]) == EBADF);
    check!(sys(CORE_COUNTERS, &[good]) == ENOSYS);
    // A peer's memory is as good as one's own.
    check!(sys(WRITE, &[1, good + SLOT, 2]) == 2);
    let vector = [good + SLOT, 1, good, 2];
    check!(sys(WRITEV, &[1, vector.as_ptr() as u64, 2]) == 3);
}

fn identity() {
    check!(job_long(0) == u64::from_le_bytes(*b"MARGAYJP"));
    check!(sys(GETPID, &[]) == rank() as i64 + 1);
    check!(arch::thread_word() == 0);
    let mut byte = 0u8;
    check!(sys(READ, &[0, &raw mut byte as u64, 1]) == 0);
    let mut names = [1u8; 390];
    check!(sys(UNAME, &[names.as_mut_ptr() as u64]) == 0);
    check!(&names[..7] == b"Margay\0" && &names[260..267] == b"x86_64\0");
    let mut times = [[0i64; 2]; 2];
    check!(sys(CLOCK_GETTIME, &[1, &raw mut times[0] as u64]) == 0);
    check!(sys(CLOCK_GETTIME, &[1, &raw mut times[1] as u64]) == 0 && times[1] >= times[0]);
}

/// Many lines, pieces of lines, and a last one that nothing ends.
fn lines() {
    for _ in 0..200 {
        print(1, b"the quick brown ");
        print(1, b"fox jumps\nover the lazy ");
        print(2, b"complaint\n");
        print(1, b"dog\n");
    }
    print(1, b"the end");
}

#[inline(never)]
fn die_alone() {
    print(1, b"before\n");
    if rank() + 1 == size() {
        poke();
    }
    spin()
}

/// Writes to the null page.
#[inline(never)]
fn poke() {
    // SAFETY: not sound, which is the point.
    unsafe { core::ptr::write_volatile(core::hint::black_box(8 as *mut u64), 1) };
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    exit(254)
}
