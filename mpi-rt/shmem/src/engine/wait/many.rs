//! Waiting for, and testing, several objects at once: all, any, some, each with one value or a value for each object.
//!
//! `status` is null or one `int` an object; objects whose status is not 0 are left out. If none is left, `any` is
//! [`NONE`] and `some` is 0, at once. A test that finds nothing gives way, as [`test`](super::test) does.

use super::compare::{WaitWord, compare};
use super::{WAIT, await_peers};
use crate::engine::single::Single;
use lwk_user::wait::give_way;

/// No object (`SIZE_MAX`).
pub const NONE: usize = usize::MAX;

/// The values that objects are compared with.
trait Values<T>: Copy {
    /// # Safety
    /// `index` must be below the number of objects; a vector must hold a value for each.
    unsafe fn of(self, index: usize) -> T;
}

/// One value for all.
#[derive(Clone, Copy)]
struct Same<T>(T);

impl<T: Copy> Values<T> for Same<T> {
    #[inline(always)]
    unsafe fn of(self, _index: usize) -> T {
        self.0
    }
}

/// A value for each object.
impl<T: Copy> Values<T> for *const T {
    #[inline(always)]
    unsafe fn of(self, index: usize) -> T {
        // SAFETY: the vector holds a value for each object, and `index` is one's (this function's contract).
        unsafe { *self.wrapping_add(index) }
    }
}

/// The objects of one call. What its `unsafe` methods rely on: `first` is `count` objects as of
/// [`wait_until`](super::wait_until), `status` null or readable for one for each, and `values` a value or a
/// vector of one for each.
#[derive(Clone, Copy)]
struct Objects<T, V> {
    first: *mut T,
    count: usize,
    status: *const i32,
    values: V,
}

impl<T: WaitWord, V: Values<T>> Objects<T, V> {
    /// # Safety
    /// `index` must be below `count`.
    #[inline(always)]
    unsafe fn counts(self, index: usize) -> bool {
        // SAFETY: not null, so `status` has `count` entries (the type's documentation); `index` is below
        // `count` (this function's contract).
        self.status.is_null() || unsafe { *self.status.wrapping_add(index) } == 0
    }

    /// # Safety
    /// `index` must be below `count`.
    #[inline(always)]
    unsafe fn holds(self, index: usize, holds: impl Fn(&T, &T) -> bool) -> bool {
        // SAFETY: `first` has `count` objects and `values` a value for each (the type's documentation);
        // `index` is below `count` (this function's contract).
        unsafe { holds(&T::poll(self.first.wrapping_add(index)), &self.values.of(index)) }
    }

    /// Whether no object counts.
    unsafe fn is_empty(self) -> bool {
        // SAFETY: indices below `count`.
        (0..self.count).all(|index| unsafe { !self.counts(index) })
    }

    /// Whether all that count compare so now.
    unsafe fn all(self, comparison: i32) -> bool {
        compare!(comparison, holds => (0..self.count).all(|index| {
            // SAFETY: an index below `count`.
            unsafe { !self.counts(index) || self.holds(index, holds) }
        }))
    }

    unsafe fn test_all(self, comparison: i32) -> bool {
        // SAFETY: the fields are as the type's documentation demands, which is all that `all` needs.
        let all = unsafe { self.all(comparison) };
        if !all {
            give_way();
        }
        all
    }

    unsafe fn wait_all(self, comparison: i32) {
        compare!(comparison, holds => for index in 0..self.count {
            // SAFETY: an index below `count`.
            unsafe {
                if self.counts(index) {
                    await_peers(WAIT, || self.holds(index, holds));
                }
            }
        });
    }

    /// One that compares so now. Each call begins to look after the object the last call found, so that none starves.
    unsafe fn any(self, comparison: i32) -> usize {
        static LAST: Single<usize> = Single::new(0);
        if self.count == 0 {
            return NONE;
        }
        let begin = (LAST.with(|last| *last) + 1) % self.count;
        let found = compare!(comparison, holds => (begin..self.count).chain(0..begin).find(|index| {
            // SAFETY: an index below `count`.
            unsafe { self.counts(*index) && self.holds(*index, holds) }
        }));
        if let Some(index) = found {
            LAST.with(|last| *last = index);
        }
        found.unwrap_or(NONE)
    }

    unsafe fn test_any(self, comparison: i32) -> usize {
        // SAFETY: the fields are as the type's documentation demands, which is all that `any` needs.
        let found = unsafe { self.any(comparison) };
        if found == NONE {
            give_way();
        }
        found
    }

    unsafe fn wait_any(self, comparison: i32) -> usize {
        let mut found = NONE;
        // SAFETY: the fields are as the type's documentation demands, which is all that `is_empty` and `any`
        // need.
        unsafe {
            if !self.is_empty() {
                await_peers(WAIT, || {
                    found = self.any(comparison);
                    found != NONE
                });
            }
        }
        found
    }

    /// Writes the indices of all that compare so now; how many. `indices` must have room for `count`, here
    /// and below.
    unsafe fn some(self, indices: *mut usize, comparison: i32) -> usize {
        let mut found = 0;
        compare!(comparison, holds => for index in 0..self.count {
            // SAFETY: `index` is below `count`, and `found` not above it; `indices` has room for `count`
            // (this function's contract).
            unsafe {
                if self.counts(index) && self.holds(index, holds) {
                    indices.wrapping_add(found).write(index);
                    found += 1;
                }
            }
        });
        found
    }

    unsafe fn test_some(self, indices: *mut usize, comparison: i32) -> usize {
        // SAFETY: the fields are as the type's documentation demands; `indices` has room for `count`
        // (contract of `some`).
        let found = unsafe { self.some(indices, comparison) };
        if found == 0 {
            give_way();
        }
        found
    }

    unsafe fn wait_some(self, indices: *mut usize, comparison: i32) -> usize {
        let mut found = 0;
        // SAFETY: the fields are as the type's documentation demands; `indices` has room for `count`
        // (contract of `some`).
        unsafe {
            if !self.is_empty() {
                await_peers(WAIT, || {
                    found = self.some(indices, comparison);
                    found != 0
                });
            }
        }
        found
    }
}

macro_rules! forms {
    ($($of:ident $one:ident $vector:ident ($($extra:ident: $extra_type:ty)?) $(-> $result:ty)?: $what:literal;)*) => {
        $(
            #[doc = concat!($what, " (`shmem_TYPE_", stringify!($one), "`).")]
            ///
            /// # Safety
            /// `count` objects as of [`wait_until`](super::wait_until); `status` null or one for each, not
            /// changed meanwhile; `indices`, where there are any, writable for `count`.
            pub unsafe fn $one<T: WaitWord>(
                objects: *mut T, count: usize, $($extra: $extra_type,)? status: *const i32, comparison: i32, value: T,
            ) $(-> $result)? {
                let objects = Objects { first: objects, count, status, values: Same(value) };
                // SAFETY: `count` objects, a status for each or none, room for `count` indices (this
                // function's contract).
                unsafe { objects.$of($($extra,)? comparison) }
            }

            #[doc = concat!($what, ", each with a value of its own (`shmem_TYPE_", stringify!($vector), "`).")]
            ///
            /// # Safety
            #[doc = concat!("As for [`", stringify!($one), "`]; as many values as objects.")]
            pub unsafe fn $vector<T: WaitWord>(
                objects: *mut T, count: usize, $($extra: $extra_type,)? status: *const i32, comparison: i32, values: *const T,
            ) $(-> $result)? {
                let objects = Objects { first: objects, count, status, values };
                // SAFETY: `count` objects and values, a status for each or none, room for `count` indices
                // (this function's contract).
                unsafe { objects.$of($($extra,)? comparison) }
            }
        )*
    };
}

forms! {
    wait_all wait_until_all wait_until_all_vector (): "Waits until all objects compare so";
    wait_any wait_until_any wait_until_any_vector () -> usize: "Waits until an object compares so; its index";
    wait_some wait_until_some wait_until_some_vector (indices: *mut usize) -> usize:
        "Waits until at least one object compares so; how many, and their indices";
    test_all test_all test_all_vector () -> bool: "Whether all objects compare so now";
    test_any test_any test_any_vector () -> usize: "An object that compares so now";
    test_some test_some test_some_vector (indices: *mut usize) -> usize: "How many objects compare so now, and their indices";
}
