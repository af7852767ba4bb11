//! Bars in place of lines, for what is no curve: the parts of a whole, and programs beside each other. The axes are linear.

use plotters::coord::combinators::BindKeyPoints;
use plotters::prelude::*;

use super::figures::{Form, Line, Panel, Plot};
use super::plot::{COLOURS, GREY, LEGEND, short};
use super::results::Measurement;
use crate::legend::{self, Area, Wrong};

/// The share of a group's width that its bars have together.
const FILLED: f64 = 0.8;
/// Room above the tallest bar, as a factor.
const HEADROOM: f64 = 1.08;

/// Steps of the horizontal axis from a group to the next: it is one of whole numbers, as labels at given points want it.
const UNIT: i32 = 1000;

/// What the groups of bars are.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// In their order.
    pub names: Vec<String>,
    pub stacked: bool,
}

/// The bars of measurements of one test, of 0 ranks where they are of several: a group for each thing that it was about, a line's points for the bars of a transport. None if there are none.
pub fn plot(panel: &Panel, own: &[&Measurement]) -> Option<Plot> {
    let first = own.first()?;
    let mut names: Vec<String> = Vec::new();
    let mut lines: Vec<Line> = Vec::new();
    for one in own {
        let Some(value) = panel.form.height(own, one) else { continue };
        let group = names.iter().position(|name| *name == one.of).unwrap_or_else(|| {
            names.push(one.of.clone());
            names.len() - 1
        });
        let line = lines.iter().position(|line| line.name == one.transport).unwrap_or_else(|| {
            lines.push(Line::named(&one.transport));
            lines.len() - 1
        });
        lines[line].points.push((group as f64 + 1.0, value));
    }
    (!lines.is_empty()).then(|| Plot {
        title: match first.ranks {
            0 => format!("({}) {}", panel.letter, panel.title),
            ranks => format!("({}) {}, {ranks} ranks", panel.letter, panel.title),
        },
        x: first.key.clone(),
        y: panel.form.axis(panel.quantity, &first.unit),
        lines,
        floor: None,
        in_bytes: false,
        groups: Some(Groups { names, stacked: panel.form == Form::Stacked }),
    })
}

/// Where bars are: from left to right and from below to above, and which line's each is.
fn rectangles(plot: &Plot, groups: &Groups) -> Vec<(usize, [(f64, f64); 2])> {
    let width = FILLED / if groups.stacked { 1.0 } else { plot.lines.len() as f64 };
    let mut below = vec![0.0; groups.names.len() + 1];
    let mut all = Vec::new();
    for (number, line) in plot.lines.iter().enumerate() {
        for (group, height) in &line.points {
            let beside = if groups.stacked { 0.0 } else { number as f64 * width };
            let left = group - FILLED / 2.0 + beside;
            let bottom = if groups.stacked { below[*group as usize] } else { 0.0 };
            below[*group as usize] += height;
            all.push((number, [(left, bottom), (left + width, bottom + height)]));
        }
    }
    all
}

/// A place on the axis, the groups being at 1, 2, ….
fn on_axis(place: f64) -> i32 {
    (place * f64::from(UNIT)).round() as i32
}

/// Draws one panel of bars.
pub fn draw<'a>(area: &Area<'a>, plot: &Plot, groups: &Groups) -> Result<(), Wrong<'a>> {
    let with_colours = || plot.lines.iter().zip(COLOURS.iter().cycle());
    let entries: Vec<_> = with_colours().map(|(line, colour)| (line.name.clone(), *colour)).collect();
    let area = area.titled(&plot.title, ("sans-serif", 16))?;
    let area = legend::draw(&area, &entries, LEGEND)?;
    let bars = rectangles(plot, groups);
    let highest = bars.iter().fold(0.0, |highest: f64, (_, [_, (_, top)])| highest.max(*top));
    let places: Vec<i32> = (1..=groups.names.len()).map(|place| on_axis(place as f64)).collect();
    let across = on_axis(0.5)..on_axis(groups.names.len() as f64 + 0.5);
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(across.with_key_points(places), 0.0..highest.max(f64::MIN_POSITIVE) * HEADROOM)?;
    let name = |place: &i32| groups.names.get((place / UNIT - 1) as usize).cloned().unwrap_or_default();
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GREY.mix(0.25))
        .axis_style(GREY)
        .x_desc(&plot.x)
        .y_desc(&plot.y)
        .x_label_formatter(&name)
        .y_label_formatter(&|y| short(*y))
        .label_style(("sans-serif", 12))
        .axis_desc_style(("sans-serif", 14))
        .draw()?;
    let colour = |number: usize| COLOURS[number % COLOURS.len()].filled();
    chart.draw_series(bars.into_iter().map(|(number, [(left, bottom), (right, top)])| {
        Rectangle::new([(on_axis(left), bottom), (on_axis(right), top)], colour(number))
    }))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::figures::panel;
    use crate::node::plot::figure;

    fn one(transport: &str, of: &str, value: f64) -> Measurement {
        Measurement {
            program: "mpi-bench".into(),
            test: "time".into(),
            transport: transport.into(),
            ranks: 2,
            key: "program".into(),
            of: of.into(),
            value,
            unit: "s".into(),
            floor: None,
            ratio: None,
        }
    }

    #[test]
    fn bars_stand_beside_each_other_as_multiples_of_one() {
        let measured = [
            one("a", "is", 2.0),
            one("b", "is", 3.0),
            one("b", "cg", 1.0),
            one("a", "md", 4.0),
            one("b", "md", 1.0),
        ];
        let panel = Panel { form: Form::BarsOver("a"), ..panel('a', "Programs", &["time"], "Time") };
        let plot = panel.plot(&measured).unwrap();
        let groups = plot.groups.clone().unwrap();
        // Of `cg` nobody knows what it is a multiple of.
        assert_eq!((groups.names.as_slice(), groups.stacked), (&["is".into(), "md".into()][..], false));
        assert_eq!(plot.lines[1].points, [(1.0, 1.5), (2.0, 0.25)]);
        assert_eq!(plot.y, "Time (of a's)");
        let bars = rectangles(&plot, &groups);
        let (_, [(left, bottom), (right, top)]) = bars[2];
        assert!((left - 1.0).abs() < 1e-9 && (right - 1.4).abs() < 1e-9 && bottom == 0.0 && top == 1.5);
        let svg = figure("Figure", "a node", &[plot]).unwrap();
        assert!(["is", "md", "Programs"].iter().all(|word| svg.contains(word)), "{svg}");
    }

    #[test]
    fn parts_are_stacked() {
        let measured = [one("trap", "4 KiB", 60.0), one("copy", "4 KiB", 40.0), one("trap", "1 MiB", 1.0)];
        let panel = Panel { form: Form::Stacked, ..panel('a', "Parts", &["time"], "Share") };
        let plot = panel.plot(&measured).unwrap();
        let bars = rectangles(&plot, plot.groups.as_ref().unwrap());
        let copy = bars.iter().find(|(line, _)| *line == 1).unwrap().1;
        assert_eq!((copy[0].1, copy[1].1, plot.y.as_str()), (60.0, 100.0, "Share (s)"));
    }
}
