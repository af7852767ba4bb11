//! Devices.

pub mod screen;
pub mod serial;
