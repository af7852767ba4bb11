//! What the command says: results to standard output (`show!`), everything else to standard error (`tell!`).
//!
//! Nobody has to listen. If the reader of a stream has gone (`… 2>&1 | head -1`), what would go there is dropped, and the command goes on: its
//! status is that of its work. Results that cannot be written for another reason, to a full disk say, are lost, and `main` tells so by
//! [`lost`]. (The standard library's macros panic in both cases.)

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

/// Why results were lost.
static LOST: OnceLock<String> = OnceLock::new();

/// Prints a line to standard error, by the rules of [`tell`](mod@crate::tell).
#[macro_export]
macro_rules! tell {
    ($($words:tt)*) => { $crate::tell::error(format_args!("{}\n", format_args!($($words)*))) };
}

/// Prints a line to standard output, by the rules of [`tell`](mod@crate::tell).
#[macro_export]
macro_rules! show {
    ($($words:tt)*) => { $crate::tell::result(format_args!("{}\n", format_args!($($words)*))) };
}

/// Prints to standard error, as it is; what cannot be written is dropped.
pub fn error(text: Arguments<'_>) {
    // There is no other place to complain at.
    let _ = io::stderr().write_fmt(text);
}

/// Prints to standard output, as it is; what cannot be written though somebody reads is noted for [`lost`].
pub fn result(text: Arguments<'_>) {
    if let Err(error) = io::stdout().write_fmt(text)
        && error.kind() != ErrorKind::BrokenPipe
    {
        // The first reason is enough.
        let _ = LOST.set(error.to_string());
    }
}

/// Why not all results could be written, if so: the first reason.
pub fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}
