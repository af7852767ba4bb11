//! Info hints of windows (MPI-5.0, sections 12.2.1 and 12.2.7). All but two change nothing here; they are kept and told again.

use crate::Windows;
use lwk_copy::threshold::{BULK_BYTES, BULK_ELEMENTS};
use lwk_mpi_core::error::Result;
use lwk_mpi_core::handle::Handle;
use lwk_mpi_core::info::Info;

/// Each rank's part of shared memory may lie apart from the others'.
const NONCONTIGUOUS: &[u8] = b"alloc_shared_noncontig";

/// Bytes of elements that are updated atomically with one synchronization; 0: as the library sees fit.
const GRANULARITY: &[u8] = b"mpi_accumulate_granularity";

/// The hints that the standard names, and what holds without them.
const KNOWN: [(&[u8], &[u8]); 7] = [
    (b"no_locks", b"false"),
    (b"accumulate_ordering", b"rar,raw,war,waw"),
    (b"accumulate_ops", b"same_op_no_op"),
    (GRANULARITY, b"0"),
    (b"same_size", b"false"),
    (b"same_disp_unit", b"false"),
    (NONCONTIGUOUS, b"false"),
];

/// Whether the hints ask for shared memory that need not be one piece.
pub fn asks_noncontiguous(hints: &Info) -> bool {
    matches!(hints.get(NONCONTIGUOUS), Ok(Some(b"true")))
}

/// Bytes of elements that are updated at once, and 0 for one by one, as `mpi_accumulate_granularity` asks for it; `None` if it says no such number. A program
/// that sets it to the size of its elements wants them updated by instructions.
fn bulk_bytes(hints: &Info) -> Option<usize> {
    let text = hints.get(GRANULARITY).ok()??;
    match core::str::from_utf8(text).ok()?.parse().ok()? {
        0 => Some(BULK_BYTES),
        bytes if bytes < BULK_ELEMENTS * size_of::<u64>() => Some(0),
        bytes => Some(bytes),
    }
}

/// What holds without hints.
pub(super) fn defaults() -> Result<Info> {
    let mut info = Info::new();
    KNOWN.iter().try_for_each(|(key, value)| info.set(key, value))?;
    Ok(info)
}

impl Windows {
    /// Takes note of the hints that the standard names. Errors: `WIN`.
    pub fn win_set_info(&mut self, window: Handle, hints: &Info) -> Result<()> {
        let known = hints.only(&KNOWN.map(|(key, _)| key));
        let it = self.window_mut(window)?;
        it.hints.merge(&known);
        if let Some(bytes) = bulk_bytes(&it.hints) {
            let mapped = it.targets.iter().filter_map(|target| target.mapped.as_ref());
            mapped.for_each(|mapped| mapped.beside.set_bulk_bytes(bytes));
        }
        Ok(())
    }

    /// The hints that hold. Errors: `WIN`.
    pub fn win_info(&self, window: Handle) -> Result<&Info> {
        Ok(&self.window(window)?.hints)
    }
}
