//! Page tables of 4-level x86-64 paging (Intel SDM volume 3A, section 4.5; AMD64 volume 2, section 5.3), written through
//! a trait, so that the host can test them in emulated memory.
//!
//! A mapping is linear, uses the largest page that fits (1 GiB where the processor has it, 2 MiB, 4 KiB), is never both
//! writable and executable, and never replaces another one. A peer's memory is one entry: the page-directory-pointer
//! table of its slot 0, linked in at its slot (SMARTMAP paper, section III.A and figure 1).

use core::fmt;

use lwk_abi::address::PAGE_BYTES;
pub use x86_64::structures::paging::page_table::{PageTableEntry, PageTableLevel};
pub use x86_64::structures::paging::{PageTableFlags, PageTableIndex, PhysFrame};

use crate::access::Access;
use crate::address::{PHYS_BITS, PhysAddr, VirtAddr};

/// Entries of eight bytes of a table.
pub const TABLE_ENTRIES: usize = 512;
/// Slots (entries of the top-level table) of the lower half.
pub const USER_SLOTS: u16 = 256;

/// A frame that holds a page table, of a known level, for as long as anything refers to it.
///
/// From one such frame the functions of this module reach others only by entries that are tables, so every value of this type is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableFrame {
    frame: PhysFrame,
    level: PageTableLevel,
}

impl TableFrame {
    /// A table of `level` in `frame`.
    ///
    /// # Safety
    /// The frame is zeroed, or a table of that level whose every present entry is as this module writes them. It stays a page table
    /// for ever, and only through a [`TableMemory`] is it written.
    #[allow(unsafe_code)]
    #[must_use]
    pub const unsafe fn new(frame: PhysFrame, level: PageTableLevel) -> TableFrame {
        TableFrame { frame, level }
    }

    /// Where it is.
    #[must_use]
    pub const fn frame(self) -> PhysFrame {
        self.frame
    }

    /// Its level: four is the top, one holds pages of 4 KiB.
    #[must_use]
    pub const fn level(self) -> PageTableLevel {
        self.level
    }

    /// The table that a present entry of this one refers to, unless that is a page.
    fn child(self, entry: &PageTableEntry) -> Option<TableFrame> {
        let level = self.level.next_lower_level()?;
        entry.frame().ok().map(|frame| TableFrame { frame, level })
    }
}

/// Physical memory that may be mapped: whole frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mappable {
    start: PhysAddr,
    bytes: u64,
}

impl Mappable {
    /// `bytes` of memory from `start` on. `None` unless both are whole frames and an entry can hold every address.
    ///
    /// # Safety
    /// Whoever maps this memory may let any program or the kernel use it through the mapping, from now on and for ever: no Rust
    /// reference leads to it while a mapping does, but for one that is made of the mapping.
    #[allow(unsafe_code)]
    #[must_use]
    pub const unsafe fn new(start: PhysAddr, bytes: u64) -> Option<Mappable> {
        let whole = (start.as_u64() | bytes).is_multiple_of(PAGE_BYTES);
        let fits = bytes <= (1 << PHYS_BITS) - start.as_u64();
        if whole && fits { Some(Mappable { start, bytes }) } else { None }
    }

    /// Address of the first byte.
    #[must_use]
    pub const fn start(&self) -> PhysAddr {
        self.start
    }

    /// How many bytes; whole frames.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// What this module puts into tables: a link to a table, or a mapping of memory that may be mapped. Nothing else makes one.
#[derive(Clone, Debug)]
pub struct Entry(PageTableEntry);

impl Entry {
    fn new(address: PhysAddr, flags: PageTableFlags) -> Entry {
        let mut entry = PageTableEntry::new();
        entry.set_addr(address, flags);
        Entry(entry)
    }

    fn link(table: TableFrame, flags: PageTableFlags) -> Entry {
        Entry::new(table.frame.start_address(), flags | PageTableFlags::PRESENT | PageTableFlags::WRITABLE)
    }

    /// The entry as it is to stand in the table.
    #[must_use]
    pub const fn get(&self) -> &PageTableEntry {
        &self.0
    }
}

/// The memory that page tables live in.
pub trait TableMemory {
    /// A zeroed frame for a table of `level`; `None` if there is no more.
    fn new_table(&mut self, level: PageTableLevel) -> Option<TableFrame>;
    /// The entry at `index` of a table.
    fn read(&self, table: TableFrame, index: PageTableIndex) -> PageTableEntry;
    /// Sets the entry at `index` of a table.
    fn write(&mut self, table: TableFrame, index: PageTableIndex, entry: Entry);
}

/// How the processor caches memory: the entry of its page attribute table (Intel SDM volume 3A, section 12.12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caching {
    /// Entry 0: as memory is, unless the range registers say otherwise.
    #[default]
    Full,
    /// Entry 1, which the kernel makes write-combining: frame buffers.
    Combining,
    /// Entry 3: registers of devices.
    Off,
}

/// How to map, beside the access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapFlags {
    /// User mode may use the memory.
    pub user: bool,
    /// The same in every address space, so that it survives a reload of the root.
    pub global: bool,
    pub caching: Caching,
    /// The processor has pages of 1 GiB.
    pub gigabyte_pages: bool,
}

/// Why [`map`] or [`link_slot`] has not mapped memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError {
    /// The virtual address is not a multiple of 4 KiB.
    Misaligned,
    /// The virtual range is not wholly in one half of the canonical addresses.
    NonCanonical,
    /// Memory must not be writable and executable.
    WritableExecutable,
    /// A mapping that cannot be read: this processor has none.
    NotReadable,
    /// This address is mapped already.
    AlreadyMapped(VirtAddr),
    /// No frame was left for a page table.
    OutOfTables,
    /// No such slot: peers have slots 1 to 255.
    BadSlot(usize),
    /// A table stands where one of another level belongs.
    WrongLevel,
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::Misaligned => f.write_str("memory to map is not page aligned"),
            MapError::NonCanonical => f.write_str("memory to map is outside the canonical addresses"),
            MapError::WritableExecutable => f.write_str("memory to map is writable and executable"),
            MapError::NotReadable => f.write_str("memory to map is not readable"),
            MapError::AlreadyMapped(at) => write!(f, "memory at {at:#x} is mapped already"),
            MapError::OutOfTables => f.write_str("no memory left for page tables"),
            MapError::BadSlot(slot) => write!(f, "no peer has slot {slot}"),
            MapError::WrongLevel => f.write_str("a page table is of another level than its place"),
        }
    }
}

/// Maps `memory` linearly at `virt`. `root` is the top-level table.
///
/// Tables on the way are made as needed. The caller flushes nothing: no valid translation changes.
///
/// # Errors
/// See [`MapError`]. [`MapError::AlreadyMapped`] and [`MapError::OutOfTables`] leave the pages below the failing one
/// mapped; every other error changes nothing.
pub fn map(
    tables: &mut impl TableMemory,
    root: TableFrame,
    virt: VirtAddr,
    memory: &Mappable,
    access: Access,
    flags: MapFlags,
) -> Result<(), MapError> {
    check_request(virt, memory.bytes, access)?;
    let mut done = 0;
    while done < memory.bytes {
        let page = Piece { virt: virt + done, phys: memory.start + done, bytes: memory.bytes - done };
        let level = page.leaf_level(flags);
        map_page(tables, root, &page, level, access, flags)?;
        done += level.entry_address_space_alignment();
    }
    Ok(())
}

/// What `virt` is mapped to: the physical address, what is allowed, and whether user mode may. `None` if unmapped.
///
/// Permissions are those of the whole walk, as the processor combines them.
pub fn translate(
    tables: &impl TableMemory,
    root: TableFrame,
    virt: VirtAddr,
) -> Option<(PhysAddr, Access, bool)> {
    let mut table = root;
    let mut access = Access { read: true, write: true, execute: true };
    let mut user = true;
    loop {
        let entry = tables.read(table, virt.page_table_index(table.level));
        let flags = entry.flags();
        if !flags.contains(PageTableFlags::PRESENT) {
            return None;
        }
        access.write &= flags.contains(PageTableFlags::WRITABLE);
        access.execute &= !flags.contains(PageTableFlags::NO_EXECUTE);
        user &= flags.contains(PageTableFlags::USER_ACCESSIBLE);
        match table.child(&entry) {
            Some(child) => table = child,
            None => {
                // Bits 12 to the page size are flags or zero in a large entry: the page's own alignment clears them.
                let bytes = table.level.entry_address_space_alignment();
                return Some((entry.addr().align_down(bytes) + virt.as_u64() % bytes, access, user));
            }
        }
    }
}

/// Copies the upper half of one top-level table, the kernel's, to another that no core uses yet.
///
/// # Errors
/// [`MapError::WrongLevel`] if either is no top-level table.
pub fn copy_upper_half(
    tables: &mut impl TableMemory,
    from: TableFrame,
    to: TableFrame,
) -> Result<(), MapError> {
    if (from.level, to.level) != (PageTableLevel::Four, PageTableLevel::Four) {
        return Err(MapError::WrongLevel);
    }
    for index in (USER_SLOTS..TABLE_ENTRIES as u16).map(PageTableIndex::new) {
        let entry = tables.read(from, index);
        tables.write(to, index, Entry(entry));
    }
    Ok(())
}

/// Links a peer's page-directory-pointer table in at `slot`: one 8-byte entry, present, writable and for user mode; the
/// peer's own tables say what of it is so (SMARTMAP paper, figure 1).
///
/// # Errors
/// [`MapError::BadSlot`] for slot 0 and those above 255; [`MapError::AlreadyMapped`]; [`MapError::WrongLevel`] if the tables are not of the
/// levels that their places need.
pub fn link_slot(
    tables: &mut impl TableMemory,
    root: TableFrame,
    slot: usize,
    pdpt: TableFrame,
) -> Result<(), MapError> {
    let index = user_index(slot).filter(|_| slot > 0).ok_or(MapError::BadSlot(slot))?;
    if (root.level, pdpt.level) != (PageTableLevel::Four, PageTableLevel::Three) {
        return Err(MapError::WrongLevel);
    }
    if tables.read(root, index).flags().contains(PageTableFlags::PRESENT) {
        let taken = (slot as u64) << lwk_abi::address::SLOT_SHIFT;
        return Err(MapError::AlreadyMapped(VirtAddr::new(taken)));
    }
    tables.write(root, index, Entry::link(pdpt, PageTableFlags::USER_ACCESSIBLE));
    Ok(())
}

/// The page-directory-pointer table that `slot` of the lower half refers to, if any: a rank's own is at slot 0.
pub fn pdpt_of(tables: &impl TableMemory, root: TableFrame, slot: usize) -> Option<TableFrame> {
    root.child(&tables.read(root, user_index(slot)?))
}

/// The index of a slot of the lower half.
fn user_index(slot: usize) -> Option<PageTableIndex> {
    u16::try_from(slot).ok().filter(|slot| *slot < USER_SLOTS).map(PageTableIndex::new)
}

fn check_request(virt: VirtAddr, bytes: u64, access: Access) -> Result<(), MapError> {
    if !virt.is_aligned(PAGE_BYTES) {
        return Err(MapError::Misaligned);
    }
    if access.is_writable_code() {
        return Err(MapError::WritableExecutable);
    }
    if !access.read {
        return Err(MapError::NotReadable);
    }
    // The last byte, so that a range may end with the address space.
    let last = virt.as_u64().checked_add(bytes.saturating_sub(1)).ok_or(MapError::NonCanonical)?;
    let same_half = virt.as_u64() >> 63 == last >> 63;
    if VirtAddr::try_new(last).is_err() || !same_half { Err(MapError::NonCanonical) } else { Ok(()) }
}

/// What of a mapping is left to do.
struct Piece {
    virt: VirtAddr,
    phys: PhysAddr,
    bytes: u64,
}

impl Piece {
    /// The level of the largest page that starts here and fits.
    fn leaf_level(&self, flags: MapFlags) -> PageTableLevel {
        let gigabyte = flags.gigabyte_pages.then_some(PageTableLevel::Three);
        let fits = |level: &PageTableLevel| {
            let size = level.entry_address_space_alignment();
            self.virt.is_aligned(size) && self.phys.is_aligned(size) && self.bytes >= size
        };
        gigabyte.into_iter().chain([PageTableLevel::Two]).find(fits).unwrap_or(PageTableLevel::One)
    }
}

/// Writes one leaf entry at `level`, and the tables above it where they are missing.
fn map_page(
    tables: &mut impl TableMemory,
    root: TableFrame,
    page: &Piece,
    level: PageTableLevel,
    access: Access,
    flags: MapFlags,
) -> Result<(), MapError> {
    let when = |set: bool, flag| if set { flag } else { PageTableFlags::empty() };
    let user = when(flags.user, PageTableFlags::USER_ACCESSIBLE);
    let mut table = root;
    while table.level > level {
        let index = page.virt.page_table_index(table.level);
        let entry = tables.read(table, index);
        table = match table.child(&entry) {
            Some(child) => {
                if !entry.flags().contains(user) {
                    tables.write(table, index, Entry::new(entry.addr(), entry.flags() | user));
                }
                child
            }
            None if entry.flags().contains(PageTableFlags::PRESENT) => {
                return Err(MapError::AlreadyMapped(page.virt));
            }
            None => {
                let below = table.level.next_lower_level().ok_or(MapError::OutOfTables)?;
                let fresh = tables.new_table(below).ok_or(MapError::OutOfTables)?;
                tables.write(table, index, Entry::link(fresh, user));
                fresh
            }
        };
    }
    let index = page.virt.page_table_index(level);
    // At level 3 or 2 a present entry may also be a table: something of this page is mapped, or was on its way to be.
    if tables.read(table, index).flags().contains(PageTableFlags::PRESENT) {
        return Err(MapError::AlreadyMapped(page.virt));
    }
    let leaf = PageTableFlags::PRESENT
        | user
        | when(access.write, PageTableFlags::WRITABLE)
        | when(flags.caching == Caching::Off, PageTableFlags::NO_CACHE)
        | when(flags.caching != Caching::Full, PageTableFlags::WRITE_THROUGH)
        | when(level > PageTableLevel::One, PageTableFlags::HUGE_PAGE)
        | when(flags.global, PageTableFlags::GLOBAL)
        | when(!access.execute, PageTableFlags::NO_EXECUTE);
    tables.write(table, index, Entry::new(page.phys, leaf));
    Ok(())
}
