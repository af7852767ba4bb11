//! Files that the system makes up: devices, and texts about the system.

use lwk_abi::syscall::errno::{EBADF, EIO};
use lwk_files::Special;

use crate::machine::{Machine, Stream};
use crate::process::Process;
use crate::{Answer, Errno, identity, proc_text};

/// Zeros are handed out in pieces of this many bytes.
const PIECE_BYTES: usize = 512;

/// Reads from what stands behind a special file. The buffer has been checked.
pub fn read<M: Machine>(
    process: &Process,
    machine: &M,
    special: Special,
    offset: u64,
    target: u64,
    bytes: u64,
) -> Answer {
    match special {
        Special::Null | Special::StandardInput => Ok(0),
        Special::StandardOutput | Special::StandardError => Err(Errno(EBADF)),
        Special::Zero => {
            let mut done = 0;
            while done < bytes {
                let piece = (bytes - done).min(PIECE_BYTES as u64);
                machine.write(target + done, &[0; PIECE_BYTES][..piece as usize])?;
                done += piece;
            }
            Ok(bytes)
        }
        Special::Random => identity::fill_random(machine, target, bytes).map_err(|_| Errno(EIO)),
        _ => proc_text::read(process, machine, special, offset, target, bytes),
    }
}

/// Writes to what stands behind a special file. The buffer has been checked.
pub fn write<M: Machine>(machine: &M, special: Special, source: u64, bytes: u64) -> Answer {
    match special {
        Special::Null | Special::Zero | Special::Random => Ok(bytes),
        Special::StandardOutput => machine.print(Stream::Out, source, bytes),
        Special::StandardError => machine.print(Stream::Error, source, bytes),
        _ => Err(Errno(EBADF)),
    }
}
