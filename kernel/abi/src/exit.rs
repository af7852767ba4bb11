//! Exit statuses of the host command, and the values the kernel writes to QEMU's debug-exit device.
//!
//! A job's status is 0, or the first non-zero status of a rank, or [`SIGNAL_BASE`] plus the signal number that a Linux
//! process would have died of.

/// Wrong use of the command, or bad input (no such program, not a static ELF file, memory that does not fit, …).
pub const USAGE: i32 = 2;
/// Status if the kernel panicked, or the node died without a word.
pub const KERNEL_PANIC: i32 = 70;
/// Status if ranks wait and a node of their job is lost: as if its death had been seen.
pub const NODE_LOST: i32 = KERNEL_PANIC;
/// Status if the job ran into its time limit.
pub const TIMEOUT: i32 = 124;
/// Added to a signal's number when a rank dies of it, by a fault or raised by itself.
pub const SIGNAL_BASE: i32 = 128;

/// I/O port of QEMU's `isa-debug-exit` device; QEMU exits with twice the value written, plus one.
pub const DEBUG_EXIT_PORT: u16 = 0xf4;
/// Written when the job has ended, whatever its status, and every record has been sent. QEMU's status: 33.
pub const DEBUG_EXIT_ENDED: u32 = 0x10;
/// Written at the end of a kernel panic. QEMU's status: 35.
pub const DEBUG_EXIT_PANIC: u32 = 0x11;

/// Signals by Linux's numbers (signal(7)), as far as a fault or a panic of the program ends a rank by them.
pub mod signal {
    /// Illegal instruction.
    pub const SIGILL: i32 = 4;
    /// Trap (breakpoint, single step).
    pub const SIGTRAP: i32 = 5;
    /// Abort.
    pub const SIGABRT: i32 = 6;
    /// Bus error (alignment check, stack segment).
    pub const SIGBUS: i32 = 7;
    /// Arithmetic error (division, floating point).
    pub const SIGFPE: i32 = 8;
    /// Bad memory access or privileged instruction.
    pub const SIGSEGV: i32 = 11;
}
