//! The bundled programs.
#![no_std]
