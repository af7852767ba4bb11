//! `bench paths`: every figure stands beside its target in table, JSON and page; what cannot be is refused. No figure is compared with a number: the time that
//! something takes is no test.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::Test;
use super::judge::Expected;
use super::peers::is_self_contained;
use crate::needs::Needs;
use lwk::subcommand::{Lwk, PATIENCE, shown};

/// The targets, as they begin in the table, and the least figures of a quick run in the host home: sizes, and for `smartmap` tests by sizes.
const TARGETS: [(&str, usize); 4] = [
    ("limic2 takes at most 1.15 times", 2),
    ("from 64 KiB smartmap is never slower", 4),
    ("hybrid is never slower than the better", 4),
    ("by skew a producer waits at most 1.2 times", 1),
];
/// Time limit of the command, in seconds: of some thirty jobs.
const LIMIT: u64 = 4 * PATIENCE;

pub fn all() -> Vec<Test> {
    let test = |name: &str, run: fn(&Lwk) -> Result<(), String>| Test {
        name: name.into(),
        alone: false,
        on_host: true,
        sources: Vec::new(),
        needs: Needs::Any,
        run: Box::new(run),
    };
    vec![
        test("bench-paths-has-every-figure-beside-its-target", beside_targets),
        test("bench-paths-refuses-what-cannot-be", refusals),
    ]
}

/// Words of a quick `bench paths` in the host home, into `out`.
fn words(out: &Path, more: &[&str]) -> Vec<OsString> {
    let limit = PATIENCE.to_string();
    let words = ["bench", "paths", "--built", "--quick", "--host", "--timeout", &limit];
    let mut words: Vec<OsString> = words.iter().chain(more).map(OsString::from).collect();
    words.extend(["--out".into(), out.into()]);
    words
}

fn beside_targets(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let out = folder.file("out");
    let ended = lwk.command(&words(&out, &["--rounds", "1"]), LIMIT)?;
    let heads = TARGETS.map(|(title, _)| format!("^# {title}.*: met by [0-9]+ of [0-9]+$"));
    let row = r"^smartmap, a window of 64 KiB, of \S+ +[0-9]+\.[0-9]{3}  <= 1 +(met|MISSED)$".to_owned();
    let stdout = heads.into_iter().chain([row, "^# the page is .*paths.html$".into()]).collect();
    Expected { stdout, stdout_not: vec!["NaN".into()], ..Expected::default() }.judge(&ended)?;
    let complain = |what: String| Err(format!("{what}\n{}", shown(&ended)));
    let read = |name: &str| {
        let file = out.join(name);
        fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))
    };
    let document: Value = serde_json::from_str(&read("paths.json")?).map_err(|error| error.to_string())?;
    let page = read("paths.html")?;
    for (number, (title, least)) in TARGETS.into_iter().enumerate() {
        let target = &document["targets"][number];
        let figures = target["figures"].as_array().map_or(&[][..], Vec::as_slice);
        let is_whole = |figure: &&Value| {
            figure["value"].as_f64().is_some_and(|it| it > 0.0) && figure["met"].is_boolean()
        };
        let (whole, starts) = (
            figures.iter().filter(is_whole).count(),
            target["target"].as_str().is_some_and(|text| text.starts_with(title)),
        );
        if !starts || whole < least || whole != figures.len() {
            return complain(format!("{title}: {target}"));
        }
        let lacks =
            figures.iter().filter_map(|figure| figure["what"].as_str()).find(|what| !page.contains(what));
        if let Some(what) = lacks {
            return complain(format!("the page lacks {what:?}"));
        }
    }
    if document["failed"] != Value::Array(Vec::new())
        || !document["tuning"].as_str().is_some_and(|it| it.contains("[hybrid]"))
    {
        return complain(format!("failed {}, tuning {}", document["failed"], document["tuning"]));
    }
    is_self_contained(&page, 1).or_else(complain)
}

fn refusals(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let file = folder.file("file");
    fs::write(&file, "").map_err(|error| format!("{}: {error}", file.display()))?;
    let line = |text: &str| Expected {
        status: 2,
        stdout_lines: Some(0),
        stderr: vec![text.into()],
        stderr_lines: Some(1),
        ..Expected::default()
    };
    line("^lwk: cannot write to .*; choose a folder with --out$")
        .judge(&lwk.command(&words(&file, &[]), PATIENCE)?)?;
    let out = folder.file("out");
    for (more, why) in [
        (&["--rounds", "0"][..], "0 is not in 1..=99"),
        (&["--ranks", "2"], "unexpected argument '--ranks'"),
        (&["latency"], "unexpected argument 'latency'"),
    ] {
        let stderr = vec![why.into()];
        Expected { status: 2, stdout_lines: Some(0), stderr, ..Expected::default() }
            .judge(&lwk.command(&words(&out, more), PATIENCE)?)?;
    }
    if out.exists() { Err("a wrong option has left a folder".into()) } else { Ok(()) }
}
