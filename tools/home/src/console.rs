//! The node's end of the console: records in the format of `lwk_abi::console`, as the kernel writes them on the serial
//! line, so that the host tool reads both homes with the same code.

use std::fmt;
use std::io::{self, Write};

use lwk_abi::console::LINE_BYTES;
use lwk_console::{Header, one_line};

/// Writes one record of `lwk_abi::console` in one piece. Line feeds in `text` would end it early and are replaced by spaces. Errors: those of
/// `out`.
pub fn record(out: &mut impl Write, kind: u8, number: u32, text: &[u8]) -> io::Result<()> {
    let mut line = Header::new(kind, number).bytes().to_vec();
    one_line(text).for_each(|piece| line.extend_from_slice(piece));
    line.push(b'\n');
    out.write_all(&line)
}

/// A rank's output stream cut into lines: whole ones as they end, pieces of [`LINE_BYTES`] of longer ones.
#[derive(Debug, Default)]
pub struct Lines {
    held: Vec<u8>,
}

impl Lines {
    /// Takes bytes and hands on what they complete: the text, without its line feed, and whether it ends its line. Errors: those of `emit`.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        mut emit: impl FnMut(&[u8], bool) -> io::Result<()>,
    ) -> io::Result<()> {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let (text, ends) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            self.held.extend_from_slice(text);
            let mut held = &self.held[..];
            while held.len() > LINE_BYTES {
                let (part, rest) = held.split_at(LINE_BYTES);
                emit(part, false)?;
                held = rest;
            }
            if ends {
                emit(held, true)?;
                self.held.clear();
            } else {
                let sent = self.held.len() - held.len();
                self.held.drain(..sent);
            }
        }
        Ok(())
    }

    /// Hands on a last line that no line feed has ended.
    pub fn finish(&mut self, mut emit: impl FnMut(&[u8], bool) -> io::Result<()>) -> io::Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        emit(&std::mem::take(&mut self.held), true)
    }
}

/// Bytes a rank may write to a pipe in one piece that no other rank's can split (POSIX's `PIPE_BUF` on Linux).
const ATOMIC_BYTES: usize = 4096;

/// Records put together without allocation, for a signal handler: a whole failure report is one write. What does not fit
/// is left out, by whole records.
pub struct Report {
    bytes: [u8; ATOMIC_BYTES],
    used: usize,
}

impl Report {
    /// An empty report.
    pub const fn new() -> Report {
        Report { bytes: [0; ATOMIC_BYTES], used: 0 }
    }

    /// Adds one record of `lwk_abi::console`, or nothing if it does not fit as a whole. `text` has no line feed.
    pub fn add(&mut self, kind: u8, number: u32, text: impl fmt::Display) {
        let start = self.used;
        let header = self.push(Header::new(kind, number).bytes());
        if header.and_then(|()| fmt::write(self, format_args!("{text}\n"))).is_err() {
            self.used = start;
        }
    }

    /// The report's bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.used).unwrap_or_default()
    }
}

impl Report {
    fn push(&mut self, bytes: &[u8]) -> fmt::Result {
        let end = self.used + bytes.len();
        self.bytes.get_mut(self.used..end).ok_or(fmt::Error)?.copy_from_slice(bytes);
        self.used = end;
        Ok(())
    }
}

impl fmt::Write for Report {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: &[&[u8]]) -> Vec<(Vec<u8>, bool)> {
        let (mut lines, mut out) = (Lines::default(), Vec::new());
        let mut emit = |text: &[u8], ends: bool| {
            out.push((text.to_vec(), ends));
            Ok(())
        };
        for piece in pieces {
            lines.feed(piece, &mut emit).unwrap();
        }
        lines.finish(&mut emit).unwrap();
        out
    }

    #[test]
    fn lines_are_whole_however_they_arrive() {
        let whole = [(b"one".to_vec(), true), (b"".to_vec(), true), (b"two".to_vec(), true)];
        assert_eq!(cut(&[b"one\n\ntwo\n"]), whole);
        assert_eq!(cut(&[b"o", b"ne", b"\n\nt", b"wo"]), whole);
    }

    #[test]
    fn a_long_line_goes_in_pieces_and_ends_once() {
        let long = vec![b'x'; 2 * LINE_BYTES + 5];
        let out = cut(&[&long, b"y\nz\n"]);
        let sizes: Vec<_> = out.iter().map(|(text, ends)| (text.len(), *ends)).collect();
        assert_eq!(sizes, [(LINE_BYTES, false), (LINE_BYTES, false), (6, true), (1, true)]);
    }

    #[test]
    fn a_record_is_one_line() {
        let mut out = Vec::new();
        record(&mut out, b'k', 12, b"a\nb").unwrap();
        assert_eq!(out, b"\x1ek12\x1fa b\n");
    }

    #[test]
    fn a_full_report_keeps_whole_records() {
        let mut report = Report::new();
        report.add(b'f', 3, "died");
        assert_eq!(report.bytes(), b"\x1ef3\x1fdied\n");
        report.add(b'f', 3, "x".repeat(ATOMIC_BYTES));
        report.add(b'b', 3, "0x1");
        assert_eq!(report.bytes(), b"\x1ef3\x1fdied\n\x1eb3\x1f0x1\n");
    }
}
