//! Fetching a node's files out of its memory.

use std::fs;
use std::path::Path;

use lwk_files::{Files, PAGE_BYTES, Page};

use super::{Back, OwnPages, bring_back, describe, lost, tell_lost};
use crate::failure::{Doing, Outcome};

/// A piece of a node's file system: pages of 4 KiB, their physical address, and their checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub pages: u32,
    pub address: u64,
    pub sum: u64,
}

impl Piece {
    /// Reads the number and the text of the record ([`lwk_abi::console::FILES`]); nothing if it is none.
    pub fn parse(pages: u32, text: &str) -> Option<Piece> {
        let word = |name: &str| {
            let value = text.split(' ').find_map(|word| word.strip_prefix(name))?;
            u64::from_str_radix(value.strip_prefix("=0x")?, 16).ok()
        };
        Some(Piece { pages, address: word("address")?, sum: word("sum")? })
    }

    /// The pages in `bytes`, which were read from the node's memory. Errors: too few bytes or too many, or another checksum.
    pub fn pages_in(&self, bytes: &[u8]) -> Outcome<Vec<Page>> {
        let (pages, rest) = bytes.as_chunks::<PAGE_BYTES>();
        if pages.len() != self.pages as usize || !rest.is_empty() {
            return Err(lost("the node's memory was not read as a whole"));
        }
        let sum = pages.iter().fold(0, |sum: u64, page| sum.rotate_left(1) ^ lwk_files::checksum(page));
        if sum != self.sum {
            return Err(lost("they were damaged on the way"));
        }
        Ok(pages.to_vec())
    }
}

/// Fetches a node's files out of its memory by QEMU's monitor, and writes those that come back. `scratch` is a file for QEMU; what
/// was changed since `since_ns`, and is lost, is told.
pub fn fetch(
    monitor: &mut crate::qmp::Monitor,
    pieces: &[Piece],
    scratch: &Path,
    folders: &[Back],
    since_ns: u64,
) -> Outcome<()> {
    if pieces.is_empty() {
        return Err(lost("the node did not say where they are"));
    }
    let mut pages = OwnPages::default();
    for piece in pieces {
        let size = u64::from(piece.pages) * PAGE_BYTES as u64;
        let arguments = serde_json::json!({ "val": piece.address, "size": size, "filename": scratch });
        monitor.command("pmemsave", arguments)?;
        let bytes = fs::read(scratch).doing(|| format!("read {}", scratch.display()))?;
        pages.0.extend(piece.pages_in(&bytes)?);
    }
    let files = Files::open(&mut pages).map_err(|error| lost(&describe(error)))?;
    tell_lost(&files, since_ns, folders);
    bring_back(&files, folders)
}
