//! A screen dump read back to text, with the font that the kernel draws with (`noto-sans-mono-bitmap`, regular, 16
//! pixels high).
//!
//! Each cell of the screen is compared with every printable ASCII character, by which pixels are rather ink than paper.
//! A cell that is like none of them reads as `?`.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

use lwk::screen::Picture;

const WEIGHT: FontWeight = FontWeight::Regular;
const HEIGHT: RasterHeight = RasterHeight::Size16;
/// A pixel this bright is ink, in a font that is drawn light on dark. Both are sums of three bytes and of one.
const INK: u32 = 3 * 0x80;
const RASTER_INK: u8 = 0x80;

/// The lines of text on the screen, from the top, without spaces at their ends.
pub fn read(picture: &Picture) -> Vec<String> {
    let (width, height) = (get_raster_width(WEIGHT, HEIGHT), HEIGHT.val());
    let font: Vec<(char, Vec<bool>)> = (' '..='~').filter_map(|c| Some((c, glyph(c)?))).collect();
    let (columns, rows) = (picture.width as usize / width, picture.height as usize / height);
    let line = |row: usize| {
        let cells = (0..columns).map(|column| cell(picture, column * width, row * height, width, height));
        let text: String = cells
            .map(|cell| {
                font.iter().find(|(_, glyph)| *glyph == cell).map_or('?', |(character, _)| *character)
            })
            .collect();
        text.trim_end().to_owned()
    };
    (0..rows).map(line).collect()
}

fn glyph(character: char) -> Option<Vec<bool>> {
    let raster = get_raster(character, WEIGHT, HEIGHT)?;
    Some(raster.pixels().iter().map(|intensity| *intensity >= RASTER_INK).collect())
}

fn cell(picture: &Picture, left: usize, top: usize, width: usize, height: usize) -> Vec<bool> {
    let ink = |x: usize, y: usize| {
        let at = (y * picture.width as usize + x) * 3;
        picture.rgb[at..at + 3].iter().map(|byte| u32::from(*byte)).sum::<u32>() >= INK
    };
    (top..top + height)
        .flat_map(|y| (left..left + width).map(move |x| (x, y)))
        .map(|(x, y)| ink(x, y))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_text_is_read_back() {
        let (width, height) = (get_raster_width(WEIGHT, HEIGHT), HEIGHT.val());
        let text = "hello from rank 0 of 4: {core} #1!";
        let columns = text.len() + 2;
        let mut picture =
            Picture { width: (columns * width + 3) as u32, height: (2 * height + 5) as u32, rgb: Vec::new() };
        picture.rgb = vec![0; (picture.width * picture.height * 3) as usize];
        for (column, character) in text.chars().enumerate() {
            let raster = get_raster(character, WEIGHT, HEIGHT).unwrap();
            for (y, row) in raster.rows().enumerate() {
                for (x, intensity) in row.iter().enumerate() {
                    let at = ((height + y) * picture.width as usize + column * width + x) * 3;
                    picture.rgb[at..at + 3].fill(*intensity);
                }
            }
        }
        assert_eq!(read(&picture), ["", text]);
    }

    #[test]
    fn every_character_looks_different() {
        let glyphs: Vec<_> = (' '..='~').filter_map(glyph).collect();
        assert_eq!(glyphs.len(), 95);
        for (at, one) in glyphs.iter().enumerate() {
            assert!(!glyphs[..at].contains(one), "character {at}");
        }
    }
}
