//! The parts of a program file that loading needs, and every check on them.

use arrayvec::ArrayVec;
use elf::abi;
use elf::endian::LittleEndian;
use elf::file::{Class, ELF64_EHDR_TAILSIZE, FileHeader, parse_ident};
use elf::parse::{ParseAt, ParseError};
use elf::segment::ProgramHeader;

use lwk_abi::address::{PAGE_BYTES, SEGMENT_LIMIT, SEGMENT_START};
use lwk_mm::Access;
use lwk_mm::address::align_down;

use crate::error::{ElfError, Part};

/// The most loadable segments a program may have. Linkers make four or five.
pub const SEGMENTS_MAX: usize = 16;

/// Bytes of a program header (System V ABI, figure 5-1).
const HEADER_BYTES: u16 = 56;
/// Bytes of an entry of the dynamic section: tag and value.
const DYNAMIC_BYTES: usize = 16;

/// A static program, borrowed from its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program<'a> {
    /// Address of the first instruction; inside an executable segment.
    pub entry: u64,
    /// What to load, by ascending address; never empty.
    pub segments: ArrayVec<Segment<'a>, SEGMENTS_MAX>,
    /// Address of the program headers in memory (`AT_PHDR`); 0 if no segment holds them.
    pub headers_address: u64,
    /// Bytes of a program header (`AT_PHENT`).
    pub header_bytes: u16,
    /// Program headers (`AT_PHNUM`).
    pub header_count: u16,
    /// End of the highest segment, exclusive, not rounded.
    pub end: u64,
}

/// One loadable segment of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// First address; not necessarily page aligned.
    pub address: u64,
    /// Bytes in memory, at least 1: `data`, then zeros.
    pub memory_bytes: u64,
    /// The segment's bytes in the file.
    pub data: &'a [u8],
    /// What the program may do with it. Writable or executable memory is readable too, as on every x86-64 processor.
    pub access: Access,
}

impl Segment<'_> {
    /// End of the segment, exclusive. Does not overflow for a segment of an accepted program.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.address + self.memory_bytes
    }
}

/// Reads a static program from the bytes of its file.
///
/// # Errors
/// See [`ElfError`]; the first fault found, from the front of the file to its segments.
pub fn parse(file: &[u8]) -> Result<Program<'_>, ElfError> {
    let header = file_header(file)?;
    check_kind(&header)?;
    let table = header_table(file, &header)?;
    let mut segments: ArrayVec<Segment<'_>, SEGMENTS_MAX> = ArrayVec::new();
    let mut headers_address = 0;
    for index in 0..header.e_phnum {
        let entry = program_header(table, index)?;
        match entry.p_type {
            abi::PT_INTERP => return Err(ElfError::Dynamic),
            abi::PT_DYNAMIC if needs_libraries(slice(file, &entry, index)?) => return Err(ElfError::Dynamic),
            abi::PT_LOAD if entry.p_memsz > 0 || entry.p_filesz > 0 => {
                let segment = load_segment(file, &entry, index)?;
                if let Some(inside) = offset_inside(&entry, &header) {
                    headers_address = segment.address + inside;
                }
                let at = segments.iter().position(|other| segment.address < other.address);
                segments
                    .try_insert(at.unwrap_or(segments.len()), segment)
                    .map_err(|_| ElfError::TooManySegments)?;
            }
            _ => {}
        }
    }
    let end = segments.last().ok_or(ElfError::NoSegments)?.end();
    for pair in segments.windows(2) {
        check_neighbours(&pair[0], &pair[1])?;
    }
    let in_code = |segment: &Segment<'_>| {
        segment.access.execute && (segment.address..segment.end()).contains(&header.e_entry)
    };
    if !segments.iter().any(in_code) {
        return Err(ElfError::EntryNotCode(header.e_entry));
    }
    Ok(Program {
        entry: header.e_entry,
        segments,
        headers_address,
        header_bytes: HEADER_BYTES,
        header_count: header.e_phnum,
        end,
    })
}

fn file_header(file: &[u8]) -> Result<FileHeader<LittleEndian>, ElfError> {
    if file.len() < abi::EI_NIDENT {
        // A file cut off inside the magic number is not known to be ELF.
        let magic = file.len().min(abi::ELFMAGIC.len());
        let starts = magic > 0 && file[..magic] == abi::ELFMAGIC[..magic];
        return Err(if starts { ElfError::Truncated(Part::Header) } else { ElfError::NotElf });
    }
    let identity = parse_ident::<LittleEndian>(file).map_err(|error| match error {
        ParseError::BadMagic(_) => ElfError::NotElf,
        _ => ElfError::NotElf64LittleEndian,
    })?;
    if identity.1 != Class::ELF64 {
        return Err(ElfError::NotElf64LittleEndian);
    }
    let tail = file
        .get(abi::EI_NIDENT..abi::EI_NIDENT + ELF64_EHDR_TAILSIZE)
        .ok_or(ElfError::Truncated(Part::Header))?;
    FileHeader::parse_tail(identity, tail).map_err(|_| ElfError::Truncated(Part::Header))
}

/// Refuses what is not a program for this machine at a fixed address.
fn check_kind(header: &FileHeader<LittleEndian>) -> Result<(), ElfError> {
    if header.e_machine != abi::EM_X86_64 {
        return Err(ElfError::WrongMachine(header.e_machine));
    }
    match header.e_type {
        abi::ET_EXEC => {}
        abi::ET_REL => return Err(ElfError::Relocatable),
        abi::ET_DYN => return Err(ElfError::PositionIndependent),
        abi::ET_CORE => return Err(ElfError::CoreDump),
        other => return Err(ElfError::NotAProgram(other)),
    }
    match (header.e_phnum, header.e_phentsize) {
        (0, _) => Err(ElfError::NoSegments),
        // The true count stands elsewhere, and is larger.
        (abi::PN_XNUM, _) => Err(ElfError::TooManySegments),
        (_, HEADER_BYTES) => Ok(()),
        (_, other) => Err(ElfError::BadHeaderSize(other)),
    }
}

/// The bytes of all program headers.
fn header_table<'a>(file: &'a [u8], header: &FileHeader<LittleEndian>) -> Result<&'a [u8], ElfError> {
    let bytes = u64::from(header.e_phnum) * u64::from(HEADER_BYTES);
    bytes_of(file, header.e_phoff, bytes).ok_or(ElfError::Truncated(Part::ProgramHeaders))
}

fn program_header(table: &[u8], index: u16) -> Result<ProgramHeader, ElfError> {
    let mut offset = usize::from(index) * usize::from(HEADER_BYTES);
    ProgramHeader::parse_at(LittleEndian, Class::ELF64, &mut offset, table)
        .map_err(|_| ElfError::Truncated(Part::ProgramHeaders))
}

/// `bytes` of the file from `offset`, if it has them.
fn bytes_of(file: &[u8], offset: u64, bytes: u64) -> Option<&[u8]> {
    let end = offset.checked_add(bytes)?;
    file.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
}

fn slice<'a>(file: &'a [u8], entry: &ProgramHeader, index: u16) -> Result<&'a [u8], ElfError> {
    bytes_of(file, entry.p_offset, entry.p_filesz).ok_or(ElfError::Truncated(Part::Segment(index)))
}

/// Whether a dynamic section names a shared library. A static program may have the section for other reasons.
fn needs_libraries(dynamic: &[u8]) -> bool {
    dynamic
        .chunks_exact(DYNAMIC_BYTES)
        .filter_map(|entry| entry.first_chunk().copied().map(i64::from_le_bytes))
        .take_while(|&tag| tag != abi::DT_NULL)
        .any(|tag| tag == abi::DT_NEEDED)
}

/// One segment, with the checks that need no other one.
fn load_segment<'a>(file: &'a [u8], entry: &ProgramHeader, index: u16) -> Result<Segment<'a>, ElfError> {
    let address = entry.p_vaddr;
    if entry.p_filesz > entry.p_memsz {
        return Err(ElfError::FileLargerThanMemory(address));
    }
    let end = address.checked_add(entry.p_memsz).ok_or(ElfError::AddressOverflow(address))?;
    if address < SEGMENT_START || end > SEGMENT_LIMIT {
        return Err(ElfError::OutsideMemory { address, end });
    }
    let access = access_of(entry.p_flags);
    if access.is_writable_code() {
        return Err(ElfError::WritableExecutable(address));
    }
    Ok(Segment { address, memory_bytes: entry.p_memsz, data: slice(file, entry, index)?, access })
}

fn access_of(flags: u32) -> Access {
    Access {
        read: flags & (abi::PF_R | abi::PF_W | abi::PF_X) != 0,
        write: flags & abi::PF_W != 0,
        execute: flags & abi::PF_X != 0,
    }
}

/// Where in a segment's memory the program headers are, if its bytes in the file hold them all.
fn offset_inside(entry: &ProgramHeader, header: &FileHeader<LittleEndian>) -> Option<u64> {
    let bytes = u64::from(header.e_phnum) * u64::from(HEADER_BYTES);
    let inside = header.e_phoff.checked_sub(entry.p_offset)?;
    (inside.checked_add(bytes)? <= entry.p_filesz).then_some(inside)
}

/// The checks on two segments of which `upper` starts no lower than `lower` and no other is between.
fn check_neighbours(lower: &Segment<'_>, upper: &Segment<'_>) -> Result<(), ElfError> {
    if upper.address < lower.end() {
        return Err(ElfError::Overlap(upper.address));
    }
    let page = align_down(upper.address, PAGE_BYTES);
    if page < lower.end() && lower.access != upper.access {
        return Err(ElfError::SharedPage(page));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_file::{File, HEADERS_OFFSET, Header};
    use std::string::ToString;
    use std::vec::Vec;

    const BASE: u64 = SEGMENT_START;

    /// What becomes of the good file after a change.
    fn after(change: impl FnOnce(&mut File)) -> Result<u64, ElfError> {
        let mut file = File::good();
        change(&mut file);
        parse(&file.bytes()).map(|program| program.end)
    }

    #[test]
    fn a_good_program_is_read() {
        let bytes = File::good().bytes();
        let program = parse(&bytes).expect("a good file");
        assert_eq!(program.entry, BASE + 0x400);
        assert_eq!((program.headers_address, program.header_count), (BASE + HEADERS_OFFSET, 3));
        assert_eq!(program.end, BASE + 0x5000);
        let parts: Vec<_> = program
            .segments
            .iter()
            .map(|s| (s.address - BASE, s.memory_bytes, s.data.len(), s.access))
            .collect();
        let expected = [
            (0, 0x1000, 0x1000, Access::RX),
            (0x1000, 0x800, 0x800, Access::R),
            (0x2000, 0x3000, 0x10, Access::RW),
        ];
        assert_eq!(parts, expected);
        assert_eq!(program.segments[2].data, &bytes[0x2000..0x2010]);
    }

    #[test]
    fn segments_are_sorted_by_address() {
        let mut file = File::good();
        file.headers.reverse();
        let bytes = file.bytes();
        let program = parse(&bytes).expect("order is free");
        assert!(program.segments.is_sorted_by_key(|segment| segment.address));
    }

    #[test]
    fn headers_outside_every_segment_have_no_address() {
        let mut file = File::good();
        file.headers[0].offset = 0x400;
        file.headers[0].file_bytes = 0x400;
        assert_eq!(parse(&file.bytes()).expect("still good").headers_address, 0);
    }

    #[test]
    fn every_cut_is_refused() {
        let bytes = File::good().bytes();
        for length in 0..bytes.len() {
            let error = parse(&bytes[..length]).expect_err("a cut file");
            let expected = match length {
                0 => ElfError::NotElf,
                1..64 => ElfError::Truncated(Part::Header),
                64..232 => ElfError::Truncated(Part::ProgramHeaders),
                232..0x1000 => ElfError::Truncated(Part::Segment(0)),
                0x1000..0x1800 => ElfError::Truncated(Part::Segment(1)),
                _ => ElfError::Truncated(Part::Segment(2)),
            };
            assert_eq!(error, expected, "{length}");
        }
    }

    #[test]
    fn other_kinds_of_file_are_refused() {
        assert_eq!(
            parse(b"#!/bin/sh\necho a script that is long enough to hold a header\n"),
            Err(ElfError::NotElf)
        );
        for (place, value) in [(4, abi::ELFCLASS32), (4, 0), (5, abi::ELFDATA2MSB), (6, 2)] {
            let mut bytes = File::good().bytes();
            bytes[place] = value;
            assert_eq!(parse(&bytes), Err(ElfError::NotElf64LittleEndian), "{place} {value}");
        }
        assert_eq!(after(|file| file.machine = abi::EM_AARCH64), Err(ElfError::WrongMachine(183)));
        assert_eq!(after(|file| file.kind = abi::ET_REL), Err(ElfError::Relocatable));
        assert_eq!(after(|file| file.kind = abi::ET_DYN), Err(ElfError::PositionIndependent));
        assert_eq!(after(|file| file.kind = abi::ET_CORE), Err(ElfError::CoreDump));
        assert_eq!(after(|file| file.kind = 9), Err(ElfError::NotAProgram(9)));
        assert_eq!(after(|file| file.header_bytes = 32), Err(ElfError::BadHeaderSize(32)));
    }

    #[test]
    fn dynamic_programs_are_refused() {
        let special = |kind, offset, file_bytes| Header {
            kind,
            flags: abi::PF_R,
            offset,
            address: BASE,
            file_bytes,
            memory_bytes: file_bytes,
        };
        assert_eq!(after(|file| file.headers.push(special(abi::PT_INTERP, 0, 1))), Err(ElfError::Dynamic));
        let dynamic = |tags: [i64; 2]| {
            after(|file| {
                for (index, tag) in tags.into_iter().enumerate() {
                    file.data[0x1000 + 16 * index..][..8].copy_from_slice(&tag.to_le_bytes());
                }
                file.headers.push(special(abi::PT_DYNAMIC, 0x1000, 32));
            })
        };
        assert_eq!(dynamic([abi::DT_SYMTAB, abi::DT_NEEDED]), Err(ElfError::Dynamic));
        assert_eq!(dynamic([abi::DT_NULL, abi::DT_NEEDED]), Ok(BASE + 0x5000));
        assert_eq!(dynamic([abi::DT_SYMTAB, abi::DT_SYMTAB]), Ok(BASE + 0x5000));
        assert_eq!(
            after(|file| file.headers.push(special(abi::PT_DYNAMIC, 0x3000, 16))),
            Err(ElfError::Truncated(Part::Segment(3)))
        );
    }

    #[test]
    fn wrong_segments_are_refused() {
        assert_eq!(after(|file| file.headers.clear()), Err(ElfError::NoSegments));
        assert_eq!(
            after(|file| file.headers.iter_mut().for_each(|header| header.kind = abi::PT_NOTE)),
            Err(ElfError::NoSegments)
        );
        let many = |count: u64| {
            after(|file| {
                let last = file.headers[2];
                let more = (3..count).map(|page| Header { address: BASE + page * 0x10_0000, ..last });
                file.headers.extend(more);
            })
        };
        assert_eq!(many(16), Ok(BASE + 0xf0_3000));
        assert_eq!(many(17), Err(ElfError::TooManySegments));
        assert_eq!(
            after(|file| file.headers[1].memory_bytes = 0x7ff),
            Err(ElfError::FileLargerThanMemory(BASE + 0x1000))
        );
        assert_eq!(
            after(|file| file.headers[2].memory_bytes = u64::MAX),
            Err(ElfError::AddressOverflow(BASE + 0x2000))
        );
        assert_eq!(
            after(|file| file.headers[2].offset = u64::MAX),
            Err(ElfError::Truncated(Part::Segment(2)))
        );
        assert_eq!(
            after(|file| file.headers[1].address = BASE - 1),
            Err(ElfError::OutsideMemory { address: BASE - 1, end: BASE + 0x7ff })
        );
        let past = ElfError::OutsideMemory { address: BASE + 0x2000, end: SEGMENT_LIMIT + 1 };
        assert_eq!(after(|file| file.headers[2].memory_bytes = SEGMENT_LIMIT - BASE - 0x2000 + 1), Err(past));
        assert_eq!(after(|file| file.headers[2].memory_bytes -= 0x3000 - 0x10), Ok(BASE + 0x2010));
        assert_eq!(
            after(|file| file.headers[1].memory_bytes = 0x1001),
            Err(ElfError::Overlap(BASE + 0x2000))
        );
        assert_eq!(
            after(|file| file.headers[1].address = BASE + 0x1fff),
            Err(ElfError::Overlap(BASE + 0x2000))
        );
        assert_eq!(after(|file| file.headers[1].address = BASE), Err(ElfError::Overlap(BASE)));
        assert_eq!(
            after(|file| file.headers[2].address = BASE + 0x1800),
            Err(ElfError::SharedPage(BASE + 0x1000))
        );
        assert_eq!(
            after(|file| file.headers[2].flags = abi::PF_W | abi::PF_X),
            Err(ElfError::WritableExecutable(BASE + 0x2000))
        );
    }

    #[test]
    fn segments_of_one_access_may_share_a_page() {
        let result = after(|file| {
            file.headers[1].flags = abi::PF_W | abi::PF_R;
            file.headers[2].address = BASE + 0x1800;
        });
        assert_eq!(result, Ok(BASE + 0x4800));
    }

    #[test]
    fn the_entry_must_be_code() {
        for entry in [0, BASE - 1, BASE + 0x1000, BASE + 0x2000, u64::MAX] {
            assert_eq!(after(|file| file.entry = entry), Err(ElfError::EntryNotCode(entry)));
        }
        assert!(after(|file| file.entry = BASE).is_ok());
        assert!(after(|file| file.entry = BASE + 0xfff).is_ok());
    }

    #[test]
    fn an_error_is_one_line_that_says_what_to_do() {
        assert_eq!(
            ElfError::PositionIndependent.to_string(),
            "a shared library or position-independent program; link with -static -no-pie"
        );
        assert_eq!(
            ElfError::OutsideMemory { address: 0x1000, end: 0x2000 }.to_string(),
            "the segment at 0x1000..0x2000 is outside 0x400000..0x7fffe00000; link at the default address"
        );
    }
}
