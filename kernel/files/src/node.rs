//! Nodes: one of 512 bytes for each file and folder, eight to a page. A node holds its own name and its place in the tree;
//! the nodes of a folder are a list, the youngest first.

use lwk_abi::syscall::errno::EIO;

use crate::page::{PAGE_BYTES, get32, get64, put32, put64};
use crate::{Errno, Files, Pages, Result};

/// Bytes of a node.
const NODE_BYTES: usize = 512;
/// Nodes of a page.
const NODES: u32 = (PAGE_BYTES / NODE_BYTES) as u32;

/// A node's number: its page times eight plus its place there. 0 is no node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeId(pub u32);

impl NodeId {
    /// No node.
    pub const NONE: NodeId = NodeId(0);
    /// The root of the tree.
    pub const ROOT: NodeId = NodeId(NODES);

    /// Whether it is [`NodeId::NONE`].
    pub fn is_none(self) -> bool {
        self == NodeId::NONE
    }

    fn page(self) -> u32 {
        self.0 / NODES
    }

    fn offset(self) -> usize {
        (self.0 % NODES) as usize * NODE_BYTES
    }

    /// The nodes that share its page, without itself, the highest first: so that they are given out from the lowest.
    pub(crate) fn others_of_its_page(self) -> impl Iterator<Item = NodeId> {
        let first = self.page() * NODES;
        (first..first + NODES).rev().map(NodeId).filter(move |id| *id != self)
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Nothing.
    #[default]
    Free = 0,
    /// A folder.
    Folder = 1,
    /// A regular file.
    File = 2,
    /// A file that the caller makes up ([`crate::Special`]).
    Special = 3,
    /// A symbolic link; with a [`crate::Special`], one that the caller makes up.
    Link = 4,
    /// One more name of a file or link ([`crate::Files::link`]): a node that is nothing but a name. Nothing hands it out as what a
    /// path leads to.
    Alias = 5,
}

/// A node but for its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub kind: Kind,
    /// Permission bits, recorded only.
    pub mode: u16,
    /// The folder it is in; the root is in itself; none once its last name is gone.
    pub parent: NodeId,
    /// First node of a folder; what an alias is a name of.
    pub(crate) child: NodeId,
    /// Next node of the same folder.
    pub(crate) next: NodeId,
    /// Length of a file in bytes.
    pub size: u64,
    /// Top page of a file's content, 0 for none.
    pub(crate) top: u32,
    /// Levels of index pages above the content.
    pub(crate) height: u32,
    /// Open descriptions that lead here.
    pub opens: u32,
    /// Number of a [`crate::Special`].
    pub special: u32,
    /// Last change, nanoseconds since the Unix epoch.
    pub changed_ns: u64,
    /// Pages of content and index.
    pub page_count: u32,
    /// The names of a file beside the one in its own node.
    pub aliases: u32,
    /// The first alias of a file, and the next one of an alias.
    pub(crate) alias: NodeId,
    /// The page with its locks, 0 for none.
    pub(crate) locks: u32,
    /// Place in time among all nodes.
    pub(crate) order: u64,
    pub(crate) name_bytes: u8,
}

/// Most bytes of a name (Linux's `NAME_MAX`).
pub const NAME_MAX: usize = 255;

/// Offset of the name in a node.
const AT_NAME: usize = 128;
const _: () = assert!(AT_NAME + NAME_MAX <= NODE_BYTES);

impl Node {
    fn decode(bytes: &[u8]) -> Node {
        let kind = match get32(bytes, 0) & 0xff {
            1 => Kind::Folder,
            2 => Kind::File,
            3 => Kind::Special,
            4 => Kind::Link,
            5 => Kind::Alias,
            _ => Kind::Free,
        };
        Node {
            kind,
            name_bytes: (get32(bytes, 0) >> 8) as u8,
            mode: (get32(bytes, 0) >> 16) as u16,
            parent: NodeId(get32(bytes, 4)),
            child: NodeId(get32(bytes, 8)),
            next: NodeId(get32(bytes, 12)),
            size: get64(bytes, 16),
            top: get32(bytes, 24),
            height: get32(bytes, 28),
            opens: get32(bytes, 32),
            special: get32(bytes, 36),
            changed_ns: get64(bytes, 40),
            page_count: get32(bytes, 48),
            aliases: get32(bytes, 64),
            alias: NodeId(get32(bytes, 68)),
            locks: get32(bytes, 72),
            order: get64(bytes, 56),
        }
    }

    fn encode(&self, bytes: &mut [u8]) {
        let head = self.kind as u32 | u32::from(self.name_bytes) << 8 | u32::from(self.mode) << 16;
        put32(bytes, 0, head);
        put32(bytes, 4, self.parent.0);
        put32(bytes, 8, self.child.0);
        put32(bytes, 12, self.next.0);
        put64(bytes, 16, self.size);
        put32(bytes, 24, self.top);
        put32(bytes, 28, self.height);
        put32(bytes, 32, self.opens);
        put32(bytes, 36, self.special);
        put64(bytes, 40, self.changed_ns);
        put32(bytes, 48, self.page_count);
        put64(bytes, 56, self.order);
        put32(bytes, 64, self.aliases);
        put32(bytes, 68, self.alias.0);
        put32(bytes, 72, self.locks);
    }
}

impl Node {
    /// How many names lead to a file or link, 0 once the last is gone; a folder counts as one.
    pub fn names(&self) -> u32 {
        if self.parent.is_none() { 0 } else { self.aliases.saturating_add(1) }
    }

    /// Whether a program has made it, and may give it names and take them away: a file, or a symbolic link.
    pub(crate) fn is_own_file(&self) -> bool {
        self.kind == Kind::File || self.kind == Kind::Link && self.special == 0
    }
}

impl<P: Pages> Files<'_, P> {
    /// What a node is.
    ///
    /// # Errors
    /// `EIO` if there is none with this number.
    pub fn node(&self, id: NodeId) -> Result<Node> {
        let node = Node::decode(self.node_bytes(id)?);
        if node.kind == Kind::Free { Err(Errno(EIO)) } else { Ok(node) }
    }

    /// Changes a node; its name stays.
    pub(crate) fn put_node(&mut self, id: NodeId, node: &Node) -> Result<()> {
        let offset = id.offset();
        let page = self.page_mut(id.page())?;
        page.get_mut(offset..offset + NODE_BYTES).map(|bytes| node.encode(bytes)).ok_or(Errno(EIO))
    }

    /// The name in a node, 1 to 255 bytes; none for the root. A file with several names has but one of them in its own.
    ///
    /// # Errors
    /// `EIO` if there is no such node.
    pub fn name(&self, id: NodeId) -> Result<&[u8]> {
        let bytes = self.node_bytes(id)?;
        let length = Node::decode(bytes).name_bytes as usize;
        bytes.get(AT_NAME..AT_NAME + length).ok_or(Errno(EIO))
    }

    /// Gives a node its name, [`NAME_MAX`] bytes at most. Errors: `EIO` for a longer one, or no such node.
    pub(crate) fn set_name(&mut self, id: NodeId, name: &[u8]) -> Result<()> {
        let mut node = self.node(id)?;
        node.name_bytes = u8::try_from(name.len()).map_err(|_| Errno(EIO))?;
        self.put_node(id, &node)?;
        let at = id.offset() + AT_NAME;
        let page = self.page_mut(id.page())?;
        page.get_mut(at..at + name.len()).map(|place| place.copy_from_slice(name)).ok_or(Errno(EIO))
    }

    /// A node that is free.
    pub(crate) fn allocate_node(&mut self) -> Result<NodeId> {
        if self.free_node_head().is_none() {
            let first = NodeId(self.allocate_page()? * NODES);
            for id in first.others_of_its_page() {
                self.free_node(id)?;
            }
            return Ok(first);
        }
        let id = self.free_node_head();
        let next = Node::decode(self.node_bytes(id)?).next;
        self.set_free_node_head(next);
        Ok(id)
    }

    /// Gives a node back.
    pub(crate) fn free_node(&mut self, id: NodeId) -> Result<()> {
        let next = self.free_node_head();
        self.put_node(id, &Node { next, ..Node::default() })?;
        self.set_free_node_head(id);
        Ok(())
    }

    fn node_bytes(&self, id: NodeId) -> Result<&[u8]> {
        let offset = id.offset();
        self.page(id.page())?.get(offset..offset + NODE_BYTES).ok_or(Errno(EIO))
    }
}
