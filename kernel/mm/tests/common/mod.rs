//! Page tables in emulated memory, for the tests of `lwk_mm::table`.

use lwk_abi::address::PAGE_BYTES;
use lwk_mm::PhysAddr;
use lwk_mm::table::{
    Entry, Mappable, PageTableEntry, PageTableFlags, PageTableIndex, PageTableLevel, PhysFrame,
    TABLE_ENTRIES, TableFrame, TableMemory,
};

/// Tables in emulated memory: table `n` is at `(n + 1)` pages.
#[derive(Default)]
pub struct Emulated {
    pub tables: Vec<Vec<PageTableEntry>>,
    pub writes: usize,
    pub limit: usize,
}

impl Emulated {
    pub fn new() -> (Emulated, TableFrame) {
        let mut memory = Emulated { limit: usize::MAX, ..Emulated::default() };
        let root = memory.new_table(PageTableLevel::Four).expect("no limit");
        (memory, root)
    }

    fn position(table: TableFrame) -> usize {
        (table.frame().start_address().as_u64() / PAGE_BYTES) as usize - 1
    }

    /// How many entries of all tables have a flag.
    #[allow(dead_code)]
    pub fn count(&self, flag: PageTableFlags) -> usize {
        self.tables.iter().flatten().filter(|entry| entry.flags().contains(flag)).count()
    }
}

impl TableMemory for Emulated {
    fn new_table(&mut self, level: PageTableLevel) -> Option<TableFrame> {
        (self.tables.len() < self.limit).then(|| {
            self.tables.push(vec![PageTableEntry::new(); TABLE_ENTRIES]);
            let address = PhysAddr::new(self.tables.len() as u64 * PAGE_BYTES);
            // SAFETY: the tables of these tests are emulated: no memory is reached by them.
            unsafe { TableFrame::new(PhysFrame::containing_address(address), level) }
        })
    }

    fn read(&self, table: TableFrame, index: PageTableIndex) -> PageTableEntry {
        self.tables[Self::position(table)][usize::from(index)].clone()
    }

    fn write(&mut self, table: TableFrame, index: PageTableIndex, entry: Entry) {
        self.writes += 1;
        self.tables[Self::position(table)][usize::from(index)] = entry.get().clone();
    }
}

/// Memory to map, as far as there could be such.
pub fn frames(start: u64, bytes: u64) -> Mappable {
    // SAFETY: nothing is mapped but in emulated tables.
    unsafe { Mappable::new(PhysAddr::new(start), bytes) }.expect("whole frames")
}
