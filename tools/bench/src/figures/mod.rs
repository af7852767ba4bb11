//! `cargo lwk bench figures DOCUMENT [FIGURE…]`: runs and draws the figures of a source document that one node can answer ([`list`]), on every transport, and says of each
//! whether the document's conclusion holds here: one page, JSON and SVG. What cannot be drawn says what is missing.
//!
//! A test that several figures show is run once. One that fails is named, the rest goes on, and the status is 1.

mod apart;
mod applications;
mod asked;
mod breakdown;
mod distances;
mod distribution;
mod effective;
mod hybrid;
mod kernel_copies;
mod late;
mod levels;
mod list;
mod measure;
mod misses;
mod node_misses;
mod numbers;
mod printed;
mod profile_rows;
mod profiles;
mod shared_memory;
mod smartmap;
mod sources;
mod values;

use std::fs;
use std::path::{Path, PathBuf};

use list::{DOCUMENTS, Document, Drawn, Missing, heading};
use lwk::build;
use lwk::catalog::Named;
use lwk::failure::{Failure, Outcome};
use lwk::subcommand::{Lwk, PATIENCE};
use lwk::tree::Tree;
use serde_json::{Value, json};

use self::measure::{measure, programs};
use crate::cli::{FiguresOptions, PlaceOptions};
use crate::figure::head;
use crate::node::figures::Plot;
use crate::node::plot;
use crate::node::results::Measurement;
use crate::out;
use crate::peers::page::{capitalised, escaped, fluid};

/// Status if a benchmark failed.
const FAILED: i32 = 1;

/// A figure as it has come out.
struct Shown {
    figure: &'static Drawn,
    /// SVG; none if nothing of it was measured.
    picture: Option<String>,
    /// The document's numbers beside those here, and those of its bars, as tables for the page.
    numbers: String,
    verdict: &'static str,
}

/// Measures, draws and prints. Status 0 if every benchmark ended well, else 1.
pub fn run(tree: &Tree, options: &FiguresOptions) -> Outcome<i32> {
    let document = named(&options.document)?;
    let (drawn, missing) = chosen(document, &options.figures)?;
    let out = out::folder(tree, options.out.as_ref(), "target/lwk/bench/figures")?;
    let builder = options.place.prepare(tree, &[build::MPI_APPS])?;
    if drawn.iter().flat_map(|figure| figure.panels).any(|panel| panel.program == node_misses::PROGRAM) {
        PlaceOptions { host: false, ..options.place.clone() }.prepare(tree, &[build::APPS])?;
    }
    for name in programs(&drawn) {
        Named::find(tree, name)?.build(tree, &builder)?;
    }
    let lwk = Lwk::new(tree)?;
    let place = options.place.whereabouts("node");
    let (measurements, failed) = measure(&lwk, options, &drawn, &out);
    let mut shown = Vec::new();
    for figure in drawn {
        let mut it = draw(document, figure, &place, &measurements)?;
        if options.place.quick && it.picture.is_some() {
            it.verdict = "is not judged: the run was quick";
        }
        shown.push(it);
    }
    show!("# {}, {place}", document.title);
    shown
        .iter()
        .for_each(|it| show!("{:<12} {:<50} {}", heading(it.figure.number), it.figure.title, it.verdict));
    missing.iter().for_each(|it| show!("{:<12} not drawn: {}", heading(it.number), it.why));
    let write = |name: &str, text: &str| out::write(&out.join(name), text);
    let stem = |number: &str| format!("{}-{number}", document.number);
    for it in &shown {
        let file = format!("{}.svg", stem(it.figure.number));
        match &it.picture {
            Some(svg) => write(&file, svg)?,
            // A picture of an earlier run would not belong to the numbers beside it.
            None => drop(fs::remove_file(out.join(&file))),
        }
    }
    let json = document_json(document, &place, &shown, &missing, &measurements, &failed);
    write(&format!("{}.json", stem("figures")), &format!("{json:#}\n"))?;
    write(&format!("{}.html", stem("figures")), &page(document, &place, &shown, &missing, &failed))?;
    show!("# the page is {}", out.join(format!("{}.html", stem("figures"))).display());
    Ok(if failed.is_empty() { 0 } else { FAILED })
}

/// Figures of a source of measurements each, such as need nothing but the benchmarks, on any machine.
const CHECKED: [&str; 6] = ["2.1", "3.9", "4.4", "6.5", "table-2.1", "table-5.3"];

/// Sources, relative to the tree, of the programs in C that [`check`] runs.
#[must_use]
pub fn sources() -> Vec<PathBuf> {
    let drawn: Vec<&Drawn> = DOCUMENTS[0].drawn().filter(|figure| CHECKED.contains(&figure.number)).collect();
    programs(&drawn).into_iter().map(|name| Path::new("apps/c").join(name).with_extension("c")).collect()
}

/// Measures and draws some figures quickly, in the host home.
///
/// # Errors
/// What failed, and what is not drawn.
pub fn check(lwk: &Lwk) -> Result<(), String> {
    check_some(lwk, &CHECKED)
}

/// The same of figures that are of a node, wherever others are measured.
///
/// # Errors
/// What failed, and what is not drawn.
pub fn check_on_node(lwk: &Lwk) -> Result<(), String> {
    check_some(lwk, &["6.4"])
}

fn check_some(lwk: &Lwk, figures: &[&str]) -> Result<(), String> {
    let options = FiguresOptions {
        document: "000".into(),
        figures: figures.iter().map(|number| String::from(*number)).collect(),
        ranks: 2,
        out: None,
        place: PlaceOptions { host: true, quick: true, timeout: PATIENCE, built: true, verbose: false },
    };
    let said = |failure: Failure| failure.message;
    let document = named(&options.document).map_err(said)?;
    let (drawn, _) = chosen(document, &options.figures).map_err(said)?;
    let folder = lwk.folder()?;
    let (measurements, failed) = measure(lwk, &options, &drawn, &folder.file(""));
    if !failed.is_empty() {
        return Err(failed.join("\n"));
    }
    for figure in drawn {
        if draw(document, figure, "quick", &measurements).map_err(said)?.picture.is_none() {
            return Err(format!("{} is not drawn", heading(figure.number)));
        }
    }
    Ok(())
}

/// Errors: there is no such document.
fn named(number: &str) -> Outcome<&'static Document> {
    DOCUMENTS.iter().find(|document| document.number == number).ok_or_else(|| {
        let all: Vec<String> = DOCUMENTS.iter().map(|it| format!("{} ({})", it.number, it.title)).collect();
        Failure::usage(format!(
            "there is no document {number:?} with figures; there are {}",
            all.join(" and ")
        ))
    })
}

type Chosen = (Vec<&'static Drawn>, Vec<&'static Missing>);

/// The figures that the user names, or all. Errors: one that the document has not, or that has nothing to do with a node.
fn chosen(document: &'static Document, names: &[String]) -> Outcome<Chosen> {
    let unknown = names.iter().find(|name| {
        !document.drawn().any(|it| it.number == **name)
            && !document.missing.iter().any(|it| it.number == **name)
    });
    if let Some(name) = unknown {
        let all: Vec<&str> = document.drawn().map(|it| it.number).collect();
        let all = all.join(", ");
        return Err(Failure::usage(format!(
            "{} has no figure {name:?} to draw; there are {all}",
            document.title
        )));
    }
    let wanted = |number: &str| names.is_empty() || names.iter().any(|name| name == number);
    let drawn = document.drawn().filter(|it| wanted(it.number)).collect();
    Ok((drawn, document.missing.iter().filter(|it| wanted(it.number)).collect()))
}

/// The picture of a figure, and whether its conclusion holds. Errors: it cannot be drawn.
fn draw(document: &Document, figure: &'static Drawn, place: &str, all: &[Measurement]) -> Outcome<Shown> {
    let plots: Vec<Plot> = figure.panels.iter().filter_map(|panel| panel.plot(all)).collect();
    if plots.is_empty() {
        return Ok(Shown { figure, picture: None, numbers: String::new(), verdict: "not measured" });
    }
    let number = heading(figure.number);
    let from = format!("{}, {number}; {place}", document.title);
    let svg = plot::figure(figure.title, &from, &plots)
        .map_err(|error| Failure::host(format!("cannot draw {number}: {error}")))?;
    let verdict = match (figure.holds)(all) {
        Some(true) => "holds here",
        Some(false) => "does not hold here",
        None => "is not decided by these figures",
    };
    let beside = printed::table(document.number, figure.number, all);
    let numbers = [beside].into_iter().chain(plots.iter().filter_map(numbers::table)).collect();
    Ok(Shown { figure, picture: Some(svg), numbers, verdict })
}

fn document_json(
    document: &Document,
    place: &str,
    shown: &[Shown],
    missing: &[&Missing],
    measurements: &[Measurement],
    failed: &[String],
) -> Value {
    let figures: Vec<Value> = shown
        .iter()
        .map(|Shown { figure, verdict, .. }| {
            json!({ "figure": figure.number, "title": figure.title, "claim": figure.claim, "verdict": verdict })
        })
        .collect();
    let missing: Vec<Value> =
        missing.iter().map(|it| json!({ "figure": it.number, "missing": it.why })).collect();
    json!({
        "document": document.title, "place": place, "figures": figures, "not_drawn": missing,
        "measurements": measurements, "failed": failed,
    })
}

/// One page that needs no network.
fn page(
    document: &Document,
    place: &str,
    shown: &[Shown],
    missing: &[&Missing],
    failed: &[String],
) -> String {
    let mut text = head(&format!("Figures: {}", document.title));
    text.push_str(&format!(
        "<p>Measured: {}. In emulation, and on a busy machine, compare lines of one picture only.</p>\n",
        escaped(place)
    ));
    for Shown { figure, picture, numbers, verdict } in shown {
        text.push_str(&format!(
            "<h2>{}: {}</h2>\n",
            capitalised(&heading(figure.number)),
            escaped(figure.title)
        ));
        if let Some(svg) = picture {
            text.push_str(&format!("<div class=\"wide\">{}</div>\n", fluid(svg)));
        }
        text.push_str(numbers);
        text.push_str(&format!("<p>{} <strong>This {verdict}.</strong></p>\n", escaped(figure.claim)));
    }
    for (head, lines) in [
        (
            "Not drawn",
            missing
                .iter()
                .map(|it| format!("{}: {}.", capitalised(&heading(it.number)), it.why))
                .collect::<Vec<_>>(),
        ),
        ("Failed", failed.to_vec()),
    ] {
        if !lines.is_empty() {
            let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", escaped(line))).collect();
            text.push_str(&format!("<h2>{head}</h2>\n<ul>\n{items}</ul>\n"));
        }
    }
    text.push_str("</body>\n</html>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_chosen_by_number_and_a_wrong_one_tells_the_right_ones() {
        let document = named("000").unwrap();
        let (all, missing) = chosen(document, &[]).unwrap();
        assert!(all.len() > 30 && !missing.is_empty());
        let (drawn, missing) = chosen(document, &["6.8".into(), "4.8".into()]).unwrap();
        assert_eq!((drawn.len(), drawn[0].number, missing.len(), missing[0].number), (1, "6.8", 1, "4.8"));
        let (tables, _) = chosen(document, &["table-6.1".into()]).unwrap();
        assert_eq!(heading(tables[0].number), "table 6.1");
        let line = chosen(document, &["9.9".into()]).unwrap_err().message;
        assert!(line.contains("6.8") && !line.contains('\n'), "{line}");
        let line = named("007").unwrap_err().message;
        assert!(line.contains("000") && line.contains("001"), "{line}");
    }

    #[test]
    fn what_is_checked_names_its_sources() {
        assert_eq!(
            sources(),
            ["cg", "heat", "is", "md"].map(|name| PathBuf::from(format!("apps/c/{name}.c")))
        );
        assert!(CHECKED.iter().all(|number| named("000").unwrap().drawn().any(|it| it.number == *number)));
    }

    #[test]
    fn the_page_shows_every_figure_with_its_verdict_and_what_is_missing() {
        let document = named("000").unwrap();
        let (drawn, missing) = chosen(document, &[]).unwrap();
        let shown: Vec<Shown> =
            drawn.into_iter().map(|figure| draw(document, figure, "nowhere", &[]).unwrap()).collect();
        let text = page(document, "nowhere", &shown, &missing, &["a & b".into()]);
        assert!(
            shown
                .iter()
                .all(|it| text.contains(&format!("<h2>{}: ", capitalised(&heading(it.figure.number)))))
        );
        assert!(
            missing.iter().all(|it| text.contains(&format!("<li>{}: ", capitalised(&heading(it.number)))))
        );
        assert!(text.contains("<li>a &amp; b</li>") && text.matches("not measured").count() == shown.len());
    }
}
