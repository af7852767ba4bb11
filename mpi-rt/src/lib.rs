//! The engine of message passing, below subsystems of their own ([`mod@subsystem`]) and the faces.
//!
//! The engine knows transports, matching, requests, communicators, collectives. Its calls take integers
//! ([`handle::Handle`]) and raw buffers and return error classes ([`error::Error`]); their numbers are those of the MPI-5.0
//! application binary interface ([`abi`]), so that a C face only converts arguments. `lwk_mpi` is the face for Rust.
//!
//! A rank is one thread, so the engine is one object behind [`engine::with`]; what peers reach lies in symmetric statics and
//! in memory published through them. Nothing here panics on a caller's mistake: it is an error class.
#![no_std]

extern crate alloc;

pub mod activity;
mod ahead;
pub mod buffer;
pub mod buffered;
pub mod called;
mod cancel;
pub mod collective;
pub mod communicators;
mod compact;
mod counts;
pub mod creation;
pub mod datatype;
pub mod datatypes;
mod deferred;
pub mod duplication;
pub mod engine;
mod exchange;
mod handed;
pub mod hardware;
mod intercommunicator;
mod objects;
pub mod operation;
pub mod pack;
mod persistent;
pub mod portals_atomic;
pub mod probe;
mod progress;
pub mod receive;
mod report;
pub mod request;
pub mod send;
pub mod session;
pub mod short;
pub mod subsystem;
mod topologies;
mod type_constructors;
pub mod wait;
pub mod waiting;

pub use lwk_datatype::{Distribution, Form};
pub use lwk_mpi_communicator::{communicator, group};
pub use lwk_mpi_core::{
    Error, Handle, Result, abi, attribute, error, error_code, error_handler, forget, handle, info, local,
    name, object, status,
};
pub use lwk_mpi_topology as topology;
pub use lwk_path as path;
