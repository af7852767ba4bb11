//! `futex(2)` for a process of one thread: nobody else would wake it. A word that has another value is `EAGAIN`, as ever. One that
//! has the value waited for can still be changed by a peer, so a wait with a time limit goes on until it changes (0) or the
//! time is over (`ETIMEDOUT`); without a limit it could be for ever, and is `EDEADLK`.

use lwk_abi::syscall::errno::{EAGAIN, EDEADLK, EINVAL, ENOSYS, ETIMEDOUT};
use lwk_abi::syscall::futex::{PRIVATE, REAL_TIME, WAIT, WAIT_BITS, WAKE, WAKE_BITS};

use crate::machine::{Clock, Machine, read_u32};
use crate::process::Process;
use crate::time::read_timespec;
use crate::{Errno, Waiting};

impl Process {
    /// `futex(2)`.
    pub(crate) fn futex<M: Machine>(
        &mut self,
        machine: &M,
        word: u64,
        operation: u32,
        value: u32,
        limit: u64,
    ) -> Waiting {
        match self.futex_once(machine, word, operation, value, limit) {
            Ok(None) => Waiting::Again,
            Ok(Some(answer)) => Waiting::Done(Ok(answer)),
            Err(problem) => Waiting::Done(Err(problem)),
        }
    }

    /// The answer, or nothing yet.
    fn futex_once<M: Machine>(
        &mut self,
        machine: &M,
        word: u64,
        operation: u32,
        value: u32,
        limit: u64,
    ) -> Result<Option<u64>, Errno> {
        if !word.is_multiple_of(4) {
            return Err(Errno(EINVAL));
        }
        let command = operation & !(PRIVATE | REAL_TIME);
        match command {
            WAKE | WAKE_BITS => machine.check_readable(word, 4).map(|()| Some(0)),
            WAIT | WAIT_BITS => {
                let begun = self.deadline.is_some();
                if read_u32(machine, word)? != value {
                    return if begun { Ok(Some(0)) } else { Err(Errno(EAGAIN)) };
                }
                if limit == 0 {
                    return Err(Errno(EDEADLK));
                }
                let time = read_timespec(machine, limit)?;
                // The second form names a moment, the first a duration.
                let clock = if operation & REAL_TIME != 0 { Clock::Real } else { Clock::Monotonic };
                let left =
                    if command == WAIT_BITS { time.saturating_sub(machine.clock(clock)) } else { time };
                if self.has_waited(machine, left) { Err(Errno(ETIMEDOUT)) } else { Ok(None) }
            }
            _ => Err(Errno(ENOSYS)),
        }
    }
}
