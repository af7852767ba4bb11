//! Memory of ranks that no load or store reaches, because they are on another node or behind the wall: put, get and atomic operations, which are Portals'
//! (Portals 4.3, section 3.15) and need no help of the rank whose memory it is.
//!
//! * Each rank opens one list entry over all memory of the program that can be written: the image's data and the heap, which lie at the same
//!   addresses in all ranks. An address of this rank's names the place in the other's.
//! * What this rank has begun and what has ended are two counts, of puts and of gets. No events: the kernel counts acknowledgements and replies in this
//!   rank's memory ([`Remote::complete`]).
//! * Operations on one rank arrive in the order in which they were begun: a node's messages leave by one queue, and the link keeps their order. An
//!   aligned word arrives as a whole, and atomic operations on it are so against instructions of the target's node, too.
//!
//! Per rank: all of it.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]

mod sort;

use core::fmt;

use lwk_place::WorldRank;
use lwk_user::portals::abi::{
    ANY, Entry, NONE, Operation, PRIORITY_LIST, ack, atomic, datatype, entry, interface, operation,
};
use lwk_user::portals::{Error, Interface};
use sort::Sort;

/// Index of the portal table.
const TABLE: u32 = 0;
/// Bytes that the kernel copies when a put begins: the source is the caller's again.
const COPIED: usize = lwk_user::portals::abi::ATOMIC_BYTES as usize;

/// Why there is no end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoEnd(Error);

impl fmt::Display for NoEnd {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "ranks out of reach cannot be reached by Portals: {}", self.0)
    }
}

impl From<Error> for NoEnd {
    fn from(error: Error) -> NoEnd {
        NoEnd(error)
    }
}

/// What an operation on a rank's memory has come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The address is not in memory that all ranks have at the same place.
    NotSymmetric,
    /// The rank, or its node, is gone.
    Gone,
    /// The kernel has refused an operation.
    Refused(Error),
}

/// What an operation answers.
pub type Result<T> = core::result::Result<T, Fault>;

/// What is done to a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change<W> {
    Add(W),
    And(W),
    Or(W),
    Xor(W),
    Swap(W),
    /// The second is there afterwards if the first was.
    CompareSwap(W, W),
}

mod sealed {
    pub trait Sealed {}
}

/// A word of four or eight bytes.
pub trait Word: Copy + sealed::Sealed {
    #[doc(hidden)]
    const DATATYPE: u32;
    #[doc(hidden)]
    const ZERO: Self;
    #[doc(hidden)]
    fn bits(self) -> u64;
}

macro_rules! words {
    ($($type:ty: $datatype:ident $unsigned:ty;)*) => {
        $(
            impl sealed::Sealed for $type {}

            impl Word for $type {
                const DATATYPE: u32 = datatype::$datatype;
                const ZERO: $type = 0;
                fn bits(self) -> u64 {
                    u64::from(self as $unsigned)
                }
            }
        )*
    };
}

words! {
    i32: INT32 u32;
    u32: UINT32 u32;
    i64: INT64 u64;
    u64: UINT64 u64;
}

impl<W: Word> Change<W> {
    /// Kind of the operation, of the atomic, what comes, and what it is compared with.
    fn parts(self) -> (u32, u32, W, W) {
        match self {
            Change::Add(value) => (operation::FETCH_ATOMIC, atomic::SUM, value, W::ZERO),
            Change::And(value) => (operation::FETCH_ATOMIC, atomic::BAND, value, W::ZERO),
            Change::Or(value) => (operation::FETCH_ATOMIC, atomic::BOR, value, W::ZERO),
            Change::Xor(value) => (operation::FETCH_ATOMIC, atomic::BXOR, value, W::ZERO),
            Change::Swap(value) => (operation::SWAP, atomic::SWAP, value, W::ZERO),
            Change::CompareSwap(old, new) => (operation::SWAP, atomic::CSWAP, new, old),
        }
    }
}

/// This rank's end. Dropping it closes it, to others, too.
pub struct Remote {
    puts: Sort,
    gets: Sort,
    /// Gets that may fail.
    looks: Sort,
    /// What all ranks have at the same addresses.
    common: (u64, u64),
    // Behind what it owns.
    interface: Interface,
}

impl Remote {
    /// Opens this rank's end: from now on other ranks read and write all of this program's data and heap.
    ///
    /// # Errors
    /// This home has no network, or no room.
    ///
    /// # Safety
    /// What other ranks do with this rank's memory must be sound.
    pub unsafe fn open() -> core::result::Result<Remote, NoEnd> {
        let interface = Interface::open(interface::NO_MATCHING | interface::LOGICAL)?;
        let page = lwk_user::job().page();
        let common = (page.data_start, page.heap_end);
        let sort = || Sort::new(&interface, [common, (page.stack_start, page.stack_end)]);
        let (puts, gets, looks) = (sort()?, sort()?, sort()?);
        interface.table(0, None, TABLE)?;
        let all = Entry {
            start: common.0,
            bytes: common.1 - common.0,
            counter: NONE,
            uid: ANY,
            options: entry::OP_PUT | entry::OP_GET | entry::EVENT_COMM_DISABLE,
            node: ANY,
            process: ANY,
            ..Entry::default()
        };
        // SAFETY: what others do with this memory is sound (this function's contract).
        unsafe { interface.append(TABLE, &all, PRIORITY_LIST)? };
        Ok(Remote { puts, gets, looks, common, interface })
    }

    /// Whether a rank's end is open.
    pub fn is_open(&self, rank: WorldRank) -> bool {
        let mut word = 0u32;
        // SAFETY: the first word of the data can be read.
        unsafe { self.look(rank, self.common.0 as *const u32, &mut word) }
    }

    /// Loads a word of another rank; false if that rank is gone, or not there yet.
    ///
    /// # Safety
    /// `source` is a word of memory that all ranks have, which nobody changes in pieces meanwhile.
    pub unsafe fn look(&self, rank: WorldRank, source: *const u32, word: &mut u32) -> bool {
        let at = (word as *mut u32).expose_provenance();
        let (Some((from, offset)), Ok(place)) = (self.looks.window(at, 4), self.place(source.addr(), 4))
        else {
            return false;
        };
        let get = Operation {
            kind: operation::GET,
            put: NONE,
            get: from,
            get_offset: offset,
            bytes: 4,
            ..to(rank, place)
        };
        let before = self.looks.failures();
        // SAFETY: the word is this function's to write until the get has ended, for which it waits.
        unsafe { self.looks.begin(&self.interface, &get) }.is_ok() && self.looks.failures() == before
    }

    /// Where an address lies in the entry of every rank. Errors: [`Fault::NotSymmetric`].
    fn place(&self, address: usize, bytes: usize) -> Result<u64> {
        let (start, end) = self.common;
        let last = (address as u64).checked_add(bytes as u64);
        match last {
            Some(last) if address as u64 >= start && last <= end => Ok(address as u64 - start),
            _ => Err(Fault::NotSymmetric),
        }
    }

    /// Whether memory is what all ranks have alike and nobody changes: the program's code and constants.
    fn is_constant(&self, address: usize, bytes: usize) -> bool {
        (address as u64) < self.common.0 && lwk_user::job().image_contains(address as u64, bytes as u64)
    }

    /// Puts bytes at `dest` of another rank. The source is the caller's again; that the bytes are there says [`Remote::complete`]. Errors: see
    /// [`Fault`].
    ///
    /// # Safety
    /// `source` is readable and the other's `dest` writable for `bytes` bytes; nobody uses either against the rules of its owner meanwhile.
    pub unsafe fn put(&self, rank: WorldRank, dest: *mut u8, source: *const u8, bytes: usize) -> Result<()> {
        let place = self.place(dest.addr(), bytes)?;
        let put = |from: u32, offset: u64, done: usize, bytes: usize| Operation {
            kind: operation::PUT,
            put: from,
            get: NONE,
            ack: ack::OPERATION_COMPLETED,
            put_offset: offset,
            bytes: bytes as u64,
            ..to(rank, place + done as u64)
        };
        if let Some((from, offset)) = self.puts.window(source.expose_provenance(), bytes) {
            // SAFETY: the source is readable (this function's contract): it is copied by the call, or waited for below.
            unsafe { self.puts.begin(&self.interface, &put(from, offset, 0, bytes))? };
            return if bytes > COPIED { self.puts.end() } else { Ok(()) };
        }
        // Memory that no descriptor names goes by pieces of this frame.
        let mut piece = [0u8; COPIED];
        let at = piece.as_mut_ptr().expose_provenance();
        let Some((from, offset)) = self.puts.window(at, COPIED) else { return Err(Fault::NotSymmetric) };
        for done in (0..bytes).step_by(COPIED) {
            let here = COPIED.min(bytes - done);
            // SAFETY: `here` bytes of the source are readable (this function's contract), and the piece has room for them; it is copied by the call.
            unsafe {
                lwk_user::copy::copy(source.add(done), piece.as_mut_ptr(), here);
                self.puts.begin(&self.interface, &put(from, offset, done, here))?;
            }
        }
        Ok(())
    }

    /// Gets bytes from `source` of another rank. Errors: see [`Fault`].
    ///
    /// # Safety
    /// The other's `source` is readable and `dest` writable for `bytes` bytes; nobody uses either against the rules of its owner meanwhile.
    pub unsafe fn get(&self, rank: WorldRank, dest: *mut u8, source: *const u8, bytes: usize) -> Result<()> {
        if self.is_constant(source.addr(), bytes) {
            // SAFETY: as many bytes are readable here as there (this function's contract), and the same.
            unsafe { lwk_user::copy::copy(source, dest, bytes) };
            return Ok(());
        }
        let place = self.place(source.addr(), bytes)?;
        let get = |into: u32, offset: u64, done: usize, bytes: usize| Operation {
            kind: operation::GET,
            put: NONE,
            get: into,
            get_offset: offset,
            bytes: bytes as u64,
            ..to(rank, place + done as u64)
        };
        if let Some((into, offset)) = self.gets.window(dest.expose_provenance(), bytes) {
            // SAFETY: `dest` is writable (this function's contract) until the get has ended, for which it waits.
            unsafe { self.gets.begin(&self.interface, &get(into, offset, 0, bytes))? };
            return self.gets.end();
        }
        let mut piece = [0u8; COPIED];
        let at = piece.as_mut_ptr().expose_provenance();
        let Some((into, offset)) = self.gets.window(at, COPIED) else { return Err(Fault::NotSymmetric) };
        for done in (0..bytes).step_by(COPIED) {
            let here = COPIED.min(bytes - done);
            // SAFETY: the piece is the get's until it has ended; `dest` is writable for `here` bytes (this function's contract).
            unsafe {
                self.gets.begin(&self.interface, &get(into, offset, done, here))?;
                self.gets.end()?;
                lwk_user::copy::copy(piece.as_ptr(), dest.add(done), here);
            }
        }
        Ok(())
    }

    /// Changes a word of another rank; what was there. Errors: see [`Fault`].
    ///
    /// # Safety
    /// `at` is an aligned word there that everybody changes by atomic operations only.
    pub unsafe fn fetch<W: Word>(&self, rank: WorldRank, at: *mut W, change: Change<W>) -> Result<W> {
        let place = self.place(at.addr(), size_of::<W>())?;
        let (kind, atomic, value, operand) = change.parts();
        let mut words = [value, W::ZERO];
        let here = words.as_mut_ptr().expose_provenance();
        let Some((own, offset)) = self.gets.window(here, size_of_val(&words)) else {
            return Err(Fault::NotSymmetric);
        };
        let fetch = Operation {
            kind,
            put: own,
            put_offset: offset,
            get: own,
            get_offset: offset + size_of::<W>() as u64,
            bytes: size_of::<W>() as u64,
            atomic,
            datatype: W::DATATYPE,
            operand: operand.bits(),
            ..to(rank, place)
        };
        // SAFETY: the words are the operation's until it has ended, for which it waits.
        unsafe { self.gets.begin(&self.interface, &fetch)? };
        self.gets.end()?;
        // SAFETY: the second word, which the kernel has written.
        Ok(unsafe { (&raw const words[1]).read_volatile() })
    }

    /// Changes a word of another rank, which is done when [`Remote::complete`] says so. Only for changes that are no swap. Errors: see [`Fault`].
    ///
    /// # Safety
    /// As for [`Remote::fetch`].
    pub unsafe fn change<W: Word>(&self, rank: WorldRank, at: *mut W, change: Change<W>) -> Result<()> {
        let place = self.place(at.addr(), size_of::<W>())?;
        let (kind, atomic, value, _) = change.parts();
        let here = (&raw const value).expose_provenance();
        let own = self.puts.window(here, size_of::<W>()).filter(|_| kind == operation::FETCH_ATOMIC);
        let Some((own, offset)) = own else {
            // SAFETY: this function's contract.
            return unsafe { self.fetch(rank, at, change) }.map(drop);
        };
        let operation = Operation {
            kind: operation::ATOMIC,
            put: own,
            put_offset: offset,
            get: NONE,
            ack: ack::OPERATION_COMPLETED,
            bytes: size_of::<W>() as u64,
            atomic,
            datatype: W::DATATYPE,
            ..to(rank, place)
        };
        // SAFETY: the value is copied by the call.
        unsafe { self.puts.begin(&self.interface, &operation)? };
        Ok(())
    }

    /// Waits until everything that this rank has put or changed is there. Errors: [`Fault::Gone`].
    pub fn complete(&self) -> Result<()> {
        self.puts.end()
    }
}

/// An operation on a place of another rank.
fn to(rank: WorldRank, place: u64) -> Operation {
    Operation {
        node: rank.0,
        table: TABLE,
        trigger: NONE,
        counter: NONE,
        remote_offset: place,
        ..Operation::default()
    }
}
