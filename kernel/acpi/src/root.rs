//! From the root pointer to the tables (ACPI specification 6.5, sections 5.2.5 to 5.2.8).

use core::fmt;

use crate::Memory;
use crate::bytes::{u32_at, u64_at};

/// Bytes of the header that every table begins with (section 5.2.6).
const HEADER_BYTES: usize = 36;
/// Bytes of the root pointer as of ACPI 1.0, over which its first checksum goes, and as of 2.0.
const POINTER_BYTES: usize = 20;
const LONG_POINTER_BYTES: usize = 36;
/// No table is longer: the longest are megabytes of byte code.
const TABLE_BYTES_MAX: usize = 64 << 20;

/// Why no table can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// There is no valid root pointer at the address that the firmware has named.
    NoPointer,
    /// The root pointer names no valid list of tables.
    NoList,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Problem::NoPointer => "the root pointer is damaged",
            Problem::NoList => "the list of tables is damaged",
        })
    }
}

/// The list of all tables.
pub struct Tables<'m, M> {
    memory: M,
    addresses: &'m [u8],
    /// Bytes of an address in the list.
    width: usize,
}

/// One table, whole and with a right checksum.
#[derive(Clone, Copy, Debug)]
pub struct Table<'m> {
    bytes: &'m [u8],
}

impl<'m, M: Memory<'m>> Tables<'m, M> {
    /// The tables that the root pointer at physical address `pointer` leads to. Errors: neither the long list nor the short one is valid.
    pub fn new(memory: M, pointer: u64) -> Result<Self, Problem> {
        let first = memory.read(pointer, POINTER_BYTES).ok_or(Problem::NoPointer)?;
        if !first.starts_with(b"RSD PTR ") || sum(first) != 0 {
            return Err(Problem::NoPointer);
        }
        const REVISION: usize = 15;
        let long = (first[REVISION] >= 2).then(|| memory.read(pointer, LONG_POINTER_BYTES)).flatten();
        let long = long.filter(|bytes| sum(bytes) == 0).and_then(|bytes| u64_at(bytes, 24));
        let short = u32_at(first, 16).map(u64::from);
        let list = |address: Option<u64>, signature, width| {
            let list = Table::at(memory, address.filter(|address| *address != 0)?, signature)?;
            Some(Tables { memory, addresses: list.body(), width })
        };
        list(long, b"XSDT", 8).or_else(|| list(short, b"RSDT", 4)).ok_or(Problem::NoList)
    }

    /// The first valid table with this signature.
    pub fn find(&self, signature: &[u8; 4]) -> Option<Table<'m>> {
        self.all(signature).next()
    }

    /// The valid table of this signature at a physical address that another table names.
    pub(crate) fn at(&self, address: u64, signature: &[u8; 4]) -> Option<Table<'m>> {
        Table::at(self.memory, address, signature)
    }

    /// All valid tables with this signature.
    pub(crate) fn all(&self, signature: &[u8; 4]) -> impl Iterator<Item = Table<'m>> {
        let addresses = self.addresses.chunks_exact(self.width).filter_map(|bytes| match self.width {
            8 => u64_at(bytes, 0),
            _ => u32_at(bytes, 0).map(u64::from),
        });
        addresses
            .filter(|address| *address != 0)
            .filter_map(move |address| Table::at(self.memory, address, signature))
    }
}

impl<'m> Table<'m> {
    /// The table at a physical address, if there is a valid one of this signature.
    fn at(memory: impl Memory<'m>, address: u64, signature: &[u8; 4]) -> Option<Table<'m>> {
        let header = memory.read(address, HEADER_BYTES)?;
        if !header.starts_with(signature) {
            return None;
        }
        let length = u32_at(header, 4)? as usize;
        if !(HEADER_BYTES..=TABLE_BYTES_MAX).contains(&length) {
            return None;
        }
        let bytes = memory.read(address, length)?;
        (sum(bytes) == 0).then_some(Table { bytes })
    }

    /// All of it; offsets of the specification count from here.
    pub fn bytes(&self) -> &'m [u8] {
        self.bytes
    }

    /// What follows the header.
    fn body(&self) -> &'m [u8] {
        &self.bytes[HEADER_BYTES..]
    }

    /// What follows the first `offset` bytes; empty if there are not as many.
    pub(crate) fn after(&self, offset: usize) -> &'m [u8] {
        self.bytes.get(offset..).unwrap_or_default()
    }
}

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}
