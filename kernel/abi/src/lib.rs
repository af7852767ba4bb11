//! The contract between kernel, programs and host tools: the address map, the job page, the job file, system call
//! numbers, the console's line format and exit statuses. Constants and shared structures only; no code that runs.
//!
//! Every part of the house depends on this crate and this crate depends on nothing, so a fact stands here once.
#![no_std]
#![forbid(unsafe_code)]

pub mod address;
pub mod console;
pub mod engine;
pub mod exit;
pub mod job_file;
pub mod job_page;
pub mod limic;
pub mod portals;
pub mod runtime;
pub mod syscall;
