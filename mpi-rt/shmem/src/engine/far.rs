//! PEs that are not near: each operation finds out whether its PE's memory can be loaded and stored, and if not has Portals do it
//! ([`lwk_remote`]), without the help of that PE.

use super::copy::transfer;
use super::fatal::stop;
use super::pe::mapped;
use super::single::Single;
use core::mem::MaybeUninit;
use lwk_place::WorldRank;
use lwk_primitive::machine::light_fence;
use lwk_remote::{Change, Fault, Remote};
use lwk_user::{eprintln, job, start};

/// This PE's end, from set-up on if a PE is out of reach; it stays open until the job ends.
static REMOTE: Single<Option<Remote>> = Single::new(None);

/// A word that both the processor and Portals update.
pub trait Word: lwk_copy::Word + lwk_remote::Word {}

impl<W: lwk_copy::Word + lwk_remote::Word> Word for W {}

/// Opens this PE's end, and waits until those PEs have opened theirs with which it synchronises first.
pub(crate) fn open(first: impl Iterator<Item = i32>) {
    // SAFETY: what others do with this PE's memory are their calls, whose contracts are this library's.
    let remote = unsafe { Remote::open() }.unwrap_or_else(|none| stop(format_args!("shmem_init: {none}")));
    for pe in first.filter(|pe| mapped::<u8>(core::ptr::null(), *pe).is_none()) {
        remote.await_open(WorldRank(pe as u32));
    }
    REMOTE.with(|it| *it = Some(remote));
}

/// Does something out of reach; `at` is where, in PE `pe`.
fn with<R>(at: usize, pe: i32, act: impl FnOnce(&Remote, WorldRank) -> lwk_remote::Result<R>) -> R {
    let outcome = REMOTE.with(|remote| remote.as_ref().map(|remote| act(remote, WorldRank(pe as u32))));
    match outcome {
        Some(Ok(done)) => done,
        Some(Err(Fault::NotSymmetric)) => stop(format_args!(
            "PE {pe} is out of reach of loads and stores, and {at:#x} is no global that changes and not in the symmetric heap"
        )),
        Some(Err(Fault::Refused(why))) => stop(format_args!("PE {pe} at {at:#x}: {why}")),
        Some(Err(Fault::Gone)) => {
            eprintln!("shmem: PE {}: PE {pe} cannot be reached any more", job().rank());
            start::abort(1)
        }
        None => stop(format_args!("PE {pe} cannot be reached before shmem_init")),
    }
}

/// Does what a caller leaves to this module. It is not the last that the caller does, so the caller makes its frame on this way alone, and the other, a few
/// instructions, has none.
#[inline(always)]
pub(crate) fn apart<R>(operation: impl FnOnce() -> R) -> R {
    let result = operation();
    // The fence is for the compiler, and stands for no order.
    light_fence();
    result
}

/// Copies bytes to PE `pe`: see [`putmem`](super::putmem).
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
pub(crate) unsafe fn put(dest: *mut u8, source: *const u8, bytes: usize, pe: i32) {
    // SAFETY: `source` is readable and the peer's `dest` writable for `bytes` bytes, disjoint (this function's contract).
    unsafe {
        match mapped(dest, pe) {
            Some(target) => transfer(source, target, bytes),
            // Wherever they would go.
            None if bytes == 0 => {}
            None => with(dest.addr(), pe, |remote, rank| remote.put(rank, dest, source, bytes)),
        }
    }
}

/// Copies bytes from PE `pe`: see [`getmem`](super::getmem).
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
pub(crate) unsafe fn get(dest: *mut u8, source: *const u8, bytes: usize, pe: i32) {
    // SAFETY: the peer's `source` is readable and `dest` writable for `bytes` bytes, disjoint (this function's contract).
    unsafe {
        match mapped(source, pe) {
            Some(source) => transfer(source, dest, bytes),
            None if bytes == 0 => {}
            None => with(source.addr(), pe, |remote, rank| remote.get(rank, dest, source, bytes)),
        }
    }
}

/// Stores one value at PE `pe`: see [`p`](super::p).
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
pub(crate) unsafe fn store<T: Copy>(dest: *mut T, value: T, pe: i32) {
    // SAFETY: the peer's `dest` is writable for one element (this function's contract).
    unsafe { put(dest.cast(), (&raw const value).cast(), size_of::<T>(), pe) }
}

/// Loads one value from PE `pe`: see [`g`](super::g).
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
pub(crate) unsafe fn load<T: Copy>(source: *const T, pe: i32) -> T {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: the peer's `source` is readable for one element, a valid value (this function's contract).
    unsafe {
        get(value.as_mut_ptr().cast(), source.cast(), size_of::<T>(), pe);
        value.assume_init()
    }
}

/// Changes a word of PE `pe`; what was there.
///
/// # Safety
/// `at` is a symmetric, aligned word that is used at once by atomics only.
#[cold]
#[inline(never)]
pub(crate) unsafe fn fetch<W: Word>(at: *mut W, change: Change<W>, pe: i32) -> W {
    // SAFETY: an aligned word that only atomics use (this function's contract).
    unsafe {
        match mapped(at, pe) {
            Some(at) => apply(at, change),
            None => with(at.addr(), pe, |remote, rank| remote.fetch(rank, at, change)),
        }
    }
}

/// The same where nobody asks what was there: done when [`complete`] says so.
///
/// # Safety
/// As for [`fetch`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn change<W: Word>(at: *mut W, change: Change<W>, pe: i32) {
    // SAFETY: an aligned word that only atomics use (this function's contract).
    unsafe {
        match mapped(at, pe) {
            Some(at) => drop(apply(at, change)),
            None => with(at.addr(), pe, |remote, rank| remote.change(rank, at, change)),
        }
    }
}

/// # Safety
/// `at` leads to an aligned word that is used at once by atomics only.
unsafe fn apply<W: Word>(at: *mut W, change: Change<W>) -> W {
    // SAFETY: this function's contract.
    unsafe {
        match change {
            Change::Add(value) => W::add(at, value),
            Change::And(value) => W::and(at, value),
            Change::Or(value) => W::or(at, value),
            Change::Xor(value) => W::xor(at, value),
            Change::Swap(value) => W::swap(at, value),
            Change::CompareSwap(old, new) => W::compare_exchange(at, old, new),
        }
    }
}

/// Loads a word of a PE out of reach; `None` if that PE is gone.
///
/// # Safety
/// `source` is a symmetric, aligned word.
pub(crate) unsafe fn look(source: *const u32, pe: i32) -> Option<u32> {
    let mut word = 0;
    // SAFETY: a symmetric word, which is stored as a whole (this function's contract).
    let look = |remote: &Remote| unsafe { remote.look(WorldRank(pe as u32), source, &mut word) };
    REMOTE.with(|remote| remote.as_ref().is_some_and(look)).then_some(word)
}

/// Waits until all that this PE has put, changed and told out of reach is there.
#[cold]
#[inline(never)]
pub(crate) fn complete() {
    if REMOTE.with(|remote| remote.as_ref().is_some_and(|remote| remote.complete().is_err())) {
        eprintln!("shmem: PE {}: a PE of another node cannot be reached any more", job().rank());
        start::abort(1)
    }
}
