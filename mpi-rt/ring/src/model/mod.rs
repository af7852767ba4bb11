//! The protocols under the model checker: loom fails these if data can be read and written at the same time, or if somebody waits for ever.

mod announcement;
mod exchange;
mod lines;
mod meeting;
mod notes;
mod posts;
mod published;
mod reply;
mod ring;
mod turns;
