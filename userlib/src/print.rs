//! Printing: [`print!`](crate::print!), [`println!`](crate::println!), [`eprint!`](crate::eprint!),
//! [`eprintln!`](crate::eprintln!).
//!
//! Each use formats into a buffer on the stack and is one `write` system call, unless the text is longer than
//! [`BUFFER_BYTES`]. Nothing is held back between two uses, so nothing is lost when the rank dies.

use crate::errno::Errno;
use crate::syscall;
use core::fmt::{self, Write};

/// Text up to this many bytes goes out in one system call; it is also the longest line that the console holds together.
pub const BUFFER_BYTES: usize = lwk_abi::console::LINE_BYTES;

/// Descriptor of standard output.
pub const STDOUT: u32 = 1;
/// Descriptor of standard error.
pub const STDERR: u32 = 2;

/// Formats and writes to a file descriptor.
///
/// Errors are dropped: a rank whose output goes nowhere has nobody to tell. Programs that must know use [`Output`].
#[doc(hidden)]
pub fn print_to(fd: u32, text: fmt::Arguments) {
    let mut output = Output::new(fd);
    // A formatting error can only be a failed write, see above, or that of a broken `Display`.
    let _ = output.write_fmt(text);
    let _ = output.flush();
}

/// A buffered writer to a file descriptor. Dropping it does not flush.
pub struct Output {
    fd: u32,
    used: usize,
    buffer: [u8; BUFFER_BYTES],
}

impl Output {
    /// An empty buffer in front of `fd`.
    pub fn new(fd: u32) -> Output {
        Output { fd, used: 0, buffer: [0; BUFFER_BYTES] }
    }

    /// Writes out what the buffer holds, which is then empty. Errors: those of [`write_all`].
    pub fn flush(&mut self) -> Result<(), Errno> {
        let used = core::mem::take(&mut self.used);
        write_all(self.fd, &self.buffer[..used])
    }
}

impl Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            if self.used == BUFFER_BYTES {
                self.flush().map_err(|_| fmt::Error)?;
            }
            let part = rest.len().min(BUFFER_BYTES - self.used);
            self.buffer[self.used..self.used + part].copy_from_slice(&rest[..part]);
            self.used += part;
            rest = &rest[part..];
        }
        Ok(())
    }
}

/// Writes all bytes, in as many calls as it takes. Errors: those of `write(2)` but for `EINTR`; `EAGAIN` for a file that takes nothing. Some of
/// the bytes may then have been written.
pub fn write_all(fd: u32, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match syscall::write(fd, bytes) {
            // A file that takes nothing and reports no error would hang the rank.
            Ok(0) => return Err(Errno::EAGAIN),
            Ok(written) => bytes = &bytes[written.min(bytes.len())..],
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => syscall::sched_yield(),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Prints to standard output.
#[macro_export]
macro_rules! print {
    ($($argument:tt)*) => { $crate::print::print_to($crate::print::STDOUT, format_args!($($argument)*)) };
}

/// Prints a line to standard output.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($format:literal $($argument:tt)*) => { $crate::print!("{}\n", format_args!($format $($argument)*)) };
}

/// Prints to standard error.
#[macro_export]
macro_rules! eprint {
    ($($argument:tt)*) => { $crate::print::print_to($crate::print::STDERR, format_args!($($argument)*)) };
}

/// Prints a line to standard error.
#[macro_export]
macro_rules! eprintln {
    () => { $crate::eprint!("\n") };
    ($format:literal $($argument:tt)*) => { $crate::eprint!("{}\n", format_args!($format $($argument)*)) };
}
