//! Network interfaces of ranks, and their portal tables (Portals 4.3, sections 3.5 and 3.6).

use bytemuck::Zeroable;
use lwk_abi::portals::{InterfaceOptions as Options, Limits, TABLE_SIZE, TableOptions, register};

use crate::lists::Heads;
use crate::region;
use crate::slab::Place;

/// Interfaces of a rank: matching or not, logical or physical.
pub const OF_A_RANK: usize = 4;

/// Which of a rank's interfaces one with these options is; nothing if the options are contradictory or incomplete.
pub fn slot(options: Options) -> Option<u8> {
    let pick = |yes, no| match (options.contains(yes), options.contains(no)) {
        (true, false) => Some(1),
        (false, true) => Some(0),
        _ => None,
    };
    let (matching, logical) =
        (pick(Options::MATCHING, Options::NO_MATCHING)?, pick(Options::LOGICAL, Options::PHYSICAL)?);
    Options::all().contains(options).then_some(matching << 1 | logical)
}

/// A network interface.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub struct Interface {
    /// Times it has been opened and not closed.
    pub open: u32,
    /// Times it has been closed for good: old handles are then nobody's.
    pub turn: u32,
    pub limits: Used,
    pub used: Used,
    pub registers: [u64; register::COUNT as usize],
    pub tables: [Place; TABLE_SIZE as usize],
}

/// How many of a kind a program has of an interface, or may have.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Used {
    pub entries: u32,
    pub headers: u32,
    pub descriptors: u32,
    pub queues: u32,
    pub counters: u32,
    pub triggered: u32,
    pub tables: u32,
    /// Entries of a list, vectors of a region, and pieces of all regions together.
    pub list_size: u32,
    pub iovecs: u32,
    pub pieces: u32,
}

/// Limits that an interface has unless it asks for less.
const MOST: Used = Used {
    entries: 16_384,
    headers: 8_192,
    descriptors: 4_096,
    queues: 256,
    counters: 1_024,
    triggered: 1_024,
    tables: TABLE_SIZE,
    list_size: 16_384,
    iovecs: region::IOVECS_MAX,
    pieces: region::OF_AN_INTERFACE,
};

impl Interface {
    /// The limits that hold if these are desired: those of the system where it cannot have as much, or says 0.
    pub fn settle(desired: Option<&Limits>) -> Used {
        let Some(desired) = desired else { return MOST };
        let least = |wish: u32, most: u32| if wish == 0 { most } else { wish.min(most) };
        Used {
            entries: least(desired.entries, MOST.entries),
            headers: least(desired.unexpected_headers, MOST.headers),
            descriptors: least(desired.descriptors, MOST.descriptors),
            queues: least(desired.queues, MOST.queues),
            counters: least(desired.counters, MOST.counters),
            triggered: least(desired.triggered, MOST.triggered),
            tables: least(desired.table_index.saturating_add(1), MOST.tables),
            list_size: least(desired.list_size, MOST.list_size),
            iovecs: least(desired.iovecs, MOST.iovecs),
            pieces: MOST.pieces,
        }
    }

    /// As the program is told of them.
    pub fn limits(&self) -> Limits {
        let limits = &self.limits;
        Limits {
            entries: limits.entries,
            unexpected_headers: limits.headers,
            descriptors: limits.descriptors,
            queues: limits.queues,
            counters: limits.counters,
            table_index: limits.tables - 1,
            iovecs: limits.iovecs,
            list_size: limits.list_size,
            triggered: limits.triggered,
            reserved: 0,
            message_bytes: crate::initiator::MESSAGE_BYTES_MAX,
            atomic_bytes: lwk_abi::portals::ATOMIC_BYTES,
            fetch_atomic_bytes: lwk_abi::portals::ATOMIC_BYTES,
            ordered_bytes: crate::initiator::MESSAGE_BYTES_MAX,
            volatile_bytes: lwk_abi::portals::ATOMIC_BYTES,
        }
    }
}

/// An entry of a portal table.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Table {
    pub interface: u32,
    pub index: u32,
    pub options: u32,
    pub queue: Place,
    pub enabled: u32,
    /// Messages that are arriving.
    pub arriving: u32,
    /// Messages that have matched the overflow list.
    pub overflowed: u64,
    pub heads: Heads,
}

impl Table {
    pub fn has(&self, option: TableOptions) -> bool {
        TableOptions::from_bits_retain(self.options).contains(option)
    }

    pub fn controls_flow(&self) -> bool {
        self.has(TableOptions::FLOWCTRL)
    }
}
