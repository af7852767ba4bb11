//! Plots as SVG: logarithmic axes, one line a transport, and the floor as a thin grey one. Text is SVG text in the reader's
//! sans-serif font.

use std::ops::Range;

use plotters::coord::combinators::{BindKeyPoints, IntoLogRange};
use plotters::prelude::*;

use super::bars;
use super::figures::{Line, Plot};
use crate::legend::{self, Area, Places, Wrong};

/// Pixels of one panel.
const PANEL: (u32, u32) = (560, 400);
/// Pixels of the figure's title and the line below it.
const TITLE: u32 = 60;
/// Most labels on an axis of sizes.
const LABELS: u32 = 8;
/// Room below and above the lines, as a share of the axis.
const HEADROOM: f64 = 0.05;
/// The legend begins where the axis does.
pub const LEGEND: Places = Places { left: 90, in_a_row: 2, apart: 230 };
/// As many as there are transports, told apart by readers who see red and green alike (Okabe and Ito; the last four by Tol).
pub const COLOURS: [RGBColor; 10] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(51, 34, 136),
    RGBColor(136, 34, 85),
    RGBColor(153, 153, 51),
    RGBColor(34, 34, 34),
];
pub const GREY: RGBColor = RGBColor(120, 120, 120);

/// The SVG text of a figure, two plots in a row. The error is the drawing library's, as text.
pub fn figure(title: &str, subtitle: &str, plots: &[Plot]) -> Result<String, String> {
    let columns = plots.len().min(2);
    let rows = plots.len().div_ceil(2);
    let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32 + TITLE);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let draw = || {
            area.fill(&WHITE)?;
            let area = area.titled(title, ("sans-serif", 20))?.titled(subtitle, ("sans-serif", 13))?;
            let panels = area.split_evenly((rows, columns));
            panels.iter().zip(plots).try_for_each(|(panel, plot)| one(panel, plot))?;
            area.present()
        };
        draw().map_err(|error| error.to_string())?;
    }
    Ok(text)
}

/// Draws one panel.
fn one<'a>(area: &Area<'a>, plot: &Plot) -> Result<(), Wrong<'a>> {
    if let Some(groups) = &plot.groups {
        return bars::draw(area, plot, groups);
    }
    let points = || plot.lines.iter().chain(&plot.floor).flat_map(|line| line.points.iter().copied());
    let (x, x_labels) = horizontal(span(points().map(|point| point.0)), plot.in_bytes);
    let y = vertical(span(points().map(|point| point.1)));
    let y_labels = steps(&y);
    let with_colours = || plot.lines.iter().zip(COLOURS.iter().cycle());
    let entries = plot.floor.iter().map(|floor| (named(floor), GREY));
    let entries: Vec<_> =
        entries.chain(with_colours().map(|(line, colour)| (named(line), *colour))).collect();
    let area = area.titled(&plot.title, ("sans-serif", 16))?;
    let area = legend::draw(&area, &entries, LEGEND)?;
    let mut chart =
        ChartBuilder::on(&area).margin(12).x_label_area_size(44).y_label_area_size(64).build_cartesian_2d(
            x.log_scale().base(2.0).with_key_points(x_labels),
            y.log_scale().with_key_points(y_labels),
        )?;
    let x_name = if plot.in_bytes { "Message size (bytes)".into() } else { capital(&plot.x) };
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GREY.mix(0.25))
        .axis_style(GREY)
        .x_desc(x_name)
        .y_desc(&plot.y)
        .x_label_formatter(&|x| if plot.in_bytes { bytes(*x) } else { format!("{x}") })
        .y_label_formatter(&|y| short(*y))
        .label_style(("sans-serif", 12))
        .axis_desc_style(("sans-serif", 14))
        .draw()?;
    if let Some(floor) = &plot.floor {
        let style = GREY.stroke_width(1);
        chart.draw_series(LineSeries::new(floor.points.iter().copied(), style))?;
        // Rings: a line of one point would not be seen, nor a dot below a dot.
        chart.draw_series(floor.points.iter().map(|point| Circle::new(*point, 6, style)))?;
    }
    for (line, colour) in with_colours() {
        let style = colour.stroke_width(2);
        chart.draw_series(LineSeries::new(line.points.iter().copied(), style.filled()).point_size(3))?;
    }
    Ok(())
}

/// A line's name in the legend, with what the axis cannot show.
fn named(line: &Line) -> String {
    match line.at_zero {
        Some(value) => format!("{} (0 bytes: {})", line.name, short(value)),
        None => line.name.clone(),
    }
}

/// From least to greatest; 1 to 1 if there is nothing.
fn span(values: impl Iterator<Item = f64>) -> Range<f64> {
    let ends =
        values.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
    if ends.0 <= ends.1 { ends.0..ends.1 } else { 1.0..1.0 }
}

/// The axis of sizes, between powers of two, or of counts, and its labels.
fn horizontal(span: Range<f64>, in_bytes: bool) -> (Range<f64>, Vec<f64>) {
    let (mut low, mut high) = (span.start.log2().floor() as i32, span.end.log2().ceil() as i32);
    if low == high {
        (low, high) = (low - 1, high + 1);
    }
    let (start, end) = (2f64.powi(low), 2f64.powi(high));
    // Counts are few: each has a label.
    if !in_bytes && end - start <= f64::from(LABELS) {
        let labels = (start.ceil() as u32..=end.floor() as u32).map(f64::from).collect();
        return (start..end, labels);
    }
    let step = (high - low).unsigned_abs().div_ceil(LABELS - 1).max(1);
    (start..end, (low..=high).step_by(step as usize).map(|power| 2f64.powi(power)).collect())
}

/// The axis of values: all of them, and a little room.
fn vertical(span: Range<f64>) -> Range<f64> {
    let (low, high) = (span.start.log10(), span.end.log10());
    let height = (high - low).max(1.0);
    10f64.powf(low - HEADROOM * height)..10f64.powf(low + (1.0 + HEADROOM) * height)
}

/// Labels of an axis of values: decades; with 2 and 5 between them where there are few.
fn steps(range: &Range<f64>) -> Vec<f64> {
    let decades = range.start.log10().floor() as i32..=range.end.log10().ceil() as i32;
    let few = decades.end() - decades.start() <= 4;
    let within: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let all = decades.flat_map(|decade| within.iter().map(move |factor| factor * 10f64.powi(decade)));
    all.filter(|value| range.contains(value)).collect()
}

/// `64`, `4 KiB`, `1 MiB`.
pub fn bytes(value: f64) -> String {
    let units = [("MiB", f64::from(1 << 20)), ("KiB", f64::from(1 << 10))];
    match units.iter().find(|(_, unit)| value >= *unit) {
        Some((name, unit)) => format!("{} {name}", value / unit),
        None => format!("{value}"),
    }
}

/// Three digits that count.
pub fn short(value: f64) -> String {
    let digits = (2 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_text_and_every_label_is_there() {
        let line =
            Line { name: "smart<map".into(), points: vec![(1.0, 0.2), (65536.0, 30.0)], at_zero: Some(0.19) };
        let plot = Plot {
            title: "(a) ping".into(),
            x: "bytes".into(),
            y: "Latency (us)".into(),
            lines: vec![line.clone()],
            floor: Some(Line { name: "floor".into(), ..line }),
            in_bytes: true,
            groups: None,
        };
        let svg = figure("Figure 5", "a node", &[plot.clone(), plot.clone(), plot]).unwrap();
        for word in [
            "<text",
            "Figure 5",
            "a node",
            "(a) ping",
            "Latency (us)",
            "Message size (bytes)",
            "smart&lt;map (0 bytes: 0.19)",
            "32 KiB",
        ] {
            assert!(svg.contains(word), "{word} is not in {svg}");
        }
    }

    #[test]
    fn a_single_point_can_be_drawn() {
        let line = Line { name: "x".into(), points: vec![(2.0, 5.0)], at_zero: None };
        let plot = Plot {
            title: "t".into(),
            x: "ranks".into(),
            y: "y".into(),
            lines: vec![line],
            floor: None,
            in_bytes: false,
            groups: None,
        };
        assert!(figure("f", "", &[plot]).unwrap().contains("Ranks"));
    }

    #[test]
    fn sizes_are_labelled_at_powers_of_two() {
        let (range, labels) = horizontal(1.0..4e6, true);
        assert_eq!((range.start, range.end), (1.0, 4194304.0));
        assert!(
            labels.len() <= LABELS as usize && labels.iter().all(|label| label.log2().fract() == 0.0),
            "{labels:?}"
        );
        assert_eq!(horizontal(2.0..4.0, false).1, [2.0, 3.0, 4.0]);
        assert_eq!([bytes(512.0), bytes(4096.0), bytes(1048576.0)], ["512", "4 KiB", "1 MiB"]);
        assert_eq!([short(0.1934), short(12345.6), short(5.0), short(30.04)], ["0.193", "12346", "5", "30"]);
    }
}
