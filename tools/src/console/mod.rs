//! The node's console as the host sees it: records off the serial line, then lines for the user.

pub mod printer;

/// Records off the serial line.
pub use lwk_console as record;
