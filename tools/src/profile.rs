//! `--profile`: the messages that the runtime has counted, as the dissertation's tables 2.1 (by distance) and 6.1 (by size), both at
//! once: a row for each distance, a column for each size, by number of messages and by volume of data.

use std::fmt::Write;

use lwk_abi::runtime::{DISTANCES, SIZES};

use crate::report::{PROFILE, Report};

/// Messages or bytes, by distance and size.
type Counts = [[u64; SIZES.len()]; DISTANCES.len()];

/// The table's text, of all ranks together; a line that says so if no messages were counted.
pub fn table(report: &Report) -> String {
    let (mut messages, mut bytes) = (Counts::default(), Counts::default());
    for fields in report.of(PROFILE) {
        let field = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let distance = DISTANCES.iter().position(|name| Some(*name) == field("distance"));
        let size = SIZES.iter().position(|name| Some(*name) == field("size"));
        let number = |name: &str| field(name).and_then(|value| value.parse().ok()).unwrap_or(0u64);
        if let (Some(distance), Some(size)) = (distance, size) {
            messages[distance][size] += number("messages");
            bytes[distance][size] += number("bytes");
        }
    }
    if messages.iter().flatten().all(|count| *count == 0) {
        return "no messages were counted: the program sent none, or uses another runtime\n".into();
    }
    format!("{}\n{}", block("number of messages", &messages), block("data volume, bytes", &bytes))
}

/// Shares of the whole, with sums, and the whole.
fn block(title: &str, counts: &Counts) -> String {
    let whole: u64 = counts.iter().flatten().sum();
    let share = |part: u64| match whole {
        0 => "-".into(),
        _ => format!("{:.1}%", 100.0 * part as f64 / whole as f64),
    };
    let mut text = format!("{title:<22}");
    for size in SIZES {
        let _ = write!(text, "{size:>10}");
    }
    let _ = writeln!(text, "{:>16}", "all");
    for (row, distance) in counts.iter().zip(DISTANCES) {
        let _ = write!(text, "{distance:<22}");
        row.iter().for_each(|part| _ = write!(text, "{:>10}", share(*part)));
        let _ = writeln!(text, "{:>16}", share(row.iter().sum()));
    }
    let _ = write!(text, "{:<22}", "all");
    for size in 0..SIZES.len() {
        let _ = write!(text, "{:>10}", share(counts.iter().map(|row| row[size]).sum()));
    }
    let _ = writeln!(text, "{whole:>16}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_summed_and_shares_are_of_the_whole() {
        let mut report = Report::default();
        report.add("runtime-profile rank=0 distance=package size=<1K messages=3 bytes=30");
        report.add("runtime-profile rank=1 distance=package size=<1K messages=3 bytes=30");
        report.add("runtime-profile rank=1 distance=node size=>1M messages=2 bytes=4000000");
        report.add("runtime-profile rank=1 distance=moon size=>1M messages=9 bytes=9");
        let table = table(&report);
        let words = |start: &str| -> Vec<Vec<&str>> {
            table
                .lines()
                .filter(|line| line.starts_with(start))
                .map(|line| line.split_whitespace().collect())
                .collect()
        };
        assert_eq!(words("package")[0], ["package", "75.0%", "0.0%", "0.0%", "0.0%", "75.0%"]);
        assert_eq!(words("node")[1], ["node", "0.0%", "0.0%", "0.0%", "100.0%", "100.0%"]);
        assert_eq!(words("all")[0], ["all", "75.0%", "0.0%", "0.0%", "25.0%", "8"]);
        assert_eq!(words("all")[1].last(), Some(&"4000060"));
    }

    #[test]
    fn nothing_counted_is_said() {
        assert!(table(&Report::default()).starts_with("no messages"));
    }
}
