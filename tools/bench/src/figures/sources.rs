//! What figures need beyond the benchmarks' own tests: each source is asked for the tests that the figures show, and gives measurements under its own name as the program.

use std::path::Path;

use super::{apart, applications, breakdown, distances, effective, levels, misses, profiles};
use crate::node::program::Setting;
use crate::node::results::Measurement;

/// What has been measured, and what failed, a line each.
pub type Outcomes = (Vec<Measurement>, Vec<String>);

/// Where a source measures, and how widely.
pub struct Asked<'a> {
    pub place: &'a Setting<'a>,
    /// Most ranks.
    pub ranks: u32,
    /// Tests that figures show.
    pub tests: Vec<&'static str>,
    /// Folder for files of its own.
    pub out: &'a Path,
    pub verbose: bool,
}

impl Asked<'_> {
    /// Whether a test is shown.
    pub fn wants(&self, test: &str) -> bool {
        self.tests.contains(&test)
    }
}

/// A source by the name that its measurements have as their program.
pub struct Source {
    pub program: &'static str,
    pub measure: fn(&Asked<'_>) -> Outcomes,
}

/// All of them.
pub const SOURCES: [Source; 8] = [
    Source { program: levels::PROGRAM, measure: levels::measure },
    Source { program: distances::PROGRAM, measure: distances::measure },
    Source { program: breakdown::PROGRAM, measure: breakdown::measure },
    Source { program: applications::PROGRAM, measure: applications::measure },
    Source { program: apart::PROGRAM, measure: apart::measure },
    Source { program: misses::PROGRAM, measure: misses::measure },
    Source { program: profiles::PROGRAM, measure: profiles::measure },
    Source { program: effective::PROGRAM, measure: effective::measure },
];

/// Files what a run has given, or what is wrong with it.
pub fn file<T: IntoIterator<Item = Measurement>>(
    all: &mut Outcomes,
    what: &str,
    measured: Result<T, String>,
) {
    match measured {
        Ok(measured) => all.0.extend(measured),
        Err(why) => {
            tell!("lwk: {what}: {why}");
            all.1.push(format!("{what}: {why}"));
        }
    }
}

/// A measurement on so many ranks.
pub fn of(
    program: &str,
    test: &str,
    transport: &str,
    ranks: u32,
    (key, of): (&str, String),
    (value, unit): (f64, &str),
) -> Measurement {
    Measurement {
        program: program.into(),
        test: test.into(),
        transport: transport.into(),
        ranks: ranks.into(),
        key: key.into(),
        of,
        value,
        unit: unit.into(),
        floor: None,
        ratio: None,
    }
}
