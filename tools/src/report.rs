//! The exit report: the kernel's `REPORT` records as a table for people and as JSON for programs.
//!
//! A record is a word that names it, then `key=value` words ([`lwk_abi::console::REPORT`]). Keys that this tool does
//! not know are carried along, so that kernel and tool can grow apart by a version.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::drawing;

/// All records of a job's exit report, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    records: Vec<(String, Vec<(String, String)>)>,
}

/// Record names and the lists they form in JSON; `node` stands alone.
const LISTS: [(&str, &str); 10] = [
    ("rank", "ranks"),
    ("core", "cores"),
    (NETWORK, "network"),
    (ENGINE, "engine"),
    ("unsupported", "unsupported"),
    ("runtime-transport", "transports"),
    ("runtime-path", "paths"),
    (PROFILE, "profile"),
    (drawing::PLACE, "places"),
    (drawing::MEMORY, "memory"),
];
/// Those that the table leaves to others: it shows the node's above, and what is drawn or has a table of its own elsewhere.
const ELSEWHERE: [&str; 5] = [PROFILE, NETWORK, ENGINE, drawing::PLACE, drawing::MEMORY];
/// What the network has done: one record, shown as the node's own is.
const NETWORK: &str = "network";
/// What has become of copies for a copy engine, shown in the same way.
const ENGINE: &str = "engine";
/// Counts of messages, which have a table of their own ([`crate::profile`]).
pub const PROFILE: &str = "runtime-profile";

impl Report {
    /// Takes the text of one record. Words that are not `key=value` are dropped.
    pub fn add(&mut self, text: &str) {
        let mut words = text.split_ascii_whitespace();
        let Some(name) = words.next() else { return };
        let mut fields: Vec<(String, String)> =
            words.filter_map(|word| word.split_once('=')).map(|(k, v)| (k.into(), v.into())).collect();
        if name == "unsupported" {
            let number =
                fields.iter().find(|(key, _)| key == "number").and_then(|(_, value)| value.parse().ok());
            fields.push(("name".into(), syscall_name(number).into()));
        }
        self.records.push((name.into(), fields));
    }

    /// The records of all nodes of a job.
    pub fn together(reports: &[Report]) -> Report {
        Report { records: reports.iter().flat_map(|report| report.records.clone()).collect() }
    }

    /// The reports of the nodes of a job as JSON: `{"status": …, "nodes": [{"node": {…}, "ranks": […], …}], "profile": […]}`, each node's as
    /// [`Report::json`] has it, and the messages of all ranks.
    pub fn json_of_nodes(reports: &[Report], status: i32) -> Value {
        let profile: Vec<Value> =
            Report::together(reports).of(PROFILE).map(|fields| object(fields)).collect();
        let nodes: Vec<Value> = reports.iter().map(|report| report.json(status)).collect();
        json!({ "status": status, "nodes": nodes, "profile": profile })
    }

    /// Whether the node has sent no report.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The value of `key` in the first record `name`, if it is a number.
    pub fn number(&self, name: &str, key: &str) -> Option<u64> {
        self.of(name).next()?.iter().find(|(k, _)| k == key)?.1.parse().ok()
    }

    /// The report as JSON: `{"status": …, "node": {…}, "ranks": […], "cores": […], "unsupported": […]}`. `vectors` of
    /// a core is an object from vector number to count.
    pub fn json(&self, status: i32) -> Value {
        let mut whole = Map::new();
        whole.insert("status".into(), status.into());
        let node = self.of("node").next().map(|fields| object(fields));
        whole.insert("node".into(), node.unwrap_or(Value::Null));
        for (name, list) in LISTS {
            whole.insert(list.into(), self.of(name).map(|fields| object(fields)).collect());
        }
        Value::Object(whole)
    }

    /// The report as aligned columns, one block for each kind of record, with the machine as a picture.
    pub fn table(&self) -> String {
        let mut text = drawing::machine(self);
        for (key, value) in self.of("node").chain(self.of(NETWORK)).flatten() {
            let _ = writeln!(text, "{:<28}{value:>16}", key.replace('_', " "));
        }
        for (key, value) in self.of(ENGINE).flatten() {
            let _ = writeln!(text, "{:<28}{value:>16}", format!("engine {key}"));
        }
        for (name, _) in LISTS.iter().filter(|(name, _)| !ELSEWHERE.contains(name)) {
            let rows: Vec<_> = self.of(name).collect();
            let Some(first) = rows.first() else { continue };
            text.push('\n');
            if *name == "unsupported" {
                text.push_str("system calls answered ENOSYS\n");
            }
            if *name == "runtime-transport" {
                text.push_str("memory of the runtime's transport, bytes\n");
            }
            if *name == "runtime-path" {
                text.push_str("messages that the runtime has sent, by path\n");
            }
            // The last column is not padded: a core's vectors can be long.
            let last = first.len().saturating_sub(1);
            for (column, (key, _)) in first.iter().enumerate() {
                let _ = if column == last {
                    writeln!(text, "  {key}")
                } else {
                    write!(text, "{:>18}", key.as_str())
                };
            }
            for row in &rows {
                for (column, (_, value)) in row.iter().enumerate() {
                    let end = column + 1 == row.len();
                    let _ = if end {
                        writeln!(text, "  {value}")
                    } else {
                        write!(text, "{:>18}", value.as_str())
                    };
                }
            }
        }
        text
    }

    /// The fields of all records with a name, each as key and value, in their order.
    pub fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Vec<(String, String)>> {
        self.records.iter().filter(move |(found, _)| found == name).map(|(_, fields)| fields)
    }
}

/// Linux's name of a system call.
fn syscall_name(number: Option<usize>) -> &'static str {
    number.and_then(syscalls::x86_64::Sysno::new).map_or("?", |call| call.name())
}

fn object(fields: &[(String, String)]) -> Value {
    let value = |key: &str, text: &str| {
        if key == "vectors" {
            let pairs = text.split(',').filter_map(|pair| pair.split_once(':'));
            return Value::Object(pairs.map(|(vector, count)| (vector.into(), scalar(count))).collect());
        }
        scalar(text)
    };
    Value::Object(fields.iter().map(|(key, text)| (key.clone(), value(key, text))).collect())
}

/// A number if it is one, else the text.
fn scalar(text: &str) -> Value {
    if let Ok(number) = text.parse::<u64>() {
        return number.into();
    }
    text.parse::<i64>().map_or_else(|_| text.into(), Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Report {
        let mut report = Report::default();
        report.add("node kernel_entry_to_user_us=120 cores=2");
        report.add("rank rank=0 core=0 status=0");
        report.add("core core=0 syscalls=7 faults=0 interrupts=3 vectors=2:1,48:2");
        report.add("core core=1 syscalls=0 faults=0 interrupts=0 vectors=-");
        report.add("unsupported number=57 count=1");
        report.add("unsupported number=999 count=2");
        report
    }

    #[test]
    fn json_has_numbers_and_vectors_by_number() {
        let expected = json!({
            "status": 3,
            "node": {"kernel_entry_to_user_us": 120, "cores": 2},
            "ranks": [{"rank": 0, "core": 0, "status": 0}],
            "cores": [
                {"core": 0, "syscalls": 7, "faults": 0, "interrupts": 3, "vectors": {"2": 1, "48": 2}},
                {"core": 1, "syscalls": 0, "faults": 0, "interrupts": 0, "vectors": {}},
            ],
            "unsupported": [
                {"number": 57, "count": 1, "name": "fork"},
                {"number": 999, "count": 2, "name": "?"},
            ],
            "transports": [],
            "paths": [],
            "network": [],
            "engine": [],
            "profile": [],
            "places": [],
            "memory": [],
        });
        assert_eq!(sample().json(3), expected);
    }

    #[test]
    fn several_nodes_have_a_report_each_and_one_profile() {
        let mut reports = [sample(), Report::default()];
        for (report, rank) in reports.iter_mut().zip(0..) {
            report.add(&format!(
                "runtime-profile rank={rank} distance=other-node size=<256 messages=1 bytes=8"
            ));
        }
        let whole = Report::json_of_nodes(&reports, 3);
        assert_eq!(whole["nodes"][0]["node"]["cores"], 2);
        assert_eq!(whole["nodes"][1]["node"], Value::Null);
        let ranks: Vec<_> = whole["profile"].as_array().unwrap().iter().map(|it| &it["rank"]).collect();
        assert_eq!((&whole["status"], ranks), (&json!(3), vec![&json!(0), &json!(1)]));
    }

    #[test]
    fn the_table_shows_every_value() {
        let table = sample().table();
        for text in ["kernel entry to user us", "120", "syscalls", "2:1,48:2", "999"] {
            assert!(table.contains(text), "{text} is not in\n{table}");
        }
    }

    #[test]
    fn odd_records_are_carried_or_dropped_without_harm() {
        let mut report = Report::default();
        for text in ["", "  ", "node", "node x y= =z a=b=c", "core vectors=,:,1:"] {
            report.add(text);
        }
        assert_eq!(report.json(0)["cores"][0]["vectors"], json!({"1": "", "": ""}));
        assert_eq!(report.number("node", "x"), None);
    }
}
