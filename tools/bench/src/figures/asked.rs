//! What a source of measurements is asked for, and what it gives.

use std::path::Path;

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
