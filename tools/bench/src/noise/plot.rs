//! The noise as pictures: detours by length, and detours, work and time as they came. Text is SVG text in the reader's sans-serif font.

use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;

use super::samples::{self, Core};
use crate::legend::{self, Area, Places, Wrong};

/// Pixels of one panel, and of the title.
const PANEL: (u32, u32) = (620, 330);
const TITLE: u32 = 44;
const LEGEND: Places = Places { left: 80, in_a_row: 3, apart: 190 };
/// Colours that are told apart by readers who see red and green alike (Okabe and Ito), for the node and what it is beside.
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
pub const RED: RGBColor = RGBColor(213, 94, 0);
pub const GREY: RGBColor = RGBColor(120, 120, 120);
const DOT: u32 = 2;
/// A logarithmic axis goes on by this factor. One of values that differ by less than the other factor would have no labels, so it is linear.
const HEADROOM: f64 = 1.5;
const NARROW: f64 = 10.0;

/// One system's part of the picture.
pub struct Shown<'s> {
    pub name: &'s str,
    pub colour: RGBColor,
    pub cores: &'s [Core],
    pub hz: f64,
}

/// Names, points, and the axes' names of a panel.
struct Panel {
    title: &'static str,
    x: &'static str,
    y: &'static str,
    /// The points of each system; x and y above 0 where the axis is logarithmic.
    points: Vec<Vec<(f64, f64)>>,
    x_is_logarithmic: bool,
    /// Points of one system are joined.
    joined: bool,
}

/// The SVG text. The error is the drawing library's, as text.
pub fn figure(title: &str, systems: &[Shown<'_>]) -> Result<String, String> {
    let panels = panels(systems);
    let size = (PANEL.0 * 2, PANEL.1 * 2 + TITLE);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let draw = || {
            area.fill(&WHITE)?;
            let area = area.titled(title, ("sans-serif", 20))?;
            area.split_evenly((2, 2))
                .iter()
                .zip(&panels)
                .try_for_each(|(area, it)| one(area, it, systems))?;
            area.present()
        };
        draw().map_err(|error| error.to_string())?;
    }
    Ok(text)
}

fn panels(systems: &[Shown<'_>]) -> [Panel; 4] {
    let of = |points: &dyn Fn(&Shown<'_>) -> Vec<(f64, f64)>| systems.iter().map(points).collect();
    let microseconds = |shown: &Shown<'_>, ticks: u64| (ticks as f64 / shown.hz * 1e6).max(1e-3);
    let first = |shown: &Shown<'_>| shown.cores.first().cloned().unwrap_or_default();
    let numbered = |values: Vec<f64>| values.into_iter().enumerate().map(|(i, y)| (i as f64, y)).collect();
    [
        Panel {
            title: "Detours by length, all cores",
            x: "Length (ns)",
            y: "Detours a second and core",
            points: of(&|shown| samples::histogram(shown.cores, shown.hz)),
            x_is_logarithmic: true,
            joined: true,
        },
        Panel {
            title: "Detours as they came, all cores",
            x: "Time (s)",
            y: "Length (us)",
            points: of(&|shown| {
                let all = shown.cores.iter().flat_map(|core| &core.noted);
                all.map(|(start, length)| (*start as f64 / shown.hz, microseconds(shown, *length))).collect()
            }),
            x_is_logarithmic: false,
            joined: false,
        },
        Panel {
            title: "Fixed work, core 0",
            x: "Sample",
            y: "Time (us)",
            points: of(&|shown| {
                numbered(first(shown).work.iter().map(|ticks| microseconds(shown, *ticks)).collect())
            }),
            x_is_logarithmic: false,
            joined: false,
        },
        Panel {
            title: "Fixed time, core 0",
            x: "Sample",
            y: "Work done (units)",
            points: of(&|shown| {
                numbered(first(shown).time.iter().map(|done| (*done).max(1) as f64).collect())
            }),
            x_is_logarithmic: false,
            joined: false,
        },
    ]
}

fn one<'a>(area: &Area<'a>, panel: &Panel, systems: &[Shown<'_>]) -> Result<(), Wrong<'a>> {
    let entries: Vec<_> = systems.iter().map(|shown| (shown.name.into(), shown.colour)).collect();
    let area = area.titled(panel.title, ("sans-serif", 16))?;
    let area = legend::draw(&area, &entries, LEGEND)?;
    let all = || panel.points.iter().flatten();
    let (left, right) = span(all().map(|point| point.0));
    let (low, high) = span(all().map(|point| point.1));
    let mut builder = ChartBuilder::on(&area);
    builder.margin(12).x_label_area_size(44).y_label_area_size(64);
    let narrow = high < low * NARROW;
    let (y, flat) = (low / HEADROOM..high * HEADROOM, 0.0..high * HEADROOM);
    match (panel.x_is_logarithmic, narrow) {
        (true, _) => draw(
            &mut builder.build_cartesian_2d((left..right * 2.0).log_scale(), y.log_scale())?,
            panel,
            systems,
        ),
        (false, true) => draw(&mut builder.build_cartesian_2d(left..right, flat)?, panel, systems),
        (false, false) => draw(&mut builder.build_cartesian_2d(left..right, y.log_scale())?, panel, systems),
    }
}

fn draw<'a, X, Y>(
    chart: &mut ChartContext<'_, SVGBackend<'a>, Cartesian2d<X, Y>>,
    panel: &Panel,
    systems: &[Shown<'_>],
) -> Result<(), Wrong<'a>>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    // Axes step by what is not exact in binary.
    let label = |value: &f64| format!("{}", (value * 1e3).round() / 1e3);
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GREY.mix(0.25))
        .axis_style(GREY)
        .x_desc(panel.x)
        .y_desc(panel.y)
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .label_style(("sans-serif", 12))
        .axis_desc_style(("sans-serif", 14))
        .draw()?;
    // The first system last, so that it is seen.
    for (points, Shown { colour, .. }) in panel.points.iter().zip(systems).rev() {
        if panel.joined {
            let line = LineSeries::new(points.iter().copied(), colour.stroke_width(2).filled());
            chart.draw_series(line.point_size(3))?;
        } else {
            chart
                .draw_series(points.iter().map(|point| Circle::new(*point, DOT, colour.mix(0.7).filled())))?;
        }
    }
    Ok(())
}

/// From least to greatest, never empty.
fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let ends = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if ends.0 < ends.1 {
        ends
    } else if ends.0 == ends.1 {
        (ends.0, ends.0 + 1.0)
    } else {
        (1.0, 2.0)
    }
}
