//! Accumulate and get_accumulate of several elements of one type next to each other, under the target's lock: what most programs do, with few instructions.

use crate::Windows;
use crate::{Buffer, TargetBuffer};
use core::ptr::null_mut;
use lwk_copy::copy;
use lwk_mpi_core::handle::Handle;
use lwk_mpi_rt::buffer::is_none;
use lwk_mpi_rt::operation::{Combiner, Operation};

impl Windows {
    /// The commonest updates of several elements, where they are made under the target's lock; what was there goes to `result`, if there is one. False if nothing
    /// has happened, for whatever reason.
    ///
    /// # Safety
    /// As for [`Windows::get_accumulate`]; the result has room for the origin's items.
    #[inline(always)]
    pub(super) unsafe fn update_in_bulk(
        &self,
        origin: &Buffer,
        result: Option<*mut u8>,
        place: &TargetBuffer,
        operation: u64,
        window: Handle,
    ) -> bool {
        if is_none(origin.address) || result.is_some_and(|it| is_none(it)) {
            return false;
        }
        let Some(block) = self.direct(origin.count, origin.datatype, place, window) else { return false };
        let Some(beside) = block.in_bulk() else { return false };
        let Ok(Operation { combiner: Combiner::Fast(kernel), .. }) =
            self.operation(operation, origin.datatype)
        else {
            return false;
        };
        // SAFETY: the origin is readable for its items and apart from the target's (this function's contract), which lie in its part (`direct`); the
        // kernel is of their type. Under the lock nobody else updates them.
        beside.locked(|| unsafe {
            if let Some(result) = result {
                copy(block.address, result, block.bytes);
            }
            kernel(origin.address, block.address, block.address, null_mut(), origin.count as usize);
        });
        true
    }
}
