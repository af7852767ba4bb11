//! `cargo lwk bench`: measures, and prints figures beside their targets or floors. Each file is one of its words.

#![forbid(unsafe_code)]
// They panic when nobody listens: see `lwk::tell`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
extern crate lwk;

pub mod boot;
pub mod cli;
mod figure;
pub mod figures;
pub mod host;
pub mod instructions;
mod legend;
pub mod linux_guest;
pub mod nested;
pub mod node;
pub mod noise;
mod out;
pub mod paths;
pub mod peers;
mod place;
pub mod portals;
mod skew;
pub mod tune;
