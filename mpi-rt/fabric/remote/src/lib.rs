//! Memory of ranks that no load or store reaches, because they are on another node or behind the wall: put, get and atomic operations, which are Portals'
//! (Portals 4.3, section 3.15) and need no help of the rank whose memory it is.
//!
//! * Each rank opens list entries over memory of the program that can be written ([`Opened`]): the image's data and the heap ([`Remote::open`]), and for callers
//!   who tell each other their addresses the stack, too ([`Remote::open_all`]).
//! * Data and heap lie at the same addresses in all ranks, so an address of this rank's can name the place in the other's.
//! * What this rank has begun and what has ended are two counts, of puts and of gets. No events: the kernel counts acknowledgements and replies in this
//!   rank's memory ([`Remote::complete`]).
//! * Operations on one rank arrive in the order in which they were begun: a node's messages leave by one queue, and the link keeps their order. An
//!   aligned word arrives as a whole, and atomic operations on it are so against instructions of the target's node, too.
//!
//! Per rank: all of it.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]

mod change;
mod opened;
mod sort;

pub use change::{Change, Update, Word};
pub use opened::{Opened, Place};

use core::fmt;
use core::time::Duration;

use lwk_place::WorldRank;
use lwk_user::clock::Instant;
use lwk_user::portals::abi::{
    ANY, Entry, EntryOptions, InterfaceOptions, NONE, Operation, PRIORITY_LIST, TABLE_SIZE, TableOptions,
    ack, operation,
};
use lwk_user::portals::{Error, Interface};
use lwk_user::wait::spin_until;
use sort::Sort;

/// Index of the portal table, of data and heap; the stack's is the next one.
const TABLE: u32 = 0;
/// The same of [`Remote::open_all`]: the last two, which a program's own tables are least likely to have.
const TABLE_OF_ALL: u32 = TABLE_SIZE - 2;
/// Bytes that the kernel copies when a put begins: the source is the caller's again. Also the most that one atomic operation changes.
pub const COPIED: usize = lwk_user::portals::abi::ATOMIC_BYTES as usize;

/// Pauses before a rank that has not started is asked again: the first, which is as long as a few frames take, and the longest.
const PAUSE: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(5)];

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

/// This rank's end. Dropping it closes it, to others, too.
pub struct Remote {
    puts: Sort,
    gets: Sort,
    /// Gets that may fail.
    looks: Sort,
    opened: Opened,
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
        let page = lwk_user::job().page();
        let opened = Opened::new(TABLE, [(page.data_start, page.heap_end), (0, 0)]);
        // SAFETY: this function's contract.
        unsafe { Remote::open_parts(opened) }
    }

    /// As [`Remote::open`], of this rank's stack, too, and beside it: an end of its own. Others know the places by what [`Remote::opened`] says here.
    ///
    /// # Errors
    /// This home has no network, or no room.
    ///
    /// # Safety
    /// As for [`Remote::open`].
    pub unsafe fn open_all() -> core::result::Result<Remote, NoEnd> {
        let page = lwk_user::job().page();
        let parts = [(page.data_start, page.heap_end), (page.stack_start, page.stack_end)];
        // SAFETY: this function's contract.
        unsafe { Remote::open_parts(Opened::new(TABLE_OF_ALL, parts)) }
    }

    /// # Safety
    /// As for [`Remote::open`].
    unsafe fn open_parts(opened: Opened) -> core::result::Result<Remote, NoEnd> {
        let interface = Interface::open(InterfaceOptions::NO_MATCHING | InterfaceOptions::LOGICAL)?;
        let page = lwk_user::job().page();
        let own = [(page.data_start, page.heap_end), (page.stack_start, page.stack_end)];
        let sort = || Sort::new(&interface, own);
        let (puts, gets, looks) = (sort()?, sort()?, sort()?);
        for (table, start, end) in opened.entries() {
            interface.table(TableOptions::empty(), None, table)?;
            let all = Entry {
                start,
                bytes: end - start,
                counter: NONE,
                uid: ANY,
                options: EntryOptions::OP_PUT | EntryOptions::OP_GET | EntryOptions::EVENT_COMM_DISABLE,
                node: ANY,
                process: ANY,
                ..Entry::default()
            };
            // SAFETY: what others do with this memory is sound (this function's contract).
            unsafe { interface.append(table, &all, PRIORITY_LIST)? };
        }
        Ok(Remote { puts, gets, looks, opened, interface })
    }

    /// What this rank has opened.
    pub fn opened(&self) -> Opened {
        self.opened
    }

    /// Waits until a rank's end is open. Who starts is kept from it by questions, so the pauses between them grow.
    pub fn await_open(&self, rank: WorldRank) {
        let mut pause = PAUSE[0];
        while !self.is_open(rank) {
            let until = Instant::now().after(pause);
            spin_until(|| Instant::now() >= until);
            pause = (2 * pause).min(PAUSE[1]);
        }
    }

    fn is_open(&self, rank: WorldRank) -> bool {
        let mut word = 0u32;
        // SAFETY: the first word of the data can be read.
        unsafe {
            self.look(rank, core::ptr::with_exposed_provenance(self.opened.start() as usize), &mut word)
        }
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
    fn place(&self, address: usize, bytes: usize) -> Result<Place> {
        self.opened.symmetric(address as u64, bytes as u64).ok_or(Fault::NotSymmetric)
    }

    /// Whether memory is what all ranks have alike and nobody changes: the program's code and constants.
    fn is_constant(&self, address: usize, bytes: usize) -> bool {
        (address as u64) < self.opened.start() && lwk_user::job().image_contains(address as u64, bytes as u64)
    }

    /// Puts bytes at `dest` of another rank. The source is the caller's again; that the bytes are there says [`Remote::complete`]. Errors: see
    /// [`Fault`].
    ///
    /// # Safety
    /// `source` is readable and the other's `dest` writable for `bytes` bytes; nobody uses either against the rules of its owner meanwhile.
    pub unsafe fn put(&self, rank: WorldRank, dest: *mut u8, source: *const u8, bytes: usize) -> Result<()> {
        let place = self.place(dest.addr(), bytes)?;
        // SAFETY: this function's contract; what is not copied by the call is waited for.
        unsafe { self.begin_put(rank, place, source, bytes)? };
        if bytes > COPIED { self.puts.end() } else { Ok(()) }
    }

    /// Begins to put bytes at a place of another rank. Up to [`COPIED`] bytes the source is the caller's again; longer ones after
    /// [`Remote::complete`]. Errors: see [`Fault`].
    ///
    /// # Safety
    /// As for [`Remote::put`], and nobody changes a longer source until then.
    pub unsafe fn begin_put(
        &self,
        rank: WorldRank,
        place: Place,
        source: *const u8,
        bytes: usize,
    ) -> Result<()> {
        let put = |from: u32, offset: u64, done: usize, bytes: usize| Operation {
            kind: operation::PUT,
            put: from,
            get: NONE,
            ack: ack::OPERATION_COMPLETED,
            put_offset: offset,
            bytes: bytes as u64,
            ..to(rank, place.after(done))
        };
        if let Some((from, offset)) = self.puts.window(source.expose_provenance(), bytes) {
            // SAFETY: the source is readable until the call has copied it, or until it has ended (this function's contract).
            return unsafe { self.puts.begin(&self.interface, &put(from, offset, 0, bytes)) };
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
        // SAFETY: this function's contract, and it waits.
        unsafe { self.begin_get(rank, dest, place, bytes)? };
        self.gets.end()
    }

    /// Begins to get bytes from a place of another rank: they are there after [`Remote::arrive`]. Errors: see [`Fault`].
    ///
    /// # Safety
    /// As for [`Remote::get`], and `dest` is left to this until then.
    pub unsafe fn begin_get(&self, rank: WorldRank, dest: *mut u8, place: Place, bytes: usize) -> Result<()> {
        let get = |into: u32, offset: u64, done: usize, bytes: usize| Operation {
            kind: operation::GET,
            put: NONE,
            get: into,
            get_offset: offset,
            bytes: bytes as u64,
            ..to(rank, place.after(done))
        };
        if let Some((into, offset)) = self.gets.window(dest.expose_provenance(), bytes) {
            // SAFETY: `dest` is writable until the get has ended (this function's contract).
            return unsafe { self.gets.begin(&self.interface, &get(into, offset, 0, bytes)) };
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

    /// Waits until all that this rank has begun to get has come. Errors: [`Fault::Gone`].
    pub fn arrive(&self) -> Result<()> {
        self.gets.end()
    }

    /// Waits until everything that this rank has put or changed is there. Errors: [`Fault::Gone`].
    pub fn complete(&self) -> Result<()> {
        self.puts.end()
    }
}

/// An operation on a place of another rank.
fn to(rank: WorldRank, place: Place) -> Operation {
    Operation {
        node: rank.0,
        table: place.table,
        trigger: NONE,
        counter: NONE,
        remote_offset: place.offset,
        ..Operation::default()
    }
}
