//! The calls on a home of the test's own: one rank with two megabytes of memory and a clock that moves when it is told to.
//!
//! What a call answers is Linux's (its manual page, section 2); the numbers below are those of Linux's x86-64 headers.

mod decoding;
mod engine;
mod files;
mod home;
mod identity;
mod limic;
mod margay;
mod memory;
mod signals;
mod waiting;
