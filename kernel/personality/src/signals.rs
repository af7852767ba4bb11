//! What the system knows of a rank's signals.

use lwk_abi::syscall::errno::{EINVAL, ENOMEM};

use crate::Errno;

/// Highest signal number.
pub(crate) const SIGNAL_MAX: u32 = 64;
pub(crate) const SIGKILL: u32 = 9;
pub(crate) const SIGSTOP: u32 = 19;

/// What a signal does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Action {
    pub handler: u64,
    pub flags: u64,
    pub restorer: u64,
    pub mask: u64,
}

/// The alternate stack; none if it has no bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AlternateStack {
    pub start: u64,
    pub bytes: u64,
}

/// Linux's `SS_ONSTACK` and `SS_DISABLE`.
pub(crate) const IN_USE: u64 = 1;
const DISABLED: u64 = 2;
/// Least bytes of an alternate stack (`MINSIGSTKSZ`).
const STACK_BYTES_MIN: u64 = 2048;

impl AlternateStack {
    /// Whether a stack pointer lies in it.
    pub fn holds(&self, pointer: u64) -> bool {
        self.bytes > 0 && pointer > self.start && pointer - self.start <= self.bytes
    }

    /// As in `stack_t` (start, flags, bytes), when the stack pointer is at `pointer`.
    pub fn words(&self, pointer: u64) -> [u64; 3] {
        let flags = match self.bytes {
            0 => DISABLED,
            _ if self.holds(pointer) => IN_USE,
            _ => 0,
        };
        [self.start, flags, self.bytes]
    }
}

/// What a rank has said about signals, 1 to 64, and which it has raised.
#[derive(Debug)]
pub struct Signals {
    pub(crate) actions: [Action; SIGNAL_MAX as usize],
    /// One bit a signal, the lowest for signal 1: those blocked, those raised while blocked, and which of these by `tkill`.
    pub(crate) blocked: u64,
    pub(crate) pending: u64,
    pub(crate) by_thread: u64,
    pub(crate) stack: AlternateStack,
}

/// What a handler is told about a signal (sigaction(2), `siginfo_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Information {
    /// The signal's number, 1 to 64.
    pub signal: u32,
    /// Linux's `si_code`.
    pub code: i32,
    /// The address of a fault, or the number of the process that raised it.
    pub value: u64,
}

/// The rank ends by the signal with this number, as if it had no handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fatal(pub i32);

/// A signal's place in a set.
pub(crate) fn bit(signal: u32) -> u64 {
    1 << (signal - 1)
}

/// Signals that nothing can hold back.
pub(crate) const UNBLOCKABLE: u64 = 1 << (SIGKILL - 1) | 1 << (SIGSTOP - 1);

impl Signals {
    pub(crate) fn new() -> Signals {
        Signals {
            actions: [Action::default(); SIGNAL_MAX as usize],
            blocked: 0,
            pending: 0,
            by_thread: 0,
            stack: AlternateStack::default(),
        }
    }

    /// Whether a signal waits to be seen to.
    pub fn has_pending(&self) -> bool {
        self.pending & !self.blocked != 0
    }

    /// Raises a signal because of what the rank has just done.
    pub(crate) fn raise_own(&mut self, signal: u32) {
        self.pending |= bit(signal);
        self.by_thread &= !bit(signal);
    }

    /// What a signal does.
    pub(crate) fn action(&self, signal: u32) -> Action {
        self.actions.get(signal as usize - 1).copied().unwrap_or_default()
    }
}

/// What `sigaltstack` makes of a `stack_t`.
pub(crate) fn alternate_stack([start, flags, bytes]: [u64; 3]) -> Result<AlternateStack, Errno> {
    match flags & u64::from(u32::MAX) {
        DISABLED => Ok(AlternateStack::default()),
        0 | IN_USE if bytes < STACK_BYTES_MIN => Err(Errno(ENOMEM)),
        0 | IN_USE => Ok(AlternateStack { start, bytes }),
        _ => Err(Errno(EINVAL)),
    }
}
