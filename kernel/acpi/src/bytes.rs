//! Little-endian numbers in a slice of bytes, and the entries of a table.

/// The number of two bytes at `offset`, if they are there.
pub fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    array_at(bytes, offset).map(u16::from_le_bytes)
}

/// The number of four bytes at `offset`, if they are there.
pub fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    array_at(bytes, offset).map(u32::from_le_bytes)
}

/// The number of eight bytes at `offset`, if they are there.
pub fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    array_at(bytes, offset).map(u64::from_le_bytes)
}

fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// Entries that begin with a byte of type and a byte of length, as those of the MADT and the SRAT do; each with its type. They end with the first one
/// that is shorter than its own head or longer than what is left.
pub fn short_entries(bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    entries(bytes, |rest| Some((*rest.first()?, usize::from(*rest.get(1)?), 2)))
}

/// Entries with two bytes of type, two unused and four of length, as those of the HMAT.
pub fn long_entries(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    entries(bytes, |rest| Some((u16_at(rest, 0)?, u32_at(rest, 4)? as usize, 8)))
}

/// `head` says type, length, and length of the head.
fn entries<T>(
    bytes: &[u8],
    head: impl Fn(&[u8]) -> Option<(T, usize, usize)>,
) -> impl Iterator<Item = (T, &[u8])> {
    let mut rest = bytes;
    core::iter::from_fn(move || {
        let (kind, length, least) = head(rest)?;
        if length < least {
            return None;
        }
        let (entry, later) = rest.split_at_checked(length)?;
        rest = later;
        Some((kind, entry))
    })
}
