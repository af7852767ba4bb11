//! `stat(2)` and its kin.

use lwk_abi::syscall::at::{CURRENT_FOLDER, EMPTY_PATH, NO_AUTOMOUNT, NO_FOLLOW};
use lwk_abi::syscall::errno::EINVAL;
use lwk_files::{Kind, Node, NodeId, PAGE_BYTES, Special};

use crate::descriptors::Target;
use crate::file::Path;
use crate::machine::Machine;
use crate::process::Process;
use crate::{Answer, Errno};

// Linux's types of files in `st_mode`.
const CHARACTERS: u32 = 0o020_000;
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
const PIPE: u32 = 0o010_000;

/// Device number of the file system, and that of the console.
const FILES_DEVICE: u64 = 1;
const CONSOLE_DEVICE: u64 = 5 << 8 | 1;
/// Major number of Linux's memory devices.
const MEMORY_DEVICES: u64 = 1 << 8;
/// Bytes of `struct stat`.
const STAT_BYTES: usize = 144;
/// Bytes of `struct statx`, the mask of what it always tells (`STATX_BASIC_STATS`), and the bit that no program may ask for.
const STATX_BYTES: usize = 256;
const BASIC_STATS: u32 = 0x7ff;
const STATX_RESERVED: u64 = 0x8000_0000;
/// `AT_STATX_SYNC_TYPE`: how fresh it must be, which it always is.
const SYNC_TYPE: u32 = 0x6000;
/// What `st_blocks` counts in.
const BLOCK_BYTES: u64 = 512;

/// Linux's number of a device, by which programs know `/dev/null`; none of a text.
fn device_number(special: Special) -> Option<u64> {
    match special {
        Special::Null => Some(MEMORY_DEVICES | 3),
        Special::Zero => Some(MEMORY_DEVICES | 5),
        Special::Random => Some(MEMORY_DEVICES | 9),
        Special::StandardInput | Special::StandardOutput | Special::StandardError => Some(CONSOLE_DEVICE),
        Special::Maps
        | Special::Status
        | Special::Program
        | Special::Processors
        | Special::Memory
        | Special::Online => None,
    }
}

/// What is told of a file.
struct Facts {
    id: NodeId,
    mode: u32,
    device: u64,
    node: Node,
}

impl Facts {
    fn of_node(id: NodeId, node: Node) -> Facts {
        let device = match node.kind {
            Kind::Special => Special::from_number(node.special).and_then(device_number),
            _ => None,
        };
        let mode = match node.kind {
            Kind::Folder => FOLDER,
            Kind::Link => LINK,
            Kind::Special if device.is_some() => CHARACTERS,
            Kind::File | Kind::Special | Kind::Free | Kind::Alias => FILE,
        };
        let device = device.unwrap_or(0);
        Facts { id, mode: mode | u32::from(node.mode), device, node }
    }

    fn of_console() -> Facts {
        Facts { id: NodeId::NONE, mode: CHARACTERS | 0o620, device: CONSOLE_DEVICE, node: Node::default() }
    }

    fn of_pipe() -> Facts {
        Facts { id: NodeId::NONE, mode: PIPE | 0o600, device: 0, node: Node::default() }
    }

    /// Names that lead to it.
    fn links(&self) -> u64 {
        match self.node.kind {
            Kind::Folder => 2,
            // Console and pipes are no nodes.
            _ if self.id.is_none() => 1,
            _ => u64::from(self.node.names()),
        }
    }

    /// `struct stat`.
    fn encode(&self) -> [u8; STAT_BYTES] {
        let node = &self.node;
        let mut bytes = [0; STAT_BYTES];
        let mut word = |at: usize, value: u64| put_word(&mut bytes, at, value);
        let links = self.links();
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

    /// `struct statx`.
    fn encode_extended(&self) -> [u8; STATX_BYTES] {
        let node = &self.node;
        let mut bytes = [0; STATX_BYTES];
        let mut word = |at: usize, value: u64| put_word(&mut bytes, at, value);
        let (seconds, nanoseconds) = (node.changed_ns / 1_000_000_000, node.changed_ns % 1_000_000_000);
        // Halves of words are numbers of their own, the lower one first.
        word(0, u64::from(BASIC_STATS) | (PAGE_BYTES as u64) << 32);
        word(16, self.links());
        word(24, u64::from(self.mode) << 32);
        word(32, self.id.0.into());
        word(40, node.size);
        word(48, u64::from(node.page_count) * (PAGE_BYTES as u64 / BLOCK_BYTES));
        for at in [64, 96, 112] {
            word(at, seconds);
            word(at + 8, nanoseconds);
        }
        word(128, self.device >> 8 | (self.device & 0xff) << 32);
        word(136, (FILES_DEVICE & 0xff) << 32);
        bytes
    }
}

fn put_word(bytes: &mut [u8], at: usize, value: u64) {
    if let Some(place) = bytes.get_mut(at..at + 8) {
        place.copy_from_slice(&value.to_le_bytes());
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
        let facts = self.facts(machine, folder, path, flags)?;
        put(machine, target, &facts.encode())
    }

    /// `statx(2)`: tells what `stat` does, whatever is asked for.
    #[inline(never)]
    pub(crate) fn stat_extended<M: Machine>(
        &mut self,
        machine: &M,
        folder: u32,
        path: u64,
        flags: u32,
        (mask, target): (u64, u64),
    ) -> Answer {
        if mask & STATX_RESERVED != 0 || flags & SYNC_TYPE == SYNC_TYPE {
            return Err(Errno(EINVAL));
        }
        let facts = self.facts(machine, folder, path, flags & !SYNC_TYPE)?;
        put(machine, target, &facts.encode_extended())
    }

    fn facts<M: Machine>(&self, machine: &M, folder: u32, path: u64, flags: u32) -> Result<Facts, Errno> {
        if flags & !(NO_FOLLOW | EMPTY_PATH | NO_AUTOMOUNT) != 0 {
            return Err(Errno(EINVAL));
        }
        let path = Path::read(machine, path)?;
        if path.bytes().is_empty() && flags & EMPTY_PATH != 0 && folder != CURRENT_FOLDER {
            return self.facts_of_open(machine, folder);
        }
        let base = self.base(folder, path.bytes())?;
        machine.files(|files| {
            let id = match path.bytes() {
                b"" if flags & EMPTY_PATH != 0 => base,
                path => files.find_as(base, path, flags & NO_FOLLOW != 0)?,
            };
            Ok(Facts::of_node(id, files.node(id)?))
        })
    }

    /// `fstat(2)`.
    pub(crate) fn stat_open<M: Machine>(&mut self, machine: &M, fd: u32, target: u64) -> Answer {
        let facts = self.facts_of_open(machine, fd)?;
        put(machine, target, &facts.encode())
    }

    fn facts_of_open<M: Machine>(&self, machine: &M, fd: u32) -> Result<Facts, Errno> {
        Ok(match self.descriptors.get(fd)?.target {
            Target::Input | Target::Output(_) => Facts::of_console(),
            Target::Pipe(..) => Facts::of_pipe(),
            Target::File(id) | Target::Folder(id) | Target::Special(_, id) => {
                Facts::of_node(id, machine.files(|files| files.node(id))?)
            }
        })
    }
}

fn put<M: Machine>(machine: &M, target: u64, bytes: &[u8]) -> Answer {
    machine.write(target, bytes)?;
    Ok(0)
}
