//! What the system knows of a rank's pipes.

use lwk_abi::syscall::errno::EINVAL;
use lwk_files::NodeId;

use crate::Errno;

/// Bytes that fit into a pipe, as on Linux (pipe(7)).
pub const CAPACITY: u64 = 64 << 10;
/// Writes of up to so many bytes are done as a whole or not at all (`PIPE_BUF`).
pub(crate) const ATOMIC_BYTES: u64 = 4096;
/// Most pipes of a rank.
const PIPES_MAX: usize = 32;

/// The ends of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Read,
    Write,
}

/// A pipe; unused if neither end is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pipe {
    pub content: NodeId,
    /// Bytes that have ever been read and written.
    pub read: u64,
    pub written: u64,
    /// Whether each end is open.
    pub reader: bool,
    pub writer: bool,
}

impl Pipe {
    pub const UNUSED: Pipe =
        Pipe { content: NodeId::NONE, read: 0, written: 0, reader: false, writer: false };

    /// Bytes that are in it.
    pub fn bytes(&self) -> u64 {
        self.written - self.read
    }

    /// Bytes that there is room for.
    pub fn room(&self) -> u64 {
        CAPACITY - self.bytes()
    }
}

/// The pipes of a rank, by the numbers that [`crate::descriptors::Target::Pipe`] names; 32 at most.
#[derive(Debug)]
pub struct Pipes(pub(crate) [Pipe; PIPES_MAX]);

impl Pipes {
    pub(crate) fn none() -> Pipes {
        Pipes([Pipe::UNUSED; PIPES_MAX])
    }

    /// A pipe by its number. Errors: `EINVAL`.
    pub(crate) fn get(&mut self, pipe: u8) -> Result<&mut Pipe, Errno> {
        self.0.get_mut(pipe as usize).ok_or(Errno(EINVAL))
    }

    /// Whether an end can be used without waiting: there is something to read or nobody who could write, and the other way round.
    pub(crate) fn is_ready(&self, pipe: u8, end: End) -> bool {
        self.0.get(pipe as usize).is_some_and(|it| match end {
            End::Read => it.bytes() > 0 || !it.writer,
            End::Write => it.room() >= ATOMIC_BYTES || !it.reader,
        })
    }

    /// Whether nobody holds the other end any more.
    pub(crate) fn is_broken(&self, pipe: u8, end: End) -> bool {
        self.0.get(pipe as usize).is_some_and(|it| match end {
            End::Read => !it.writer,
            End::Write => !it.reader,
        })
    }
}
