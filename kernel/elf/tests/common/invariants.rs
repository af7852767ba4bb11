//! What an accepted program keeps, whatever the file was. The property tests and the fuzz target check it.

use lwk_abi::address::{PAGE_BYTES, SEGMENT_LIMIT, SEGMENT_START};
use lwk_elf::Program;

/// Panics with the invariant that the program from `file` breaks.
pub fn check(file: &[u8], program: &Program<'_>) {
    assert!(!program.segments.is_empty(), "something is loaded");
    let whole = file.as_ptr_range();
    for segment in &program.segments {
        let data = segment.data.as_ptr_range();
        assert!(whole.start <= data.start && data.end <= whole.end, "data is inside the file");
        assert!(
            segment.memory_bytes > 0 && segment.data.len() as u64 <= segment.memory_bytes,
            "data fits its memory"
        );
        let end = segment.address.checked_add(segment.memory_bytes).expect("no wrap-around");
        assert!(SEGMENT_START <= segment.address && end <= SEGMENT_LIMIT, "inside a rank's memory");
        assert!(!(segment.access.write && segment.access.execute), "not writable and executable");
    }
    for pair in program.segments.windows(2) {
        let end = pair[0].address + pair[0].memory_bytes;
        assert!(end <= pair[1].address, "ascending without overlap");
        let shared = (end - 1) / PAGE_BYTES == pair[1].address / PAGE_BYTES;
        assert!(!shared || pair[0].access == pair[1].access, "a page has one kind of access");
    }
    let last = &program.segments[program.segments.len() - 1];
    assert_eq!(program.end, last.address + last.memory_bytes, "the end is the last segment's");
    let entered = program
        .segments
        .iter()
        .find(|segment| (segment.address..segment.address + segment.memory_bytes).contains(&program.entry));
    assert!(entered.is_some_and(|segment| segment.access.execute), "the entry point is code");
    if program.headers_address != 0 {
        let bytes = u64::from(program.header_bytes) * u64::from(program.header_count);
        let holds = program.segments.iter().any(|segment| {
            segment.address <= program.headers_address
                && program.headers_address + bytes <= segment.address + segment.data.len() as u64
        });
        assert!(holds, "the program headers are loaded bytes");
    }
}
