//! Remote atomics (the standard, section 9.7): one locked instruction on the peer's memory, or an operation of Portals' where none gets there.
//!
//! `set` is a store and `fetch` a load, which are atomic as they are. `fetch_and`, `fetch_or` and `fetch_xor` are a loop around
//! a locked compare-exchange, since this processor has no instruction that does one of them and returns the old value. The
//! non-blocking forms are complete at once.

use super::far::{self, Word};
use super::pe::near;
use lwk_copy::Word as _;
use lwk_remote::Change;

mod sealed {
    pub trait Sealed {}
}

/// Types with `fetch`, `set` and `swap`: the standard's extended atomic types.
pub trait AtomicWord: Copy + sealed::Sealed {
    /// The integer of its size and alignment.
    #[doc(hidden)]
    type Bits: Word;
    #[doc(hidden)]
    fn into_word(self) -> Self::Bits;
    #[doc(hidden)]
    fn from_word(word: Self::Bits) -> Self;
}

/// Integers: the standard's atomic types, signed and unsigned, of 4 and 8 bytes.
pub trait AtomicInteger: AtomicWord + Word {
    /// The number one.
    #[doc(hidden)]
    const ONE: Self;
}

macro_rules! words {
    ($($type:ty as $bits:ty: $into:path, $from:path;)*) => {
        $(
            impl sealed::Sealed for $type {}

            impl AtomicWord for $type {
                type Bits = $bits;
                #[inline(always)]
                fn into_word(self) -> $bits {
                    $into(self)
                }
                #[inline(always)]
                fn from_word(word: $bits) -> $type {
                    $from(word)
                }
            }
        )*
    };
}

words! {
    f32 as u32: f32::to_bits, f32::from_bits;
    f64 as u64: f64::to_bits, f64::from_bits;
}

macro_rules! integers {
    ($($type:ty),*) => {
        $(
            words! { $type as $type: core::convert::identity, core::convert::identity; }

            impl AtomicInteger for $type {
                const ONE: $type = 1;
            }
        )*
    };
}

integers!(i32, u32, i64, u64);

/// The value at PE `pe`'s `source` (`shmem_TYPE_atomic_fetch`).
///
/// # Safety
/// `source` must be a symmetric, aligned object that all PEs use by atomics only while they use it at once.
#[inline]
pub unsafe fn atomic_fetch<T: AtomicWord>(source: *const T, pe: i32) -> T {
    // SAFETY: `source` is symmetric, aligned and used at once by atomics only (this function's contract);
    // `Bits` has its size and alignment.
    T::from_word(unsafe {
        match near(source, pe) {
            Some(at) => lwk_copy::Word::load(at.cast::<T::Bits>()),
            None => far::apart(|| {
                far::fetch(source.cast_mut().cast::<T::Bits>(), Change::Or(lwk_remote::Word::ZERO), pe)
            }),
        }
    })
}

/// Sets PE `pe`'s `dest` (`shmem_TYPE_atomic_set`).
///
/// # Safety
/// As for [`atomic_fetch`].
#[inline]
pub unsafe fn atomic_set<T: AtomicWord>(dest: *mut T, value: T, pe: i32) {
    // SAFETY: `dest` is symmetric, aligned and used at once by atomics only (this function's contract);
    // `Bits` has its size and alignment.
    unsafe {
        match near(dest, pe) {
            Some(at) => T::Bits::store(at.cast(), value.into_word()),
            // Of four or eight bytes: one store.
            None => far::apart(|| far::store(dest, value, pe)),
        }
    }
}

/// Sets PE `pe`'s `dest` and returns what was there (`shmem_TYPE_atomic_swap`).
///
/// # Safety
/// As for [`atomic_fetch`].
#[inline]
pub unsafe fn atomic_swap<T: AtomicWord>(dest: *mut T, value: T, pe: i32) -> T {
    // SAFETY: `dest` is symmetric, aligned and used at once by atomics only (this function's contract);
    // `Bits` has its size and alignment.
    T::from_word(unsafe {
        match near(dest, pe) {
            Some(at) => T::Bits::swap(at.cast(), value.into_word()),
            None => far::apart(|| far::fetch(dest.cast::<T::Bits>(), Change::Swap(value.into_word()), pe)),
        }
    })
}

/// Sets PE `pe`'s `dest` to `value` if it is `cond`; returns what was there (`shmem_TYPE_atomic_compare_swap`).
///
/// # Safety
/// As for [`atomic_fetch`].
#[inline]
pub unsafe fn atomic_compare_swap<T: AtomicInteger>(dest: *mut T, cond: T, value: T, pe: i32) -> T {
    // SAFETY: `dest` is symmetric, aligned and used at once by atomics only (this function's contract).
    unsafe {
        match near(dest, pe) {
            Some(at) => T::compare_exchange(at, cond, value),
            None => far::apart(|| far::fetch(dest, Change::CompareSwap(cond, value), pe)),
        }
    }
}

/// Adds one; returns what was there (`shmem_TYPE_atomic_fetch_inc`). Wraps around.
///
/// # Safety
/// As for [`atomic_fetch`].
#[inline]
pub unsafe fn atomic_fetch_inc<T: AtomicInteger>(dest: *mut T, pe: i32) -> T {
    // SAFETY: this function's contract.
    unsafe { atomic_fetch_add(dest, T::ONE, pe) }
}

/// Adds one (`shmem_TYPE_atomic_inc`). Wraps around.
///
/// # Safety
/// As for [`atomic_fetch`].
#[inline]
pub unsafe fn atomic_inc<T: AtomicInteger>(dest: *mut T, pe: i32) {
    // SAFETY: this function's contract.
    unsafe { atomic_add(dest, T::ONE, pe) }
}

macro_rules! operations {
    ($($operation:ident $change:ident: $fetching:ident $plain:ident $what:literal;)*) => {
        $(
            #[doc = concat!($what, "; returns what was there (`shmem_TYPE_", stringify!($fetching), "`).")]
            ///
            /// # Safety
            /// As for [`atomic_fetch`].
            #[inline]
            pub unsafe fn $fetching<T: AtomicInteger>(dest: *mut T, value: T, pe: i32) -> T {
                // SAFETY: `dest` is symmetric, aligned and used at once by atomics only (this function's
                // contract).
                unsafe {
                    match near(dest, pe) {
                        Some(at) => T::$operation(at, value),
                        None => far::apart(|| far::fetch(dest, Change::$change(value), pe)),
                    }
                }
            }

            #[doc = concat!($what, " (`shmem_TYPE_", stringify!($plain), "`).")]
            ///
            /// # Safety
            /// As for [`atomic_fetch`].
            #[inline]
            pub unsafe fn $plain<T: AtomicInteger>(dest: *mut T, value: T, pe: i32) {
                // SAFETY: `dest` is symmetric, aligned and used at once by atomics only (this function's
                // contract).
                unsafe {
                    match near(dest, pe) {
                        Some(at) => drop(T::$operation(at, value)),
                        None => far::apart(|| far::change(dest, Change::$change(value), pe)),
                    }
                }
            }
        )*
    };
}

operations! {
    add Add: atomic_fetch_add atomic_add "Adds `value` to PE `pe`'s `dest`, wrapping around";
    and And: atomic_fetch_and atomic_and "Bitwise and of `value` to PE `pe`'s `dest`";
    or Or: atomic_fetch_or atomic_or "Bitwise or of `value` to PE `pe`'s `dest`";
    xor Xor: atomic_fetch_xor atomic_xor "Bitwise exclusive or of `value` to PE `pe`'s `dest`";
}

macro_rules! non_blocking {
    ($($name:ident is $of:ident<$kind:ident>($($argument:ident: $type:ty),*);)*) => {
        $(
            /// The non-blocking form: the old value is at `fetch` when the call returns.
            ///
            /// # Safety
            /// As for the blocking form; `fetch` must be writable and aligned.
            #[inline]
            pub unsafe fn $name<T: $kind>(fetch: *mut T, $($argument: $type,)* pe: i32) {
                // SAFETY: `fetch` is writable and aligned; the symmetric object is aligned and used at once
                // by atomics only (this function's contract).
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
