//! References into a peer's memory, and the translation of addresses.

use super::{Peer, Shared};
use crate::copy::copy;
use bytemuck::Pod;
use lwk_abi::address;

/// The address at which this rank sees what `peer` calls `local` (SMARTMAP paper, figure 2).
///
/// `local` must be an address of slot 0; the result is only as meaningful as what the peer keeps there.
#[inline(always)]
pub fn remote_address<T>(peer: Peer, local: *const T) -> *mut T {
    let remote = address::remote(local.expose_provenance() as u64, peer.node_rank().0);
    core::ptr::with_exposed_provenance_mut(remote as usize)
}

/// A peer's copy of a shared object (atomics).
///
/// # Safety
/// The object must be symmetric: the peer must have an object of the same type at the same address, initialised, and for as
/// long as the job runs. Statics are; so are heap objects after equal sequences of allocations in all ranks.
#[inline]
pub unsafe fn remote_atomic<T: Shared>(local: &'static T, peer: Peer) -> &'static T {
    // SAFETY: the peer has such an object there for as long as the job runs (this function's contract), its memory stays mapped as long, and
    // `Shared` allows all ranks at once.
    unsafe { &*remote_address(peer, local) }
}

/// A reference to an object of type `T` in a peer's memory. It may be copied, and costs what a pointer costs.
pub struct Remote<T>(*mut T);

impl<T> Clone for Remote<T> {
    fn clone(&self) -> Remote<T> {
        *self
    }
}

impl<T> Copy for Remote<T> {}

impl<T> Remote<T> {
    /// A reference to what is at a pointer that [`remote_address`] made.
    ///
    /// # Safety
    /// There must be an initialised object of type `T`, for as long as the job runs.
    #[inline]
    pub unsafe fn new(pointer: *mut T) -> Remote<T> {
        Remote(pointer)
    }

    /// The pointer, into the peer's slot.
    #[inline]
    pub fn as_ptr(self) -> *mut T {
        self.0
    }
}

impl<T: Shared> Remote<T> {
    /// The object itself: its atomics work across ranks.
    #[inline]
    pub fn get(self) -> &'static T {
        // SAFETY: there is an object of that type for as long as the job runs (`Remote::new`); `Shared` allows all ranks at once.
        unsafe { &*self.0 }
    }
}

impl<T: Pod> Remote<T> {
    /// Reads the object: one load if it fits a register.
    ///
    /// # Safety
    /// No rank may write it at the same time; the write it is to see must be ordered before (module documentation).
    #[inline]
    pub unsafe fn read(self) -> T {
        // SAFETY: an initialised object (`new`), which no rank writes now (this function's contract).
        unsafe { self.0.read_volatile() }
    }

    /// Writes the object: one store if it fits a register.
    ///
    /// # Safety
    /// No other rank may touch it at the same time (module documentation).
    #[inline]
    pub unsafe fn write(self, value: T) {
        // SAFETY: an object of that type (`new`), which no other rank touches now (this function's contract).
        unsafe { self.0.write_volatile(value) }
    }
}

impl<T: Pod, const N: usize> Remote<[T; N]> {
    /// The array as a slice.
    #[inline]
    pub fn as_slice(self) -> RemoteSlice<T> {
        RemoteSlice { start: self.0.cast(), length: N }
    }
}

/// A reference to `length` consecutive objects in a peer's memory.
pub struct RemoteSlice<T> {
    start: *mut T,
    length: usize,
}

impl<T> Clone for RemoteSlice<T> {
    fn clone(&self) -> RemoteSlice<T> {
        *self
    }
}

impl<T> Copy for RemoteSlice<T> {}

impl<T: Pod> RemoteSlice<T> {
    /// What `peer` has at its own address `local`: `length` objects of type `T`.
    ///
    /// # Safety
    /// They must be there, initialised, for as long as the reference, or a [`Remote`] made from it, is used.
    pub unsafe fn new(peer: Peer, local: *const T, length: usize) -> RemoteSlice<T> {
        RemoteSlice { start: remote_address(peer, local), length }
    }

    /// How many objects (not bytes).
    #[expect(clippy::len_without_is_empty, reason = "a view of a fixed extent, not a collection")]
    pub fn len(self) -> usize {
        self.length
    }

    /// One of the objects.
    ///
    /// # Panics
    /// If there is no such index.
    #[inline]
    pub fn index(self, index: usize) -> Remote<T> {
        assert!(index < self.length, "index {index} of a remote slice of {}", self.length);
        Remote(self.start.wrapping_add(index))
    }

    /// Put: copies `values` to the objects from index `start` on.
    ///
    /// # Panics
    /// If they do not fit.
    ///
    /// # Safety
    /// No other rank may touch those objects at the same time, and `values` must not be the same memory (module
    /// documentation).
    #[inline]
    pub unsafe fn copy_from(self, start: usize, values: &[T]) {
        self.check(start, values.len());
        // SAFETY: the range is inside the slice (`check`), whose memory exists (`new`); no other rank touches
        // it, and `values` is other memory (this function's contract).
        unsafe {
            copy(values.as_ptr().cast(), self.start.wrapping_add(start).cast(), size_of_val(values));
        }
    }

    /// Get: copies the objects from index `start` on to `values`.
    ///
    /// # Panics
    /// If there are not that many.
    ///
    /// # Safety
    /// No rank may write those objects at the same time, and `values` must not be the same memory (module documentation).
    #[inline]
    pub unsafe fn copy_to(self, start: usize, values: &mut [T]) {
        self.check(start, values.len());
        // SAFETY: the range is inside the slice (`check`), whose memory exists (`new`); no rank writes it,
        // and `values` is other memory (this function's contract). Any bytes are valid values of a `Pod`
        // type.
        unsafe {
            copy(self.start.wrapping_add(start).cast(), values.as_mut_ptr().cast(), size_of_val(values));
        }
    }

    #[inline]
    fn check(self, start: usize, count: usize) {
        assert!(
            start <= self.length && count <= self.length - start,
            "{count} objects from index {start} of a remote slice of {}",
            self.length
        );
    }
}
