//! `stat(2)` and its kin.

use lwk_abi::syscall::errno::EINVAL;
use lwk_files::{Kind, Node, NodeId, PAGE_BYTES, Special};

use crate::descriptors::Target;
use crate::file::Path;
use crate::machine::Machine;
use crate::process::Process;
use crate::{Answer, CURRENT_FOLDER, Errno};

/// Linux's `AT_SYMLINK_NOFOLLOW`.
pub const NO_FOLLOW: u32 = 0x100;
/// Linux's `AT_EMPTY_PATH`: an empty path names the descriptor itself.
const EMPTY_PATH: u32 = 0x1000;
/// Linux's `AT_NO_AUTOMOUNT`.
const NO_AUTOMOUNT: u32 = 0x800;

// Linux's types of files in `st_mode`.
const CHARACTERS: u32 = 0o020_000;
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

/// Device number of the file system, and that of the console.
const FILES_DEVICE: u64 = 1;
const CONSOLE_DEVICE: u64 = 5 << 8 | 1;
/// Bytes of `struct stat`.
const STAT_BYTES: usize = 144;
/// What `st_blocks` counts in.
const BLOCK_BYTES: u64 = 512;

/// What is told of a file.
struct Facts {
    id: NodeId,
    mode: u32,
    device: u64,
    node: Node,
}

impl Facts {
    fn of_node(id: NodeId, node: Node) -> Facts {
        let mode = match node.kind {
            Kind::Folder => FOLDER,
            Kind::Link => LINK,
            Kind::Special if Special::from_number(node.special).is_some_and(Special::is_device) => CHARACTERS,
            Kind::File | Kind::Special | Kind::Free => FILE,
        };
        let device = if mode == CHARACTERS { 1 << 8 | u64::from(node.special) } else { 0 };
        Facts { id, mode: mode | u32::from(node.mode), device, node }
    }

    fn of_console() -> Facts {
        Facts { id: NodeId::NONE, mode: CHARACTERS | 0o620, device: CONSOLE_DEVICE, node: Node::default() }
    }

    fn encode(&self) -> [u8; STAT_BYTES] {
        let node = &self.node;
        let mut bytes = [0; STAT_BYTES];
        let mut word = |at: usize, value: u64| {
            if let Some(place) = bytes.get_mut(at..at + 8) {
                place.copy_from_slice(&value.to_le_bytes());
            }
        };
        let links = if node.kind == Kind::Folder {
            2
        } else {
            u64::from(!node.parent.is_none() || self.id.is_none())
        };
        let (seconds, nanoseconds) = (node.changed_ns / 1_000_000_000, node.changed_ns % 1_000_000_000);
        word(0, FILES_DEVICE);
        word(8, self.id.0.into());
        word(16, links);
        // Mode and user; group and padding are zero.
        word(24, self.mode.into());
        word(40, self.device);
        word(48, node.size);
        word(56, PAGE_BYTES as u64);
        word(64, u64::from(node.page_count) * (PAGE_BYTES as u64 / BLOCK_BYTES));
        for at in [72, 88, 104] {
            word(at, seconds);
            word(at + 8, nanoseconds);
        }
        bytes
    }
}

impl Process {
    /// `newfstatat(2)`, and `stat(2)` and `lstat(2)` by it.
    #[inline(never)]
    pub(crate) fn stat<M: Machine>(
        &mut self,
        machine: &M,
        folder: u32,
        path: u64,
        target: u64,
        flags: u32,
    ) -> Answer {
        if flags & !(NO_FOLLOW | EMPTY_PATH | NO_AUTOMOUNT) != 0 {
            return Err(Errno(EINVAL));
        }
        let path = Path::read(machine, path)?;
        if path.bytes().is_empty() && flags & EMPTY_PATH != 0 && folder != CURRENT_FOLDER {
            return self.stat_open(machine, folder, target);
        }
        let base = self.base(folder, path.bytes())?;
        let facts = machine.files(|files| {
            let id = match path.bytes() {
                b"" if flags & EMPTY_PATH != 0 => base,
                path => files.find(base, path)?,
            };
            let node = files.node(id)?;
            if node.kind == Kind::Link && flags & NO_FOLLOW == 0 {
                // Where it leads there is nothing.
                return Err(Errno(lwk_abi::syscall::errno::ENOENT));
            }
            Ok(Facts::of_node(id, node))
        })?;
        put(machine, target, &facts)
    }

    /// `fstat(2)`.
    pub(crate) fn stat_open<M: Machine>(&mut self, machine: &M, fd: u32, target: u64) -> Answer {
        let facts = match self.descriptors.get(fd)?.target {
            Target::Input | Target::Output(_) => Facts::of_console(),
            Target::File(id) | Target::Folder(id) | Target::Special(_, id) => {
                Facts::of_node(id, machine.files(|files| files.node(id))?)
            }
        };
        put(machine, target, &facts)
    }
}

fn put<M: Machine>(machine: &M, target: u64, facts: &Facts) -> Answer {
    machine.write(target, &facts.encode())?;
    Ok(0)
}
