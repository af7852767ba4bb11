//! The page: tables and plots in one HTML file that needs no network.

use std::fmt::Write;

use crate::peers::plot;
use crate::peers::table::{Comparison, Line, NOTHING, short};
use lwk::failure::{Doing, Outcome};

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Margay beside other MPIs</title>
<style>
body { font: 15px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 70rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.wide { overflow-x: auto; margin-bottom: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
small { color: #666; }
tr.behind { color: #b00020; font-weight: 600; }
td.met { color: #00693e; } td.missed { color: #8a5a00; }
svg { width: 100%; height: auto; min-width: 40rem; max-width: 56rem; display: block; }
td small { display: inline-block; min-width: 6.5rem; text-align: left; font-weight: 400; }
@media (max-width: 60rem) {
  body { font-size: 13px; padding: .6rem; }
  th, td { padding: .25rem .35rem; }
  .rows td:first-child { white-space: normal; min-width: 6rem; }
  td small { display: block; min-width: 0; text-align: right; white-space: normal; }
}
@media (max-width: 40rem) {
  .rows th:nth-child(n+5), .rows td:nth-child(n+5) { display: none; }
}
</style>
</head>
<body>
"#;

/// The page's text, plots in it. Errors: a plot cannot be drawn.
pub fn page(comparison: &Comparison) -> Outcome<String> {
    let mut text = String::from(HEAD);
    text.push_str("<h1>Margay beside other MPIs</h1>\n<p>Two ranks on two cores of one machine, as one node or as two, all in one run, taking turns. Medians, with least and most \
        in small print. <em>Ratio</em>: how many times better than the best peer in its best setting. <em>Limit</em>: the part of the physical limit, measured in the \
        same run, that is reached. Rows in red are slower than a peer by more than the spread of the rounds: the middle halves of both's rounds do not overlap. In the plot, a full dot is a peer's best setting, a ring its default.</p>\n");
    for (state, lines) in &comparison.states {
        let what = || "draw the comparison".to_owned();
        let svg = plot::overview(*state, lines).doing(what)?;
        // Fluid: the box says the size, and the style the width.
        let svg = fluid(&svg);
        let _ = write!(
            text,
            "<h2>{}</h2>\n<div class=\"wide\">{svg}</div>\n<div class=\"wide\"><table class=\"rows\">\n",
            capitalised(state.title())
        );
        text.push_str("<tr><th>what</th><th>Margay</th><th>best peer</th><th>ratio</th><th>target</th><th>limit</th><th></th></tr>\n");
        lines.iter().for_each(|line| row(&mut text, line));
        text.push_str("</table></div>\n");
        everything(&mut text, lines);
    }
    if comparison.states.is_empty() {
        let _ = writeln!(text, "<p>There are no figures: {NOTHING}.</p>");
    }
    let _ = writeln!(
        text,
        "<p>Figures dropped because the state of the machine changed under them: {} of {}.</p>",
        comparison.dropped, comparison.taken
    );
    let absent = comparison.absent.iter().map(|(name, why)| (name, format!("takes no part: {why}")));
    let failed = comparison.failed.iter().map(|(name, why)| (name, why.clone()));
    for (name, why) in absent.chain(failed) {
        let _ = writeln!(text, "<p><strong>{}</strong>: {}</p>", escaped(name), escaped(&why));
    }
    text.push_str("</body>\n</html>\n");
    Ok(text)
}

/// With a capital first letter.
pub fn capitalised(words: &str) -> String {
    let (first, rest) = words.split_at(1);
    first.to_uppercase() + rest
}

fn row(text: &mut String, line: &Line) {
    let number = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.2}"));
    let (value, name) = match line.peers.first() {
        Some((name, best)) => (format!("{} {}", short(best.value), line.row.unit), name.as_str()),
        None => ("–".into(), ""),
    };
    let _ = writeln!(
        text,
        "<tr{}><td>{}</td><td>{} {} <small>{}–{}</small></td><td>{value} <small>{}</small></td><td>{}</td><td>{}</td><td>{}</td><td class=\"{}\">{}</td></tr>",
        if line.is_behind() { " class=\"behind\"" } else { "" },
        line.row.what,
        short(line.margay.value),
        line.row.unit,
        short(line.margay.least),
        short(line.margay.most),
        escaped(name),
        number(line.ratio()),
        number(line.target),
        number(line.of_floor()),
        line.verdict().to_lowercase(),
        line.verdict(),
    );
}

/// All settings' medians.
fn everything(text: &mut String, lines: &[Line]) {
    let mut names: Vec<&str> =
        lines.iter().flat_map(|line| line.peers.iter().map(|(name, _)| name.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    text.push_str("<details><summary>Every setting</summary><div class=\"wide\"><table>\n<tr><th>what</th><th>margay</th>");
    names.iter().for_each(|name| {
        let _ = write!(text, "<th>{}</th>", escaped(name));
    });
    text.push_str("<th></th></tr>\n");
    for line in lines {
        let _ = write!(text, "<tr><td>{}</td><td>{}</td>", line.row.what, short(line.margay.value));
        for name in &names {
            let of = line.peers.iter().find(|(its, _)| its == name);
            let _ = write!(text, "<td>{}</td>", of.map_or("–".into(), |(_, it)| short(it.value)));
        }
        let _ = writeln!(text, "<td>{}</td></tr>", line.row.unit);
    }
    text.push_str("</table></div></details>\n");
}

/// Takes the fixed size away from an SVG that has a view box.
pub fn fluid(svg: &str) -> String {
    let Some(start) = svg.find("<svg") else { return svg.to_owned() };
    let Some(end) = svg[start..].find('>') else { return svg.to_owned() };
    let tag = &svg[start..start + end];
    let kept: Vec<&str> =
        tag.split(' ').filter(|word| !word.starts_with("width=") && !word.starts_with("height=")).collect();
    format!("{}{}", kept.join(" "), &svg[start + end..])
}

pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_keeps_its_box_and_loses_its_size() {
        let svg = r#"<?xml?><svg width="9" height="8" viewBox="0 0 9 8" xmlns="x"><rect width="1"/></svg>"#;
        assert_eq!(fluid(svg), r#"<svg viewBox="0 0 9 8" xmlns="x"><rect width="1"/></svg>"#);
    }

    #[test]
    fn messages_of_peers_cannot_be_markup() {
        assert_eq!(escaped("<b> & co"), "&lt;b&gt; &amp; co");
    }
}
