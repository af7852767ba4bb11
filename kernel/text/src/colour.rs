//! Colours behind text, as terminals know them: `ESC [ 48 ; 5 ; n m` sets one of 256, `ESC [ 0 m` none (ECMA-48, sections 5.4 and 8.3.117, and
//! xterm's palette). Other control sequences are taken and have no effect.

/// Reads control sequences, byte by byte.
pub struct Colours {
    state: State,
    paper: u8,
}

#[derive(Clone, Copy)]
enum State {
    Text,
    /// After ESC.
    Escape,
    /// After `ESC [`: the parameters so far, the last of which is growing.
    Parameters {
        numbers: [u8; NUMBERS],
        count: usize,
    },
}

/// Parameters that are looked at.
const NUMBERS: usize = 3;
const ESCAPE: u8 = 0x1b;
/// The colours of the palette that follow the first 16, which this does not have.
const CUBE: u8 = 16;
const GREYS: u8 = 232;

impl Colours {
    pub const fn new() -> Colours {
        Colours { state: State::Text, paper: 0 }
    }

    /// The colour behind text, for [`rgb`]; 0 for none.
    pub fn paper(&self) -> u8 {
        self.paper
    }

    /// Whether a byte belongs to a control sequence and is not to be shown.
    pub fn takes(&mut self, byte: u8) -> bool {
        match (self.state, byte) {
            (_, ESCAPE) => self.state = State::Escape,
            (State::Text, _) => return false,
            (State::Escape, b'[') => self.state = State::Parameters { numbers: [0; NUMBERS], count: 0 },
            (State::Parameters { mut numbers, count }, b'0'..=b'9') => {
                if let Some(number) = numbers.get_mut(count) {
                    *number = number.saturating_mul(10).saturating_add(byte - b'0');
                }
                self.state = State::Parameters { numbers, count };
            }
            (State::Parameters { numbers, count }, b';') => {
                // Beyond those that are looked at, their number does not count.
                self.state = State::Parameters { numbers, count: (count + 1).min(NUMBERS) };
            }
            (State::Parameters { numbers, .. }, b'm') => {
                self.state = State::Text;
                match numbers {
                    [48, 5, paper] => self.paper = if paper < CUBE { 0 } else { paper },
                    [0, 0, 0] => self.paper = 0,
                    _ => {}
                }
            }
            // The last byte of a sequence of two bytes, or of another one with parameters.
            (State::Escape, _) | (State::Parameters { .. }, 0x40..=0x7e) => self.state = State::Text,
            // A line's end is never lost.
            (_, b'\n') => {
                self.state = State::Text;
                return false;
            }
            (State::Parameters { .. }, _) => {}
        }
        true
    }
}

/// Red, green and blue of a colour behind text: a cube of six steps each, then 24 greys; black for none.
pub fn rgb(paper: u8) -> [u8; 3] {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    match paper {
        0..CUBE => [0; 3],
        CUBE..GREYS => {
            let place = usize::from(paper - CUBE);
            [place / 36, place / 6 % 6, place % 6].map(|step| STEPS[step])
        }
        GREYS.. => [8 + 10 * (paper - GREYS); 3],
    }
}

/// A pixel with so much ink, of 255: white on dark paper, black on light.
pub fn mix(paper: [u8; 3], ink: u8) -> [u8; 3] {
    let light = paper.iter().map(|part| u16::from(*part)).sum::<u16>() > 3 * 0x50;
    let target: u16 = if light { 0 } else { 255 };
    let ink = u16::from(ink);
    // At most 255: a mean of two bytes.
    paper.map(|part| ((u16::from(part) * (255 - ink) + target * ink) / 255) as u8)
}
