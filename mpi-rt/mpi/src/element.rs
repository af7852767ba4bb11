//! Rust types that are predefined datatypes of MPI (MPI-5.0, section 3.2.2): the numbers, and numbers with a place.

use lwk_mpi_core::abi::datatype;
use lwk_mpi_core::status::Counted;

mod sealed {
    /// Only this module says what an element is.
    pub trait Sealed {}
}

/// Rust types that are predefined datatypes.
///
/// # Safety
/// The handle is that of a datatype with the type's layout, of which every bit pattern is a value.
pub unsafe trait Element: Copy + Counted + sealed::Sealed + 'static {
    /// The datatype's handle.
    const DATATYPE: u64;
}

/// A value and where it is, for [`Operation::MinLoc`](crate::Operation::MinLoc) and `MaxLoc` (MPI-5.0, section 6.9.4).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Located<V> {
    pub value: V,
    pub index: i32,
}

impl<V: Counted> Counted for Located<V> {
    const BYTES: usize = V::BYTES + i32::BYTES;
}

macro_rules! elements {
    ($($type:ty => $handle:ident,)*) => {
        $(
            impl sealed::Sealed for $type {}

            // SAFETY: the same size and representation; integers and floats have no invalid bit patterns.
            unsafe impl Element for $type {
                const DATATYPE: u64 = datatype::$handle;
            }
        )*
    };
}

elements! {
    u8 => UINT8, i8 => INT8, u16 => UINT16, i16 => INT16, u32 => UINT32, i32 => INT32,
    u64 => UINT64, i64 => INT64, usize => UINT64, isize => INT64, f32 => FLOAT, f64 => DOUBLE,
    Located<f32> => FLOAT_INT, Located<f64> => DOUBLE_INT, Located<i64> => LONG_INT, Located<i32> => TWO_INT,
    Located<i16> => SHORT_INT,
}
