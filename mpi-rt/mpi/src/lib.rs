//! MPI for Rust programs, by its name: what a program needs of `lwk_mpi_rt`, whose module `mpi` is the face, and nothing of the engine.
//!
//! Typed buffers, requests that borrow what they use, results instead of codes; the module's own page says what is promised, with examples.
//! An error is a class of the standard (MPI-5.0, section 9.4) that prints itself.
#![no_std]
#![forbid(unsafe_code)]

pub use lwk_mpi_rt::error::{Error, Result};
pub use lwk_mpi_rt::mpi::*;
pub use lwk_mpi_rt::record;
