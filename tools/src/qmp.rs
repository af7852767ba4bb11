//! QEMU's monitor protocol (QMP), as far as the launcher needs it: one command at a time over a connected socket.
//!
//! Messages are JSON objects, one a line. Events may come at any time and are passed over. Every wait is bounded.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::{Doing, Failure, Outcome};

/// How long QEMU may take to answer. It answers between two translated blocks, so even a busy host is far quicker.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// A connection to QEMU's monitor, for one command at a time.
#[derive(Debug)]
pub struct Monitor {
    reader: BufReader<UnixStream>,
    greeted: bool,
}

impl Monitor {
    /// Takes the host's end of the connection. Nothing is sent before the first command.
    pub fn new(stream: UnixStream) -> Outcome<Self> {
        stream.set_read_timeout(Some(ANSWER_LIMIT)).doing(|| "set up QEMU's monitor".into())?;
        Ok(Self { reader: BufReader::new(stream), greeted: false })
    }

    /// Runs one command and gives what it returns. Errors: QEMU refuses it, has ended, or does not answer within a minute.
    pub fn command(&mut self, name: &str, arguments: Value) -> Outcome<Value> {
        if !self.greeted {
            self.greeted = true;
            self.exchange("qmp_capabilities", json!({}))?;
        }
        self.exchange(name, arguments)
    }

    fn exchange(&mut self, name: &str, arguments: Value) -> Outcome<Value> {
        let what = || format!("run {name} in QEMU's monitor");
        let request = json!({ "execute": name, "arguments": arguments });
        writeln!(self.reader.get_mut(), "{request}").doing(what)?;
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).doing(what)? == 0 {
                return Err(Failure::host(format!("cannot {}: QEMU has ended", what())));
            }
            let mut message: Value = serde_json::from_str(&line).doing(what)?;
            if let Some(error) = message.get("error") {
                let text = error.get("desc").and_then(Value::as_str).unwrap_or("no reason given");
                return Err(Failure::host(format!("cannot {}: {text}", what())));
            }
            if let Some(result) = message.get_mut("return") {
                return Ok(result.take());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A monitor whose QEMU says `lines` and then hangs up.
    fn monitor(lines: &'static str) -> Monitor {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(lines.as_bytes()).unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        // Kept open for writing: the monitor's requests have somewhere to go.
        std::mem::forget(theirs);
        Monitor::new(ours).unwrap()
    }

    #[test]
    fn greeting_and_events_are_passed_over() {
        let mut monitor = monitor(concat!(
            "{\"QMP\": {\"version\": {}}}\n{\"return\": {}}\n",
            "{\"event\": \"NICE\"}\n{\"return\": {\"status\": \"running\"}}\n",
        ));
        assert_eq!(monitor.command("query-status", json!({})).unwrap()["status"], "running");
    }

    #[test]
    fn errors_and_hang_ups_are_failures_with_a_reason() {
        let refused =
            monitor("{\"return\": {}}\n{\"error\": {\"desc\": \"no such thing\"}}\n").command("x", json!({}));
        assert!(refused.unwrap_err().message.contains("no such thing"));
        assert!(
            monitor("{\"return\": {}}\n").command("x", json!({})).unwrap_err().message.contains("has ended")
        );
        assert!(monitor("junk\n").command("x", json!({})).is_err());
    }
}
