//! Copying messages by [`lwk_access`].

pub use lwk_access::few as small;

/// From this size on the string instruction is fastest on silicon. Measured by alltoall of two ranks: 64 to 256 KiB for each takes 0.93 of the
/// time of the loop of vectors, 0.75 at 64 KiB if the owners have just used their buffers; below, no difference.
pub const STRING_FROM: usize = 64 << 10;

/// Copies `bytes` bytes; either end may be in a peer's slot.
///
/// # Safety
/// That of [`lwk_access::copy`]: both ranges mapped, `target` writable, and not overlapping, not even through
/// another slot; nobody else writes either or reads `target` meanwhile.
#[inline]
pub unsafe fn copy(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: both ranges are mapped for `bytes`, `target` is writable, and they do not overlap (this
    // function's contract).
    unsafe { lwk_access::copy::<STRING_FROM>(source, target, bytes) }
}
