//! The switch (`lwk-switch`) as a command, and what other commands' options say of it.

pub mod command;

pub use lwk_switch::{PortCounts, Seen, Settings, Setup, Switch};
