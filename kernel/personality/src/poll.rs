//! `poll(2)` and `select(2)`: whatever is open is ready, but for a pipe that is empty or full: nothing else ever has to be waited for. A call
//! that names nothing is a sleep, as programs use it.

use lwk_abi::syscall::DESCRIPTORS_MAX;
use lwk_abi::syscall::errno::{EBADF, EDEADLK, EINVAL};

use crate::descriptors::Target;
use crate::machine::{Machine, read_u32, read_u64, write_words};
use crate::pipes::End;
use crate::process::Process;
use crate::time::{read_timespec, read_timeval};
use crate::{Errno, Waiting};

/// How long to wait if nothing is ready.
#[derive(Clone, Copy, Debug)]
pub enum Timeout {
    /// So many, an `int`; for ever if negative.
    Milliseconds(u64),
    /// As the structure at this address says; for ever if there is none.
    Timespec(u64),
    /// As [`Timeout::Timespec`].
    Timeval(u64),
}

impl Timeout {
    /// Nanoseconds; nothing: for ever.
    fn nanoseconds<M: Machine>(self, machine: &M) -> Result<Option<u64>, Errno> {
        match self {
            Timeout::Milliseconds(count) => {
                Ok(u64::try_from(count as i32).ok().map(|count| count * 1_000_000))
            }
            Timeout::Timespec(0) | Timeout::Timeval(0) => Ok(None),
            Timeout::Timespec(address) => read_timespec(machine, address).map(Some),
            Timeout::Timeval(address) => read_timeval(machine, address).map(Some),
        }
    }
}

/// Bytes of a `struct pollfd`: descriptor, events wanted, events found.
const POLL_BYTES: u64 = 8;
const POLL_IN: u16 = 0x1 | 0x40;
const POLL_OUT: u16 = 0x4 | 0x100;
const POLL_ERROR: u16 = 0x8;
const POLL_HANG_UP: u16 = 0x10;
const POLL_INVALID: u16 = 0x20;
/// What is told whether it is wanted or not.
const POLL_ALWAYS: u16 = POLL_ERROR | POLL_HANG_UP | POLL_INVALID;

impl Process {
    /// `poll(2)` and `ppoll(2)`.
    pub(crate) fn poll<M: Machine>(
        &mut self,
        machine: &M,
        list: u64,
        count: u64,
        timeout: Timeout,
    ) -> Waiting {
        let ready = self.poll_once(machine, list, count);
        self.conclude(machine, ready, timeout)
    }

    /// `select(2)` and `pselect(2)`.
    pub(crate) fn select<M: Machine>(
        &mut self,
        machine: &M,
        count: u64,
        sets: [u64; 3],
        timeout: Timeout,
    ) -> Waiting {
        let ready = self.select_once(machine, count, sets);
        self.conclude(machine, ready, timeout)
    }

    /// What is ready is answered at once; nothing, when the time is over. Waiting for ever would be just that: `EDEADLK`.
    fn conclude<M: Machine>(&mut self, machine: &M, ready: Result<u64, Errno>, timeout: Timeout) -> Waiting {
        let outcome = ready.and_then(|ready| Ok((ready, timeout.nanoseconds(machine)?)));
        match outcome {
            Ok((0, Some(nanoseconds))) if self.has_waited(machine, nanoseconds) => Waiting::Done(Ok(0)),
            Ok((0, Some(_))) => Waiting::Again,
            Ok((0, None)) => Waiting::Done(Err(Errno(EDEADLK))),
            Ok((ready, _)) => Waiting::Done(Ok(ready)),
            Err(problem) => Waiting::Done(Err(problem)),
        }
    }

    fn readiness(&self, fd: u32) -> u16 {
        let Ok(description) = self.descriptors.get(fd) else { return POLL_INVALID };
        let mut found = 0;
        if let Target::Pipe(pipe, end) = description.target {
            let (ready, broken) = match end {
                End::Read => (POLL_IN, POLL_HANG_UP),
                End::Write => (POLL_OUT, POLL_ERROR),
            };
            // With nobody to write, what is left can be read, and then its end.
            let can = self.pipes.is_ready(pipe, end) && (end == End::Write || self.pipe_bytes(pipe) > 0);
            found |= if can { ready } else { 0 };
            found |= if self.pipes.is_broken(pipe, end) { broken } else { 0 };
            return found;
        }
        if description.is_readable() || description.target == Target::Input {
            found |= POLL_IN;
        }
        if description.is_writable() {
            found |= POLL_OUT;
        }
        found
    }

    fn poll_once<M: Machine>(&self, machine: &M, list: u64, count: u64) -> Result<u64, Errno> {
        if count > DESCRIPTORS_MAX as u64 {
            return Err(Errno(EINVAL));
        }
        machine.check_writable(list, count * POLL_BYTES)?;
        let mut ready = 0;
        for index in 0..count {
            let at = list + index * POLL_BYTES;
            let fd = read_u32(machine, at)?;
            let wanted = read_u32(machine, at + 4)? as u16;
            let found = if (fd as i32) < 0 { 0 } else { self.readiness(fd) & (wanted | POLL_ALWAYS) };
            machine.write(at + 6, &found.to_le_bytes())?;
            ready += u64::from(found != 0);
        }
        Ok(ready)
    }

    fn select_once<M: Machine>(&self, machine: &M, count: u64, sets: [u64; 3]) -> Result<u64, Errno> {
        let count = u64::from(count as u32);
        if count > i32::MAX as u64 {
            return Err(Errno(EINVAL));
        }
        // More than there are: Linux cuts the number as well.
        let count = count.min(DESCRIPTORS_MAX as u64);
        let mut ready = 0;
        for (set, condition) in sets.into_iter().zip([POLL_IN, POLL_OUT, 0]) {
            if set == 0 {
                continue;
            }
            for word in 0..count.div_ceil(64) {
                let at = set.wrapping_add(8 * word);
                let bits = (count - 64 * word).min(64);
                let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
                let wanted = read_u64(machine, at)?;
                let mut found = 0;
                for bit in (0..64).filter(|bit| wanted & mask & (1 << bit) != 0) {
                    let readiness = self.readiness((64 * word + bit) as u32);
                    if readiness & POLL_INVALID != 0 {
                        return Err(Errno(EBADF));
                    }
                    // An end is something to read, and so is an error to write.
                    let ends = match condition {
                        POLL_IN => POLL_HANG_UP,
                        POLL_OUT => POLL_ERROR,
                        _ => 0,
                    };
                    if readiness & (condition | ends) != 0 {
                        found |= 1u64 << bit;
                        ready += 1;
                    }
                }
                write_words(machine, at, [wanted & !mask | found])?;
            }
        }
        Ok(ready)
    }
}
