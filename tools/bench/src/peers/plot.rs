//! The overview as SVG: each row a line of dots, one for each setting, by how many times Margay's figure it is; on a logarithmic axis, Margay
//! at 1, peers that it is ahead of to the right. Text is SVG text in the reader's sans-serif font.

use plotters::coord::combinators::IntoLogRange;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::legend::{self, Places};
use crate::peers::samples::State;
use crate::peers::table::Line;

/// Pixels of a row, of everything above and below, and of the whole width.
const ROW: u32 = 26;
const AROUND: u32 = 140;
const WIDTH: u32 = 900;
/// Room for the rows' names.
const NAMES: u32 = 300;
/// The legend is above the dots, not the names.
const LEGEND: Places = Places { left: NAMES as i32 + 10, in_a_row: 3, apart: 190 };
/// Colours that are told apart by readers who see red and green alike (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 114, 178),
];
const BLACK: RGBColor = RGBColor(20, 20, 20);
const GREY: RGBColor = RGBColor(120, 120, 120);

/// The SVG text for one state of the machine. The error is the drawing library's, as text.
pub fn overview(state: State, lines: &[Line]) -> Result<String, String> {
    let mut families: Vec<&str> =
        lines.iter().flat_map(|line| &line.peers).map(|(name, _)| family(name)).collect();
    families.sort_unstable();
    families.dedup();
    let ratio = |line: &Line, value: f64| line.row.ratio(line.margay.value, value);
    let all = || lines.iter().flat_map(|line| line.peers.iter().map(move |(_, it)| ratio(line, it.value)));
    let (low, high) = all().fold((0.8, 2.0), |(low, high): (f64, f64), it| (low.min(it), high.max(it)));
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, ROW * lines.len() as u32 + AROUND))
            .into_drawing_area();
        let draw = || {
            area.fill(&WHITE)?;
            let title = format!("Times Margay's figure, {} (right of 1: Margay is ahead)", state.title());
            let area = area.titled(&title, ("sans-serif", 17))?;
            let entries: Vec<(String, RGBColor)> = families
                .iter()
                .zip(COLOURS.iter().cycle())
                .map(|(name, colour)| ((*name).to_owned(), *colour))
                .collect();
            let area = legend::draw(&area, &entries, LEGEND)?;
            let (left, top) = area.get_base_pixel();
            let last = lines.len() as f64;
            let mut chart = ChartBuilder::on(&area)
                .margin(10)
                .x_label_area_size(40)
                .y_label_area_size(NAMES)
                .build_cartesian_2d((low * 0.9..high * 1.1).log_scale(), 0.0..last)?;
            chart
                .configure_mesh()
                .disable_y_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(GREY.mix(0.25))
                .axis_style(GREY)
                .y_labels(0)
                .x_label_formatter(&|value| format!("{value}"))
                .label_style(("sans-serif", 12))
                .draw()?;
            chart.draw_series(LineSeries::new([(1.0, 0.0), (1.0, last)], BLACK.stroke_width(2)))?;
            let plot = chart.plotting_area();
            let edge = plot.map_coordinate(&(low * 0.9, 0.0)).0;
            for (number, line) in lines.iter().enumerate() {
                let height = last - number as f64 - 0.5;
                let (_, y) = plot.map_coordinate(&(1.0, height));
                let style =
                    ("sans-serif", 13).into_font().color(&BLACK).pos(Pos::new(HPos::Right, VPos::Center));
                area.draw(&Text::new(line.row.what, (edge - 10 - left, y - top), style))?;
            }
            for (family_name, colour) in families.iter().zip(COLOURS.iter().cycle()) {
                let points: Vec<(f64, f64, bool)> = lines
                    .iter()
                    .enumerate()
                    .flat_map(|(number, line)| {
                        let height = last - number as f64 - 0.5;
                        let of = line.peers.iter().filter(|(name, _)| family(name) == *family_name);
                        of.map(move |(name, it)| (ratio(line, it.value), height, name.ends_with("best")))
                    })
                    .collect();
                let dots = points.iter().map(|(x, y, best)| {
                    let style = if *best { colour.filled() } else { colour.stroke_width(2) };
                    Circle::new((*x, *y), 5, style)
                });
                chart.draw_series(dots)?;
            }
            area.present()
        };
        draw().map_err(|error: DrawingAreaErrorKind<_>| error.to_string())?;
    }
    Ok(text)
}

/// A setting's MPI, without its way.
fn family(name: &str) -> &str {
    name.rsplit_once(' ').map_or(name, |(family, _)| family)
}
