//! Linux's error numbers as a type.

use core::fmt;
use lwk_abi::syscall::errno;

/// An error of a system call: Linux's number, positive.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(i32);

impl Errno {
    // Linux's, by their names (errno(3)).
    pub const EPERM: Errno = Errno(errno::EPERM as i32);
    pub const ENOENT: Errno = Errno(errno::ENOENT as i32);
    /// Linux's `EINTR`; the kernel never returns it, a Linux host may.
    pub const EINTR: Errno = Errno(4);
    pub const EBADF: Errno = Errno(errno::EBADF as i32);
    pub const EAGAIN: Errno = Errno(errno::EAGAIN as i32);
    pub const ENOMEM: Errno = Errno(errno::ENOMEM as i32);
    pub const EFAULT: Errno = Errno(errno::EFAULT as i32);
    pub const ENODEV: Errno = Errno(errno::ENODEV as i32);
    pub const EINVAL: Errno = Errno(errno::EINVAL as i32);
    pub const ENOSYS: Errno = Errno(errno::ENOSYS as i32);

    /// The largest number that Linux returns for an error (`MAX_ERRNO`).
    pub const MAX: i32 = 4095;

    /// The number, 1 to [`Errno::MAX`].
    pub const fn number(self) -> i32 {
        self.0
    }

    /// Splits a system call's raw result: -4095 to -1 are errors, everything else is a value.
    pub const fn check(raw: i64) -> Result<u64, Errno> {
        if raw < 0 && raw >= -(Self::MAX as i64) { Err(Errno(-raw as i32)) } else { Ok(raw as u64) }
    }

    const fn name(self) -> Option<&'static str> {
        Some(match self {
            Errno::EPERM => "EPERM",
            Errno::ENOENT => "ENOENT",
            Errno::EINTR => "EINTR",
            Errno::EBADF => "EBADF",
            Errno::EAGAIN => "EAGAIN",
            Errno::ENOMEM => "ENOMEM",
            Errno::EFAULT => "EFAULT",
            Errno::ENODEV => "ENODEV",
            Errno::EINVAL => "EINVAL",
            Errno::ENOSYS => "ENOSYS",
            _ => return None,
        })
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "error {}", self.0),
        }
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Errno {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_range_is_linuxs() {
        assert_eq!(Errno::check(0), Ok(0));
        assert_eq!(Errno::check(-1), Err(Errno::EPERM));
        assert_eq!(Errno::check(-4095), Err(Errno(4095)));
        assert_eq!(Errno::check(-4096), Ok(-4096i64 as u64));
        assert_eq!(Errno::check(i64::MAX), Ok(i64::MAX as u64));
    }

    #[test]
    fn an_unknown_number_is_still_readable() {
        assert_eq!(Errno::EFAULT.to_string(), "EFAULT");
        assert_eq!(Errno(71).to_string(), "error 71");
    }
}
