//! The page of a sweep: for each section a summary, the points behind, cliffs, the heat map, and a curve an operation. One file that needs no network.

use std::fmt::Write;

use super::curves::{Curve, Named, Section};
use super::heat;
use crate::node::figures::{Line, Plot};
use crate::node::plot;
use crate::peers::page::{escaped, fluid};
use lwk::failure::{Doing, Outcome};

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Margay beside other MPIs: curves</title>
<style>
body { font: 15px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 84rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.wide { overflow-x: auto; margin-bottom: 1rem; }
.heat { border-collapse: collapse; font-size: 12px; }
.heat th { text-align: left; font-weight: 400; padding: .15rem .4rem; white-space: nowrap; }
.heat td { text-align: right; padding: .15rem .35rem; border: 1px solid #fff; }
pre { font-size: 12px; } pre.behind { color: #b00020; }
svg { width: 100%; height: auto; min-width: 40rem; display: block; }
</style>
</head>
<body>
"#;

/// The page's text; `absent` are peers that took no part, and runs that failed, and why. Errors: a plot cannot be drawn.
pub fn page(sections: &[Section], absent: &[(String, String)]) -> Outcome<String> {
    let mut text = String::from(HEAD);
    text.push_str("<h1>Margay beside other MPIs: curves</h1>\n<p>Time of one operation, or of one message of a window, in microseconds; medians of all rounds, taken in turns in \
        one run. The heat map shows how many times faster than the best peer in its best setting Margay is: below 1, in red, a peer is faster.</p>\n");
    for section in sections {
        let _ = write!(text, "<h2>{}</h2>\n<p>{}</p>\n", section.title(), section.summary());
        let _ = writeln!(text, "<div class=\"wide\">{}</div>", heat::map(section));
        list(&mut text, "Behind, worst first", "behind", &section.behind());
        list(
            &mut text,
            "Cliffs: sizes that cost over three times as much for each byte as one half or twice as large",
            "",
            &section.cliffs(),
        );
        let plots: Vec<Plot> =
            section.curves.iter().filter(|curve| curve.points.len() > 1).map(of_curve).collect();
        if !plots.is_empty() {
            let svg =
                plot::figure("Time by size", &section.title(), &plots).doing(|| "draw the curves".into())?;
            let _ = writeln!(text, "<div class=\"wide\">{}</div>", fluid(&svg));
        }
    }
    if sections.is_empty() {
        text.push_str("<p>There are no points.</p>\n");
    }
    for (name, why) in absent {
        let _ = writeln!(text, "<p><strong>{}</strong>: {}</p>", escaped(name), escaped(why));
    }
    text.push_str("</body>\n</html>\n");
    Ok(text)
}

fn list(text: &mut String, title: &str, class: &str, points: &[Named<'_>]) {
    if points.is_empty() {
        return;
    }
    let _ = write!(text, "<h3>{title}</h3>\n<pre class=\"{class}\">");
    points.iter().for_each(|point| {
        let _ = writeln!(text, "{}", escaped(&point.to_string()));
    });
    text.push_str("</pre>\n");
}

/// Margay's curve and that of each MPI at its best, by the best of its settings at each size.
fn of_curve(curve: &Curve) -> Plot {
    let mut families: Vec<&str> =
        curve.points.iter().flat_map(|point| point.peers.iter().map(|(name, _)| family(name))).collect();
    families.sort_unstable();
    families.dedup();
    let line = |name: &str, value: &dyn Fn(&super::curves::Point) -> Option<f64>| {
        let points = curve.points.iter().filter_map(|point| Some((point.bytes as f64, value(point)?)));
        let (zero, points): (Vec<_>, Vec<_>) = points.partition(|(bytes, _)| *bytes == 0.0);
        Line { name: name.to_owned(), points, at_zero: zero.first().map(|(_, value)| *value) }
    };
    let mut lines = vec![line("margay", &|point| Some(point.margay.value))];
    lines.extend(families.iter().map(|name| {
        line(name, &|point| {
            point.peers.iter().find(|(setting, _)| family(setting) == *name).map(|(_, median)| median.value)
        })
    }));
    Plot {
        title: curve.operation.replace('_', " "),
        x: "bytes".into(),
        y: "Time (us)".into(),
        lines,
        floor: None,
        in_bytes: true,
        groups: None,
    }
}

/// A setting's MPI, without its way.
fn family(name: &str) -> &str {
    name.rsplit_once(' ').map_or(name, |(family, _)| family)
}
