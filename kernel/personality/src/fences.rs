//! Fences on the cores of other ranks: `membarrier(2)`. A program whose one side stores and looks often and whose other side does so rarely has the rare side
//! pay for both.

use lwk_abi::syscall::errno::{EINVAL, ENOSYS};
use lwk_abi::syscall::membarrier::{
    GLOBAL, GLOBAL_EXPEDITED, PRIVATE_EXPEDITED, QUERY, REGISTER_GLOBAL_EXPEDITED, REGISTER_PRIVATE_EXPEDITED,
};

use crate::machine::Machine;
use crate::{Answer, Errno};

const ALL: u64 =
    GLOBAL | GLOBAL_EXPEDITED | REGISTER_GLOBAL_EXPEDITED | PRIVATE_EXPEDITED | REGISTER_PRIVATE_EXPEDITED;

/// `membarrier(2)`; the commands that concern all processes concern the ranks of the job. Errors: `EINVAL` for other commands and for flags; `ENOSYS` where
/// other cores cannot be reached.
pub fn membarrier<M: Machine>(machine: &M, command: u64, flags: u64) -> Answer {
    if flags != 0 {
        return Err(Errno(EINVAL));
    }
    if !machine.can_fence_ranks() {
        return Err(Errno(ENOSYS));
    }
    match command {
        QUERY => Ok(ALL),
        // A rank has one thread.
        REGISTER_GLOBAL_EXPEDITED | REGISTER_PRIVATE_EXPEDITED | PRIVATE_EXPEDITED => Ok(0),
        GLOBAL | GLOBAL_EXPEDITED => {
            machine.fence_ranks();
            Ok(0)
        }
        _ => Err(Errno(EINVAL)),
    }
}
