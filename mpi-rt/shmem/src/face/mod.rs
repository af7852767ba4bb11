//! The Rust face: objects of the symmetric heap that free themselves, teams that end themselves, results instead of codes.
//!
//! ```ignore
//! let shmem = lwk_shmem::init(env)?;
//! let counter = shmem.atomic::<u64>()?;
//! counter.add(Pe::new(0).unwrap(), 1);
//! shmem.barrier();
//! ```

mod atomic;
mod error;
mod session;
mod slice;
mod team;

pub use crate::engine::{And, BadSetting, Complex, Max, Min, Or, Prod, Sum, Xor};
pub use atomic::{Compare, LockGuard, SymAtomic, SymLock};
pub use error::Error;
pub use session::{Pe, Shmem, init};
pub use slice::SymSlice;
pub use team::Team;
