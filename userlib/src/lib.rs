//! What a program sees: start-up, system calls, heap, printing, clock, the job page and SMARTMAP.
//!
//! A program is a static ELF file that both homes run unchanged: the kernel, and the loader on a Linux host. Everything a
//! rank needs to know about itself and its peers stands in the job page, so the only system calls a running program makes
//! are the ones it asks for. A rank is one thread of control: there are no threads, signals or fork. The only concurrency
//! is that of the peers, who reach this rank's memory with loads and stores ([`smartmap`]).
//!
//! ```ignore
//! #![no_std]
//! #![no_main]
//! use lwk_user::{job, println, start::Env};
//!
//! lwk_user::entry!(main);
//!
//! fn main(_env: &Env) {
//!     println!("rank {} of {}", job().rank(), job().size());
//! }
//! ```
//!
//! Built for any other system than `none` (for host tests), the crate leaves out the entry point, the panic handler and
//! the global allocator. With the feature `c-program` it leaves out entry point and allocator, which are the C library's there.
#![cfg_attr(not(test), no_std)]
#![allow(
    clippy::disallowed_types,
    reason = "has the barrier's protocol with its model, and says which types programs may share"
)]

extern crate alloc;

#[cfg(target_os = "none")]
mod alone;
mod arch;
pub mod barrier;
pub mod clock;
pub mod copy;
pub mod engine;
pub mod errno;
pub mod heap;
pub mod job;
pub mod limic;
#[cfg(target_os = "none")]
mod panic;
pub mod portals;
mod primitive;
pub mod print;
pub mod smartmap;
pub mod start;
pub mod syscall;
pub mod wait;

pub use errno::Errno;
pub use job::{NodeRank, Rank, job};
pub use lwk_abi as abi;
pub use start::Env;
