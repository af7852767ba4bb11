//! `cargo lwk`: builds, boots and runs Margay; tests and measures it through the crates `lwk-check` and `lwk-bench`.
//!
//! Everything this program does is in its library, so that its parts can be tested; `main` only calls it. Jobs on this machine (`--host`, `up`,
//! `mpiexec`; crate `lwk-host`), tests and benchmarks are programs of their own ([`delegate`]), so that a boot in QEMU does not build them; they use
//! this library. The way of a
//! job through the modules: [`cli`] reads what is asked for, [`run`] finds the program ([`catalog`]), builds
//! ([`toolchain`], [`build`]), makes the disk image ([`job`], [`strip`], [`image`]) and starts the node ([`accel`],
//! [`memory`], [`qemu`]); [`session`] listens to it ([`console`], [`symbols`], [`report`], [`qmp`], [`screen`]) and
//! judges its end. [`install`] lays command, compilers ([`cc`]) and what they need in a folder, where programs find them ([`loader`]).
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(clippy::disallowed_types, reason = "threads of the command; no ranks")]
// They panic when nobody listens: see `tell`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
pub mod tell;

pub mod accel;
pub mod build;
pub mod catalog;
pub mod cc;
pub mod child;
pub mod cli;
pub mod console;
pub mod debs;
pub mod delegate;
mod drawing;
pub mod emulator;
pub mod failure;
pub mod files;
mod first_word;
pub mod foreign;
pub mod fortran;
pub mod image;
pub mod install;
pub mod job;
pub mod loader;
pub mod memory;
pub mod nodes;
pub mod packages;
pub mod profile;
pub mod program;
pub mod progress;
pub mod qemu;
pub mod qmp;
pub mod report;
pub mod reports;
pub mod run;
pub mod screen;
pub mod session;
pub mod strip;
pub mod subcommand;
pub mod switch;
pub mod symbols;
pub mod toolchain;
pub mod tree;
pub mod tuning;
