use std::boxed::Box;
use std::vec::Vec;
use std::{format, vec};

use super::*;

/// Bytes of a buffer that combines stores (Intel SDM volume 3A, section 12.3.1): one transaction when it is full, or another is begun.
const COMBINED: usize = 64;

/// A frame buffer that counts: bytes, pieces, and transactions where stores are combined.
#[derive(Default)]
struct Counting {
    memory: Vec<u8>,
    bytes: usize,
    stores: usize,
    transactions: usize,
    open: Option<usize>,
}

impl Pixels for Counting {
    fn bytes(&self) -> usize {
        self.memory.len()
    }

    fn store(&mut self, offset: usize, bytes: &[u8]) {
        self.memory[offset..offset + bytes.len()].copy_from_slice(bytes);
        self.bytes += bytes.len();
        self.stores += 1;
        for at in offset..offset + bytes.len() {
            if self.open.replace(at / COMBINED) != Some(at / COMBINED) {
                self.transactions += 1;
            }
        }
    }
}

const FORM: Form = Form { width: 1024, height: 768, stride: 1024, pixel_bytes: 4, order: Order::Bgr };

fn screen(form: Form, bytes: usize) -> Option<TextScreen<'static, Counting>> {
    let pixels = Counting { memory: vec![0xaa; bytes], ..Counting::default() };
    TextScreen::new(pixels, form, Box::leak(Box::new(Memory::new())))
}

fn large() -> TextScreen<'static, Counting> {
    screen(FORM, 1024 * 768 * 4).expect("a screen")
}

/// The pixel in the middle of a cell's upper left corner, which no character has ink in.
fn corner(screen: &TextScreen<'static, Counting>, row: usize, column: usize) -> [u8; 3] {
    let at = (row * CELL_HEIGHT * FORM.stride + column * CELL_WIDTH) * FORM.pixel_bytes;
    screen.pixels.memory[at..at + 3].try_into().expect("three bytes")
}

#[test]
fn a_screen_begins_black() {
    assert!(large().pixels.memory.iter().all(|byte| *byte == 0));
}

#[test]
fn stores_combine_into_a_fiftieth_of_the_transactions() {
    let mut screen = large();
    let clear = &screen.pixels;
    assert!(clear.bytes >= 50 * clear.transactions, "{} in {}", clear.bytes, clear.transactions);
    // Lines of 40 characters and more, until the screen has scrolled twice.
    screen.pixels = Counting { memory: core::mem::take(&mut screen.pixels.memory), ..Counting::default() };
    for line in 0..100 {
        screen.show(format!("{:x<width$}\n", line, width = 40 + line % 60).as_bytes());
        screen.flush();
    }
    let Counting { bytes, stores, transactions, .. } = screen.pixels;
    assert!(bytes >= 50 * transactions, "{bytes} bytes in {transactions} transactions");
    assert!(bytes >= 50 * stores, "{bytes} bytes by {stores} stores");
}

#[test]
fn only_what_has_changed_is_drawn() {
    let mut screen = large();
    screen.show(b"abc");
    screen.flush();
    let bytes = screen.pixels.bytes;
    screen.flush();
    assert_eq!(screen.pixels.bytes, bytes);
    screen.show(b"d");
    screen.flush();
    assert_eq!(screen.pixels.bytes - bytes, CELL_WIDTH * CELL_HEIGHT * 4);
}

#[test]
fn colours_are_those_of_terminals() {
    let mut screen = large();
    screen.show(b"\x1b[48;5;196m \x1b[0m \x1b[48;5;46m \x1b[m \x1b[48;5;255m ");
    screen.flush();
    let seen: Vec<_> = (0..5).map(|column| corner(&screen, 0, column)).collect();
    // Blue, green, red: red, black, green, black, almost white.
    assert_eq!(seen, [[0, 0, 255], [0; 3], [0, 255, 0], [0; 3], [238; 3]]);
}

#[test]
fn other_sequences_show_nothing_and_change_nothing() {
    let mut screen = large();
    screen.show(
        b"\x1b[48;5;196mA\x1b[2J\x1b[1;2;3;4;5;6mB\x1b[99999999999mC\x1bcD\x1b[48;5;7mE\x1b[38;5;196mF",
    );
    let cells: Vec<(u8, u8)> =
        screen.memory.cells[0][..6].iter().map(|cell| (cell.character, cell.paper)).collect();
    assert_eq!(cells, [(b'A', 196), (b'B', 196), (b'C', 196), (b'D', 196), (b'E', 0), (b'F', 0)]);
    assert_eq!(screen.column, 6);
}

#[test]
fn a_line_ends_in_the_middle_of_a_sequence() {
    let mut screen = large();
    screen.show(b"a\x1b[48\nb");
    assert_eq!((screen.row, screen.memory.cells[1][0].character), (1, b'b'));
}

#[test]
fn text_scrolls_with_its_colours() {
    let mut screen = large();
    let (_, rows) = screen.size();
    for line in 0..rows {
        screen.show(format!("\x1b[48;5;{}m{line}\x1b[0m\n", 16 + line).as_bytes());
    }
    screen.flush();
    let moved = rows.div_ceil(SCROLL_PART);
    assert_eq!(screen.memory.cells[0][0].paper, 16 + moved as u8);
    assert_eq!(screen.row, rows - moved);
}

#[test]
fn forms_that_make_no_sense_are_no_screen() {
    for (form, bytes) in [
        (Form { width: 0, ..FORM }, 1 << 22),
        (Form { height: 16, ..FORM }, 1 << 22),
        (Form { stride: 100, ..FORM }, 1 << 22),
        (Form { stride: usize::MAX, ..FORM }, 1 << 22),
        (Form { pixel_bytes: 5, ..FORM }, 1 << 22),
        (Form { pixel_bytes: 2, ..FORM }, 1 << 22),
        (Form { order: Order::Grey, ..FORM }, 1 << 22),
        (FORM, 1024 * 768 * 4 - 1),
    ] {
        assert!(screen(form, bytes).is_none(), "{form:?}");
    }
    let grey = Form { pixel_bytes: 1, order: Order::Grey, ..FORM };
    let mut grey = screen(grey, 1024 * 768).expect("a screen");
    grey.show(b"\x1b[48;5;196m ");
    grey.flush();
    assert_eq!(grey.pixels.memory[0], 85);
}
