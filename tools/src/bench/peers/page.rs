//! The results as a page that needs no network: a table, and a bar for each library in each row.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::peer::Library;
use super::{Line, figure};

/// Pixels of a full bar, of a bar's height, and of the labels beside it.
const BAR: f64 = 420.0;
const HEIGHT: usize = 18;
const LABEL: usize = 150;

const STYLE: &str = "body{font:15px sans-serif;margin:1.5em;max-width:70em}\
    table{border-collapse:collapse;display:block;overflow-x:auto}\
    td,th{padding:.2em .7em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}\
    td:first-child,th:first-child{text-align:left}.slow{color:#b00020;font-weight:bold}\
    svg{display:block;max-width:100%;height:auto;margin:.2em 0 1.2em}";

/// The page's text.
pub fn page(
    libraries: &[Library],
    absent: &[String],
    lines: &[Line],
    limits: &BTreeMap<String, f64>,
) -> String {
    let mut text = String::from("<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\">");
    text.push_str(
        "<meta name=\"viewport\" content=\"width=device-width\"><title>Margay beside its peers</title>",
    );
    let _ = write!(text, "<style>{STYLE}</style><h1>Margay beside its peers</h1>");
    text.push_str(
        "<p>Two ranks on two pinned cores, medians of interleaved rounds with least and greatest. ",
    );
    text.push_str(
        "The ratio is Margay to the best peer: above 1 Margay is faster.</p><table><tr><th>row<th>unit",
    );
    for library in libraries {
        let _ = write!(text, "<th>{}", escaped(library.name));
    }
    text.push_str("<th>ratio<th>aim");
    for line in lines {
        let ratio = line.ratio();
        let class = if ratio.is_none_or(|(ratio, _)| ratio < 1.0) { " class=slow" } else { "" };
        let _ = write!(text, "<tr{class}><td>{}<td>{}", escaped(&line.row.title()), line.row.unit());
        for cell in &line.cells {
            match cell.summary() {
                Some((median, least, most)) => {
                    let _ = write!(text, "<td>{} ({}–{})", figure(median), figure(least), figure(most));
                }
                None => {
                    let _ = write!(text, "<td>{}", escaped(cell.trouble.as_deref().unwrap_or("not run")));
                }
            }
        }
        let shown = ratio.map_or("–".into(), |(ratio, _)| format!("{ratio:.2}"));
        let _ = write!(text, "<td>{shown}<td>{:.2}", line.row.aim);
    }
    text.push_str("</table>");
    for why in absent {
        let _ = write!(text, "<p>Not here: {}</p>", escaped(why));
    }
    text.push_str("<h2>Limits of the machine in this run</h2><ul>");
    for (name, nanoseconds) in limits {
        let _ = write!(text, "<li>{}: {nanoseconds:.1} ns", escaped(name));
    }
    text.push_str("</ul><h2>Rows</h2>");
    for line in lines {
        let better = if line.row.is_rate { "longer is better" } else { "shorter is better" };
        let _ = write!(text, "<h3>{}, {} ({better})</h3>", escaped(&line.row.title()), line.row.unit());
        bars(&mut text, libraries, line);
    }
    text
}

/// A row's bars, as SVG.
fn bars(text: &mut String, libraries: &[Library], line: &Line) {
    let most = line.cells.iter().filter_map(|cell| cell.median()).fold(0.0, f64::max);
    let (width, height) = (LABEL + BAR as usize + 90, HEIGHT * libraries.len() + 4);
    let _ = write!(
        text,
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" font-family=\"sans-serif\" font-size=\"13\">"
    );
    for (i, (library, cell)) in libraries.iter().zip(&line.cells).enumerate() {
        let (y, colour) = (i * HEIGHT + 2, if i == 0 { "#0072b2" } else { "#999" });
        let _ = write!(text, "<text x=\"0\" y=\"{}\">{}</text>", y + 13, escaped(library.name));
        let Some(median) = cell.median().filter(|_| most > 0.0) else { continue };
        let length = BAR * median / most;
        let _ = write!(
            text,
            "<rect x=\"{LABEL}\" y=\"{y}\" width=\"{length:.1}\" height=\"{}\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"{}\">{}</text>",
            HEIGHT - 4,
            LABEL as f64 + length + 6.0,
            y + 13,
            figure(median)
        );
    }
    text.push_str("</svg>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
