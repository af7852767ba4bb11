//! Copies that a rank orders and a worker makes ([`lwk_abi::engine`]).
//!
//! Writes and reads find each other in LiMIC's queues ([`crate::limic_queues`]). Who finds the other hands the copy to the home's workers.

use lwk_abi::engine::{BY_ENGINE, Copy};
use lwk_abi::limic::{DONE, STATE, WAITS};
use lwk_abi::syscall::errno::{EINVAL, ENODEV};
use lwk_engine::{Counts, Order};
use lwk_limic::Side;

use crate::home::Home;
use crate::limic_queues::{Met, copy_and_tell, describe, for_all, meet};
use crate::machine::{read_u64, write_words};
use crate::{Answer, Errno};

/// Checks that there is such a way, and somebody to go it. Errors: `EINVAL`, `ENODEV`.
fn check_way<H: Home>(home: &H, way: u64) -> Result<(), Errno> {
    if way > BY_ENGINE {
        return Err(Errno(EINVAL));
    }
    if home.workers() == 0 {
        return Err(Errno(ENODEV));
    }
    Ok(())
}

pub fn counts<H: Home>(home: &H, target: u64) -> Answer {
    // As the fields of a program's `Counts`.
    let Counts { copied, declined, rescued, halts, lost, descriptors, bytes } = home.engine_counts();
    write_words(home, target, [copied, declined, rescued, halts, lost, descriptors, bytes]).map(|()| 0)
}

pub fn post<H: Home>(home: &H, at: u64, way: u64, side: Side) -> Answer {
    check_way(home, way)?;
    let Some(met) = meet(home, at, side, false)? else { return Ok(0) };
    let Met { send, receive, other } = met;
    let bytes = send.bytes.min(receive.bytes);
    let (from, to) = (for_all(home, send.address), for_all(home, receive.address));
    let told = [for_all(home, at) + STATE, other + STATE];
    // What the two are told beside the state stands there before it.
    describe(home, at, &send);
    describe(home, other, &send);
    if bytes == 0 {
        return copy_and_tell(home, at, &met);
    }
    home.order(&Order { from, to, bytes, told, way });
    Ok(0)
}

#[inline(never)]
pub fn copy<H: Home>(home: &H, at: u64, way: u64) -> Answer {
    check_way(home, way)?;
    if !at.is_multiple_of(8) {
        return Err(Errno(EINVAL));
    }
    home.check_writable(at, size_of::<Copy>() as u64)?;
    // Read once: the program may change them. As the fields of a `Copy`.
    let (from, to, bytes) = (read_u64(home, at + 8)?, read_u64(home, at + 16)?, read_u64(home, at + 24)?);
    home.check_readable(from, bytes)?;
    home.check_writable(to, bytes)?;
    if bytes == 0 {
        home.tell(at + STATE, DONE)?;
        return Ok(1);
    }
    home.write(at + STATE, &WAITS.to_le_bytes())?;
    let told = [for_all(home, at) + STATE, 0];
    let order = Order { from: for_all(home, from), to: for_all(home, to), bytes, told, way };
    home.order(&order);
    Ok(0)
}
