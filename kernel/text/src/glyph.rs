//! The font.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

const HEIGHT: RasterHeight = RasterHeight::Size16;
const WEIGHT: FontWeight = FontWeight::Regular;
/// Pixels of a character.
pub const CELL_WIDTH: usize = get_raster_width(WEIGHT, HEIGHT);
pub const CELL_HEIGHT: usize = HEIGHT.val();

/// Calls with each line of a character's pixels from the top, 0 for paper to 255 for ink; one that the font has not is blank.
pub fn for_each_line(character: u8, mut line: impl FnMut(usize, &[u8])) {
    let mut glyph = get_raster(char::from(character), WEIGHT, HEIGHT);
    let mut rows = glyph.as_mut().map(|glyph| glyph.rows());
    for number in 0..CELL_HEIGHT {
        line(number, rows.as_mut().and_then(Iterator::next).unwrap_or(&[]));
    }
}
