//! Reading and writing: standard input is at its end, standard output and error are the console.

use lwk_abi::syscall::errno::{EBADF, EINVAL};

use super::{Answer, Errno};
use crate::rank::{Rank, Stream};
use crate::user_memory::UserSlice;

/// Most bytes one call writes (Linux's `MAX_RW_COUNT`).
const BYTES_MAX: u64 = 0x7fff_f000;
/// Most entries of a vector (Linux's `UIO_MAXIOV`).
const ENTRIES_MAX: u64 = 1024;
/// Bytes of an entry: base and length.
const ENTRY_BYTES: usize = 16;
/// User memory is copied to the kernel in pieces of this many bytes, so that what is printed is what was checked.
const PIECE_BYTES: usize = 512;

fn output(descriptor: u64) -> Result<Stream, Errno> {
    // A descriptor is an `int`: the upper half of the register means nothing.
    match descriptor as u32 {
        1 => Ok(Stream::Out),
        2 => Ok(Stream::Error),
        _ => Err(Errno(EBADF)),
    }
}

/// `read(2)`: nothing ever arrives.
pub fn read(rank: &Rank, descriptor: u64, target: UserSlice) -> Answer {
    match descriptor as u32 {
        0 => target.writable(rank).map(|_| 0),
        _ => Err(Errno(EBADF)),
    }
}

/// `write(2)`.
pub fn write(rank: &Rank, descriptor: u64, source: UserSlice) -> Answer {
    let stream = output(descriptor)?;
    print(rank, stream, source.at_most(BYTES_MAX))
}

fn print(rank: &Rank, stream: Stream, source: UserSlice) -> Answer {
    let memory = source.readable(rank)?;
    let mut buffer = [0; PIECE_BYTES];
    for offset in (0..memory.bytes()).step_by(PIECE_BYTES) {
        let piece = memory.piece(offset, PIECE_BYTES);
        let text = &mut buffer[..piece.bytes()];
        piece.copy_to(text);
        rank.print(stream, text);
    }
    Ok(memory.bytes() as u64)
}

/// `writev(2)`. The lengths are checked as a whole before anything is printed.
pub fn write_vector(rank: &Rank, descriptor: u64, vector: u64, entries: u64) -> Answer {
    let stream = output(descriptor)?;
    // The count is an `int`, the lengths are signed, and their sum must be as well.
    let entries = u64::from(entries as u32);
    if entries > ENTRIES_MAX {
        return Err(Errno(EINVAL));
    }
    let vector = UserSlice::new(vector, entries * ENTRY_BYTES as u64).readable(rank)?;
    let entry = |index: u64| {
        let mut bytes = [0; ENTRY_BYTES];
        vector.piece(index as usize * ENTRY_BYTES, ENTRY_BYTES).copy_to(&mut bytes);
        let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|index| bytes[at + index]));
        (word(0), word(8))
    };
    let mut total: u64 = 0;
    for (_, bytes) in (0..entries).map(entry) {
        total = total.checked_add(bytes).filter(|sum| *sum <= i64::MAX as u64).ok_or(Errno(EINVAL))?;
    }
    let mut printed = 0;
    for (base, bytes) in (0..entries).map(entry) {
        let source = UserSlice::new(base, bytes).at_most(BYTES_MAX - printed);
        match print(rank, stream, source) {
            Ok(bytes) => printed += bytes,
            // As Linux: what went out before the bad entry counts.
            Err(problem) if printed == 0 => return Err(problem),
            Err(_) => break,
        }
    }
    Ok(printed)
}
