//! How the messages of the bundled applications are distributed, by size and distance (figures 2.2 and 2.3 of Chai's dissertation): what `--profile` counts, exported as JSON.

use std::fs;
use std::path::Path;

use lwk_abi::runtime::{DISTANCES, SIZE_LIMITS, SIZES};
use serde_json::Value;

use crate::node::program::Setting;
use crate::node::results::{BYTES, Measurement};

/// The applications that send messages, in C (`apps/c`); by themselves they take seconds at most.
pub const APPLICATIONS: [&str; 3] = ["md", "heat", "cg"];
/// The two things that are counted: names of tests here, and fields there.
pub const MESSAGES: &str = "messages";
pub const VOLUME: &str = "bytes";

/// Where the last class begins, which has no bound.
const LAST: usize = SIZE_LIMITS[SIZE_LIMITS.len() - 1];

/// Runs an application and reads what has been counted. The error says in one line what is wrong.
pub fn measure(
    place: &Setting<'_>,
    name: &'static str,
    ranks: u32,
    out: &Path,
) -> Result<Vec<Measurement>, String> {
    let file = out.join(format!("profile-{name}.json"));
    Ok(shares(&report(place, name, ranks, &file, (None, &[]), &[])?, name, ranks))
}

/// The report of a program whose messages are counted: over a path and with more options of the command, in a file. The error says in one line what is wrong.
pub fn report(
    place: &Setting<'_>,
    name: &str,
    ranks: u32,
    file: &Path,
    (transport, more): (Option<&str>, &[&str]),
    arguments: &[String],
) -> Result<Value, String> {
    let path = file.to_str().ok_or("the folder's path is not UTF-8")?;
    let options = [&["--profile", "--report-json", path], more].concat();
    place.run_with(name, ranks, transport, &options, arguments)?;
    let text = fs::read_to_string(file).map_err(|error| format!("{path}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))
}

/// Shares of all messages, and of all bytes, by the upper bound of their class of sizes; a line for each distance.
fn shares(report: &Value, name: &str, ranks: u32) -> Vec<Measurement> {
    let records = || report["profile"].as_array().into_iter().flatten();
    let mut all = Vec::new();
    for counted in [MESSAGES, VOLUME] {
        let whole: u64 = records().filter_map(|record| record[counted].as_u64()).sum();
        for distance in DISTANCES {
            for (class, size) in SIZES.iter().enumerate() {
                let of = records().filter(|it| it["distance"] == distance && it["size"] == *size);
                let part: u64 = of.filter_map(|record| record[counted].as_u64()).sum();
                if part == 0 {
                    continue;
                }
                let most = SIZE_LIMITS.get(class).copied().unwrap_or(4 * LAST);
                all.push(Measurement {
                    program: name.into(),
                    test: counted.into(),
                    transport: distance.into(),
                    ranks: ranks.into(),
                    key: BYTES.into(),
                    of: most.to_string(),
                    value: 100.0 * part as f64 / whole.max(1) as f64,
                    unit: "%".into(),
                    floor: None,
                    ratio: None,
                });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shares_are_of_all_ranks_by_class_and_distance() {
        let record = |rank: u32, distance: &str, size: &str, messages: u64, bytes: u64| json!({ "rank": rank, "distance": distance, "size": size, "messages": messages, "bytes": bytes });
        let report = json!({ "profile": [
            record(0, "package", "<256", 1, 100),
            record(1, "package", "<256", 2, 200),
            record(1, "node", "1K-4K", 1, 2100),
        ] });
        let found: Vec<(String, String, String, f64)> =
            shares(&report, "is", 2).into_iter().map(|it| (it.test, it.transport, it.of, it.value)).collect();
        let one =
            |test: &str, distance: &str, of: &str, value| (test.into(), distance.into(), of.into(), value);
        assert_eq!(
            found,
            [
                one("messages", "package", "256", 75.0),
                one("messages", "node", "4096", 25.0),
                one("bytes", "package", "256", 12.5),
                one("bytes", "node", "4096", 87.5),
            ]
        );
    }
}
