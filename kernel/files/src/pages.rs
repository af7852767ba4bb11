//! Pages: where a file system is kept, which of its pages are free, and its first page, which says so.

use lwk_abi::syscall::errno::{EIO, ENOSPC};

use crate::node::{Kind, Node, NodeId};
use crate::page::{Page, Pages, get32, get64, put32, put64};
use crate::{Errno, Files, Result, special};

/// "MARGAYFS" in little-endian ASCII: the first eight bytes of the first page.
const MAGIC: u64 = u64::from_le_bytes(*b"MARGAYFS");
/// Changes with the meaning of any byte of an image.
const VERSION: u32 = 2;

// Offsets in the first page.
const AT_MAGIC: usize = 0;
const AT_VERSION: usize = 8;
/// Pages from this one on have never been used and are zero.
const AT_USED: usize = 12;
/// The first free page below that, 0 for none; each holds the next one's number in its first word.
const AT_FREE: usize = 16;
/// Pages on that list.
const AT_FREE_COUNT: usize = 20;
/// The first free node, 0 for none.
const AT_FREE_NODE: usize = 24;
/// What the last node made got as its place in time.
const AT_ORDER: usize = 32;

impl<'a, P: Pages> Files<'a, P> {
    /// Makes an empty file system of pages that are all zero: the root, and what every file system has
    /// (`/tmp`, `/out`, `/dev`, `/proc`, `/sys`).
    ///
    /// # Errors
    /// `ENOSPC` if it does not fit.
    pub fn format(pages: &'a mut P) -> Result<Files<'a, P>> {
        while pages.count() < 2 {
            if !pages.grow() {
                return Err(Errno(ENOSPC));
            }
        }
        let first = pages.page_mut(0);
        put64(first, AT_MAGIC, MAGIC);
        put32(first, AT_VERSION, VERSION);
        // The second page holds the root.
        put32(first, AT_USED, 2);
        let mut files = Files { pages };
        for id in NodeId::ROOT.others_of_its_page() {
            files.free_node(id)?;
        }
        let root = Node { kind: Kind::Folder, mode: 0o777, parent: NodeId::ROOT, ..Node::default() };
        files.put_node(NodeId::ROOT, &root)?;
        special::plant(&mut files)?;
        Ok(files)
    }

    /// The file system that is in these pages.
    ///
    /// # Errors
    /// `EIO` if there is none, or one of another version.
    pub fn open(pages: &'a mut P) -> Result<Files<'a, P>> {
        let sound = pages.count() >= 2 && {
            let first = pages.page(0);
            let used = get32(first, AT_USED);
            get64(first, AT_MAGIC) == MAGIC
                && get32(first, AT_VERSION) == VERSION
                && (2..=pages.count()).contains(&used)
        };
        if sound { Ok(Files { pages }) } else { Err(Errno(EIO)) }
    }

    /// Pages that are or were in use: an image needs no more than these.
    pub fn used_pages(&self) -> u32 {
        self.word(AT_USED)
    }

    /// Pages that hold something now.
    pub fn busy_pages(&self) -> u32 {
        self.word(AT_USED).saturating_sub(self.word(AT_FREE_COUNT))
    }

    /// How many pages there can be, and how many of them hold nothing: the limit's, whether there is memory for them or not.
    pub fn capacity(&self) -> (u32, u32) {
        let pages = self.pages.limit();
        (pages, pages.saturating_sub(self.busy_pages()))
    }

    /// A page by its number out of the image.
    pub(crate) fn page(&self, index: u32) -> Result<&Page> {
        if index == 0 || index >= self.pages.count() {
            return Err(Errno(EIO));
        }
        Ok(self.pages.page(index))
    }

    /// As [`Files::page`], to be changed.
    pub(crate) fn page_mut(&mut self, index: u32) -> Result<&mut Page> {
        if index == 0 || index >= self.pages.count() {
            return Err(Errno(EIO));
        }
        Ok(self.pages.page_mut(index))
    }

    /// A page of zeros.
    pub(crate) fn allocate_page(&mut self) -> Result<u32> {
        let free = self.word(AT_FREE);
        if free != 0 {
            let next = get32(self.page(free)?, 0);
            self.page_mut(free)?.fill(0);
            self.set_word(AT_FREE, next);
            self.set_word(AT_FREE_COUNT, self.word(AT_FREE_COUNT).saturating_sub(1));
            return Ok(free);
        }
        let used = self.word(AT_USED);
        if used >= self.pages.count() && !self.pages.grow() {
            return Err(Errno(ENOSPC));
        }
        self.set_word(AT_USED, used + 1);
        Ok(used)
    }

    /// Gives a page back.
    pub(crate) fn free_page(&mut self, index: u32) -> Result<()> {
        let next = self.word(AT_FREE);
        put32(self.page_mut(index)?, 0, next);
        self.set_word(AT_FREE, index);
        self.set_word(AT_FREE_COUNT, self.word(AT_FREE_COUNT).saturating_add(1));
        Ok(())
    }

    /// The first node on the list of free ones, or none.
    pub(crate) fn free_node_head(&self) -> NodeId {
        NodeId(self.word(AT_FREE_NODE))
    }

    /// Makes the list of free nodes begin with another.
    pub(crate) fn set_free_node_head(&mut self, id: NodeId) {
        self.set_word(AT_FREE_NODE, id.0);
    }

    /// The next place in time for a node.
    pub(crate) fn next_order(&mut self) -> u64 {
        let order = get64(self.pages.page(0), AT_ORDER) + 1;
        put64(self.pages.page_mut(0), AT_ORDER, order);
        order
    }

    fn word(&self, at: usize) -> u32 {
        get32(self.pages.page(0), at)
    }

    fn set_word(&mut self, at: usize, value: u32) {
        put32(self.pages.page_mut(0), at, value);
    }
}

/// A checksum of pages or a part of them, for an image on its way: 64-bit FNV-1a over little-endian words of eight bytes, the last one
/// filled up with zeros.
pub fn checksum(bytes: &[u8]) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const FACTOR: u64 = 0x100_0000_01b3;
    bytes.chunks(8).fold(START, |sum, chunk| {
        let word = chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        (sum ^ word).wrapping_mul(FACTOR)
    })
}
