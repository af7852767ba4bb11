//! Reading and writing through descriptors. A buffer is checked as a whole before anything is moved.

use lwk_abi::syscall::errno::{EBADF, EFAULT, EFBIG, EINVAL, EISDIR, ENXIO, EOVERFLOW, ESPIPE};
use lwk_abi::syscall::open::{APPEND, PATH_ONLY};
use lwk_files::{Kind, NodeId};

use crate::descriptors::{Description, Target};
use crate::machine::{Clock, Machine, read_u64};
use crate::process::Process;
use crate::source::{BYTES_MAX, Source};
use crate::{Answer, Errno, device};

/// Most entries of a vector (Linux's `UIO_MAXIOV`).
const ENTRIES_MAX: u64 = 1024;
/// Bytes of an entry: base and length.
const ENTRY_BYTES: u64 = 16;

/// Where in a file a transfer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileOffset {
    /// At the description's offset, which moves.
    Current,
    /// At an offset of its own.
    At(u64),
}

impl Process {
    /// `read(2)`.
    pub(crate) fn read<M: Machine>(&mut self, machine: &M, fd: u32, target: u64, bytes: u64) -> Answer {
        self.read_from(machine, fd, target, bytes, FileOffset::Current)
    }

    /// `pread(2)`.
    pub(crate) fn read_at<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        target: u64,
        bytes: u64,
        offset: u64,
    ) -> Answer {
        let place = self.place(fd, Some(offset))?;
        self.read_from(machine, fd, target, bytes, place)
    }

    /// `write(2)`.
    pub(crate) fn write<M: Machine>(&mut self, machine: &M, fd: u32, source: u64, bytes: u64) -> Answer {
        self.write_from(machine, fd, source, bytes, FileOffset::Current)
    }

    /// `pwrite(2)`.
    pub(crate) fn write_at<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        source: u64,
        bytes: u64,
        offset: u64,
    ) -> Answer {
        let place = self.place(fd, Some(offset))?;
        self.write_from(machine, fd, source, bytes, place)
    }

    /// `readv(2)` and, with an offset, `preadv(2)`.
    pub(crate) fn read_vector<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        vector: u64,
        entries: u64,
        offset: Option<u64>,
    ) -> Answer {
        self.check_readable(fd)?;
        let place = self.place(fd, offset)?;
        self.each_entry(machine, vector, entries, place, |process, base, bytes, place| {
            process.read_from(machine, fd, base, bytes, place)
        })
    }

    /// `writev(2)` and, with an offset, `pwritev(2)`. The lengths are checked as a whole before anything is written.
    pub(crate) fn write_vector<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        vector: u64,
        entries: u64,
        offset: Option<u64>,
    ) -> Answer {
        self.check_writable(fd)?;
        let place = self.place(fd, offset)?;
        self.each_entry(machine, vector, entries, place, |process, base, bytes, place| {
            process.write_from(machine, fd, base, bytes, place)
        })
    }

    /// `lseek(2)`.
    pub(crate) fn seek<M: Machine>(&mut self, machine: &M, fd: u32, offset: u64, whence: u32) -> Answer {
        const DATA: u32 = 3;
        const HOLE: u32 = 4;
        let description = *self.usable(fd)?;
        let size = match description.target {
            Target::Input | Target::Output(_) | Target::Pipe(..) => return Err(Errno(ESPIPE)),
            Target::File(id) => machine.files(|files| files.node(id))?.size,
            // Folders and what is made up have no end to count from.
            Target::Folder(_) | Target::Special(..) => 0,
        };
        let base = match whence {
            0 => 0,
            1 => description.offset,
            2 => size,
            // A file counts as all data, with a hole at its end.
            DATA | HOLE if offset >= size => return Err(Errno(ENXIO)),
            DATA => 0,
            HOLE => return self.set_offset(fd, size),
            _ => return Err(Errno(EINVAL)),
        };
        let place = (base as i64).checked_add(offset as i64).ok_or(Errno(EOVERFLOW))?;
        self.set_offset(fd, u64::try_from(place).map_err(|_| Errno(EINVAL))?)
    }

    fn set_offset(&mut self, fd: u32, offset: u64) -> Answer {
        self.descriptors.get_mut(fd)?.offset = offset;
        Ok(offset)
    }

    /// The description behind a descriptor that is good for more than naming a place.
    pub(crate) fn usable(&self, fd: u32) -> Result<&Description, Errno> {
        let description = self.descriptors.get(fd)?;
        if description.flags & PATH_ONLY != 0 { Err(Errno(EBADF)) } else { Ok(description) }
    }

    fn check_readable(&self, fd: u32) -> Result<(), Errno> {
        if self.descriptors.get(fd)?.is_readable() { Ok(()) } else { Err(Errno(EBADF)) }
    }

    fn check_writable(&self, fd: u32) -> Result<(), Errno> {
        if self.descriptors.get(fd)?.is_writable() { Ok(()) } else { Err(Errno(EBADF)) }
    }

    /// An offset of its own is for what has offsets.
    fn place(&self, fd: u32, offset: Option<u64>) -> Result<FileOffset, Errno> {
        let Some(offset) = offset else { return Ok(FileOffset::Current) };
        match self.usable(fd)?.target {
            Target::Input | Target::Output(_) | Target::Pipe(..) => Err(Errno(ESPIPE)),
            _ if offset > i64::MAX as u64 => Err(Errno(EINVAL)),
            _ => Ok(FileOffset::At(offset)),
        }
    }

    fn read_from<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        target: u64,
        bytes: u64,
        place: FileOffset,
    ) -> Answer {
        self.check_readable(fd)?;
        let description = *self.descriptors.get(fd)?;
        let offset = match place {
            FileOffset::Current => description.offset,
            FileOffset::At(offset) => offset,
        };
        let bytes = bytes.min(BYTES_MAX);
        let done = match description.target {
            Target::Folder(_) => return Err(Errno(EISDIR)),
            Target::Input => {
                machine.check_writable(target, bytes)?;
                return Ok(0);
            }
            Target::Output(_) => return Err(Errno(EBADF)),
            Target::Pipe(pipe, _) => return self.read_pipe(machine, pipe, description.flags, target, bytes),
            Target::File(id) => {
                // Linux's kernel reads to the end of a file before it looks at what is left of the buffer.
                machine.check_writable(target, bytes)?;
                let mut to = target;
                machine.files(|files| {
                    files.read(id, offset, bytes, |piece| {
                        machine.write(to, piece)?;
                        to += piece.len() as u64;
                        Ok(())
                    })
                })?
            }
            Target::Special(special, _) => {
                machine.check_writable(target, bytes)?;
                device::read(self, machine, special, offset, target, bytes)?
            }
        };
        if place == FileOffset::Current {
            self.descriptors.get_mut(fd)?.offset = offset.saturating_add(done);
        }
        Ok(done)
    }

    fn write_from<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        source: u64,
        bytes: u64,
        place: FileOffset,
    ) -> Answer {
        self.check_writable(fd)?;
        let bytes = bytes.min(BYTES_MAX);
        machine.check_readable(source, bytes)?;
        self.write_to(machine, fd, Source::Program(source, bytes), place)
    }

    /// Writes through a descriptor what has been checked to be readable.
    pub(crate) fn write_to<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        source: Source<'_>,
        place: FileOffset,
    ) -> Answer {
        self.check_writable(fd)?;
        let description = *self.descriptors.get(fd)?;
        let id = match description.target {
            Target::Output(stream) => return source.print(machine, stream),
            Target::Special(special, _) => {
                return device::write(special, source, |stream| source.print(machine, stream));
            }
            Target::Pipe(pipe, _) => return self.write_pipe(machine, pipe, description.flags, source),
            Target::Input | Target::Folder(_) => return Err(Errno(EBADF)),
            Target::File(id) => id,
        };
        let append = description.flags & APPEND != 0;
        let start = match place {
            FileOffset::Current => description.offset,
            FileOffset::At(offset) => offset,
        };
        let (start, done) = self.write_file(machine, id, (start, append), source)?;
        if place == FileOffset::Current {
            self.descriptors.get_mut(fd)?.offset = start.saturating_add(done);
        }
        Ok(done)
    }

    /// Writes to a regular file, at an offset or at its end, and returns where it began and how much it was.
    fn write_file<M: Machine>(
        &mut self,
        machine: &M,
        id: NodeId,
        (offset, append): (u64, bool),
        mut source: Source<'_>,
    ) -> Result<(u64, u64), Errno> {
        let now = machine.clock(Clock::Real);
        machine.files(|files| {
            let node = files.node(id)?;
            if node.kind != Kind::File {
                return Err(Errno(EFAULT));
            }
            // The end is found and written to under one lock: nobody else's bytes come in between.
            let start = if append { node.size } else { offset };
            let bytes = self.limited_write(start, source.bytes())?;
            let done = files.write(id, start, bytes, now, |piece| source.take(machine, piece))?;
            Ok((start, done))
        })
    }

    /// Does `transfer` for the entries of a vector until one moves less than it should. What was moved before a bad one counts.
    fn each_entry<M: Machine>(
        &mut self,
        machine: &M,
        vector: u64,
        entries: u64,
        place: FileOffset,
        mut transfer: impl FnMut(&mut Process, u64, u64, FileOffset) -> Answer,
    ) -> Answer {
        // The count is an `int`, the lengths are signed, and their sum must be as well.
        let entries = u64::from(entries as u32);
        if entries > ENTRIES_MAX {
            return Err(Errno(EINVAL));
        }
        machine.check_readable(vector, entries * ENTRY_BYTES)?;
        let entry = |index: u64| -> Result<(u64, u64), Errno> {
            let at = vector + index * ENTRY_BYTES;
            Ok((read_u64(machine, at)?, read_u64(machine, at + 8)?))
        };
        let mut total: u64 = 0;
        for index in 0..entries {
            let (_, bytes) = entry(index)?;
            total = total.checked_add(bytes).filter(|sum| *sum <= i64::MAX as u64).ok_or(Errno(EINVAL))?;
        }
        let mut moved = 0;
        for index in 0..entries {
            let (base, bytes) = entry(index)?;
            let bytes = bytes.min(BYTES_MAX - moved);
            let place = match place {
                FileOffset::Current => place,
                FileOffset::At(offset) => FileOffset::At(offset.checked_add(moved).ok_or(Errno(EFBIG))?),
            };
            match transfer(self, base, bytes, place) {
                Ok(done) => {
                    moved += done;
                    if done < bytes {
                        break;
                    }
                }
                Err(problem) if moved == 0 => return Err(problem),
                Err(_) => break,
            }
        }
        Ok(moved)
    }
}
