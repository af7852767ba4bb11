//! `external32` against examples worked out by hand, and there and back for every type.

use crate::model::recipe;
use lwk_datatype::{Basic, Datatype, Scalar, pack_external, unpack_external};
use proptest::prelude::*;

fn packed<T>(basic: Basic, values: &[T]) -> Vec<u8> {
    let datatype = Datatype::predefined(basic);
    assert_eq!(size_of::<T>() as i64, datatype.size());
    let mut out = vec![0u8; datatype.pack_external_size(values.len() as i64).unwrap() as usize];
    let (from, to) = (values.as_ptr() as usize, out.as_mut_ptr() as usize);
    // SAFETY: `values` has that many items of the type and `out` the room that was asked for.
    let written = unsafe { pack_external(&datatype, from, values.len() as i64, to, out.len() as u64) };
    assert_eq!(written, Ok(out.len() as u64));
    out
}

fn unpacked<T: Copy + Default>(basic: Basic, data: &[u8], count: usize) -> Vec<T> {
    let (datatype, mut values) = (Datatype::predefined(basic), vec![T::default(); count]);
    let (from, to) = (data.as_ptr() as usize, values.as_mut_ptr() as usize);
    // SAFETY: `values` has room for the items; `data` is as long as said.
    let read = unsafe { unpack_external(&datatype, to, count as i64, from, data.len() as u64) };
    assert_eq!(read, Ok(datatype.pack_external_size(count as i64).unwrap()));
    values
}

#[test]
fn numbers_are_big_endian_and_cut_to_the_tables_lengths() {
    assert_eq!(packed(Basic::Int, &[0x0102_0304i32, -2]), [1, 2, 3, 4, 255, 255, 255, 254]);
    assert_eq!(packed(Basic::Short, &[-2i16]), [255, 254]);
    assert_eq!(packed(Basic::Long, &[-2i64, 7]), [255, 255, 255, 254, 0, 0, 0, 7]);
    assert_eq!(unpacked::<i64>(Basic::Long, &[255, 255, 255, 254, 0, 0, 0, 7], 2), [-2, 7]);
    assert_eq!(unpacked::<u64>(Basic::UnsignedLong, &[255, 255, 255, 254], 1), [0xffff_fffe]);
    assert_eq!(packed(Basic::LongLong, &[-2i64]), [255, 255, 255, 255, 255, 255, 255, 254]);
    assert_eq!(packed(Basic::Wchar, &[0x20ac_u32]), [0x20, 0xac]);
    assert_eq!(unpacked::<u32>(Basic::Wchar, &[0xff, 0xac], 1), [0xffac]);
    assert_eq!(packed(Basic::Float, &[1.0f32]), [0x3f, 0x80, 0, 0]);
    assert_eq!(
        packed(Basic::DoubleComplex, &[[1.0f64, -2.0]]),
        [63, 240, 0, 0, 0, 0, 0, 0, 192, 0, 0, 0, 0, 0, 0, 0]
    );
    assert_eq!(packed(Basic::Aint, &[1i64]), [0, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn truth_values_become_zero_and_one() {
    assert_eq!(packed(Basic::Logical, &[0i32, 1, -1, 256]), [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    assert_eq!(unpacked::<i32>(Basic::Logical, &[1, 0, 0, 0, 0, 0, 0, 0], 2), [1, 0]);
    assert_eq!(unpacked::<u8>(Basic::CBool, &[0, 255], 2), [0, 1]);
}

#[test]
fn long_doubles_become_binary128() {
    // x87: sign and exponent 0x3fff, explicit integer bit, fraction .1 in binary: 1.5; the padding is noise.
    let one_and_a_half =
        u128::from_str_radix("beef00000000_3fff_c000000000000000".replace('_', "").as_str(), 16).unwrap();
    let out = packed(Basic::LongDouble, &[one_and_a_half]);
    assert_eq!(out, [0x3f, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let back = unpacked::<u128>(Basic::LongDouble, &out, 1);
    assert_eq!(back, [one_and_a_half & ((1 << 80) - 1)]);
    // The smallest step above 1 of binary128 is lost to x87's 64 bits of precision.
    let mut fine = [0u8; 16];
    (fine[0], fine[1], fine[15]) = (0x3f, 0xff, 1);
    assert_eq!(unpacked::<u128>(Basic::LongDouble, &fine, 1), [0x3fff_8000_0000_0000_0000]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// There and back through random layouts. Bytes are kept small so that the shorter forms lose nothing.
    #[test]
    fn there_and_back(recipe in recipe(), count in 0..3i64, seed in any::<u8>()) {
        let (datatype, map) = (recipe.make().unwrap(), recipe.map());
        let message = map.bytes(count);
        let mut sorted = message.clone();
        sorted.sort_unstable();
        prop_assume!(sorted.windows(2).all(|pair| pair[0] != pair[1]));
        datatype.commit();
        let low = message.iter().min().copied().unwrap_or(0);
        let length = message.iter().max().map_or(0, |high| high - low + 1) as usize;
        let elements = map.copies(count, map.extent()).entries;
        let mut here = vec![0u8; length];
        for (i, (basic, disp)) in elements.iter().enumerate() {
            let value = (i as u8).wrapping_mul(29).wrapping_add(seed) & 0x7f;
            let at = (disp - low) as usize;
            match basic.scalar() {
                Scalar::F80 | Scalar::C80 => {
                    for part in here[at..at + basic.size()].chunks_mut(16) {
                        part[..10].copy_from_slice(&[0, 0, 0, 0, 0, 0, value, 0x80, 0xff, 0x3f]);
                    }
                }
                Scalar::L8 | Scalar::L16 | Scalar::L32 | Scalar::L64 | Scalar::L128 | Scalar::Bool => here[at] = value & 1,
                _ => here[at] = value,
            }
        }
        let mut there = vec![0u8; length];
        let mut wire = vec![0xeeu8; datatype.pack_external_size(count).unwrap() as usize + 3];
        let base = |memory: *const u8| (memory as usize).wrapping_add_signed(-low as isize);
        let room = wire.len() as u64;
        // SAFETY: both memories span the message, whose bytes do not overlap; `wire` is as long as said.
        let (written, read) = unsafe {
            let written = pack_external(&datatype, base(here.as_ptr()), count, wire.as_mut_ptr() as usize, room);
            (written, unpack_external(&datatype, base(there.as_mut_ptr()), count, wire.as_ptr() as usize, room))
        };
        prop_assert_eq!(written, Ok(room - 3));
        prop_assert_eq!(read, written);
        prop_assert_eq!(&wire[wire.len() - 3..], [0xee; 3]);
        prop_assert_eq!(there, here);
    }
}
