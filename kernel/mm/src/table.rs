//! Page tables of 4-level x86-64 paging (Intel SDM volume 3A, section 4.5; AMD64 volume 2, section 5.3), written through
//! a trait, so that the host can test them in emulated memory.
//!
//! A mapping is linear, uses the largest page that fits (1 GiB where the processor has it, 2 MiB, 4 KiB), is never both
//! writable and executable, and never replaces another one. A peer's memory is one entry: the page-directory-pointer
//! table of its slot 0, linked in at its slot (SMARTMAP paper, section III.A and figure 1).

use core::fmt;

use lwk_abi::address::PAGE_BYTES;

use crate::access::Access;
use crate::address::{PHYS_BITS, PhysAddr, VirtAddr};

/// The entry is valid.
pub const PRESENT: u64 = 1 << 0;
/// Writes are allowed, as far as the entries above allow them.
pub const WRITABLE: u64 = 1 << 1;
/// User mode may use the memory, as far as the entries above allow it.
pub const USER: u64 = 1 << 2;
/// Page-level write-through.
pub const WRITE_THROUGH: u64 = 1 << 3;
/// Page-level cache disable.
pub const CACHE_DISABLE: u64 = 1 << 4;
/// Set by the processor when it has used the entry.
pub const ACCESSED: u64 = 1 << 5;
/// Set by the processor when it has written through a leaf entry.
pub const DIRTY: u64 = 1 << 6;
/// In an entry of level 3 or 2: it is a page of 1 GiB or 2 MiB, not a table.
pub const LARGE: u64 = 1 << 7;
/// The translation is the same in every address space, and survives a reload of CR3.
pub const GLOBAL: u64 = 1 << 8;
/// Instruction fetches are forbidden.
pub const NO_EXECUTE: u64 = 1 << 63;
/// The bits of an entry that hold a physical address.
pub const ADDRESS_MASK: u64 = ((1 << PHYS_BITS) - 1) & !(PAGE_BYTES - 1);
/// Entries of eight bytes of a table.
pub const TABLE_ENTRIES: usize = 512;
/// Slots (entries of the top-level table) of the lower half.
pub const USER_SLOTS: usize = 256;

/// The memory that page tables live in.
pub trait TableMemory {
    /// A zeroed 4 KiB frame for a table; `None` if there is no more.
    fn new_table(&mut self) -> Option<PhysAddr>;
    /// The entry at `index` (below [`TABLE_ENTRIES`]) of the table at `table`.
    fn read(&self, table: PhysAddr, index: usize) -> u64;
    /// Sets the entry at `index` (below [`TABLE_ENTRIES`]) of the table at `table`.
    fn write(&mut self, table: PhysAddr, index: usize, entry: u64);
}

/// How to map, beside the access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapFlags {
    /// User mode may use the memory.
    pub user: bool,
    /// The same in every address space ([`GLOBAL`]).
    pub global: bool,
    /// Device memory: not cached (memory type index 3 of the processor's power-on PAT).
    pub uncached: bool,
    /// The processor has pages of 1 GiB.
    pub gigabyte_pages: bool,
}

/// Why [`map`] or [`link_slot`] has not mapped memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError {
    /// An address or the length is not a multiple of 4 KiB.
    Misaligned,
    /// The virtual range is not wholly in one half of the canonical addresses.
    NonCanonical,
    /// The physical range ends above what an entry can hold.
    PhysicalTooHigh,
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
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::Misaligned => f.write_str("memory to map is not page aligned"),
            MapError::NonCanonical => f.write_str("memory to map is outside the canonical addresses"),
            MapError::PhysicalTooHigh => f.write_str("physical memory to map is above 52 bits"),
            MapError::WritableExecutable => f.write_str("memory to map is writable and executable"),
            MapError::NotReadable => f.write_str("memory to map is not readable"),
            MapError::AlreadyMapped(at) => write!(f, "memory at {at} is mapped already"),
            MapError::OutOfTables => f.write_str("no memory left for page tables"),
            MapError::BadSlot(slot) => write!(f, "no peer has slot {slot}"),
        }
    }
}

/// Maps `bytes` of memory from `phys` on linearly at `virt`. `root` is the top-level table.
///
/// Tables on the way are made as needed. The caller flushes nothing: no valid translation changes.
///
/// # Errors
/// See [`MapError`]. [`MapError::AlreadyMapped`] and [`MapError::OutOfTables`] leave the pages below the failing one
/// mapped; every other error changes nothing.
pub fn map(
    memory: &mut impl TableMemory,
    root: PhysAddr,
    virt: VirtAddr,
    phys: PhysAddr,
    bytes: u64,
    access: Access,
    flags: MapFlags,
) -> Result<(), MapError> {
    check_request(virt, phys, bytes, access)?;
    let mut done = 0;
    while done < bytes {
        let (virt, phys) = (VirtAddr(virt.0 + done), PhysAddr(phys.0 + done));
        let level = leaf_level(virt, phys, bytes - done, flags);
        map_page(memory, root, virt, phys, level, access, flags)?;
        done += page_bytes(level);
    }
    Ok(())
}

/// What `virt` is mapped to: the physical address, what is allowed, and whether user mode may. `None` if unmapped.
///
/// Permissions are those of the whole walk, as the processor combines them.
pub fn translate(
    memory: &impl TableMemory,
    root: PhysAddr,
    virt: VirtAddr,
) -> Option<(PhysAddr, Access, bool)> {
    if !virt.is_canonical() {
        return None;
    }
    let mut table = root;
    let mut access = Access { read: true, write: true, execute: true };
    let mut user = true;
    for level in (1..=4).rev() {
        let entry = memory.read(table, virt.table_index(level));
        if entry & PRESENT == 0 {
            return None;
        }
        access.write &= entry & WRITABLE != 0;
        access.execute &= entry & NO_EXECUTE == 0;
        user &= entry & USER != 0;
        if is_leaf(entry, level) {
            // Bits 12 to the page size are flags or zero in a large entry: the page's own alignment clears them.
            let base = entry & ADDRESS_MASK & !(page_bytes(level) - 1);
            return Some((PhysAddr(base | (virt.0 & (page_bytes(level) - 1))), access, user));
        }
        table = PhysAddr(entry & ADDRESS_MASK);
    }
    None
}

/// Links a peer's page-directory-pointer table in at `slot`: one 8-byte entry, present, writable and for user mode; the
/// peer's own tables say what of it is so (SMARTMAP paper, figure 1).
///
/// # Errors
/// [`MapError::BadSlot`] for slot 0 and those above 255; [`MapError::AlreadyMapped`]; [`MapError::Misaligned`] and
/// [`MapError::PhysicalTooHigh`] for the table's address.
pub fn link_slot(
    memory: &mut impl TableMemory,
    root: PhysAddr,
    slot: usize,
    pdpt: PhysAddr,
) -> Result<(), MapError> {
    if slot == 0 || slot >= USER_SLOTS {
        return Err(MapError::BadSlot(slot));
    }
    if !pdpt.is_aligned(PAGE_BYTES) {
        return Err(MapError::Misaligned);
    }
    if pdpt.0 & !ADDRESS_MASK != 0 {
        return Err(MapError::PhysicalTooHigh);
    }
    if memory.read(root, slot) & PRESENT != 0 {
        return Err(MapError::AlreadyMapped(VirtAddr((slot as u64) << lwk_abi::address::SLOT_SHIFT)));
    }
    memory.write(root, slot, pdpt.0 | PRESENT | WRITABLE | USER);
    Ok(())
}

/// The page-directory-pointer table that `slot` of the lower half refers to, if any: a rank's own is at slot 0.
pub fn pdpt_of(memory: &impl TableMemory, root: PhysAddr, slot: usize) -> Option<PhysAddr> {
    if slot >= USER_SLOTS {
        return None;
    }
    let entry = memory.read(root, slot);
    (entry & PRESENT != 0).then_some(PhysAddr(entry & ADDRESS_MASK))
}

fn check_request(virt: VirtAddr, phys: PhysAddr, bytes: u64, access: Access) -> Result<(), MapError> {
    if !virt.is_aligned(PAGE_BYTES) || !phys.is_aligned(PAGE_BYTES) || !bytes.is_multiple_of(PAGE_BYTES) {
        return Err(MapError::Misaligned);
    }
    if access.is_writable_code() {
        return Err(MapError::WritableExecutable);
    }
    if !access.read {
        return Err(MapError::NotReadable);
    }
    // The last byte, so that a range may end with the address space.
    let last_offset = bytes.saturating_sub(1);
    let last = virt.checked_add(last_offset).ok_or(MapError::NonCanonical)?;
    if !virt.is_canonical() || !last.is_canonical() || virt.0 >> 63 != last.0 >> 63 {
        return Err(MapError::NonCanonical);
    }
    match phys.checked_add(last_offset) {
        Some(last) if last.0 >> PHYS_BITS == 0 => Ok(()),
        _ => Err(MapError::PhysicalTooHigh),
    }
}

/// Bytes of a page whose entry is in a table of `level`.
const fn page_bytes(level: u32) -> u64 {
    PAGE_BYTES << (9 * (level - 1))
}

const fn is_leaf(entry: u64, level: u32) -> bool {
    // Level 4 has no pages: bit 7 is reserved there.
    level == 1 || (level < 4 && entry & LARGE != 0)
}

/// The level of the largest page that starts here and fits.
fn leaf_level(virt: VirtAddr, phys: PhysAddr, bytes: u64, flags: MapFlags) -> u32 {
    let largest = if flags.gigabyte_pages { 3 } else { 2 };
    (2..=largest)
        .rev()
        .find(|&level| {
            let size = page_bytes(level);
            virt.is_aligned(size) && phys.is_aligned(size) && bytes >= size
        })
        .unwrap_or(1)
}

/// Writes one leaf entry at `level`, and the tables above it where they are missing.
fn map_page(
    memory: &mut impl TableMemory,
    root: PhysAddr,
    virt: VirtAddr,
    phys: PhysAddr,
    level: u32,
    access: Access,
    flags: MapFlags,
) -> Result<(), MapError> {
    let bit = |set, bit| if set { bit } else { 0 };
    let mut table = root;
    for above in (level + 1..=4).rev() {
        let index = virt.table_index(above);
        let entry = memory.read(table, index);
        let user = bit(flags.user, USER);
        let next = if entry & PRESENT == 0 {
            let fresh = memory.new_table().ok_or(MapError::OutOfTables)?;
            memory.write(table, index, fresh.0 | PRESENT | WRITABLE | user);
            fresh
        } else if is_leaf(entry, above) {
            return Err(MapError::AlreadyMapped(virt));
        } else {
            if entry | user != entry {
                memory.write(table, index, entry | user);
            }
            PhysAddr(entry & ADDRESS_MASK)
        };
        table = next;
    }
    let index = virt.table_index(level);
    // At level 3 or 2 a present entry may also be a table: something of this page is mapped, or was on its way to be.
    if memory.read(table, index) & PRESENT != 0 {
        return Err(MapError::AlreadyMapped(virt));
    }
    let entry = phys.0
        | PRESENT
        | bit(access.write, WRITABLE)
        | bit(flags.user, USER)
        | bit(flags.uncached, CACHE_DISABLE | WRITE_THROUGH)
        | bit(level > 1, LARGE)
        | bit(flags.global, GLOBAL)
        | bit(!access.execute, NO_EXECUTE);
    memory.write(table, index, entry);
    Ok(())
}
