//! The face for Rust programs (`lwk_mpi`): typed buffers, requests that borrow what they use, results instead of codes.

use crate::abi::{self, datatype, op};
use crate::collective::Area;
use crate::communicators;
use crate::engine::{self, with};
use crate::error::Result;
use crate::handle::Handle;
use crate::receive::ReceiveArguments;
use crate::request::Mode;
use crate::send::SendArguments;
use crate::status::Status;
use crate::transport::Memory;
use core::marker::PhantomData;

/// Wildcards and the null process.
pub const ANY_SOURCE: i32 = abi::ANY_SOURCE;
pub const ANY_TAG: i32 = abi::ANY_TAG;
pub const PROC_NULL: i32 = abi::PROC_NULL;

/// Rust types that are predefined datatypes.
///
/// # Safety
/// The handle must be that of a datatype with the type's layout, of which every bit pattern is a value.
pub unsafe trait Element: Copy + 'static {
    /// The datatype's handle.
    const DATATYPE: u64;
}

macro_rules! elements {
    ($($type:ty => $handle:ident,)*) => {
        $(
            // SAFETY: the same size and representation; integers and floats have no invalid bit patterns.
            unsafe impl Element for $type {
                const DATATYPE: u64 = datatype::$handle;
            }
        )*
    };
}

elements! {
    u8 => UINT8, i8 => INT8, u16 => UINT16, i16 => INT16, u32 => UINT32, i32 => INT32,
    u64 => UINT64, i64 => INT64, f32 => FLOAT, f64 => DOUBLE,
}

/// Predefined reductions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Operation {
    Sum = op::SUM,
    Product = op::PROD,
    Min = op::MIN,
    Max = op::MAX,
    BitAnd = op::BAND,
    BitOr = op::BOR,
    BitXor = op::BXOR,
    And = op::LAND,
    Or = op::LOR,
    Xor = op::LXOR,
}

/// The running runtime; it ends, with all ranks, when this is dropped.
pub struct Mpi(());

impl Mpi {
    /// Starts the runtime; every rank must. Errors: `OTHER` if it has been started before.
    pub fn init() -> Result<Mpi> {
        engine::initialize().map(|()| Mpi(()))
    }

    /// All ranks of the job.
    pub fn world(&self) -> Communicator<'_> {
        Communicator { handle: Handle(abi::COMM_WORLD), mpi: PhantomData }
    }

    /// This rank alone.
    pub fn alone(&self) -> Communicator<'_> {
        Communicator { handle: Handle(abi::COMM_SELF), mpi: PhantomData }
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

/// A communicator.
#[derive(Clone, Copy)]
pub struct Communicator<'mpi> {
    handle: Handle,
    mpi: PhantomData<&'mpi Mpi>,
}

impl<'mpi> Communicator<'mpi> {
    pub(crate) fn handle(&self) -> Handle {
        self.handle
    }

    /// This rank in it.
    pub fn rank(&self) -> Result<u32> {
        with(|engine| engine.rank(self.handle))
    }

    /// Ranks in it.
    pub fn size(&self) -> Result<u32> {
        with(|engine| engine.size(self.handle))
    }

    fn sending<T: Element>(&self, buffer: &[T], target: i32, tag: i32) -> SendArguments {
        SendArguments {
            address: buffer.as_ptr().cast(),
            count: buffer.len() as i64,
            datatype: T::DATATYPE,
            target,
            tag,
            communicator: self.handle,
        }
    }

    fn receiving<T: Element>(&self, buffer: &mut [T], source: i32, tag: i32) -> ReceiveArguments {
        ReceiveArguments {
            address: buffer.as_mut_ptr().cast(),
            count: buffer.len() as i64,
            datatype: T::DATATYPE,
            source,
            tag,
            communicator: self.handle,
        }
    }

    /// Sends; returns when the buffer is free. Errors: `RANK`, `TAG`.
    #[inline]
    pub fn send<T: Element>(&self, buffer: &[T], target: i32, tag: i32) -> Result<()> {
        self.send_as(Mode::Standard, buffer, target, tag)
    }

    /// Sends in a mode. Errors: as for [`Communicator::send`].
    #[inline]
    pub fn send_as<T: Element>(&self, mode: Mode, buffer: &[T], target: i32, tag: i32) -> Result<()> {
        let arguments = self.sending(buffer, target, tag);
        // SAFETY: the buffer is borrowed until the call returns.
        with(|engine| unsafe { engine.send(&arguments, mode) })
    }

    /// Receives. Errors: `RANK`, `TAG`; `TRUNCATE` if the message is longer than the buffer.
    #[inline]
    pub fn receive<T: Element>(&self, buffer: &mut [T], source: i32, tag: i32) -> Result<Status> {
        let arguments = self.receiving(buffer, source, tag);
        // SAFETY: the buffer is borrowed exclusively until the call returns; any bytes are values of `T`.
        with(|engine| unsafe { engine.receive(&arguments) })
    }

    /// Begins a send, which borrows the buffer until it is complete.
    #[inline]
    pub fn isend<'b, T: Element>(&self, buffer: &'b [T], target: i32, tag: i32) -> Result<Request<'b>> {
        self.isend_as(Mode::Standard, buffer, target, tag)
    }

    /// Begins a send in a mode.
    #[inline]
    pub fn isend_as<'b, T: Element>(
        &self,
        mode: Mode,
        buffer: &'b [T],
        target: i32,
        tag: i32,
    ) -> Result<Request<'b>> {
        let arguments = self.sending(buffer, target, tag);
        // SAFETY: the request borrows the buffer and is waited for when it is dropped; see there for one that is leaked.
        with(|engine| unsafe { engine.isend(&arguments, mode) }).map(Request::new)
    }

    /// Begins a receive, which borrows the buffer until it is complete.
    #[inline]
    pub fn irecv<'b, T: Element>(&self, buffer: &'b mut [T], source: i32, tag: i32) -> Result<Request<'b>> {
        let arguments = self.receiving(buffer, source, tag);
        // SAFETY: as for sends; any bytes are values of `T`.
        with(|engine| unsafe { engine.irecv(&arguments) }).map(Request::new)
    }

    /// A communicator of the same ranks, whose messages are its own; all ranks must call it. Errors: `NO_MEM`.
    pub fn duplicate(&self) -> Result<Communicator<'mpi>> {
        communicators::duplicate(self.handle).map(|handle| Communicator { handle, mpi: PhantomData })
    }

    /// Divides the ranks: those of one color come together, ordered by key. `None` is no color, and gets none. Errors: `ARG` for a color
    /// above `i32::MAX`, `NO_MEM`.
    pub fn split(&self, color: Option<u32>, key: i32) -> Result<Option<Communicator<'mpi>>> {
        let color = match color {
            Some(color) => i32::try_from(color).map_err(|_| crate::Error::ARG)?,
            None => abi::UNDEFINED,
        };
        let handle = with(|engine| engine.split(self.handle, color, key))?;
        Ok(handle.map(|handle| Communicator { handle, mpi: PhantomData }))
    }

    /// Frees it; all its ranks must call it. Copies of it are void. Errors: `COMM` if it is predefined or void.
    pub fn free(self) -> Result<()> {
        communicators::free(self.handle)
    }

    /// Waits for all ranks.
    #[inline]
    pub fn barrier(&self) -> Result<()> {
        with(|engine| engine.barrier_on(self.handle))
    }

    /// Copies the root's buffer to all ranks; lengths must be equal. Errors: `ROOT`.
    pub fn broadcast<T: Element>(&self, buffer: &mut [T], root: i32) -> Result<()> {
        let (address, count) = (buffer.as_mut_ptr().cast(), buffer.len() as i64);
        // SAFETY: the buffer is borrowed exclusively; the ranks' equal lengths are the caller's part of the collective.
        with(|engine| unsafe { engine.broadcast(address, count, T::DATATYPE, root, self.handle) })
    }

    /// Combines all ranks' `send` into everybody's `receive`, of the same length. Errors: `COUNT` if lengths differ, `OP`.
    #[inline]
    pub fn allreduce<T: Element>(&self, send: &[T], receive: &mut [T], operation: Operation) -> Result<()> {
        if send.len() != receive.len() {
            return Err(crate::Error::COUNT);
        }
        let (from, to, count) = (send.as_ptr().cast(), receive.as_mut_ptr().cast(), send.len() as i64);
        // SAFETY: both buffers are borrowed for the call, of equal length.
        with(|engine| unsafe {
            engine.allreduce(from, to, count, T::DATATYPE, operation as u64, self.handle)
        })
    }

    /// Combines all ranks' `send` into the root's `receive`. Errors: `COUNT` if lengths differ, `OP`, `ROOT`.
    pub fn reduce<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        operation: Operation,
        root: i32,
    ) -> Result<()> {
        if send.len() != receive.len() {
            return Err(crate::Error::COUNT);
        }
        let (from, to, count) = (send.as_ptr().cast(), receive.as_mut_ptr().cast(), send.len() as i64);
        // SAFETY: both buffers are borrowed for the call, of equal length.
        with(|engine| unsafe {
            engine.reduce(from, to, count, T::DATATYPE, operation as u64, root, self.handle)
        })
    }
}

/// An operation under way. Dropping it waits for it. (One that is leaked would leave its buffer in use: `mem::forget` on it is
/// the one thing this face cannot make safe, as in every interface of this kind.)
#[must_use = "an operation is complete only when it has been waited for"]
pub struct Request<'b> {
    handle: Option<Handle>,
    buffer: PhantomData<&'b mut [u8]>,
}

impl Request<'_> {
    fn new(handle: Handle) -> Self {
        Request { handle: Some(handle), buffer: PhantomData }
    }

    /// Waits. Errors: the operation's own.
    #[inline]
    pub fn wait(mut self) -> Result<Status> {
        match self.handle.take() {
            Some(handle) => with(|engine| engine.wait(handle)),
            None => Ok(Status::EMPTY),
        }
    }

    /// Completes it if it can be completed now. Errors: the operation's own.
    pub fn test(&mut self) -> Result<Option<Status>> {
        let Some(handle) = self.handle else { return Ok(Some(Status::EMPTY)) };
        let outcome = with(|engine| engine.test(handle));
        if !matches!(outcome, Ok(None)) {
            self.handle = None;
        }
        outcome
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            // Nobody is left who could be told of an error.
            let _ = with(|engine| engine.wait(handle));
        }
    }
}
