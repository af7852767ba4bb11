//! A square of values as a picture of characters: each value's shade by its logarithm between the least and the most.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

/// From cool to hot, for whoever sees no colours.
const SHADES: [char; 10] = ['.', ':', '-', '=', '+', 'o', 'x', '*', '%', '@'];
/// The same from green to red: numbers of the 256 colours of terminals (ECMA-48, SGR 48;5).
const COLOURS: [u8; SHADES.len()] = [46, 82, 118, 154, 190, 226, 220, 214, 208, 196];
/// Most cells in a row of the picture: it fits on the narrowest screen.
const CELLS_MAX: usize = 40;

/// The picture of `size` rows of `size` values; `None` where there is none. Larger ones are drawn with the mean of several values in a cell.
pub struct Picture {
    /// Values in a row and in a column of a cell.
    pub group: usize,
    least: f64,
    most: f64,
    cells: Vec<Vec<Option<f64>>>,
}

impl Picture {
    pub fn new(size: usize, value: impl Fn(usize, usize) -> Option<f64>) -> Picture {
        let group = size.div_ceil(CELLS_MAX).max(1);
        let range = |cell: usize| cell * group..((cell + 1) * group).min(size);
        let mean = |row: usize, column: usize| {
            let all = range(row).flat_map(|row| range(column).map(move |column| (row, column)));
            let values = all.filter_map(|(row, column)| value(row, column));
            let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
            (count > 0).then(|| sum / f64::from(count))
        };
        let side = size.div_ceil(group);
        let cells: Vec<Vec<_>> =
            (0..side).map(|row| (0..side).map(|column| mean(row, column)).collect()).collect();
        let known = || cells.iter().flatten().flatten().copied();
        let (least, most) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
        Picture { group, least, most, cells }
    }

    /// The shade of a value, from 0.
    fn shade(&self, value: f64) -> usize {
        let part = |value: f64| logarithm(value.max(1e-3) / self.least.max(1e-3));
        let whole = part(self.most);
        if whole <= 0.0 {
            return 0;
        }
        ((part(value) / whole * SHADES.len() as f64) as usize).min(SHADES.len() - 1)
    }

    /// The rows, each two characters for a cell; with colours if wanted.
    pub fn rows(&self, coloured: bool) -> impl Iterator<Item = String> {
        self.cells.iter().map(move |row| {
            let mut text = String::new();
            for cell in row {
                match cell.map(|value| self.shade(value)) {
                    None => text.push_str("  "),
                    Some(shade) => push(&mut text, shade, coloured),
                }
            }
            text
        })
    }

    /// Each shade and the least value that it stands for.
    pub fn legend(&self, coloured: bool) -> String {
        let mut text = String::new();
        if self.is_empty() {
            return text;
        }
        let step = logarithm(self.most.max(1e-3) / self.least.max(1e-3)) / SHADES.len() as f64;
        for shade in 0..SHADES.len() {
            push(&mut text, shade, coloured);
            let from = self.least.max(1e-3) * power(step * shade as f64);
            // A string takes all.
            let _ = write!(text, " {from:.0}  ");
        }
        text
    }

    /// Whether there is any value.
    pub fn is_empty(&self) -> bool {
        self.most <= 0.0
    }
}

fn push(text: &mut String, shade: usize, coloured: bool) {
    let (character, colour) = (SHADES[shade], COLOURS[shade]);
    // A string takes all.
    let _ = if coloured {
        write!(text, "\x1b[48;5;{colour}m{character}{character}\x1b[0m")
    } else {
        write!(text, "{character}{character}")
    };
}

/// The logarithm to the base 2, straight between powers: there is no mathematical library here, and a shade needs no more.
fn logarithm(value: f64) -> f64 {
    let (mut value, mut whole) = (value, 0.0);
    while value >= 2.0 {
        (value, whole) = (value / 2.0, whole + 1.0);
    }
    while value < 1.0 {
        (value, whole) = (value * 2.0, whole - 1.0);
    }
    whole + value - 1.0
}

/// Undoes [`logarithm`], for what is not negative.
fn power(logarithm: f64) -> f64 {
    let whole = logarithm as u32;
    (0..whole).fold(1.0, |power, _| power * 2.0) * (1.0 + logarithm - f64::from(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_pairs_are_cool_and_far_pairs_hot() {
        // Two packages of two cores.
        let value = |row: usize, column: usize| {
            (row != column).then_some(if row / 2 == column / 2 { 40.0 } else { 160.0 })
        };
        let picture = Picture::new(4, value);
        let rows: Vec<String> = picture.rows(false).collect();
        assert_eq!(rows, ["  ..@@@@", "..  @@@@", "@@@@  ..", "@@@@..  "]);
        assert!(picture.legend(false).starts_with(".. 40  :: "));
        let coloured: String = picture.rows(true).take(1).collect();
        assert_eq!(coloured.matches("\x1b[48;5;196m@@\x1b[0m").count(), 2);
        assert_eq!(coloured.matches("\x1b[48;5;46m..\x1b[0m").count(), 1);
    }

    #[test]
    fn many_cores_share_cells() {
        let picture = Picture::new(255, |row, column| (row != column).then_some(1.0 + (row + column) as f64));
        assert_eq!(picture.group, 7);
        assert_eq!(picture.rows(false).count(), 37);
        assert!(picture.rows(false).all(|row| row.len() == 74));
    }

    #[test]
    fn equal_values_and_none_have_a_picture() {
        let picture = Picture::new(2, |row, column| (row != column).then_some(50.0));
        assert_eq!(picture.rows(false).collect::<Vec<_>>(), ["  ..", "..  "]);
        let none = Picture::new(1, |_, _| None);
        assert!(none.is_empty());
        assert_eq!(none.rows(false).collect::<Vec<_>>(), ["  "]);
    }

    #[test]
    fn logarithms_are_undone() {
        for value in [1.0, 1.5, 2.0, 3.0, 100.0, 4096.5] {
            assert!((power(logarithm(value)) - value).abs() < 1e-9, "{value}");
        }
    }
}
