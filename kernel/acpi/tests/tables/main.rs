//! Tables of machines that exist, and broken ones.

mod broken;
mod build;
mod console;
mod entries;
mod event_timer;
mod exercise;
mod machines;
mod power;
