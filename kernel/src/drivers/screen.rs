//! Text on the firmware's frame buffer. What is on the screen is kept in memory, so that the slow frame buffer is never
//! read and only cells that change are drawn.

use bootloader_api::info::{FrameBufferInfo, PixelFormat};
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

const HEIGHT: RasterHeight = RasterHeight::Size16;
const WEIGHT: FontWeight = FontWeight::Regular;
const CELL_WIDTH: usize = get_raster_width(WEIGHT, HEIGHT);
const CELL_HEIGHT: usize = HEIGHT.val();
/// The most text the kernel keeps, in cells; a larger frame buffer is used in part.
const COLUMNS_MAX: usize = 160;
const ROWS_MAX: usize = 64;
/// When the screen is full it moves up by this part of itself at once: drawing every line anew for each line would
/// take most of the time of a program that prints a lot.
const SCROLL_PART: usize = 3;

/// What is shown, as ASCII; 0 where nothing is.
type Cells = [[u8; COLUMNS_MAX]; ROWS_MAX];

/// The cells of the one screen, which takes them for ever. Of their own, and zero, so that the kernel's file does not hold them.
static CELLS: spin::Mutex<Cells> = spin::Mutex::new([[0; COLUMNS_MAX]; ROWS_MAX]);

/// A text screen.
pub struct TextScreen {
    pixels: &'static mut [u8],
    info: FrameBufferInfo,
    columns: usize,
    rows: usize,
    column: usize,
    row: usize,
    cells: &'static mut Cells,
}

impl TextScreen {
    /// A blank screen on a frame buffer; nothing if its pixels are of an unknown kind, or if there is one already.
    pub fn new(pixels: &'static mut [u8], info: FrameBufferInfo) -> Option<TextScreen> {
        if !matches!(info.pixel_format, PixelFormat::Rgb | PixelFormat::Bgr | PixelFormat::U8) {
            return None;
        }
        pixels.fill(0);
        let columns = (info.width / CELL_WIDTH).min(COLUMNS_MAX);
        let rows = (info.height / CELL_HEIGHT).min(ROWS_MAX);
        let usable = columns > 0
            && rows > SCROLL_PART
            && info.stride * info.bytes_per_pixel * info.height <= pixels.len();
        if !usable {
            return None;
        }
        let cells = spin::MutexGuard::leak(CELLS.try_lock()?);
        cells.as_flattened_mut().fill(b' ');
        Some(TextScreen { pixels, info, columns, rows, column: 0, row: 0, cells })
    }

    /// Columns and rows of text.
    pub fn size(&self) -> (usize, usize) {
        (self.columns, self.rows)
    }

    /// Shows text; `\n` ends a line, and a line that is too long goes on in the next row.
    pub fn show(&mut self, text: &[u8]) {
        for &byte in text {
            match byte {
                b'\n' => self.end_line(),
                b'\t' => self.show_byte(b' '),
                0x20..0x7f => self.show_byte(byte),
                _ => self.show_byte(b'?'),
            }
        }
    }

    fn show_byte(&mut self, byte: u8) {
        if self.column == self.columns {
            self.end_line();
        }
        self.set(self.row, self.column, byte);
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
                let byte = if source < self.rows { self.cells[source][column] } else { b' ' };
                self.set(row, column, byte);
            }
        }
        self.row -= lines;
    }

    fn set(&mut self, row: usize, column: usize, byte: u8) {
        if self.cells[row][column] != byte {
            self.cells[row][column] = byte;
            self.draw(row, column, byte);
        }
    }

    fn draw(&mut self, row: usize, column: usize, byte: u8) {
        let mut glyph = get_raster(char::from(byte), WEIGHT, HEIGHT);
        let mut rows = glyph.as_mut().map(|glyph| glyph.rows());
        let bytes_per_pixel = self.info.bytes_per_pixel;
        for line in 0..CELL_HEIGHT {
            let first = (row * CELL_HEIGHT + line) * self.info.stride + column * CELL_WIDTH;
            let start = first * bytes_per_pixel;
            let target = &mut self.pixels[start..start + CELL_WIDTH * bytes_per_pixel];
            let intensities = rows.as_mut().and_then(Iterator::next).unwrap_or(&[]);
            for (x, pixel) in target.chunks_exact_mut(bytes_per_pixel).enumerate() {
                let intensity = intensities.get(x).copied().unwrap_or(0);
                // Grey has the same bytes in every order; a fourth byte is unused.
                pixel.iter_mut().take(3).for_each(|part| *part = intensity);
            }
        }
    }
}
