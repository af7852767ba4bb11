//! Screen modes of UEFI's graphics output (UEFI specification 2.10, section 12.9): which of them the node's text can be drawn on by plain
//! stores, and which one the boot loader chooses.
//!
//! A screen that allows block transfers only has no pixels in memory, and there are mask formats whose colours are not bytes. Text is
//! not drawn there: the node boots without a screen then.
#![no_std]
#![forbid(unsafe_code)]

/// Bytes of a pixel in every mode that can be drawn on.
pub const PIXEL_BYTES: usize = 4;

/// How a pixel is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Rgb,
    Bgr,
    /// The bits of each colour in a word of 32.
    Mask {
        red: u32,
        green: u32,
        blue: u32,
    },
    /// Not in memory.
    BlockTransfer,
}

/// Order of the three bytes of a colour, the first at the lowest address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Rgb,
    Bgr,
}

/// A mode as the firmware describes it, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    pub width: usize,
    pub height: usize,
    /// From one row to the next.
    pub stride: usize,
    pub format: Format,
}

impl Mode {
    /// The order of a pixel's bytes, if the mode can be drawn on.
    pub fn order(&self) -> Option<Order> {
        const LOW: u32 = 0xff;
        const MIDDLE: u32 = 0xff00;
        const HIGH: u32 = 0xff_0000;
        let whole = self.width > 0 && self.height > 0 && self.stride >= self.width;
        let order = match self.format {
            Format::Rgb | Format::Mask { red: LOW, green: MIDDLE, blue: HIGH } => Order::Rgb,
            Format::Bgr | Format::Mask { red: HIGH, green: MIDDLE, blue: LOW } => Order::Bgr,
            Format::Mask { .. } | Format::BlockTransfer => return None,
        };
        whole.then_some(order)
    }

    /// Bytes of its frame buffer; `None` if no memory is as large.
    pub fn bytes(&self) -> Option<usize> {
        self.stride.checked_mul(self.height)?.checked_mul(PIXEL_BYTES)
    }

    fn pixels(&self) -> usize {
        self.width.saturating_mul(self.height)
    }
}

/// The position of the mode to switch to: the smallest that is at least as wide and as high as `least`, whose text is the largest; without one, the
/// largest. `None` if none can be drawn on.
pub fn choose(modes: impl Iterator<Item = Mode> + Clone, least: (usize, usize)) -> Option<usize> {
    let drawable = modes.enumerate().filter(|(_, mode)| mode.order().is_some());
    let suffices = |mode: &Mode| mode.width >= least.0 && mode.height >= least.1;
    let smallest = drawable.clone().filter(|(_, mode)| suffices(mode)).min_by_key(|(_, mode)| mode.pixels());
    let chosen = smallest.or_else(|| drawable.max_by_key(|(_, mode)| mode.pixels()));
    chosen.map(|(position, _)| position)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(width: usize, height: usize, format: Format) -> Mode {
        Mode { width, height, stride: width, format }
    }

    fn chosen(modes: &[Mode]) -> Option<usize> {
        choose(modes.iter().copied(), (1024, 768))
    }

    #[test]
    fn block_transfers_alone_are_no_screen() {
        assert_eq!(mode(1024, 768, Format::BlockTransfer).order(), None);
        assert_eq!(
            chosen(&[mode(1024, 768, Format::BlockTransfer), mode(1280, 1024, Format::BlockTransfer)]),
            None
        );
        assert_eq!(chosen(&[]), None);
    }

    #[test]
    fn a_linear_mode_is_chosen_among_others() {
        let modes = [mode(1024, 768, Format::BlockTransfer), mode(640, 480, Format::Bgr)];
        assert_eq!(chosen(&modes), Some(1));
    }

    #[test]
    fn the_smallest_mode_that_is_large_enough_is_chosen() {
        let sizes = [(3840, 2160), (640, 480), (1280, 1024), (1024, 768), (1920, 700)];
        let modes = sizes.map(|(width, height)| mode(width, height, Format::Rgb));
        assert_eq!(chosen(&modes), Some(3));
        assert_eq!(chosen(&modes[1..2]), Some(0));
        assert_eq!(chosen(&[modes[1], modes[4]]), Some(1), "the largest, if none is large enough");
    }

    #[test]
    fn masks_of_whole_bytes_are_orders() {
        let mask = |red, green, blue| mode(800, 600, Format::Mask { red, green, blue }).order();
        assert_eq!(mask(0xff, 0xff00, 0xff_0000), Some(Order::Rgb));
        assert_eq!(mask(0xff_0000, 0xff00, 0xff), Some(Order::Bgr));
        // 5 bits, 6 bits, 5 bits; ten bits each; the unused byte first; nothing at all.
        for (red, green, blue) in [
            (0xf800, 0x7e0, 0x1f),
            (0x3ff0_0000, 0xffc00, 0x3ff),
            (0xff00, 0xff_0000, 0xff00_0000),
            (0, 0, 0),
        ] {
            assert_eq!(mask(red, green, blue), None, "{red:#x} {green:#x} {blue:#x}");
        }
    }

    #[test]
    fn modes_that_make_no_sense_are_no_screen() {
        assert_eq!(mode(0, 768, Format::Rgb).order(), None);
        assert_eq!(mode(1024, 0, Format::Bgr).order(), None);
        assert_eq!(Mode { width: 1024, height: 768, stride: 1000, format: Format::Rgb }.order(), None);
        assert_eq!(mode(usize::MAX, 2, Format::Rgb).bytes(), None);
        assert_eq!(mode(1024, 768, Format::Rgb).bytes(), Some(3 << 20));
    }
}
