//! Files that go when the job ends: what it has written where nothing comes back from.

use core::fmt;

use lwk_abi::syscall::errno::EIO;

use crate::path::PATH_MAX;
use crate::{Errno, Files, Kind, NodeId, Pages, Result};

/// Where nobody expects a file to outlive its job.
const SCRATCH: &[u8] = b"/tmp";
/// Most files that are named.
const NAMED_MAX: u32 = 4;

impl<P: Pages> Files<'_, P> {
    /// Says which files outside of the folders `kept` and of `/tmp` have been changed at `since_ns` or later, in nanoseconds since the Unix
    /// epoch: a few paths with commas between them, then how many more. Returns how many there are.
    ///
    /// # Errors
    /// `EIO` for a damaged file system.
    pub fn strays(&self, since_ns: u64, kept: &[&[u8]], out: &mut impl fmt::Write) -> Result<u32> {
        let is_kept =
            |id: NodeId| kept.iter().chain([&SCRATCH]).any(|path| self.find(NodeId::ROOT, path) == Ok(id));
        let (mut folder, mut at) = (NodeId::ROOT, self.node(NodeId::ROOT)?.child);
        let (mut count, mut steps) = (0, 0u64);
        while !(at.is_none() && folder == NodeId::ROOT) {
            steps += 1;
            // Every node is seen twice at most: a ring's would be for ever.
            if steps > u64::from(self.used_pages()) * 16 {
                return Err(Errno(EIO));
            }
            if at.is_none() {
                let done = self.node(folder)?;
                (folder, at) = (done.parent, done.next);
                continue;
            }
            let node = self.node(at)?;
            match node.kind {
                Kind::Folder if !is_kept(at) => (folder, at) = (at, node.child),
                Kind::File if node.changed_ns >= since_ns => {
                    if count < NAMED_MAX {
                        let comma = if count > 0 { ", " } else { "" };
                        let mut path = [0; PATH_MAX];
                        let path = Whole(self.path_of(at, &mut path)?);
                        write!(out, "{comma}{path}").map_err(|_| Errno(EIO))?;
                    }
                    count += 1;
                    at = node.next;
                }
                _ => at = node.next,
            }
        }
        if count > NAMED_MAX {
            write!(out, " and {} more", count - NAMED_MAX).map_err(|_| Errno(EIO))?;
        }
        Ok(count)
    }
}

/// A path in a line of text: control characters and what is not UTF-8 read as `?`.
struct Whole<'a>(&'a [u8]);

impl fmt::Display for Whole<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |text: &str, f: &mut fmt::Formatter<'_>| {
            text.chars().try_for_each(|it| fmt::Write::write_char(f, if it.is_control() { '?' } else { it }))
        };
        for chunk in self.0.utf8_chunks() {
            show(chunk.valid(), f)?;
            if !chunk.invalid().is_empty() {
                fmt::Write::write_char(f, '?')?;
            }
        }
        Ok(())
    }
}
