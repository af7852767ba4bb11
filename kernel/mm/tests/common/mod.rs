//! Page tables in emulated memory, for the tests of `lwk_mm::table`.

use lwk_abi::address::PAGE_BYTES;
use lwk_mm::PhysAddr;
use lwk_mm::table::{TABLE_ENTRIES, TableMemory};

/// Tables in emulated memory: table `n` is at `(n + 1)` pages.
#[derive(Default)]
pub struct Emulated {
    pub tables: Vec<[u64; TABLE_ENTRIES]>,
    pub writes: usize,
    pub limit: usize,
}

impl Emulated {
    pub fn new() -> (Emulated, PhysAddr) {
        let mut memory = Emulated { limit: usize::MAX, ..Emulated::default() };
        let root = memory.new_table().expect("no limit");
        (memory, root)
    }

    fn position(table: PhysAddr) -> usize {
        (table.0 / PAGE_BYTES) as usize - 1
    }
}

impl TableMemory for Emulated {
    fn new_table(&mut self) -> Option<PhysAddr> {
        (self.tables.len() < self.limit).then(|| {
            self.tables.push([0; TABLE_ENTRIES]);
            PhysAddr(self.tables.len() as u64 * PAGE_BYTES)
        })
    }

    fn read(&self, table: PhysAddr, index: usize) -> u64 {
        self.tables[Self::position(table)][index]
    }

    fn write(&mut self, table: PhysAddr, index: usize, entry: u64) {
        self.writes += 1;
        self.tables[Self::position(table)][index] = entry;
    }
}
