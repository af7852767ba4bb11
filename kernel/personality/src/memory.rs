//! Memory: `brk`, and `mmap` inside the segment. Nothing is mapped or unmapped by these calls, since all of a segment always is;
//! they keep account, and clear what they hand out. A mapping of a file is a copy of it.

use lwk_abi::address::PAGE_BYTES;
use lwk_abi::syscall::errno::{EACCES, EEXIST, EFAULT, EINVAL, ENODEV, ENOMEM};
use lwk_abi::syscall::{map, protection};
use lwk_mm::Access;
use lwk_mm::heap::{Grant, HeapError, Span, Transfer};

use crate::descriptors::Target;
use crate::machine::Machine;
use crate::process::Process;
use crate::{Answer, Errno};

const REMAP_MAY_MOVE: u32 = 1;

fn refused(problem: HeapError) -> Errno {
    Errno(problem.errno())
}

/// Arguments of `mmap(2)`, unchecked.
pub struct MapRequest {
    address: u64,
    bytes: u64,
    protection: u64,
    flags: u64,
    fd: u32,
    offset: u64,
}

impl MapRequest {
    /// The six arguments in the call's order.
    pub fn new([address, bytes, protection, flags, fd, offset]: [u64; 6]) -> MapRequest {
        MapRequest { address, bytes, protection, flags, fd: fd as u32, offset }
    }
}

impl Process {
    /// `brk(2)`: the new break, or the old one if it cannot move there.
    pub(crate) fn brk<M: Machine>(&mut self, machine: &M, requested: u64) -> u64 {
        let before = self.heap.break_end();
        let grant = self.heap.brk(requested);
        machine.granted(before.min(grant.address), grant.address);
        clear(machine, grant)
    }

    /// `mmap(2)`. The memory is readable and writable whatever protection is asked for, except that code cannot be made at run
    /// time (`EACCES`, as on a Linux that forbids it). A file's content is copied; one that is to be shared for writing is
    /// `ENODEV`, since what is written would not reach it.
    pub(crate) fn map<M: Machine>(&mut self, machine: &M, request: &MapRequest) -> Answer {
        if !request.offset.is_multiple_of(PAGE_BYTES) {
            return Err(Errno(EINVAL));
        }
        let file = if request.flags & map::ANONYMOUS == 0 { Some(self.mappable(request)?) } else { None };
        if !matches!(request.flags & map::TYPE, map::SHARED | map::PRIVATE | map::SHARED_VALIDATE)
            || request.bytes == 0
        {
            return Err(Errno(EINVAL));
        }
        if request.protection & protection::EXECUTE != 0 {
            return Err(Errno(EACCES));
        }
        let MapRequest { address, bytes, flags, .. } = *request;
        if flags & map::FIXED_NOREPLACE != 0 {
            let end = address.saturating_add(bytes);
            if self.heap.areas().iter().any(|area| area.touches(address, end)) {
                return Err(Errno(EEXIST));
            }
        }
        let grant = if flags & (map::FIXED | map::FIXED_NOREPLACE) != 0 {
            self.heap.map_fixed(address, bytes)
        } else {
            self.heap.map(bytes)
        };
        let grant = grant.map_err(refused)?;
        machine.granted(grant.address, grant.address.saturating_add(bytes));
        let start = clear(machine, grant);
        if let Some(id) = file {
            let mut to = start;
            machine.files(|files| {
                files.read(id, request.offset, bytes, |piece| {
                    machine.write(to, piece)?;
                    to += piece.len() as u64;
                    Ok(())
                })
            })?;
        }
        Ok(start)
    }

    /// The file that a mapping is to show.
    fn mappable(&self, request: &MapRequest) -> Result<lwk_files::NodeId, Errno> {
        let description = self.descriptors.get(request.fd)?;
        let Target::File(id) = description.target else { return Err(Errno(ENODEV)) };
        if !description.is_readable() {
            return Err(Errno(EACCES));
        }
        let shared = matches!(request.flags & map::TYPE, map::SHARED | map::SHARED_VALIDATE);
        if shared && request.protection & protection::WRITE != 0 { Err(Errno(ENODEV)) } else { Ok(id) }
    }

    /// `munmap(2)`.
    pub(crate) fn unmap(&mut self, address: u64, bytes: u64) -> Answer {
        self.heap.unmap(address, bytes).map_err(refused)?;
        Ok(0)
    }

    /// `mremap(2)` of an area: shorter, longer in place, or moved if that is allowed.
    pub(crate) fn remap<M: Machine>(
        &mut self,
        machine: &M,
        address: u64,
        old_bytes: u64,
        new_bytes: u64,
        flags: u32,
        _target: u64,
    ) -> Answer {
        // A place of the program's choice is not supported, and neither is a second view of the same memory.
        if flags & !REMAP_MAY_MOVE != 0 || !address.is_multiple_of(PAGE_BYTES) {
            return Err(Errno(EINVAL));
        }
        let whole = |bytes: u64| {
            bytes.checked_next_multiple_of(PAGE_BYTES).filter(|bytes| *bytes > 0).ok_or(Errno(EINVAL))
        };
        let (old, new) = (whole(old_bytes)?, whole(new_bytes)?);
        let end = address.checked_add(old).ok_or(Errno(EINVAL))?;
        let area = self.heap.areas().iter().find(|area| area.start() <= address && end <= area.end());
        let area = *area.ok_or(Errno(EFAULT))?;
        if new <= old {
            if new < old {
                self.heap.unmap(address + new, old - new).map_err(refused)?;
            }
            return Ok(address);
        }
        let longer_end = address.checked_add(new).ok_or(Errno(ENOMEM))?;
        // What follows is free if the area ends here and the next one is far enough.
        let next = self.heap.areas().iter().map(Span::start).find(|start| *start >= area.end());
        let room = next.unwrap_or(machine.layout().heap_end);
        if area.end() == end && longer_end <= room {
            let grant = self.heap.map_fixed(end, new - old).map_err(refused)?;
            machine.granted(end, longer_end);
            clear(machine, grant);
            return Ok(address);
        }
        if flags & REMAP_MAY_MOVE == 0 {
            return Err(Errno(ENOMEM));
        }
        let grant = self.heap.map(new).map_err(refused)?;
        machine.granted(grant.address, grant.address.saturating_add(new));
        let start = clear(machine, grant);
        let (source, target) = (self.heap.span(address, old), self.heap.span(start, new));
        let transfer = source.zip(target).and_then(|(source, target)| Transfer::new(source, target));
        // Both are mapped, and what was just granted was free before.
        machine.copy_pages(transfer.ok_or(Errno(EFAULT))?);
        self.heap.unmap(address, old).map_err(refused)?;
        Ok(start)
    }

    /// `madvise(2)`: advice is taken as heard, but what is said to be needed no more is zeros when it is looked at again.
    pub(crate) fn advise<M: Machine>(
        &mut self,
        machine: &M,
        address: u64,
        bytes: u64,
        advice: u32,
    ) -> Answer {
        const DONT_NEED: u32 = 4;
        /// The rest of Linux's generic advice, as far as it has no effect on content (`asm-generic/mman-common.h`).
        const HARMLESS: [u32; 16] = [0, 1, 2, 3, 8, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 25];
        if !address.is_multiple_of(PAGE_BYTES) {
            return Err(Errno(EINVAL));
        }
        let end = whole_end(address, bytes)?;
        check_mapped(machine, address, end)?;
        match advice {
            DONT_NEED => {
                // Only areas: nothing else is anonymous memory that could come back as zeros.
                let parts = self.heap.areas().iter().filter_map(|area| area.within(address, end));
                parts.for_each(|part| machine.clear_pages(part));
                Ok(0)
            }
            advice if HARMLESS.contains(&advice) => Ok(0),
            _ => Err(Errno(EINVAL)),
        }
    }
}

/// `mprotect(2)`. The linear map never changes. What would allow no more than is allowed is accepted, and what it would forbid
/// stays allowed; what would allow more is `EACCES`. Errors beside that: `EINVAL` for an address that begins no page and for unknown bits,
/// `ENOMEM` for a range that is not mapped.
pub fn protect<M: Machine>(machine: &M, address: u64, bytes: u64, wanted: u64) -> Answer {
    if !address.is_multiple_of(PAGE_BYTES) || wanted & !protection::ALL != 0 {
        return Err(Errno(EINVAL));
    }
    let end = whole_end(address, bytes)?;
    check_mapped(machine, address, end)?;
    let needed = Access {
        read: true,
        write: wanted & protection::WRITE != 0,
        execute: wanted & protection::EXECUTE != 0,
    };
    let allowed = end == address || machine.layout().check(address, end - address, needed).is_ok();
    if allowed { Ok(0) } else { Err(Errno(EACCES)) }
}

/// `msync(2)`: there is nothing to bring up to date. Errors: `EINVAL` for an address that begins no page, `ENOMEM` for a range that is not mapped.
pub fn synchronise<M: Machine>(machine: &M, address: u64, bytes: u64) -> Answer {
    if !address.is_multiple_of(PAGE_BYTES) {
        return Err(Errno(EINVAL));
    }
    check_mapped(machine, address, whole_end(address, bytes)?)?;
    Ok(0)
}

/// `mlock(2)`, `munlock(2)`: all memory is always there. Errors: `ENOMEM` for what is not mapped.
pub fn lock<M: Machine>(machine: &M, address: u64, bytes: u64) -> Answer {
    let start = address - address % PAGE_BYTES;
    let bytes = bytes.checked_add(address - start).ok_or(Errno(EINVAL))?;
    check_mapped(machine, start, whole_end(start, bytes)?)?;
    Ok(0)
}

/// `mlock2(2)`. Errors: `EINVAL` for unknown flags, `ENOMEM` for what is not mapped.
pub fn lock_as<M: Machine>(machine: &M, address: u64, bytes: u64, flags: u64) -> Answer {
    /// `MLOCK_ONFAULT`.
    const ON_FAULT: u32 = 1;
    if flags as u32 & !ON_FAULT != 0 { Err(Errno(EINVAL)) } else { lock(machine, address, bytes) }
}

/// `mlockall(2)`: all memory is always there. Errors: `EINVAL` for flags that say nothing, or what there is not.
pub fn lock_all(flags: u64) -> Answer {
    /// What is mapped now, what will be, and only when it is used: the last not alone.
    const ALL: u32 = 7;
    const ON_FAULT: u32 = 4;
    match flags as u32 {
        0 | ON_FAULT => Err(Errno(EINVAL)),
        flags if flags & !ALL != 0 => Err(Errno(EINVAL)),
        _ => Ok(0),
    }
}

/// The end of a range of whole pages.
fn whole_end(address: u64, bytes: u64) -> Result<u64, Errno> {
    let bytes = bytes.checked_next_multiple_of(PAGE_BYTES).ok_or(Errno(ENOMEM))?;
    address.checked_add(bytes).ok_or(Errno(ENOMEM))
}

/// All of it is memory of the rank's own; `ENOMEM`.
fn check_mapped<M: Machine>(machine: &M, address: u64, end: u64) -> Result<(), Errno> {
    machine.layout().check(address, end - address, Access::R).map(|_| ()).map_err(|_| Errno(ENOMEM))
}

/// Clears what of a grant was used before, and returns its address.
fn clear<M: Machine>(machine: &M, grant: Grant) -> u64 {
    for span in &grant.stale {
        machine.clear_pages(*span);
    }
    grant.address
}
