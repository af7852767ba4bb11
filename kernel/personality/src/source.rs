//! What is written: bytes of the program's, or of the system's own.

use lwk_abi::syscall::errno::EFAULT;

use crate::machine::{Machine, Stream};
use crate::{Answer, Errno};

/// Most bytes that one call moves (Linux's `MAX_RW_COUNT`).
pub const BYTES_MAX: u64 = 0x7fff_f000;
/// Bytes to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// So many bytes of the program's, from this address.
    Program(u64, u64),
    /// Bytes of the system's own.
    System(&'a [u8]),
}

impl Source<'_> {
    /// How many bytes are still to be taken.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Source::Program(_, bytes) => *bytes,
            Source::System(bytes) => bytes.len() as u64,
        }
    }

    /// Copies the next bytes, and goes on behind them.
    pub(crate) fn take<M: Machine>(&mut self, machine: &M, into: &mut [u8]) -> Result<(), Errno> {
        match self {
            Source::Program(address, bytes) => {
                machine.read(*address, into)?;
                *address += into.len() as u64;
                *bytes = bytes.saturating_sub(into.len() as u64);
            }
            Source::System(bytes) => {
                let (now, later) = bytes.split_at_checked(into.len()).ok_or(Errno(EFAULT))?;
                into.copy_from_slice(now);
                *bytes = later;
            }
        }
        Ok(())
    }

    /// Prints them, and answers how many went.
    pub(crate) fn print<M: Machine>(&self, machine: &M, stream: Stream) -> Answer {
        match *self {
            Source::Program(address, bytes) => machine.print(stream, address, bytes),
            Source::System(bytes) => machine.print_own(stream, bytes),
        }
    }
}
