//! Files (MPI-5.0, chapter 14), over the system calls on files that every rank has: the files of a node are in its memory, one tree for all of
//! its ranks.
//!
//! Each rank opens the file for itself and reads and writes it directly, whatever the others do; ranks of other nodes than the first have that done by a rank
//! of the first one ([`keeper`]). What the ranks share is one
//! line in the first rank's memory ([`shared::Control`]): the shared file pointer and the lock of atomic mode. Whatever moves is complete when
//! the call returns, so non-blocking operations are requests that are complete, and split collectives only keep their status. Collective
//! operations wait for each other where one rank's result is another's: opening, closing, sizes, views, seeking and transfers through the shared
//! pointer. A rank whose arguments are wrong takes part all the same, and all ranks get an error.
//!
//! Per rank: the table of its open files, and, in rank 0 of a job of several nodes, the files that it keeps for ranks of other nodes. Per communicator of a
//! file: a context of its own, for what its ranks ask each other. Nothing is per thread.
#![no_std]

extern crate alloc;

mod access;
mod access_mode;
mod in_use;
mod keeper;
mod open;
mod opened;
mod pointer;
mod properties;
mod representation;
mod shared;
mod size;
mod split;
mod system;
mod transfer;
mod view;

pub use access::{AccessPosition, Direction};
pub use lwk_mpi_rt::buffer::Buffer;
pub use open::{close, delete, open};
pub use representation::{Converter, MAX_NAME, register};

use access_mode::AccessMode;
use alloc::boxed::Box;
use alloc::rc::{Rc, Weak};
use alloc::vec::Vec;
use core::cell::Cell;
use lwk_mpi_core::abi::FILE_NULL;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::{Handle, Kind, Table};
use lwk_mpi_core::info::Info;
use lwk_mpi_core::object::{self, Object, Owner};
use lwk_mpi_rt::communicator::Communicator;
use lwk_mpi_rt::subsystem::State;
use lwk_mpi_rt::{called, subsystem};
use lwk_place::CommRank;
use opened::Opened;
use shared::{Control, SharedWords};
use split::Begun;
use view::View;

subsystem! {
    /// The engine, with the calls on files.
    Files
}

/// What this rank knows of files.
struct Known {
    files: Table<File>,
    /// Ranks of other nodes that have called this one for the job's files and are not done, while it answers for those.
    callers: Weak<Cell<u32>>,
}

static KNOWN: State<Known> = State::new(Known { files: Table::of(Kind::File), callers: Weak::new() });

/// Makes files known to what lies below. A program that uses files calls this before the runtime starts, in every rank.
pub fn start() {
    object::own(Kind::File, Owner { has, attribute: |_, _| Err(Error::KEYVAL) });
    called::when_called(keeper::listen);
}

/// Whether there is such a file, or it is the null handle, which has the error handler of files that are not open.
fn has(object: Object) -> Result<bool> {
    with(|files| Ok(object.handle.0 == FILE_NULL || files.file(object.handle).is_ok()))
}

/// A file that this rank has open.
struct File {
    opened: Rc<Opened>,
    mode: AccessMode,
    /// As it was opened, absolute.
    name: Vec<u8>,
    communicator: Rc<Communicator>,
    /// In the first rank's memory.
    shared: SharedWords,
    /// The control words, if this is that rank. They go after the barrier in which all ranks close the file.
    _own: Option<Box<Control>>,
    view: Rc<View>,
    /// The individual file pointer, in etypes of the view.
    position: u64,
    atomic: bool,
    hints: Info,
    /// The split collective that has begun and not ended.
    split: Option<Begun>,
}

impl Files {
    /// Errors: `FILE`.
    fn file(&self, file: Handle) -> Result<&File> {
        KNOWN.of(self).files.get(file).ok_or(Error::FILE)
    }

    /// Errors: `FILE`.
    fn file_mut(&mut self, file: Handle) -> Result<&mut File> {
        KNOWN.of_mut(self).files.get_mut(file).ok_or(Error::FILE)
    }

    /// Whether all ranks of a file give the same argument, and this one's is valid. Errors: this rank's or another's; `NOT_SAME`.
    fn agree(&mut self, communicator: &Communicator, argument: Result<u64>) -> Result<()> {
        let words = self.exchange_outcomes(communicator, argument)?;
        if words.iter().all(|word| Ok(*word) == argument) { Ok(()) } else { Err(Error::NOT_SAME) }
    }

    /// Lets the first rank do something for all; all get its outcome. Errors: those of `work`.
    fn first_does(
        &mut self,
        communicator: &Communicator,
        work: impl FnOnce(&mut Files) -> Result<()>,
    ) -> Result<()> {
        let outcome = if communicator.rank == CommRank::FIRST { work(self) } else { Ok(()) };
        self.exchange_outcomes(communicator, outcome.map(|()| 0)).map(drop)
    }
}

/// A number below 2^63 that two ranks have in common if they have these bytes in common; others are as good as always told apart.
fn fingerprint(bytes: impl Iterator<Item = u8>) -> u64 {
    // FNV-1a.
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const FACTOR: u64 = 0x100_0000_01b3;
    bytes.fold(START, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(FACTOR)) >> 1
}
