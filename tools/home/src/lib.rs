//! The host home: runs programs built for Margay, unchanged and at full speed, as Linux processes.
//!
//! Each rank is a process whose slot 0 is a shared memory object, mapped at the addresses it has on the kernel; every
//! rank's object is mapped at its slot in all of them. The job page is filled in, ranks are pinned to cores, and system
//! calls reach the loader (syscall user dispatch), which answers as the kernel does. After the start nothing of the loader
//! is on a program's path but its system calls.
//!
//! Three kinds of process:
//! * the host tool, which calls [`Home::start`] and reads records off [`Home::console`] as off a node's serial line;
//! * the node ([`node`]): the same executable, started again; it makes the memory and the ranks and watches over them;
//! * the ranks ([`rank`]): forked from the node, so that they find every slot mapped; or, under valgrind ([`tool`]), the same
//!   executable once more.
//!
//! Whoever dies, the rest goes with it: the node when the host tool's end of its input closes, the ranks by their parent's
//! death signal. Memory objects have no name and vanish with the last process.
//!
//! The layout of a rank, its heap and its failure report are the kernel's own: crates `lwk-mm`, `lwk-elf`, `lwk-job`,
//! `lwk-failure`; so are its system calls and files: `lwk-personality`, `lwk-files`.
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "processes of the host home share its board, ranks do not"
)]

pub mod arch;
pub mod bench;
mod board;
mod call_sites;
mod calls;
mod clock;
mod console;
mod device;
mod engine;
mod fault;
mod files;
mod handlers;
mod home;
mod machine;
mod memory;
mod network;
mod node;
mod own_files;
mod pages;
mod peer_memory;
mod rank;
mod segment;
mod setup;
mod signals;
mod supervise;
mod tool;
mod topology;

pub use files::{SharedPages, Volume};
pub use home::{Home, Surroundings, Tools, become_node};
pub use network::{Plug, Sockets, Wires};
pub use setup::{HOST_LACKS, SetupError};
pub use tool::Valgrind;
pub use topology::usable_cores;
