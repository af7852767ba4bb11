//! Copies between ranks by Linux: `process_vm_readv(2)` and `process_vm_writev(2)`, the descendants of LiMIC. Every rank maps its peers' memory and could
//! copy itself; these paths are there to be measured beside that, and so the system call is what copies.
//!
//! Linux asks a rank's permission as for a debugger. Where its Yama module restricts debuggers to parents, [`admit`] lets the node and its other
//! ranks in.

use std::sync::atomic::Ordering;

use lwk_abi::address::{SLOT_BYTES, slot_of};
use lwk_abi::syscall::errno::{EFAULT, ESRCH};
use lwk_personality::{Answer, Errno};
use nix::unistd::Pid;

use crate::arch::Gate;
use crate::board::Board;
use crate::rank::Rank;

/// Linux copies no more by one call (read(2), "Notes").
const MOST: u64 = 0x7fff_f000;

/// Tells the board which process rank `rank` is, and has Linux let the ranks of `node`, its parent, reach this process's memory.
pub fn admit(board: &Board, rank: u32, node: Pid) {
    // Without Yama there is no such option, and nothing to ask for.
    // SAFETY: the call names no memory.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, node.as_raw() as libc::c_ulong, 0, 0, 0) };
    // Release: pairs with the acquire in `process_of`.
    board.rank(rank).process.store(std::process::id(), Ordering::Release);
}

/// As [`lwk_personality::Home::copy_memory`].
pub fn copy(rank: &Rank, to: u64, from: u64, bytes: u64) -> Answer {
    // A copy to a peer is written into its memory, any other is read out of the source's.
    let writes = slot_of(to) != 0;
    let there = if writes { to } else { from };
    let process = process_of(rank, there)?;
    let mut done = 0;
    // A copy of nothing is a system call, too.
    loop {
        let part = MOST.min(bytes - done);
        let own = [if writes { from } else { to } + done, part];
        let remote = [there % SLOT_BYTES + done, part];
        let number = if writes { libc::SYS_process_vm_writev } else { libc::SYS_process_vm_readv };
        let arguments = [process, own.as_ptr() as u64, 1, remote.as_ptr() as u64, 1, 0];
        // SAFETY: both ranges are memory of the program's, checked by the caller, which no Rust reference leads to; the call reads two vectors of one.
        match unsafe { Gate::call(number, arguments) } {
            // There is less memory there than the layout says.
            0 if part > 0 => return Err(Errno(EFAULT)),
            copied @ 0.. => done += copied as u64,
            error => return Err(Errno(-error)),
        }
        if done == bytes {
            return Ok(done);
        }
    }
}

/// The process of the rank whose memory is at `address`; `ESRCH` if it has not begun.
fn process_of(rank: &Rank, address: u64) -> Result<u64, Errno> {
    let owner = match slot_of(address) {
        0 => rank.rank,
        slot => slot as u32 - 1,
    };
    // Acquire: pairs with the release in `admit`.
    match rank.board.rank(owner).process.load(Ordering::Acquire) {
        0 => Err(Errno(ESRCH)),
        process => Ok(u64::from(process)),
    }
}
