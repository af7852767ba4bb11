//! Copies from file to file inside of the system: `sendfile(2)`, `copy_file_range(2)`.

use lwk_abi::syscall::errno::{EBADF, EINVAL, EISDIR, EOVERFLOW};
use lwk_abi::syscall::open::APPEND;
use lwk_files::NodeId;

use crate::descriptors::Target;
use crate::machine::{Machine, read_u64, write_words};
use crate::process::Process;
use crate::source::{BYTES_MAX, Source};
use crate::transfer::FileOffset;
use crate::{Answer, Errno};

/// Bytes that are copied at a time: they lie on the kernel's stack meanwhile.
const PIECE_BYTES: usize = 1024;

/// Where an offset of the program's lies, 0 if the descriptor's own is meant; and what it is.
struct Offset {
    address: u64,
    value: u64,
}

impl Offset {
    fn read<M: Machine>(machine: &M, address: u64, own: u64) -> Result<Offset, Errno> {
        if address == 0 {
            return Ok(Offset { address, value: own });
        }
        machine.check_writable(address, 8)?;
        match read_u64(machine, address)? {
            value if value > i64::MAX as u64 => Err(Errno(EINVAL)),
            value => Ok(Offset { address, value }),
        }
    }

    fn place(&self) -> FileOffset {
        if self.address == 0 { FileOffset::Current } else { FileOffset::At(self.value) }
    }
}

impl Process {
    /// `sendfile(2)`: from a regular file to whatever can be written.
    #[inline(never)]
    pub(crate) fn send_file<M: Machine>(
        &mut self,
        machine: &M,
        to: u32,
        from: u32,
        offset: u64,
        bytes: u64,
    ) -> Answer {
        let source = self.regular(from, false)?;
        let target = *self.usable(to)?;
        if !target.is_writable() {
            return Err(Errno(EBADF));
        }
        // As on Linux: what is written in turns has its place from the descriptor.
        if target.flags & APPEND != 0 {
            return Err(Errno(EINVAL));
        }
        let own = self.descriptors.get(from)?.offset;
        let offset = Offset::read(machine, offset, own)?;
        let done = self.copy_pieces(machine, source, offset.value, bytes, |process, bytes| {
            process.write_to(machine, to, Source::System(bytes), FileOffset::Current)
        })?;
        self.move_offset(machine, from, &offset, done)?;
        Ok(done)
    }

    /// `copy_file_range(2)`: between regular files, or between parts of one that do not overlap.
    #[inline(never)]
    pub(crate) fn copy_range<M: Machine>(
        &mut self,
        machine: &M,
        from: (u32, u64),
        to: (u32, u64),
        bytes: u64,
        flags: u32,
    ) -> Answer {
        let source = self.regular(from.0, false)?;
        let target = self.regular(to.0, true)?;
        if self.descriptors.get(to.0)?.flags & APPEND != 0 {
            return Err(Errno(EBADF));
        }
        if flags != 0 {
            return Err(Errno(EINVAL));
        }
        let read = Offset::read(machine, from.1, self.descriptors.get(from.0)?.offset)?;
        let write = Offset::read(machine, to.1, self.descriptors.get(to.0)?.offset)?;
        let bytes = bytes.min(BYTES_MAX);
        let end = |offset: &Offset| offset.value.checked_add(bytes).filter(|end| *end <= i64::MAX as u64);
        let (Some(read_end), Some(write_end)) = (end(&read), end(&write)) else {
            return Err(Errno(EOVERFLOW));
        };
        if source == target && read.value < write_end && write.value < read_end {
            return Err(Errno(EINVAL));
        }
        let mut at = write.value;
        let done = self.copy_pieces(machine, source, read.value, bytes, |process, bytes| {
            let place = if write.address == 0 { write.place() } else { FileOffset::At(at) };
            let done = process.write_to(machine, to.0, Source::System(bytes), place)?;
            at += done;
            Ok(done)
        })?;
        self.move_offset(machine, from.0, &read, done)?;
        if write.address != 0 {
            self.move_offset(machine, to.0, &write, done)?;
        }
        Ok(done)
    }

    /// The regular file behind a descriptor that can be read, or written. Errors: `EBADF`, `EISDIR`, `EINVAL`.
    fn regular(&self, fd: u32, writes: bool) -> Result<NodeId, Errno> {
        let description = self.usable(fd)?;
        match description.target {
            Target::File(_) if writes && !description.is_writable() => Err(Errno(EBADF)),
            Target::File(_) if !writes && !description.is_readable() => Err(Errno(EBADF)),
            Target::File(id) => Ok(id),
            Target::Folder(_) => Err(Errno(EISDIR)),
            _ => Err(Errno(EINVAL)),
        }
    }

    /// Hands a file's bytes from `offset` on to `write`, until it takes fewer than it is given.
    fn copy_pieces(
        &mut self,
        machine: &impl Machine,
        source: NodeId,
        offset: u64,
        bytes: u64,
        mut write: impl FnMut(&mut Process, &[u8]) -> Answer,
    ) -> Answer {
        let bytes = bytes.min(BYTES_MAX);
        let mut buffer = [0; PIECE_BYTES];
        let mut done = 0;
        while done < bytes {
            let room = (bytes - done).min(PIECE_BYTES as u64);
            let mut used = 0;
            machine.files(|files| {
                files.read(source, offset.saturating_add(done), room, |piece| {
                    let end = used + piece.len();
                    buffer.get_mut(used..end).ok_or(Errno(EINVAL))?.copy_from_slice(piece);
                    used = end;
                    Ok(())
                })
            })?;
            if used == 0 {
                break;
            }
            match write(self, buffer.get(..used).unwrap_or_default()) {
                Ok(wrote) => {
                    done += wrote;
                    if wrote < used as u64 {
                        break;
                    }
                }
                // What has been copied counts.
                Err(problem) if done == 0 => return Err(problem),
                Err(_) => break,
            }
        }
        Ok(done)
    }

    /// After a copy of `done` bytes: the next place, at the program's or in the description.
    fn move_offset<M: Machine>(
        &mut self,
        machine: &M,
        fd: u32,
        offset: &Offset,
        done: u64,
    ) -> Result<(), Errno> {
        let next = offset.value.saturating_add(done);
        if offset.address == 0 {
            self.descriptors.get_mut(fd)?.offset = next;
            return Ok(());
        }
        write_words(machine, offset.address, [next])
    }
}
