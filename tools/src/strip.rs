//! A program without what no loader reads.
//!
//! Debug sections are many times the size of the code they describe, and boot time grows with the image. The linker
//! places them behind the last loaded segment, so cutting there and forgetting the section table is enough. The
//! original stays on the host for symbols. Layout: System V ABI, "ELF Header" and "Program Header" (ELF-64).

use object::LittleEndian;
use object::elf::FileHeader64;
use object::pod;
use object::read::elf::{FileHeader, ProgramHeader};

type Header = FileHeader64<LittleEndian>;

/// The file header and everything its segments refer to.
///
/// What is not a whole 64-bit little-endian ELF file comes back as it is: judging it is the loader's part.
pub fn for_boot(file: &[u8]) -> Vec<u8> {
    let Some(end) = end_of_segments(file) else { return file.to_vec() };
    let mut cut = file[..end].to_vec();
    let Ok((header, _)) = pod::from_bytes_mut::<Header>(&mut cut) else { return file.to_vec() };
    header.e_shoff = Default::default();
    header.e_shnum = Default::default();
    header.e_shstrndx = Default::default();
    cut
}

/// One past the last byte of the file that a header or a segment needs; `None` if that is not inside the file.
fn end_of_segments(file: &[u8]) -> Option<usize> {
    let header = Header::parse(file).ok().filter(|header| header.is_little_endian())?;
    let segments = header.program_headers(LittleEndian, file).ok()?;
    let table = header.e_phoff(LittleEndian).checked_add(size_of_val(segments) as u64)?;
    let mut end = table.max(size_of::<Header>() as u64);
    for segment in segments {
        // A segment without bytes in the file counts too: loaders check that where it would begin is in the file.
        end = end.max(segment.p_offset(LittleEndian).checked_add(segment.p_filesz(LittleEndian))?);
    }
    usize::try_from(end).ok().filter(|end| *end <= file.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::elf::{ProgramHeader64, SymbolSection};
    use object::{U16, U64};
    use proptest::prelude::*;

    /// A file with one segment of 16 bytes at offset 120 and `tail` bytes of sections behind it.
    fn sample(tail: usize) -> Vec<u8> {
        let mut file = vec![0u8; 136 + tail];
        file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        let (header, rest) = pod::from_bytes_mut::<Header>(&mut file).unwrap();
        header.e_phoff = U64::new(LittleEndian, 64);
        header.e_shoff = U64::new(LittleEndian, 136);
        header.e_phentsize = U16::new(LittleEndian, 56);
        header.e_phnum = U16::new(LittleEndian, 1);
        header.e_shnum = U16::new(LittleEndian, 3);
        header.e_shstrndx = U16::new(LittleEndian, SymbolSection(2));
        let (segment, _) = pod::from_bytes_mut::<ProgramHeader64<LittleEndian>>(rest).unwrap();
        segment.p_offset = U64::new(LittleEndian, 120);
        segment.p_filesz = U64::new(LittleEndian, 16);
        file
    }

    #[test]
    fn sections_go_and_segments_stay() {
        let whole = sample(5000);
        let cut = for_boot(&whole);
        assert_eq!(cut.len(), 136);
        assert_eq!(cut[64..], whole[64..136]);
        let header = Header::parse(&cut[..]).unwrap();
        assert_eq!(header.e_shoff(LittleEndian), 0);
        assert_eq!((header.e_shnum(LittleEndian), header.e_shstrndx(LittleEndian)), (0, SymbolSection(0)));
    }

    #[test]
    fn a_file_for_a_machine_of_the_other_order_of_bytes_is_left_alone() {
        let mut file = sample(5000);
        file[5] = 2;
        assert_eq!(for_boot(&file), file);
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
