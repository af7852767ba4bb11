//! The node's files: a file system (crate `lwk-files`) in a memory object that the ranks' processes and the host tool share.
//!
//! The first page holds the lock, the pages of the file system follow. Memory is taken as pages are touched. The lock is a
//! spinning one that lets others run while it waits, since ranks may share a core; a rank that is killed while it holds it
//! takes the job along, and nobody waits for the lock after that.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use lwk_abi::job_file::FILE_SPACE_MIN;
use lwk_files::{Errno, Files, PAGE_BYTES, Page, Pages};
use lwk_machine::available_bytes;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::sys::resource::{Resource, getrlimit};
use nix::unistd::ftruncate;

use crate::arch::Gate;

/// Lets others run while a lock is waited for, without libc.
pub struct Yield;

impl spin::RelaxStrategy for Yield {
    fn relax() {
        // SAFETY: the call names no memory.
        unsafe { Gate::call(libc::SYS_sched_yield, [0; 6]) };
    }
}

/// What the first page holds.
struct Header {
    lock: spin::mutex::SpinMutex<(), Yield>,
    /// Pages in use. Relaxed throughout: the lock orders it.
    count: AtomicU32,
    /// The most there may be.
    limit: u32,
}

const _: () = assert!(size_of::<Header>() <= PAGE_BYTES);

/// The files of a node, mapped into this process until this is dropped.
#[derive(Debug)]
pub struct Volume {
    object: OwnedFd,
    start: NonNull<u8>,
    bytes: NonZeroUsize,
}

// SAFETY: the mapping belongs to the volume, not to a thread; what is behind it is used under the lock only, whichever process or thread does
// it.
unsafe impl Send for Volume {}
// SAFETY: a shared reference leads to what is behind the mapping under the lock only.
unsafe impl Sync for Volume {}

impl Volume {
    /// An empty file system that can grow to `limit` pages of 4 KiB, 64 at least.
    ///
    /// # Errors
    /// The system refuses the memory object, or the limit on file sizes is below it.
    pub fn new(limit: u32) -> io::Result<Volume> {
        let limit = limit.max(64);
        let object = memfd_create(c"margay-files", MFdFlags::MFD_CLOEXEC)?;
        let bytes = (u64::from(limit) + 1) * PAGE_BYTES as u64;
        let (most, _) = getrlimit(Resource::RLIMIT_FSIZE)?;
        if bytes > most {
            // Trying would be answered with a signal.
            return Err(io::Error::other("the limit on file sizes (ulimit -f) is too small"));
        }
        ftruncate(&object, libc::off_t::try_from(bytes).map_err(io::Error::other)?)?;
        let volume = Volume::of(object)?;
        // SAFETY: the first page of a new object, which nobody else has yet.
        unsafe {
            volume.start.cast::<Header>().write(Header {
                lock: spin::mutex::SpinMutex::new(()),
                count: AtomicU32::new(0),
                limit,
            });
        }
        let formatted = volume.pages(|pages| Files::format(pages).map(drop));
        formatted.map_err(|Errno(number)| io::Error::from_raw_os_error(number as i32))?;
        Ok(volume)
    }

    /// A file system with this image, as `lwk-files` has made it, that can grow by `space` bytes; if none are said, by half of what this machine
    /// has free, as Linux's own file systems in memory.
    ///
    /// # Errors
    /// As [`Volume::new`].
    pub fn with_image(image: &[Page], space: Option<u64>) -> io::Result<Volume> {
        let space = match space {
            Some(space) => space,
            None => {
                let free = (available_bytes().unwrap_or(0) / 2).max(FILE_SPACE_MIN);
                // Room for the image and the first page is a matter of the limit, too.
                let (most, _) = getrlimit(Resource::RLIMIT_FSIZE)?;
                free.min(most.saturating_sub((image.len() as u64 + 1) * PAGE_BYTES as u64))
            }
        };
        let pages = space.div_ceil(PAGE_BYTES as u64).saturating_add(image.len() as u64);
        let volume = Volume::new(u32::try_from(pages).unwrap_or(u32::MAX))?;
        volume.pages(|pages| {
            for (index, page) in (0..).zip(image) {
                while pages.count() <= index && pages.grow() {}
                pages.page_mut(index).copy_from_slice(page);
            }
        });
        Ok(volume)
    }

    /// The volume in the memory object at `path`, as [`Volume::path`] names it.
    ///
    /// # Errors
    /// It cannot be opened or mapped.
    pub fn open(path: &Path) -> io::Result<Volume> {
        Volume::of(File::options().read(true).write(true).open(path)?.into())
    }

    /// The volume in this memory object of [`Volume::new`].
    ///
    /// # Errors
    /// It is empty, or cannot be mapped.
    pub fn of(object: OwnedFd) -> io::Result<Volume> {
        let length = nix::sys::stat::fstat(&object)?.st_size;
        let bytes =
            usize::try_from(length).ok().and_then(NonZeroUsize::new).ok_or(io::ErrorKind::InvalidData)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping wherever the system likes harms nothing.
        let start = unsafe { mmap(None, bytes, access, MapFlags::MAP_SHARED, &object, 0)? };
        Ok(Volume { object, start: start.cast(), bytes })
    }

    /// Where another process of the same user finds the memory object while this one lives.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.descriptor()).into()
    }

    /// Descriptor of the memory object; open as long as the volume lives.
    pub fn descriptor(&self) -> RawFd {
        self.object.as_raw_fd()
    }

    /// Works on the files, alone.
    ///
    /// # Errors
    /// What `work` says; `EIO` if there is no file system.
    pub fn with<R>(
        &self,
        work: impl FnOnce(&mut Files<'_, SharedPages>) -> Result<R, Errno>,
    ) -> Result<R, Errno> {
        self.pages(|pages| work(&mut Files::open(pages)?))
    }

    /// Gives the lock back that a rank held which was killed in the middle of a change, so that nobody waits for it. Only when every rank has
    /// ended, and by the one process that is left to use the files.
    pub fn release_lock(&self) {
        let lock = &self.header().lock;
        if lock.is_locked() {
            // SAFETY: the ranks have been waited for, so whoever held the lock is gone.
            unsafe { lock.force_unlock() };
        }
    }

    /// Works on the pages, whatever is in them, alone.
    pub fn with_pages<R>(&self, work: impl FnOnce(&SharedPages) -> R) -> R {
        self.pages(|pages| work(pages))
    }

    fn header(&self) -> &Header {
        // SAFETY: `Volume::new` has put a header there; what changes in it is atomic, and it is mapped as long as the volume lives.
        unsafe { self.start.cast().as_ref() }
    }

    fn pages<R>(&self, work: impl FnOnce(&mut SharedPages) -> R) -> R {
        let header = self.header();
        let _alone = header.lock.lock();
        // What is mapped bounds everything, whatever a damaged header says.
        let mapped = (self.bytes.get() / PAGE_BYTES - 1) as u32;
        work(&mut SharedPages { start: self.start, most: header.limit.min(mapped) })
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        // SAFETY: nobody can have a reference into it: they live as long as the borrow of the volume. A failure leaves it
        // mapped, which harms nobody.
        let _ = unsafe { munmap(self.start.cast(), self.bytes.get()) };
    }
}

/// The pages of a volume, while its lock is held.
#[derive(Debug)]
pub struct SharedPages {
    start: NonNull<u8>,
    most: u32,
}

impl SharedPages {
    fn header(&self) -> &Header {
        // SAFETY: that of the volume, which is borrowed as long as its pages are worked on; what changes in it is atomic.
        unsafe { self.start.cast().as_ref() }
    }

    fn address(&self, index: u32) -> *mut Page {
        assert!(index < self.count(), "pages are asked for below their count");
        self.start.as_ptr().wrapping_add((index as usize + 1) * PAGE_BYTES).cast()
    }
}

impl Pages for SharedPages {
    fn count(&self) -> u32 {
        self.header().count.load(Ordering::Relaxed).min(self.most)
    }

    fn limit(&self) -> u32 {
        self.most
    }

    fn grow(&mut self) -> bool {
        let grows = self.count() < self.most;
        self.header().count.fetch_add(u32::from(grows), Ordering::Relaxed);
        grows
    }

    fn page(&self, index: u32) -> &Page {
        // SAFETY: below the count, so inside of the mapping; the lock is held, so nobody writes, and the borrow of the pages
        // stands for that of the memory.
        unsafe { &*self.address(index) }
    }

    fn page_mut(&mut self, index: u32) -> &mut Page {
        // SAFETY: below the count, so inside of the mapping; the lock is held, so nobody else uses it, and
        // the pages are borrowed exclusively.
        unsafe { &mut *self.address(index) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwk_files::{Kind, NodeId};

    #[test]
    fn two_mappings_see_the_same_files() {
        let one = Volume::new(100).unwrap();
        let other = Volume::open(&one.path()).unwrap();
        one.with(|files| {
            let tmp = files.find(NodeId::ROOT, b"/tmp")?;
            let id = files.create(tmp, b"x", Kind::File, 0o644, 0)?;
            files.write(id, 0, 2, 0, |piece| {
                piece.copy_from_slice(b"hi");
                Ok(())
            })
        })
        .unwrap();
        let mut text = Vec::new();
        other
            .with(|files| {
                let id = files.find(NodeId::ROOT, b"/tmp/x")?;
                files.read(id, 0, 10, |piece| {
                    text.extend_from_slice(piece);
                    Ok(())
                })
            })
            .unwrap();
        assert_eq!(text, b"hi");
    }

    #[test]
    fn a_volume_is_full_at_its_limit() {
        let volume = Volume::new(64).unwrap();
        let full = volume.with(|files| {
            let tmp = files.find(NodeId::ROOT, b"/tmp")?;
            let id = files.create(tmp, b"x", Kind::File, 0o644, 0)?;
            let wrote = files.write(id, 0, 1 << 20, 0, |_| Ok(()))?;
            assert!(wrote < 64 * PAGE_BYTES as u64 && wrote > 32 * PAGE_BYTES as u64);
            files.write(id, wrote, 4096, 0, |_| Ok(()))
        });
        assert_eq!(full, Err(Errno(lwk_abi::syscall::errno::ENOSPC)));
    }
}
