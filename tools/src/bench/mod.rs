//! `cargo lwk bench`: measures, and prints figures beside their targets or floors. Each file is one of its words.

pub mod boot;
pub mod host;
pub mod instructions;
mod legend;
pub mod linux_guest;
pub mod node;
pub mod peers;
