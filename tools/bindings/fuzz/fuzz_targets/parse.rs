//! Any text: the readers of the description do not panic, a refusal is one line, and everything can be made of what they accept.
#![no_main]

use lwk_bindings::description::Chapter;
use lwk_bindings::{Description, constants};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut description = Description { chapters: Vec::new(), constants: Vec::new() };
    match Chapter::parse("fuzz", text) {
        Ok(chapter) => description.chapters.push(chapter),
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
    match constants::parse(text) {
        Ok(sections) => description.constants = sections,
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
    let _ = (description.headers(), description.included(), description.sources());
});
