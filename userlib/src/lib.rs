//! What a program sees.
#![no_std]
