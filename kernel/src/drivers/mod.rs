//! Devices that are the same on every processor.

pub mod screen;
