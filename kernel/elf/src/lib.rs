//! Reads static ELF64 programs (System V ABI, chapters 4 and 5, and its AMD64 supplement) as pure logic.
//!
//! A program has a fixed address, or is position independent; then it is placed here, always at the same address, since all ranks must agree on it. It
//! relocates itself when it starts.
//!
//! A file is accepted or refused as a whole by [`parse`]: an accepted [`Program`] has its segments inside the file, inside
//! a rank's segment of memory, in ascending order, without overlap, without a page of two kinds of access and without
//! memory that is writable and executable; and its entry point is code. No input makes this crate panic or read outside
//! the file.
#![no_std]
#![forbid(unsafe_code)]

mod error;
mod program;

pub use error::{ElfError, FilePart, SEGMENTS_MAX};
pub use program::{Program, Segment, parse};
