//! `libmpi.a`: the C interface of MPI, as thin as it can be. Each function converts its arguments, calls the engine of `lwk-mpi-rt`, and
//! hands an error to the error handler of the object it belongs to. The binary interface is the standard's own (MPI-5.0, chapter 20),
//! so that object files made with any header of it link with this library.
//!
//! [`binding`] says how a function is written down; there is one module for each group of functions, as in the standard's table of
//! contents and in `include/margay`.
//!
//! Safety. A C program keeps the contract that the standard gives each function. A pointer is null or a
//! constant of the interface where that is allowed. Any other is readable or writable for what the function
//! reads or writes there, until the operation is complete. In this crate's `# Safety` sections, readable
//! means: for a value of the pointer's type, aligned, and written by nobody meanwhile. Writable means:
//! aligned likewise, and used by nobody else meanwhile.
#![no_std]
#![expect(
    clippy::macro_metavars_in_unsafe,
    reason = "every function's body is unsafe code: its pointers are the caller's"
)]

extern crate alloc;
// Its functions are symbols of this library, too: `libsma.a` only refers to it.
extern crate lwk_shmem_c as _;
// `libportals.a` likewise.
extern crate lwk_portals_c as _;

mod abi;
mod allocator;
mod arch;
mod attributes;
mod binding;
mod buffers;
mod collectives;
mod communicators;
mod conversions;
mod datatypes;
mod environment;
mod errors;
mod files;
mod files_access;
mod files_representation;
mod generalized;
mod groups;
mod info;
mod names;
mod neighbourhoods;
mod one_sided;
mod operations;
mod packing;
mod partitioned;
mod point_to_point;
mod processes;
mod removed;
mod report;
mod requests;
mod sessions;
mod statuses;
mod stdio;
mod tools;
mod topologies;
mod types;
mod variables;
