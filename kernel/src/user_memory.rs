//! User memory, seen from the kernel. What a program passes is an allegation ([`UserSlice`]) that can do nothing but be
//! checked; what passes ([`UserMemory`]) is a piece of some rank's segment, in the linear map.
//!
//! A peer's memory is as good as one's own: the slot in the address says whose layout is asked.

use core::marker::PhantomData;

use lwk_abi::address::{SLOT_BYTES, USER_END, slot_of};
use lwk_abi::syscall::errno::EFAULT;
use lwk_mm::Access;
use lwk_mm::layout::Readable;

use crate::arch;
use crate::memory;
use crate::rank::Rank;
use crate::syscall::Errno;

/// An address and a length in bytes that a program claims to be memory, in its own slot or in a peer's.
#[derive(Clone, Copy, Debug)]
pub struct UserSlice {
    address: u64,
    bytes: u64,
}

/// Checked user memory: mapped, and allowed to be used as was asked, for as long as the job lives. It may change at any
/// time under the reader's hands.
#[derive(Clone, Copy, Debug)]
pub struct UserMemory<'a> {
    start: *mut u8,
    bytes: usize,
    rank: PhantomData<&'a Rank>,
}

impl UserSlice {
    /// Any two numbers.
    pub fn new(address: u64, bytes: u64) -> UserSlice {
        UserSlice { address, bytes }
    }

    /// Checks that `rank` may read all of it. Errors: `EFAULT`.
    pub fn readable(self, rank: &Rank) -> Result<UserMemory<'_>, Errno> {
        let (owner, local) = self.owner(rank)?;
        let start = match owner.layout().check_read(local, self.bytes).map_err(|_| Errno(EFAULT))? {
            Readable::Segment(offset) => owner.segment().0 + offset,
            Readable::JobPage(offset) => owner.job_page().0 + offset,
        };
        Ok(self.at(start))
    }

    /// Checks that `rank` may write all of it. Errors: `EFAULT`.
    pub fn writable(self, rank: &Rank) -> Result<UserMemory<'_>, Errno> {
        let (owner, local) = self.owner(rank)?;
        let offset = owner.layout().check(local, self.bytes, Access::RW).map_err(|_| Errno(EFAULT))?;
        Ok(self.at(owner.segment().0 + offset))
    }

    /// The rank that owns the slot of the address, and the address within it. No range passes the end of a slot: the last
    /// pages of every slot are unmapped.
    fn owner<'a>(&self, rank: &'a Rank) -> Result<(&'a Rank, u64), Errno> {
        if self.address >= USER_END {
            return Err(Errno(EFAULT));
        }
        match slot_of(self.address) {
            0 => Ok((rank, self.address)),
            slot => {
                let owner = rank.job().rank(slot as usize - 1).ok_or(Errno(EFAULT))?;
                Ok((owner, self.address % SLOT_BYTES))
            }
        }
    }

    fn at<'a>(self, physical: u64) -> UserMemory<'a> {
        let start = memory::linear(lwk_mm::address::PhysAddr(physical));
        UserMemory { start, bytes: self.bytes as usize, rank: PhantomData }
    }
}

impl UserMemory<'_> {
    /// How many bytes have been checked.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Copies the first bytes into `target`, which must not be longer than this memory.
    pub fn copy_to(&self, target: &mut [u8]) {
        assert!(target.len() <= self.bytes, "only checked memory is read");
        // SAFETY: the check at construction covers `bytes`; segments are mapped in the linear map and live until the node
        // ends; the target is the kernel's own.
        unsafe { arch::copy::copy(target.as_mut_ptr(), self.start, target.len()) };
    }

    /// Copies `source` over the first bytes. Only for memory that [`UserSlice::writable`] checked.
    pub fn copy_from(&self, source: &[u8]) {
        assert!(source.len() <= self.bytes, "only checked memory is written");
        // SAFETY: as for `copy_to`, and the linear map is writable; that the program may write there, which shares it knowingly, is what
        // the caller has had checked.
        unsafe { arch::copy::copy(self.start, source.as_ptr(), source.len()) };
    }

    /// This memory from byte `offset` on, at most `bytes` of it.
    pub fn piece(&self, offset: usize, bytes: usize) -> Self {
        let offset = offset.min(self.bytes);
        UserMemory {
            start: self.start.wrapping_add(offset),
            bytes: bytes.min(self.bytes - offset),
            rank: PhantomData,
        }
    }
}
