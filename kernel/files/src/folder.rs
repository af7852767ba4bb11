//! Folders: making, removing, renaming and listing what is in them.

use lwk_abi::syscall::errno::{EBUSY, EEXIST, EINVAL, EIO, EISDIR, ENOENT, ENOTDIR, ENOTEMPTY};

use crate::node::{Kind, Node, NodeId};
use crate::{Errno, Files, Pages, Result};

/// What [`Files::entry`] finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: NodeId,
    pub kind: Kind,
    /// Where the next entry is to be looked for.
    pub next_position: u64,
}

/// Position of a folder's first real entry: before it come the folder itself and its parent.
const FIRST_CHILD: u64 = 2;
/// Added to a node's place in time to make a position.
const AFTER: u64 = 3;

impl<P: Pages> Files<'_, P> {
    /// Makes a node in a folder.
    ///
    /// # Errors
    /// `EEXIST` if the name is taken, `ENOENT` if the folder has been removed, `ENOSPC`.
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
        if self.child(folder, name)?.is_some() {
            return Err(Errno(EEXIST));
        }
        let id = self.allocate_node()?;
        self.put_node(id, &Node { kind, mode, changed_ns: now_ns, ..Node::default() })?;
        self.set_name(id, name)?;
        self.attach(folder, id, now_ns)?;
        Ok(id)
    }

    /// Takes the name of a file away. The file itself goes when nobody has it open.
    ///
    /// # Errors
    /// `ENOENT`, `EISDIR`; `EBUSY` for what the kernel makes up.
    pub fn unlink(&mut self, folder: NodeId, name: &[u8], now_ns: u64) -> Result<()> {
        let id = self.child(folder, name)?.ok_or(Errno(ENOENT))?;
        match self.node(id)?.kind {
            Kind::Folder => Err(Errno(EISDIR)),
            Kind::File => self.remove(folder, id, now_ns),
            _ => Err(Errno(EBUSY)),
        }
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// `ENOENT`, `ENOTDIR`, `ENOTEMPTY`.
    pub fn remove_folder(&mut self, folder: NodeId, name: &[u8], now_ns: u64) -> Result<()> {
        let id = self.child(folder, name)?.ok_or(Errno(ENOENT))?;
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
        let id = self.child(from.0, from.1)?.ok_or(Errno(ENOENT))?;
        let node = self.node(id)?;
        if !matches!(node.kind, Kind::File | Kind::Folder) {
            return Err(Errno(EBUSY));
        }
        let target = self.node(to.0)?;
        if target.parent.is_none() {
            return Err(Errno(ENOENT));
        }
        if self.is_within(to.0, id)? {
            return Err(Errno(EINVAL));
        }
        if let Some(old) = self.child(to.0, to.1)? {
            if keep {
                return Err(Errno(EEXIST));
            }
            if old == id {
                return Ok(());
            }
            let old_node = self.node(old)?;
            match (node.kind, old_node.kind) {
                (Kind::Folder, Kind::Folder) if !old_node.child.is_none() => return Err(Errno(ENOTEMPTY)),
                (Kind::Folder, Kind::Folder) | (Kind::File, Kind::File) => {}
                (Kind::Folder, Kind::File) => return Err(Errno(ENOTDIR)),
                (_, Kind::Folder) => return Err(Errno(EISDIR)),
                _ => return Err(Errno(EBUSY)),
            }
            self.remove(to.0, old, now_ns)?;
        }
        self.detach(from.0, id, now_ns)?;
        self.set_name(id, to.1)?;
        self.attach(to.0, id, now_ns)
    }

    /// The entry of a folder at `position`, 0 for the first: the folder itself, its parent, then what is in it.
    ///
    /// # Errors
    /// `ENOTDIR`.
    pub fn entry(&self, folder: NodeId, position: u64) -> Result<Option<Entry>> {
        let node = self.node(folder)?;
        if node.kind != Kind::Folder {
            return Err(Errno(ENOTDIR));
        }
        if position < FIRST_CHILD {
            let id = if position == 0 || node.parent.is_none() { folder } else { node.parent };
            return Ok(Some(Entry { id, kind: Kind::Folder, next_position: position + 1 }));
        }
        // Youngest first, so what is left is older than what was found last.
        let bound = if position == FIRST_CHILD { u64::MAX } else { position.saturating_sub(AFTER) };
        let mut found = None;
        self.each_child(folder, |id, child| {
            if child.order < bound {
                found = Some(Entry { id, kind: child.kind, next_position: child.order + AFTER });
            }
            Ok(found.is_some())
        })?;
        Ok(found)
    }

    /// An open description leads to this node now.
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

    /// Sets the recorded permission bits.
    pub fn set_mode(&mut self, id: NodeId, mode: u16) -> Result<()> {
        let mut node = self.node(id)?;
        node.mode = mode;
        self.put_node(id, &node)
    }

    /// The node of this name in a folder.
    pub(crate) fn child(&self, folder: NodeId, name: &[u8]) -> Result<Option<NodeId>> {
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
    fn attach(&mut self, folder: NodeId, id: NodeId, now_ns: u64) -> Result<()> {
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
        let mut before = NodeId::NONE;
        self.each_child(folder, |child, _| {
            if child != id {
                before = child;
            }
            Ok(child == id)
        })?;
        let mut owner = self.node(folder)?;
        if owner.child == id {
            owner.child = node.next;
        } else {
            let mut elder = self.node(before)?;
            elder.next = node.next;
            self.put_node(before, &elder)?;
        }
        owner.changed_ns = now_ns;
        self.put_node(folder, &owner)?;
        (node.parent, node.next) = (NodeId::NONE, NodeId::NONE);
        self.put_node(id, &node)
    }

    fn remove(&mut self, folder: NodeId, id: NodeId, now_ns: u64) -> Result<()> {
        self.detach(folder, id, now_ns)?;
        self.drop_unused(id)
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
