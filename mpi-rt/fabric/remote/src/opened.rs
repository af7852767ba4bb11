//! What a rank has opened to others, and places there.

/// Memory that a rank has opened, in its own addresses: up to two ranges, each with an entry of a portal table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Opened {
    table: u32,
    /// First addresses and those behind; data and heap, then the stack. An empty one is not open.
    parts: [(u64, u64); 2],
}

/// A place in what a rank has opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub(crate) table: u32,
    pub(crate) offset: u64,
}

impl Place {
    /// So many bytes behind it.
    pub fn after(self, bytes: usize) -> Place {
        Place { offset: self.offset + bytes as u64, ..self }
    }
}

impl Opened {
    pub(crate) fn new(table: u32, parts: [(u64, u64); 2]) -> Opened {
        Opened { table, parts }
    }

    /// As words, to tell others.
    pub fn words(&self) -> [u64; 5] {
        let [(data, heap_end), (stack, stack_end)] = self.parts;
        [self.table.into(), data, heap_end, stack, stack_end]
    }

    /// What another rank has told.
    pub fn of_words([table, data, heap_end, stack, stack_end]: [u64; 5]) -> Opened {
        Opened { table: table as u32, parts: [(data, heap_end), (stack, stack_end)] }
    }

    /// Where memory of its owner's lies, `None` if it is not all in one range.
    pub fn place(&self, address: u64, bytes: u64) -> Option<Place> {
        let end = address.checked_add(bytes)?;
        let inside = |part: &(u64, u64)| address >= part.0 && end <= part.1;
        let index = self.parts.iter().position(inside)?;
        Some(Place { table: self.table + index as u32, offset: address - self.parts[index].0 })
    }

    /// The same of memory that all ranks have at the same addresses.
    pub(crate) fn symmetric(&self, address: u64, bytes: u64) -> Option<Place> {
        self.place(address, bytes).filter(|place| place.table == self.table)
    }

    /// Where data begins.
    pub(crate) fn start(&self) -> u64 {
        self.parts[0].0
    }

    /// The entries: table, first address, address behind.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u32, u64, u64)> {
        let parts = self.parts.into_iter().zip(self.table..);
        parts.filter(|((start, end), _)| start < end).map(|((start, end), table)| (table, start, end))
    }
}
