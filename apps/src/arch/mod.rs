//! The machine, for the program that breaks its rules on purpose: the only place of the programs with assembly.

pub mod x86_64;
