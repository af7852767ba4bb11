//! `cargo lwk bench peers`: the C benchmarks of `apps/c/bench`, compiled unchanged by each MPI's own compiler and by margay-cc, on the same
//! two pinned cores of this machine.
//!
//! Runs are interleaved: each round runs each row with each library once, so that a change of the machine's state meets all of
//! them. Printed are medians with their spread, and how much faster than the best peer Margay is. A row that is slower than a peer is
//! red, and fails `--strict`. A peer that is not there, crashes or hangs is shown as such, and the rest goes on. Nothing is carried over
//! from an earlier run.

mod page;
mod peer;
mod rows;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lwk_home::bench::{Comparison, Operation};
use serde_json::json;

use crate::boot_tests::command::Lwk;
use crate::build::Builder;
use crate::cli::BenchPeersOptions;
use crate::failure::{Doing, Failure, Outcome};
use crate::progress::Step;
use crate::tree::Tree;
use peer::Library;
use rows::{ROWS, Row};

/// Ranks of every run.
const RANKS: u32 = 2;
/// Status of a strict run in which a row is slower than a peer.
const SLOWER: i32 = 1;

/// What one library has measured in one row: a value a round.
#[derive(Clone, Debug, Default)]
struct Cell {
    values: Vec<f64>,
    /// The first thing that went wrong.
    trouble: Option<String>,
}

impl Cell {
    /// The value in the middle, and the least and the greatest.
    fn summary(&self) -> Option<(f64, f64, f64)> {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        Some((*sorted.get(sorted.len() / 2)?, *sorted.first()?, *sorted.last()?))
    }

    fn median(&self) -> Option<f64> {
        self.summary().map(|(median, ..)| median)
    }
}

/// A row with a cell for each library; Margay is the first.
struct Line {
    row: &'static Row,
    cells: Vec<Cell>,
}

impl Line {
    /// How many times as fast as the best peer Margay is, and which that is.
    fn ratio(&self) -> Option<(f64, usize)> {
        let (mine, peers) = self.cells.split_first()?;
        let mine = mine.median()?;
        let faster = |value: f64| if self.row.is_rate { mine / value } else { value / mine };
        let ratios = peers.iter().enumerate().filter_map(|(i, cell)| Some((faster(cell.median()?), i + 1)));
        ratios.min_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// Measures, prints, writes. Status 0, or 1 with `--strict` if a row is slower than a peer.
pub fn run(tree: &Tree, options: &BenchPeersOptions) -> Outcome<i32> {
    let builder = Builder::new(tree, false, options.verbose)?;
    let chosen: Vec<&'static Row> = ROWS
        .iter()
        .filter(|row| options.tests.is_empty() || options.tests.iter().any(|test| row.test == test))
        .collect();
    if chosen.is_empty() {
        let names: Vec<_> = ROWS.iter().map(|row| row.test).collect();
        return Err(Failure::usage(format!("no such test; there are {}", names.join(", "))));
    }
    let (libraries, absent) = peer::find(tree, &builder, &chosen, options.verbose)?;
    for why in &absent {
        println!("# not here: {why}");
    }
    let lwk = Lwk::new(tree)?;
    let mut lines: Vec<Line> =
        chosen.iter().map(|row| Line { row, cells: vec![Cell::default(); libraries.len()] }).collect();
    for round in 1..=options.rounds {
        let _step = Step::begin(format!("round {round} of {}", options.rounds), options.verbose);
        for line in &mut lines {
            for (library, cell) in libraries.iter().zip(&mut line.cells) {
                // A library that hangs in a row would hang in every round.
                if cell.trouble.is_none() {
                    match library.measure(&lwk, line.row, options.iterations) {
                        Ok(value) => cell.values.push(value),
                        Err(why) => cell.trouble = Some(why),
                    }
                }
            }
        }
    }
    let step = Step::begin("measuring what the machine itself takes", options.verbose);
    let limits = limits()?;
    drop(step);
    print(&libraries, &lines, &limits);
    let folder = options.out.clone().unwrap_or_else(|| tree.root().join("target/lwk/peers"));
    write(&folder, &libraries, &absent, &lines, &limits)?;
    println!("# {}", folder.join("index.html").display());
    let slower = lines.iter().filter(|line| line.ratio().is_none_or(|(ratio, _)| ratio < 1.0)).count();
    if slower > 0 {
        println!("# {slower} of {} rows are slower than a peer, or could not be compared", lines.len());
    }
    Ok(if options.strict && slower > 0 { SLOWER } else { 0 })
}

/// What the machine itself takes, measured now: nanoseconds, by name.
fn limits() -> Outcome<BTreeMap<String, f64>> {
    let (_, comparisons) = lwk_home::bench::compare()
        .map_err(|error| Failure { message: error.message, status: error.status })?;
    let named = |Comparison { operation, ranks_ns, .. }: Comparison| {
        let name = match operation {
            Operation::Store => "a line stored to by the other core".to_owned(),
            Operation::Load => "a line loaded from the other core".to_owned(),
            Operation::Copy(bytes) => format!("copy of {} KiB that the other core has written", bytes >> 10),
        };
        (name, ranks_ns)
    };
    Ok(comparisons.into_iter().map(named).collect())
}

fn print(libraries: &[Library], lines: &[Line], limits: &BTreeMap<String, f64>) {
    use std::io::IsTerminal;
    let (red, plain) = if std::io::stdout().is_terminal() { ("\x1b[31m", "\x1b[0m") } else { ("", "") };
    print!("{:<30}{:>11}", "# row", "unit");
    libraries.iter().for_each(|library| print!("{:>28}", library.name));
    println!("{:>10}{:>9}", "ratio", "aim");
    for line in lines {
        let ratio = line.ratio();
        let slow = ratio.is_some_and(|(ratio, _)| ratio < 1.0);
        print!("{}{:<30}{:>11}", if slow { red } else { "" }, line.row.title(), line.row.unit());
        for cell in &line.cells {
            match cell.summary() {
                Some((median, least, most)) => {
                    print!("{:>28}", format!("{} ({}-{})", figure(median), figure(least), figure(most)))
                }
                None => print!("{:>28}", "failed"),
            }
        }
        match ratio {
            Some((ratio, _)) => print!("{ratio:>10.2}{:>9.2}", line.row.aim),
            None => print!("{:>10}{:>9.2}", "-", line.row.aim),
        }
        println!("{}{}", if slow { "  SLOWER" } else { "" }, if slow { plain } else { "" });
        for (library, cell) in libraries.iter().zip(&line.cells) {
            if let Some(why) = &cell.trouble {
                println!("#   {}: {why}", library.name);
            }
        }
    }
    println!("# limits of the machine in this run");
    limits.iter().for_each(|(name, nanoseconds)| println!("# {name}: {nanoseconds:.1} ns"));
}

/// Three figures that count.
fn figure(value: f64) -> String {
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else if value >= 1.0 {
        2
    } else {
        3
    };
    format!("{value:.digits$}")
}

/// Writes `results.json` and `index.html`.
fn write(
    folder: &Path,
    libraries: &[Library],
    absent: &[String],
    lines: &[Line],
    limits: &BTreeMap<String, f64>,
) -> Outcome<()> {
    fs::create_dir_all(folder).doing(|| format!("make the folder {}", folder.display()))?;
    let rows: Vec<_> = lines
        .iter()
        .map(|line| {
            let cells: BTreeMap<_, _> = libraries
                .iter()
                .zip(&line.cells)
                .map(|(library, cell)| {
                    (
                        library.name,
                        json!({ "values": cell.values, "median": cell.median(), "trouble": cell.trouble }),
                    )
                })
                .collect();
            json!({ "row": line.row.title(), "unit": line.row.unit(), "aim": line.row.aim,
                    "ratio": line.ratio().map(|(ratio, _)| ratio), "libraries": cells })
        })
        .collect();
    let results = json!({ "ranks": RANKS, "absent": absent, "limits_ns": limits, "rows": rows });
    let text = serde_json::to_string_pretty(&results).map_err(|error| Failure::host(error.to_string()))?;
    for (name, text) in [("results.json", text), ("index.html", page::page(libraries, absent, lines, limits))]
    {
        let file = folder.join(name);
        fs::write(&file, text).doing(|| format!("write {}", file.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(row: &'static Row, medians: &[&[f64]]) -> Line {
        let cells = medians.iter().map(|values| Cell { values: values.to_vec(), trouble: None }).collect();
        Line { row, cells }
    }

    #[test]
    fn the_ratio_is_to_the_best_peer_that_ran() {
        let time = ROWS.iter().find(|row| !row.is_rate).unwrap();
        let rate = ROWS.iter().find(|row| row.is_rate).unwrap();
        assert_eq!(line(time, &[&[1.0, 2.0, 9.0], &[3.0], &[2.5], &[]]).ratio(), Some((1.25, 2)));
        assert_eq!(line(rate, &[&[10.0], &[5.0], &[20.0]]).ratio(), Some((0.5, 2)));
        assert_eq!(line(time, &[&[], &[3.0]]).ratio(), None);
        assert_eq!(line(time, &[&[1.0], &[]]).ratio(), None);
    }
}
