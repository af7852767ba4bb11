//! Memory of programs, seen from the kernel: frames that nobody else has ([`FreshFrames`]), then shared with a program ([`SharedFrames`]),
//! and checked pieces of those ([`UserMemory`]), which can be read, or read and written.
//!
//! A program and its peers may change shared frames at any time, so no Rust reference to them ever exists: the copy loops are `arch`'s.

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use lwk_abi::address::PAGE_BYTES;
use lwk_mm::address::PhysAddr;
use lwk_mm::table::Mappable;
use lwk_words::Told;

use crate::arch::checksum;
use crate::arch::copy;
use crate::arch::linear_map::linear;

/// Contiguous frames that nobody uses yet.
#[derive(Debug)]
pub struct FreshFrames {
    start: PhysAddr,
    bytes: u64,
}

impl FreshFrames {
    /// `bytes` bytes from `start` on, whole frames.
    ///
    /// # Safety
    /// They are memory of the machine's, in the linear map, and the caller's alone.
    pub unsafe fn new(start: PhysAddr, bytes: u64) -> FreshFrames {
        FreshFrames { start, bytes }
    }

    /// Physical address of the first byte.
    pub fn start(&self) -> PhysAddr {
        self.start
    }

    /// How many bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// `bytes` bytes from `offset` on, whatever they hold.
    ///
    /// # Panics
    /// If that is not within the frames.
    pub fn piece(&mut self, offset: u64, bytes: u64) -> &mut [u8] {
        assert_within(self.bytes, offset, bytes);
        // SAFETY: the frames are in the linear map and nobody else's (`new`), and borrowed exclusively; any bytes are bytes.
        unsafe { core::slice::from_raw_parts_mut(linear(self.start + offset), bytes as usize) }
    }

    /// Sets all of them to zero.
    pub fn clear(&mut self) {
        let all = self.piece(0, self.bytes);
        // SAFETY: borrowed exclusively, and whole pages.
        unsafe { copy::zero_lines(all.as_mut_ptr(), all.len()) };
    }

    /// Puts a value at the beginning.
    pub fn place<T>(&mut self, value: T) {
        const { assert!(align_of::<T>() <= PAGE_BYTES as usize) };
        assert_within(self.bytes, 0, size_of::<T>() as u64);
        // SAFETY: the frames are in the linear map and nobody else's (`new`), page aligned and large enough.
        unsafe { linear(self.start).cast::<T>().write(value) };
    }

    /// They are the kernel's for ever.
    pub fn keep(mut self) -> &'static mut [u8] {
        let all = core::ptr::from_mut(self.piece(0, self.bytes));
        // SAFETY: this value, which alone leads to the frames, ends here without giving them back.
        unsafe { &mut *all }
    }

    /// From now on others use them, too: programs, or the kernel through another mapping.
    pub fn share(self) -> SharedFrames {
        SharedFrames { start: self.start, bytes: self.bytes }
    }
}

/// Contiguous frames that programs use, or the kernel through another mapping, for as long as the node lives.
#[derive(Debug)]
pub struct SharedFrames {
    start: PhysAddr,
    bytes: u64,
}

/// What [`UserMemory`] is that may be read.
#[derive(Clone, Copy, Debug)]
pub struct Readable;
/// What [`UserMemory`] is that may be read and written.
#[derive(Clone, Copy, Debug)]
pub struct Writable;

impl SharedFrames {
    /// Whole frames of them, to be mapped.
    ///
    /// # Panics
    /// If that is not within them.
    pub fn mappable(&self, offset: u64, bytes: u64) -> Mappable {
        assert_within(self.bytes, offset, bytes);
        // SAFETY: they are others' to use, and no Rust reference leads to them (`FreshFrames::share`).
        unsafe { Mappable::new(self.start + offset, bytes) }.expect("regions of a layout are whole pages")
    }

    /// `bytes` bytes from `offset` on, to read: what a check of the rank's layout has allowed.
    ///
    /// # Panics
    /// If that is not within them.
    #[inline]
    pub fn readable(&self, offset: u64, bytes: u64) -> UserMemory<'_, Readable> {
        self.memory(offset, bytes)
    }

    /// As [`Self::readable`], to write as well.
    #[inline]
    pub fn writable(&self, offset: u64, bytes: u64) -> UserMemory<'_, Writable> {
        self.memory(offset, bytes)
    }

    #[inline]
    fn memory<A>(&self, offset: u64, bytes: u64) -> UserMemory<'_, A> {
        assert_within(self.bytes, offset, bytes);
        UserMemory { start: linear(self.start + offset), bytes: bytes as usize, frames: PhantomData }
    }
}

#[inline]
fn assert_within(all: u64, offset: u64, bytes: u64) {
    assert!(offset <= all && bytes <= all - offset, "checked memory lies in its frames");
}

/// A piece of [`SharedFrames`], in the linear map. It may change at any time under the reader's hands.
#[derive(Clone, Copy, Debug)]
pub struct UserMemory<'a, A> {
    start: *mut u8,
    bytes: usize,
    frames: PhantomData<(&'a SharedFrames, A)>,
}

impl<A> UserMemory<'_, A> {
    /// How many bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Copies the first bytes into `target`.
    ///
    /// # Panics
    /// If `target` is longer than this memory.
    pub fn copy_to(&self, target: &mut [u8]) {
        assert!(target.len() <= self.bytes, "only checked memory is read");
        // SAFETY: the memory lies in frames that are in the linear map for as long as the node lives; the target is borrowed exclusively.
        unsafe { copy::copy(target.as_mut_ptr(), self.start, target.len()) };
    }

    /// Continues the CRC-32C `seed` over all of it.
    pub fn checksum(&self, seed: u32) -> u32 {
        // SAFETY: `bytes` bytes from `start` lie in frames that are in the linear map for as long as the node
        // lives.
        unsafe { checksum::crc32c(seed, self.start, self.bytes) }
    }

    /// Where it is, for a device that is to read it.
    pub fn place(&self) -> Option<NonNull<[u8]>> {
        Some(NonNull::slice_from_raw_parts(NonNull::new(self.start)?, self.bytes))
    }

    /// This memory from byte `offset` on, at most `bytes` of it.
    pub fn piece(&self, offset: usize, bytes: usize) -> Self {
        let offset = offset.min(self.bytes);
        UserMemory {
            start: self.start.wrapping_add(offset),
            bytes: bytes.min(self.bytes - offset),
            frames: PhantomData,
        }
    }
}

impl UserMemory<'_, Writable> {
    /// Copies `source` over the first bytes.
    ///
    /// # Panics
    /// If `source` is longer than this memory.
    pub fn copy_from(&self, source: &[u8]) {
        assert!(source.len() <= self.bytes, "only checked memory is written");
        // SAFETY: as many bytes lie in frames that are in the linear map, writable, for as long as the node
        // lives; that nobody is surprised is what `Writable` says.
        unsafe { copy::copy(self.start, source.as_ptr(), source.len()) };
    }

    /// Replaces `old`, if it is there, by `new` in a word of one, two, four or eight bytes, zero-extended; what was there.
    ///
    /// # Panics
    /// If this memory is anything but such a word, aligned.
    pub fn compare_exchange(&self, old: u64, new: u64) -> u64 {
        assert!(
            matches!(self.bytes, 1 | 2 | 4 | 8) && self.start.addr().is_multiple_of(self.bytes),
            "an aligned word"
        );
        // Both orders: pairs with any rank's update of the same word.
        let (both, failed) = (Ordering::AcqRel, Ordering::Acquire);
        // SAFETY: the word is aligned (asserted) and lies in frames that are in the linear map, writable, for
        // as long as the node lives. No Rust reference leads there.
        unsafe {
            match self.bytes {
                1 => AtomicU8::from_ptr(self.start)
                    .compare_exchange(old as u8, new as u8, both, failed)
                    .map_or_else(u64::from, u64::from),
                2 => AtomicU16::from_ptr(self.start.cast())
                    .compare_exchange(old as u16, new as u16, both, failed)
                    .map_or_else(u64::from, u64::from),
                4 => AtomicU32::from_ptr(self.start.cast())
                    .compare_exchange(old as u32, new as u32, both, failed)
                    .map_or_else(u64::from, u64::from),
                _ => AtomicU64::from_ptr(self.start.cast())
                    .compare_exchange(old, new, both, failed)
                    .unwrap_or_else(|seen| seen),
            }
        }
    }

    /// Stores a word after everything that has been stored before.
    ///
    /// # Panics
    /// If this memory is anything but an aligned word.
    pub fn publish(&self, word: u64) {
        self.told().tell(word);
    }

    /// What is there, before anything is loaded or stored later.
    ///
    /// # Panics
    /// If this memory is anything but an aligned word.
    pub fn look(&self) -> u64 {
        self.told().look()
    }

    fn told(&self) -> &Told {
        assert!(self.bytes == 8 && self.start.addr().is_multiple_of(8), "an aligned word");
        // SAFETY: the word is aligned (asserted) and lies in frames that are in the linear map, writable, for
        // as long as the node lives. No Rust reference leads there but to such words.
        unsafe { Told::at(self.start.cast()) }
    }

    /// Copies all of `source` over the first bytes. If they overlap, bytes may be those from before or from after.
    ///
    /// # Panics
    /// If `source` is longer than this memory.
    pub fn copy_from_user(&self, source: UserMemory<'_, Readable>) {
        assert!(source.bytes <= self.bytes, "only checked memory is written");
        // SAFETY: both lie in frames that programs use and that are in the linear map.
        unsafe { copy::copy_long(self.start, source.start, source.bytes) };
    }

    /// Sets all of it to zero.
    pub fn clear(&self) {
        // SAFETY: the whole lines of memory that may be written.
        self.clear_by(|start, bytes| unsafe { copy::zero_lines(start, bytes) });
    }

    /// As [`Self::clear`] for memory that is far larger than the caches and may be zero already: see [`copy::clear`].
    pub fn clear_large(&self) {
        // SAFETY: the whole lines of memory that may be written.
        self.clear_by(|start, bytes| unsafe { copy::clear(start, bytes) });
    }

    /// Clears: whole lines by `clear_lines`, what follows them by bytes.
    fn clear_by(&self, clear_lines: impl FnOnce(*mut u8, usize)) {
        const LINE: usize = copy::LINE_BYTES as usize;
        assert!(self.start.addr().is_multiple_of(LINE), "memory to clear begins at a line");
        let lines = self.bytes - self.bytes % LINE;
        clear_lines(self.start, lines);
        self.piece(lines, LINE).copy_from(&[0; LINE][..self.bytes - lines]);
    }
}
