//! What a benchmark program prints with `--json`, read into one form.
//!
//! A document is a list of tables, or an object that has such a list as `tests`. A table's rows are either objects with
//! `bytes`, `value`, `floor` and `ratio`, or `of` and `values` under the names in the table's `columns`. Fields that are not
//! named here are skipped, so that a program may say more than this reader knows.

use serde::Serialize;
use serde_json::Value;

/// What the first column of a table is called if it counts bytes.
pub const BYTES: &str = "bytes";

/// One measurement: a figure of a test at one size, on one transport.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    pub program: String,
    pub test: String,
    pub transport: String,
    pub ranks: u64,
    /// What `of` is: [`BYTES`], `pairs`, `operation`, …
    pub key: String,
    /// A number or a name.
    pub of: String,
    pub value: f64,
    /// `us`, `MB/s`, …
    pub unit: String,
    /// The same without the library, in the same unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// As the benchmark gives it: value by floor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
}

/// What was started: fills in what a document does not say.
#[derive(Clone, Debug)]
pub struct Started<'a> {
    pub program: &'a str,
    pub transport: &'a str,
    pub ranks: u32,
}

/// Reads a document, one measurement for each row and figure. The error says what it lacks.
pub fn read(text: &str, started: &Started<'_>) -> Result<Vec<Measurement>, String> {
    let document: Value = serde_json::from_str(text.trim()).map_err(|error| error.to_string())?;
    let tables = document.as_array().or_else(|| document["tests"].as_array()).ok_or("it has no tests")?;
    let mut measurements = Vec::new();
    for table in tables {
        let test = table["test"].as_str().ok_or("a test has no name")?;
        let text = |name: &str| table[name].as_str().or_else(|| document[name].as_str());
        let number = |name: &str| table[name].as_u64().or_else(|| document[name].as_u64());
        let blank = Measurement {
            program: started.program.into(),
            test: test.into(),
            transport: text("transport").unwrap_or(started.transport).into(),
            ranks: number("ranks").unwrap_or(started.ranks.into()),
            key: first_column(table).into(),
            of: String::new(),
            value: 0.0,
            unit: unit_in(table["unit"].as_str().unwrap_or("")).into(),
            floor: None,
            ratio: None,
        };
        let columns: Vec<&str> =
            table["columns"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let rows = table["rows"].as_array().ok_or_else(|| format!("{test} has no rows"))?;
        for row in rows {
            let read = match row["values"].as_array() {
                Some(values) => by_column(&blank, row, values, &columns),
                None => by_name(&blank, row).map(|one| vec![one]),
            };
            measurements.extend(read.ok_or_else(|| format!("a row of {test} lacks a value: {row}"))?);
        }
    }
    Ok(measurements)
}

/// A row with a field for each figure.
fn by_name(blank: &Measurement, row: &Value) -> Option<Measurement> {
    let of = row.get("of").or_else(|| row.get(BYTES)).or_else(|| row.get("size"));
    Some(Measurement {
        of: of.map(word).unwrap_or_default(),
        value: row["value"].as_f64()?,
        floor: row["floor"].as_f64(),
        ratio: row["ratio"].as_f64(),
        ..blank.clone()
    })
}

/// A row of values under columns: a measurement for each that is neither floor nor ratio. The floor's column is the one before
/// the ratio's, or begins with `floor`; floor and ratio belong to the values in the floor's unit.
fn by_column(
    blank: &Measurement,
    row: &Value,
    values: &[Value],
    columns: &[&str],
) -> Option<Vec<Measurement>> {
    let of = word(row.get("of")?);
    let (key, names) = columns.split_first()?;
    let ratio = names.iter().position(|name| *name == "ratio");
    let before_ratio = ratio.and_then(|ratio| ratio.checked_sub(1)).filter(|floor| *floor > 0);
    let floor = before_ratio.or_else(|| names.iter().position(|name| name.starts_with("floor")));
    let figure = |column: usize| values.get(column).and_then(Value::as_f64);
    let compared: Vec<usize> =
        (0..names.len()).filter(|column| Some(*column) != ratio && Some(*column) != floor).collect();
    let one = |column: &usize| {
        let unit = unit_in(names[*column]);
        // With one value only, the floor is its own, however its column is called.
        let is_its = |floor: &usize| compared.len() == 1 || unit_in(names[*floor]) == unit;
        let floor = floor.filter(is_its);
        Some(Measurement {
            key: key.trim_start_matches("size_").into(),
            of: of.clone(),
            value: figure(*column)?,
            unit: unit.into(),
            floor: floor.and_then(figure),
            ratio: floor.and(ratio).and_then(figure),
            ..blank.clone()
        })
    };
    compared.iter().map(one).collect()
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), Into::into)
}

/// What the field `bytes` holds: bytes, unless the table says `first column: WORDS` beside its floor, up to a comma.
fn first_column(table: &Value) -> &str {
    let said = table["floor"].as_str().and_then(|floor| floor.split_once("first column: "));
    said.and_then(|(_, words)| words.split(',').next()).map_or(BYTES, str::trim)
}

/// The unit in `Latency (us)`, `latency_us`, `floor_MB/s`, `Million messages/s`.
fn unit_in(name: &str) -> &str {
    let in_brackets = name.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(unit, _)| unit);
    in_brackets.unwrap_or_else(|| name.rsplit_once('_').map_or(name, |(_, unit)| unit)).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTED: Started<'_> = Started { program: "p", transport: "smartmap", ranks: 2 };

    #[test]
    fn a_list_of_tables_with_named_fields_is_read_and_unknown_fields_are_skipped() {
        let text = r#"[{"test":"latency","ranks":4,"unit":"Latency (us)","floor":"bare ring","wrong":0,"colour":[1],
            "rows":[{"bytes":0,"value":0.5,"floor":0.25,"ratio":2.0,"spread":7},{"bytes":8,"value":1,"ratio":null}]}]"#;
        let read = read(text, &STARTED).unwrap();
        assert_eq!(read.len(), 2);
        let first = &read[0];
        assert_eq!(
            (first.key.as_str(), first.of.as_str(), first.unit.as_str(), first.ranks),
            (BYTES, "0", "us", 4)
        );
        assert_eq!((first.value, first.floor, first.ratio), (0.5, Some(0.25), Some(2.0)));
        assert_eq!((read[1].of.as_str(), read[1].floor, read[1].ratio), ("8", None, None));
    }

    #[test]
    fn a_first_column_that_does_not_count_bytes_is_named() {
        let text = r#"[{"test":"mbw_mr","unit":"Million messages/s","floor":"bare rings; first column: pairs of ranks, which share cores",
            "rows":[{"bytes":1,"value":5.5}]}]"#;
        let read = read(text, &STARTED).unwrap();
        assert_eq!((read[0].key.as_str(), read[0].unit.as_str()), ("pairs of ranks", "Million messages/s"));
    }

    #[test]
    fn an_object_with_columns_is_read() {
        let text = r#"{"program":"shmem-bench","ranks":3,"tests":[
            {"test":"put_bw","columns":["size_bytes","MB/s","memcpy_MB/s","ratio"],"rows":[{"of":"64","values":[10,20,0.5]}]},
            {"test":"netpipe","columns":["size_bytes","latency_us","MB/s","floor_us","ratio"],
             "rows":[{"of":"61","values":[1,61,0.5,2]}]},
            {"test":"atomics","columns":["operation","latency_us"],"rows":[{"of":"add","values":[0.1]}]},
            {"test":"barrier","columns":["pes","latency_us","one_line_us","ratio"],"rows":[{"of":"3","values":[2,1,2.5]}]}]}"#;
        let read = read(text, &STARTED).unwrap();
        let shown: Vec<_> = read
            .iter()
            .map(|one| (one.of.as_str(), one.value, one.unit.as_str(), one.floor, one.ratio))
            .collect();
        assert_eq!(
            shown,
            [
                ("64", 10.0, "MB/s", Some(20.0), Some(0.5)),
                ("61", 1.0, "us", Some(0.5), Some(2.0)),
                ("61", 61.0, "MB/s", None, None),
                ("add", 0.1, "us", None, None),
                ("3", 2.0, "us", Some(1.0), Some(2.5)),
            ]
        );
        assert_eq!((read[0].key.as_str(), read[3].key.as_str(), read[0].ranks), (BYTES, "operation", 3));
    }

    #[test]
    fn a_table_may_name_its_transport() {
        let text = r#"[{"test":"bw","transport":"shm-basic","rows":[{"bytes":1,"value":2}]}]"#;
        assert_eq!(read(text, &STARTED).unwrap()[0].transport, "shm-basic");
    }

    #[test]
    fn what_is_no_document_is_told() {
        for wrong in [
            "",
            "{}",
            "3",
            r#"[{"rows":[]}]"#,
            r#"[{"test":"x"}]"#,
            r#"[{"test":"x","rows":[{"bytes":1,"value":null}]}]"#,
            r#"[{"test":"x","columns":[],"rows":[{"of":"1","values":[1]}]}]"#,
        ] {
            assert!(!read(wrong, &STARTED).unwrap_err().is_empty(), "{wrong}");
        }
    }
}
