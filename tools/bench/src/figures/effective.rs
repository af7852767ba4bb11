//! Table 4.1 of Chai's dissertation: effective bandwidth through shared memory and by the kernel's copy, beside the document's own.

use lwk::progress::Step;

use super::asked::{Asked, Outcomes, file, of};
use crate::node::program::BENCHMARKS;
use crate::node::results::Measurement;

/// The source's name, and its test.
pub const PROGRAM: &str = "effective bandwidth";
pub const TEST: &str = "ring";
/// The document's two, and those that stand for them here.
const PATHS: [&str; 2] = ["shm-basic", "limic"];
/// What is measured here: the ring by [`BENCHMARK`], its second pattern.
pub const HERE: &str = "here";
const BENCHMARK: &str = "b_eff_bandwidth";
const PATTERN: &str = "2";
/// The document's, in MB/s: cluster and nodes x ranks, by [`PATHS`].
const TABLE: [(&str, [f64; 2]); 9] = [
    ("A 2x1", [152.0, 244.0]),
    ("A 2x2", [317.0, 378.0]),
    ("A 2x4", [619.0, 694.0]),
    ("A 2x8", [1222.0, 1373.0]),
    ("B 2x1", [139.0, 183.0]),
    ("B 2x2", [282.0, 308.0]),
    ("B 2x4", [545.0, 572.0]),
    ("B 2x8", [1052.0, 1108.0]),
    ("AB 2x16", [2114.0, 2223.0]),
];

/// Measures by `mpi-bench`.
pub fn measure(asked: &Asked<'_>) -> Outcomes {
    let mut all = Outcomes::default();
    for (group, rates) in TABLE {
        all.0.extend(PATHS.iter().zip(rates).map(|(path, rate)| one(asked, path, group, rate)));
    }
    for path in PATHS {
        let what = format!("effective bandwidth over {path}");
        let _step = Step::begin(format!("measuring {what}"), asked.verbose);
        let measured = BENCHMARKS[0].run_with(asked.place, BENCHMARK, Some(path), &[], path, asked.ranks);
        let ring = |all: Vec<Measurement>| all.into_iter().find(|it| it.of == PATTERN);
        file(
            &mut all,
            &what,
            measured.map(|measured| ring(measured).map(|it| one(asked, path, HERE, it.value))),
        );
    }
    all
}

fn one(asked: &Asked<'_>, path: &str, group: &str, rate: f64) -> Measurement {
    of(
        PROGRAM,
        TEST,
        path,
        asked.ranks,
        ("cluster, nodes x ranks (the document's)", group.into()),
        (rate, "MB/s"),
    )
}

#[cfg(test)]
mod tests {
    use super::TABLE;

    #[test]
    fn the_documents_improvements_are_as_it_prints_them() {
        let improved = TABLE.map(|(_, [before, after])| (100.0 * (after / before - 1.0)).round() as u32);
        assert_eq!(improved, [61, 19, 12, 12, 32, 9, 5, 5, 5]);
    }
}
