//! Figure 2.1: messages within a node beside such between nodes. Both nodes are on this machine.

use lwk::progress::Step;

use super::asked::{Asked, Outcomes, file};
use crate::node::program::BENCHMARKS;
use crate::node::results::Measurement;

/// The source's name.
pub const PROGRAM: &str = "levels";
/// The lines.
pub const WITHIN: &str = "within a node (shm-basic)";
pub const BETWEEN: &str = "between nodes";

/// Measures by `mpi-bench` on two ranks.
pub fn measure(asked: &Asked<'_>) -> Outcomes {
    let mut all = Outcomes::default();
    for test in &asked.tests {
        for (line, transport, more) in
            [(WITHIN, Some("shm-basic"), &[][..]), (BETWEEN, None, &["--nodes", "2"][..])]
        {
            let what = format!("{test} {line}");
            let _step = Step::begin(format!("measuring {what}"), asked.verbose);
            let measured = BENCHMARKS[0].run_with(asked.place, test, transport, more, line, 2);
            let own =
                |one: Measurement| Measurement { program: PROGRAM.into(), transport: line.into(), ..one };
            file(&mut all, &what, measured.map(|measured| measured.into_iter().map(own)));
        }
    }
    all
}
