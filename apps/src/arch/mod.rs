//! The machine, for the program that breaks its rules on purpose, and for the one that looks at it: the only place of the programs with assembly.

pub mod x86_64;
