//! The engine: OpenSHMEM 1.5 as raw functions.
//!
//! Conventions, for the face that is built on it:
//! * names are the standard's without `shmem_`; a routine that exists for many types is generic in its element;
//! * a routine on a context is the plain one with the PE translated first: `put(dest, source, n, ctx_pe(ctx, pe))`;
//! * pointers are symmetric addresses where the standard says so, in slot 0: what a PE itself calls the object;
//! * PE numbers are `i32`; one that does not exist ends the job with a line that says so;
//! * routines are `unsafe` when they touch memory through pointers: the caller vouches for the extent, and that nobody uses
//!   the memory against the standard's rules at the same time.

mod access;
mod atomic;
mod collective;
mod context;
mod context_table;
mod copy;
mod element;
mod far;
mod fatal;
mod group;
mod heap;
mod info;
mod life;
mod lock;
mod order;
mod pair;
mod pe;
mod rma;
mod settings;
mod setup;
mod signal;
mod single;
mod strided;
mod team;
mod wait;

pub use access::{addr_accessible, pe_accessible, ptr};
pub use atomic::*;
pub use collective::*;
pub use context::*;
pub use element::{And, Complex, Element, LongDouble, Max, Min, Operation, Or, Prod, Sum, Xor};
pub use fatal::MISUSE_STATUS;
pub use heap::*;
pub use info::*;
pub use life::is_running;
pub use lock::*;
pub use order::{fence, quiet};
pub use pe::{my_pe, n_pes};
pub use rma::*;
pub use settings::{BadSetting, Settings};
pub use setup::*;
pub use signal::*;
pub use strided::*;
pub use team::*;
pub use wait::*;
