//! The parts of a program file that loading needs, and every check on them.

use arrayvec::ArrayVec;
use elf::abi;
use elf::endian::LittleEndian;
use elf::file::{Class, ELF64_EHDR_TAILSIZE, FileHeader, parse_ident};
use elf::parse::{ParseAt, ParseError};
use elf::segment::ProgramHeader;

use lwk_abi::address::{PAGE_BYTES, PIE_START, SEGMENT_LIMIT, SEGMENT_START};
use lwk_mm::Access;
use lwk_mm::address::align_down;

use crate::error::{ElfError, FilePart, SEGMENTS_MAX};

/// Bytes of a program header (System V ABI, figure 5-1).
const HEADER_BYTES: u16 = 56;
/// Bytes of an entry of the dynamic section: tag and value.
const DYNAMIC_BYTES: usize = 16;

/// A static program, borrowed from its file. All addresses are those that it is loaded at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program<'a> {
    /// What has been added to the addresses in the file, modulo 2^64: 0 for a program with a fixed address.
    pub bias: u64,
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
    let bias = bias(&header, table)?;
    let mut segments: ArrayVec<Segment<'_>, SEGMENTS_MAX> = ArrayVec::new();
    let mut headers_address = 0;
    for index in 0..header.e_phnum {
        let entry = program_header(table, index)?;
        match entry.p_type {
            abi::PT_INTERP => return Err(ElfError::Dynamic),
            abi::PT_DYNAMIC => check_dynamic(slice(file, &entry, index)?, &header)?,
            abi::PT_LOAD if is_loaded(&entry) => {
                let segment = load_segment(file, &entry, index, bias)?;
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
    if is_position_independent(&header) && header.e_entry == 0 {
        return Err(ElfError::SharedLibrary);
    }
    let in_code = |entry: &u64| {
        segments
            .iter()
            .any(|segment| segment.access.execute && (segment.address..segment.end()).contains(entry))
    };
    let entry = placed(header.e_entry, bias).filter(in_code);
    Ok(Program {
        bias: bias as u64,
        entry: entry.ok_or(ElfError::EntryNotCode(header.e_entry))?,
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
        return Err(if starts { ElfError::Truncated(FilePart::Header) } else { ElfError::NotElf });
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
        .ok_or(ElfError::Truncated(FilePart::Header))?;
    FileHeader::parse_tail(identity, tail).map_err(|_| ElfError::Truncated(FilePart::Header))
}

/// Refuses what is not a program for this machine.
fn check_kind(header: &FileHeader<LittleEndian>) -> Result<(), ElfError> {
    if header.e_machine != abi::EM_X86_64 {
        return Err(ElfError::WrongMachine(header.e_machine));
    }
    match header.e_type {
        abi::ET_EXEC | abi::ET_DYN => {}
        abi::ET_REL => return Err(ElfError::Relocatable),
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

fn is_position_independent(header: &FileHeader<LittleEndian>) -> bool {
    header.e_type == abi::ET_DYN
}

fn is_loaded(entry: &ProgramHeader) -> bool {
    entry.p_type == abi::PT_LOAD && (entry.p_memsz > 0 || entry.p_filesz > 0)
}

/// What is added to a program's addresses: the lowest page of one that is position independent goes to [`PIE_START`], or above that to
/// where all its segments are aligned as they ask for.
fn bias(header: &FileHeader<LittleEndian>, table: &[u8]) -> Result<i128, ElfError> {
    if !is_position_independent(header) {
        return Ok(0);
    }
    let (mut lowest, mut align) = (u64::MAX, PAGE_BYTES);
    for index in 0..header.e_phnum {
        let entry = program_header(table, index)?;
        if is_loaded(&entry) {
            lowest = lowest.min(entry.p_vaddr);
            // 0 and 1 ask for nothing.
            if entry.p_align > 1 && !entry.p_align.is_power_of_two() {
                return Err(ElfError::BadAlignment(entry.p_align));
            }
            align = align.max(entry.p_align);
        }
    }
    // At most 2^63, a power of two as `align` is: no overflow.
    Ok(i128::from(PIE_START.next_multiple_of(align)) - i128::from(align_down(lowest, align)))
}

/// Where an address of the file is in memory, if that is an address.
fn placed(address: u64, bias: i128) -> Option<u64> {
    u64::try_from(i128::from(address) + bias).ok()
}

/// The bytes of all program headers.
fn header_table<'a>(file: &'a [u8], header: &FileHeader<LittleEndian>) -> Result<&'a [u8], ElfError> {
    let bytes = u64::from(header.e_phnum) * u64::from(HEADER_BYTES);
    bytes_of(file, header.e_phoff, bytes).ok_or(ElfError::Truncated(FilePart::ProgramHeaders))
}

fn program_header(table: &[u8], index: u16) -> Result<ProgramHeader, ElfError> {
    let mut offset = usize::from(index) * usize::from(HEADER_BYTES);
    ProgramHeader::parse_at(LittleEndian, Class::ELF64, &mut offset, table)
        .map_err(|_| ElfError::Truncated(FilePart::ProgramHeaders))
}

/// `bytes` of the file from `offset`, if it has them.
fn bytes_of(file: &[u8], offset: u64, bytes: u64) -> Option<&[u8]> {
    if bytes == 0 {
        // Nothing is read, wherever it would be: a segment of zeros only often "lies" past the end of the file.
        return file.get(..0);
    }
    let end = offset.checked_add(bytes)?;
    file.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
}

fn slice<'a>(file: &'a [u8], entry: &ProgramHeader, index: u16) -> Result<&'a [u8], ElfError> {
    bytes_of(file, entry.p_offset, entry.p_filesz).ok_or(ElfError::Truncated(FilePart::Segment(index)))
}

/// Refuses a dynamic section that names a shared library, or says that code must be relocated. A static program may have the section for other
/// reasons.
fn check_dynamic(dynamic: &[u8], header: &FileHeader<LittleEndian>) -> Result<(), ElfError> {
    let word = |bytes: &[u8]| bytes.first_chunk().copied().map_or(0, i64::from_le_bytes);
    let entries =
        dynamic.chunks_exact(DYNAMIC_BYTES).map(|entry| (word(entry), word(&entry[DYNAMIC_BYTES / 2..])));
    for (tag, value) in entries.take_while(|(tag, _)| *tag != abi::DT_NULL) {
        let in_code = tag == abi::DT_TEXTREL || (tag == abi::DT_FLAGS && value & abi::DF_TEXTREL != 0);
        if tag == abi::DT_NEEDED {
            return Err(ElfError::Dynamic);
        }
        if in_code && is_position_independent(header) {
            return Err(ElfError::TextRelocations);
        }
    }
    Ok(())
}

/// One segment, `bias` above its address in the file, with the checks that need no other one.
fn load_segment<'a>(
    file: &'a [u8],
    entry: &ProgramHeader,
    index: u16,
    bias: i128,
) -> Result<Segment<'a>, ElfError> {
    let address = placed(entry.p_vaddr, bias).ok_or(ElfError::AddressOverflow(entry.p_vaddr))?;
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
