//! What a completed operation tells.

use crate::abi::{ANY_SOURCE, ANY_TAG, PROC_NULL};
use crate::error::Error;

/// The outcome of one operation (MPI-5.0, section 3.2.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// Rank of the sender in the communicator.
    pub source: i32,
    pub tag: i32,
    /// What went wrong in this operation.
    pub error: Option<Error>,
    /// Bytes received.
    pub bytes: u64,
    pub cancelled: bool,
    /// It is that of no active request: an empty status, with success as its error (section 3.7.3), where others leave that field alone.
    pub empty: bool,
}

impl Status {
    /// Of a send, and of anything that has nothing to tell.
    pub const EMPTY: Status =
        Status { source: ANY_SOURCE, tag: ANY_TAG, error: None, bytes: 0, cancelled: false, empty: false };

    /// Of a null or inactive request.
    pub const OF_NOTHING: Status = Status { empty: true, ..Status::EMPTY };

    /// Of a receive from nobody.
    pub const PROC_NULL: Status = Status { source: PROC_NULL, ..Status::EMPTY };

    /// Of a receive: whose message by its rank in the communicator, which tag, how many bytes.
    #[inline(always)]
    pub const fn received(source: i32, tag: i32, bytes: u64) -> Status {
        Status { source, tag, bytes, ..Status::EMPTY }
    }

    /// Whole elements of a type that were received; `None` if the bytes are not a whole number of them.
    pub fn count<T: Counted>(&self) -> Option<usize> {
        let bytes = usize::try_from(self.bytes).ok()?;
        bytes.is_multiple_of(T::BYTES).then_some(bytes / T::BYTES)
    }
}

/// Types whose values messages are made of.
pub trait Counted {
    /// Bytes of one in a message: those of its parts, without padding. Not 0.
    const BYTES: usize;
}

macro_rules! counted {
    ($($type:ty)*) => {
        $(
            impl Counted for $type {
                const BYTES: usize = size_of::<$type>();
            }
        )*
    };
}

counted! { u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_counted_if_they_are_whole() {
        let status = Status::received(0, 0, 24);
        assert_eq!(
            (status.count::<u8>(), status.count::<i16>(), status.count::<f64>()),
            (Some(24), Some(12), Some(3))
        );
        assert_eq!(Status::received(0, 0, 6).count::<u32>(), None);
    }
}
