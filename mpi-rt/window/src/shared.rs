//! What each rank of a window has in its own memory for the others: where its part of the window is, the locks, and the words of post
//! and complete (`lwk-epoch`); and memory that the runtime allocates for windows.

use alloc::alloc::{alloc_zeroed, dealloc};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::ptr::NonNull;
use lwk_epoch::{Attachments, ElementLock, PairLine, TargetLock};
use lwk_mpi_core::error::{Error, Result};
use lwk_path::seen_from_here;
use lwk_place::CommRank;
use lwk_ring::Published;
use lwk_user::smartmap::Peer;

/// One rank's, read and written by all ranks of the window.
#[repr(C, align(64))]
pub(super) struct Control {
    /// Address of its lines, then base, size and unit of its part. Told before the others know of it.
    words: Published<4>,
    pub lock: TargetLock,
    pub elements: ElementLock,
    pub attachments: Attachments,
}

/// Where a rank's part of a window is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OwnMemory {
    /// In the owner's addresses.
    pub base: usize,
    /// Bytes.
    pub size: u64,
    /// Bytes of a unit of displacement.
    pub unit: u64,
}

impl Control {
    /// What its owner says.
    pub fn part(&self) -> OwnMemory {
        let [_, base, size, unit] = self.words.words();
        OwnMemory { base: base as usize, size, unit }
    }

    /// Address of its lines, as the owner calls it.
    fn lines(&self) -> usize {
        self.words.words()[0] as usize
    }
}

/// This rank's control words; they go when this is dropped, after the barrier in which all ranks give the window up.
pub(super) struct Own {
    control: Box<[Control]>,
    lines: Box<[PairLine]>,
    further: Vec<Box<[Attachments]>>,
}

impl Own {
    /// For a window of `ranks` ranks. Errors: `NO_MEM`.
    pub fn new(ranks: u32, part: OwnMemory) -> Result<Own> {
        let lines = several(ranks as usize, PairLine::new)?;
        let control = several(1, || Control {
            words: Published::new(),
            lock: TargetLock::new(),
            elements: ElementLock::new(),
            attachments: Attachments::new(),
        })?;
        let address = lines.as_ptr().expose_provenance() as u64;
        control.iter().for_each(|it| it.words.tell([address, part.base as u64, part.size, part.unit]));
        Ok(Own { control, lines, further: Vec::new() })
    }

    /// What the others are told.
    pub fn address(&self) -> u64 {
        self.control.as_ptr().expose_provenance() as u64
    }

    /// The control words, and the lines of all ranks.
    pub fn words(&self) -> (&'static Control, &'static [PairLine]) {
        let [control] = &*self.control else { unreachable!("one, made in `new`") };
        // SAFETY: both stay until the window is freed; whoever keeps the references answers for the window until then.
        unsafe { (&*core::ptr::from_ref(control), &*core::ptr::from_ref(&*self.lines)) }
    }

    /// What a peer has told this rank. Errors: `INTERN` for a rank that the window does not have.
    pub fn line(&self, rank: CommRank) -> Result<&'static PairLine> {
        let line = self.lines.get(rank.index()).ok_or(Error::INTERN)?;
        // SAFETY: the lines stay until the window is freed; whoever keeps the reference is part of the window, or of a call on it.
        Ok(unsafe { &*core::ptr::from_ref(line) })
    }

    /// The pieces of this rank's list of attached memory.
    pub fn attachments(&self) -> impl Iterator<Item = &Attachments> {
        let first = self.control.iter().map(|control| &control.attachments);
        first.chain(self.further.iter().flat_map(|piece| piece.iter()))
    }

    /// Adds a piece to the list. Errors: `RMA_ATTACH` if there is no memory.
    pub fn add_attachments(&mut self) -> Result<()> {
        let piece = several(1, Attachments::new).map_err(|_| Error::RMA_ATTACH)?;
        self.further.try_reserve(1).map_err(|_| Error::RMA_ATTACH)?;
        if let Some(last) = self.attachments().last() {
            last.append(piece.as_ptr().expose_provenance() as u64);
        }
        self.further.push(piece);
        Ok(())
    }
}

fn several<T>(count: usize, make: impl FnMut() -> T) -> Result<Box<[T]>> {
    let mut all = Vec::new();
    all.try_reserve_exact(count).map_err(|_| Error::NO_MEM)?;
    all.resize_with(count, make);
    Ok(all.into_boxed_slice())
}

/// A peer's control words.
///
/// # Safety
/// `address` is what [`Own::address`] said in that peer, and the window is not freed before the reference's last use.
pub(super) unsafe fn control_of(peer: Peer, address: u64) -> &'static Control {
    // SAFETY: the peer initialised the words before it published `address`, and they stay until the window is
    // freed (this function's contract); they are shared through atomics only.
    unsafe { &*seen_from_here::<Control>(peer, address as usize) }
}

/// The lines in a peer's memory, one of each of the window's ranks, which that rank writes.
///
/// # Safety
/// `control` is that peer's, of a window of so many ranks; as for [`control_of`].
pub(super) unsafe fn lines_of(peer: Peer, control: &Control, ranks: usize) -> &'static [PairLine] {
    let lines = seen_from_here::<PairLine>(peer, control.lines());
    // SAFETY: the peer has a line for each rank of the window until the window is freed (this function's contract); they are shared through atomics
    // only.
    unsafe { core::slice::from_raw_parts(lines, ranks) }
}

/// Zeroed memory of the runtime's.
pub(super) struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    /// What every allocation is aligned to, in bytes: a cache line.
    const ALIGN: usize = 64;

    /// `None` for no bytes. Errors: `NO_MEM`.
    pub fn new(bytes: u64) -> Result<Option<Memory>> {
        let bytes = usize::try_from(bytes).map_err(|_| Error::NO_MEM)?;
        if bytes == 0 {
            return Ok(None);
        }
        let layout = Layout::from_size_align(bytes, Self::ALIGN).map_err(|_| Error::NO_MEM)?;
        // SAFETY: the layout has a size.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(Error::NO_MEM)?;
        Ok(Some(Memory { start, layout }))
    }

    /// Where it starts.
    pub fn address(&self) -> usize {
        self.start.as_ptr().expose_provenance()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; all ranks have given the window up.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}
