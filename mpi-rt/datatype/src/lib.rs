//! MPI datatypes and reduction operations as pure logic (MPI 5.0, chapters "Datatypes" and "Collective Communication").
//!
//! A [`Datatype`] is an immutable reference-counted value made by the constructors and decoded by [`Datatype::contents`].
//! Committing it writes its layout as an array of words without pointers ([`LayoutView`]), which a peer that sees this rank's
//! memory can walk in place. A [`Region`] is a buffer: an address, a layout, a count. A [`Transfer`] moves a message from one
//! region to another with one copy, whatever their layouts; [`pack`] and [`unpack`] have plain bytes on one side and start at
//! any byte. [`pack_external`] and [`unpack_external`] convert to and from the standard's portable form. [`op`] has the reductions.
//!
//! Nothing panics on a caller's mistake: an [`Error`] carries the MPI class and one line of reason. Handles, names, attributes
//! and error handlers are the runtime's. Only `memory`, `blocks`, `packed`, `transfer`, `external32` and `op` touch memory, through raw addresses
//! and under written contracts; the rest cannot.
#![no_std]
#![deny(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

mod array;
mod basic;
mod bounds;
mod construct;
mod contents;
mod cursor;
mod datatype;
mod error;
mod external32;
mod fortran;
mod layout;
mod memory;
mod node;
pub mod op;
mod overlap;
mod packed;
mod represented;
mod signature;
mod transfer;

pub use array::{
    DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG, DISTRIBUTE_NONE, Distribution, Order,
};
pub use basic::{Basic, Group, Pair, Predefined, Scalar};
pub use contents::{Combiner, Form};
pub use cursor::{Cursor, Piece};
pub use datatype::{Contents, Datatype};
pub use error::{Class, Error, Result};
pub use external32::{pack_external, unpack_external, unpack_external_part};
pub use fortran::{TypeClass, UNDEFINED, f90_complex, f90_integer, f90_real, match_size, value_index};
pub use layout::LayoutView;
pub use memory::{Memory, Nest, Plain, Round, Scattered, Shape};
pub use signature::{Fingerprint, Match};
pub use transfer::{Region, Transfer, pack, pack_all, unpack, unpack_all};
