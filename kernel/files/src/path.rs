//! Paths: names apart by slashes, from a folder or from the root.

use lwk_abi::syscall::errno::{EEXIST, EINVAL, EIO, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR};

use crate::node::{Kind, NAME_MAX, NodeId};
use crate::{Errno, Files, Pages, Result};

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

/// Most symbolic links on the way of a path (path_resolution(7): 40).
pub const LINKS_MAX: usize = 40;

/// A name in a folder, copied.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    bytes: [u8; NAME_MAX],
    used: usize,
}

impl Name {
    fn of(name: &[u8]) -> Result<Name> {
        let mut bytes = [0; NAME_MAX];
        bytes.get_mut(..name.len()).ok_or(Errno(ENAMETOOLONG))?.copy_from_slice(name);
        Ok(Name { bytes, used: name.len() })
    }

    /// The name's bytes, without a NUL.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.used).unwrap_or_default()
    }
}

/// The first name of a path and what is behind it, both without the slashes between; nothing if there is no name but `.` left.
fn split_first(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = path;
    loop {
        let start = rest.iter().position(|byte| *byte != b'/')?;
        rest = rest.get(start..)?;
        let end = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if name != b"." {
            return Some((name, behind));
        }
        rest = behind;
    }
}

impl<P: Pages> Files<'_, P> {
    /// The node that `path` leads to from the folder `at`, or from the root if it begins with a slash. Symbolic links are followed.
    ///
    /// # Errors
    /// `ENOENT`, also for a link that leads nowhere; `ENOTDIR`, `ENAMETOOLONG`; `ELOOP` for more than [`LINKS_MAX`] links.
    pub fn find(&self, at: NodeId, path: &[u8]) -> Result<NodeId> {
        self.walk(at, path, true)
    }

    /// As [`Files::find`], but a link that the path ends with is what is found. A slash behind it has it followed.
    ///
    /// # Errors
    /// As [`Files::find`].
    pub fn find_itself(&self, at: NodeId, path: &[u8]) -> Result<NodeId> {
        self.walk(at, path, false)
    }

    /// [`Files::find_itself`] if `itself`, else [`Files::find`].
    ///
    /// # Errors
    /// As [`Files::find`].
    pub fn find_as(&self, at: NodeId, path: &[u8], itself: bool) -> Result<NodeId> {
        self.walk(at, path, !itself)
    }

    fn walk(&self, at: NodeId, path: &[u8], follows_last: bool) -> Result<NodeId> {
        if path.is_empty() {
            return Err(Errno(ENOENT));
        }
        let start = |path: &[u8], folder| if path.first() == Some(&b'/') { NodeId::ROOT } else { folder };
        // What is still to be walked: the rest of the path below, then those of the links on the way, the last one first.
        let mut rests: [&[u8]; LINKS_MAX + 1] = [&[]; LINKS_MAX + 1];
        rests[0] = path;
        let (mut used, mut links, mut id) = (1usize, 0, start(path, at));
        while let Some(rest) = used.checked_sub(1).and_then(|last| rests.get_mut(last)) {
            let whole = *rest;
            let Some((name, behind)) = split_first(whole) else {
                // Nothing but slashes and dots: what is before them must be a folder.
                if !whole.is_empty() && self.node(id)?.kind != Kind::Folder {
                    return Err(Errno(ENOTDIR));
                }
                used -= 1;
                continue;
            };
            *rest = behind;
            let found = self.step(id, name)?;
            let is_last = rests.iter().take(used).all(|rest| rest.is_empty());
            if self.node(found)?.kind != Kind::Link || is_last && !follows_last {
                id = found;
                continue;
            }
            links += 1;
            if links > LINKS_MAX {
                return Err(Errno(ELOOP));
            }
            let content = self.link_content(found)?;
            id = start(content, id);
            *rests.get_mut(used).ok_or(Errno(ELOOP))? = content;
            used += 1;
        }
        Ok(id)
    }

    /// The folder and the name there of what `path` leads to in the end, if that is not there: where a file of that path is to be made.
    /// A link that leads nowhere says where.
    ///
    /// # Errors
    /// As [`Files::parent_of`] and [`Files::find`]; `EISDIR` for a path that ends with a slash.
    pub fn place_for(&self, at: NodeId, path: &[u8]) -> Result<(NodeId, Name)> {
        let (mut at, mut path) = (at, path);
        for _ in 0..=LINKS_MAX {
            if path.last() == Some(&b'/') {
                return Err(Errno(EISDIR));
            }
            let (folder, name) = self.parent_of(at, path)?;
            match self.child(folder, name)? {
                Some(id) if self.node(id)?.kind == Kind::Link => {
                    (at, path) = (folder, self.link_content(id)?)
                }
                _ => return Ok((folder, Name::of(name)?)),
            }
        }
        Err(Errno(ELOOP))
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

    /// Writes the absolute path of a folder into the end of `buffer`, and returns it; no NUL.
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
