//! Time: clocks, sleeping, and what a rank has used.

use lwk_abi::syscall::errno::{EINVAL, EOPNOTSUPP};

use crate::machine::{Clock, Machine, read_u64, write_words};
use crate::process::Process;
use crate::{Answer, Errno, Waiting};

const NANOSECONDS: u64 = 1_000_000_000;
/// Ticks a second of `times(2)` (Linux's `USER_HZ`).
const CLOCK_TICKS: u64 = 100;

/// Linux's clock numbers, as far as there is something behind them.
fn clock_of(number: u64) -> Result<Clock, Errno> {
    match number as u32 {
        // Real time, its coarse form, and TAI.
        0 | 5 | 11 => Ok(Clock::Real),
        // Monotonic, raw, coarse, and since boot.
        1 | 4 | 6 | 7 => Ok(Clock::Monotonic),
        // Of the process and of the thread.
        2 | 3 => Ok(Clock::Processor),
        _ => Err(Errno(EINVAL)),
    }
}

/// `clock_gettime(2)`: seconds and nanoseconds, a word of eight bytes each. Errors: `EINVAL` for a clock that is not there, `EFAULT`.
pub fn read_clock<M: Machine>(machine: &M, number: u64, target: u64) -> Answer {
    let now = machine.clock(clock_of(number)?);
    write_words(machine, target, [now / NANOSECONDS, now % NANOSECONDS])?;
    Ok(0)
}

/// `clock_getres(2)`: a nanosecond, for every clock. Errors: as for [`read_clock`].
pub fn resolution<M: Machine>(machine: &M, number: u64, target: u64) -> Answer {
    clock_of(number)?;
    if target != 0 {
        write_words(machine, target, [0, 1])?;
    }
    Ok(0)
}

/// `gettimeofday(2)`; there is no time zone. Errors: `EFAULT`.
pub fn time_of_day<M: Machine>(machine: &M, target: u64, zone: u64) -> Answer {
    let now = machine.clock(Clock::Real);
    if target != 0 {
        write_words(machine, target, [now / NANOSECONDS, now % NANOSECONDS / 1000])?;
    }
    if zone != 0 {
        write_words(machine, zone, [0])?;
    }
    Ok(0)
}

/// `time(2)`: seconds since the Unix epoch. Errors: `EFAULT`.
pub fn seconds<M: Machine>(machine: &M, target: u64) -> Answer {
    let now = machine.clock(Clock::Real) / NANOSECONDS;
    if target != 0 {
        write_words(machine, target, [now])?;
    }
    Ok(now)
}

/// `times(2)`, in hundredths of a second: all of it the program's own time. Errors: `EFAULT`.
pub fn process_times<M: Machine>(machine: &M, target: u64) -> Answer {
    let ticks = |nanoseconds: u64| nanoseconds / (NANOSECONDS / CLOCK_TICKS);
    if target != 0 {
        write_words(machine, target, [ticks(machine.clock(Clock::Processor)), 0, 0, 0])?;
    }
    Ok(ticks(machine.clock(Clock::Monotonic)))
}

/// `getrusage(2)`: processor time, and the segment as the most memory in use. Errors: `EINVAL` for another `who` than the process, its children (who
/// have used nothing) and the thread; `EFAULT`.
pub fn usage<M: Machine>(machine: &M, who: u64, target: u64) -> Answer {
    const OWN: i32 = 0;
    const CHILDREN: i32 = -1;
    const THREAD: i32 = 1;
    let mut words = [0; 18];
    match who as i32 {
        OWN | THREAD => {
            let used = machine.clock(Clock::Processor);
            words[0] = used / NANOSECONDS;
            words[1] = used % NANOSECONDS / 1000;
            words[4] = machine.layout().segment_bytes >> 10;
        }
        CHILDREN => {}
        _ => return Err(Errno(EINVAL)),
    }
    write_words(machine, target, words)?;
    Ok(0)
}

/// A `timespec` of the program's, in nanoseconds.
pub(crate) fn read_timespec<M: Machine>(machine: &M, address: u64) -> Result<u64, Errno> {
    let (seconds, nanoseconds) = (read_u64(machine, address)?, read_u64(machine, address.wrapping_add(8))?);
    if seconds > i64::MAX as u64 || nanoseconds >= NANOSECONDS {
        return Err(Errno(EINVAL));
    }
    Ok(seconds.saturating_mul(NANOSECONDS).saturating_add(nanoseconds))
}

/// Longest that a rank idles at a time, in nanoseconds.
const IDLE_NANOSECONDS: u64 = 10_000_000;

impl Process {
    /// Whether a wait of `nanoseconds`, from the first time that the call is made on, is over. The call's end forgets the wait.
    pub(crate) fn has_waited<M: Machine>(&mut self, machine: &M, nanoseconds: u64) -> bool {
        let now = machine.clock(Clock::Monotonic);
        let deadline = *self.deadline.get_or_insert(now.saturating_add(nanoseconds));
        if now >= deadline {
            return true;
        }
        machine.idle((deadline - now).min(IDLE_NANOSECONDS));
        false
    }

    /// `nanosleep(2)`. Nothing interrupts it, so what is left is never asked for.
    pub(crate) fn sleep<M: Machine>(&mut self, machine: &M, request: u64) -> Waiting {
        match read_timespec(machine, request) {
            Ok(nanoseconds) if self.has_waited(machine, nanoseconds) => Waiting::Done(Ok(0)),
            Ok(_) => Waiting::Again,
            Err(problem) => Waiting::Done(Err(problem)),
        }
    }

    /// `clock_nanosleep(2)`.
    pub(crate) fn sleep_by<M: Machine>(
        &mut self,
        machine: &M,
        clock: u64,
        flags: u64,
        request: u64,
    ) -> Waiting {
        const ABSOLUTE: u32 = 1;
        let waited = clock_of(clock).and_then(|clock| {
            if clock == Clock::Processor {
                // A rank that sleeps uses none of it.
                return Err(Errno(EOPNOTSUPP));
            }
            if flags as u32 & !ABSOLUTE != 0 {
                return Err(Errno(EINVAL));
            }
            let time = read_timespec(machine, request)?;
            let nanoseconds =
                if flags as u32 & ABSOLUTE != 0 { time.saturating_sub(machine.clock(clock)) } else { time };
            Ok(self.has_waited(machine, nanoseconds))
        });
        match waited {
            Ok(true) => Waiting::Done(Ok(0)),
            Ok(false) => Waiting::Again,
            Err(problem) => Waiting::Done(Err(problem)),
        }
    }
}

/// A `timeval` of the program's, in nanoseconds.
pub(crate) fn read_timeval<M: Machine>(machine: &M, address: u64) -> Result<u64, Errno> {
    let (seconds, microseconds) = (read_u64(machine, address)?, read_u64(machine, address.wrapping_add(8))?);
    if seconds > i64::MAX as u64 || microseconds > i64::MAX as u64 {
        return Err(Errno(EINVAL));
    }
    Ok(seconds.saturating_mul(NANOSECONDS).saturating_add(microseconds.saturating_mul(1000)))
}
