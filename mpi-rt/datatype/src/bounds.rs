//! Bounds of a datatype: size, true bounds, lower and upper bound markers, alignment.
//!
//! MPI 5.0, "Lower-Bound and Upper-Bound Markers": a type map may hold markers (put there by resized, subarray and darray);
//! if any is there, the lowest lower marker and the highest upper marker are the bounds, whatever the data covers. Without
//! markers the bounds are those of the data, the upper one rounded up so that the extent is a multiple of the strictest
//! alignment. Arithmetic is in 128 bits and every result is checked against 64.

use crate::error::{Result, narrow};

/// All that the position of data in memory decides. An empty type map has everything zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Bounds {
    /// Bytes of data.
    pub size: i64,
    /// Lowest byte and the one after the highest; both 0 without data.
    pub true_lb: i64,
    pub true_ub: i64,
    /// The extreme lower and upper bound markers, if the type map has any. They come in pairs.
    pub markers: Option<(i64, i64)>,
    /// Strictest alignment of the data, a power of two; 0 without data.
    pub align: i64,
    /// Lower bound and extent that follow from the above.
    pub lb: i64,
    pub extent: i64,
}

impl Bounds {
    /// Data of `size` bytes at displacement 0.
    pub fn of_value(size: usize, align: usize) -> Bounds {
        let size = size as i64;
        Bounds { size, true_lb: 0, true_ub: size, markers: None, align: align as i64, lb: 0, extent: size }
    }

    pub fn ub(&self) -> i64 {
        // `finish` has checked that the sum fits.
        self.lb + self.extent
    }

    fn is_empty(&self) -> bool {
        self.size == 0 && self.markers.is_none()
    }

    /// `count` copies, `stride` bytes apart, the first moved by `disp`.
    pub fn repeated(&self, disp: i128, count: u64, stride: i128) -> Result<Bounds> {
        if count == 0 || self.is_empty() {
            return Ok(Bounds::default());
        }
        // Counts and strides are below 2^64 and 2^127 at worst; their product is checked because both come from a caller.
        let span = stride.checked_mul(i128::from(count) - 1).unwrap_or(i128::MAX);
        let (low, high) = (disp.saturating_add(span.min(0)), disp.saturating_add(span.max(0)));
        let shift = |value: i64, by: i128| narrow(by.saturating_add(i128::from(value)));
        let mut bounds = Bounds { align: self.align, ..Bounds::default() };
        bounds.size = narrow(i128::from(self.size).saturating_mul(i128::from(count)))?;
        if self.size > 0 {
            bounds.true_lb = shift(self.true_lb, low)?;
            bounds.true_ub = shift(self.true_ub, high)?;
        }
        if let Some((lower, upper)) = self.markers {
            bounds.markers = Some((shift(lower, low)?, shift(upper, high)?));
        }
        bounds.finish()
    }

    /// Both type maps in one.
    pub fn united(&self, other: &Bounds) -> Result<Bounds> {
        let mut bounds = Bounds { align: self.align.max(other.align), ..Bounds::default() };
        bounds.size = narrow(i128::from(self.size) + i128::from(other.size))?;
        (bounds.true_lb, bounds.true_ub) = match (self.size, other.size) {
            (0, _) => (other.true_lb, other.true_ub),
            (_, 0) => (self.true_lb, self.true_ub),
            _ => (self.true_lb.min(other.true_lb), self.true_ub.max(other.true_ub)),
        };
        bounds.markers = match (self.markers, other.markers) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (one, None) | (None, one) => one,
        };
        bounds.finish()
    }

    /// The same data with the markers replaced.
    pub fn resized(&self, lb: i64, extent: i64) -> Result<Bounds> {
        let ub = narrow(i128::from(lb) + i128::from(extent))?;
        Bounds { markers: Some((lb, ub)), ..*self }.finish()
    }

    fn finish(mut self) -> Result<Bounds> {
        let (lb, extent) = match self.markers {
            Some((lower, upper)) => (lower, i128::from(upper) - i128::from(lower)),
            None => {
                let align = i128::from(self.align.max(1));
                let extent = i128::from(self.true_ub) - i128::from(self.true_lb);
                (self.true_lb, (extent + align - 1) / align * align)
            }
        };
        (self.lb, self.extent) = (lb, narrow(extent)?);
        // Upper bounds and true extents are asked for as 64-bit values too.
        narrow(i128::from(lb) + extent)?;
        narrow(i128::from(self.true_ub) - i128::from(self.true_lb))?;
        Ok(self)
    }
}
