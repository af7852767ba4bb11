//! Types of elements: any bytes are a value of each.

use crate::LongDouble;
use crate::half::F16;
use crate::soft::F128;

/// Bytes that a kernel loads from each source before it stores any: no store then stands between a load and its use, whichever
/// arrays are the same, and the compiler needs no check for overlap to use vectors.
const CHUNK: usize = 128;

/// A type that is reduced.
pub trait Element: Copy + 'static {
    /// So many elements as a kernel takes at a time.
    #[doc(hidden)]
    const LANES: usize;

    /// As many elements.
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
    ($lanes:expr; $($type:ty),* $(,)?) => {$(
        impl Element for $type {
            const LANES: usize = $lanes(size_of::<$type>());

            type Chunk = [$type; Self::LANES];

            #[inline(always)]
            fn each(a: Self::Chunk, b: Self::Chunk, combine: impl Fn(Self, Self) -> Self) -> Self::Chunk {
                // A loop and no iterator: what the compiler leaves in a function of its own is not compiled for this processor's vectors.
                let (mut result, mut lane) = (a, 0);
                while lane < Self::LANES {
                    result[lane] = combine(a[lane], b[lane]);
                    lane += 1;
                }
                result
            }
        }
    )*};
}

/// Elements of that size in a chunk.
const fn many(bytes: usize) -> usize {
    CHUNK / bytes
}

/// One at a time: for these the processor has no vectors, and chunks would only be copied.
const fn one(_: usize) -> usize {
    1
}

elements! {
    many;
    i8, i16, i32, i64, i128, u8, u16, u32, u64, u128, F16, f32, f64, Complex<F16>, Complex<f32>, Complex<f64>,
}

elements! {
    one;
    LongDouble, F128, Complex<LongDouble>, Complex<F128>,
}
