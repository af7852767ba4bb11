//! Words of one rank alone, as statics: no peer touches them, and they order nothing.
//!
//! A static must be safe to share among threads, which host tests have. Its accesses are relaxed: plain loads and stores of the machine.

use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, Ordering};

/// A word of this rank alone.
pub struct Own<T: Kept>(T::Cell);

/// What such a word can be.
pub trait Kept: Copy + sealed::Sealed {
    #[doc(hidden)]
    type Cell;
    #[doc(hidden)]
    fn load(cell: &Self::Cell) -> Self;
    #[doc(hidden)]
    fn store(cell: &Self::Cell, value: Self);
}

mod sealed {
    pub trait Sealed {}
}

impl<T: Kept> Own<T> {
    /// What is there.
    #[inline(always)]
    pub fn get(&self) -> T {
        T::load(&self.0)
    }

    /// `value` is there afterwards.
    #[inline(always)]
    pub fn set(&self, value: T) {
        T::store(&self.0, value);
    }
}

macro_rules! kept {
    ($($type:ty as $cell:ident;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Kept for $type {
            type Cell = $cell;
            #[inline(always)]
            fn load(cell: &$cell) -> $type {
                // Relaxed, and below: the same rank has stored it.
                cell.load(Ordering::Relaxed)
            }
            #[inline(always)]
            fn store(cell: &$cell, value: $type) {
                cell.store(value, Ordering::Relaxed);
            }
        }
        impl Own<$type> {
            /// A word that holds `value`.
            pub const fn new(value: $type) -> Own<$type> {
                Own($cell::new(value))
            }
        }
    )*};
}

kept! {
    bool as AtomicBool;
    u8 as AtomicU8;
    u32 as AtomicU32;
    i32 as AtomicI32;
}

impl Own<i32> {
    /// Where it is, for a C program that reads it as an `int`.
    pub const fn as_ptr(&self) -> *mut i32 {
        self.0.as_ptr()
    }
}
