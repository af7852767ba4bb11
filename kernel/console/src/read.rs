//! Records out of the bytes of the serial line ([`lwk_abi::console`]).
//!
//! Firmware and boot loaders talk on the same line, so anything may come before a record, and a record may follow
//! noise without a line feed between them. No input makes the parser fail: what is not a record is noise, and noise
//! is kept only as far as a message about a silent node needs it. The text of a record is bytes up to the line feed;
//! it may hold any byte but that one, [`HEADER_START`] included.

use alloc::string::String;
use alloc::vec::Vec;

use lwk_abi::console::{HEADER_END, HEADER_START, LINE_BYTES};

/// Longest text kept of one record, in bytes. The kernel cuts at [`LINE_BYTES`]; the rest is room for other lines.
const TEXT_BYTES_MAX: usize = 16 * LINE_BYTES;
/// Most decimal digits in a header; a `u32` has no more.
const DIGITS_MAX: usize = 10;
/// Bytes of noise kept, the latest.
const NOISE_BYTES: usize = 512;

/// One record of the node's console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// One of the letters of [`lwk_abi::console`], or another if the node's kernel is newer than this tool.
    pub kind: u8,
    /// Rank, core, level or status, by kind.
    pub number: u32,
    /// The line, without its line feed.
    pub text: Vec<u8>,
}

/// Where in a line the parser stands.
#[derive(Debug)]
enum State {
    /// Outside of records.
    Noise,
    /// After [`HEADER_START`]; what has come of the header.
    Header(Vec<u8>),
    /// After [`HEADER_END`].
    Text(Record),
}

/// The parser: bytes in, in pieces of any size, records out.
#[derive(Debug)]
pub struct Parser {
    state: State,
    noise: Vec<u8>,
}

impl Default for Parser {
    fn default() -> Self {
        Self { state: State::Noise, noise: Vec::new() }
    }
}

impl Parser {
    /// Takes the next bytes of the line and hands each record that they complete to `emit`.
    pub fn feed(&mut self, bytes: &[u8], mut emit: impl FnMut(Record)) {
        for &byte in bytes {
            if let Some(record) = self.step(byte) {
                emit(record);
            }
        }
    }

    /// The last of what was not a record, as readable text without control characters.
    pub fn noise(&self) -> String {
        let text = String::from_utf8_lossy(&self.noise);
        text.split(char::is_control).filter(|piece| !piece.trim().is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn step(&mut self, byte: u8) -> Option<Record> {
        match &mut self.state {
            State::Noise => {
                if byte == HEADER_START {
                    self.state = State::Header(Vec::new());
                } else {
                    self.add_noise(&[byte]);
                }
                None
            }
            State::Header(header) => {
                match byte {
                    // The record before was broken off; this may be a whole one.
                    HEADER_START => header.clear(),
                    HEADER_END => match read_header(header) {
                        Some((kind, number)) => {
                            self.state = State::Text(Record { kind, number, text: Vec::new() });
                        }
                        None => self.leave_header(),
                    },
                    b'\n' => self.leave_header(),
                    _ if header.len() > DIGITS_MAX => self.leave_header(),
                    _ => header.push(byte),
                }
                None
            }
            State::Text(record) => {
                if byte != b'\n' {
                    if record.text.len() < TEXT_BYTES_MAX {
                        record.text.push(byte);
                    }
                    return None;
                }
                match core::mem::replace(&mut self.state, State::Noise) {
                    State::Text(record) => Some(record),
                    _ => None,
                }
            }
        }
    }

    fn leave_header(&mut self) {
        if let State::Header(header) = core::mem::replace(&mut self.state, State::Noise) {
            self.add_noise(&header);
        }
    }

    fn add_noise(&mut self, bytes: &[u8]) {
        self.noise.extend_from_slice(bytes);
        if self.noise.len() > 2 * NOISE_BYTES {
            self.noise.drain(..self.noise.len() - NOISE_BYTES);
        }
    }
}

/// Kind and number out of the bytes between [`HEADER_START`] and [`HEADER_END`].
fn read_header(header: &[u8]) -> Option<(u8, u32)> {
    let (&kind, digits) = header.split_first()?;
    if !kind.is_ascii_alphabetic() || digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = core::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((kind, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Header, one_line};
    use proptest::prelude::*;
    use std::vec;

    fn parse(bytes: &[u8]) -> Vec<Record> {
        let mut records = Vec::new();
        Parser::default().feed(bytes, |record| records.push(record));
        records
    }

    fn record(kind: u8, number: u32, text: &[u8]) -> Record {
        Record { kind, number, text: text.to_vec() }
    }

    #[test]
    fn records_are_found_among_noise() {
        let line = b"SeaBIOS (version 1)\r\n\x1b[2J\x1eo3\x1fhi\nGRUB\x1ex0\x1f\n\x1e";
        assert_eq!(parse(line), [record(b'o', 3, b"hi"), record(b'x', 0, b"")]);
    }

    #[test]
    fn text_is_any_bytes_but_a_line_feed() {
        assert_eq!(
            parse(b"\x1ee254\x1f\xff\x00\x1eo1\x1f\r\n"),
            [record(b'e', 254, b"\xff\x00\x1eo1\x1f\r")]
        );
    }

    #[test]
    fn broken_headers_are_noise_and_what_follows_is_not_lost() {
        for broken in [
            &b"\x1e\x1f\n"[..],
            b"\x1eo\x1fx\n",
            b"\x1e11\x1fx\n",
            b"\x1eo1x\x1fx\n",
            b"\x1eo99999999999\x1fx\n",
            b"\x1eo4294967296\x1fx\n",
            b"\x1eo1\n",
            b"\x1eo1",
            b"\x1eo-1\x1f\n",
        ] {
            let line = [broken, b"\x1ex7\x1f\n"].concat();
            assert_eq!(parse(&line), [record(b'x', 7, b"")], "after {broken:?}");
        }
    }

    #[test]
    fn an_endless_line_takes_bounded_memory() {
        let mut line = b"\x1eo0\x1f".to_vec();
        line.resize(10 * TEXT_BYTES_MAX, b'a');
        line.push(b'\n');
        assert_eq!(parse(&line)[0].text.len(), TEXT_BYTES_MAX);
        let mut parser = Parser::default();
        parser.feed(&vec![b'n'; 1 << 20], |_| ());
        assert!(parser.noise.len() <= 2 * NOISE_BYTES);
    }

    #[test]
    fn noise_is_shown_without_control_characters() {
        let mut parser = Parser::default();
        parser.feed(b"\x1b[2JNo bootable\r\n device\n", |_| ());
        assert_eq!(parser.noise(), "[2JNo bootable  device");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            kind in prop::sample::select(&b"koOeEfbpqrdsx"[..]),
            number in any::<u32>(),
            text in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut line = Header::new(kind, number).bytes().to_vec();
            one_line(&text).for_each(|piece| line.extend_from_slice(piece));
            let text = line[Header::new(kind, number).bytes().len()..].to_vec();
            line.push(b'\n');
            prop_assert_eq!(parse(&line), [Record { kind, number, text }]);
        }

        #[test]
        fn no_bytes_make_it_panic_and_pieces_make_no_difference(
            bytes in proptest::collection::vec(prop_oneof![
                any::<u8>(), Just(HEADER_START), Just(HEADER_END), Just(b'\n'), Just(b'o'), Just(b'7')
            ], 0..400),
            cut in 0usize..400,
        ) {
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            let mut records = Vec::new();
            let mut parser = Parser::default();
            parser.feed(left, |record| records.push(record));
            parser.feed(right, |record| records.push(record));
            prop_assert_eq!(records, parse(&bytes));
        }

        #[test]
        fn a_record_after_a_line_feed_is_always_found(mut noise in proptest::collection::vec(any::<u8>(), 0..100)) {
            noise.push(b'\n');
            noise.extend_from_slice(b"\x1eo5\x1ftext\n");
            prop_assert_eq!(parse(&noise).pop(), Some(record(b'o', 5, b"text")));
        }
    }
}
