//! Pointers of programs. What a program passes is an allegation ([`UserSlice`]) that can do nothing but be checked; what passes is
//! [`UserMemory`].
//!
//! A peer's memory is as good as one's own: the slot in the address says whose layout is asked.

use lwk_abi::address::{SLOT_BYTES, USER_END, slot_of};
use lwk_abi::syscall::errno::EFAULT;
use lwk_mm::Access;
use lwk_mm::layout;
use lwk_personality::Errno;

use crate::job::Job;
use crate::rank::Rank;
use crate::user_memory::{Readable, UserMemory, Writable};

/// An address and a length in bytes that a program claims to be memory, in its own slot or in a peer's.
#[derive(Clone, Copy, Debug)]
pub struct UserSlice {
    address: u64,
    bytes: u64,
}

impl UserSlice {
    /// Any two numbers.
    pub fn new(address: u64, bytes: u64) -> UserSlice {
        UserSlice { address, bytes }
    }

    /// Checks that `rank` of `job` may read all of it. Errors: `EFAULT`.
    pub fn readable<'a>(self, job: &Job, rank: &'a Rank) -> Result<UserMemory<'a, Readable>, Errno> {
        let (owner, local) = self.owner(job, rank)?;
        match owner.layout().check_read(local, self.bytes).map_err(|_| Errno(EFAULT))? {
            layout::Readable::Segment(offset) => Ok(owner.segment().readable(offset, self.bytes)),
            layout::Readable::JobPage(offset) => Ok(owner.job_page().readable(offset, self.bytes)),
        }
    }

    /// Checks that `rank` of `job` may write all of it. Errors: `EFAULT`.
    pub fn writable<'a>(self, job: &Job, rank: &'a Rank) -> Result<UserMemory<'a, Writable>, Errno> {
        let (owner, local) = self.owner(job, rank)?;
        let offset = owner.layout().check(local, self.bytes, Access::RW).map_err(|_| Errno(EFAULT))?;
        Ok(owner.segment().writable(offset, self.bytes))
    }

    /// The rank that owns the slot of the address, and the address within it. No range passes the end of a slot: the last
    /// pages of every slot are unmapped.
    fn owner<'a>(&self, job: &Job, rank: &'a Rank) -> Result<(&'a Rank, u64), Errno> {
        if self.address >= USER_END {
            return Err(Errno(EFAULT));
        }
        match slot_of(self.address) {
            0 => Ok((rank, self.address)),
            slot => {
                let owner = job.rank(slot as usize - 1).ok_or(Errno(EFAULT))?;
                Ok((owner, self.address % SLOT_BYTES))
            }
        }
    }
}
