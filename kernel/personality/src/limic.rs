//! Copies between ranks by the system ([`lwk_abi::limic`]): LiMIC2's three calls. (LiMIC's are in [`crate::limic_queues`].) Nothing is pinned or mapped, since a rank's memory never moves, and
//! nothing is kept: a descriptor is checked when it is used, as the pointers beside it.

use lwk_abi::address::{MAX_RANKS, remote, slot_of};
use lwk_abi::limic::{Descriptor, RX_COMP, TX_COMP, TX_INIT};
use lwk_abi::syscall::errno::{EFAULT, EINVAL};

use crate::home::Home;
use crate::machine::{read_u64, write_words};
use crate::{Answer, Errno, engine, limic_queues};

/// Answers one of the calls, with a buffer's address and length and a descriptor's address. Errors: as [`lwk_abi::limic`] says; `ENOSYS` for any other number.
pub fn call<H: Home>(home: &H, number: u64, arguments: [u64; 3]) -> Answer {
    let [buffer, bytes, descriptor] = arguments;
    match number {
        TX_INIT => describe(home, buffer, bytes, descriptor),
        RX_COMP => {
            let (described, bytes) = described(home, bytes, descriptor)?;
            copy(home, buffer, described, bytes)
        }
        TX_COMP => {
            let (described, bytes) = described(home, bytes, descriptor)?;
            copy(home, described, buffer, bytes)
        }
        number if engine::is(number) => engine::call(home, number, [buffer, bytes]),
        _ => limic_queues::call(home, number, arguments),
    }
}

fn describe<H: Home>(home: &H, buffer: u64, bytes: u64, target: u64) -> Answer {
    home.check_readable(buffer, bytes)?;
    let address = match slot_of(buffer) {
        0 => remote(buffer, home.node_rank()),
        _ => buffer,
    };
    // Address, length, offset: as the fields of a `Descriptor`.
    write_words(home, target, [address, bytes, 0])?;
    Ok(bytes)
}

/// Where the copy begins that a descriptor of the program's names, and how many bytes it has: `most` at most.
fn described<H: Home>(home: &H, most: u64, descriptor: u64) -> Result<(u64, u64), Errno> {
    // Read once: a peer may change it meanwhile.
    home.check_readable(descriptor, size_of::<Descriptor>() as u64)?;
    let address = read_u64(home, descriptor)?;
    let length = read_u64(home, descriptor + 8)?;
    let offset = read_u64(home, descriptor + 16)?;
    let left = length.checked_sub(offset).ok_or(Errno(EINVAL))?;
    if !(1..=MAX_RANKS as u64).contains(&slot_of(address)) {
        return Err(Errno(EINVAL));
    }
    Ok((address.checked_add(offset).ok_or(Errno(EFAULT))?, left.min(most)))
}

fn copy<H: Home>(home: &H, to: u64, from: u64, bytes: u64) -> Answer {
    home.check_readable(from, bytes)?;
    home.check_writable(to, bytes)?;
    home.copy_memory(to, from, bytes)
}
