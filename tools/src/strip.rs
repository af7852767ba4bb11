//! A program without what no loader reads.
//!
//! Debug sections are many times the size of the code they describe, and boot time grows with the image. The linker
//! places them behind the last loaded segment, so cutting there and forgetting the section table is enough. The
//! original stays on the host for symbols. Layout: System V ABI, "ELF Header" and "Program Header" (ELF-64).

/// Offsets of fields in the file header, and its length, in bytes.
mod header {
    pub const PROGRAM_TABLE: usize = 32;
    pub const SECTION_TABLE: usize = 40;
    pub const PROGRAM_ENTRY_BYTES: usize = 54;
    pub const PROGRAM_ENTRIES: usize = 56;
    pub const SECTION_ENTRIES: usize = 60;
    pub const SECTION_NAMES: usize = 62;
    pub const BYTES: usize = 64;
}

/// Offsets of fields in an entry of the program header table, and its length, in bytes.
mod segment {
    pub const FILE_OFFSET: usize = 8;
    pub const FILE_BYTES: usize = 32;
    pub const BYTES: usize = 56;
}

/// The file header and everything its segments refer to.
///
/// What is not a whole 64-bit little-endian ELF file comes back as it is: judging it is the loader's part.
pub fn for_boot(file: &[u8]) -> Vec<u8> {
    let Some(end) = end_of_segments(file) else { return file.to_vec() };
    let mut cut = file[..end].to_vec();
    cut[header::SECTION_TABLE..][..8].fill(0);
    cut[header::SECTION_ENTRIES..][..2].fill(0);
    cut[header::SECTION_NAMES..][..2].fill(0);
    cut
}

/// One past the last byte of the file that a header or a segment needs; `None` if that is not inside the file.
fn end_of_segments(file: &[u8]) -> Option<usize> {
    if file.len() < header::BYTES || !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = usize::try_from(u64_at(file, header::PROGRAM_TABLE)?).ok()?;
    let entry_bytes = usize::from(u16_at(file, header::PROGRAM_ENTRY_BYTES)?);
    let entries = usize::from(u16_at(file, header::PROGRAM_ENTRIES)?);
    if entry_bytes < segment::BYTES {
        return None;
    }
    let mut end = header::BYTES.max(table.checked_add(entries.checked_mul(entry_bytes)?)?);
    for index in 0..entries {
        let entry = table.checked_add(index * entry_bytes)?;
        let offset = u64_at(file, entry.checked_add(segment::FILE_OFFSET)?)?;
        let bytes = u64_at(file, entry.checked_add(segment::FILE_BYTES)?)?;
        // A segment without bytes in the file counts too: loaders check that where it would begin is in the file.
        end = end.max(usize::try_from(offset.checked_add(bytes)?).ok()?);
    }
    (end <= file.len()).then_some(end)
}

fn u64_at(file: &[u8], offset: usize) -> Option<u64> {
    let bytes = file.get(offset..offset.checked_add(8)?)?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

fn u16_at(file: &[u8], offset: usize) -> Option<u16> {
    let bytes = file.get(offset..offset.checked_add(2)?)?;
    bytes.try_into().ok().map(u16::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file with one segment of 16 bytes at offset 120 and `tail` bytes of sections behind it.
    fn sample(tail: usize) -> Vec<u8> {
        let mut file = vec![0u8; 136 + tail];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[header::PROGRAM_TABLE] = 64;
        file[header::SECTION_TABLE] = 136;
        file[header::PROGRAM_ENTRY_BYTES] = 56;
        file[header::PROGRAM_ENTRIES] = 1;
        file[header::SECTION_ENTRIES] = 3;
        file[header::SECTION_NAMES] = 2;
        file[64 + segment::FILE_OFFSET] = 120;
        file[64 + segment::FILE_BYTES] = 16;
        file
    }

    #[test]
    fn sections_go_and_segments_stay() {
        let whole = sample(5000);
        let cut = for_boot(&whole);
        assert_eq!(cut.len(), 136);
        assert_eq!(cut[64..], whole[64..136]);
        assert_eq!(u64_at(&cut, header::SECTION_TABLE), Some(0));
        assert_eq!(u16_at(&cut, header::SECTION_ENTRIES), Some(0));
        assert_eq!(u16_at(&cut, header::SECTION_NAMES), Some(0));
    }

    #[test]
    fn a_truncated_file_is_left_for_the_loader_to_refuse() {
        let whole = sample(0);
        for end in 0..whole.len() {
            assert_eq!(for_boot(&whole[..end]), whole[..end]);
        }
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut file = sample(100);
            for (at, byte) in noise.iter().enumerate() {
                file[6 + at] ^= byte;
            }
            prop_assert!(for_boot(&file).len() <= file.len());
        }
    }
}
