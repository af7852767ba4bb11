//! What a file system is kept in: pages, and the numbers in them.

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;
/// A page's content.
pub type Page = [u8; PAGE_BYTES];

/// Memory for a file system, in pages that are numbered from 0.
pub trait Pages {
    /// Pages there are now.
    fn count(&self) -> u32;
    /// Pages there can be, if there is memory for them.
    fn limit(&self) -> u32;
    /// Adds at least one page of zeros; false if there is no more memory or the limit is reached.
    fn grow(&mut self) -> bool;
    /// The page at `index`, which is below [`Pages::count`].
    fn page(&self, index: u32) -> &Page;
    /// As [`Pages::page`], to be changed.
    fn page_mut(&mut self, index: u32) -> &mut Page;
}

/// A little-endian number in a page or node; `at` is a constant within it.
pub(crate) fn get32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Sets it; as [`get32`].
pub(crate) fn put32(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(word) = bytes.get_mut(at..at + 4) {
        word.copy_from_slice(&value.to_le_bytes());
    }
}

/// As [`get32`], of eight bytes.
pub(crate) fn get64(bytes: &[u8], at: usize) -> u64 {
    u64::from(get32(bytes, at)) | u64::from(get32(bytes, at + 4)) << 32
}

/// As [`put32`], of eight bytes.
pub(crate) fn put64(bytes: &mut [u8], at: usize, value: u64) {
    put32(bytes, at, value as u32);
    put32(bytes, at + 4, (value >> 32) as u32);
}
