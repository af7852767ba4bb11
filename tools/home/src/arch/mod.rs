//! The machine: the only folder of this crate with assembly.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the host home is for x86-64 Linux");

mod x86_64;

pub use x86_64::{
    Gate, Handler, ON_FAULT, ON_QUESTION, ON_REPLACED_CALL, ON_SYSTEM_CALL, call_code, called_from, crc32c,
    enter, register_stack, set_call_stack, time_stamp,
};
