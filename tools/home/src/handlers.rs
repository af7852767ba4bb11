//! How a rank's signal handlers are set up: their stack, Linux's actions, and the dispatch of system calls.

use std::io;

use lwk_abi::address::{JOB_PAGE, PAGE_BYTES};
use nix::errno::Errno;

use crate::arch::{self, Gate, Handler};
use crate::rank::check;

/// Bytes of the handlers' stack: Linux's signal frame takes up to 12 KiB of it.
const HANDLER_STACK_BYTES: usize = 256 << 10;
/// Where that stack goes under valgrind: below the job page, since callgrind takes a stack above the program's for a return from all its
/// functions. Below it is the dynamic linker that the loader is started with.
pub const LOW_STACK: usize = 0x18_0000;
const _: () = assert!(LOW_STACK as u64 + PAGE_BYTES + HANDLER_STACK_BYTES as u64 <= JOB_PAGE);

/// An alternate stack for the handlers, with a guard below: the program's own may be the very thing that is broken.
/// It goes to `address`, or with 0 wherever the system likes.
///
/// # Safety
/// Nothing is mapped at `address`, if it is not 0.
pub unsafe fn handler_stack(address: usize) -> io::Result<()> {
    const GUARD: usize = 4096;
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let kind = if address == 0 { kind } else { kind | libc::MAP_FIXED };
    // SAFETY: a new mapping wherever the system likes, or at `address`, where nothing is (this function's
    // contract); its lowest page then given up, and the rest named to Linux as the alternate stack; it
    // is never unmapped.
    unsafe {
        let base = libc::mmap(
            std::ptr::without_provenance_mut(address),
            GUARD + HANDLER_STACK_BYTES,
            access,
            kind,
            -1,
            0,
        );
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        check(libc::mprotect(base, GUARD, libc::PROT_NONE))?;
        let stack = libc::stack_t { ss_sp: base.byte_add(GUARD), ss_flags: 0, ss_size: HANDLER_STACK_BYTES };
        arch::set_call_stack(base.byte_add(GUARD + HANDLER_STACK_BYTES) as u64);
        check(libc::sigaltstack(&stack, std::ptr::null_mut()))
    }
}

/// Linux's own signal action (`struct sigaction` of the kernel, not libc's).
#[repr(C)]
struct Action {
    handler: usize,
    flags: u64,
    restorer: u64,
    mask: u64,
}

/// Linux's `SA_RESTORER`.
const SA_RESTORER: u64 = 0x0400_0000;

/// Installs a handler that returns through the gate. Signals wait while it runs, except the faults it may raise itself.
pub fn install(signal: i32, handler: Handler) -> Result<(), String> {
    let faults = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP];
    let mask = !faults.iter().fold(0u64, |mask, fault| mask | 1 << (fault - 1));
    let flags = (libc::SA_SIGINFO | libc::SA_ONSTACK) as u64 | SA_RESTORER;
    action(signal, Action { handler: handler as usize, flags, restorer: Gate::signal_return(), mask })
}

pub fn default_action(signal: i32) -> Result<(), String> {
    action(signal, Action { handler: libc::SIG_DFL, flags: 0, restorer: 0, mask: 0 })
}

fn action(signal: i32, action: Action) -> Result<(), String> {
    let arguments = [signal as u64, &raw const action as u64, 0, size_of::<u64>() as u64, 0, 0];
    // SAFETY: the structure is Linux's, and the handlers keep to what a handler may do.
    match unsafe { Gate::call(libc::SYS_rt_sigaction, arguments) } {
        0 => Ok(()),
        error => Err(format!("cannot install a signal handler: {}", Errno::from_raw(-error as i32).desc())),
    }
}

/// Linux's `PR_SET_SYSCALL_USER_DISPATCH`.
pub const SET_DISPATCH: u64 = 59;
/// Linux's `PR_SYS_DISPATCH_ON`.
const DISPATCH_ON: u64 = 1;

/// Hands the program's system calls over to the handler of `SIGSYS`.
pub fn dispatch() -> Result<(), String> {
    let (start, bytes) = Gate::range();
    let dispatch = [SET_DISPATCH, DISPATCH_ON, start, bytes, 0, 0];
    // SAFETY: from here on every system call outside of the gate raises SIGSYS, whose handler is installed.
    match unsafe { Gate::call(libc::SYS_prctl, dispatch) } {
        0 => Ok(()),
        error => Err(format!("cannot take over system calls: {}", Errno::from_raw(-error as i32).desc())),
    }
}
