//! Random files, damaged good files and random headers: `lwk_elf::parse` never panics, and what it accepts keeps the
//! invariants.

mod common;

use common::file::{File, Header};
use common::invariants;
use elf::abi;
use lwk_abi::address::{PIE_START, SEGMENT_LIMIT, SEGMENT_START};
use lwk_elf::parse;
use proptest::prelude::*;

/// Parses, checks what was accepted, and says whether it was.
fn survives(bytes: &[u8]) -> bool {
    match parse(bytes) {
        Ok(program) => {
            invariants::check(bytes, &program);
            true
        }
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty() && !text.contains('\n'), "an error is one line: {text:?}");
            false
        }
    }
}

/// Numbers near the edges that matter, and any others.
fn number() -> impl Strategy<Value = u64> {
    let near = prop::sample::select(vec![0, 0x40, 0x1000, 0x2010, SEGMENT_START, SEGMENT_LIMIT, 1 << 63]);
    prop_oneof![
        4 => (near, -3i64..0x1003).prop_map(|(base, more)| base.wrapping_add_signed(more)),
        4 => (0u64..16).prop_map(|page| SEGMENT_START + page * 0x800),
        4 => (0u64..8).prop_map(|page| page * 0x400),
        1 => any::<u64>(),
    ]
}

fn header() -> impl Strategy<Value = Header> {
    let kind = prop_oneof![
        8 => Just(abi::PT_LOAD),
        1 => prop::sample::select(vec![abi::PT_DYNAMIC, abi::PT_INTERP, abi::PT_NOTE, abi::PT_TLS, abi::PT_PHDR]),
    ];
    let align = prop_oneof![4 => Just(0x1000), 2 => (0u32..64).prop_map(|shift| 1 << shift), 1 => number()];
    (kind, 0u32..8, number(), number(), number(), number(), align).prop_map(
        |(kind, flags, offset, address, file_bytes, memory_bytes, align)| Header {
            kind,
            flags,
            offset,
            address,
            file_bytes,
            memory_bytes,
            align,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_survive(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        survives(&bytes);
    }

    #[test]
    fn damaged_files_survive(damage in prop::collection::vec((0usize..0x110, any::<u8>()), 1..4), cut in 0usize..0x2020) {
        let mut bytes = File::good().bytes();
        for (place, value) in damage {
            bytes[place] = value;
        }
        survives(&bytes);
        bytes.truncate(cut);
        survives(&bytes);
    }

    #[test]
    fn any_headers_survive(headers in prop::collection::vec(header(), 0..20), entry in number(), kind in 2u16..4) {
        survives(&File { headers, entry, kind, ..File::good() }.bytes());
    }

    /// Wherever the file places it, a position-independent program is loaded at one address, as far as its alignment lets it.
    #[test]
    fn position_independent_programs_have_one_place(page in 0u64..1 << 40, shift in 12u32..30, which in 0usize..3) {
        let mut file = File::position_independent();
        let low = page << 12;
        file.entry += low;
        file.headers.iter_mut().for_each(|header| header.address += low);
        file.headers[which].align = 1 << shift;
        let bytes = file.bytes();
        let program = parse(&bytes).expect("a good file");
        invariants::check(&bytes, &program);
        let first = program.segments[0].address;
        prop_assert_eq!(first % (1 << shift), low % (1 << shift));
        prop_assert_eq!(first & !((1 << shift) - 1), PIE_START.next_multiple_of(1 << shift));
        prop_assert_eq!((program.entry, program.headers_address), (first + 0x400, first + 0x40));
        prop_assert_eq!(program.bias, first.wrapping_sub(low));
    }

    /// Disjoint segments in any order, on pages of their own: always accepted, so the checks refuse no good program.
    #[test]
    fn disjoint_segments_are_accepted(
        parts in prop::collection::vec((0u64..5, 1u64..0x5000, 0u64..0x1800, 1usize..4), 1..16),
        order in any::<u64>(),
    ) {
        let mut file = File::good();
        file.headers.clear();
        let flags = [abi::PF_R, abi::PF_R, abi::PF_R | abi::PF_W, abi::PF_R | abi::PF_X];
        let mut page = SEGMENT_START;
        for (gap, memory_bytes, file_bytes, kind) in parts {
            let address = page + gap * 0x1000;
            let file_bytes = file_bytes.min(memory_bytes);
            let (kind, flags, offset, align) = (abi::PT_LOAD, flags[kind], 0x400, 0x1000);
            file.headers.push(Header { kind, flags, offset, address, file_bytes, memory_bytes, align });
            page = (address + memory_bytes).next_multiple_of(0x1000);
        }
        file.headers[0].flags = abi::PF_X;
        file.entry = file.headers[0].address;
        let count = file.headers.len();
        file.headers.rotate_left(order as usize % count);
        prop_assert!(survives(&file.bytes()));
    }
}
