//! `libsma.a`: OpenSHMEM 1.5 for C, as thin as it can be over [`lwk_shmem::engine`].
//!
//! * A function is written down once for all types of its table in the standard; [`families`] gives it its names. Every name also
//!   exists with a `p` in front, and is itself weak (the standard, section 10), so that a profiler can take its place.
//! * Handles of teams and contexts are the engine's integers plus one, as pointers, so that zero is the invalid one.
//! * Nothing checks what the engine checks: a mistake that the standard gives a code gets the code, any other ends the job with
//!   one line.
//!
//! The crate is part of the one static library that C programs are linked with (`mpi-rt/c`): a Rust runtime in two libraries
//! would define its symbols twice. `shmem.h` and what it includes are in `include`.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]

extern crate alloc;

mod active_set;
mod arch;
mod atomic;
mod collective;
mod families;
mod handle;
mod lifetime;
mod memory;
mod order;
mod remote;
mod signal;
mod team;
mod wait;
