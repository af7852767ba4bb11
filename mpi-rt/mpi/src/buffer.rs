//! What messages are made of: elements, arrays, slices and vectors of them, and memory seen through a [`Datatype`](super::Datatype).

use super::element::Element;
use alloc::vec::Vec;
use lwk_mpi_rt::collective::BufferArgument;

/// Memory that can be sent.
///
/// # Safety
/// The part is memory that can be read as long as the value is borrowed.
pub unsafe trait Buffer {
    /// Address, items and datatype.
    fn part(&self) -> BufferArgument;
}

/// Memory that can be received into.
///
/// # Safety
/// The part is memory that can be written with any bytes as long as the value is borrowed exclusively.
pub unsafe trait BufferMut: Buffer {
    /// As [`Buffer::part`], for writing.
    fn part_mut(&mut self) -> BufferArgument;
}

// SAFETY: a slice is `len` elements of the datatype at its address, readable while it is borrowed.
unsafe impl<T: Element> Buffer for [T] {
    #[inline]
    fn part(&self) -> BufferArgument {
        BufferArgument {
            address: self.as_ptr().cast_mut().cast(),
            count: self.len() as i64,
            datatype: T::DATATYPE,
        }
    }
}

// SAFETY: a slice is `len` elements at its address, writable while it is borrowed exclusively; any bytes are
// elements.
unsafe impl<T: Element> BufferMut for [T] {
    #[inline]
    fn part_mut(&mut self) -> BufferArgument {
        BufferArgument { address: self.as_mut_ptr().cast(), count: self.len() as i64, datatype: T::DATATYPE }
    }
}

/// Types that are slices of elements.
macro_rules! like_slices {
    ($([$($generic:tt)*] $type:ty, $this:ident => $slice:expr, $slice_mut:expr;)*) => {
        $(
            // SAFETY: the part is that of a slice of the elements, borrowed as long as this is.
            unsafe impl<$($generic)*> Buffer for $type {
                #[inline]
                fn part(&self) -> BufferArgument {
                    let $this = self;
                    Buffer::part($slice)
                }
            }

            // SAFETY: the part is that of a slice of the elements, borrowed exclusively as long as this is.
            unsafe impl<$($generic)*> BufferMut for $type {
                #[inline]
                fn part_mut(&mut self) -> BufferArgument {
                    let $this = self;
                    BufferMut::part_mut($slice_mut)
                }
            }
        )*
    };
}

like_slices! {
    [T: Element] T, it => core::slice::from_ref(it), core::slice::from_mut(it);
    [T: Element, const N: usize] [T; N], it => it.as_slice(), it.as_mut_slice();
    [T: Element] Vec<T>, it => it.as_slice(), it.as_mut_slice();
}
