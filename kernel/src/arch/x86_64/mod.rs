//! x86-64: descriptor tables, entry and exit of the kernel, page-table root, APIC, clock, and the copy loops that touch
//! user memory.

pub mod ap_trampoline;
pub mod back_trace;
pub mod checksum;
pub mod clock;
pub mod configuration_ports;
pub mod copy;
pub mod core_block;
pub mod debug_exit;
pub mod descriptors;
pub mod early;
pub mod entry;
pub mod exceptions;
pub mod extended_state;
pub mod features;
pub mod interrupt_controller;
pub mod interrupts;
pub mod linear_map;
pub mod machine_check;
pub mod management_interrupts;
pub mod paging;
mod ports;
pub mod power;
pub mod random;
pub mod serial;
pub mod signal_code;
pub mod start_cores;
pub mod topology;
pub mod trap_frame;
pub mod user_state;
