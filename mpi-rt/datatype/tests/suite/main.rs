//! The tests of the crate, in one program so that they share the model.

mod decode;
mod errors;
mod external32;
mod layout;
mod model;
mod nested;
mod op;
mod predefined;
mod represented;
mod scale;
