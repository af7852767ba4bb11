//! The file of `run --tuning FILE`: where paths switch on one machine, as `cargo lwk bench tune` has measured it.
//!
//! It is TOML, so that one can be written by hand:
//!
//! ```toml
//! [hybrid]
//! shared-cache = 32768
//! package = 2048
//! node = 1024
//! ```
//!
//! A switch point is the most bytes of a message that is copied through shared memory, for peers at that distance (`lwk_abi::runtime::DISTANCES`). One
//! that is left out stays at its default.

use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::path::Path;

use lwk_abi::runtime::{HYBRID_ABOVE, HYBRID_MOST, TAKE_TUNING};
use toml::de::{DeTable, DeValue};

use crate::cli::JobOptions;
use crate::failure::{Doing, Failure, Outcome};

/// Switch points in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    pub hybrid: Hybrid,
}

/// Those of `hybrid`, by distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hybrid {
    pub shared_cache: Option<u64>,
    pub package: Option<u64>,
    pub node: Option<u64>,
}

impl Hybrid {
    /// From the nearest to the farthest.
    pub fn by_distance(&self) -> [Option<u64>; HYBRID_ABOVE.len()] {
        [self.shared_cache, self.package, self.node]
    }

    /// The one that a file calls so.
    fn point(&mut self, name: &str) -> Option<&mut Option<u64>> {
        match name {
            "shared-cache" => Some(&mut self.shared_cache),
            "package" => Some(&mut self.package),
            "node" => Some(&mut self.node),
            _ => None,
        }
    }
}

/// A switch point. Errors: it is none, in words.
fn bytes(value: &DeValue<'_>) -> Result<u64, String> {
    let DeValue::Integer(number) = value else {
        return Err(format!("a switch point is a number of bytes, not a {}", value.type_str()));
    };
    match u64::from_str_radix(number.as_str(), number.radix()) {
        Ok(bytes) if bytes <= HYBRID_MOST => Ok(bytes),
        _ => Err(format!("a switch point is at most {HYBRID_MOST} bytes, not {number}")),
    }
}

impl Tuning {
    /// Of a job: its file's, or none. Errors: the job's messages go by a path without switch points, or those of [`Self::read`].
    pub fn of(job: &JobOptions) -> Outcome<Tuning> {
        let Some(file) = &job.tuning else { return Ok(Tuning::default()) };
        let transport = job.transport_named();
        if !TAKE_TUNING.contains(&&*transport) {
            let names = TAKE_TUNING.join(" or ");
            return Err(Failure::usage(format!(
                "--tuning {}: messages go by {transport}, which has no switch points; give --transport {names}, or leave out --tuning",
                file.display()
            )));
        }
        Tuning::read(file)
    }

    /// Reads a file. Errors: it cannot be read, or what is wrong with it, by its line.
    fn read(file: &Path) -> Outcome<Tuning> {
        let text = fs::read_to_string(file).doing(|| format!("read {}", file.display()))?;
        Tuning::parse(&text).map_err(|why| {
            let advice = "`cargo lwk bench tune` writes such a file";
            Failure::usage(format!("--tuning {}: {why}; {advice}", file.display()))
        })
    }

    /// Errors: what is wrong, in one line.
    fn parse(text: &str) -> Result<Tuning, String> {
        let at = |place: Range<usize>, why: String| {
            format!("line {}: {why}", 1 + text[..place.start].matches('\n').count())
        };
        let file = DeTable::parse(text).map_err(|error| {
            let message = error.message().lines().collect::<Vec<_>>().join(" ");
            at(error.span().unwrap_or(0..0), message)
        })?;
        let mut tuning = Tuning::default();
        for (section, value) in file.get_ref() {
            if section.get_ref() != "hybrid" {
                return Err(at(
                    section.span(),
                    format!("unknown section `{}`, not `hybrid`", section.get_ref()),
                ));
            }
            let Some(points) = value.get_ref().as_table() else {
                return Err(at(
                    value.span(),
                    format!("`hybrid` is a section, not a {}", value.get_ref().type_str()),
                ));
            };
            for (name, value) in points {
                let point = tuning.hybrid.point(name.get_ref());
                let point =
                    point.ok_or_else(|| at(name.span(), format!("unknown field `{}`", name.get_ref())))?;
                *point = Some(bytes(value.get_ref()).map_err(|why| at(value.span(), why))?);
            }
        }
        Ok(tuning)
    }

    /// The runtime's variables that say the same.
    pub fn variables(&self) -> impl Iterator<Item = OsString> {
        let points = HYBRID_ABOVE.into_iter().zip(self.hybrid.by_distance());
        points.filter_map(|(name, bytes)| bytes.map(|bytes| format!("{name}={bytes}").into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_it_names_and_no_more() {
        let tuning = Tuning::parse("# of a machine\n[hybrid]\npackage = 4096\nnode = 0\n").unwrap();
        let variables: Vec<OsString> = tuning.variables().collect();
        assert_eq!(variables, ["MARGAY_SHM_HYBRID_PACKAGE=4096", "MARGAY_SHM_HYBRID_NODE=0"]);
        assert_eq!(Tuning::parse(""), Ok(Tuning::default()));
    }

    #[test]
    fn what_is_wrong_is_told_in_one_line_with_its_place() {
        for (text, wanted) in [
            ("[hybrid]\npakage = 1\n", "line 2: unknown field `pakage`"),
            ("[hybrid]\npackage = -1\n", "line 2: "),
            ("[hybrid]\npackage = \"2k\"\n", "line 2: "),
            ("\n\n[hybrid\n", "line 3: "),
            ("hybrid = 1\n", "line 1: "),
            ("[hybrid]\nnode = 1\nnode = 2\n", "line 3: "),
            (
                "[hybrid]\nnode = 268435457\n",
                "line 2: a switch point is at most 268435456 bytes, not 268435457",
            ),
            ("\u{fffd}\0", "line 1: "),
        ] {
            let why = Tuning::parse(text).unwrap_err();
            assert!(why.contains(wanted) && !why.contains('\n'), "{text:?}: {why}");
        }
    }
}
