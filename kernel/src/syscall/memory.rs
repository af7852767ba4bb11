//! The heap: `brk`, and anonymous `mmap` inside the segment. Nothing is mapped or unmapped by these calls, since all of a
//! segment always is; they keep account, and clear what they hand out.

use lwk_abi::address::{PAGE_BYTES, SEGMENT_START};
use lwk_abi::syscall::errno::{EACCES, EBADF, EEXIST, EINVAL, ENODEV};
use lwk_mm::heap::{Grant, HeapError, Span};

use super::{Answer, Errno};
use crate::arch::copy;
use crate::memory;
use crate::rank::Rank;

const PROT_EXEC: u64 = 4;
const MAP_SHARED: u64 = 1;
const MAP_PRIVATE: u64 = 2;
const MAP_SHARED_VALIDATE: u64 = 3;
const MAP_TYPE: u64 = 0xf;
const MAP_FIXED: u64 = 0x10;
const MAP_ANONYMOUS: u64 = 0x20;
const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;

impl From<HeapError> for Errno {
    fn from(problem: HeapError) -> Errno {
        Errno(problem.errno())
    }
}

/// Arguments of `mmap(2)`.
pub struct MapRequest {
    address: u64,
    bytes: u64,
    protection: u64,
    flags: u64,
    descriptor: u32,
    offset: u64,
}

impl MapRequest {
    pub fn new(
        address: u64,
        bytes: u64,
        protection: u64,
        flags: u64,
        descriptor: u64,
        offset: u64,
    ) -> MapRequest {
        MapRequest { address, bytes, protection, flags, descriptor: descriptor as u32, offset }
    }
}

/// `brk(2)`: the new break, or the old one if it cannot move there.
pub fn brk(rank: &Rank, requested: u64) -> u64 {
    clear(rank, rank.with_heap(|heap| heap.brk(requested)))
}

/// `mmap(2)`, anonymous memory only. It is readable and writable whatever protection is asked for, except that code cannot be
/// made at run time (`EACCES`, as on a Linux that forbids it).
pub fn map(rank: &Rank, request: &MapRequest) -> Answer {
    if !request.offset.is_multiple_of(PAGE_BYTES) {
        return Err(Errno(EINVAL));
    }
    if request.flags & MAP_ANONYMOUS == 0 {
        // The descriptors there are lead to the console, which cannot be mapped.
        return Err(Errno(if request.descriptor <= 2 { ENODEV } else { EBADF }));
    }
    if !matches!(request.flags & MAP_TYPE, MAP_SHARED | MAP_PRIVATE | MAP_SHARED_VALIDATE)
        || request.bytes == 0
    {
        return Err(Errno(EINVAL));
    }
    if request.protection & PROT_EXEC != 0 {
        return Err(Errno(EACCES));
    }
    let MapRequest { address, bytes, flags, .. } = *request;
    let grant = rank.with_heap(|heap| {
        if flags & MAP_FIXED_NOREPLACE != 0 {
            let end = address.saturating_add(bytes);
            let taken = |area: &Span| area.start < end && address < area.end;
            if heap.areas().iter().any(taken) {
                return Err(Errno(EEXIST));
            }
        }
        if flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0 {
            return Ok(heap.map_fixed(address, bytes)?);
        }
        Ok(heap.map(bytes)?)
    })?;
    Ok(clear(rank, grant))
}

/// `munmap(2)`.
pub fn unmap(rank: &Rank, address: u64, bytes: u64) -> Answer {
    rank.with_heap(|heap| heap.unmap(address, bytes))?;
    Ok(0)
}

/// Clears what of a grant was used before, and returns its address.
fn clear(rank: &Rank, grant: Grant) -> u64 {
    for span in grant.stale {
        let start = memory::linear(rank.segment()).wrapping_add((span.start - SEGMENT_START) as usize);
        // SAFETY: the heap hands out whole pages of the rank's own segment, which the program does not count on before the
        // call returns.
        unsafe { copy::zero_lines(start, (span.end - span.start) as usize) };
    }
    grant.address
}
