//! Why an image has no layout, and why a pointer leads nowhere.

use core::fmt;

use lwk_abi::address::{PAGE_BYTES, SEGMENT_LIMIT, SEGMENT_START};

#[cfg(doc)]
use super::HEAP_BYTES_MIN;
use super::IMAGE_RANGES_MAX;

/// Why an image does not fit a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The image has more ranges than [`IMAGE_RANGES_MAX`].
    TooManyRanges(usize),
    /// A range of the image ends before it starts, or lies outside `SEGMENT_START..SEGMENT_LIMIT`.
    OutOfRange { start: u64, end: u64 },
    /// Ranges are not in ascending order, or overlap; here a range starts below the end of the one before it.
    Overlap { start: u64 },
    /// Two ranges with different access share the page at this address.
    SharedPage { address: u64 },
    /// A range is writable and executable.
    WritableExecutable { start: u64 },
    /// The segment's size is not a multiple of 4 KiB.
    Misaligned { bytes: u64 },
    /// The segment would end above `SEGMENT_LIMIT`; it can have this many bytes at most.
    TooLarge { most: u64 },
    /// Image, stack and a heap of [`HEAP_BYTES_MIN`] need a segment of this many bytes at least.
    TooSmall { needed: u64 },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LayoutError::TooManyRanges(count) => {
                write!(f, "the program image has {count} ranges, more than the {IMAGE_RANGES_MAX} supported")
            }
            LayoutError::OutOfRange { start, end } => write!(
                f,
                "the program image uses {start:#x}..{end:#x}, outside {SEGMENT_START:#x}..{SEGMENT_LIMIT:#x}; \
                 link it at the default address"
            ),
            LayoutError::Overlap { start } => {
                write!(f, "the program image's range at {start:#x} starts inside the one before it")
            }
            LayoutError::SharedPage { address } => {
                write!(
                    f,
                    "the page at {address:#x} would need two kinds of access; link with -z separate-code"
                )
            }
            LayoutError::WritableExecutable { start } => {
                write!(f, "the program image's range at {start:#x} is writable and executable")
            }
            LayoutError::Misaligned { bytes } => {
                write!(f, "memory per rank of {bytes} bytes is not a multiple of {PAGE_BYTES}")
            }
            LayoutError::TooLarge { most } => {
                write!(f, "more memory per rank than a slot holds; give at most {} MiB", most >> 20)
            }
            LayoutError::TooSmall { needed } => {
                write!(
                    f,
                    "memory per rank is too small for the program; give at least {} MiB ({needed} bytes)",
                    needed.div_ceil(1 << 20)
                )
            }
        }
    }
}

/// A user pointer that does not lead where the call needs it; Linux's `EFAULT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPointer;

impl fmt::Display for BadPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bad address")
    }
}
