//! The node's in-memory file system: one tree of folders and files that all ranks of a job see.
//!
//! Everything, names and sizes included, lies in pages of 4 KiB that refer to each other by number ([`Pages`]), so a file
//! system is also its own image: the host tool makes one with the files a job is given, the node works on it, and the host
//! tool reads what the job has left. The kernel keeps the pages in its own memory, the host home in memory that its ranks'
//! processes share; the caller has a lock around all of it.
//!
//! Semantics are POSIX's as far as there is something to keep: regular files with holes, folders, names of up to 255 bytes,
//! `rename` over what is there, files that live on while they are open, hard and symbolic links, locks. There are no owners, no times but that
//! of the last change, and permissions are recorded only. Files that the kernel makes up as they are read (`/proc`, `/dev`) are
//! nodes with a [`Special`], whose content is the caller's part.
//!
//! No image makes this crate panic or loop for ever: a damaged one is answered `EIO`.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod content;
mod folder;
mod link;
mod lock;
mod node;
mod page;
mod pages;
mod path;
mod special;
mod strays;

pub use folder::Entry;
pub use link::NAMES_MAX;
pub use lock::{LOCKS_MAX, Lock, LockKind};
pub use node::{Kind, NAME_MAX, Node, NodeId};
pub use page::{PAGE_BYTES, Page, Pages};
pub use pages::checksum;
pub use path::{LINKS_MAX, Name, PATH_MAX, components};
pub use special::Special;

/// Why an operation failed: a Linux error number, positive (`lwk_abi::syscall::errno`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i64);

/// What an operation answers.
pub type Result<T> = core::result::Result<T, Errno>;

/// A file system in pages.
#[derive(Debug)]
pub struct Files<'a, P: Pages> {
    pages: &'a mut P,
}
