//! What is in a file: pages below a tree of index pages, which grows with the file. Pages never written are not there and read
//! as zeros.

use lwk_abi::syscall::errno::{EFBIG, EINVAL, EIO};

use crate::node::{Kind, Node, NodeId};
use crate::page::{PAGE_BYTES, get32, put32};
use crate::{Errno, Files, Page, Pages, Result};

/// Numbers of pages that an index page holds, as a power of two.
const INDEX_BITS: u32 = 10;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;
/// Most levels of index pages.
const HEIGHT_MAX: u32 = 3;
/// Most bytes of a file: 4 TiB.
pub const FILE_BYTES_MAX: u64 = (PAGE_BYTES as u64) << (INDEX_BITS * HEIGHT_MAX);

/// What stands where no page is.
static ZEROS: Page = [0; PAGE_BYTES];

/// Whether a tree of this height has a place for page `number` of the file.
fn reaches(height: u32, number: u64) -> bool {
    number >> (INDEX_BITS * height) == 0
}

/// The place in the index page `level` levels above the content that leads to page `number`.
fn index_at(level: u32, number: u64) -> usize {
    ((number >> (INDEX_BITS * (level - 1)) & INDEX_MASK) * 4) as usize
}

impl<P: Pages> Files<'_, P> {
    /// Hands the bytes of a file from byte `offset` on to `take`, in order, in pieces of up to a page, `bytes` at most. Returns how many
    /// bytes it has taken: fewer at the file's end, or if `take` failed after the first piece.
    ///
    /// # Errors
    /// What `take` says, if it was the first piece.
    pub fn read(
        &self,
        id: NodeId,
        offset: u64,
        bytes: u64,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<u64> {
        let node = self.node(id)?;
        let end = node.size.min(offset.saturating_add(bytes));
        let mut at = offset;
        while at < end {
            let (start, length) = piece(at, end);
            let page = match self.find_page(&node, at / PAGE_BYTES as u64)? {
                0 => &ZEROS,
                index => self.page(index)?,
            };
            match page.get(start..start + length).ok_or(Errno(EIO)).and_then(&mut take) {
                Ok(()) => at += length as u64,
                Err(error) if at == offset => return Err(error),
                Err(_) => break,
            }
        }
        Ok(at - offset.min(at))
    }

    /// Writes `bytes` bytes at `offset`, which `give` puts into the pieces it is handed. Returns how many were written: fewer
    /// if memory ran out, or `give` failed, after the first piece. A gap before `offset` is zeros.
    ///
    /// # Errors
    /// `ENOSPC`, `EFBIG`, or what `give` says, if nothing was written.
    pub fn write(
        &mut self,
        id: NodeId,
        offset: u64,
        bytes: u64,
        now_ns: u64,
        mut give: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<u64> {
        if bytes == 0 {
            return Ok(0);
        }
        if offset >= FILE_BYTES_MAX {
            return Err(Errno(EFBIG));
        }
        let end = offset.saturating_add(bytes).min(FILE_BYTES_MAX);
        let mut at = offset;
        let mut outcome = Ok(());
        while at < end {
            let (start, length) = piece(at, end);
            outcome = self.make_page(id, at / PAGE_BYTES as u64).and_then(|index| {
                let page = self.page_mut(index)?;
                page.get_mut(start..start + length).ok_or(Errno(EIO)).and_then(&mut give)
            });
            if outcome.is_err() {
                break;
            }
            at += length as u64;
        }
        if at == offset {
            outcome?;
        }
        let mut node = self.node(id)?;
        node.size = node.size.max(at);
        node.changed_ns = now_ns;
        self.put_node(id, &node)?;
        Ok(at - offset)
    }

    /// Sets the length of a file. What is cut off is gone; what is added is zeros.
    ///
    /// # Errors
    /// `EFBIG`; `EINVAL` for what is no regular file. A link has its content from its beginning to its end.
    pub fn truncate(&mut self, id: NodeId, size: u64, now_ns: u64) -> Result<()> {
        let mut node = self.node(id)?;
        if node.kind != Kind::File && !(node.kind == Kind::Link && node.parent.is_none()) {
            // A folder on its way out has no content.
            return if node.parent.is_none() { Ok(()) } else { Err(Errno(EINVAL)) };
        }
        if size > FILE_BYTES_MAX {
            return Err(Errno(EFBIG));
        }
        if size < node.size {
            let kept = size.div_ceil(PAGE_BYTES as u64);
            if node.top != 0 {
                node.top = self.cut(node.top, node.height, 0, kept, &mut node.page_count)?;
            }
            if node.top == 0 {
                node.height = 0;
            }
            // What a later, longer length brings back to light must be zeros.
            let rest = (size % PAGE_BYTES as u64) as usize;
            if rest > 0 {
                let index = self.find_page(&node, size / PAGE_BYTES as u64)?;
                if index != 0 {
                    self.page_mut(index)?.get_mut(rest..).ok_or(Errno(EIO))?.fill(0);
                }
            }
        }
        node.size = size;
        node.changed_ns = now_ns;
        self.put_node(id, &node)
    }

    /// The page that holds page `number` of a file; 0 if there is none.
    fn find_page(&self, node: &Node, number: u64) -> Result<u32> {
        if node.height > HEIGHT_MAX {
            return Err(Errno(EIO));
        }
        if !reaches(node.height, number) {
            return Ok(0);
        }
        let mut index = node.top;
        for level in (1..=node.height).rev() {
            if index == 0 {
                break;
            }
            index = get32(self.page(index)?, index_at(level, number));
        }
        Ok(index)
    }

    /// As [`Files::find_page`], and makes it if there is none.
    fn make_page(&mut self, id: NodeId, number: u64) -> Result<u32> {
        let mut node = self.node(id)?;
        if node.height > HEIGHT_MAX {
            return Err(Errno(EIO));
        }
        while !reaches(node.height, number) {
            if node.top != 0 {
                let above = self.allocate_page()?;
                put32(self.page_mut(above)?, 0, node.top);
                node.top = above;
                node.page_count += 1;
            }
            node.height += 1;
            self.put_node(id, &node)?;
        }
        if node.top == 0 {
            node.top = self.allocate_page()?;
            node.page_count += 1;
            self.put_node(id, &node)?;
        }
        let mut index = node.top;
        for level in (1..=node.height).rev() {
            let at = index_at(level, number);
            let below = match get32(self.page(index)?, at) {
                0 => {
                    let fresh = self.allocate_page()?;
                    put32(self.page_mut(index)?, at, fresh);
                    node.page_count += 1;
                    self.put_node(id, &node)?;
                    fresh
                }
                below => below,
            };
            index = below;
        }
        Ok(index)
    }

    /// Frees what is below `index`, `level` levels above the content, whose first page is the file's page `first`, from the
    /// file's page `kept` on. Returns `index`, or 0 if nothing is left of it.
    fn cut(&mut self, index: u32, level: u32, first: u64, kept: u64, count: &mut u32) -> Result<u32> {
        if level > HEIGHT_MAX {
            return Err(Errno(EIO));
        }
        if first >= kept && level == 0 {
            *count = count.saturating_sub(1);
            self.free_page(index)?;
            return Ok(0);
        }
        if level == 0 {
            return Ok(index);
        }
        let below = 1u64 << (INDEX_BITS * (level - 1));
        for place in 0..=INDEX_MASK {
            let start = first + place * below;
            let at = (place * 4) as usize;
            let child = get32(self.page(index)?, at);
            if child != 0 && start + below > kept {
                let left = self.cut(child, level - 1, start, kept, count)?;
                put32(self.page_mut(index)?, at, left);
            }
        }
        if first >= kept {
            *count = count.saturating_sub(1);
            self.free_page(index)?;
            return Ok(0);
        }
        Ok(index)
    }
}

/// Where in its page the byte `at` is, and how many bytes there are from there to the page's end or `end`.
fn piece(at: u64, end: u64) -> (usize, usize) {
    let start = at % PAGE_BYTES as u64;
    (start as usize, (end - at).min(PAGE_BYTES as u64 - start) as usize)
}
