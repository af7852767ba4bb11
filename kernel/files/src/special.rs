//! Files whose content the kernel makes up as they are read, and the tree that every file system starts with.

use crate::node::{Kind, NodeId};
use crate::{Files, Pages, Result};

/// What stands behind a node of kind [`Kind::Special`] or [`Kind::Link`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Special {
    /// `/dev/null`.
    Null = 1,
    /// `/dev/zero`.
    Zero,
    /// `/dev/urandom` and `/dev/random`.
    Random,
    /// `/proc/self/maps`.
    Maps,
    /// `/proc/self/status`.
    Status,
    /// `/proc/self/exe`, a link to the program.
    Program,
    /// `/proc/cpuinfo`.
    Processors,
    /// `/proc/meminfo`.
    Memory,
    /// `/sys/devices/system/cpu/online`, `possible` and `present`.
    Online,
    /// `/dev/stdin`.
    StandardInput,
    /// `/dev/stdout`.
    StandardOutput,
    /// `/dev/stderr`.
    StandardError,
}

impl Special {
    const ALL: [Special; 12] = [
        Special::Null,
        Special::Zero,
        Special::Random,
        Special::Maps,
        Special::Status,
        Special::Program,
        Special::Processors,
        Special::Memory,
        Special::Online,
        Special::StandardInput,
        Special::StandardOutput,
        Special::StandardError,
    ];

    /// The special file with a number, as [`Node::special`](crate::Node::special) keeps it; nothing for 0 and what there is not.
    pub fn from_number(number: u32) -> Option<Special> {
        Self::ALL.into_iter().find(|special| *special as u32 == number)
    }

    /// Whether it is a device rather than a text.
    pub fn is_device(self) -> bool {
        use Special::{Null, Random, StandardError, StandardInput, StandardOutput, Zero};
        matches!(self, Null | Zero | Random | StandardInput | StandardOutput | StandardError)
    }
}

/// Folders that are there from the start, each after its parent; `/tmp` is for whatever a job likes, what is under `/out` goes
/// back to the host.
const FOLDERS: [&[u8]; 9] = [
    b"/tmp",
    b"/out",
    b"/dev",
    b"/proc",
    b"/proc/self",
    b"/sys",
    b"/sys/devices",
    b"/sys/devices/system",
    b"/sys/devices/system/cpu",
];

/// Special files that are there from the start.
const SPECIALS: [(&[u8], Special); 15] = [
    (b"/dev/null", Special::Null),
    (b"/dev/zero", Special::Zero),
    (b"/dev/random", Special::Random),
    (b"/dev/urandom", Special::Random),
    (b"/dev/stdin", Special::StandardInput),
    (b"/dev/stdout", Special::StandardOutput),
    (b"/dev/stderr", Special::StandardError),
    (b"/proc/self/maps", Special::Maps),
    (b"/proc/self/status", Special::Status),
    (b"/proc/self/exe", Special::Program),
    (b"/proc/cpuinfo", Special::Processors),
    (b"/proc/meminfo", Special::Memory),
    (b"/sys/devices/system/cpu/online", Special::Online),
    (b"/sys/devices/system/cpu/possible", Special::Online),
    (b"/sys/devices/system/cpu/present", Special::Online),
];

/// Makes the tree that every file system starts with. Errors: `ENOSPC`.
pub fn plant<P: Pages>(files: &mut Files<'_, P>) -> Result<()> {
    for path in FOLDERS {
        let (parent, name) = files.parent_of(NodeId::ROOT, path)?;
        files.create(parent, name, Kind::Folder, 0o777, 0)?;
    }
    for (path, special) in SPECIALS {
        let (parent, name) = files.parent_of(NodeId::ROOT, path)?;
        let (kind, mode) = match special {
            Special::Program => (Kind::Link, 0o777),
            special if special.is_device() => (Kind::Special, 0o666),
            _ => (Kind::Special, 0o444),
        };
        let id = files.create(parent, name, kind, mode, 0)?;
        let mut node = files.node(id)?;
        node.special = special as u32;
        files.put_node(id, &node)?;
    }
    Ok(())
}
