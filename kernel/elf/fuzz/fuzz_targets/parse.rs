//! Any file: the reader of programs does not panic, what it accepts keeps the invariants, and a refusal is one line.
#![no_main]

#[path = "../../tests/common/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    match lwk_elf::parse(file) {
        Ok(program) => invariants::check(file, &program),
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
