//! Copies that a rank orders and a worker makes ([`lwk_abi::engine`]).
//!
//! Writes and reads find each other in LiMIC's queues ([`crate::limic_queues`]). Who finds the other hands the copy to the home's workers.

use lwk_abi::engine::{BY_ENGINE, CHECK, COUNTS, Copy, FAULT, ICOPY, IREAD, IWRITE, WORKERS};
use lwk_abi::limic::{DONE, STATE, WAITS};
use lwk_abi::syscall::errno::{EINVAL, ENODEV, ENOSYS};
use lwk_engine::{Counts, Order};
use lwk_limic::Side;

use crate::home::Home;
use crate::limic_queues::{Met, copy_and_tell, describe, for_all, meet};
use crate::machine::{read_u64, write_words};
use crate::{Answer, Errno};

/// Whether a call is one of these.
pub fn is(number: u64) -> bool {
    matches!(number, WORKERS | CHECK | COUNTS | FAULT | IWRITE | IREAD | ICOPY)
}

/// Answers one of the calls. Errors: as [`lwk_abi::engine`] says; `ENOSYS` for any other number.
pub fn call<H: Home>(home: &H, number: u64, [at, way]: [u64; 2]) -> Answer {
    match number {
        WORKERS => Ok(home.workers().into()),
        CHECK => Ok(home.look_after_engine()),
        COUNTS => {
            // As the fields of a program's `Counts`.
            let Counts { copied, declined, rescued, halts, lost, descriptors, bytes } = home.engine_counts();
            write_words(home, at, [copied, declined, rescued, halts, lost, descriptors, bytes]).map(|()| 0)
        }
        // `at` is a number here, and `way` that of the fault.
        FAULT => home.engine_fault(at, way),
        IWRITE | IREAD | ICOPY if way > BY_ENGINE => Err(Errno(EINVAL)),
        IWRITE | IREAD | ICOPY if home.workers() == 0 => Err(Errno(ENODEV)),
        IWRITE => post(home, at, way, Side::Writes),
        IREAD => post(home, at, way, Side::Reads),
        ICOPY => copy(home, at, way),
        _ => Err(Errno(ENOSYS)),
    }
}

fn post<H: Home>(home: &H, at: u64, way: u64, side: Side) -> Answer {
    let Some(met) = meet(home, at, side, 0)? else { return Ok(0) };
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
fn copy<H: Home>(home: &H, at: u64, way: u64) -> Answer {
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
