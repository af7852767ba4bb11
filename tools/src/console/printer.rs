//! Lines for the user out of the node's records.
//!
//! Standard output of ranks goes to standard output, everything else to standard error, each line as a whole. The
//! pieces of a long line are joined here, by rank. Back traces are symbolised; those of a time limit, one for each rank, go to a file, and
//! standard error has one line of each. What the job's end and the exit report say is kept for the caller.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use lwk_abi::console as kind;

use super::record::Record;
use crate::files::Piece;
use crate::report::Report;
use crate::symbols::Symbols;

/// Names of the levels of kernel messages, by their number.
const LEVELS: [&str; 6] = ["message", "error", "warn", "info", "debug", "trace"];
/// Longest line joined from pieces, in bytes; a longer one is printed in parts of this length.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Where lines go, and what is kept of what the node has said.
pub struct Printer<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    /// Prefix the rank to its lines.
    tag: bool,
    program: Symbols,
    kernel: Symbols,
    /// Pieces of lines not yet ended, by stream and rank.
    pieces: HashMap<(Stream, u32), Vec<u8>>,
    /// Frames printed since the last line of a failure report, by kind and number.
    depth: HashMap<(u8, u32), usize>,
    /// Where ranks are at the time limit, once it is up, in the order in which they said so.
    located: Option<Vec<Located>>,
    outcome: Heard,
}

/// Where a rank is at the time limit.
#[derive(Debug, Default)]
struct Located {
    rank: u32,
    /// For standard error.
    line: String,
    /// For the file.
    trace: String,
    /// Its frames so far.
    frames: usize,
}

/// Frames of a rank that its one line names.
const NAMED_FRAMES: usize = 8;

/// What the node has said about itself.
#[derive(Debug, Default)]
pub struct Heard {
    /// The ranks are about to start, or have.
    pub started: bool,
    /// The status in the job's end record.
    pub end: Option<u32>,
    /// A panic report has begun.
    pub panicked: bool,
    /// The exit report.
    pub report: Report,
    /// Where the node's files are, in order.
    pub files: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stream {
    Out,
    Err,
}

impl<'a> Printer<'a> {
    /// `program` and `kernel` are the files that back traces are looked up in.
    pub fn new(
        out: &'a mut dyn Write,
        err: &'a mut dyn Write,
        tag: bool,
        program: Symbols,
        kernel: Symbols,
    ) -> Self {
        let (pieces, depth, outcome) = (HashMap::new(), HashMap::new(), Heard::default());
        Self { out, err, tag, program, kernel, pieces, depth, located: None, outcome }
    }

    /// The time limit has passed: what ranks report from here on is where they are.
    pub fn time_is_up(&mut self) {
        self.located.get_or_insert_default();
    }

    /// What the node has said of itself so far.
    pub fn heard(&self) -> &Heard {
        &self.outcome
    }

    /// Prints what a record says. An error is one of the host's own streams.
    pub fn record(&mut self, record: &Record) -> io::Result<()> {
        let number = record.number;
        let text = &record.text[..];
        match record.kind {
            kind::STDOUT => self.end_line(Stream::Out, number, text),
            kind::STDOUT_PART => self.add_piece(Stream::Out, number, text),
            kind::STDERR => self.end_line(Stream::Err, number, text),
            kind::STDERR_PART => self.add_piece(Stream::Err, number, text),
            kind::KERNEL => {
                let level = LEVELS.get(number as usize).unwrap_or(&LEVELS[0]);
                self.say(&format!("margay: {level}: "), text)
            }
            kind::FAILURE if self.located.is_some() => {
                self.locate(number, text);
                Ok(())
            }
            kind::FAILURE => {
                self.depth.remove(&(kind::FRAME, number));
                self.say("margay: ", text)
            }
            kind::PANIC => {
                self.outcome.panicked = true;
                self.depth.remove(&(kind::PANIC_FRAME, number));
                self.say("margay: panic: ", text)
            }
            kind::FRAME | kind::PANIC_FRAME => self.frame(record),
            kind::REPORT => {
                self.outcome.report.add(&String::from_utf8_lossy(text));
                Ok(())
            }
            kind::FILES => {
                let piece = Piece::parse(number, &String::from_utf8_lossy(text));
                self.outcome.files.extend(piece);
                Ok(())
            }
            kind::START => {
                self.outcome.started = true;
                Ok(())
            }
            kind::END => {
                self.outcome.end = Some(number);
                Ok(())
            }
            // A kernel newer than this tool: show what it says.
            other => self.say(&format!("margay: {}{number}: ", char::from(other)), text),
        }
    }

    /// Prints the lines that no line feed has ended, when the node says no more. Errors: as [`Printer::record`].
    pub fn finish(&mut self) -> io::Result<()> {
        let mut open: Vec<_> = self.pieces.keys().copied().collect();
        open.sort_by_key(|(_, rank)| *rank);
        for (stream, rank) in open {
            self.end_line(stream, rank, b"")?;
        }
        let located = self.located.take().unwrap_or_default();
        for rank in &located {
            self.say("margay: ", rank.line.as_bytes())?;
        }
        if !located.is_empty() {
            match write_traces(&located) {
                Ok(path) => {
                    self.say("margay: back traces of the ranks: ", path.as_os_str().as_encoded_bytes())?
                }
                Err(error) => {
                    self.say("margay: the back traces cannot be written: ", error.to_string().as_bytes())?;
                }
            }
        }
        self.out.flush()?;
        self.err.flush()
    }

    fn add_piece(&mut self, stream: Stream, rank: u32, text: &[u8]) -> io::Result<()> {
        let line = self.pieces.entry((stream, rank)).or_default();
        line.extend_from_slice(text);
        if line.len() > LINE_BYTES_MAX {
            return self.end_line(stream, rank, b"");
        }
        Ok(())
    }

    fn end_line(&mut self, stream: Stream, rank: u32, text: &[u8]) -> io::Result<()> {
        let mut line = if self.tag { format!("[{rank}] ").into_bytes() } else { Vec::new() };
        line.extend(self.pieces.remove(&(stream, rank)).unwrap_or_default());
        line.extend_from_slice(text);
        line.push(b'\n');
        match stream {
            Stream::Out => self.out.write_all(&line).and_then(|()| self.out.flush()),
            Stream::Err => self.err.write_all(&line).and_then(|()| self.err.flush()),
        }
    }

    fn say(&mut self, prefix: &str, text: &[u8]) -> io::Result<()> {
        let line = [prefix.as_bytes(), text, b"\n"].concat();
        self.err.write_all(&line)?;
        self.err.flush()
    }

    /// Begins what is said of a rank at the time limit.
    fn locate(&mut self, rank: u32, text: &[u8]) {
        let Some(located) = &mut self.located else { return };
        let line = String::from_utf8_lossy(text).into_owned();
        located.push(Located { rank, trace: format!("{line}\n"), line, frames: 0 });
    }

    /// Adds a frame to a rank's back trace at the time limit, and its functions to the rank's line: of the innermost frame all, with their
    /// places, of others the one that the program calls.
    fn locate_frame(&mut self, rank: u32, text: &str) {
        let located = self.located.iter_mut().flatten().rfind(|located| located.rank == rank);
        let Some(located) = located else { return };
        let innermost = located.frames == 0;
        let address = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let lines = address.map_or_else(Vec::new, |address| self.program.describe(address, innermost));
        let whole = format!("{:4}: {text} {}\n", located.frames, lines.join("\n      inlined in "));
        located.trace.push_str(&whole);
        let unknown = || "?".to_owned();
        if innermost {
            let here = if lines.is_empty() { unknown() } else { lines.join(" < ") };
            located.line.push_str(&format!(": {here}"));
        } else if located.frames < NAMED_FRAMES {
            let here =
                lines.last().map_or_else(unknown, |line| line.split(" at ").next().unwrap_or(line).into());
            located.line.push_str(&format!(" < {here}"));
        }
        located.frames += 1;
    }

    fn frame(&mut self, record: &Record) -> io::Result<()> {
        if record.kind == kind::FRAME && self.located.is_some() {
            self.locate_frame(record.number, &String::from_utf8_lossy(&record.text));
            return Ok(());
        }
        let depth = self.depth.entry((record.kind, record.number)).or_default();
        let innermost = *depth == 0;
        let index = *depth;
        *depth += 1;
        let symbols = if record.kind == kind::FRAME { &mut self.program } else { &mut self.kernel };
        let text = String::from_utf8_lossy(&record.text);
        let Some(address) = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok())
        else {
            return self.say(&format!("margay: {index:4}: "), &record.text);
        };
        let lines = symbols.describe(address, innermost);
        for (inner, line) in lines.iter().enumerate() {
            let prefix = if inner == 0 {
                format!("margay: {index:4}: {address:#018x} ")
            } else {
                format!("margay: {:24} ", "")
            };
            self.say(&prefix, line.as_bytes())?;
        }
        Ok(())
    }
}

/// Writes back traces to a new file and names it.
fn write_traces(located: &[Located]) -> io::Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("margay-back-traces-{}.txt", std::process::id()));
    // What is there is of a process that had the same number.
    let _ = std::fs::remove_file(&path);
    let mut file = File::create_new(&path)?;
    located.iter().try_for_each(|rank| file.write_all(rank.trace.as_bytes()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_time_limit_each_rank_has_one_line_and_the_rest_is_in_a_file() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut printer = Printer::new(&mut out, &mut err, false, Symbols::none(), Symbols::none());
        printer.time_is_up();
        for (kind, number, text) in [
            (b'f', 0, "rank 0 was"),
            (b'b', 0, "0x1000"),
            (b'b', 0, "0x2000"),
            (b'f', 1, "rank 1 was"),
            (b'b', 1, "0x3000"),
            (b'b', 0, "0x4000"),
        ] {
            printer.record(&Record { kind, number, text: text.into() }).unwrap();
        }
        printer.finish().unwrap();
        let err = String::from_utf8(err).unwrap();
        let lines: Vec<&str> = err.lines().collect();
        assert_eq!(lines[..2], ["margay: rank 0 was: ? < ? < ?", "margay: rank 1 was: ?"]);
        let path = lines[2].strip_prefix("margay: back traces of the ranks: ").unwrap();
        let traces = std::fs::read_to_string(path).unwrap();
        std::fs::remove_file(path).unwrap();
        assert!(traces.contains("0x2000") && traces.contains("rank 1 was") && lines.len() == 3, "{traces}");
    }

    fn print(tag: bool, records: &[(u8, u32, &[u8])]) -> (String, String, Option<u32>) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut printer = Printer::new(&mut out, &mut err, tag, Symbols::none(), Symbols::none());
        for &(kind, number, text) in records {
            printer.record(&Record { kind, number, text: text.to_vec() }).unwrap();
        }
        printer.finish().unwrap();
        let end = printer.heard().end;
        (String::from_utf8_lossy(&out).into(), String::from_utf8_lossy(&err).into(), end)
    }

    #[test]
    fn pieces_are_joined_by_rank_and_stream() {
        let (out, err, end) = print(
            true,
            &[
                (b'O', 0, b"one "),
                (b'O', 1, b"uno "),
                (b'E', 0, b"bad "),
                (b'o', 1, b"due"),
                (b'o', 0, b"two"),
                (b'e', 0, b"news"),
                (b'x', 3, b""),
            ],
        );
        assert_eq!(out, "[1] uno due\n[0] one two\n");
        assert_eq!(err, "[0] bad news\n");
        assert_eq!(end, Some(3));
    }

    #[test]
    fn a_line_that_never_ends_is_printed_at_the_end() {
        assert_eq!(print(false, &[(b'O', 4, b"half")]).0, "half\n");
    }

    #[test]
    fn kernel_messages_carry_their_level() {
        let (_, err, _) = print(false, &[(b'k', 2, b"odd"), (b'k', 77, b"odder"), (b'f', 0, b"rank 0 died")]);
        assert_eq!(err, "margay: warn: odd\nmargay: message: odder\nmargay: rank 0 died\n");
    }

    #[test]
    fn frames_are_counted_from_the_failure_they_belong_to() {
        let (_, err, _) = print(
            false,
            &[
                (b'f', 1, b"died"),
                (b'b', 1, b"0x10"),
                (b'b', 1, b"0x20"),
                (b'f', 1, b"again"),
                (b'b', 1, b"junk"),
            ],
        );
        let lines: Vec<&str> = err.lines().collect();
        assert!(lines[1].starts_with("margay:    0: 0x0000000000000010 "));
        assert!(lines[2].starts_with("margay:    1: 0x0000000000000020 "));
        assert_eq!(lines[4], "margay:    0: junk");
    }
}
