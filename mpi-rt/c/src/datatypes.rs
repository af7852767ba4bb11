//! Datatypes, packing, addresses (MPI-5.0, chapter 5).

use crate::mpi;
use crate::statuses;
use crate::types::{Datatype, Status, UNDEFINED, give};
use lwk_mpi_rt::datatype::predefined;

mpi! {
    /// Whole elements in a message, or `MPI_UNDEFINED` if its end is inside one (MPI-5.0, section 3.2.5).
    fn Get_count + Get_count_c<N>(status: *const Status, datatype: Datatype, count: *mut N) on Nothing {
        let (bytes, size) = (statuses::read(status)?.length(), predefined(datatype)?.bytes as u64);
        let whole = match bytes.checked_rem(size) {
            // A datatype without content: as many as were asked for cannot be known, and zero is what MPI-5.0 says.
            None => N::narrow(0),
            Some(0) => N::narrow((bytes / size) as i64),
            Some(_) => None,
        };
        give(count, whole.or(N::narrow(UNDEFINED as i64)).ok_or(lwk_mpi_rt::Error::INTERN)?)
    }
}
