//! The parts of the program `check`, which a stranger boots on a machine that nobody has tried: what the machine says of itself, tests on every pair
//! of cores, and the latency between them.

pub mod heat;
pub mod latency;
pub mod machine;
pub mod pairs;
pub mod processor;
pub mod self_test;
