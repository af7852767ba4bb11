//! The lists of a portal-table entry: list entries in the order of their appending, and the messages that came unexpected.
//!
//! An entry whose match bits are exact and whose initiator is one process or any is found by hash, whatever the length of its list; the others,
//! with ignored bits or half an initiator, stand in a chain of their own that is walked in order. Every entry has a number that grows, so the first
//! of the candidates is the first in the list (Portals 4.3, section 3.12). Messages that came unexpected are found by their bits in the same way.

use bytemuck::Zeroable;
use lwk_abi::portals::{ANY, EntryOptions as Options};

use crate::region::Region;
use crate::slab::{Place, Slab};

/// List entries of a node.
pub const ENTRIES: usize = 32_768;
/// Messages of a node that came unexpected.
pub const HEADERS: usize = 16_384;
const CHAINS: usize = 65_536;

/// The initiator of a message, as its target names it: node and process, or rank and 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Zeroable)]
#[repr(C)]
pub struct Initiator {
    pub node: u32,
    pub process: u32,
}

impl Initiator {
    const ANYBODY: Initiator = Initiator { node: ANY, process: ANY };

    /// Whether `self`, which may be a wildcard, stands for `one`.
    fn is(self, one: Initiator) -> bool {
        (self.node == ANY || self.node == one.node) && (self.process == ANY || self.process == one.process)
    }

    /// Anybody, if it is one wildcard through and through.
    fn simple(self, logical: bool) -> Option<Initiator> {
        match (self.node == ANY, self.process == ANY) {
            (false, false) => Some(self),
            (true, true) => Some(Initiator::ANYBODY),
            (true, false) if logical => Some(Initiator::ANYBODY),
            _ => None,
        }
    }
}

/// A list entry.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub struct Entry {
    pub memory: Region,
    pub bits: u64,
    pub ignore: u64,
    pub min_free: u64,
    /// Bytes used of memory whose offset the target manages.
    pub local_offset: u64,
    pub user: u64,
    /// Its number: grows in every list.
    pub(crate) number: u64,
    /// Neighbours in its chain.
    pub(crate) next: Place,
    pub(crate) before: Place,
    /// The interface and the portal-table entry that it belongs to.
    pub interface: u32,
    pub table: Place,
    pub options: u32,
    pub counter: Place,
    pub uid: u32,
    pub initiator: Initiator,
    pub list: u32,
    /// 1 while it is in its list.
    pub linked: u32,
    /// Messages that are arriving in its memory, and unexpected ones that nobody has taken.
    pub arriving: u32,
    pub unexpected: u32,
    /// The chain that it hangs in, plus one; 0: that of wildcards.
    pub(crate) chain: u32,
    /// 1: one word stands for anybody (logical interfaces).
    pub logical: u32,
    /// Of an entry that fetches: the descriptor into which.
    pub(crate) fetch: Place,
}

/// A message that has matched an entry of the overflow list.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Header {
    pub bits: u64,
    pub bytes: u64,
    pub done: u64,
    pub offset: u64,
    pub data: u64,
    /// Where it lies, as the program calls it.
    pub start: u64,
    /// Of the entry that has taken it, while the message still arrives.
    pub user: u64,
    pub initiator: Initiator,
    pub table: Place,
    pub entry: Place,
    /// Kind of the event that tells of it.
    pub kind: u32,
    pub atomic: u32,
    pub datatype: u32,
    /// 1: all of it is there.
    pub complete: u32,
    /// 1: an entry has taken it; it waits only to be complete.
    pub taken: u32,
    /// Options and counter of that entry.
    pub options: u32,
    pub counter: Place,
    pub(crate) next: Place,
    pub(crate) before: Place,
    /// Neighbours among those with the same bits.
    pub(crate) chain_next: Place,
    pub(crate) chain_before: Place,
    pub(crate) padding: u32,
}

#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Chain {
    first: Place,
    last: Place,
}

/// What a portal-table entry has of its lists.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Heads {
    wild: [Chain; 2],
    headers: Chain,
    /// Entries in each list.
    pub entries: [u32; 2],
    pub headers_count: u32,
    pub(crate) padding: u32,
}

#[derive(Zeroable)]
#[repr(C)]
pub struct Lists {
    pub entries: Slab<Entry, ENTRIES>,
    pub headers: Slab<Header, HEADERS>,
    pub(crate) number: u64,
    /// Entries that were looked at, for the test of what is found by hash.
    looked_at: u64,
    exact: [Chain; CHAINS],
    by_bits: [Chain; CHAINS],
}

/// What a message asks of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub table: Place,
    pub bits: u64,
    pub initiator: Initiator,
    /// Bytes asked for, and where the initiator wants them.
    pub bytes: u64,
    pub offset: u64,
}

fn chain_of(table: Place, list: u32, bits: u64, initiator: Initiator) -> usize {
    // Multiplications by odd constants with well-mixed bits (Knuth's multiplicative hash); the upper half is the best mixed.
    let place = u64::from(table) << 1 | u64::from(list);
    let who = u64::from(initiator.node) << 32 | u64::from(initiator.process);
    let mut mixed = bits ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^= who.wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed = (mixed ^ mixed >> 32).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (mixed >> 40) as usize % CHAINS
}

impl Entry {
    /// What the program asks for, not in any list yet.
    pub fn new(asked: &lwk_abi::portals::Entry, memory: Region) -> Entry {
        Entry {
            memory,
            bits: asked.bits,
            ignore: asked.ignore,
            min_free: asked.min_free,
            user: asked.user,
            options: asked.options.bits(),
            uid: asked.uid,
            initiator: Initiator { node: asked.node, process: asked.process },
            ..Entry::zeroed()
        }
    }

    /// Whether it has all of these.
    pub fn has(&self, options: Options) -> bool {
        Options::from_bits_retain(self.options).contains(options)
    }

    /// Whether less of its memory is left than it wants.
    pub fn is_used_up(&self) -> bool {
        let left = self.memory.bytes() - self.local_offset.min(self.memory.bytes());
        self.has(Options::MANAGE_LOCAL) && self.min_free > 0 && left < self.min_free
    }

    /// Whether a message is for this entry.
    fn takes(&self, wanted: &Wanted) -> bool {
        let from = if self.has(Options::MANAGE_LOCAL) { self.local_offset } else { wanted.offset };
        self.table == wanted.table
            && (self.bits ^ wanted.bits) & !self.ignore == 0
            && self.initiator.is(wanted.initiator)
            && (!self.has(Options::NO_TRUNCATE)
                || from.checked_add(wanted.bytes).is_some_and(|end| end <= self.memory.bytes()))
    }

    /// Whether an unexpected message is for this entry.
    fn takes_header(&self, header: &Header) -> bool {
        self.table == header.table
            && (self.bits ^ header.bits) & !self.ignore == 0
            && self.initiator.is(header.initiator)
            && (!self.has(Options::NO_TRUNCATE) || header.bytes <= self.memory.bytes())
    }
}

impl Lists {
    /// Appends an entry to its list. Nothing if there is no room.
    pub fn append(&mut self, heads: &mut Heads, mut entry: Entry) -> Option<Place> {
        self.number += 1;
        entry.number = self.number;
        entry.linked = 1;
        let list = entry.list;
        let exact = (entry.ignore == 0).then(|| entry.initiator.simple(entry.logical != 0)).flatten();
        entry.chain = exact.map_or(0, |who| chain_of(entry.table, list, entry.bits, who) as u32 + 1);
        let chain = match entry.chain {
            0 => &mut heads.wild[list as usize],
            exact => &mut self.exact[exact as usize - 1],
        };
        entry.before = chain.last;
        let place = self.entries.add(entry)?;
        match core::mem::replace(&mut chain.last, place) {
            0 => chain.first = place,
            last => self.entries.get_mut(last).next = place,
        }
        heads.entries[list as usize] += 1;
        Some(place)
    }

    /// Takes an entry out of its list; it stays in the table.
    pub fn unlink(&mut self, heads: &mut Heads, place: Place) {
        let Entry { chain, before, next, list, .. } = *self.entries.get(place);
        let chain = match chain {
            0 => &mut heads.wild[list as usize],
            exact => &mut self.exact[exact as usize - 1],
        };
        match before {
            0 => chain.first = next,
            before => self.entries.get_mut(before).next = next,
        }
        match next {
            0 => chain.last = before,
            next => self.entries.get_mut(next).before = before,
        }
        let entry = self.entries.get_mut(place);
        (entry.linked, entry.next, entry.before) = (0, 0, 0);
        heads.entries[list as usize] -= 1;
    }

    /// The first entry of a list that a message is for.
    pub fn find(&mut self, heads: &Heads, list: u32, wanted: &Wanted) -> Option<Place> {
        let mut first: Option<(u64, Place)> = None;
        let hashed = [wanted.initiator, Initiator::ANYBODY]
            .map(|who| self.exact[chain_of(wanted.table, list, wanted.bits, who)].first);
        for start in [hashed[0], hashed[1], heads.wild[list as usize].first] {
            let mut at = start;
            while at != 0 {
                self.looked_at += 1;
                let entry = self.entries.get(at);
                if first.is_some_and(|(number, _)| number < entry.number) {
                    break;
                }
                if entry.list == list && entry.takes(wanted) {
                    first = Some((entry.number, at));
                    break;
                }
                at = entry.next;
            }
        }
        first.map(|(_, place)| place)
    }

    /// Keeps an unexpected message. Nothing if there is no room.
    pub fn keep(&mut self, heads: &mut Heads, mut header: Header) -> Option<Place> {
        let chain = &mut self.by_bits[chain_of(header.table, 0, header.bits, Initiator::ANYBODY)];
        (header.before, header.chain_before) = (heads.headers.last, chain.last);
        let place = self.headers.add(header)?;
        match core::mem::replace(&mut chain.last, place) {
            0 => chain.first = place,
            last => self.headers.get_mut(last).chain_next = place,
        }
        match core::mem::replace(&mut heads.headers.last, place) {
            0 => heads.headers.first = place,
            last => self.headers.get_mut(last).next = place,
        }
        heads.headers_count += 1;
        Some(place)
    }

    /// Takes an unexpected message off the list; it stays in the table.
    pub fn take(&mut self, heads: &mut Heads, place: Place) {
        let Header { table, bits, next, before, chain_next, chain_before, .. } = *self.headers.get(place);
        let chain = &mut self.by_bits[chain_of(table, 0, bits, Initiator::ANYBODY)];
        match chain_before {
            0 => chain.first = chain_next,
            before => self.headers.get_mut(before).chain_next = chain_next,
        }
        match chain_next {
            0 => chain.last = chain_before,
            next => self.headers.get_mut(next).chain_before = chain_before,
        }
        match before {
            0 => heads.headers.first = next,
            before => self.headers.get_mut(before).next = next,
        }
        match next {
            0 => heads.headers.last = before,
            next => self.headers.get_mut(next).before = before,
        }
        heads.headers_count -= 1;
    }

    /// The first unexpected message that is for an entry.
    pub fn find_header(&self, heads: &Heads, entry: &Entry) -> Option<Place> {
        let exact = entry.ignore == 0;
        let chain = &self.by_bits[chain_of(entry.table, 0, entry.bits, Initiator::ANYBODY)];
        let mut at = if exact { chain.first } else { heads.headers.first };
        while at != 0 {
            let header = self.headers.get(at);
            if entry.takes_header(header) {
                return Some(at);
            }
            at = if exact { header.chain_next } else { header.next };
        }
        None
    }

    /// Entries that all searches have looked at.
    pub fn looked_at(&self) -> u64 {
        self.looked_at
    }
}
