//! `pipe(2)`: bytes that a rank tells itself. There is no other process to read or write it, so what would wait for one is `EDEADLK`.
//!
//! What is in a pipe lies in a file without a name, as a ring: place `n` of the stream is byte `n` modulo [`CAPACITY`] of the file.

use lwk_abi::syscall::errno::{EAGAIN, EDEADLK, EINVAL, ENFILE, EPIPE};
use lwk_abi::syscall::open::{CLOSE_ON_EXEC, NON_BLOCKING, WRITE_ONLY};

use crate::descriptors::Target;
use crate::machine::{Clock, Machine};
use crate::pipes::{ATOMIC_BYTES, CAPACITY, End, Pipe};
use crate::process::Process;
use crate::source::Source;
use crate::{Answer, Errno};

const SIGPIPE: u32 = 13;

/// The pieces of the ring that `bytes` bytes from place `from` of the stream take: where in the file, and how many.
fn pieces(from: u64, bytes: u64) -> [(u64, u64); 2] {
    let at = from % CAPACITY;
    let first = bytes.min(CAPACITY - at);
    [(at, first), (0, bytes - first)]
}

impl Process {
    /// `pipe2(2)`: two descriptors, the first to read from.
    #[inline(never)]
    pub(crate) fn pipe<M: Machine>(&mut self, machine: &M, target: u64, flags: u32) -> Answer {
        if flags & !(CLOSE_ON_EXEC | NON_BLOCKING) != 0 {
            return Err(Errno(EINVAL));
        }
        machine.check_writable(target, 8)?;
        let place = self.pipes.0.iter().position(|it| !it.reader && !it.writer).ok_or(Errno(ENFILE))?;
        let pipe = place as u8;
        let now = machine.clock(Clock::Real);
        let content = machine.files(|files| files.create_nameless(0o600, now))?;
        self.pipes.0[place] = Pipe { content, reader: true, writer: true, ..Pipe::UNUSED };
        let ends = self.descriptors.open(Target::Pipe(pipe, End::Read), flags).and_then(|reader| {
            let writer = self.descriptors.open(Target::Pipe(pipe, End::Write), flags | WRITE_ONLY);
            writer
                .inspect_err(|_| {
                    let _ = self.descriptors.forget(reader as u32);
                })
                .map(|writer| (reader, writer))
        });
        match ends {
            Ok((reader, writer)) => {
                machine.write(target, &(reader as u32).to_le_bytes())?;
                machine.write(target + 4, &(writer as u32).to_le_bytes())?;
                Ok(0)
            }
            Err(problem) => {
                self.pipes.0[place] = Pipe::UNUSED;
                machine.files(|files| files.closed(content))?;
                Err(problem)
            }
        }
    }

    /// The last descriptor of an end has been closed.
    pub(crate) fn close_pipe<M: Machine>(&mut self, machine: &M, pipe: u8, end: End) -> Result<(), Errno> {
        let it = self.pipes.get(pipe)?;
        match end {
            End::Read => it.reader = false,
            End::Write => it.writer = false,
        }
        if it.reader || it.writer {
            return Ok(());
        }
        let content = it.content;
        machine.files(|files| files.closed(content))
    }

    /// `read(2)`: nothing once the writer has gone. Errors: `EAGAIN`, or `EDEADLK` where nobody is left who could write.
    pub(crate) fn read_pipe<M: Machine>(
        &mut self,
        machine: &M,
        pipe: u8,
        flags: u32,
        target: u64,
        bytes: u64,
    ) -> Answer {
        machine.check_writable(target, bytes)?;
        let it = self.pipes.get(pipe)?;
        let there = it.bytes().min(bytes);
        if there == 0 {
            return if bytes == 0 || !it.writer { Ok(0) } else { Err(Errno(must_wait(flags))) };
        }
        let (content, from) = (it.content, it.read);
        let mut to = target;
        machine.files(|files| {
            for (at, length) in pieces(from, there) {
                files.read(content, at, length, |piece| {
                    machine.write(to, piece)?;
                    to += piece.len() as u64;
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        self.pipes.get(pipe)?.read += there;
        Ok(there)
    }

    /// `write(2)`. Errors: `EPIPE`, and the signal, without a reader; `EAGAIN`, or `EDEADLK` if there is no room and nobody who could make any.
    pub(crate) fn write_pipe<M: Machine>(
        &mut self,
        machine: &M,
        pipe: u8,
        flags: u32,
        mut source: Source<'_>,
    ) -> Answer {
        let bytes = source.bytes();
        let it = *self.pipes.get(pipe)?;
        if !it.reader {
            self.signals.raise_own(SIGPIPE);
            return Err(Errno(EPIPE));
        }
        let fits = it.room().min(bytes);
        if bytes > 0 && (fits == 0 || fits < bytes && bytes <= ATOMIC_BYTES) {
            return Err(Errno(must_wait(flags)));
        }
        let now = machine.clock(Clock::Real);
        let mut done = 0;
        let outcome = machine.files(|files| {
            for (at, length) in pieces(it.written, fits) {
                let written =
                    files.write(it.content, at, length, now, |piece| source.take(machine, piece))?;
                done += written;
                if written < length {
                    break;
                }
            }
            Ok(())
        });
        if done == 0 {
            outcome?;
        }
        self.pipes.get(pipe)?.written += done;
        Ok(done)
    }

    /// Bytes that are in a pipe.
    pub(crate) fn pipe_bytes(&self, pipe: u8) -> u64 {
        self.pipes.0.get(pipe as usize).map_or(0, Pipe::bytes)
    }
}

fn must_wait(flags: u32) -> i64 {
    if flags & NON_BLOCKING != 0 { EAGAIN } else { EDEADLK }
}
