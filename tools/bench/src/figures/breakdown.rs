//! Figure 4.4: what a message is made of that the kernel copies, in percent: by time, beside the document's own, and on a node by instructions, too.
//!
//! Instructions are the emulator's (`-icount`): its clock strikes a nanosecond for each, so the same program counts them.

use lwk::progress::Step;
use serde::Deserialize;

use super::asked::{Asked, Outcomes, file, of};
use crate::node::results::Measurement;

/// The source's name, and its tests: parts of a message, parts of describing a buffer, and parts of a message by instructions.
pub const PROGRAM: &str = "kernel_copy";
pub const MESSAGE: &str = "message";
pub const POST: &str = "post";
pub const INSTRUCTIONS: &str = "instructions";
/// The parts.
const TRAP: &str = "trap";
const CHECK: &str = "look-up, lock, checks";
const BOTH: &str = "trap, look-up, checks";
pub const COPY: &str = "copy";
/// The document's figure 4.4 (a) at 4 KiB, as far as it prints it: what is left is mapping and copy.
const PAPER: [(&str, f64); 3] = [(TRAP, 55.0), (CHECK, 12.0), (COPY, 33.0)];
const PAPER_AT: &str = "4 KiB (document)";
/// A counting emulator has one thread for all cores: few sizes.
const COUNTED: [&str; 6] = ["--sizes", "4096:65536", "--iterations", "20", "--repetitions", "5"];
const QUICK: [&str; 6] = ["--sizes", "4096:8192", "--iterations", "3", "--repetitions", "1"];

/// Microseconds of the parts; none for the trap where it is in the check.
#[derive(Deserialize)]
struct Row {
    bytes: u64,
    trap: Option<f64>,
    check: f64,
    copy: f64,
    post: f64,
}

/// Measures over `limic2` on two ranks.
pub fn measure(asked: &Asked<'_>) -> Outcomes {
    let mut all = Outcomes::default();
    all.0.extend(PAPER.map(|(part, share)| one(MESSAGE, part, PAPER_AT.into(), share)));
    if asked.wants(MESSAGE) || asked.wants(POST) {
        let _step = Step::begin("taking the kernel's copy apart", asked.verbose);
        let quick: &[&str] = if asked.place.quick { &QUICK } else { &[] };
        let measured = rows(asked, &[], quick);
        file(&mut all, "kernel_copy", measured.map(|rows| rows.iter().flat_map(by_time).collect::<Vec<_>>()));
    }
    if asked.wants(INSTRUCTIONS) && !asked.place.on_host {
        let _step = Step::begin("counting the instructions of the kernel's copy", asked.verbose);
        let counted = rows(
            asked,
            &["--accel", "tcg", "--qemu", "-icount shift=0"],
            if asked.place.quick { &QUICK } else { &COUNTED },
        );
        let parts = |row: &Row| message(row, INSTRUCTIONS);
        file(
            &mut all,
            "kernel_copy by instructions",
            counted.map(|rows| rows.iter().flat_map(parts).collect::<Vec<_>>()),
        );
    }
    all
}

fn rows(asked: &Asked<'_>, more: &[&str], sizes: &[&str]) -> Result<Vec<Row>, String> {
    let words = ["kernel_copy", "--json"].iter().chain(sizes);
    let arguments: Vec<String> = words.map(|word| String::from(*word)).collect();
    let ended = asked.place.run_with("mpi-bench", 2, Some("limic2"), more, &arguments)?;
    serde_json::from_str(&ended.stdout).map_err(|error| error.to_string())
}

fn one(test: &str, part: &str, of_what: String, share: f64) -> Measurement {
    of(PROGRAM, test, part, 2, ("bytes", of_what), (share, "%"))
}

fn by_time(row: &Row) -> Vec<Measurement> {
    let mut all = message(row, MESSAGE);
    // In the host home nobody knows what of the call is the trap.
    if let Some(trap) = row.trap {
        let at = || size(row.bytes);
        let trap = (100.0 * trap / row.post).min(100.0);
        all.extend([one(POST, TRAP, at(), trap), one(POST, CHECK, at(), 100.0 - trap)]);
    }
    all
}

/// The parts of the call that copies.
fn message(row: &Row, test: &str) -> Vec<Measurement> {
    let all = row.trap.unwrap_or(0.0) + row.check + row.copy;
    let share = |part: f64| (100.0 * part / all).clamp(0.0, 100.0);
    let check = if row.trap.is_some() { CHECK } else { BOTH };
    let parts = row.trap.map(|trap| (TRAP, trap)).into_iter().chain([(check, row.check), (COPY, row.copy)]);
    parts.map(|(part, time)| one(test, part, size(row.bytes), share(time))).collect()
}

fn size(bytes: u64) -> String {
    match bytes {
        0x10_0000.. => format!("{} MiB", bytes >> 20),
        0x400.. => format!("{} KiB", bytes >> 10),
        _ => bytes.to_string(),
    }
}

/// Whether copying is the larger share the longer messages are, and most of the longest.
pub fn copying_prevails(all: &[Measurement]) -> Option<bool> {
    let own = |one: &&Measurement| one.program == PROGRAM && one.test == MESSAGE && one.transport == COPY;
    let mut shares = all.iter().filter(own).filter(|one| one.of != PAPER_AT).map(|one| one.value);
    let (first, last) = (shares.next()?, shares.next_back()?);
    Some(last > first && last > 50.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_shares_of_the_call() {
        let row = |bytes, copy| Row { bytes, trap: Some(1.0), check: 1.0, copy, post: 4.0 };
        let small = by_time(&row(4096, 2.0));
        let shown: Vec<_> = small.iter().map(|it| (it.test.as_str(), it.of.as_str(), it.value)).collect();
        let at = "4 KiB";
        let post = [(POST, at, 25.0), (POST, at, 75.0)];
        assert_eq!(shown[..3], [(MESSAGE, at, 25.0), (MESSAGE, at, 25.0), (MESSAGE, at, 50.0)]);
        assert_eq!(shown[3..], post);
        let host = by_time(&Row { trap: None, ..row(1 << 20, 9.0) });
        assert_eq!((host.len(), host[0].transport.as_str(), host[0].of.as_str()), (2, BOTH, "1 MiB"));
        let all: Vec<_> = small.into_iter().chain(by_time(&row(8192, 18.0))).collect();
        assert_eq!(copying_prevails(&all), Some(true));
        assert_eq!(copying_prevails(&all[..5]), None);
    }
}
