//! `cargo lwk`: builds, boots, runs, tests and measures Margay.
//!
//! Everything the command does is in this library, so that its parts can be tested; `main` only calls it. The way of a
//! job through the modules: [`cli`] reads what is asked for, [`run`] finds the program ([`catalog`]), builds
//! ([`toolchain`], [`build`]), makes the disk image ([`job`], [`strip`], [`image`]) and starts the node ([`accel`],
//! [`memory`], [`qemu`]); [`session`] listens to it ([`console`], [`symbols`], [`report`], [`qmp`], [`screen`]) and
//! judges its end.
//! With `--host`, [`host`] runs the program on this machine instead.
#![deny(unsafe_op_in_unsafe_fn)]
// They panic when nobody listens: see `tell`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
pub mod tell;

pub mod accel;
pub mod bench;
pub mod boot_tests;
pub mod build;
pub mod catalog;
pub mod cc;
pub mod child;
pub mod cli;
pub mod console;
pub mod debs;
pub mod emulator;
pub mod failure;
mod files;
pub mod host;
pub mod image;
pub mod job;
pub mod lint;
pub mod memory;
pub mod packages;
pub mod profile;
pub mod progress;
pub mod qemu;
pub mod qmp;
pub mod report;
pub mod run;
pub mod scoreboard;
pub mod screen;
pub mod session;
pub mod strip;
pub mod symbols;
pub mod toolchain;
pub mod tree;
