//! Margay's `report`: a record that a program's runtime adds to the exit report.

use core::str;

use lwk_abi::console;
use lwk_abi::syscall::REPORT_BYTES;
use lwk_abi::syscall::errno::EINVAL;
use lwk_linux::Answer;

use crate::console::record_text;
use crate::scheduler::Running;
use crate::syscall::Errno;
use crate::user_slice::UserSlice;

/// Prints the record of `bytes` bytes at `address`; an empty one is none. Errors: `EINVAL` for more than [`REPORT_BYTES`] or for anything but printable ASCII, `EFAULT`.
pub fn report(running: &Running, address: u64, bytes: u64) -> Answer {
    let mut buffer = [0; REPORT_BYTES];
    let length = usize::try_from(bytes).ok().filter(|length| *length <= REPORT_BYTES).ok_or(Errno(EINVAL))?;
    let text = &mut buffer[..length];
    UserSlice::new(address, bytes).readable(running.job, running.rank)?.copy_to(text);
    // Copied first: what the program may still change has been checked and is not looked at again.
    let text = str::from_utf8(text).map_err(|_| Errno(EINVAL))?;
    if !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Err(Errno(EINVAL));
    }
    // A runtime asks with an empty text whether there is this call.
    if text.is_empty() {
        return Ok(0);
    }
    record_text(console::REPORT, 0, format_args!("runtime-{text}"));
    Ok(0)
}
