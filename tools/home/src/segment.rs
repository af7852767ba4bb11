//! The memory of one rank: memory objects, and how they are mapped into slots.
//!
//! A segment and its job page are an anonymous shared memory object, which vanishes with the last process that maps it. Where
//! the system has reserved huge pages, the inner 2 MiB blocks of writable memory are a second object made of those. Every
//! process of the job maps a segment with the same parts and the same access, at whatever slot.

use std::ffi::c_void;
use std::fs::File;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;

use lwk_abi::address::{JOB_PAGE, PAGE_BYTES, SLOT_SHIFT};
use lwk_abi::job_page::JobPage;
use lwk_mm::Access;
use lwk_mm::layout::{Layout, Region};
use nix::errno::Errno;
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, mprotect};
use nix::unistd::ftruncate;

use crate::pages::HUGE_BYTES;
use crate::setup::FilePart;

/// The memory objects of one rank.
#[derive(Debug)]
pub struct Segment {
    /// All of it in small pages; what [`Segment::huge`] has is never touched here. Offset 0 is address 0, as large pages ask for.
    small: OwnedFd,
    /// Blocks of reserved huge pages. Offset 0 is address 0.
    huge: Option<OwnedFd>,
}

/// A piece of a region that comes from one memory object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    start: u64,
    end: u64,
    huge: bool,
}

impl Segment {
    /// Objects for a segment of this layout, with its inner blocks of huge pages if they are `reserved`; memory is taken when it is touched.
    ///
    /// # Errors
    /// Linux refuses a memory object of that size.
    pub fn new(layout: &Layout, reserved: bool) -> nix::Result<Segment> {
        let small = memfd_create(c"margay-segment", MFdFlags::MFD_CLOEXEC)?;
        ftruncate(&small, size(layout.stack_end)?)?;
        if !reserved {
            return Ok(Segment { small, huge: None });
        }
        let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_HUGETLB | MFdFlags::MFD_HUGE_2MB;
        let huge = memfd_create(c"margay-segment-huge", flags)?;
        ftruncate(&huge, size(layout.stack_end.next_multiple_of(HUGE_BYTES))?)?;
        Ok(Segment { small, huge: Some(huge) })
    }

    /// The objects of [`Segment::descriptors`], in another process.
    pub fn from_descriptors(small: OwnedFd, huge: Option<OwnedFd>) -> Segment {
        Segment { small, huge }
    }

    /// Descriptors of its memory objects, of small pages and of huge ones; -1 for none.
    pub fn descriptors(&self) -> [RawFd; 2] {
        [self.small.as_raw_fd(), self.huge.as_ref().map_or(-1, |huge| huge.as_raw_fd())]
    }

    /// Maps the segment at `slot`, where nothing may be mapped yet (`EEXIST`). With `writable`, all of it can be written, to
    /// be filled; [`protect`] then gives each part its access. Other errors: `ENOMEM`; what was mapped before the error stays.
    pub fn map(&self, layout: &Layout, slot: u64, writable: bool) -> nix::Result<()> {
        for region in parts(layout) {
            let access = if writable { Access::RW } else { region.access };
            for piece in self.pieces(&region) {
                self.map_piece(piece, slot, access, MapFlags::MAP_FIXED_NOREPLACE)?;
            }
        }
        Ok(())
    }

    /// As [`Segment::map`] for the regions that are `wanted`, over whatever is mapped there: valgrind knows no other way.
    ///
    /// # Safety
    /// Nothing that is in use may be mapped there.
    pub unsafe fn map_over(
        &self,
        layout: &Layout,
        slot: u64,
        wanted: impl Fn(&Region) -> bool,
    ) -> nix::Result<()> {
        for region in parts(layout).filter(wanted) {
            for piece in self.pieces(&region) {
                self.map_piece(piece, slot, region.access, MapFlags::MAP_FIXED)?;
            }
        }
        Ok(())
    }

    fn pieces(&self, region: &Region) -> impl Iterator<Item = Piece> + use<> {
        let Region { start, end, access } = *region;
        // Before, inside and after the whole huge blocks.
        let (mut low, mut high) = (end, end);
        if self.huge.is_some() && access == Access::RW {
            low = start.next_multiple_of(HUGE_BYTES).min(end);
            high = (end - end % HUGE_BYTES).max(low);
        }
        [(start, low, false), (low, high, true), (high, end, false)]
            .into_iter()
            .filter(|(start, end, _)| start < end)
            .map(|(start, end, huge)| Piece { start, end, huge })
    }

    fn map_piece(&self, piece: Piece, slot: u64, access: Access, placing: MapFlags) -> nix::Result<()> {
        let (object, offset) = match &self.huge {
            Some(huge) if piece.huge => (huge, piece.start),
            _ => (&self.small, piece.start),
        };
        let address = NonZeroUsize::new(((slot << SLOT_SHIFT) | piece.start) as usize);
        let bytes = NonZeroUsize::new((piece.end - piece.start) as usize).ok_or(Errno::EINVAL)?;
        // What cannot be written is the same, shared or not; a debugger can put breakpoints only where it is not.
        let sharing = if access.write { MapFlags::MAP_SHARED } else { MapFlags::MAP_PRIVATE };
        // SAFETY: `map`'s mapping replaces none, so no memory that Rust knows of changes; `map_over`'s
        // replaces nothing that is in use (its contract).
        let mapped =
            unsafe { mmap(address, bytes, protection(access), sharing | placing, object, size(offset)?)? };
        // Kernels before 4.17 take the address for a mere wish.
        if Some(mapped.addr()) == address { Ok(()) } else { Err(Errno::EEXIST) }
    }
}

/// Maps a program's code in slot 0 from its file, over the same bytes of the memory object: so `perf` and `valgrind` know
/// which file to look in for its symbols.
pub fn map_code(code: &FilePart, file: &File) -> nix::Result<()> {
    // SAFETY: replaces code of the program, which does not run yet and which no Rust reference leads to, by the same code.
    unsafe { map_part(code, Access::RX, file) }
}

/// Maps a part of the program from its file at slot 0, over whatever is there.
///
/// # Safety
/// Nothing that is in use may be mapped there.
pub unsafe fn map_part(part: &FilePart, access: Access, file: &File) -> nix::Result<()> {
    let address = NonZeroUsize::new(part.address as usize);
    let bytes = NonZeroUsize::new(part.bytes as usize).ok_or(Errno::EINVAL)?;
    let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_FIXED;
    // SAFETY: nothing that is in use is mapped there (this function's contract).
    unsafe { mmap(address, bytes, protection(access), flags, file, size(part.offset)?) }.map(|_| ())
}

/// Has code in slot 0 writable as well, or no more, in this process alone: it is mapped privately. It stays executable
/// meanwhile, or valgrind would forget its symbols.
pub fn code_writable(layout: &Layout, writable: bool) -> nix::Result<()> {
    for region in parts(layout).filter(|region| region.access.execute) {
        let mut flags = protection(region.access);
        flags.set(ProtFlags::PROT_WRITE, writable);
        let bytes = (region.end - region.start) as usize;
        let address = pointer(0, region.start).ok_or(Errno::EINVAL)?;
        // SAFETY: memory of the program, which Rust has no reference to.
        unsafe { mprotect(address, bytes, flags)? };
    }
    Ok(())
}

/// Takes away, in the segment mapped writable at `slot`, what its layout does not allow. Errors: as mprotect(2).
pub fn protect(layout: &Layout, slot: u64) -> nix::Result<()> {
    for region in parts(layout).filter(|region| region.access != Access::RW) {
        let bytes = (region.end - region.start) as usize;
        let address = pointer(slot, region.start).ok_or(Errno::EINVAL)?;
        // SAFETY: memory of the program, which Rust has no reference to.
        unsafe { mprotect(address, bytes, protection(region.access))? };
    }
    Ok(())
}

/// Copies `bytes` into the segment that is mapped writable at `slot`, to a slot-0 address.
///
/// # Errors
/// `EFAULT` if the layout has no memory there.
pub fn fill(layout: &Layout, slot: u64, address: u64, bytes: &[u8]) -> nix::Result<()> {
    layout.check(address, bytes.len() as u64, Access::R).map_err(|_| Errno::EFAULT)?;
    let to = pointer(slot, address).ok_or(Errno::EFAULT)?.cast::<u8>();
    // SAFETY: checked above to be in the segment, all of which is mapped writable, and which no reference leads to.
    unsafe { to.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
    Ok(())
}

/// Writes the job page of the segment that is mapped writable at `slot`.
pub fn fill_job_page(slot: u64, page: &JobPage) -> nix::Result<()> {
    let to = pointer(slot, JOB_PAGE).ok_or(Errno::EFAULT)?.cast::<JobPage>();
    // SAFETY: a page of its own at the front of the mapping, writable, large enough, and no reference leads there.
    unsafe { to.write(*page) };
    Ok(())
}

/// What is mapped of a slot: the job page and the segment's regions.
fn parts(layout: &Layout) -> impl Iterator<Item = Region> {
    let page = Region { start: JOB_PAGE, end: JOB_PAGE + PAGE_BYTES, access: Access::R };
    std::iter::once(page).chain(layout.regions.iter().copied())
}

fn pointer(slot: u64, address: u64) -> Option<NonNull<c_void>> {
    NonNull::new(std::ptr::with_exposed_provenance_mut(((slot << SLOT_SHIFT) | address) as usize))
}

fn protection(access: Access) -> ProtFlags {
    let mut flags = ProtFlags::PROT_NONE;
    flags.set(ProtFlags::PROT_READ, access.read);
    flags.set(ProtFlags::PROT_WRITE, access.write);
    flags.set(ProtFlags::PROT_EXEC, access.execute);
    flags
}

fn size(bytes: u64) -> nix::Result<libc::off_t> {
    libc::off_t::try_from(bytes).map_err(|_| Errno::EFBIG)
}
