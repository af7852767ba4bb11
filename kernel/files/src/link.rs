//! Links: further names of a file, and names that stand for a path.
//!
//! A file lives in its node, which has one of its names. Each further name is an *alias*, a node of its own in its folder's list; the aliases
//! of a file are a list as well. When a file loses the name in its node, it takes the name and the place of an alias: so it keeps its
//! number, by which it is open. A symbolic link keeps its path in a page, as a file does its content.

use lwk_abi::syscall::errno::{EINVAL, EIO, EMLINK, ENAMETOOLONG, ENOENT, ENOSPC, EPERM, EXDEV};

use crate::node::{Kind, Node, NodeId};
use crate::path::PATH_MAX;
use crate::{Errno, Files, Pages, Result};

/// Most names of a file.
pub const NAMES_MAX: u32 = 65_000;

impl<P: Pages> Files<'_, P> {
    /// Gives a file or symbolic link one more name.
    ///
    /// # Errors
    /// `EEXIST` if the name is taken; `ENOENT` if the folder, or the last name of the file, has been removed; `EPERM` for a folder, `EXDEV`
    /// for what the kernel makes up; `EMLINK`, `ENOSPC`.
    pub fn link(&mut self, id: NodeId, folder: NodeId, name: &[u8], now_ns: u64) -> Result<()> {
        let node = self.node(id)?;
        match node.kind {
            Kind::Folder => return Err(Errno(EPERM)),
            _ if !node.is_own_file() => return Err(Errno(EXDEV)),
            _ if node.parent.is_none() => return Err(Errno(ENOENT)),
            _ if node.names() >= NAMES_MAX => return Err(Errno(EMLINK)),
            _ => {}
        }
        let alias = self.create(folder, name, Kind::Alias, 0, now_ns)?;
        let mut alias_node = self.node(alias)?;
        (alias_node.child, alias_node.alias) = (id, node.alias);
        self.put_node(alias, &alias_node)?;
        let (aliases, changed_ns) = (node.aliases + 1, now_ns);
        self.put_node(id, &Node { alias, aliases, changed_ns, ..node })
    }

    /// Makes a symbolic link, a name that stands for the path `content`.
    ///
    /// # Errors
    /// As [`Files::create`]; `ENAMETOOLONG` for a path of [`PATH_MAX`] bytes or more, `EINVAL` for one of none.
    pub fn symbolic_link(
        &mut self,
        folder: NodeId,
        name: &[u8],
        content: &[u8],
        now_ns: u64,
    ) -> Result<NodeId> {
        match content.len() {
            0 => return Err(Errno(EINVAL)),
            length if length >= PATH_MAX => return Err(Errno(ENAMETOOLONG)),
            _ => {}
        }
        let id = self.create(folder, name, Kind::Link, 0o777, now_ns)?;
        let written = self.write(id, 0, content.len() as u64, now_ns, |piece| {
            // Less than a page, so it is one piece.
            piece.copy_from_slice(content);
            Ok(())
        });
        if written != Ok(content.len() as u64) {
            self.unlink(folder, name, now_ns)?;
            return Err(Errno(ENOSPC));
        }
        Ok(id)
    }

    /// The path that a symbolic link stands for.
    ///
    /// # Errors
    /// `EINVAL` for what is no link; `ENOENT` for a link that the caller makes up.
    pub fn link_content(&self, id: NodeId) -> Result<&[u8]> {
        let node = self.node(id)?;
        if node.kind != Kind::Link {
            return Err(Errno(EINVAL));
        }
        if node.special != 0 {
            return Err(Errno(ENOENT));
        }
        let page = self.page(node.top)?;
        page.get(..node.size as usize).filter(|content| !content.is_empty()).ok_or(Errno(EIO))
    }

    /// The file, folder or link that a node with a name stands for.
    pub(crate) fn meant_by(&self, place: NodeId) -> Result<NodeId> {
        let node = self.node(place)?;
        if node.kind != Kind::Alias {
            return Ok(place);
        }
        // An image that has an alias of an alias is damaged.
        if self.node(node.child)?.is_own_file() { Ok(node.child) } else { Err(Errno(EIO)) }
    }

    /// An alias has left its folder: its file has one name less.
    pub(crate) fn drop_alias(&mut self, alias: NodeId) -> Result<()> {
        let gone = self.node(alias)?;
        let id = self.meant_by(alias)?;
        let mut node = self.node(id)?;
        node.aliases = node.aliases.saturating_sub(1);
        if node.alias == alias {
            node.alias = gone.alias;
            self.put_node(id, &node)?;
            return self.free_node(alias);
        }
        self.put_node(id, &node)?;
        let mut before = node.alias;
        // No more than there can be, even in a ring.
        for _ in 0..NAMES_MAX {
            let mut elder = self.node(before)?;
            if elder.kind != Kind::Alias {
                break;
            }
            if elder.alias == alias {
                elder.alias = gone.alias;
                self.put_node(before, &elder)?;
                return self.free_node(alias);
            }
            before = elder.alias;
        }
        Err(Errno(EIO))
    }

    /// A file has lost the name in its node: it takes name and place of its first alias.
    pub(crate) fn take_name_of_alias(&mut self, id: NodeId) -> Result<()> {
        let node = self.node(id)?;
        let alias = node.alias;
        let gone = self.node(alias)?;
        if gone.kind != Kind::Alias || gone.child != id {
            return Err(Errno(EIO));
        }
        let mut name = [0; crate::NAME_MAX];
        let own = self.name(alias)?;
        let length = own.len();
        name.get_mut(..length).ok_or(Errno(EIO))?.copy_from_slice(own);
        self.put_in_place(gone.parent, alias, id)?;
        let Node { parent, next, order, alias: rest, .. } = gone;
        let aliases = node.aliases.saturating_sub(1);
        self.put_node(id, &Node { parent, next, order, alias: rest, aliases, ..node })?;
        self.set_name(id, name.get(..length).unwrap_or_default())?;
        self.free_node(alias)
    }
}
