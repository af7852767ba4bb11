//! What protocols without locks are written over: [`machine`] has the machine's atomics and shared data that is not atomic; `model`
//! (feature `loom`) has stand-ins that watch every access, under the same names, and what models share. Two more need no model: [`own`] has words that
//! one rank alone touches, [`word`] the updates of words of the program, whose protocol is the program's.
//!
//! A crate with protocols names one of the two `primitive`, so that what its models check is what its users run:
//!
//! ```ignore
//! #[cfg(not(all(test, feature = "loom")))]
//! use lwk_primitive::machine as primitive;
//! #[cfg(all(test, feature = "loom"))]
//! use lwk_primitive::model as primitive;
//! ```
//!
//! Stand-ins are made at run time only. [`made!`] and [`array!`] make what is constant with the machine's.
#![no_std]
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "where protocols have them from")]

#[cfg(feature = "loom")]
extern crate std;

pub mod machine;
#[cfg(feature = "loom")]
pub mod model;
pub mod own;
pub mod word;

/// Defines a function without arguments that is `const`, but for the model checker.
#[macro_export]
macro_rules! made {
    ($(#[$attribute:meta])* $see:vis fn $name:ident() -> $it:ty $body:block) => {
        $(#[$attribute])*
        #[cfg(not(all(test, feature = "loom")))]
        $see const fn $name() -> $it $body

        $(#[$attribute])*
        #[cfg(all(test, feature = "loom"))]
        $see fn $name() -> $it $body
    };
}

/// An array of so many of what the expression makes: a constant, but for the model checker.
#[macro_export]
macro_rules! array {
    ($each:expr; $length:expr) => {{
        #[cfg(not(all(test, feature = "loom")))]
        let all = [const { $each }; $length];
        #[cfg(all(test, feature = "loom"))]
        let all = core::array::from_fn(|_| $each);
        all
    }};
}
