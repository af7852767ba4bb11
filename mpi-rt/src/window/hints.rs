//! Info hints of windows (MPI-5.0, sections 12.2.1 and 12.2.7). All but one change nothing here; they are kept and told again.

use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;
use crate::info::Info;

/// Each rank's part of shared memory may lie apart from the others'.
const NONCONTIGUOUS: &[u8] = b"alloc_shared_noncontig";

/// The hints that the standard names, and what holds without them.
const KNOWN: [(&[u8], &[u8]); 7] = [
    (b"no_locks", b"false"),
    (b"accumulate_ordering", b"rar,raw,war,waw"),
    (b"accumulate_ops", b"same_op_no_op"),
    (b"mpi_accumulate_granularity", b"0"),
    (b"same_size", b"false"),
    (b"same_disp_unit", b"false"),
    (NONCONTIGUOUS, b"false"),
];

/// Whether the hints ask for shared memory that need not be one piece.
pub fn asks_noncontiguous(hints: &Info) -> bool {
    matches!(hints.get(NONCONTIGUOUS), Ok(Some(b"true")))
}

/// What holds without hints.
pub(super) fn defaults() -> Result<Info> {
    let mut info = Info::new();
    KNOWN.iter().try_for_each(|(key, value)| info.set(key, value))?;
    Ok(info)
}

impl Engine {
    /// Takes note of the hints that the standard names. Errors: `WIN`.
    pub fn win_set_info(&mut self, window: Handle, hints: &Info) -> Result<()> {
        let known = hints.only(&KNOWN.map(|(key, _)| key));
        self.window_mut(window)?.hints.merge(&known);
        Ok(())
    }

    /// The hints that hold. Errors: `WIN`.
    pub fn win_info(&self, window: Handle) -> Result<&Info> {
        Ok(&self.window(window)?.hints)
    }
}
