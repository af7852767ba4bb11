//! Atomic operations on elements (Portals 4.3, section 3.15.4).

pub use lwk_abi::portals::element_bytes;
use lwk_abi::portals::{ATOMIC_BYTES, atomic as op, datatype};

use crate::memory::Memory;
use crate::message::Message;
use crate::region::{Pieces, Region};

/// Whether an operation takes an operand.
pub fn has_operand(operation: u32) -> bool {
    matches!(operation, op::CSWAP..=op::MSWAP)
}

/// Whether an operation is possible with a type, and as a swap or not.
pub fn is_possible(operation: u32, datatype: u32, swap: bool) -> bool {
    let real = matches!(datatype, datatype::FLOAT | datatype::DOUBLE);
    let known = element_bytes(datatype).is_some();
    let complex = matches!(datatype, datatype::FLOAT_COMPLEX | datatype::DOUBLE_COMPLEX);
    let fits = match operation {
        // Complex numbers have no order and no bits.
        op::SUM | op::PROD if complex => !swap,
        op::SWAP | op::CSWAP | op::CSWAP_NE if complex => swap,
        _ if complex => false,
        op::MIN..=op::PROD => !swap,
        op::LOR..=op::BXOR => !swap && !real,
        op::SWAP..=op::CSWAP_GT => swap,
        op::MSWAP => swap && !real,
        _ => false,
    };
    known && fits
}

/// Combines what has come into a region, at most `ATOMIC_BYTES` long: at once if it is a word. `old` becomes what was there; all have the same length.
pub fn change(
    pieces: &Pieces,
    memory: &mut impl Memory,
    message: &Message,
    region: &Region,
    old: &mut [u8],
    come: &[u8],
) {
    let word = pieces.word(region);
    pieces.read(memory, region, old);
    loop {
        let mut new = [0; ATOMIC_BYTES as usize];
        let new = &mut new[..old.len()];
        new.copy_from_slice(old);
        let operand = [message.operand, message.operand_rest];
        combine(message.atomic.into(), message.datatype.into(), new, come, operand);
        let Some(word) = &word else { return pieces.write(memory, region, new) };
        let expected = word_of(old);
        let seen = memory.compare_exchange(word, expected, word_of(new));
        if seen == expected {
            return;
        }
        old.copy_from_slice(&seen.to_ne_bytes()[..old.len()]);
    }
}

/// At most eight bytes as a word, zero-extended.
fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    u64::from_ne_bytes(word)
}

/// Combines elements: what is in memory, `old`, becomes the result, given what has come. Both have the same length, in whole elements; the operation is
/// possible ([`is_possible`]).
pub fn combine(operation: u32, datatype: u32, old: &mut [u8], come: &[u8], operand: [u64; 2]) {
    macro_rules! integers {
        ($type:ty) => {
            each(old, come, operand, |a: $type, b: $type, c: $type| match operation {
                op::MIN => a.min(b),
                op::MAX => a.max(b),
                op::SUM => a.wrapping_add(b),
                op::PROD => a.wrapping_mul(b),
                op::LOR => <$type>::from(a != 0 || b != 0),
                op::LAND => <$type>::from(a != 0 && b != 0),
                op::BOR => a | b,
                op::BAND => a & b,
                op::LXOR => <$type>::from((a != 0) != (b != 0)),
                op::BXOR => a ^ b,
                op::MSWAP => (a & !c) | (b & c),
                _ => swapped(operation, a, b, c),
            })
        };
    }
    macro_rules! reals {
        ($type:ty) => {
            each(old, come, operand, |a: $type, b: $type, c: $type| match operation {
                op::MIN => a.min(b),
                op::MAX => a.max(b),
                op::SUM => a + b,
                op::PROD => a * b,
                _ => swapped(operation, a, b, c),
            })
        };
    }
    macro_rules! complexes {
        ($type:ty) => {
            each(old, come, operand, |a: [$type; 2], b: [$type; 2], c: [$type; 2]| match operation {
                op::SUM => [a[0] + b[0], a[1] + b[1]],
                op::PROD => [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]],
                _ => swapped(operation, a, b, c),
            })
        };
    }
    match datatype {
        datatype::INT8 => integers!(i8),
        datatype::UINT8 => integers!(u8),
        datatype::INT16 => integers!(i16),
        datatype::UINT16 => integers!(u16),
        datatype::INT32 => integers!(i32),
        datatype::UINT32 => integers!(u32),
        datatype::INT64 => integers!(i64),
        datatype::UINT64 => integers!(u64),
        datatype::FLOAT => reals!(f32),
        datatype::DOUBLE => reals!(f64),
        datatype::FLOAT_COMPLEX => complexes!(f32),
        _ => complexes!(f64),
    }
}

/// The element after a swap: the one that has come if the operand and the one in memory compare so.
fn swapped<T: PartialOrd>(operation: u32, old: T, come: T, operand: T) -> T {
    let swaps = match operation {
        op::CSWAP => operand == old,
        op::CSWAP_NE => operand != old,
        op::CSWAP_LE => operand <= old,
        op::CSWAP_LT => operand < old,
        op::CSWAP_GE => operand >= old,
        op::CSWAP_GT => operand > old,
        _ => true,
    };
    if swaps { come } else { old }
}

fn each<T: Element>(old: &mut [u8], come: &[u8], operand: [u64; 2], combine: impl Fn(T, T, T) -> T) {
    let bytes = size_of::<T>();
    let operand = T::read(operand.map(u64::to_ne_bytes).as_flattened());
    for (to, from) in old.chunks_exact_mut(bytes).zip(come.chunks_exact(bytes)) {
        combine(T::read(to), T::read(from), operand).write(to);
    }
}

/// A number in memory.
trait Element: Copy {
    /// From its first bytes.
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
}

macro_rules! elements {
    ($($type:ty)*) => {
        $(impl Element for $type {
            fn read(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(Default::default(), |bytes| <$type>::from_ne_bytes(*bytes))
            }

            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
        })*
    };
}

elements!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

/// A complex number: its real part, then its imaginary.
impl<T: Element> Element for [T; 2] {
    fn read(bytes: &[u8]) -> Self {
        let (real, imaginary) = bytes.split_at(size_of::<T>().min(bytes.len()));
        [T::read(real), T::read(imaginary)]
    }

    fn write(self, bytes: &mut [u8]) {
        for (part, to) in self.into_iter().zip(bytes.chunks_exact_mut(size_of::<T>())) {
            part.write(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn i32s(operation: u32, old: i32, come: i32, operand: i32) -> i32 {
        let mut bytes = old.to_ne_bytes();
        let mut wide = [0; 8];
        wide[..4].copy_from_slice(&operand.to_ne_bytes());
        combine(operation, datatype::INT32, &mut bytes, &come.to_ne_bytes(), [u64::from_ne_bytes(wide), 0]);
        i32::from_ne_bytes(bytes)
    }

    #[test]
    fn integers() {
        let table = [
            (op::MIN, -5, 3, -5),
            (op::MAX, -5, 3, 3),
            (op::SUM, i32::MAX, 1, i32::MIN),
            (op::PROD, 7, -3, -21),
            (op::LOR, 0, 4, 1),
            (op::LAND, 2, 4, 1),
            (op::BOR, 2, 4, 6),
            (op::BAND, 6, 4, 4),
            (op::LXOR, 2, 4, 0),
            (op::BXOR, 6, 4, 2),
            (op::SWAP, 6, 4, 4),
        ];
        for (operation, old, come, result) in table {
            assert_eq!(i32s(operation, old, come, 0), result, "{operation}");
        }
    }

    #[test]
    fn conditional_swaps_compare_the_operand_with_memory() {
        let table = [
            (op::CSWAP, [false, true, false]),
            (op::CSWAP_NE, [true, false, true]),
            (op::CSWAP_LE, [true, true, false]),
            (op::CSWAP_LT, [true, false, false]),
            (op::CSWAP_GE, [false, true, true]),
            (op::CSWAP_GT, [false, false, true]),
        ];
        for (operation, swaps) in table {
            for (operand, swaps) in [4, 5, 6].into_iter().zip(swaps) {
                assert_eq!(
                    i32s(operation, 5, 9, operand),
                    if swaps { 9 } else { 5 },
                    "{operation} {operand}"
                );
            }
        }
        assert_eq!(i32s(op::MSWAP, 0b1100, 0b1010, 0b0110), 0b1010);
    }

    #[test]
    fn what_is_possible() {
        assert!(
            is_possible(op::SUM, datatype::DOUBLE, false) && !is_possible(op::BOR, datatype::DOUBLE, false)
        );
        assert!(
            is_possible(op::CSWAP, datatype::FLOAT, true) && !is_possible(op::CSWAP, datatype::FLOAT, false)
        );
        assert!(!is_possible(op::SUM, 77, false) && !is_possible(99, datatype::INT8, false));
        let mut sum = 1.5f64.to_ne_bytes();
        combine(op::SUM, datatype::DOUBLE, &mut sum, &2.25f64.to_ne_bytes(), [0; 2]);
        assert_eq!(f64::from_ne_bytes(sum), 3.75);
    }

    #[test]
    fn complex_numbers() {
        let bytes = |number: [f64; 2]| number.map(f64::to_ne_bytes).as_flattened().to_vec();
        let words = |number: [f64; 2]| number.map(f64::to_bits);
        let table = [
            (op::SUM, [0.0; 2], [4.0, 6.0]),
            (op::PROD, [0.0; 2], [-5.0, 10.0]),
            (op::SWAP, [0.0; 2], [3.0, 4.0]),
            (op::CSWAP, [1.0, 2.0], [3.0, 4.0]),
            (op::CSWAP, [1.0, 2.5], [1.0, 2.0]),
            (op::CSWAP_NE, [1.0, 2.5], [3.0, 4.0]),
        ];
        for (operation, operand, result) in table {
            let mut old = bytes([1.0, 2.0]);
            combine(operation, datatype::DOUBLE_COMPLEX, &mut old, &bytes([3.0, 4.0]), words(operand));
            assert_eq!(old, bytes(result), "{operation}");
            assert!(is_possible(operation, datatype::FLOAT_COMPLEX, operation >= op::SWAP));
        }
        let singles = |number: [f32; 2]| number.map(f32::to_ne_bytes).as_flattened().to_vec();
        let mut old = singles([1.0, 2.0]);
        combine(op::PROD, datatype::FLOAT_COMPLEX, &mut old, &singles([3.0, 4.0]), [0; 2]);
        assert_eq!(old, singles([-5.0, 10.0]));
        for operation in [op::MIN, op::MAX, op::LOR, op::BXOR, op::CSWAP_LT, op::MSWAP] {
            for swap in [false, true] {
                assert!(!is_possible(operation, datatype::DOUBLE_COMPLEX, swap), "{operation}");
            }
        }
        assert!(!is_possible(op::SUM, datatype::LONG_DOUBLE, false));
    }
}
