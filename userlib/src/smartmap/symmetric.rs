//! Statics that peers may reach.

use super::remote::Remote;
use super::{Peer, remote_address};
use crate::job::job;
use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize,
};

/// Types of which `&T` may be used by several ranks at once.
///
/// # Safety
/// All access through `&T` must be by atomics (or not modify anything), and the value must hold no addresses: what is an
/// address in one rank means something else in another.
pub unsafe trait Shared: Sync + 'static {}

macro_rules! shared {
    ($($atomic:ty),*) => {
        $(
            // SAFETY: an atomic integer, without addresses.
            unsafe impl Shared for $atomic {}
        )*
    };
}

shared!(AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize);
shared!(AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, lwk_words::Told);

// SAFETY: its elements are `Shared`, and an array is nothing but them.
unsafe impl<T: Shared, const N: usize> Shared for [T; N] {}
// SAFETY: what it holds is `Shared`, and beside that it is padding.
unsafe impl<T: Shared> Shared for CacheLine<T> {}

/// A value with a cache line of 64 bytes to itself.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct CacheLine<T>(pub T);

impl<T> Deref for CacheLine<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CacheLine<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// A static that peers may reach: the same object, at the same address, in every rank of the node.
///
/// ```ignore
/// static INBOX: Symmetric<[u64; 128]> = Symmetric::new([0; 128]);
/// static ERRORS: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));
///
/// ERRORS.at(peer).get().fetch_add(1, Ordering::Relaxed);
/// // SAFETY: only its left neighbour writes a rank's inbox, before the barrier.
/// unsafe { INBOX.at(peer).as_slice().copy_from(0, &[1, 2, 3]) };
/// ```
#[repr(transparent)]
pub struct Symmetric<T>(UnsafeCell<T>);

// SAFETY: the safe methods hand out `&T` only where `T` is `Shared`; everything else is behind `unsafe` functions that ask
// for exclusion.
unsafe impl<T: 'static> Sync for Symmetric<T> {}

impl<T> Symmetric<T> {
    /// An object that every rank starts with this value of.
    pub const fn new(value: T) -> Symmetric<T> {
        Symmetric(UnsafeCell::new(value))
    }

    /// A peer's copy of this object.
    ///
    /// # Panics
    /// If this object is not a static: only those lie at the same address in every rank.
    #[inline]
    pub fn at(&'static self, peer: Peer) -> Remote<T> {
        let local = self.as_ptr();
        assert!(
            job().image_contains(local.addr() as u64, size_of::<T>() as u64),
            "a Symmetric must be a static: this one is at {local:p}"
        );
        // SAFETY: in the image, therefore an initialised object of this type at the same address of every rank.
        unsafe { Remote::new(remote_address(peer, local)) }
    }

    /// This rank's own copy, as a pointer.
    #[inline]
    pub const fn as_ptr(&self) -> *mut T {
        self.0.get()
    }

    /// This rank's own copy, for reading.
    ///
    /// # Safety
    /// No rank may write it while the reference is in use; earlier writes must be ordered before.
    #[inline]
    pub unsafe fn as_ref(&self) -> &T {
        // SAFETY: initialised by `new`; no rank writes it while the reference is in use (this function's contract).
        unsafe { &*self.0.get() }
    }

    /// This rank's own copy, for writing.
    ///
    /// # Safety
    /// No other rank may touch it, and no other reference to it may exist in this rank, while the reference is in use.
    #[inline]
    #[expect(
        clippy::mut_from_ref,
        reason = "interior mutability, as of UnsafeCell; this function's contract is exclusion"
    )]
    pub unsafe fn as_mut(&self) -> &mut T {
        // SAFETY: initialised by `new`; nobody else touches it while the reference is in use (this function's contract).
        unsafe { &mut *self.0.get() }
    }
}

impl<T: Shared> Symmetric<T> {
    /// This rank's own copy.
    #[inline]
    pub fn here(&self) -> &T {
        // SAFETY: initialised by `new`; `Shared`: references may be used by all ranks at once.
        unsafe { &*self.0.get() }
    }
}
