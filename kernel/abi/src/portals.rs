//! Portals 4 between program and kernel: what the system calls take and answer, and what lies in the program's memory for the kernel to write.
//!
//! Names and meanings are those of the Portals 4 reference (version 4.3), without its prefix; numbers are Margay's own. A call answers 0 or
//! a positive value, or `-(`[`ERROR_BASE`]` + status)`. Every structure is native-endian with no padding.

mod options;

pub use options::{DescriptorOptions, EntryOptions, InterfaceOptions, TableOptions};

/// What a call answers that fails is `-(ERROR_BASE + status)`.
pub const ERROR_BASE: i64 = 2048;

/// Bytes of a node's memory that its kernel takes for Portals and the network card, when they are first used.
pub const KERNEL_BYTES: u64 = 24 << 20;

/// Return codes (`PTL_…`).
pub mod status {
    pub const OK: u32 = 0;
    pub const ARG_INVALID: u32 = 1;
    pub const CT_NONE_REACHED: u32 = 2;
    pub const EQ_DROPPED: u32 = 3;
    pub const EQ_EMPTY: u32 = 4;
    pub const FAIL: u32 = 5;
    pub const IGNORED: u32 = 6;
    pub const IN_USE: u32 = 7;
    pub const INTERRUPTED: u32 = 8;
    pub const LIST_TOO_LONG: u32 = 9;
    pub const NO_INIT: u32 = 10;
    pub const NO_SPACE: u32 = 11;
    pub const PID_IN_USE: u32 = 12;
    pub const PT_FULL: u32 = 13;
    pub const PT_EQ_NEEDED: u32 = 14;
    pub const PT_IN_USE: u32 = 15;
    pub const NO_MATCH: u32 = 16;
    pub const ABORTED: u32 = 17;
    pub const SIZE_INVALID: u32 = 18;
}

/// Any free index of the portal table.
pub const PT_ANY: u32 = u32::MAX;
/// Any process, node or user.
pub const ANY: u32 = u32::MAX;
/// No event queue, no counting event.
pub const NONE: u32 = u32::MAX;

/// Set in the header data of a put of [`ANNOUNCEMENT_BYTES`] that announces what its initiator lets be fetched: its length, and the match bits of an entry in the initiator's
/// portal table behind the put's.
pub const ANNOUNCED: u64 = 1 << 8;
/// See [`ANNOUNCED`]: two words.
pub const ANNOUNCEMENT_BYTES: usize = 16;

/// Lists of a portal-table entry.
pub const PRIORITY_LIST: u32 = 0;
pub const OVERFLOW_LIST: u32 = 1;

/// What a search does with what it finds.
pub const SEARCH_ONLY: u32 = 0;
pub const SEARCH_DELETE: u32 = 1;

/// Which acknowledgement the initiator wants.
pub mod ack {
    pub const NONE: u32 = 0;
    /// An event, with what the target did.
    pub const FULL: u32 = 1;
    /// A count of the operation at the target.
    pub const COUNTING: u32 = 2;
    /// A count that the operation is complete, and no more.
    pub const OPERATION_COMPLETED: u32 = 3;
}

/// Kinds of events.
pub mod event {
    pub const GET: u32 = 1;
    pub const GET_OVERFLOW: u32 = 2;
    pub const PUT: u32 = 3;
    pub const PUT_OVERFLOW: u32 = 4;
    pub const ATOMIC: u32 = 5;
    pub const ATOMIC_OVERFLOW: u32 = 6;
    pub const FETCH_ATOMIC: u32 = 7;
    pub const FETCH_ATOMIC_OVERFLOW: u32 = 8;
    pub const REPLY: u32 = 9;
    pub const SEND: u32 = 10;
    pub const ACK: u32 = 11;
    pub const PT_DISABLED: u32 = 12;
    pub const LINK: u32 = 13;
    pub const AUTO_UNLINK: u32 = 14;
    pub const AUTO_FREE: u32 = 15;
    pub const SEARCH: u32 = 16;
}

/// Why what an event tells of failed (`PTL_NI_…`).
pub mod failure {
    pub const OK: u32 = 0;
    pub const UNDELIVERABLE: u32 = 1;
    pub const PT_DISABLED: u32 = 2;
    pub const DROPPED: u32 = 3;
    pub const PERM_VIOLATION: u32 = 4;
    pub const OP_VIOLATION: u32 = 5;
    pub const NO_MATCH: u32 = 6;
    pub const TARGET_INVALID: u32 = 7;
    pub const SEGV: u32 = 8;
}

/// Operations of atomics.
pub mod atomic {
    pub const MIN: u32 = 0;
    pub const MAX: u32 = 1;
    pub const SUM: u32 = 2;
    pub const PROD: u32 = 3;
    pub const LOR: u32 = 4;
    pub const LAND: u32 = 5;
    pub const BOR: u32 = 6;
    pub const BAND: u32 = 7;
    pub const LXOR: u32 = 8;
    pub const BXOR: u32 = 9;
    pub const SWAP: u32 = 10;
    pub const CSWAP: u32 = 11;
    pub const CSWAP_NE: u32 = 12;
    pub const CSWAP_LE: u32 = 13;
    pub const CSWAP_LT: u32 = 14;
    pub const CSWAP_GE: u32 = 15;
    pub const CSWAP_GT: u32 = 16;
    pub const MSWAP: u32 = 17;
}

/// Types of the elements of atomics.
pub mod datatype {
    pub const INT8: u32 = 0;
    pub const UINT8: u32 = 1;
    pub const INT16: u32 = 2;
    pub const UINT16: u32 = 3;
    pub const INT32: u32 = 4;
    pub const UINT32: u32 = 5;
    pub const INT64: u32 = 6;
    pub const UINT64: u32 = 7;
    pub const FLOAT: u32 = 8;
    pub const DOUBLE: u32 = 9;
    pub const FLOAT_COMPLEX: u32 = 10;
    pub const DOUBLE_COMPLEX: u32 = 11;
    /// Known by name only: there are no operations on them.
    pub const LONG_DOUBLE: u32 = 12;
    pub const LONG_DOUBLE_COMPLEX: u32 = 13;
}

/// Bytes of an element; nothing if there are no operations on its type.
pub const fn element_bytes(datatype: u32) -> Option<usize> {
    Some(match datatype {
        datatype::INT8 | datatype::UINT8 => 1,
        datatype::INT16 | datatype::UINT16 => 2,
        datatype::INT32 | datatype::UINT32 | datatype::FLOAT => 4,
        datatype::INT64 | datatype::UINT64 | datatype::DOUBLE | datatype::FLOAT_COMPLEX => 8,
        datatype::DOUBLE_COMPLEX => 16,
        _ => return None,
    })
}

/// Registers of an interface's status.
pub mod register {
    pub const DROP_COUNT: u32 = 0;
    pub const PERMISSION_VIOLATIONS: u32 = 1;
    pub const OPERATION_VIOLATIONS: u32 = 2;
    pub const COUNT: u32 = 3;
}

/// Kinds of operations of [`Operation`].
pub mod operation {
    pub const PUT: u32 = 0;
    pub const GET: u32 = 1;
    pub const ATOMIC: u32 = 2;
    pub const FETCH_ATOMIC: u32 = 3;
    /// Fetches, too; with an operand where the atomic operation has one.
    pub const SWAP: u32 = 4;
    /// Only triggered: changes a counting event.
    pub const CT_INC: u32 = 5;
    pub const CT_SET: u32 = 6;
    /// Only triggered: appends the list entry at the address `put_offset`, which is read then, to list `atomic` of table `table`; its handle
    /// goes to the address `get_offset`, [`super::NONE`] if it fails.
    pub const ENTRY_APPEND: u32 = 7;
    /// Only triggered: unlinks the list entry whose handle is `put`.
    pub const ENTRY_UNLINK: u32 = 8;
}

/// Limits of an interface.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// List entries, all lists together.
    pub entries: u32,
    /// Messages that wait in overflow lists.
    pub unexpected_headers: u32,
    pub descriptors: u32,
    pub queues: u32,
    pub counters: u32,
    /// Greatest index of the portal table.
    pub table_index: u32,
    /// Vectors of a descriptor or a list entry.
    pub iovecs: u32,
    /// Entries of a list.
    pub list_size: u32,
    pub triggered: u32,
    pub reserved: u32,
    /// Bytes.
    pub message_bytes: u64,
    pub atomic_bytes: u64,
    pub fetch_atomic_bytes: u64,
    /// Messages up to so many bytes arrive in the order of their addresses.
    pub ordered_bytes: u64,
    pub volatile_bytes: u64,
}

/// A memory descriptor (`ptl_md_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    pub start: u64,
    pub bytes: u64,
    pub options: DescriptorOptions,
    /// Handles, or [`NONE`].
    pub queue: u32,
    pub counter: u32,
    pub reserved: u32,
}

/// A list entry (`ptl_le_t`, `ptl_me_t`, and `user` behind them).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    pub start: u64,
    pub bytes: u64,
    /// Handle, or [`NONE`].
    pub counter: u32,
    pub uid: u32,
    pub options: EntryOptions,
    /// Who may send: node and process, or rank and 0; [`ANY`] each.
    pub node: u32,
    pub process: u32,
    /// Of an entry that fetches ([`EntryOptions::FETCH`]): the handle of the descriptor into which.
    pub reserved: u32,
    pub bits: u64,
    pub ignore: u64,
    pub min_free: u64,
    pub user: u64,
}

/// An operation of an initiator, at once or triggered.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// See [`operation`].
    pub kind: u32,
    /// Handle of the descriptor that data comes from, and that it goes to.
    pub put: u32,
    pub get: u32,
    /// See [`ack`].
    pub ack: u32,
    pub put_offset: u64,
    pub get_offset: u64,
    pub bytes: u64,
    /// Target: node and process, or rank and 0.
    pub node: u32,
    pub process: u32,
    pub table: u32,
    /// See [`atomic`] and [`datatype`].
    pub atomic: u32,
    pub datatype: u32,
    /// Handle of the counting event that triggers it, or [`NONE`].
    pub trigger: u32,
    pub threshold: u64,
    pub bits: u64,
    pub remote_offset: u64,
    pub user: u64,
    pub data: u64,
    /// Element to compare with or mask, its first 8 bytes. For counters: what is added or set, successes.
    pub operand: u64,
    /// The element's other 8 bytes. For counters: failures.
    pub failures: u64,
    /// For counters: the handle of the one that changes.
    pub counter: u32,
    pub reserved: u32,
}

/// An event, as it lies in a queue.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Events of the queue up to this one, it included: written last, so that it tells of a new event.
    pub sequence: u64,
    /// See [`event`] and [`failure`].
    pub kind: u32,
    pub failure: u32,
    pub list: u32,
    pub table: u32,
    pub node: u32,
    pub process: u32,
    pub uid: u32,
    pub atomic: u32,
    pub datatype: u32,
    /// 1: events have been dropped before this one.
    pub dropped: u32,
    pub bits: u64,
    pub requested: u64,
    pub done: u64,
    pub remote_offset: u64,
    pub start: u64,
    pub user: u64,
    pub data: u64,
}

/// What a node has done since its start ([`crate::syscall::portals::NODE_COUNTS`]).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCounts {
    /// Messages of this node's ranks, and messages for them.
    pub sent: u64,
    pub arrived: u64,
    /// Bytes of payload that have come into programs' memory.
    pub payload: u64,
    /// Bytes that processors have written or copied into programs' memory, and how many of them were no payload: events and counts of limits.
    pub written: u64,
    pub told: u64,
    /// Bytes that processors have copied in order to send them: heads, and payload that must be copied.
    pub copied_to_send: u64,
    pub frames_sent: u64,
    pub frames_received: u64,
    pub retransmitted: u64,
    /// Interrupts of the card, and of the timer that looks after it.
    pub interrupts: u64,
    pub timer: u64,
    /// What is kept for programs now: places of tables that are taken, messages under way, frames that wait for their turn.
    pub kept: u64,
    /// Other nodes that it has had to do with.
    pub peers: u64,
    /// Times that the card was reset since it sent no more.
    pub resets: u64,
    /// Operations that a counting event has set off after they had waited for it.
    pub triggered: u64,
    /// Frames of other jobs that have come. They were dropped.
    pub strangers: u64,
}

/// Frames without a link, to another node of the job: what benchmarks compare with ([`crate::syscall::portals::RAW_FRAMES`]). Nobody's memory gets their payload.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawFrames {
    pub node: u32,
    /// 1: the last of them asks for an answer. 2: each carries a checksum of its payload, which the other node looks at, and it copies the payload once: what
    /// a link's payload costs without the link. 3: both.
    pub asks: u32,
    /// Payload of each.
    pub start: u64,
    pub bytes: u64,
    pub count: u64,
    /// Where two words are, which answers change: answers that have come to this rank; frames that the node had had that answered last.
    pub words: u64,
}

/// Bytes of such a frame before its payload.
pub const RAW_HEAD_BYTES: u64 = 48;
/// Bytes of the two words.
pub const RAW_WORDS_BYTES: u64 = 16;

/// The first rank of a node of a job, or of the node behind the last: ranks are spread in their order, as evenly as it goes.
pub const fn first_rank_of(node: u32, size: u32, nodes: u32) -> u32 {
    (node as u64 * size as u64 / nodes as u64) as u32
}

/// The node of a rank of a job.
pub const fn node_of(rank: u32, size: u32, nodes: u32) -> u32 {
    (((rank as u64 + 1) * nodes as u64 - 1) / size as u64) as u32
}

/// Words before the events of a queue: how many the program has taken, and how many the kernel has dropped for want of room.
pub const QUEUE_TAKEN: u64 = 0;
/// See [`QUEUE_TAKEN`].
pub const QUEUE_DROPPED: u64 = 8;
/// Where the events begin.
pub const QUEUE_EVENTS: u64 = 64;
/// Most events of a queue.
pub const QUEUE_MAX: u64 = 1 << 20;

/// Bytes of a counting event in the program's memory: successes, failures.
pub const COUNTER_BYTES: u64 = 16;

/// Most bytes of an atomic operation.
pub const ATOMIC_BYTES: u64 = 512;
/// Most indices of a portal table.
pub const TABLE_SIZE: u32 = 64;

const _: () = assert!(size_of::<Event>() == 104 && size_of::<Operation>() == 128 && size_of::<Entry>() == 72);
const _: () = assert!(size_of::<NodeCounts>() == 128 && size_of::<RawFrames>() == 40);
const _: () = assert!(size_of::<Limits>() == 80 && size_of::<Descriptor>() == 32);
