//! Why a program file is refused: one line each, that says what to do.

use core::fmt;

use lwk_abi::address::{SEGMENT_LIMIT, SEGMENT_START};

/// The most loadable segments a program may have. Linkers make four or five.
pub const SEGMENTS_MAX: usize = 16;

/// What a command line would say to get a program that runs here.
const HOW_TO_LINK: &str = "link with -static or -static-pie";

/// A part of a program file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePart {
    /// The ELF header.
    Header,
    /// The table of program headers.
    ProgramHeaders,
    /// A segment's bytes; the index of its program header.
    Segment(u16),
}

impl fmt::Display for FilePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilePart::Header => f.write_str("the ELF header"),
            FilePart::ProgramHeaders => f.write_str("the program headers"),
            FilePart::Segment(index) => write!(f, "the data of program header {index}"),
        }
    }
}

/// Why a program file is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElfError {
    /// The file does not start with ELF's magic number.
    NotElf,
    /// The file ends before this part of it does.
    Truncated(FilePart),
    /// An ELF file of 32 bits, of big-endian order, or of a version other than 1.
    NotElf64LittleEndian,
    /// For another machine than x86-64; `e_machine`.
    WrongMachine(u16),
    /// An object file (`ET_REL`).
    Relocatable,
    /// A shared library: position independent (`ET_DYN`), and nowhere to start.
    SharedLibrary,
    /// A core dump (`ET_CORE`).
    CoreDump,
    /// Some other type of file; `e_type`.
    NotAProgram(u16),
    /// Program headers of a size other than 56 bytes; `e_phentsize`.
    BadHeaderSize(u16),
    /// The program asks for a dynamic linker or for shared libraries.
    Dynamic,
    /// A position-independent program that would change its code, which is not writable, when it starts (`DT_TEXTREL`).
    TextRelocations,
    /// A segment of a position-independent program shall be aligned to this (`p_align`), which is no power of two.
    BadAlignment(u64),
    /// Nothing to load.
    NoSegments,
    /// More loadable segments than [`SEGMENTS_MAX`], or more program headers than the header can count.
    TooManySegments,
    /// The segment at this address has more bytes in the file than in memory.
    FileLargerThanMemory(u64),
    /// The segment at this address ends above 2^64.
    AddressOverflow(u64),
    /// The segment at `address` is not wholly inside the memory that a rank can have.
    OutsideMemory { address: u64, end: u64 },
    /// The segment at this address overlaps the one below it.
    Overlap(u64),
    /// The page at this address belongs to two segments of different access.
    SharedPage(u64),
    /// The segment at this address is writable and executable.
    WritableExecutable(u64),
    /// The entry point is in no executable segment.
    EntryNotCode(u64),
}

impl fmt::Display for ElfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElfError::NotElf => f.write_str("not an ELF file; give a static x86-64 program"),
            ElfError::Truncated(part) => {
                write!(f, "the file is truncated: it ends inside {part}; build or copy it again")
            }
            ElfError::NotElf64LittleEndian => {
                f.write_str("not a 64-bit little-endian ELF file; build the program for x86-64")
            }
            ElfError::WrongMachine(machine) => {
                write!(f, "built for another machine (ELF machine {machine}); build the program for x86-64")
            }
            ElfError::Relocatable => write!(f, "an object file, not a program; {HOW_TO_LINK}"),
            ElfError::SharedLibrary => {
                write!(f, "a shared library, not a program; {HOW_TO_LINK}")
            }
            ElfError::CoreDump => f.write_str("a core dump, not a program; give the program itself"),
            ElfError::NotAProgram(kind) => write!(f, "ELF type {kind} is not a program; {HOW_TO_LINK}"),
            ElfError::BadHeaderSize(bytes) => {
                write!(f, "program headers of {bytes} bytes, not 56: the file is damaged; build it again")
            }
            ElfError::Dynamic => write!(f, "the program needs a dynamic linker; {HOW_TO_LINK}"),
            ElfError::TextRelocations => f.write_str(
                "the program changes its own code when it starts; compile all of it with -fPIE, or link with -no-pie",
            ),
            ElfError::BadAlignment(align) => {
                write!(f, "an alignment of {align:#x} is no power of two: the file is damaged; build it again")
            }
            ElfError::NoSegments => write!(f, "the file has no loadable segment; {HOW_TO_LINK}"),
            ElfError::TooManySegments => {
                write!(f, "the program has more than {SEGMENTS_MAX} loadable segments; link it with fewer")
            }
            ElfError::FileLargerThanMemory(at) => write!(
                f,
                "the segment at {at:#x} is larger in the file than in memory: the file is damaged; build it again"
            ),
            ElfError::AddressOverflow(at) => write!(
                f,
                "the segment at {at:#x} ends beyond the last address: the file is damaged; build it again"
            ),
            ElfError::OutsideMemory { address, end } => write!(
                f,
                "the segment at {address:#x}..{end:#x} is outside {SEGMENT_START:#x}..{SEGMENT_LIMIT:#x}; \
                 link at the default address"
            ),
            ElfError::Overlap(at) => {
                write!(f, "the segment at {at:#x} overlaps the one below it; link with separate segments")
            }
            ElfError::SharedPage(at) => write!(
                f,
                "the page at {at:#x} belongs to two segments of different access; link with -z separate-code"
            ),
            ElfError::WritableExecutable(at) => {
                write!(f, "the segment at {at:#x} is writable and executable; link without -N (--omagic)")
            }
            ElfError::EntryNotCode(at) => {
                write!(f, "the entry point {at:#x} is in no executable segment; link with a start-up file")
            }
        }
    }
}

impl core::error::Error for ElfError {}
