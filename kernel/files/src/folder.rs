//! Folders: making, removing, renaming and listing what is in them.

use lwk_abi::syscall::errno::{EBUSY, EEXIST, EINVAL, EIO, EISDIR, ENOENT, ENOTDIR, ENOTEMPTY};

use crate::node::{Kind, Node, NodeId};
use crate::{Errno, Files, Pages, Result};

/// What [`Files::entry`] finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What the name leads to.
    pub id: NodeId,
    /// The node that has the name: see [`Files::name`].
    pub place: NodeId,
    pub kind: Kind,
    /// Where the next entry is to be looked for.
    pub next_position: u64,
}

/// Position of a folder's first real entry: before it come the folder itself and its parent.
const FIRST_CHILD: u64 = 2;
/// Added to a node's place in time to make a position.
const AFTER: u64 = 3;

impl<P: Pages> Files<'_, P> {
    /// Makes an empty node with permission bits `mode` in a folder. The name is as [`Files::parent_of`] gives it: not longer than
    /// [`NAME_MAX`](crate::NAME_MAX), without a slash.
    ///
    /// # Errors
    /// `EEXIST` if the name is taken, `ENOENT` if the folder has been removed, `ENOTDIR` if it is none, `ENOSPC`.
    pub fn create(
        &mut self,
        folder: NodeId,
        name: &[u8],
        kind: Kind,
        mode: u16,
        now_ns: u64,
    ) -> Result<NodeId> {
        let owner = self.node(folder)?;
        if owner.kind != Kind::Folder {
            return Err(Errno(ENOTDIR));
        }
        if owner.parent.is_none() {
            return Err(Errno(ENOENT));
        }
        if self.place(folder, name)?.is_some() {
            return Err(Errno(EEXIST));
        }
        let id = self.allocate_node()?;
        self.put_node(id, &Node { kind, mode, changed_ns: now_ns, ..Node::default() })?;
        self.set_name(id, name)?;
        self.attach(folder, id, now_ns)?;
        Ok(id)
    }

    /// Makes an empty file that has no name and is open once: it goes with the last [`Files::closed`]. Errors: `ENOSPC`.
    pub fn create_nameless(&mut self, mode: u16, now_ns: u64) -> Result<NodeId> {
        let id = self.allocate_node()?;
        self.put_node(id, &Node { kind: Kind::File, mode, changed_ns: now_ns, opens: 1, ..Node::default() })?;
        Ok(id)
    }

    /// Takes a name of a file away. The file itself goes with the last, when nobody has it open.
    ///
    /// # Errors
    /// `ENOENT` if there is no such name, `EISDIR` if it is a folder's; `EBUSY` for what the kernel makes up.
    pub fn unlink(&mut self, folder: NodeId, name: &[u8], now_ns: u64) -> Result<()> {
        let place = self.place(folder, name)?.ok_or(Errno(ENOENT))?;
        match self.node(place)? {
            node if node.kind == Kind::Folder => Err(Errno(EISDIR)),
            node if node.kind == Kind::Alias || node.is_own_file() => self.remove(folder, place, now_ns),
            _ => Err(Errno(EBUSY)),
        }
    }

    /// Removes an empty folder; its node goes when nobody has it open.
    ///
    /// # Errors
    /// `ENOENT` if there is no such name, `ENOTDIR` if it is no folder's, `ENOTEMPTY`.
    pub fn remove_folder(&mut self, folder: NodeId, name: &[u8], now_ns: u64) -> Result<()> {
        let id = self.place(folder, name)?.ok_or(Errno(ENOENT))?;
        let node = self.node(id)?;
        if node.kind != Kind::Folder {
            return Err(Errno(ENOTDIR));
        }
        if !node.child.is_none() {
            return Err(Errno(ENOTEMPTY));
        }
        self.remove(folder, id, now_ns)
    }

    /// Gives what is named `from` the name `to`, in the place of what has that name, unless `keep`.
    ///
    /// # Errors
    /// `ENOENT`; `EEXIST` with `keep`; `EISDIR`, `ENOTDIR` and `ENOTEMPTY` if the one cannot take the other's place;
    /// `EINVAL` if a folder would go below itself; `EBUSY` for what the kernel makes up.
    pub fn rename(
        &mut self,
        from: (NodeId, &[u8]),
        to: (NodeId, &[u8]),
        keep: bool,
        now_ns: u64,
    ) -> Result<()> {
        let place = self.place(from.0, from.1)?.ok_or(Errno(ENOENT))?;
        let id = self.meant_by(place)?;
        let node = self.node(id)?;
        if !node.is_own_file() && node.kind != Kind::Folder {
            return Err(Errno(EBUSY));
        }
        let target = self.node(to.0)?;
        if target.parent.is_none() {
            return Err(Errno(ENOENT));
        }
        if self.is_within(to.0, id)? {
            return Err(Errno(EINVAL));
        }
        if let Some(old_place) = self.place(to.0, to.1)? {
            if keep {
                return Err(Errno(EEXIST));
            }
            let old = self.meant_by(old_place)?;
            // Two names of one file: POSIX has both stay.
            if old == id {
                return Ok(());
            }
            let old_node = self.node(old)?;
            match (node.kind, old_node.kind) {
                (Kind::Folder, Kind::Folder) if !old_node.child.is_none() => return Err(Errno(ENOTEMPTY)),
                (Kind::Folder, Kind::Folder) => {}
                (_, Kind::Folder) => return Err(Errno(EISDIR)),
                _ if !old_node.is_own_file() => return Err(Errno(EBUSY)),
                (Kind::Folder, _) => return Err(Errno(ENOTDIR)),
                _ => {}
            }
            self.remove(to.0, old_place, now_ns)?;
        }
        self.detach(from.0, place, now_ns)?;
        self.set_name(place, to.1)?;
        self.attach(to.0, place, now_ns)
    }

    /// The entry of a folder at `position`, 0 for the first: the folder itself, its parent, then what is in it.
    ///
    /// A position is 0 or a former entry's `next_position`, which stays good whatever is made or removed in between. Nothing at the end.
    ///
    /// # Errors
    /// `ENOTDIR` for a node that is no folder.
    pub fn entry(&self, folder: NodeId, position: u64) -> Result<Option<Entry>> {
        let node = self.node(folder)?;
        if node.kind != Kind::Folder {
            return Err(Errno(ENOTDIR));
        }
        if position < FIRST_CHILD {
            let id = if position == 0 || node.parent.is_none() { folder } else { node.parent };
            return Ok(Some(Entry { id, place: id, kind: Kind::Folder, next_position: position + 1 }));
        }
        // Youngest first, so what is left is older than what was found last.
        let bound = if position == FIRST_CHILD { u64::MAX } else { position.saturating_sub(AFTER) };
        let mut found = None;
        self.each_child(folder, |id, child| {
            if child.order < bound {
                let next_position = child.order + AFTER;
                found = Some(Entry { id, place: id, kind: child.kind, next_position });
            }
            Ok(found.is_some())
        })?;
        if let Some(entry) = &mut found {
            entry.id = self.meant_by(entry.place)?;
            entry.kind = self.node(entry.id)?.kind;
        }
        Ok(found)
    }

    /// An open description leads to this node now. Errors: `EIO` if there is no such node, here and below.
    pub fn opened(&mut self, id: NodeId) -> Result<()> {
        let mut node = self.node(id)?;
        node.opens = node.opens.saturating_add(1);
        self.put_node(id, &node)
    }

    /// An open description does so no more; a file without a name goes with the last.
    pub fn closed(&mut self, id: NodeId) -> Result<()> {
        let mut node = self.node(id)?;
        node.opens = node.opens.saturating_sub(1);
        self.put_node(id, &node)?;
        self.drop_unused(id)
    }

    /// Sets the time of the last change, in nanoseconds of the real-time clock.
    pub fn set_changed(&mut self, id: NodeId, changed_ns: u64) -> Result<()> {
        let mut node = self.node(id)?;
        node.changed_ns = changed_ns;
        self.put_node(id, &node)
    }

    /// Sets the permission bits (`0o7777`), which are recorded only.
    pub fn set_mode(&mut self, id: NodeId, mode: u16) -> Result<()> {
        let mut node = self.node(id)?;
        node.mode = mode;
        self.put_node(id, &node)
    }

    /// What this name in a folder leads to.
    pub(crate) fn child(&self, folder: NodeId, name: &[u8]) -> Result<Option<NodeId>> {
        self.place(folder, name)?.map(|place| self.meant_by(place)).transpose()
    }

    /// The node that has this name in a folder: a file, folder or link, or an alias.
    pub(crate) fn place(&self, folder: NodeId, name: &[u8]) -> Result<Option<NodeId>> {
        let mut found = None;
        self.each_child(folder, |id, _| {
            if self.name(id)? == name {
                found = Some(id);
            }
            Ok(found.is_some())
        })?;
        Ok(found)
    }

    /// Visits the nodes of a folder until `visit` says that it is enough.
    fn each_child(&self, folder: NodeId, mut visit: impl FnMut(NodeId, &Node) -> Result<bool>) -> Result<()> {
        let mut id = self.node(folder)?.child;
        // The places in time of a list descend, which a ring's cannot.
        let mut before = u64::MAX;
        while !id.is_none() {
            let node = self.node(id)?;
            if node.order >= before {
                return Err(Errno(EIO));
            }
            before = node.order;
            if visit(id, &node)? {
                break;
            }
            id = node.next;
        }
        Ok(())
    }

    /// Puts a node at the front of a folder's list.
    pub(crate) fn attach(&mut self, folder: NodeId, id: NodeId, now_ns: u64) -> Result<()> {
        let order = self.next_order();
        let mut owner = self.node(folder)?;
        let mut node = self.node(id)?;
        (node.parent, node.next, node.order) = (folder, owner.child, order);
        self.put_node(id, &node)?;
        (owner.child, owner.changed_ns) = (id, now_ns);
        self.put_node(folder, &owner)
    }

    /// Takes a node out of a folder's list.
    fn detach(&mut self, folder: NodeId, id: NodeId, now_ns: u64) -> Result<()> {
        let mut node = self.node(id)?;
        self.put_in_place(folder, id, node.next)?;
        let mut owner = self.node(folder)?;
        owner.changed_ns = now_ns;
        self.put_node(folder, &owner)?;
        (node.parent, node.next) = (NodeId::NONE, NodeId::NONE);
        self.put_node(id, &node)
    }

    /// Makes what leads to the node `id` in its folder's list lead to another.
    pub(crate) fn put_in_place(&mut self, folder: NodeId, id: NodeId, other: NodeId) -> Result<()> {
        let mut before = NodeId::NONE;
        self.each_child(folder, |child, _| {
            if child != id {
                before = child;
            }
            Ok(child == id)
        })?;
        let mut owner = self.node(folder)?;
        if owner.child == id {
            owner.child = other;
            return self.put_node(folder, &owner);
        }
        let mut elder = self.node(before)?;
        elder.next = other;
        self.put_node(before, &elder)
    }

    /// Takes away what has a name in a folder: the name if it is one of several, and else the node.
    fn remove(&mut self, folder: NodeId, place: NodeId, now_ns: u64) -> Result<()> {
        self.detach(folder, place, now_ns)?;
        let node = self.node(place)?;
        if node.kind == Kind::Alias {
            return self.drop_alias(place);
        }
        if node.alias.is_none() { self.drop_unused(place) } else { self.take_name_of_alias(place) }
    }

    /// Frees a node that has neither a name nor a user.
    fn drop_unused(&mut self, id: NodeId) -> Result<()> {
        let node = self.node(id)?;
        if node.parent.is_none() && node.opens == 0 {
            self.truncate(id, 0, node.changed_ns)?;
            self.free_node(id)?;
        }
        Ok(())
    }
}
