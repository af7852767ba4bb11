//! Files that the system makes up: devices, and texts about the system.

use lwk_abi::syscall::errno::{EBADF, EIO};
use lwk_files::Special;

use crate::machine::{Machine, Stream};
use crate::process::Process;
use crate::source::Source;
use crate::{Answer, Errno, identity, proc_text};

/// Zeros are handed out in pieces of this many bytes.
const PIECE_BYTES: usize = 512;

/// Reads up to `bytes` bytes from what stands behind a special file into memory at `target`, which has been checked; `offset` is for texts
/// only. The answer is the bytes read. Errors: `EBADF` for what is only written, `EIO` if there are no random bytes.
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

/// Writes to what stands behind a special file, and answers how many bytes. The source has been checked; `print` puts it on a stream. Errors:
/// `EBADF` for what is only read; those of the console.
pub fn write(special: Special, source: Source<'_>, print: impl FnOnce(Stream) -> Answer) -> Answer {
    match special {
        Special::Null | Special::Zero | Special::Random => Ok(source.bytes()),
        Special::StandardOutput => print(Stream::Out),
        Special::StandardError => print(Stream::Error),
        _ => Err(Errno(EBADF)),
    }
}
