//! The legend of a plot: a strip above it, so that it can hide nothing of what is drawn.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Height of a row, in pixels.
const ROW: i32 = 20;
/// Radius of a dot, distance of the text from its middle, size of the text.
const DOT: i32 = 5;
const TEXT_AT: i32 = 12;
const TEXT: i32 = 13;
const BLACK: RGBColor = RGBColor(20, 20, 20);

/// An area of a plot that is drawn as SVG.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What can go wrong with an [`Area`].
pub type Wrong<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

/// Where entries are: the first one's distance from the left edge, how many there are in a row, and how far apart; pixels.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    pub left: i32,
    pub in_a_row: usize,
    pub apart: i32,
}

/// Draws the entries at the top of `area`; gives what is left below.
pub fn draw<'a>(
    area: &Area<'a>,
    entries: &[(String, RGBColor)],
    places: Places,
) -> Result<Area<'a>, Wrong<'a>> {
    let rows = entries.len().div_ceil(places.in_a_row) as i32;
    let (strip, rest) = area.split_vertically(rows * ROW);
    for (number, (name, colour)) in entries.iter().enumerate() {
        let (row, column) = ((number / places.in_a_row) as i32, (number % places.in_a_row) as i32);
        let (x, y) = (places.left + column * places.apart, row * ROW + ROW / 2);
        strip.draw(&Circle::new((x, y), DOT, colour.filled()))?;
        let style = ("sans-serif", TEXT).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        strip.draw(&Text::new(name.as_str(), (x + TEXT_AT, y), style))?;
    }
    Ok(rest)
}
