//! `--profile`: the messages that the runtime has counted, as the dissertation's tables 2.1 (by distance) and 6.1 (by size), both at
//! once: a row for each distance, a column for each size, by number of messages and by volume of data; and by more sizes, as its tables 4.2 and 5.3.

use std::fmt::Write;
use std::ops::Range;

use lwk_abi::runtime::{PROFILE_DISTANCES, SIZE_LIMITS, SIZES};

use crate::report::{PROFILE, Report};

/// Messages or bytes, by distance and size.
type Counts = [[u64; SIZES.len()]; PROFILE_DISTANCES.len()];

/// Where the columns of the dissertation's tables begin, each of which is some of [`SIZES`].
const TABLE_6_1: Columns<4> = [(0, "<1K"), (1 << 10, "1K-32K"), (32 << 10, "32K-1M"), (1 << 20, ">1M")];
const TABLE_4_2: Columns<7> = [
    (1 << 10, "1K-8K"),
    (8 << 10, "8K-32K"),
    (32 << 10, "32K-256K"),
    (256 << 10, "256K-1M"),
    (1 << 20, "1M-4M"),
    (4 << 20, "4M-16M"),
    (16 << 20, ">16M"),
];
const TABLE_5_3: Columns<3> = [(0, "0-32K"), (32 << 10, "32K-1M"), (1 << 20, ">1M")];
type Columns<const N: usize> = [(usize, &'static str); N];

/// The table's text, of all ranks together; a line that says so if no messages were counted.
pub fn table(report: &Report) -> String {
    let (messages, bytes) = counts(report);
    if messages.iter().flatten().all(|count| *count == 0) {
        return "no messages were counted: the program sent none, or uses another runtime\n".into();
    }
    let blocks = [block("number of messages", &messages), block("data volume, bytes", &bytes)];
    format!("{}\n{}\n{}", blocks[0], blocks[1], by_size(&messages, &bytes))
}

/// Messages and bytes of all ranks together.
#[must_use]
pub fn counts(report: &Report) -> (Counts, Counts) {
    let (mut messages, mut bytes) = (Counts::default(), Counts::default());
    for fields in report.of(PROFILE) {
        let field = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let distance = PROFILE_DISTANCES.iter().position(|name| Some(*name) == field("distance"));
        let size = SIZES.iter().position(|name| Some(*name) == field("size"));
        let number = |name: &str| field(name).and_then(|value| value.parse().ok()).unwrap_or(0u64);
        if let (Some(distance), Some(size)) = (distance, size) {
            messages[distance][size] += number("messages");
            bytes[distance][size] += number("bytes");
        }
    }
    (messages, bytes)
}

/// The classes of [`SIZES`] in a column of a table.
fn classes(columns: &[(usize, &str)], column: usize) -> Range<usize> {
    let class = |from: usize| SIZE_LIMITS.iter().position(|limit| from < *limit).unwrap_or(SIZE_LIMITS.len());
    class(columns[column].0)..columns.get(column + 1).map_or(SIZES.len(), |next| class(next.0))
}

/// The columns of a row.
fn summed<const N: usize>(row: &[u64; SIZES.len()], columns: &Columns<N>) -> [u64; N] {
    std::array::from_fn(|column| row[classes(columns, column)].iter().sum())
}

fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".into(),
        _ => format!("{:.1}%", 100.0 * part as f64 / whole as f64),
    }
}

/// Shares of the whole, with sums, and the whole.
fn block(title: &str, counts: &Counts) -> String {
    let whole: u64 = counts.iter().flatten().sum();
    let mut text = format!("{title:<22}");
    for (_, size) in TABLE_6_1 {
        let _ = write!(text, "{size:>10}");
    }
    let _ = writeln!(text, "{:>16}", "all");
    let rows = counts.iter().map(|row| summed(row, &TABLE_6_1));
    for (row, distance) in rows.zip(PROFILE_DISTANCES) {
        let _ = write!(text, "{distance:<22}");
        row.iter().for_each(|part| _ = write!(text, "{:>10}", share(*part, whole)));
        let _ = writeln!(text, "{:>16}", share(row.iter().sum(), whole));
    }
    let _ = write!(text, "{:<22}", "all");
    summed(&of_all(counts), &TABLE_6_1)
        .iter()
        .for_each(|part| _ = write!(text, "{:>10}", share(*part, whole)));
    let _ = writeln!(text, "{whole:>16}");
    text
}

/// Messages and bytes by more sizes, and the shares of table 5.3.
fn by_size(messages: &Counts, bytes: &Counts) -> String {
    let (messages, bytes) = (of_all(messages), of_all(bytes));
    let mut text = format!("{:<22}{:>16}{:>16}\n", "message size", "messages", "bytes");
    let rows = summed(&messages, &TABLE_4_2).into_iter().zip(summed(&bytes, &TABLE_4_2));
    for ((_, size), (messages, bytes)) in TABLE_4_2.iter().zip(rows) {
        let _ = writeln!(text, "{size:<22}{messages:>16}{bytes:>16}");
    }
    let whole = messages.iter().sum();
    let shares = summed(&messages, &TABLE_5_3);
    let shares =
        TABLE_5_3.iter().zip(shares).map(|((_, size), part)| format!("{size} {}", share(part, whole)));
    let _ = writeln!(text, "{:<22}{}", "shares of messages", shares.collect::<Vec<_>>().join(", "));
    text
}

/// By size alone.
fn of_all(counts: &Counts) -> [u64; SIZES.len()] {
    std::array::from_fn(|size| counts.iter().map(|row| row[size]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_summed_and_shares_are_of_the_whole() {
        let mut report = Report::default();
        report.add("runtime-profile rank=0 distance=package size=256-1K messages=3 bytes=30");
        report.add("runtime-profile rank=1 distance=package size=256-1K messages=3 bytes=30");
        report.add("runtime-profile rank=1 distance=node size=1M-4M messages=2 bytes=4000000");
        report.add("runtime-profile rank=1 distance=moon size=1M-4M messages=9 bytes=9");
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
        assert_eq!(words("other-node")[0], ["other-node", "0.0%", "0.0%", "0.0%", "0.0%", "0.0%"]);
        assert_eq!(words("all")[0], ["all", "75.0%", "0.0%", "0.0%", "25.0%", "8"]);
        assert_eq!(words("all")[1].last(), Some(&"4000060"));
        assert_eq!(words("1M-4M")[0], ["1M-4M", "2", "4000000"]);
        assert_eq!(words("1K-8K")[0], ["1K-8K", "0", "0"]);
        assert!(table.ends_with("0-32K 75.0%, 32K-1M 0.0%, >1M 25.0%\n"), "{table}");
    }

    #[test]
    fn columns_are_whole_classes() {
        let begins = |from: usize| from == 0 || SIZE_LIMITS.contains(&from);
        assert!(TABLE_6_1.iter().chain(&TABLE_4_2).chain(&TABLE_5_3).all(|(from, _)| begins(*from)));
    }

    #[test]
    fn nothing_counted_is_said() {
        assert!(table(&Report::default()).starts_with("no messages"));
    }
}
