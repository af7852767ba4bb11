//! Collectives by messages, as the dissertation's are: `run --apart`, over every path that does not reach into its peers' memory.

use lwk::progress::Step;
use lwk_abi::runtime::TRANSPORTS;

use super::asked::{Asked, Outcomes, file};
use crate::node::program::BENCHMARKS;
use crate::node::results::Measurement;

/// The source's name.
pub const PROGRAM: &str = "apart";
/// Tests that are run on 2, 3, … ranks; the others on all.
const BY_RANKS: &str = "barrier";

/// The paths: all but the first, which is `smartmap`.
fn paths() -> impl Iterator<Item = &'static str> {
    TRANSPORTS.into_iter().skip(1)
}

/// Measures by `mpi-bench`.
pub fn measure(asked: &Asked<'_>) -> Outcomes {
    let mut all = Outcomes::default();
    for test in &asked.tests {
        let least = if *test == BY_RANKS { 2 } else { asked.ranks };
        for (path, ranks) in paths().flat_map(|path| (least..=asked.ranks).map(move |ranks| (path, ranks))) {
            let what = format!("{test} by messages over {path} on {ranks} ranks");
            let _step = Step::begin(format!("measuring {what}"), asked.verbose);
            let measured = BENCHMARKS[0].run_with(asked.place, test, Some(path), &["--apart"], path, ranks);
            let own = |one: Measurement| Measurement { program: PROGRAM.into(), floor: None, ..one };
            file(&mut all, &what, measured.map(|measured| measured.into_iter().map(own)));
        }
    }
    all
}
