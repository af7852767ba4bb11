//! What figures need beyond the benchmarks' own tests: each source is asked for the tests that the figures show, and gives measurements under its own name as the program.

use super::asked::{Asked, Outcomes};
use super::{
    apart, applications, breakdown, distances, effective, late, levels, misses, node_misses, profiles,
};

/// A source by the name that its measurements have as their program.
pub struct Source {
    pub program: &'static str,
    pub measure: fn(&Asked<'_>) -> Outcomes,
}

/// All of them.
pub const SOURCES: [Source; 10] = [
    Source { program: levels::PROGRAM, measure: levels::measure },
    Source { program: distances::PROGRAM, measure: distances::measure },
    Source { program: breakdown::PROGRAM, measure: breakdown::measure },
    Source { program: applications::PROGRAM, measure: applications::measure },
    Source { program: apart::PROGRAM, measure: apart::measure },
    Source { program: misses::PROGRAM, measure: misses::measure },
    Source { program: profiles::PROGRAM, measure: profiles::measure },
    Source { program: effective::PROGRAM, measure: effective::measure },
    Source { program: late::PROGRAM, measure: late::measure },
    Source { program: node_misses::PROGRAM, measure: node_misses::measure },
];
