//! Physical and virtual addresses as distinct types, so that one cannot be taken for the other, with arithmetic that
//! cannot wrap around.

use core::fmt;

/// Bits of a physical address that page-table entries can hold (Intel SDM volume 3A, section 4.5.4; AMD64 volume 2,
/// section 5.3).
pub const PHYS_BITS: u32 = 52;

/// A physical address in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhysAddr(pub u64);

/// A virtual address in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VirtAddr(pub u64);

/// `value` rounded down to a multiple of `align`, a power of two.
#[must_use]
pub const fn align_down(value: u64, align: u64) -> u64 {
    debug_assert!(align.is_power_of_two());
    value & !(align - 1)
}

/// `value` rounded up to a multiple of `align`, a power of two; `None` if that does not fit in 64 bits.
#[must_use]
pub const fn align_up(value: u64, align: u64) -> Option<u64> {
    debug_assert!(align.is_power_of_two());
    match value.checked_add(align - 1) {
        Some(sum) => Some(sum & !(align - 1)),
        None => None,
    }
}

macro_rules! arithmetic {
    ($name:ident) => {
        impl $name {
            /// The address `bytes` further up; `None` on overflow.
            #[must_use]
            pub const fn checked_add(self, bytes: u64) -> Option<$name> {
                match self.0.checked_add(bytes) {
                    Some(sum) => Some($name(sum)),
                    None => None,
                }
            }

            /// The bytes from `lower` up to this address; `None` if `lower` is the higher one.
            #[must_use]
            pub const fn checked_offset_from(self, lower: $name) -> Option<u64> {
                self.0.checked_sub(lower.0)
            }

            /// Whether this is a multiple of `align`, a power of two.
            #[must_use]
            pub const fn is_aligned(self, align: u64) -> bool {
                self.0 & (align - 1) == 0
            }

            /// Rounded down to a multiple of `align`, a power of two.
            #[must_use]
            pub const fn align_down(self, align: u64) -> $name {
                $name(align_down(self.0, align))
            }

            /// Rounded up to a multiple of `align`, a power of two; `None` on overflow.
            #[must_use]
            pub const fn align_up(self, align: u64) -> Option<$name> {
                match align_up(self.0, align) {
                    Some(address) => Some($name(address)),
                    None => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.0)
            }
        }
    };
}

arithmetic!(PhysAddr);
arithmetic!(VirtAddr);

impl VirtAddr {
    /// Whether bits 47 to 63 are equal, as 4-level paging demands.
    #[must_use]
    pub const fn is_canonical(self) -> bool {
        let top = self.0 >> 47;
        top == 0 || top == 0x1_ffff
    }

    /// Index into the table of `level` (4: top, 1: the one that holds 4 KiB pages).
    #[must_use]
    pub const fn table_index(self, level: u32) -> usize {
        ((self.0 >> (12 + 9 * (level - 1))) & 0x1ff) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_does_not_wrap() {
        assert_eq!(align_down(0x1fff, 0x1000), 0x1000);
        assert_eq!(align_up(0x1001, 0x1000), Some(0x2000));
        assert_eq!(align_up(0x1000, 0x1000), Some(0x1000));
        assert_eq!(align_up(u64::MAX, 0x1000), None);
        assert_eq!(PhysAddr(u64::MAX).checked_add(1), None);
        assert_eq!(VirtAddr(1).checked_offset_from(VirtAddr(2)), None);
    }

    #[test]
    fn canonical_addresses_are_the_two_halves() {
        for good in [0, 0x7fff_ffff_ffff, 0xffff_8000_0000_0000, u64::MAX] {
            assert!(VirtAddr(good).is_canonical(), "{good:#x}");
        }
        for bad in [0x8000_0000_0000, 0xffff_7fff_ffff_ffff, 1 << 63] {
            assert!(!VirtAddr(bad).is_canonical(), "{bad:#x}");
        }
    }

    #[test]
    fn indices_follow_the_nine_bit_fields() {
        let address = VirtAddr((3 << 39) | (5 << 30) | (7 << 21) | (9 << 12) | 0xabc);
        assert_eq!([4, 3, 2, 1].map(|level| address.table_index(level)), [3, 5, 7, 9]);
    }
}
