//! Every system call with every kind of bad argument, one by one: Linux's error numbers, and nothing else happens
//!
//! Every rank runs all checks. A check that fails is one line on standard error; the last line counts them, and the status is
//! 1 if there were any. The host home answers as the kernel does; only the counters of a core it has not.
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use core::sync::atomic::{AtomicU64, Ordering};
use lwk_apps::arch::x86_64 as machine;
use lwk_apps::cli::Cli;
use lwk_boot_tests::hostile::{KERNEL, NONCANONICAL, empty_slot, guard};
use lwk_boot_tests::scratch;
use lwk_user::abi::address::{JOB_PAGE, SLOT_BYTES};
use lwk_user::abi::engine;
use lwk_user::abi::limic::{IPROBE, IRECV, ISEND, RELOCATE, RX_COMP, TX_COMP, TX_INIT, WAIT, WITHDRAW};
use lwk_user::abi::syscall::{CORE_COUNTERS, MARGAY_BASE, linux::*};
use lwk_user::barrier::node_barrier;
use lwk_user::smartmap::{Peer, Symmetric};
use lwk_user::{Env, eprintln, job, println, syscall};

const USAGE: &str = "syscall-errors";

const EPERM: i64 = -1;
const EBADF: i64 = -9;
const ENOMEM: i64 = -12;
const EACCES: i64 = -13;
const EFAULT: i64 = -14;
const EINVAL: i64 = -22;
const ENOSYS: i64 = -38;

/// Linux's `MAP_PRIVATE | MAP_ANONYMOUS`.
const ANONYMOUS: u64 = 0x22;
/// Linux's `MAP_FIXED`.
const FIXED: u64 = 0x10;
/// Linux's `PROT_READ | PROT_WRITE`.
const READ_WRITE: u64 = 3;

/// In rank 0: checks that all ranks have made, and failed.
static CHECKS: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));
static FAILED: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));

lwk_user::entry!(main);

fn main(env: &Env) -> i32 {
    let mut cli = Cli::new(env, USAGE);
    if let Some(argument) = cli.argument() {
        cli.unknown(argument);
    }
    node_barrier();
    let checksum = scratch::code_checksum();
    output();
    input();
    heap();
    time_and_names();
    peers_memory();
    copies();
    partial_ranges();
    numbers();
    registers();
    that("no call has written what it may not", scratch::is_intact() && scratch::code_checksum() == checksum);
    node_barrier();
    if Peer::me() != Peer::root() {
        return 0;
    }
    // Relaxed, all: ordered by the barrier.
    let [checks, failed] = [&CHECKS, &FAILED].map(|count| count.here().load(Ordering::Relaxed));
    println!("syscall-errors: {} ranks, {checks} checks, {failed} failed", Peer::count());
    if failed == 0 { 0 } else { 1 }
}

fn count(what: &'static Symmetric<AtomicU64>) {
    // Relaxed: the barrier before the report orders it.
    what.at(Peer::root()).get().fetch_add(1, Ordering::Relaxed);
}

/// Counts a check, and says so if it has failed.
fn that(what: &str, holds: bool) {
    count(&CHECKS);
    if !holds {
        count(&FAILED);
        eprintln!("rank {}: failed: {what}", job().rank());
    }
}

/// Makes a system call and compares its result.
fn expect(what: &str, number: u64, arguments: &[u64], expected: i64) {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    // SAFETY: every call of this program either fails without effect or writes to the scratch; that is what is checked.
    let result = unsafe { syscall::raw(number, all) };
    count(&CHECKS);
    if result != expected {
        count(&FAILED);
        eprintln!("rank {}: failed: {what}: {result}, not {expected}", job().rank());
    }
}

/// Addresses that can be neither read nor written.
fn unreadable() -> [(&'static str, u64); 8] {
    [
        ("null", 0),
        ("the first MiB", 0xf_f000),
        ("the stack guard", guard()),
        ("an empty slot", empty_slot()),
        ("the kernel", KERNEL),
        ("the kernel's end", 0xffff_ffff_ffff_f000),
        ("no half", NONCANONICAL),
        ("a wrapping range", u64::MAX - 3),
    ]
}

fn output() {
    let scratch = scratch::own();
    for (place, address) in unreadable() {
        expect(place, WRITE, &[1, address, 8], EFAULT);
        expect(place, WRITE, &[2, address, 1], EFAULT);
        expect(place, WRITEV, &[1, address, 1], EFAULT);
        vector(&[(address, 8)]);
        expect(place, WRITEV, &[1, scratch, 1], EFAULT);
        vector(&[(scratch, 0), (address, 8)]);
        expect(place, WRITEV, &[1, scratch, 2], EFAULT);
    }
    expect("write of nothing", WRITE, &[1, scratch, 0], 0);
    expect("write of more than there is", WRITE, &[1, scratch, u64::MAX], EFAULT);
    expect("write of half the address space", WRITE, &[1, scratch, 1 << 63], EFAULT);
    expect("write to no file", WRITE, &[77, scratch, 1], EBADF);
    expect("write to file -1", WRITE, &[u64::MAX, scratch, 1], EBADF);
    expect("writev of no entries", WRITEV, &[1, scratch, 0], 0);
    expect("writev of too many entries", WRITEV, &[1, scratch, 1025], EINVAL);
    expect("writev of -1 entries", WRITEV, &[1, scratch, u64::MAX], EINVAL);
    expect("writev to no file", WRITEV, &[77, scratch, 1], EBADF);
    vector(&[(scratch, u64::MAX)]);
    expect("writev of a negative length", WRITEV, &[1, scratch, 1], EINVAL);
    vector(&[(scratch, 0), (scratch, 0)]);
    expect("writev of two nothings", WRITEV, &[1, scratch, 2], 0);
}

/// Puts a vector for `writev` into the scratch.
fn vector(entries: &[(u64, u64)]) {
    let target: *mut [u64; 2] = core::ptr::with_exposed_provenance_mut(scratch::own() as usize);
    for (index, (base, bytes)) in entries.iter().enumerate() {
        // SAFETY: the scratch is this rank's own, aligned to a page, and holds 256 entries. (Peers touch it only within
        // `peers_memory`, between barriers.)
        unsafe { target.add(index).write_volatile([*base, *bytes]) };
    }
}

fn input() {
    for (place, address) in unreadable() {
        expect(place, READ, &[0, address, 8], EFAULT);
    }
    expect("read into the code", READ, &[0, scratch::code(), 8], EFAULT);
    expect("read at the end of the file", READ, &[0, scratch::own(), 8], 0);
    expect("read from no file", READ, &[77, scratch::own(), 8], EBADF);
    expect("read from file -1", READ, &[u64::MAX, scratch::own(), 8], EBADF);
}

fn heap() {
    // SAFETY: only asks.
    let end = unsafe { syscall::brk(0) };
    for bad in [1, 0x40_0000, guard(), KERNEL, NONCANONICAL, u64::MAX, empty_slot(), end + SLOT_BYTES] {
        expect("brk to where it cannot go", BRK, &[bad], end as i64);
    }
    let none = u64::MAX;
    expect("mmap of nothing", MMAP, &[0, 0, READ_WRITE, ANONYMOUS, none, 0], EINVAL);
    expect("mmap of too much", MMAP, &[0, 1 << 50, READ_WRITE, ANONYMOUS, none, 0], ENOMEM);
    expect("mmap of everything", MMAP, &[0, u64::MAX, READ_WRITE, ANONYMOUS, none, 0], ENOMEM);
    expect("mmap neither shared nor private", MMAP, &[0, 4096, READ_WRITE, 0x20, none, 0], EINVAL);
    expect("mmap of no file", MMAP, &[0, 4096, READ_WRITE, 2, 77, 0], EBADF);
    expect("mmap at half a page of a file", MMAP, &[0, 4096, READ_WRITE, ANONYMOUS, none, 1], EINVAL);
    let fixed = ANONYMOUS | FIXED;
    expect("mmap at a misaligned place", MMAP, &[end | 8, 4096, READ_WRITE, fixed, none, 0], EINVAL);
    expect("mmap over the kernel", MMAP, &[KERNEL, 4096, READ_WRITE, fixed, none, 0], ENOMEM);
    expect("mmap around the end", MMAP, &[u64::MAX - 4095, 8192, READ_WRITE, fixed, none, 0], ENOMEM);
    expect("mmap over the code", MMAP, &[0x40_0000, 4096, READ_WRITE, fixed, none, 0], ENOMEM);
    expect("mmap over the guard", MMAP, &[guard(), 4096, READ_WRITE, fixed, none, 0], ENOMEM);
    expect("mmap over a peer", MMAP, &[empty_slot(), 4096, READ_WRITE, fixed, none, 0], ENOMEM);
    expect("mmap of code", MMAP, &[0, 4096, 7, ANONYMOUS, none, 0], EACCES);
    expect("munmap of nothing", MUNMAP, &[end.next_multiple_of(4096), 0], EINVAL);
    expect("munmap of half a page", MUNMAP, &[end | 8, 4096], EINVAL);
    expect("munmap of the kernel", MUNMAP, &[KERNEL, 4096], EINVAL);
    expect("munmap around the end", MUNMAP, &[u64::MAX - 4095, 8192], EINVAL);
    expect("munmap of everything", MUNMAP, &[end.next_multiple_of(4096), u64::MAX], EINVAL);
    expect("munmap of the code", MUNMAP, &[0x40_0000, 4096], EINVAL);
    expect("munmap of the job page", MUNMAP, &[JOB_PAGE, 4096], EINVAL);
}

fn time_and_names() {
    let scratch = scratch::own();
    let code = [("the code", scratch::code()), ("the job page", JOB_PAGE)];
    for (place, address) in unreadable().into_iter().chain(code) {
        expect(place, CLOCK_GETTIME, &[1, address], EFAULT);
        expect(place, GETRANDOM, &[address, 8, 0], EFAULT);
        expect(place, UNAME, &[address], EFAULT);
        expect(place, ARCH_PRCTL, &[0x1003, address], EFAULT);
        // A Linux host has no counters to give.
        let refusal = if job().is_host_home() { ENOSYS } else { EFAULT };
        expect(place, CORE_COUNTERS, &[address], refusal);
    }
    expect("a clock that is none", CLOCK_GETTIME, &[99, scratch], EINVAL);
    expect("the time at an odd address", CLOCK_GETTIME, &[1, scratch + 3], 0);
    expect("random bytes at an odd address", GETRANDOM, &[scratch + 5, 13, 0], 13);
    expect("no random bytes", GETRANDOM, &[scratch, 0, 0], 0);
    expect("random bytes with an unknown flag", GETRANDOM, &[scratch, 8, 0x100], EINVAL);
    expect("random bytes with both kinds", GETRANDOM, &[scratch, 8, 6], EINVAL);
    expect("names", UNAME, &[scratch + 1], 0);
    expect("an FS base in the kernel", ARCH_PRCTL, &[0x1002, KERNEL], EPERM);
    expect("an FS base in no half", ARCH_PRCTL, &[0x1002, NONCANONICAL], EPERM);
    expect("a GS base in the kernel", ARCH_PRCTL, &[0x1001, KERNEL], EPERM);
    expect("an unknown code", ARCH_PRCTL, &[77, 0], EINVAL);
    expect("sched_yield", SCHED_YIELD, &[], 0);
    that(
        "gettid is getpid, which is positive",
        syscall::gettid() == syscall::getpid() && syscall::getpid() > 0,
    );
    expect("setting the FS base", ARCH_PRCTL, &[0x1002, 0x1234_5678], 0);
    expect("reading it back", ARCH_PRCTL, &[0x1003, scratch], 0);
    that("the FS base is what was set", word(scratch) == 0x1234_5678);
    expect("clearing the FS base", ARCH_PRCTL, &[0x1002, 0], 0);
}

fn word(address: u64) -> u64 {
    let pointer: *const u64 = core::ptr::with_exposed_provenance(address as usize);
    // SAFETY: called with aligned addresses in this rank's scratch or at the end of its stack, all readable.
    unsafe { pointer.read_volatile() }
}

/// A peer's memory is as good as one's own, and its limits are as hard.
fn peers_memory() {
    let slot = (Peer::me().right().node_rank().0 as u64 + 1) * SLOT_BYTES;
    let theirs = scratch::of(Peer::me().right());
    node_barrier();
    expect("the time into a peer", CLOCK_GETTIME, &[1, theirs + 64], 0);
    expect("random bytes into a peer", GETRANDOM, &[theirs + 128, 32, 0], 32);
    node_barrier();
    that(
        "the left neighbour's random bytes are here",
        (0..4).any(|index| word(scratch::own() + 128 + 8 * index) != 0),
    );
    for (place, local) in [
        ("a peer's null", 0),
        ("a peer's job page", JOB_PAGE),
        ("a peer's code", scratch::code()),
        ("a peer's guard", guard()),
        ("a peer's end", job().page().stack_end),
    ] {
        expect(place, CLOCK_GETTIME, &[1, slot + local], EFAULT);
        expect(place, GETRANDOM, &[slot + local, 8, 0], EFAULT);
    }
    expect("write from a peer's guard", WRITE, &[1, slot + guard(), 8], EFAULT);
    node_barrier();
}

/// Copies by the kernel touch memory of the job, and nothing else, whoever wrote the descriptor.
fn copies() {
    let (me, right) = (Peer::me(), Peer::me().right());
    let slot = |peer: Peer| (peer.node_rank().0 as u64 + 1) * SLOT_BYTES;
    // The scratch from 256 on is the descriptor, from 512 on the memory described, from 1024 on the buffer.
    let (descriptor, buffer) = (scratch::own() + 256, scratch::own() + 1024);
    let describe = |words: [u64; 3]| {
        let target: *mut [u64; 3] = core::ptr::with_exposed_provenance_mut(descriptor as usize);
        // SAFETY: the scratch is this rank's own there, aligned, and no peer touches that part.
        unsafe { target.write_volatile(words) };
    };
    let read_only = [("the code", scratch::code()), ("the job page", JOB_PAGE)];
    for (place, address) in unreadable() {
        expect(place, TX_INIT, &[address, 8, descriptor], EFAULT);
        expect(place, TX_INIT, &[buffer, 8, address], EFAULT);
        for call in [ISEND, IRECV, WAIT, IPROBE, WITHDRAW, RELOCATE] {
            expect(place, call, &[address & !7], EFAULT);
        }
        for copy in [RX_COMP, TX_COMP] {
            describe([slot(me) + 512 + scratch::own(), 8, 0]);
            expect(place, copy, &[address, 8, descriptor], EFAULT);
            expect(place, copy, &[buffer, 8, address], EFAULT);
            // The beginning of a segment, which the empty slot has not, is there in a peer's.
            if address != empty_slot() {
                describe([slot(right) + address % SLOT_BYTES, 8, 0]);
                expect(place, copy, &[buffer, 8, descriptor], EFAULT);
            }
        }
    }
    for (place, address) in read_only {
        describe([slot(right) + address, 8, 0]);
        expect(place, TX_COMP, &[buffer, 8, descriptor], EFAULT);
        expect(place, RX_COMP, &[buffer, 8, descriptor], 8);
        expect(place, RX_COMP, &[address, 8, descriptor], EFAULT);
    }
    for (what, words, expected) in [
        ("a descriptor of slot 0", [scratch::own(), 8, 0], EINVAL),
        ("a descriptor of the kernel", [KERNEL, 8, 0], EINVAL),
        ("a descriptor of no half", [NONCANONICAL, 8, 0], EINVAL),
        ("a descriptor of an empty slot", [empty_slot(), 8, 0], EFAULT),
        ("an offset beyond the end", [slot(right) + scratch::own(), 8, 9], EINVAL),
        ("an offset around the end", [slot(right) + scratch::own(), u64::MAX, u64::MAX - 8], EFAULT),
        ("a length over the segment's end", [slot(right) + job().page().stack_end - 8, 16, 0], EFAULT),
    ] {
        describe(words);
        expect(what, RX_COMP, &[buffer, 16, descriptor], expected);
        expect(what, TX_COMP, &[buffer, 16, descriptor], expected);
    }
    expect("a description of a peer's memory", TX_INIT, &[scratch::of(right) + 512, 40, descriptor], 40);
    that("it names the peer's slot", word(descriptor) == slot(right) + scratch::own() + 512);
    fill(buffer, 0x1111 * (u64::from(me.node_rank().0) + 1));
    node_barrier();
    expect("a copy to a peer, of less than is described", TX_COMP, &[buffer, 16, descriptor], 16);
    node_barrier();
    let left = 0x1111 * (u64::from(me.left().node_rank().0) + 1);
    that(
        "the left neighbour's words are here",
        [0, 8].map(|at| word(scratch::own() + 512 + at)) == [left; 2],
    );
    fill(buffer, 0);
    expect("a copy from a peer", RX_COMP, &[buffer, 16, descriptor], 16);
    let own = 0x1111 * (u64::from(me.node_rank().0) + 1);
    that("what was written to the right is there", [0, 8].map(|at| word(buffer + at)) == [own; 2]);
    expect("a number behind the last", engine::RANGE.end() + 1, &[buffer, 16, descriptor], ENOSYS);
    node_barrier();
}

/// Fills two words of the scratch.
fn fill(address: u64, value: u64) {
    let target: *mut [u64; 2] = core::ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: called with aligned addresses in this rank's scratch.
    unsafe { target.write_volatile([value; 2]) };
}

/// A range that begins well and ends badly is refused as a whole, and nothing of it is written.
fn partial_ranges() {
    let end = job().page().stack_end;
    let before = word(end - 8);
    expect("random bytes over the segment's end", GETRANDOM, &[end - 8, 16, 0], EFAULT);
    expect("the time over the segment's end", CLOCK_GETTIME, &[1, end - 8], EFAULT);
    expect("names over the segment's end", UNAME, &[end - 8], EFAULT);
    expect("read over the segment's end", READ, &[0, end - 8, 16], EFAULT);
    expect("write over the segment's end", WRITE, &[1, end - 8, 16], EFAULT);
    that("the last word of the segment is as it was", word(end - 8) == before);
}

/// Numbers that are no system call.
fn numbers() {
    for number in [9999, MARGAY_BASE - 1, MARGAY_BASE + 0xfff, u64::MAX - 1, i64::MIN as u64 | 9999] {
        expect("a number that is no call", number, &[], ENOSYS);
    }
    for number in [41, 56, 57, 58, 59, 101, 165] {
        expect("a call of Linux that Margay does not have", number, &[], ENOSYS);
    }
}

/// What a system call leaves alone.
fn registers() {
    that("a call changes no register but three", machine::registers_changed_by_getpid() == 0);
    let (result, flags) = machine::getpid_with_odd_flags();
    that("a call with odd flags set works", result == i64::from(syscall::getpid()));
    that("and leaves the flags as they were", flags & 0x44400 == 0x44400);
}
