//! The words of a failure report: what a rank died of, its registers and its back trace.
//!
//! The kernel and the host loader both catch a rank's fault and say the same thing about it in the same words, so the words
//! stand here once. A home hands over what the processor told it ([`Fault`], [`Registers`]) and the dead rank's layout;
//! this crate returns things that can be printed. Nothing here allocates, panics or touches memory it was not
//! given, so it may run in an exception or signal handler.
//!
//! A report is one sentence ([`Death`]), then the register lines ([`Registers::lines`]), then one back trace record
//! a frame ([`back_trace`]), innermost first.
#![no_std]
#![forbid(unsafe_code)]

mod end;
mod machine_check;
mod reason;
mod registers;
mod trace;

pub use end::End;
pub use machine_check::MachineCheck;
pub use reason::{Death, Fault, LostNode, PageFault, Reason, signal_name};
pub use registers::{RegisterLine, Registers};
pub use trace::{MAX_FRAMES, Position, back_trace};
