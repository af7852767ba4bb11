//! Address spaces: a tree of page tables with the kernel's half in it. A rank has one, and so have the cores that run no rank.

use lwk_abi::address::PAGE_BYTES;
use lwk_mm::Access;
use lwk_mm::address::{PhysAddr, VirtAddr};
use lwk_mm::table::{
    self, Caching, Entry, MapError, MapFlags, Mappable, PageTableEntry, PageTableIndex, PageTableLevel,
    TableFrame, TableMemory,
};

use crate::arch::features::features;
use crate::arch::linear_map::linear;
use crate::arch::paging;
use crate::memory;

/// Page tables in the node's physical memory, read and written through the linear map, by one core at a time. Counts those it makes.
struct LinearTables {
    made: u64,
    _alone: spin::MutexGuard<'static, ()>,
}

static ALONE: spin::Mutex<()> = spin::Mutex::new(());

impl LinearTables {
    fn lock() -> LinearTables {
        LinearTables { made: 0, _alone: ALONE.lock() }
    }

    fn entry(table: TableFrame, index: PageTableIndex) -> *mut PageTableEntry {
        linear(paging::address_of(table)).cast::<PageTableEntry>().wrapping_add(index.into())
    }
}

impl TableMemory for LinearTables {
    fn new_table(&mut self, level: PageTableLevel) -> Option<TableFrame> {
        self.made += 1;
        memory::allocate_table(level)
    }

    fn read(&self, table: TableFrame, index: PageTableIndex) -> PageTableEntry {
        // SAFETY: the frame is a page table (`TableFrame`) and in the linear map, and the index is one of its 512; volatile, since the
        // processor sets accessed and dirty bits.
        unsafe { LinearTables::entry(table, index).read_volatile() }
    }

    fn write(&mut self, table: TableFrame, index: PageTableIndex, entry: Entry) {
        // SAFETY: the frame is a page table (`TableFrame`) in the linear map, and the index one of its 512.
        // The entry leads to a page table or to memory that may be mapped (`Entry`), and nobody else writes
        // tables while this value is there.
        unsafe { LinearTables::entry(table, index).write_volatile(entry.get().clone()) };
    }
}

/// A tree of page tables whose upper half is the kernel's. It is never taken apart.
#[derive(Debug)]
pub struct AddressSpace {
    root: TableFrame,
    tables: u64,
}

impl AddressSpace {
    /// The first one of the node, with the kernel's half of the present tables, which are the boot loader's. Nothing if there is no memory for it.
    pub fn first() -> Option<AddressSpace> {
        // SAFETY: the processor uses it as such; of the boot loader's memory nothing is given away; only the upper half's tables are
        // referred to from now on, by whoever has this root.
        let boot = unsafe { TableFrame::new(paging::current_root(), PageTableLevel::Four) };
        AddressSpace::with_kernel_of(boot)
    }

    /// Another one: the kernel's half as in this one, and nothing else. Nothing if there is no memory for it.
    pub fn another(&self) -> Option<AddressSpace> {
        AddressSpace::with_kernel_of(self.root)
    }

    fn with_kernel_of(other: TableFrame) -> Option<AddressSpace> {
        let mut tables = LinearTables::lock();
        let root = tables.new_table(PageTableLevel::Four)?;
        table::copy_upper_half(&mut tables, other, root).ok()?;
        Some(AddressSpace { root, tables: tables.made })
    }

    /// Maps memory for programs at address `start`. Errors: see [`table::map`].
    pub fn map_for_programs(
        &mut self,
        start: VirtAddr,
        memory: &Mappable,
        access: Access,
    ) -> Result<(), MapError> {
        let flags = MapFlags { user: true, gigabyte_pages: features().gigabyte_pages, ..MapFlags::default() };
        self.map(start, memory, access, flags)
    }

    /// Maps memory for the kernel at address `start`, in every address space that shares the table there. Errors: see [`table::map`].
    pub fn map_for_kernel(
        &mut self,
        start: VirtAddr,
        memory: &Mappable,
        access: Access,
        global: bool,
    ) -> Result<(), MapError> {
        self.map(start, memory, access, MapFlags { global, ..MapFlags::default() })
    }

    /// Maps memory of a device for the kernel at address `start`, as [`Self::map_for_kernel`] does. Errors: see [`table::map`].
    pub fn map_device(
        &mut self,
        start: VirtAddr,
        registers: &Mappable,
        caching: Caching,
    ) -> Result<(), MapError> {
        let flags = MapFlags { global: true, caching, ..MapFlags::default() };
        self.map(start, registers, Access::RW, flags)
    }

    fn map(
        &mut self,
        start: VirtAddr,
        memory: &Mappable,
        access: Access,
        flags: MapFlags,
    ) -> Result<(), MapError> {
        let mut tables = LinearTables::lock();
        let mapped = table::map(&mut tables, self.root, start, memory, access, flags);
        self.tables += tables.made;
        mapped
    }

    /// Where in physical memory a mapped address is.
    pub fn physical(&self, address: VirtAddr) -> Option<PhysAddr> {
        table::translate(&LinearTables::lock(), self.root, address).map(|(physical, ..)| physical)
    }

    /// Shows what is in slot 0 of `peer`, now and later, in `slot` of this one (SMARTMAP: one entry of 8 bytes). Errors: see
    /// [`table::link_slot`]; `OutOfTables` if nothing is mapped there.
    pub fn link(&self, slot: usize, peer: &AddressSpace) -> Result<(), MapError> {
        let mut tables = LinearTables::lock();
        let shown = table::pdpt_of(&tables, peer.root, 0).ok_or(MapError::OutOfTables)?;
        table::link_slot(&mut tables, self.root, slot, shown)
    }

    /// Bytes of its own page tables, the top-level one included.
    pub fn table_bytes(&self) -> u64 {
        self.tables * PAGE_BYTES
    }

    /// Physical address of the top-level table, below 4 GiB.
    pub fn root(&self) -> PhysAddr {
        paging::address_of(self.root)
    }

    /// Makes it the one that this core uses.
    pub fn activate(&self) {
        // SAFETY: every address space has the same kernel half. The kernel uses nothing of a lower half by address: memory of programs it
        // sees in the linear map.
        unsafe { paging::switch_root(self.root) };
    }
}
