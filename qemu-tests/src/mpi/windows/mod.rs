//! The tests of one-sided communication.

mod calls;
pub mod epochs;
pub mod kinds;
pub mod layouts;
pub mod misuse;
pub mod random;
pub mod updates;
