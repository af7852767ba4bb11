//! `cargo lwk bench paths`: what ways to move a message on a node cost beside what they should cost ([`targets`]), as ratios of one run whose ways take turns
//! ([`rounds`]): a table, a page, JSON and SVG.
//!
//! Where `hybrid` switches is found first, as by `bench tune`. A run that fails is named, the rest goes on, and the status is 1.

mod plots;
mod rounds;
mod samples;
mod targets;

use std::fs;
use std::path::Path;

use lwk::build;
use lwk::failure::{Failure, Outcome};
use lwk::run::host_cores;
use lwk::subcommand::Lwk;
use lwk::tree::Tree;
use serde_json::{Value, json};

use self::samples::Samples;
use self::targets::Target;
use crate::cli::{Decide, PathsOptions, TuneOptions};
use crate::figure::{Figure, head};
use crate::node::plot;
use crate::node::program::Setting;
use crate::out;
use crate::peers::page::{capitalised, escaped, fluid};
use crate::tune;

/// MiB of each rank.
const MEMORY: u64 = 128;
/// Most ranks between which messages by distance go.
const RANKS: u32 = 64;
/// Status if a run failed.
const FAILED: i32 = 1;

/// Measures, prints and draws. Status 0 if every run ended well, whatever the figures, else 1.
pub fn run(tree: &Tree, options: &PathsOptions) -> Outcome<i32> {
    let out = out::folder(tree, options.out.as_ref(), "target/lwk/bench/paths")?;
    // Commands run at the tree's root.
    let out = fs::canonicalize(&out).map_err(|error| out::unwritable(&out, &error))?;
    options.place.prepare(tree, &[build::MPI_APPS])?;
    let lwk = Lwk::new(tree)?;
    let ranks = host_cores().clamp(2, RANKS);
    let tuning = out.join("tuning.toml");
    let found = tune::measure(&lwk, &tuned(options, ranks))?;
    out::write(&tuning, &found.file)?;
    let place = Setting::new(&lwk, &options.place, MEMORY);
    let (samples, failed) = rounds::measure(&place, &tuning, ranks, options.rounds, options.place.verbose);
    let targets = targets::all(&samples);

    let place = format!("{}, {} rounds", options.place.whereabouts("node"), options.rounds);
    show!("# {place}\n# {:<60}{:>10}  target", "what", "ratio");
    for target in &targets {
        show!("# {}", target.summary());
        target.figures.iter().for_each(|figure| show!("{}", figure.line(false)));
    }
    let document = document(&place, &targets, &samples, &found.file, &failed);
    out::write(&out.join("paths.json"), &format!("{document:#}\n"))?;
    let picture = draw(&out, &place, &samples)?;
    out::write(&out.join("paths.html"), &page(&place, &targets, picture.as_deref(), &found.file, &failed))?;
    show!("# the page is {}", out.join("paths.html").display());
    Ok(if failed.is_empty() { 0 } else { FAILED })
}

/// As `bench tune` finds switch points.
fn tuned(options: &PathsOptions, ranks: u32) -> TuneOptions {
    let (rounds, place) = (options.rounds, options.place.clone());
    TuneOptions { ranks, decide: Decide::Latency, rounds, out: None, place }
}

/// Draws what was measured, into the folder and for the page. Errors: it cannot be drawn, or written.
fn draw(out: &Path, place: &str, samples: &Samples) -> Outcome<Option<String>> {
    let (plots, file) = (plots::all(samples), out.join("paths.svg"));
    if plots.is_empty() {
        // A picture of an earlier run would not belong to the numbers beside it.
        let removed = fs::remove_file(&file);
        return match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(out::unwritable(&file, &error)),
            _ => Ok(None),
        };
    }
    let svg = plot::figure("Ways to move a message on a node", place, &plots)
        .map_err(|error| Failure::host(format!("cannot draw: {error}")))?;
    out::write(&file, &svg)?;
    Ok(Some(svg))
}

fn document(place: &str, targets: &[Target], samples: &Samples, tuning: &str, failed: &[String]) -> Value {
    let one = |target: &Target| {
        let figures: Vec<Value> = target.figures.iter().map(Figure::json).collect();
        json!({ "target": target.title, "figures": figures })
    };
    json!({
        "place": place, "targets": targets.iter().map(one).collect::<Vec<_>>(), "samples": samples.json(),
        "tuning": tuning, "failed": failed,
    })
}

/// One page that needs no network.
fn page(place: &str, targets: &[Target], picture: Option<&str>, tuning: &str, failed: &[String]) -> String {
    let mut text = head("Ways to move a message on a node");
    text.push_str(&format!(
        "<p>Measured: {}. Each figure is how many times as long something takes as what it is compared with, both by the median of the rounds in which the machine was fast: of those that took at most twice the least.</p>\n",
        escaped(place)
    ));
    if let Some(svg) = picture {
        text.push_str(&format!("<div class=\"wide\">{}</div>\n", fluid(svg)));
    }
    for target in targets {
        text.push_str(&format!(
            "<h2>{}</h2>\n<div class=\"wide\"><table>\n<tr><th></th><th>ratio</th><th>target</th><th></th></tr>\n",
            escaped(&capitalised(&target.summary()))
        ));
        target.figures.iter().for_each(|figure| text.push_str(&figure.row()));
        text.push_str("</table></div>\n");
    }
    text.push_str(&format!("<h2>Where hybrid has switched</h2>\n<pre>{}</pre>\n", escaped(tuning)));
    if !failed.is_empty() {
        let items: String = failed.iter().map(|line| format!("<li>{}</li>\n", escaped(line))).collect();
        text.push_str(&format!("<h2>Failed</h2>\n<ul>\n{items}</ul>\n"));
    }
    text.push_str("</body>\n</html>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_the_document_have_every_target_and_what_failed() {
        let samples = Samples::default();
        let targets = targets::all(&samples);
        let failed = ["a < b".to_owned()];
        let text = page("nowhere", &targets, None, "[hybrid]\n", &failed);
        assert_eq!(text.matches("class=\"missed\"").count(), targets.len());
        assert!(text.contains("<li>a &lt; b</li>") && text.contains("<pre>[hybrid]"), "{text}");
        let document = document("nowhere", &targets, &samples, "", &failed);
        assert_eq!(document["targets"].as_array().map(Vec::len), Some(4));
        assert_eq!(document["failed"][0], "a < b");
    }
}
