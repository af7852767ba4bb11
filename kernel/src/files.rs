//! The node's files: a file system (crate `lwk-files`) in the kernel's memory, which every rank of the job works on under one
//! lock. Memory is taken as files grow, up to the job's limit, and never given back to anything else.

use arrayvec::{ArrayString, ArrayVec};
use lwk_abi::console::{FILES, KERNEL};
use lwk_abi::syscall::errno::EIO;
use lwk_files::{Errno, Files, NodeId, PAGE_BYTES, Page, Pages, checksum};
use lwk_mm::address::PhysAddr;

use crate::arch::clock;
use crate::description::Problem;
use crate::{console, memory};

/// Most pieces of memory. The larger the limit, the larger the pieces.
const PIECES_MAX: usize = 256;
/// Least pages of a piece.
const PIECE_PAGES_MIN: u64 = 16;
/// Bytes of the paths that are named when they are lost.
const LOST_BYTES_MAX: usize = 2048;
/// Level of a note in kernel messages.
const INFO: usize = 3;
/// How long the node's end waits for a core that works on the files, in ticks, 2 s or more, as for the console. It is then stopped.
const PATIENCE_TICKS: u64 = 10_000_000_000;

/// Kernel memory for some pages.
struct Piece {
    address: PhysAddr,
    pages: &'static mut [Page],
}

/// The pages of the file system, in pieces of kernel memory of equal size.
pub struct NodePages {
    pieces: ArrayVec<Piece, PIECES_MAX>,
    pages_a_piece: u32,
    limit: u32,
    /// Where ranks start.
    folder: NodeId,
}

static NODE: spin::Mutex<NodePages> = spin::Mutex::new(NodePages {
    pieces: ArrayVec::new_const(),
    pages_a_piece: 1,
    limit: 0,
    folder: NodeId::ROOT,
});

/// Sets up the files of a job: those of an image, or none, and `space` bytes for more; ranks start in `folder`. Errors: `BadFiles` for an image
/// that is none or lacks the folder, `NoFileMemory`.
pub fn init(image: Option<&[u8]>, space: u64, folder: &[u8]) -> Result<(), Problem> {
    let mut node = NODE.lock();
    let given = image.map_or(0, |image| image.len().div_ceil(PAGE_BYTES) as u64);
    let space = space.div_ceil(PAGE_BYTES as u64);
    let limit = given.saturating_add(space).min(u32::MAX.into());
    node.limit = u32::MAX;
    let piece = limit.div_ceil(PIECES_MAX as u64).max(PIECE_PAGES_MIN);
    // Fits: no more than the limit, or the least.
    node.pages_a_piece = piece as u32;
    let made = match image {
        None => Files::format(&mut *node).map(|files| files.used_pages()),
        Some(image) => load(&mut node, image),
    };
    // What the job is given, or what every file system has, does not count.
    let set_limit =
        |given: u32| node.limit = u64::from(given).saturating_add(space).min(u32::MAX.into()) as u32;
    made.map(set_limit).map_err(|problem| match problem {
        Errno(EIO) => Problem::BadFiles,
        _ => Problem::NoFileMemory,
    })?;
    node.folder = Files::open(&mut *node)
        .and_then(|files| files.find(NodeId::ROOT, folder))
        .map_err(|_| Problem::BadFiles)?;
    Ok(())
}

/// The folder that a rank starts in, which stays while it does. Errors: `EIO` before there are files.
pub fn start_folder() -> Result<NodeId, Errno> {
    let mut node = NODE.lock();
    let folder = node.folder;
    if folder != NodeId::ROOT {
        Files::open(&mut *node)?.opened(folder)?;
    }
    Ok(folder)
}

/// Copies an image, and returns its pages.
fn load(node: &mut NodePages, image: &[u8]) -> Result<u32, Errno> {
    for (index, bytes) in image.chunks_exact(PAGE_BYTES).enumerate() {
        while node.count() as usize <= index {
            if !node.grow() {
                return Err(Errno(lwk_abi::syscall::errno::ENOSPC));
            }
        }
        node.page_mut(index as u32).copy_from_slice(bytes);
    }
    Files::open(node).map(|_| (image.len() / PAGE_BYTES) as u32)
}

/// Works on the files, alone. Errors: those of `work`; `EIO` before there are files.
pub fn with<R>(work: impl FnOnce(&mut Files<'_, NodePages>) -> Result<R, Errno>) -> Result<R, Errno> {
    work(&mut Files::open(&mut *NODE.lock())?)
}

/// The files at the node's end: a core that was stopped in the middle of a change keeps nobody waiting, and what it changed may be in part.
fn at_the_end() -> spin::MutexGuard<'static, NodePages> {
    let mut start = clock::ticks();
    loop {
        if let Some(node) = NODE.try_lock() {
            return node;
        }
        if clock::ticks() - start > PATIENCE_TICKS {
            // SAFETY: whoever holds the lock has had time to finish, so its core is stopped for good.
            unsafe { NODE.force_unlock() };
            // Whoever takes it next has the same time.
            start = clock::ticks();
        }
        core::hint::spin_loop();
    }
}

/// Says in a line which files the job has written, none of which the host tool fetches. What cannot be read, or has too long a name, is not
/// named.
pub fn tell_lost() {
    let mut node = at_the_end();
    let mut names = ArrayString::<LOST_BYTES_MAX>::new();
    let (since_ns, _) = clock::wall_base();
    let lost = Files::open(&mut *node).and_then(|files| files.strays(since_ns, &[], &mut names));
    if lost.is_ok_and(|lost| lost > 0) {
        console::record_urgently(KERNEL, INFO, format_args!("lost with the node: {names}"));
    }
}

/// Tells the host tool where in memory the files are, at the node's end.
pub fn announce() {
    let mut node = at_the_end();
    let Ok(used) = Files::open(&mut *node).map(|files| files.used_pages()) else { return };
    let mut first = 0;
    for piece in &node.pieces {
        let pages = node.pages_a_piece.min(used - first);
        let sum =
            (first..first + pages).fold(0, |sum: u64, index| sum.rotate_left(1) ^ checksum(node.page(index)));
        console::record_urgently(
            FILES,
            pages as usize,
            format_args!("address={:#x} sum={sum:#x}", piece.address),
        );
        first += pages;
        if first == used {
            break;
        }
    }
}

impl NodePages {
    /// Which piece a page is in, and where.
    fn place(&self, index: u32) -> (usize, usize) {
        ((index / self.pages_a_piece) as usize, (index % self.pages_a_piece) as usize)
    }
}

impl Pages for NodePages {
    fn count(&self) -> u32 {
        (self.pieces.len() as u32).saturating_mul(self.pages_a_piece).min(self.limit)
    }

    fn limit(&self) -> u32 {
        self.limit
    }

    fn grow(&mut self) -> bool {
        if self.count() == self.limit || self.pieces.is_full() {
            return false;
        }
        let bytes = u64::from(self.pages_a_piece) * PAGE_BYTES as u64;
        let Some(frames) = memory::allocate_kernel(bytes) else { return false };
        let (address, (pages, _)) = (frames.start(), frames.keep().as_chunks_mut());
        self.pieces.try_push(Piece { address, pages }).is_ok()
    }

    fn page(&self, index: u32) -> &Page {
        let (piece, page) = self.place(index);
        &self.pieces[piece].pages[page]
    }

    fn page_mut(&mut self, index: u32) -> &mut Page {
        let (piece, page) = self.place(index);
        &mut self.pieces[piece].pages[page]
    }
}
