//! Portals 4, for a program: network interfaces, lists of memory that others may reach, operations on theirs, and what becomes of them.
//!
//! Set-up and operations are system calls; waiting is not: event queues and counting events lie in this program's memory, where the kernel
//! writes them. Names follow the Portals 4.3 reference; options and kinds are constants of [`lwk_abi::portals`]. A rank of the job is
//! named by its number on a logical interface.
//!
//! What is given to an interface as memory is reached by others at any time, as with [`crate::smartmap`]: so those calls are unsafe.

mod counter;
mod memory;
mod queue;

pub use counter::Counter;
pub use memory::Memory;
pub use queue::Queue;

use core::fmt;

pub use lwk_abi::portals as abi;
use lwk_abi::portals::{
    COUNTER_BYTES, Descriptor, ERROR_BASE, Entry, Event, InterfaceOptions, Limits, NONE, NodeCounts,
    Operation, QUEUE_EVENTS, RawFrames, TableOptions, first_rank_of, node_of, status,
};
use lwk_abi::syscall::portals as call;

use crate::job;
use crate::syscall::raw_of_home;
use crate::wait::spin_until;

/// Why a call failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// A return code of Portals ([`status`]).
    Status(u32),
    /// This home has no network.
    NoNetwork,
    /// No memory is left for a queue or a counter.
    NoMemory,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match *self {
            Error::NoNetwork => "this home has no network",
            Error::NoMemory => "no memory is left",
            Error::Status(status::ARG_INVALID) => "PTL_ARG_INVALID",
            Error::Status(status::IN_USE) => "PTL_IN_USE",
            Error::Status(status::NO_SPACE) => "PTL_NO_SPACE",
            Error::Status(status::PT_FULL) => "PTL_PT_FULL",
            Error::Status(status::PT_EQ_NEEDED) => "PTL_PT_EQ_NEEDED",
            Error::Status(status::PT_IN_USE) => "PTL_PT_IN_USE",
            Error::Status(status::LIST_TOO_LONG) => "PTL_LIST_TOO_LONG",
            Error::Status(other) => return write!(f, "Portals status {other}"),
        })
    }
}

/// What a call answers.
pub type Result<T> = core::result::Result<T, Error>;

/// One of Portals' system calls ([`lwk_abi::syscall::portals`]), for what has no wrapper here.
///
/// # Errors
/// What the kernel answers; this home has no network.
///
/// # Safety
/// What others do with the memory that the arguments name must be sound.
pub unsafe fn system_call(number: u64, arguments: [u64; 4]) -> Result<u32> {
    // SAFETY: what others do with the memory that the arguments name is sound (this function's contract).
    match unsafe { raw_of_home(number, arguments) } {
        answer @ 0.. => Ok(answer as u32),
        answer if -answer >= ERROR_BASE => Err(Error::Status((-answer - ERROR_BASE) as u32)),
        _ => Err(Error::NoNetwork),
    }
}

fn address_of<T>(value: &T) -> u64 {
    (&raw const *value).expose_provenance() as u64
}

/// A network interface; open until it is dropped.
#[derive(Debug)]
pub struct Interface {
    handle: u32,
    limits: Limits,
}

/// A list entry ([`Interface::append`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryHandle(u32);

impl EntryHandle {
    /// As the kernel knows it.
    pub fn handle(self) -> u32 {
        self.0
    }
}

/// A memory descriptor ([`Interface::bind`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorHandle(pub u32);

impl Interface {
    /// Opens an interface: options, one of each pair. Errors: options that contradict each other; no network.
    pub fn open(options: InterfaceOptions) -> Result<Interface> {
        let mut limits = Limits::default();
        let told = (&raw mut limits).expose_provenance() as u64;
        // SAFETY: the call writes the limits into this function's variable.
        let handle = unsafe { system_call(call::INTERFACE_OPEN, [options.bits().into(), 0, told, 0]) }?;
        Ok(Interface { handle, limits })
    }

    /// Its handle, for calls that have no wrapper here.
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// What it can have at most.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Messages dropped, and violations of permissions and of operations ([`abi::register`]). Errors: no such register.
    pub fn register(&self, register: u32) -> Result<u32> {
        // SAFETY: no memory is involved.
        unsafe { system_call(call::INTERFACE_STATUS, [self.handle.into(), register.into(), 0, 0]) }
    }

    /// A queue with room for `events` events. Errors: no memory, or too many queues.
    pub fn queue(&self, events: usize) -> Result<Queue> {
        let bytes = events.checked_mul(size_of::<Event>()).ok_or(Error::NoMemory)? + QUEUE_EVENTS as usize;
        let memory = Memory::new(bytes)?;
        let start = memory.address();
        // SAFETY: the memory is the queue's as long as the kernel has it, and the kernel keeps to its form.
        let handle =
            unsafe { system_call(call::QUEUE_ALLOCATE, [self.handle.into(), start, events as u64, 0]) }?;
        Ok(Queue { handle, memory: Some(memory), size: events as u64, taken: 0 })
    }

    /// A counting event. Errors: no memory, or too many of them.
    pub fn counter(&self) -> Result<Counter> {
        let memory = Memory::new(COUNTER_BYTES as usize)?;
        // SAFETY: the memory is the counter's as long as the kernel has it, and the kernel keeps to its form.
        let handle =
            unsafe { system_call(call::COUNTER_ALLOCATE, [self.handle.into(), memory.address(), 0, 0]) }?;
        Ok(Counter { handle, memory: Some(memory) })
    }

    /// An entry of the portal table: its options, at `index` or, with [`abi::PT_ANY`], anywhere. Returns its index.
    /// Errors: it is in use; the table is full; flow control without a queue.
    pub fn table(&self, options: TableOptions, queue: Option<&Queue>, index: u32) -> Result<u32> {
        let queue = queue.map_or(NONE, |queue| queue.handle);
        // SAFETY: no memory is involved.
        unsafe {
            system_call(
                call::TABLE_ALLOCATE,
                [self.handle.into(), options.bits().into(), queue.into(), index.into()],
            )
        }
    }

    /// Gives an entry of the portal table back. Errors: it still has list entries or messages.
    pub fn free_table(&self, index: u32) -> Result<()> {
        // SAFETY: no memory is involved.
        unsafe { system_call(call::TABLE_FREE, [self.handle.into(), index.into(), 0, 0]) }.map(drop)
    }

    /// Has an entry of the portal table take messages, or none; then it returns when all that were arriving have arrived. Errors: there is none.
    pub fn enable(&self, index: u32, on: bool) -> Result<()> {
        enable(self.handle, index, on)
    }

    /// Sends frames to another node without Portals, to measure by: how many there was room for. Errors: frames that are too long; no such node.
    ///
    /// # Safety
    /// From now on answers change the two words that the frames name; what is sent is read meanwhile.
    pub unsafe fn send_raw(&self, frames: &RawFrames) -> Result<u32> {
        // SAFETY: answers may change the two words, and the payload may be read (this function's contract).
        unsafe { system_call(call::RAW_FRAMES, [self.handle.into(), address_of(frames), 0, 0]) }
    }

    /// What the node has done. Errors: none while the interface is open.
    pub fn node_counts(&self) -> Result<NodeCounts> {
        let mut counts = NodeCounts::default();
        let to = (&raw mut counts).expose_provenance() as u64;
        // SAFETY: the call writes into this function's variable.
        unsafe { system_call(call::NODE_COUNTS, [self.handle.into(), to, 0, 0]) }?;
        Ok(counts)
    }

    /// Names memory that operations take data from and put answers into. Errors: it is not this program's; handles that are not.
    ///
    /// # Safety
    /// While an operation uses the descriptor, its memory is read, or written if the operation fetches.
    pub unsafe fn bind(&self, descriptor: &Descriptor) -> Result<DescriptorHandle> {
        let arguments = [self.handle.into(), address_of(descriptor), 0, 0];
        // SAFETY: the memory may be read and written while operations use it (this function's contract).
        unsafe { system_call(call::DESCRIPTOR_BIND, arguments) }.map(DescriptorHandle)
    }

    /// Forgets a descriptor. Errors: operations still use it.
    pub fn release(&self, descriptor: DescriptorHandle) -> Result<()> {
        // SAFETY: no memory is involved.
        unsafe { system_call(call::DESCRIPTOR_RELEASE, [descriptor.0.into(), 0, 0, 0]) }.map(drop)
    }

    /// Appends an entry to a list of a portal-table entry. Errors: memory that is not this program's; no room.
    ///
    /// # Safety
    /// Whoever the entry names may read or write its memory, by its options, until it is unlinked.
    pub unsafe fn append(&self, table: u32, entry: &Entry, list: u32) -> Result<EntryHandle> {
        let arguments = [self.handle.into(), table.into(), address_of(entry), list.into()];
        // SAFETY: whoever the entry names may use its memory by its options (this function's contract).
        unsafe { system_call(call::ENTRY_APPEND, arguments) }.map(EntryHandle)
    }

    /// Takes an entry off its list. Errors: a message is arriving there; it is gone already.
    pub fn unlink(&self, entry: EntryHandle) -> Result<()> {
        // SAFETY: no memory is involved: others reach less.
        unsafe { system_call(call::ENTRY_UNLINK, [entry.0.into(), 0, 0, 0]) }.map(drop)
    }

    /// Looks for an unexpected message that an entry would take ([`abi::SEARCH_ONLY`], [`abi::SEARCH_DELETE`]); an event tells. Errors: as
    /// [`Interface::append`].
    pub fn search(&self, table: u32, entry: &Entry, what: u32) -> Result<()> {
        let arguments = [self.handle.into(), table.into(), address_of(entry), what.into()];
        // SAFETY: the call reads the entry, and writes nothing but events.
        unsafe { system_call(call::ENTRY_SEARCH, arguments) }.map(drop)
    }

    /// Begins an operation, or keeps it for its counting event. Errors: it makes no sense; no room.
    ///
    /// # Safety
    /// Until events tell of its end, its descriptors' memory is read, or written if it fetches.
    pub unsafe fn operate(&self, operation: &Operation) -> Result<()> {
        // SAFETY: the descriptors' memory is left to the operation until its end (this function's contract).
        unsafe { system_call(call::OPERATE, [self.handle.into(), address_of(operation), 0, 0]) }.map(drop)
    }
}

/// What [`Interface::enable`] does, by the interface's handle.
///
/// # Errors
/// There is no such entry, or no such interface.
pub fn enable(interface: u32, index: u32, on: bool) -> Result<()> {
    let ask = || {
        // SAFETY: no memory is involved.
        unsafe { system_call(call::TABLE_ENABLE, [interface.into(), index.into(), on.into(), 0]) }
    };
    let mut answer = ask();
    if !on && answer != Ok(0) {
        spin_until(|| {
            answer = ask();
            !matches!(answer, Ok(1..))
        });
    }
    answer.map(drop)
}

/// Node and process of a rank of the job, as physical interfaces name it.
pub fn physical(rank: u32) -> (u32, u32) {
    let (size, nodes) = (job().size(), job().nodes());
    let node = node_of(rank, size, nodes);
    (node, rank - first_rank_of(node, size, nodes))
}

/// How far away a rank is: 0 it is this one, 1 it is on this node, 2 it is on another.
pub fn distance(rank: u32) -> u32 {
    match rank {
        rank if rank == job().rank().0 => 0,
        rank if physical(rank).0 == job().node() => 1,
        _ => 2,
    }
}

impl Drop for Interface {
    fn drop(&mut self) {
        // SAFETY: no memory is involved: others reach less.
        // An operation still under way keeps it open, and then the job's end closes it.
        let _ = unsafe { system_call(call::INTERFACE_CLOSE, [self.handle.into(), 0, 0, 0]) };
    }
}
