//! Types of elements: any bytes are a value of each.

use crate::LongDouble;
use crate::half::F16;
use crate::kernel::CHUNK;
use crate::soft::F128;

/// A type that is reduced.
pub trait Element: Copy + 'static {
    /// So many elements as a kernel takes at a time.
    #[doc(hidden)]
    type Chunk: Copy;

    /// Combines two chunks.
    #[doc(hidden)]
    fn each(a: Self::Chunk, b: Self::Chunk, combine: impl Fn(Self, Self) -> Self) -> Self::Chunk;
}

/// Complex numbers as C lays them out.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex<T> {
    /// Real part.
    pub re: T,
    /// Imaginary part.
    pub im: T,
}

macro_rules! elements {
    ($($type:ty),* $(,)?) => {$(
        impl Element for $type {
            type Chunk = [$type; CHUNK / size_of::<$type>()];

            #[inline(always)]
            fn each(a: Self::Chunk, b: Self::Chunk, combine: impl Fn(Self, Self) -> Self) -> Self::Chunk {
                // A loop and no iterator: what the compiler leaves in a function of its own is not compiled for this processor's vectors.
                let (mut result, mut lane) = (a, 0);
                while lane < CHUNK / size_of::<Self>() {
                    result[lane] = combine(a[lane], b[lane]);
                    lane += 1;
                }
                result
            }
        }
    )*};
}

elements! {
    i8, i16, i32, i64, i128, u8, u16, u32, u64, u128, F16, f32, f64, LongDouble, F128,
    Complex<F16>, Complex<f32>, Complex<f64>, Complex<LongDouble>, Complex<F128>,
}
