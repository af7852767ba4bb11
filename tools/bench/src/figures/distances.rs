//! Figures 3.11 and 3.12: messages to ranks at each distance that this machine has, by both designs of shared memory (`mpi-bench distances`).

use lwk::progress::Step;
use serde::Deserialize;

use super::asked::{Asked, Outcomes, file, of};
use crate::node::results::{BYTES, Measurement};

/// The source's name, and its tests: microseconds of a message of a window, and its bytes a microsecond.
pub const PROGRAM: &str = "distances";
pub const TIME: &str = "time";
pub const RATE: &str = "rate";
const PATHS: [&str; 2] = ["shm-basic", "shm-advanced"];

#[derive(Deserialize)]
struct Row {
    distance: String,
    bytes: u64,
    microseconds: f64,
}

/// Measures, with a rank on each core up to the most.
pub fn measure(asked: &Asked<'_>) -> Outcomes {
    let mut all = Outcomes::default();
    for path in PATHS {
        let what = format!("distances over {path}");
        let _step = Step::begin(format!("measuring {what}"), asked.verbose);
        file(&mut all, &what, once(asked, path));
    }
    all
}

/// The name of a line.
pub fn line(path: &str, distance: &str) -> String {
    format!("{path}, {distance}")
}

fn once(asked: &Asked<'_>, path: &str) -> Result<Vec<Measurement>, String> {
    let mut arguments: Vec<String> = ["distances", "--json"].map(String::from).into();
    if asked.place.quick {
        arguments
            .extend(["--sizes", "512:4096", "--iterations", "64", "--repetitions", "1"].map(String::from));
    }
    let ended = asked.place.run_with("mpi-bench", asked.ranks, Some(path), &[], &arguments)?;
    let rows: Vec<Row> = serde_json::from_str(&ended.stdout).map_err(|error| error.to_string())?;
    let both = |Row { distance, bytes, microseconds }: &Row| {
        let one = |test, value, unit| {
            of(PROGRAM, test, &line(path, distance), asked.ranks, (BYTES, bytes.to_string()), (value, unit))
        };
        [one(TIME, *microseconds, "us"), one(RATE, *bytes as f64 / microseconds, "MB/s")]
    };
    Ok(rows.iter().flat_map(both).filter(|one| asked.wants(&one.test)).collect())
}
