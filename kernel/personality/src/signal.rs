//! Signals that a rank raises itself: by a fault, or with `kill(2)` and its kin. There are no others, so a signal comes at a known
//! instruction: at the fault, or at the end of a system call.
//!
//! A handler gets Linux's frame ([`crate::frame`]) on the program's stack or on its alternate one. A fault that is blocked or
//! ignored, and every signal whose default is to end the process, ends the rank. Signals whose default is to stop the process
//! are ignored: nobody could continue it.

use lwk_abi::address::USER_END;
use lwk_abi::exit::signal::SIGSEGV;
use lwk_abi::syscall::errno::{EINVAL, EPERM, ESRCH};

use crate::frame;
use crate::machine::{Machine, read_u64, write_words};
use crate::process::Process;
use crate::registers::Registers;
use crate::signals::{
    Action, Fatal, IN_USE, Information, SIGKILL, SIGNAL_MAX, SIGSTOP, UNBLOCKABLE, alternate_stack, bit,
};
use crate::{Answer, Errno, identity};

/// Bytes of a set of signals.
const SET_BYTES: u64 = 8;
const SIGCHLD: u32 = 17;
const SIGCONT: u32 = 18;
const SIGTTOU: u32 = 22;
const SIGURG: u32 = 23;
const SIGWINCH: u32 = 28;

/// Handlers that are none: the default, and nothing.
const DEFAULT: u64 = 0;
const IGNORE: u64 = 1;

/// Linux's `SA_…` bits that have an effect here.
mod action_flag {
    pub const ON_STACK: u64 = 0x0800_0000;
    pub const NO_DEFER: u64 = 0x4000_0000;
    pub const RESET: u64 = 0x8000_0000;
    pub const RESTORER: u64 = 0x0400_0000;
}

/// Linux's `SI_…`: raised by `kill`, by `tkill`.
const SI_USER: i32 = 0;
const SI_TKILL: i32 = -6;

impl Process {
    /// Whether a signal waits to be seen to, by [`Process::take_signals`].
    pub fn has_pending_signal(&self) -> bool {
        self.signals.has_pending()
    }

    /// At the end of a system call: turns `registers`, with which the program would go on, into those with which it handles
    /// the signals that wait.
    ///
    /// # Errors
    /// The rank ends.
    pub fn take_signals<M: Machine>(&mut self, machine: &M, registers: &mut Registers) -> Result<(), Fatal> {
        while self.signals.has_pending() {
            let signal = (self.signals.pending & !self.signals.blocked).trailing_zeros() + 1;
            self.signals.pending &= !bit(signal);
            let code = if self.signals.by_thread & bit(signal) != 0 { SI_TKILL } else { SI_USER };
            let own = identity::process_number(machine);
            match self.signals.action(signal).handler {
                IGNORE => {}
                DEFAULT if is_ignored_by_default(signal) => {}
                DEFAULT => return Err(Fatal(signal as i32)),
                _ => self.handle(machine, registers, Information { signal, code, value: own })?,
            }
        }
        Ok(())
    }

    /// A fault at `registers`, which become those with which the program handles it.
    ///
    /// # Errors
    /// The program does not handle it: the rank ends.
    pub fn take_fault<M: Machine>(
        &mut self,
        machine: &M,
        registers: &mut Registers,
        information: Information,
    ) -> Result<(), Fatal> {
        let signal = information.signal;
        let fatal = Err(Fatal(signal as i32));
        if signal == 0 || signal > SIGNAL_MAX || self.signals.blocked & bit(signal) != 0 {
            return fatal;
        }
        match self.signals.action(signal).handler {
            DEFAULT | IGNORE => fatal,
            _ => self.handle(machine, registers, information).map_err(|_| Fatal(signal as i32)),
        }
    }

    /// `rt_sigreturn(2)`: back to where the signal came.
    ///
    /// # Errors
    /// What is on the stack is no frame to return to: the rank ends.
    pub fn return_from_handler<M: Machine>(
        &mut self,
        machine: &M,
        registers: &mut Registers,
    ) -> Result<(), Fatal> {
        let restored = frame::restore(machine, registers).map_err(|_| Fatal(SIGSEGV))?;
        *registers = restored.registers;
        self.signals.blocked = restored.blocked & !UNBLOCKABLE;
        // What `sigaltstack` would refuse stays as it was.
        if let Some(stack) = restored.stack {
            self.signals.stack = stack;
        }
        Ok(())
    }

    /// Enters a handler.
    fn handle<M: Machine>(
        &mut self,
        machine: &M,
        registers: &mut Registers,
        information: Information,
    ) -> Result<(), Fatal> {
        let signal = information.signal;
        let action = self.signals.action(signal);
        let fatal = Fatal(SIGSEGV);
        // Linux needs it as well: the way back is the C library's.
        if action.flags & action_flag::RESTORER == 0 || action.handler >= USER_END {
            return Err(fatal);
        }
        let stack = self.signals.stack;
        let switches =
            action.flags & action_flag::ON_STACK != 0 && stack.bytes > 0 && !stack.holds(registers.rsp);
        let top = if switches { Some(stack.start.wrapping_add(stack.bytes)) } else { None };
        let place = frame::Delivery {
            top,
            blocked: self.signals.blocked,
            stack: stack.words(registers.rsp),
            handler: action.handler,
            restorer: action.restorer,
        };
        frame::build(machine, registers, information, &place).map_err(|_| fatal)?;
        self.signals.blocked |= action.mask & !UNBLOCKABLE;
        if action.flags & action_flag::NO_DEFER == 0 {
            self.signals.blocked |= bit(signal);
        }
        if action.flags & action_flag::RESET != 0
            && let Some(action) = self.signals.actions.get_mut(signal as usize - 1)
        {
            action.handler = DEFAULT;
        }
        Ok(())
    }

    /// `rt_sigaction(2)`.
    pub(crate) fn set_action<M: Machine>(
        &mut self,
        machine: &M,
        signal: u32,
        new: u64,
        old: u64,
        bytes: u64,
    ) -> Answer {
        if bytes != SET_BYTES || signal == 0 || signal > SIGNAL_MAX {
            return Err(Errno(EINVAL));
        }
        if new != 0 && matches!(signal, SIGKILL | SIGSTOP) {
            return Err(Errno(EINVAL));
        }
        let before = self.signals.action(signal);
        let mut after = None;
        if new != 0 {
            machine.check_readable(new, 32)?;
            let word = |index: u64| read_u64(machine, new + 8 * index);
            after = Some(Action { handler: word(0)?, flags: word(1)?, restorer: word(2)?, mask: word(3)? });
        }
        if old != 0 {
            write_words(machine, old, [before.handler, before.flags, before.restorer, before.mask])?;
        }
        if let (Some(action), Some(place)) = (after, self.signals.actions.get_mut(signal as usize - 1)) {
            *place = action;
        }
        Ok(0)
    }

    /// `rt_sigprocmask(2)`.
    pub(crate) fn set_blocked<M: Machine>(
        &mut self,
        machine: &M,
        how: u32,
        new: u64,
        old: u64,
        bytes: u64,
    ) -> Answer {
        if bytes != SET_BYTES {
            return Err(Errno(EINVAL));
        }
        let before = self.signals.blocked;
        if new != 0 {
            let set = read_u64(machine, new)?;
            let after = match how {
                0 => before | set,
                1 => before & !set,
                2 => set,
                _ => return Err(Errno(EINVAL)),
            };
            if old != 0 {
                machine.check_writable(old, SET_BYTES)?;
            }
            self.signals.blocked = after & !UNBLOCKABLE;
        }
        if old != 0 {
            write_words(machine, old, [before])?;
        }
        Ok(0)
    }

    /// `rt_sigpending(2)`.
    pub(crate) fn pending<M: Machine>(&mut self, machine: &M, target: u64, bytes: u64) -> Answer {
        if bytes > SET_BYTES {
            return Err(Errno(EINVAL));
        }
        let set = (self.signals.pending & self.signals.blocked).to_le_bytes();
        machine.write(target, set.get(..bytes as usize).unwrap_or_default())?;
        Ok(0)
    }

    /// `sigaltstack(2)`.
    pub(crate) fn set_stack<M: Machine>(&mut self, machine: &M, new: u64, old: u64) -> Answer {
        let before = self.signals.stack.words(machine.stack_pointer());
        if new != 0 {
            machine.check_readable(new, 24)?;
            let word = |index: u64| read_u64(machine, new + 8 * index);
            let stack = alternate_stack([word(0)?, word(1)?, word(2)?])?;
            if before[1] == IN_USE {
                return Err(Errno(EPERM));
            }
            if old != 0 {
                machine.check_writable(old, 24)?;
            }
            self.signals.stack = stack;
        }
        if old != 0 {
            write_words(machine, old, before)?;
        }
        Ok(0)
    }

    /// `kill(2)`, `tkill(2)` and `tgkill(2)`: to the rank itself, or to nobody.
    pub(crate) fn raise<M: Machine>(
        &mut self,
        machine: &M,
        process: u64,
        thread: Option<u64>,
        signal: u32,
    ) -> Answer {
        if signal > SIGNAL_MAX {
            return Err(Errno(EINVAL));
        }
        let own = identity::process_number(machine) as i32;
        let (process, thread) = (process as i32, thread.map(|thread| thread as i32));
        let is_own = match thread {
            // A thread's number is positive.
            Some(number) if number <= 0 || process <= 0 => return Err(Errno(EINVAL)),
            Some(number) => number == own && process == own,
            None => process == own || process == 0 || process == -1 || process == own.wrapping_neg(),
        };
        if !is_own {
            return Err(Errno(ESRCH));
        }
        if signal != 0 {
            let bit = bit(signal);
            self.signals.pending |= bit;
            self.signals.by_thread = self.signals.by_thread & !bit | if thread.is_some() { bit } else { 0 };
        }
        Ok(0)
    }
}

fn is_ignored_by_default(signal: u32) -> bool {
    matches!(signal, SIGCHLD | SIGCONT | SIGURG | SIGWINCH | SIGSTOP..=SIGTTOU)
}
