//! Memory of queues and counters, found by their handles.

use alloc::boxed::Box;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

pub use lwk_user::portals::Memory;

use crate::status::{Result, Status};
use crate::types::Handle;

/// Memory that the kernel writes to. Errors: no memory is left.
pub fn shared(bytes: usize) -> Result<Memory> {
    Memory::new(bytes).map_err(|_| Status::NO_SPACE)
}

/// What a handle of the kernel's leads to in this program.
pub trait Named {
    fn handle(&self) -> Handle;
    /// The interface that it is of.
    fn interface(&self) -> Handle;
}

/// Values by the lower bits of their handles, which are the kernel's number for the thing.
pub struct Register<T, const N: usize> {
    places: [AtomicPtr<T>; N],
}

impl<T: Named, const N: usize> Register<T, N> {
    pub const fn new() -> Self {
        Register { places: [const { AtomicPtr::new(ptr::null_mut()) }; N] }
    }

    fn place(&self, handle: Handle) -> Result<&AtomicPtr<T>> {
        self.places.get(handle as usize & 0xffff).ok_or(Status::ARG_INVALID)
    }

    /// Keeps a value under its handle.
    pub fn add(&self, value: T) -> Result<()> {
        let place = self.place(value.handle())?;
        let before = place.swap(Box::into_raw(Box::new(value)), Ordering::Relaxed);
        // SAFETY: what was in the place, which has another value now.
        unsafe { drop_value(before) };
        Ok(())
    }

    /// The value of a handle. Errors: there is none.
    pub fn get(&self, handle: Handle) -> Result<&T> {
        let value = self.place(handle)?.load(Ordering::Relaxed);
        // SAFETY: null, or a box that `add` has leaked and only `remove`, which the reference forbids during a use, gives back.
        let value = unsafe { value.as_ref() }.ok_or(Status::ARG_INVALID)?;
        if value.handle() == handle { Ok(value) } else { Err(Status::ARG_INVALID) }
    }

    /// Forgets the value of a handle.
    pub fn remove(&self, handle: Handle) {
        if self.get(handle).is_ok()
            && let Ok(place) = self.place(handle)
        {
            // SAFETY: what was in the place, which has none now.
            unsafe { drop_value(place.swap(ptr::null_mut(), Ordering::Relaxed)) };
        }
    }

    /// Forgets all values of an interface.
    pub fn remove_all(&self, interface: Handle) {
        for place in &self.places {
            // SAFETY: null, or a box that `add` has leaked and only `remove` gives back, which is called below.
            let value = unsafe { place.load(Ordering::Relaxed).as_ref() };
            if let Some(handle) = value.filter(|value| value.interface() == interface).map(Named::handle) {
                self.remove(handle);
            }
        }
    }
}

/// # Safety
/// `value` is null, or a box that `Register::add` has leaked and that has just been taken out of its place.
unsafe fn drop_value<T>(value: *mut T) {
    if !value.is_null() {
        // SAFETY: a leaked box that is in no place any more (this function's contract).
        drop(unsafe { Box::from_raw(value) });
    }
}
