//! Whether sizes from which on something else is done stand in the runtime's one table, each with where it was measured.

use std::fs;
use std::path::Path;

use lwk::failure::{Doing, Outcome};

/// The table.
const TABLE: &str = "mpi-rt/fabric/copy/src/threshold.rs";
/// How a threshold's name ends.
const ENDS: [&str; 3] = ["_FROM", "_LIMIT", "_AT_A_TIME"];
/// What its comment says, in lower case: where, or that it was not.
const MEASURED: &str = "measured";

/// What is wrong: file, line, name. `files` are the runtime's. Errors: a file cannot be read.
pub fn strays(root: &Path, files: &[String]) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    for file in files {
        let path = root.join(file);
        let text = fs::read_to_string(&path).doing(|| format!("read {}", path.display()))?;
        let wrong: Vec<(usize, &str)> = if file == TABLE { unmeasured(&text) } else { thresholds(&text) };
        found.extend(wrong.iter().map(|(line, name)| {
            format!("{file}:{line}: {name} belongs into {TABLE}, with where it was measured")
        }));
    }
    Ok(found)
}

/// The constant that a line defines.
fn constant(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line
        .strip_prefix("pub(crate) ")
        .or(line.strip_prefix("pub(super) "))
        .or(line.strip_prefix("pub "))
        .unwrap_or(line);
    line.strip_prefix("const ")?.split_once(": ").map(|(name, _)| name)
}

/// Line numbers and names of the thresholds that a file defines.
fn thresholds(text: &str) -> Vec<(usize, &str)> {
    let is_threshold = |name: &&str| ENDS.iter().any(|end| name.ends_with(end));
    let lines = text.lines().enumerate();
    lines.filter_map(|(index, line)| Some((index + 1, constant(line).filter(is_threshold)?))).collect()
}

/// Those of the table without a measurement.
fn unmeasured(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let says = |index: usize| {
        let comment = lines[..index].iter().rev().take_while(|line| line.starts_with("///"));
        comment.into_iter().any(|line| line.to_lowercase().contains(MEASURED))
    };
    let constants = lines.iter().enumerate().filter_map(|(index, line)| Some((index, constant(line)?)));
    constants.filter(|(index, _)| !says(*index)).map(|(index, name)| (index + 1, name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_elsewhere_is_found() {
        let text = "/// Measured.\npub(super) const HELP_FROM: usize = 64;\nconst CELLS: usize = 64;\n";
        assert_eq!(thresholds(text), [(2, "HELP_FROM")]);
    }

    #[test]
    fn a_number_of_the_table_says_where_it_was_measured() {
        let text = "/// Bytes.\npub const FEW: usize = 64;\n/// Bytes. Measured so:\n/// 3 ns.\npub const MORE: usize = 128;\n";
        assert_eq!(unmeasured(text), [(2, "FEW")]);
    }
}
