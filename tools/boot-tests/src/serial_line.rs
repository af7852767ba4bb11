//! Listens to a node's serial line, quickly or slowly, for lines of plain text.

use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant};

use lwk::qemu::Node;
use lwk::subcommand::PATIENCE;

/// Firmware and job together take seconds; this is for a busy host, where a slow reader and a node that it keeps waiting take turns for long.
const LIMIT: Duration = Duration::from_secs(3 * PATIENCE);

/// How fast whoever reads the serial line does so.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Takes all there is at once.
    Quick,
    /// From the first wanted line on, slower than the node writes, so that the line is always full.
    Slow,
}

/// What a slow reader takes at a time, in bytes, and how long it then does something else.
const SLOW: (usize, Duration) = (16, Duration::from_micros(200));

/// Reads the line of `node` until all of `wanted` stand on it.
///
/// # Errors
///
/// The node has ended or the time is over before; the text names what is missing and what was heard.
pub fn hear(node: &mut Node, reader: Reader, wanted: &[&str]) -> Result<(), String> {
    let deadline = Instant::now() + LIMIT;
    let (mut heard, mut bytes) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&heard);
        let missing: Vec<_> = wanted.iter().filter(|line| !text.contains(**line)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(format!("not heard: {missing:?}; heard:\n{text}"));
        }
        let mut at_once = bytes.len();
        if reader == Reader::Slow && missing.len() < wanted.len() {
            std::thread::sleep(SLOW.1);
            at_once = SLOW.0;
        }
        node.serial.set_read_timeout(Some(left)).map_err(|error| error.to_string())?;
        match node.serial.read(&mut bytes[..at_once]) {
            Ok(0) => return Err(format!("the machine ended; not heard: {missing:?}; heard:\n{text}")),
            Ok(length) => heard.extend_from_slice(&bytes[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}
