//! What `lwk_elf` promises, case by case: a good program is read, and every fault gets its own error.

mod common;

use common::file::{File, HEADERS_OFFSET, Header};
use common::invariants;
use elf::abi;
use lwk_abi::address::{PIE_START, SEGMENT_LIMIT, SEGMENT_START};
use lwk_elf::{ElfError, FilePart, parse};
use lwk_mm::Access;

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
    invariants::check(&bytes, &program);
    assert_eq!(program.entry, BASE + 0x400);
    assert_eq!((program.headers_address, program.header_count), (BASE + HEADERS_OFFSET, 3));
    assert_eq!(program.end, BASE + 0x5000);
    let parts: Vec<_> =
        program.segments.iter().map(|s| (s.address - BASE, s.memory_bytes, s.data.len(), s.access)).collect();
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
    // All but their last byte inside is not enough.
    let mut file = File::good();
    let end = HEADERS_OFFSET + 3 * 56;
    for (file_bytes, address) in [(end - 1, 0), (end, BASE + HEADERS_OFFSET)] {
        file.headers[0].file_bytes = file_bytes;
        assert_eq!(parse(&file.bytes()).expect("still good").headers_address, address);
    }
}

#[test]
fn every_cut_is_refused() {
    let bytes = File::good().bytes();
    for length in 0..bytes.len() {
        let error = parse(&bytes[..length]).expect_err("a cut file");
        let expected = match length {
            0 => ElfError::NotElf,
            1..64 => ElfError::Truncated(FilePart::Header),
            64..232 => ElfError::Truncated(FilePart::ProgramHeaders),
            232..0x1000 => ElfError::Truncated(FilePart::Segment(0)),
            0x1000..0x1800 => ElfError::Truncated(FilePart::Segment(1)),
            _ => ElfError::Truncated(FilePart::Segment(2)),
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
        align: 1,
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
        Err(ElfError::Truncated(FilePart::Segment(3)))
    );
}

/// What becomes of the good position-independent file after a change: the bias, or why it is refused.
fn independent(change: impl FnOnce(&mut File)) -> Result<u64, ElfError> {
    let mut file = File::position_independent();
    change(&mut file);
    let bytes = file.bytes();
    parse(&bytes).map(|program| {
        invariants::check(&bytes, &program);
        program.bias
    })
}

#[test]
fn a_position_independent_program_is_placed() {
    let bytes = File::position_independent().bytes();
    let program = parse(&bytes).expect("a good file");
    assert_eq!((program.bias, program.entry), (PIE_START, PIE_START + 0x400));
    assert_eq!((program.headers_address, program.end), (PIE_START + HEADERS_OFFSET, PIE_START + 0x5000));
    let addresses: Vec<_> = program.segments.iter().map(|segment| segment.address).collect();
    assert_eq!(addresses, [PIE_START, PIE_START + 0x1000, PIE_START + 0x2000]);
    // One that the linker has placed somewhere else, up to the last address there is.
    for low in [0x1000, PIE_START, SEGMENT_LIMIT, 1 << 63, 0u64.wrapping_sub(0x5000)] {
        let moved = independent(|file| {
            file.entry += low;
            file.headers.iter_mut().for_each(|header| header.address += low);
        });
        assert_eq!(moved, Ok(PIE_START.wrapping_sub(low)), "{low:#x}");
    }
}

#[test]
fn alignments_are_held_or_refused() {
    let of = |align: u64| independent(|file| file.headers[1].align = align);
    for none in [0, 1, 2, 0x1000, PIE_START] {
        assert_eq!(of(none), Ok(PIE_START), "{none:#x}");
    }
    assert_eq!(of(1 << 30), Ok(1 << 30));
    for align in [SEGMENT_LIMIT.next_power_of_two(), 1 << 63] {
        assert_eq!(
            of(align),
            Err(ElfError::OutsideMemory { address: align, end: align + 0x1000 }),
            "{align:#x}"
        );
    }
    for wrong in [3, 0x1001, u64::MAX] {
        assert_eq!(of(wrong), Err(ElfError::BadAlignment(wrong)));
        // At a fixed address it says nothing.
        assert!(after(|file| file.headers[1].align = wrong).is_ok());
    }
}

#[test]
fn position_independent_programs_that_cannot_be_placed_are_refused() {
    let last = 0u64.wrapping_sub(0x1000);
    assert_eq!(independent(|file| file.headers[2].address = last), Err(ElfError::AddressOverflow(last)));
    let far = independent(|file| file.headers[2].address = SEGMENT_LIMIT);
    let address = PIE_START + SEGMENT_LIMIT;
    assert_eq!(far, Err(ElfError::OutsideMemory { address, end: address + 0x3000 }));
    assert_eq!(independent(|file| file.entry = 0), Err(ElfError::SharedLibrary));
    for entry in [0x1000, last, PIE_START + 0x400] {
        assert_eq!(independent(|file| file.entry = entry), Err(ElfError::EntryNotCode(entry)));
    }
    assert_eq!(independent(|file| file.headers.clear()), Err(ElfError::NoSegments));
    assert_eq!(independent(|file| file.headers[0].kind = abi::PT_INTERP), Err(ElfError::Dynamic));
    let flags = abi::PF_W | abi::PF_X;
    assert_eq!(
        independent(|file| file.headers[2].flags = flags),
        Err(ElfError::WritableExecutable(PIE_START + 0x2000))
    );
}

#[test]
fn code_that_must_be_relocated_is_refused() {
    let dynamic = |change: fn(&mut File), words: [i64; 4]| {
        let mut file = File::position_independent();
        for (index, word) in words.into_iter().enumerate() {
            file.data[0x1000 + 8 * index..][..8].copy_from_slice(&word.to_le_bytes());
        }
        let header = Header { kind: abi::PT_DYNAMIC, file_bytes: 32, memory_bytes: 32, ..file.headers[1] };
        file.headers.push(header);
        change(&mut file);
        parse(&file.bytes()).map(|program| program.bias)
    };
    let as_it_is: fn(&mut File) = |_| {};
    for words in [[abi::DT_TEXTREL, 0, 0, 0], [abi::DT_FLAGS, abi::DF_TEXTREL | 8, 0, 0]] {
        assert_eq!(dynamic(as_it_is, words), Err(ElfError::TextRelocations));
    }
    for words in [[abi::DT_FLAGS, 8, 0, 0], [abi::DT_NULL, 0, abi::DT_TEXTREL, 0], [abi::DT_DEBUG, 4, 0, 0]] {
        assert_eq!(dynamic(as_it_is, words), Ok(PIE_START));
    }
    let cut: fn(&mut File) = |file| file.headers[3].file_bytes = 31;
    assert_eq!(dynamic(cut, [abi::DT_SYMTAB, 0, abi::DT_TEXTREL, 0]), Ok(PIE_START), "half an entry is none");
    assert_eq!(dynamic(as_it_is, [abi::DT_SYMTAB, 0, abi::DT_NEEDED, 1]), Err(ElfError::Dynamic));
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
        Err(ElfError::Truncated(FilePart::Segment(2)))
    );
    assert_eq!(
        after(|file| file.headers[1].address = BASE - 1),
        Err(ElfError::OutsideMemory { address: BASE - 1, end: BASE + 0x7ff })
    );
    let past = ElfError::OutsideMemory { address: BASE + 0x2000, end: SEGMENT_LIMIT + 1 };
    assert_eq!(after(|file| file.headers[2].memory_bytes = SEGMENT_LIMIT - BASE - 0x2000 + 1), Err(past));
    assert_eq!(after(|file| file.headers[2].memory_bytes = SEGMENT_LIMIT - BASE - 0x2000), Ok(SEGMENT_LIMIT));
    assert_eq!(after(|file| file.headers[2].memory_bytes -= 0x3000 - 0x10), Ok(BASE + 0x2010));
    assert_eq!(after(|file| file.headers[1].memory_bytes = 0x1001), Err(ElfError::Overlap(BASE + 0x2000)));
    assert_eq!(after(|file| file.headers[1].address = BASE + 0x1fff), Err(ElfError::Overlap(BASE + 0x2000)));
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
fn a_segment_of_zeros_may_lie_past_the_end_of_the_file() {
    let result = after(|file| {
        file.headers[2].file_bytes = 0;
        file.headers[2].offset = 0x10_0000;
    });
    assert_eq!(result, Ok(BASE + 0x5000));
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
        ElfError::SharedLibrary.to_string(),
        "a shared library, not a program; link with -static or -static-pie"
    );
    assert_eq!(
        ElfError::OutsideMemory { address: 0x1000, end: 0x2000 }.to_string(),
        "the segment at 0x1000..0x2000 is outside 0x200000..0x7fffe00000; link at the default address"
    );
}
