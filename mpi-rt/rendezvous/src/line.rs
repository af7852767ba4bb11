//! What two ranks touch at different times shares no cache line.

/// What lies in a cache line of its own.
#[repr(align(64))]
pub(crate) struct Line<T>(pub T);
