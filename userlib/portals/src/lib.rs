//! `libportals.a`: the Portals 4 interface for C, as thin as it can be over Portals' system calls ([`lwk_user::portals`]).
//!
//! * Types and options of `include/portals4.h` are laid out as the kernel's contract ([`lwk_user::portals::abi`]), so that most pass through.
//!   Handles are the kernel's.
//! * Event queues and counting events lie in the program's own memory ([`queues`], [`counters`]): waiting and polling make no system call.
//! * The kernel checks what it is given; here are checked null pointers, and what the kernel never sees.
//!
//! The crate is part of the one static library that C programs are linked with (`mpi-rt/c`): a Rust runtime in two libraries
//! would define its symbols twice.
//!
//! Safety. A C program keeps the contract that the reference gives each function. A pointer is null or is readable, or writable, for what the
//! function reads or writes there: for a value of the pointer's type, aligned, and used by nobody else meanwhile. That is each function's
//! contract, whose comments name what of it they rest on.
#![allow(
    clippy::disallowed_types,
    reason = "event queues and counters that a rank shares with its kernel; ranks do not"
)]
#![no_std]

extern crate alloc;

mod counters;
mod descriptors;
mod entries;
mod interfaces;
mod memory;
mod operations;
mod queues;
mod status;
mod tables;
mod triggered;
mod types;

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use lwk_user::portals::abi::status as code;

use crate::status::{Result, Status, answer};

// All state here is used by the rank's one thread, and perhaps by a signal's handler on it, so no order has to be kept: every atomic in this crate
// is relaxed, except where the kernel writes.

/// `PtlInit` calls without their `PtlFini`.
static INITIALIZED: AtomicU32 = AtomicU32::new(0);
/// Whether waits are over for good.
static ABORTED: AtomicBool = AtomicBool::new(false);

/// Whether the program has called `PtlInit`.
fn initialized() -> Result<()> {
    let there = INITIALIZED.load(Ordering::Relaxed) > 0;
    if there { Ok(()) } else { Err(Status(code::NO_INIT)) }
}

/// Whether the program has called `PtlAbort`.
fn aborted() -> Result<()> {
    let aborted = ABORTED.load(Ordering::Relaxed);
    if aborted { Err(Status(code::ABORTED)) } else { Ok(()) }
}

#[unsafe(no_mangle)]
extern "C" fn PtlInit() -> c_int {
    INITIALIZED.fetch_add(1, Ordering::Relaxed);
    ABORTED.store(false, Ordering::Relaxed);
    answer(Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn PtlFini() {
    let before = INITIALIZED.load(Ordering::Relaxed);
    INITIALIZED.store(before.saturating_sub(1), Ordering::Relaxed);
    if before == 1 {
        interfaces::close_all();
    }
}

#[unsafe(no_mangle)]
extern "C" fn PtlAbort() {
    ABORTED.store(true, Ordering::Relaxed);
}
