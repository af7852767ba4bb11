//! Remote atomics (the standard, section 9.8): one locked instruction on the peer's memory.
//!
//! `set` is a store and `fetch` a load, which are atomic as they are. `fetch_and`, `fetch_or` and `fetch_xor` are a loop around
//! a locked compare-exchange, since this processor has no instruction that does one of them and returns the old value. The
//! non-blocking forms are complete at once.
//!
//! Orderings are the strongest that cost nothing here: a locked instruction is a full barrier anyway.

use super::pe::at;
use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

mod sealed {
    pub trait Sealed {}
}

/// Types with `fetch`, `set` and `swap`: the standard's extended atomic types.
pub trait AtomicWord: Copy + sealed::Sealed {
    /// # Safety
    /// An object of this type, aligned, that all PEs use by atomics only while they use it at once.
    #[doc(hidden)]
    unsafe fn load(at: *mut Self) -> Self;
    /// # Safety
    /// As for `load`.
    #[doc(hidden)]
    unsafe fn store(at: *mut Self, value: Self);
    /// # Safety
    /// As for `load`.
    #[doc(hidden)]
    unsafe fn exchange(at: *mut Self, value: Self) -> Self;
}

/// Integers: the standard's atomic types, signed and unsigned, of 4 and 8 bytes.
pub trait AtomicInteger: AtomicWord + Eq {
    /// The number one.
    #[doc(hidden)]
    const ONE: Self;
    /// # Safety
    /// As for [`AtomicWord::load`].
    #[doc(hidden)]
    unsafe fn compare_exchange(at: *mut Self, old: Self, new: Self) -> Self;
    /// # Safety
    /// As for [`AtomicWord::load`].
    #[doc(hidden)]
    unsafe fn add(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// As for [`AtomicWord::load`].
    #[doc(hidden)]
    unsafe fn and(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// As for [`AtomicWord::load`].
    #[doc(hidden)]
    unsafe fn or(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// As for [`AtomicWord::load`].
    #[doc(hidden)]
    unsafe fn xor(at: *mut Self, value: Self) -> Self;
}

macro_rules! words {
    ($($type:ty as $atomic:ty: $into:path, $from:path;)*) => {
        $(
            impl sealed::Sealed for $type {}

            impl AtomicWord for $type {
                #[inline(always)]
                unsafe fn load(at: *mut $type) -> $type {
                    // SAFETY: the caller's promise; `$atomic` has the size and alignment of `$type`.
                    // Acquire: pairs with the release of a peer's store or locked instruction.
                    $from(unsafe { <$atomic>::from_ptr(at.cast()) }.load(Ordering::Acquire))
                }
                #[inline(always)]
                unsafe fn store(at: *mut $type, value: $type) {
                    // SAFETY: as in `load`. Release: pairs with the acquire of a peer's load or wait.
                    unsafe { <$atomic>::from_ptr(at.cast()) }.store($into(value), Ordering::Release)
                }
                #[inline(always)]
                unsafe fn exchange(at: *mut $type, value: $type) -> $type {
                    // SAFETY: as in `load`. Both orders: pairs with those of any peer's atomic on the same object.
                    $from(unsafe { <$atomic>::from_ptr(at.cast()) }.swap($into(value), Ordering::AcqRel))
                }
            }
        )*
    };
}

words! {
    i32 as AtomicI32: core::convert::identity, core::convert::identity;
    u32 as AtomicU32: core::convert::identity, core::convert::identity;
    i64 as AtomicI64: core::convert::identity, core::convert::identity;
    u64 as AtomicU64: core::convert::identity, core::convert::identity;
    f32 as AtomicU32: f32::to_bits, f32::from_bits;
    f64 as AtomicU64: f64::to_bits, f64::from_bits;
}

macro_rules! integers {
    ($($type:ty as $atomic:ty;)*) => {
        $(
            impl AtomicInteger for $type {
                const ONE: $type = 1;
                #[inline(always)]
                unsafe fn compare_exchange(at: *mut $type, old: $type, new: $type) -> $type {
                    // SAFETY: the caller's promise. Orders, here and below: as for `exchange`.
                    let atomic = unsafe { <$atomic>::from_ptr(at) };
                    match atomic.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire) {
                        Ok(seen) | Err(seen) => seen,
                    }
                }
                #[inline(always)]
                unsafe fn add(at: *mut $type, value: $type) -> $type {
                    // SAFETY: the caller's promise.
                    unsafe { <$atomic>::from_ptr(at) }.fetch_add(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn and(at: *mut $type, value: $type) -> $type {
                    // SAFETY: the caller's promise.
                    unsafe { <$atomic>::from_ptr(at) }.fetch_and(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn or(at: *mut $type, value: $type) -> $type {
                    // SAFETY: the caller's promise.
                    unsafe { <$atomic>::from_ptr(at) }.fetch_or(value, Ordering::AcqRel)
                }
                #[inline(always)]
                unsafe fn xor(at: *mut $type, value: $type) -> $type {
                    // SAFETY: the caller's promise.
                    unsafe { <$atomic>::from_ptr(at) }.fetch_xor(value, Ordering::AcqRel)
                }
            }
        )*
    };
}

integers! {
    i32 as AtomicI32;
    u32 as AtomicU32;
    i64 as AtomicI64;
    u64 as AtomicU64;
}

/// The value at PE `pe`'s `source` (`shmem_TYPE_atomic_fetch`).
///
/// # Safety
/// `source` must be a symmetric, aligned object that all PEs use by atomics only while they use it at once.
#[inline]
pub unsafe fn atomic_fetch<T: AtomicWord>(source: *const T, pe: i32) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::load(at(source, pe)) }
}

/// Sets PE `pe`'s `dest` (`shmem_TYPE_atomic_set`).
///
/// # Safety
/// As for [`atomic_fetch`].
#[inline]
pub unsafe fn atomic_set<T: AtomicWord>(dest: *mut T, value: T, pe: i32) {
    // SAFETY: the caller's promise.
    unsafe { T::store(at(dest, pe), value) }
}

/// Sets PE `pe`'s `dest` and returns what was there (`shmem_TYPE_atomic_swap`).
///
/// # Safety
/// As for [`atomic_fetch`].
#[inline]
pub unsafe fn atomic_swap<T: AtomicWord>(dest: *mut T, value: T, pe: i32) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::exchange(at(dest, pe), value) }
}

/// Sets PE `pe`'s `dest` to `value` if it is `cond`; returns what was there (`shmem_TYPE_atomic_compare_swap`).
///
/// # Safety
/// As for [`atomic_fetch`].
#[inline]
pub unsafe fn atomic_compare_swap<T: AtomicInteger>(dest: *mut T, cond: T, value: T, pe: i32) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::compare_exchange(at(dest, pe), cond, value) }
}

/// Adds one; returns what was there (`shmem_TYPE_atomic_fetch_inc`). Wraps around.
///
/// # Safety
/// As for [`atomic_fetch`].
#[inline]
pub unsafe fn atomic_fetch_inc<T: AtomicInteger>(dest: *mut T, pe: i32) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::add(at(dest, pe), T::ONE) }
}

/// Adds one (`shmem_TYPE_atomic_inc`). Wraps around.
///
/// # Safety
/// As for [`atomic_fetch`].
#[inline]
pub unsafe fn atomic_inc<T: AtomicInteger>(dest: *mut T, pe: i32) {
    // SAFETY: the caller's promise.
    unsafe { T::add(at(dest, pe), T::ONE) };
}

macro_rules! operations {
    ($($operation:ident: $fetching:ident $plain:ident $what:literal;)*) => {
        $(
            #[doc = concat!($what, "; returns what was there (`shmem_TYPE_", stringify!($fetching), "`).")]
            ///
            /// # Safety
            /// As for [`atomic_fetch`].
            #[inline]
            pub unsafe fn $fetching<T: AtomicInteger>(dest: *mut T, value: T, pe: i32) -> T {
                // SAFETY: the caller's promise.
                unsafe { T::$operation(at(dest, pe), value) }
            }

            #[doc = concat!($what, " (`shmem_TYPE_", stringify!($plain), "`).")]
            ///
            /// # Safety
            /// As for [`atomic_fetch`].
            #[inline]
            pub unsafe fn $plain<T: AtomicInteger>(dest: *mut T, value: T, pe: i32) {
                // SAFETY: the caller's promise.
                unsafe { T::$operation(at(dest, pe), value) };
            }
        )*
    };
}

operations! {
    add: atomic_fetch_add atomic_add "Adds `value` to PE `pe`'s `dest`, wrapping around";
    and: atomic_fetch_and atomic_and "Bitwise and of `value` to PE `pe`'s `dest`";
    or: atomic_fetch_or atomic_or "Bitwise or of `value` to PE `pe`'s `dest`";
    xor: atomic_fetch_xor atomic_xor "Bitwise exclusive or of `value` to PE `pe`'s `dest`";
}

macro_rules! non_blocking {
    ($($name:ident is $of:ident<$kind:ident>($($argument:ident: $type:ty),*);)*) => {
        $(
            /// The non-blocking form: the old value is at `fetch` when the call returns.
            ///
            /// # Safety
            /// As for the blocking form; `fetch` must be writable.
            #[inline]
            pub unsafe fn $name<T: $kind>(fetch: *mut T, $($argument: $type,)* pe: i32) {
                // SAFETY: the caller's promise.
                unsafe { fetch.write($of($($argument,)* pe)) }
            }
        )*
    };
}

non_blocking! {
    atomic_fetch_nbi is atomic_fetch<AtomicWord>(source: *const T);
    atomic_swap_nbi is atomic_swap<AtomicWord>(dest: *mut T, value: T);
    atomic_compare_swap_nbi is atomic_compare_swap<AtomicInteger>(dest: *mut T, cond: T, value: T);
    atomic_fetch_inc_nbi is atomic_fetch_inc<AtomicInteger>(dest: *mut T);
    atomic_fetch_add_nbi is atomic_fetch_add<AtomicInteger>(dest: *mut T, value: T);
    atomic_fetch_and_nbi is atomic_fetch_and<AtomicInteger>(dest: *mut T, value: T);
    atomic_fetch_or_nbi is atomic_fetch_or<AtomicInteger>(dest: *mut T, value: T);
    atomic_fetch_xor_nbi is atomic_fetch_xor<AtomicInteger>(dest: *mut T, value: T);
}
