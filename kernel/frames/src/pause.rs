//! Pauses (IEEE 802.3, annex 31B): a switch whose queue fills up asks who sends to it to send nothing for a while; a node whose buffers fill up may ask the
//! switch.
//!
//! A pause is told in units of 512 bits. Nodes do not know how fast their link is and take it for one of [`BANDWIDTH`]: on a slower one they come back
//! early and are asked again, on a faster one they wait longer than they need, [`LONGEST_US`] at most.

/// Where pause frames go, and what they are.
const ADDRESS: [u8; 6] = [0x01, 0x80, 0xc2, 0, 0, 1];
const KIND: [u8; 4] = [0x88, 0x08, 0, 1];
/// Bytes of the shortest frame, without its checksum.
const FRAME_BYTES: usize = 60;
/// Bits of a unit of pausing.
pub const UNIT_BITS: u64 = 512;
/// Million bits a second of a link that nobody knows better.
pub const BANDWIDTH: u64 = 1_000;
/// The longest pause, in microseconds.
pub const LONGEST_US: u64 = micros(u16::MAX);

/// A frame that asks for a pause of so many units, from an address; 0 ends one.
pub fn frame(source: [u8; 6], units: u16) -> [u8; FRAME_BYTES] {
    let mut frame = [0; FRAME_BYTES];
    frame[..6].copy_from_slice(&ADDRESS);
    frame[6..12].copy_from_slice(&source);
    frame[12..16].copy_from_slice(&KIND);
    frame[16..18].copy_from_slice(&units.to_be_bytes());
    frame
}

/// The units of the pause that a frame asks for, if it does.
pub fn asked(frame: &[u8]) -> Option<u16> {
    let asks = frame.get(..6) == Some(&ADDRESS[..]) && frame.get(12..16) == Some(&KIND[..]);
    let units = frame.get(16..18).filter(|_| asks)?;
    Some(u16::from_be_bytes([units[0], units[1]]))
}

/// How long so many units are for a node, in microseconds, rounded up.
pub const fn micros(units: u16) -> u64 {
    (units as u64 * UNIT_BITS).div_ceil(BANDWIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_understood_and_nothing_else_is() {
        for units in [0, 1, 700, u16::MAX] {
            assert_eq!(asked(&frame([2; 6], units)), Some(units));
        }
        let whole = frame([2; 6], 5);
        assert!((0..18).all(|bytes| asked(&whole[..bytes]).is_none()));
        for at in (0..6).chain(12..16) {
            let mut other = whole;
            other[at] ^= 1;
            assert_eq!(asked(&other), None, "{at}");
        }
        assert_eq!((micros(0), micros(1), micros(2), LONGEST_US), (0, 1, 2, 33_554));
    }
}
