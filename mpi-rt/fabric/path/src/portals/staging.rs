//! Where messages lie that are put with their content and that the kernel does not copy, until the receiver's node has them.

use super::wire::{NoRoom, Target, Wire};
use crate::region::{Region, copy_regions};
use alloc::vec::Vec;
use lwk_user::portals::DescriptorHandle;
use lwk_user::portals::abi::ack;

/// Messages at a time.
const PLACES: usize = 16;
/// Set in the `user` of their puts.
pub const STAGED: u64 = 1 << 61;

/// See the module. It has memory from the first message on.
pub struct Staging {
    each: usize,
    memory: Vec<u8>,
    descriptor: Option<DescriptorHandle>,
    free: Vec<usize>,
}

/// A place that is taken.
#[derive(Clone, Copy)]
pub struct Place {
    number: usize,
    each: usize,
    descriptor: DescriptorHandle,
}

impl Place {
    pub fn number(&self) -> u64 {
        self.number as u64
    }

    /// Puts what lies there; an event tells when the place is free.
    pub fn put(&self, wire: &Wire, target: &Target, bytes: usize) -> core::result::Result<(), NoRoom> {
        wire.put(target, self.descriptor, self.number * self.each, bytes, ack::NONE, STAGED | self.number())
    }
}

impl Staging {
    /// With places of so many bytes.
    pub const fn new(each: usize) -> Staging {
        Staging { each, memory: Vec::new(), descriptor: None, free: Vec::new() }
    }

    /// A place with a copy of the message in it. `None` if there is none.
    ///
    /// # Safety
    /// The message is readable, its layout's datatype lives.
    pub unsafe fn take(&mut self, wire: &Wire, message: &Region) -> Option<Place> {
        let descriptor = match self.descriptor {
            Some(descriptor) => descriptor,
            None => self.start(wire)?,
        };
        let number = self.free.pop()?;
        let place = Region::block(self.memory[number * self.each..].as_ptr(), self.each);
        // SAFETY: the message is readable (this function's contract) and no longer than a place, of which nobody has this one. This rank's own
        // layout is sound, so the copy cannot fail.
        let copied = unsafe { copy_regions(message, &place) };
        debug_assert!(copied.is_ok());
        Some(Place { number, each: self.each, descriptor })
    }

    #[cold]
    fn start(&mut self, wire: &Wire) -> Option<DescriptorHandle> {
        let bytes = PLACES * self.each;
        if self.memory.is_empty() {
            self.memory.try_reserve_exact(bytes).ok()?;
            self.memory.resize(bytes, 0);
            self.free.extend(0..PLACES);
        }
        // SAFETY: the memory stays as long as the job, and is only put from.
        self.descriptor = unsafe { wire.bind(self.memory.as_ptr(), bytes) }.ok();
        self.descriptor
    }

    /// A place is free again.
    pub fn sent(&mut self, number: u64) {
        self.free.push(number as usize);
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.memory.len()
    }
}
