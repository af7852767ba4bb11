//! Paths: names apart by slashes, from a folder or from the root.

use lwk_abi::syscall::errno::{EEXIST, EINVAL, EIO, ENAMETOOLONG, ENOENT, ENOTDIR};

use crate::node::{Kind, NodeId};
use crate::{Errno, Files, Pages, Result};

/// Most bytes of a name (Linux's `NAME_MAX`).
pub const NAME_MAX: usize = 255;
/// Most bytes of a path with its NUL (Linux's `PATH_MAX`).
pub const PATH_MAX: usize = 4096;
/// Most folders above a node; a damaged image may have a ring.
const DEPTH_MAX: usize = PATH_MAX / 2;

/// The names of a path, without those that mean nothing: empty ones and `.`.
pub fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".")
}

/// A path without slashes at its end, and whether there were any.
fn trimmed(path: &[u8]) -> (&[u8], bool) {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    (&path[..end], end < path.len())
}

impl<P: Pages> Files<'_, P> {
    /// The node that `path` leads to from the folder `at`, or from the root if it begins with a slash.
    ///
    /// # Errors
    /// `ENOENT`, `ENOTDIR`, `ENAMETOOLONG`.
    pub fn find(&self, at: NodeId, path: &[u8]) -> Result<NodeId> {
        if path.is_empty() {
            return Err(Errno(ENOENT));
        }
        let mut id = if path.first() == Some(&b'/') { NodeId::ROOT } else { at };
        let walked = components(path).try_fold(id, |folder, name| self.step(folder, name))?;
        id = walked;
        let (_, ends_with_slash) = trimmed(path);
        let names_folder = ends_with_slash || path.ends_with(b"/.");
        if names_folder && self.node(id)?.kind != Kind::Folder {
            return Err(Errno(ENOTDIR));
        }
        Ok(id)
    }

    /// The folder that holds what `path` names, whether that exists or not, and the name there.
    ///
    /// # Errors
    /// As [`Files::find`]; `EEXIST` for the root, `EINVAL` if the last name is `.` or `..`.
    pub fn parent_of<'p>(&self, at: NodeId, path: &'p [u8]) -> Result<(NodeId, &'p [u8])> {
        if path.is_empty() {
            return Err(Errno(ENOENT));
        }
        let (path, _) = trimmed(path);
        let split = path.iter().rposition(|byte| *byte == b'/');
        let (folder, name) = match split {
            Some(slash) => (self.find(at, &path[..=slash])?, &path[slash + 1..]),
            None => (at, path),
        };
        match name {
            b"" => Err(Errno(EEXIST)),
            b"." | b".." => Err(Errno(EINVAL)),
            _ if name.len() > NAME_MAX => Err(Errno(ENAMETOOLONG)),
            _ if self.node(folder)?.kind != Kind::Folder => Err(Errno(ENOTDIR)),
            _ => Ok((folder, name)),
        }
    }

    /// Writes the path of a folder into `buffer`, to its end, and returns it.
    ///
    /// # Errors
    /// `ENOENT` if the folder has been removed, `ENAMETOOLONG` if the buffer is too short.
    pub fn path_of<'b>(&self, id: NodeId, buffer: &'b mut [u8]) -> Result<&'b [u8]> {
        let mut start = buffer.len();
        let mut put = |bytes: &[u8]| {
            let from = start.checked_sub(bytes.len()).ok_or(Errno(ENAMETOOLONG))?;
            buffer.get_mut(from..start).ok_or(Errno(EIO))?.copy_from_slice(bytes);
            start = from;
            Ok(())
        };
        let mut at = id;
        for _ in 0..DEPTH_MAX {
            if at == NodeId::ROOT {
                if id == NodeId::ROOT {
                    put(b"/")?;
                }
                return Ok(&buffer[start..]);
            }
            let node = self.node(at)?;
            if node.parent.is_none() {
                return Err(Errno(ENOENT));
            }
            put(self.name(at)?)?;
            put(b"/")?;
            at = node.parent;
        }
        Err(Errno(EIO))
    }

    /// Whether `id` is `folder` or lies somewhere below it.
    pub(crate) fn is_within(&self, id: NodeId, folder: NodeId) -> Result<bool> {
        let mut at = id;
        for _ in 0..DEPTH_MAX {
            if at == folder {
                return Ok(true);
            }
            if at == NodeId::ROOT || at.is_none() {
                return Ok(false);
            }
            at = self.node(at)?.parent;
        }
        Err(Errno(EIO))
    }

    fn step(&self, folder: NodeId, name: &[u8]) -> Result<NodeId> {
        let node = self.node(folder)?;
        if node.kind != Kind::Folder {
            return Err(Errno(ENOTDIR));
        }
        if name.len() > NAME_MAX {
            return Err(Errno(ENAMETOOLONG));
        }
        if name == b".." {
            return if node.parent.is_none() { Err(Errno(ENOENT)) } else { Ok(node.parent) };
        }
        self.child(folder, name)?.ok_or(Errno(ENOENT))
    }
}
