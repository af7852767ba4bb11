//! MPI for Rust programs: typed buffers, requests that borrow what they use, results instead of codes.
//!
//! What is lent to an operation cannot be touched before it is complete. Blocking calls borrow their buffers until they return; an operation
//! that goes on lives in a [`scope`](Communicator::scope), which borrows its buffers for as long as it lasts and waits for everything
//! that was begun in it, whatever has become of the requests, as `std::thread::scope` does for threads. Windows own their memory, and epochs are
//! values that end where they are dropped.
//!
//! What one rank cannot check is the others' part: ranks that call a collective with sizes that do not match get an error class where it is
//! seen, and otherwise bytes of each other's memory, as MPI leaves it. Ranks are `i32`, since [`ANY_SOURCE`], [`PROC_NULL`] and [`ROOT`] are
//! among them.
//!
//! A buffer that is lent stays lent:
//!
//! ```compile_fail,E0502
//! # use lwk_mpi::{Communicator, Result};
//! fn reads_what_a_receive_writes(world: Communicator) -> Result<()> {
//!     let mut buffer = [0u8; 8];
//!     world.scope(|s| {
//!         let request = s.irecv(&mut buffer, 0, 1)?;
//!         assert_eq!(buffer[0], 0);
//!         request.wait().map(drop)
//!     })
//! }
//! ```
//!
//! ```compile_fail,E0506
//! # use lwk_mpi::{Communicator, Result};
//! fn writes_what_a_send_reads(world: Communicator) -> Result<()> {
//!     let mut value = 1u64;
//!     world.scope(|s| {
//!         let request = s.isend(&value, 0, 1)?;
//!         value = 2;
//!         request.wait().map(drop)
//!     })
//! }
//! ```
//!
//! ```compile_fail,E0499
//! # use lwk_mpi::{Communicator, Result};
//! fn lends_a_buffer_twice(world: Communicator) -> Result<()> {
//!     let mut buffer = [0u8; 8];
//!     world.scope(|s| {
//!         s.irecv(&mut buffer, 0, 1)?;
//!         s.irecv(&mut buffer, 0, 2).map(drop)
//!     })
//! }
//! ```
//!
//! What would be gone before the scope ends is not lent at all, and no request leaves it, so nothing depends on a request's being dropped:
//!
//! ```compile_fail,E0597
//! # use lwk_mpi::{Communicator, Result};
//! fn lends_what_dies_first(world: Communicator) -> Result<()> {
//!     world.scope(|s| {
//!         let mut buffer = [0u8; 8];
//!         core::mem::forget(s.irecv(&mut buffer, 0, 1)?);
//!         Ok(())
//!     })
//! }
//! ```
//!
//! ```compile_fail
//! # use lwk_mpi::{Communicator, Result};
//! fn takes_a_request_out(world: Communicator, buffer: &mut [u8]) -> Result<()> {
//!     let escaped = world.scope(|s| s.irecv(buffer, 0, 1))?;
//!     escaped.wait().map(drop)
//! }
//! ```
//!
//! The buffer of a persistent request comes back by reborrowing only, so it is not there when the operation is started again:
//!
//! ```compile_fail,E0499
//! # use lwk_mpi::{Communicator, Mode, Result};
//! fn keeps_a_buffer(world: Communicator, buffer: &mut [u8]) -> Result<()> {
//!     world.scope(|s| {
//!         let mut request = s.send_init(Mode::Standard, buffer, 0, 1)?;
//!         let kept = request.buffer()?;
//!         request.start()?;
//!         kept[0] = 1;
//!         Ok(())
//!     })
//! }
//! ```
//!
//! And what it looks like when it is right:
//!
//! ```no_run
//! # use lwk_mpi::{Communicator, Result};
//! fn passes_on(world: Communicator, next: i32, previous: i32) -> Result<u64> {
//!     let (own, mut theirs) = (1u64, 0u64);
//!     world.scope(|s| {
//!         s.irecv(&mut theirs, previous, 0)?;
//!         s.isend(&own, next, 0).map(drop)
//!     })?;
//!     Ok(theirs)
//! }
//! ```
//!
//! Per rank: a list that scopes hand on to each other. Everything else is the engine's.
#![no_std]

extern crate alloc;

mod attached;
mod buffer;
mod collective;
mod collective_calls;
mod communicator;
mod element;
mod immediate;
mod layout;
mod neighbourhood;
mod operation;
mod persistent;
mod point_to_point;
mod record;
mod request;
mod scope;
mod topology;
mod window;

pub use attached::AttachedBuffer;
pub use buffer::{Buffer, BufferMut};
pub use collective::Both;
pub use communicator::Communicator;
pub use element::{Element, Located};
pub use layout::{Datatype, View, ViewMut};
pub use operation::{Operation, Reduction, UserOperation};
pub use persistent::Persistent;
pub use point_to_point::Message;
pub use record::{Field, FieldType, Record};
pub use request::{Request, test_all, test_any, test_some, wait_all, wait_any, wait_some};
pub use scope::Scope;
pub use window::{Access, Exposure, Fence, Lock, LockAll, Window};

pub use lwk_mpi_rt::error::{Error, Result};
pub use lwk_mpi_rt::group::{Comparison, Group};
pub use lwk_mpi_rt::hardware::Level;
pub use lwk_mpi_rt::request::Mode;
pub use lwk_mpi_rt::status::Status;
pub use lwk_mpi_rt::topology::dims::dims_create;
pub use lwk_mpi_rt::wait::Any;
pub use lwk_mpi_window::LockKind;

use lwk_mpi_area::Area;
use lwk_mpi_rt::abi;
use lwk_mpi_rt::engine::{self, with};
use lwk_mpi_rt::handle::Handle;
use lwk_path::Memory;

/// Wildcards, the null process, and the root of an intercommunicator's rooted collective in its own group.
pub const ANY_SOURCE: i32 = abi::ANY_SOURCE;
pub const ANY_TAG: i32 = abi::ANY_TAG;
pub const PROC_NULL: i32 = abi::PROC_NULL;
pub const ROOT: i32 = abi::ROOT;

/// The running runtime; it ends, with all ranks, when this is dropped.
pub struct Mpi(());

impl Mpi {
    /// Starts the runtime; every rank must. Errors: `OTHER` if it has been started before; `UNSUPPORTED_OPERATION` if the job has more than one
    /// node, `NO_MEM`.
    pub fn init() -> Result<Mpi> {
        lwk_mpi_window::start();
        engine::initialize().map(|()| Mpi(()))
    }

    /// All ranks of the job.
    pub fn world(&self) -> Communicator<'_> {
        Communicator::of(Handle(abi::COMM_WORLD))
    }

    /// This rank alone.
    pub fn alone(&self) -> Communicator<'_> {
        Communicator::of(Handle(abi::COMM_SELF))
    }

    /// The transport's name and the memory it uses in this rank.
    pub fn transport_memory(&self) -> Result<(&'static str, Memory)> {
        with(|engine| Ok(engine.transport_memory()))
    }

    /// Bytes of shared memory for each communicator.
    pub const fn bytes_per_communicator(&self) -> usize {
        size_of::<Area>()
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        // It can only fail if the runtime is not running, and then there is nothing to end.
        let _ = engine::finalize();
    }
}
