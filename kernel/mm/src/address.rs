//! Physical and virtual addresses as distinct types, those of the `x86_64` crate, and rounding that cannot wrap around.

pub use x86_64::{PhysAddr, VirtAddr};

/// Bits of a physical address that page-table entries can hold (Intel SDM volume 3A, section 4.5.4; AMD64 volume 2,
/// section 5.3).
pub const PHYS_BITS: u32 = 52;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_does_not_wrap() {
        assert_eq!(align_down(0x1fff, 0x1000), 0x1000);
        assert_eq!(align_up(0x1001, 0x1000), Some(0x2000));
        assert_eq!(align_up(0x1000, 0x1000), Some(0x1000));
        assert_eq!(align_up(u64::MAX, 0x1000), None);
    }
}
