//! `statfs(2)` and its kin: the file system as a whole.

use lwk_abi::syscall::at::CURRENT_FOLDER;
use lwk_files::{NAME_MAX, PAGE_BYTES};

use crate::Answer;
use crate::file::Path;
use crate::machine::{Machine, write_words};
use crate::process::Process;

/// Linux's number of a file system in memory (`TMPFS_MAGIC`), which this is.
const TYPE: u64 = 0x0102_1994;
/// Files that fit into a page of nodes: an eighth of a page each.
const FILES_A_PAGE: u64 = 8;

impl Process {
    /// `statfs(2)`: one file system, whatever the path, if it leads anywhere.
    #[inline(never)]
    pub(crate) fn volume<M: Machine>(&mut self, machine: &M, path: u64, target: u64) -> Answer {
        let path = Path::read(machine, path)?;
        let base = self.base(CURRENT_FOLDER, path.bytes())?;
        machine.files(|files| files.find(base, path.bytes()))?;
        put(machine, target)
    }

    /// `fstatfs(2)`.
    pub(crate) fn volume_open<M: Machine>(&mut self, machine: &M, fd: u32, target: u64) -> Answer {
        self.descriptors.get(fd)?;
        put(machine, target)
    }

    /// `syncfs(2)`: what is written is there.
    pub(crate) fn synchronise_volume(&mut self, fd: u32) -> Answer {
        self.usable(fd).map(|_| 0)
    }
}

/// Writes `struct statfs`. Files are made as long as there are pages, so their number is a bound.
fn put<M: Machine>(machine: &M, target: u64) -> Answer {
    let (pages, free) = machine.files(|files| Ok(files.capacity()))?;
    let (pages, free, block) = (u64::from(pages), u64::from(free), PAGE_BYTES as u64);
    let mut words = [0; 15];
    words[..3].copy_from_slice(&[TYPE, block, pages]);
    words[3..5].copy_from_slice(&[free, free]);
    words[5..7].copy_from_slice(&[pages * FILES_A_PAGE, free * FILES_A_PAGE]);
    // After the number of the file system, which it has none of: the longest name, and the unit once more.
    words[8..10].copy_from_slice(&[NAME_MAX as u64, block]);
    write_words(machine, target, words)?;
    Ok(0)
}
