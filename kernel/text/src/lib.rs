//! Text on a frame buffer. What is to be seen is kept in memory, so that the slow frame buffer is never read and only cells that change are drawn.
//!
//! A frame buffer lies behind a bus. What changes in a row of text goes out as one piece of memory for each line of pixels, in ascending order: where the
//! memory is mapped write-combining (Intel SDM volume 3A, section 12.3), each 64 bytes of it are one transaction, instead of one for
//! each byte.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod colour;
mod glyph;
#[cfg(test)]
mod tests;

use colour::Colours;
pub use glyph::{CELL_HEIGHT, CELL_WIDTH};

/// The most text that is kept, in cells; a larger frame buffer is used in part.
pub const COLUMNS_MAX: usize = 160;
pub const ROWS_MAX: usize = 64;
/// Most bytes of a pixel.
const PIXEL_BYTES_MAX: usize = 4;
/// When the screen is full it moves up by this part of itself at once: drawing every line anew for each line would
/// take most of the time of a program that prints a lot.
const SCROLL_PART: usize = 3;

/// Where pixels go.
pub trait Pixels {
    /// How many bytes there are.
    fn bytes(&self) -> usize;
    /// Stores bytes from an offset on, in ascending order. They are within [`Self::bytes`].
    fn store(&mut self, offset: usize, bytes: &[u8]);
}

/// How a colour is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Rgb,
    Bgr,
    /// One byte of brightness.
    Grey,
}

/// A frame buffer's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    pub width: usize,
    pub height: usize,
    /// Pixels from one line to the next.
    pub stride: usize,
    pub pixel_bytes: usize,
    pub order: Order,
}

/// What is shown in a cell: an ASCII character, and the colour behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cell {
    character: u8,
    paper: u8,
}

const BLANK: Cell = Cell { character: b' ', paper: 0 };

/// What of a row is not drawn yet: from the first column to before the second.
#[derive(Clone, Copy)]
struct Changed {
    from: usize,
    to: usize,
}

const NOTHING: Changed = Changed { from: COLUMNS_MAX, to: 0 };

/// The memory of a screen. All of it is zero at first, so that no file holds it.
pub struct Memory {
    cells: [[Cell; COLUMNS_MAX]; ROWS_MAX],
    changed: [Changed; ROWS_MAX],
    /// The pixels of a row of text.
    lines: [[u8; COLUMNS_MAX * CELL_WIDTH * PIXEL_BYTES_MAX]; CELL_HEIGHT],
}

impl Memory {
    pub const fn new() -> Memory {
        Memory {
            cells: [[Cell { character: 0, paper: 0 }; COLUMNS_MAX]; ROWS_MAX],
            changed: [Changed { from: 0, to: 0 }; ROWS_MAX],
            lines: [[0; COLUMNS_MAX * CELL_WIDTH * PIXEL_BYTES_MAX]; CELL_HEIGHT],
        }
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

/// A text screen.
pub struct TextScreen<'m, P> {
    pixels: P,
    form: Form,
    columns: usize,
    rows: usize,
    column: usize,
    row: usize,
    colours: Colours,
    memory: &'m mut Memory,
}

impl<'m, P: Pixels> TextScreen<'m, P> {
    /// A blank screen; nothing if the form makes no sense, or is too small for text.
    pub fn new(pixels: P, form: Form, memory: &'m mut Memory) -> Option<TextScreen<'m, P>> {
        let columns = (form.width / CELL_WIDTH).min(COLUMNS_MAX);
        let rows = (form.height / CELL_HEIGHT).min(ROWS_MAX);
        let bytes = form.stride.checked_mul(form.pixel_bytes)?.checked_mul(form.height)?;
        let known = match form.order {
            Order::Grey => form.pixel_bytes == 1,
            Order::Rgb | Order::Bgr => (3..=PIXEL_BYTES_MAX).contains(&form.pixel_bytes),
        };
        let usable = known && columns > 0 && rows > SCROLL_PART && form.stride >= form.width;
        if !usable || bytes > pixels.bytes() {
            return None;
        }
        memory.cells.as_flattened_mut().fill(BLANK);
        memory.changed = [NOTHING; ROWS_MAX];
        let mut screen =
            TextScreen { pixels, form, columns, rows, column: 0, row: 0, colours: Colours::new(), memory };
        screen.clear();
        Some(screen)
    }

    /// Columns and rows of text.
    pub fn size(&self) -> (usize, usize) {
        (self.columns, self.rows)
    }

    /// Stores to the same frame buffer by another way from now on.
    pub fn change_pixels(&mut self, change: impl FnOnce(P) -> P)
    where
        P: Default,
    {
        self.pixels = change(core::mem::take(&mut self.pixels));
    }

    /// Shows text at the next [`Self::flush`]; `\n` ends a line, and a line that is too long goes on in the next row. Of the control sequences of
    /// terminals it knows the one that sets the colour behind text.
    pub fn show(&mut self, text: &[u8]) {
        for &byte in text {
            if self.colours.takes(byte) {
                continue;
            }
            match byte {
                b'\n' => self.end_line(),
                b'\t' => self.show_byte(b' '),
                0x20..0x7f => self.show_byte(byte),
                _ => self.show_byte(b'?'),
            }
        }
    }

    /// Draws what has changed.
    pub fn flush(&mut self) {
        for row in 0..self.rows {
            let Changed { from, to } = core::mem::replace(&mut self.memory.changed[row], NOTHING);
            if from < to {
                self.draw(row, from, to);
            }
        }
    }

    fn show_byte(&mut self, character: u8) {
        if self.column == self.columns {
            self.end_line();
        }
        self.set(self.row, self.column, Cell { character, paper: self.colours.paper() });
        self.column += 1;
    }

    fn end_line(&mut self) {
        self.column = 0;
        self.row += 1;
        if self.row == self.rows {
            self.scroll(self.rows.div_ceil(SCROLL_PART));
        }
    }

    fn scroll(&mut self, lines: usize) {
        for row in 0..self.rows {
            let source = row + lines;
            for column in 0..self.columns {
                let cell = if source < self.rows { self.memory.cells[source][column] } else { BLANK };
                self.set(row, column, cell);
            }
        }
        self.row -= lines;
    }

    fn set(&mut self, row: usize, column: usize, cell: Cell) {
        let there = &mut self.memory.cells[row][column];
        if *there != cell {
            *there = cell;
            let changed = &mut self.memory.changed[row];
            *changed = Changed { from: changed.from.min(column), to: changed.to.max(column + 1) };
        }
    }

    fn clear(&mut self) {
        const BLACK: [u8; 4096] = [0; 4096];
        let all = self.form.stride * self.form.pixel_bytes * self.form.height;
        for start in (0..all).step_by(BLACK.len()) {
            self.pixels.store(start, &BLACK[..BLACK.len().min(all - start)]);
        }
    }

    /// Draws the cells of a row from one column to before another.
    fn draw(&mut self, row: usize, from: usize, to: usize) {
        let Form { stride, pixel_bytes, order, .. } = self.form;
        let Memory { cells, lines, .. } = &mut *self.memory;
        let cell_bytes = CELL_WIDTH * pixel_bytes;
        for (place, cell) in cells[row][from..to].iter().enumerate() {
            let paper = colour::rgb(cell.paper);
            glyph::for_each_line(cell.character, |line, intensities| {
                let target = &mut lines[line][place * cell_bytes..(place + 1) * cell_bytes];
                for (x, pixel) in target.chunks_exact_mut(pixel_bytes).enumerate() {
                    let ink = intensities.get(x).copied().unwrap_or(0);
                    put(pixel, order, colour::mix(paper, ink));
                }
            });
        }
        let bytes = (to - from) * cell_bytes;
        for (line, pixels) in lines.iter().enumerate() {
            let first = (row * CELL_HEIGHT + line) * stride + from * CELL_WIDTH;
            self.pixels.store(first * pixel_bytes, &pixels[..bytes]);
        }
    }
}

/// A pixel's bytes; a fourth is unused.
fn put(pixel: &mut [u8], order: Order, [red, green, blue]: [u8; 3]) {
    let brightness = ((u16::from(red) + u16::from(green) + u16::from(blue)) / 3) as u8;
    let parts = match order {
        Order::Rgb => [red, green, blue],
        Order::Bgr => [blue, green, red],
        Order::Grey => [brightness; 3],
    };
    pixel.iter_mut().zip(parts).for_each(|(byte, part)| *byte = part);
}
