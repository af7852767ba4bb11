//! What the designs of paths through shared memory do differently: how messages enter it and leave it.

use super::link::{Link, Plan};
use super::packet::{CellList, Header, Kind};
use super::skew::Watch;
use super::{Sending, Tunables, basic};
use crate::region::Region;
use crate::{Outgoing, Received, Result, WorldRank};
use lwk_place::Peer;

/// How messages enter and leave the shared memory: one of the dissertation's two designs, or one in which the system copies the longer ones. What a design does
/// not say is as in the basic one ([`super::basic`]).
pub trait Design: Sized {
    /// Whether the system copies some messages while both ranks go on, and tells them when it is done.
    const ORDERS: bool = false;
    /// Whether it matches receives that it is handed ([`crate::Matching`]).
    const MATCHES: bool = false;

    /// How much memory, and where.
    fn plan(tunables: &Tunables) -> Plan {
        basic::plan(tunables)
    }

    /// The design's own state, after all ranks are connected.
    fn new(tunables: &Tunables, cells: Option<lwk_shm::Cells<'static>>, peers: usize) -> Result<Self>;

    /// Starts a message. `number` is that of its send, and `name` names its descriptor, if it needs them; `None` if there is no room.
    ///
    /// # Safety
    /// As for [`crate::Path::begin`].
    unsafe fn begin(
        &mut self,
        link: &mut Link,
        peer: WorldRank,
        message: &Outgoing,
        number: u32,
        name: impl FnOnce() -> u64,
    ) -> Option<Entered>;

    /// Hands over what there is room for of a message that may go on.
    ///
    /// # Safety
    /// The send's source is readable.
    unsafe fn push(&mut self, link: &mut Link, send: &mut Sending, plan: &Plan) {
        // SAFETY: this function's contract.
        unsafe { basic::push(link, send, plan.chunk) }
    }

    /// Copies out, up to the end of `target`, what a packet brings, of which `position` is the first byte's place in the message, and how many
    /// bytes these were. `cells` are those it names. The caller removes the packet.
    ///
    /// # Safety
    /// The header is that of the packet at the front of the link, or its cells have been kept; the target is writable.
    unsafe fn copy_out(
        &mut self,
        link: &Link,
        header: &Header,
        _cells: &CellList,
        position: usize,
        target: &Region,
    ) -> (usize, Result<()>) {
        // SAFETY: this function's contract.
        unsafe { basic::copy_out(link, header, position, target) }
    }

    /// Whether a request says where the content is ([`Entered::Described`]): the receiver, when it has read that, tells the sender by the descriptor.
    fn is_described(_: &Header) -> bool {
        false
    }

    /// What a request names has moved at the sender: its content is one block there, at an address as the sender calls it.
    fn moved(_: &mut CellList, _: u64) {}

    /// What watches whether this rank is late for a peer's messages, if those of so many bytes depend on that.
    fn watch(&mut self, _peer: WorldRank, _bytes: usize) -> Option<&mut Watch> {
        None
    }

    /// The peer says whether it is late for this rank's messages.
    fn pace(&mut self, _peer: WorldRank, _is_late: bool) {}

    /// Whether it has said so last.
    fn is_late(&self, _peer: WorldRank) -> bool {
        false
    }

    /// Has the system copy a message that it has been offered ([`Entered::Ordered`]), as much as the target has room for; the number of what is posted for that. None
    /// if it must come another way.
    ///
    /// # Safety
    /// The target is writable, and nobody else uses it, until [`Design::outcome`].
    unsafe fn read(&mut self, _peer: Peer, _header: &Header, _target: &Region) -> Option<usize> {
        None
    }

    /// What has come of what has been posted, if it is done; its number is void then.
    fn outcome(&mut self, _post: usize) -> Option<Result<()>> {
        Some(Ok(()))
    }

    /// Takes an offer back that nobody reads; its number is void.
    fn take_back(&mut self, _post: usize) {}

    /// Offers a copy of the same bytes from now on; false if the offer is being read.
    ///
    /// # Safety
    /// The copy stays until [`Design::outcome`].
    unsafe fn relocate(&mut self, _post: usize, _copy: *const u8) -> bool {
        false
    }

    /// As [`crate::Matching::takes_above`].
    fn takes_above(&self) -> usize {
        usize::MAX
    }

    /// As [`crate::Matching::post`], with the number of what is posted.
    ///
    /// # Safety
    /// As there.
    unsafe fn post(
        &mut self,
        _peer: Peer,
        _context: u32,
        _tag: Option<i32>,
        _target: &Region,
    ) -> Option<usize> {
        None
    }

    /// As [`crate::Matching::posted`].
    fn posted(&mut self, _post: usize) -> Option<Received> {
        None
    }

    /// As [`crate::Matching::recall`].
    fn recall(&mut self, _post: usize) -> Option<Received> {
        None
    }

    /// The longest message that is sent at once, if there is room.
    fn eager(&self, plan: &Plan) -> usize {
        basic::eager(plan)
    }

    /// Bytes behind header and cells in a packet of that kind.
    fn payload(header: &Header) -> usize {
        if matches!(header.kind, Kind::Eager | Kind::Data) { header.bytes } else { 0 }
    }
}

/// How a message has entered the shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entered {
    Whole,
    /// It has not: the system has copied it into a receive that was there.
    Copied,
    /// A request, with this many bytes of the message.
    Asked(usize),
    /// A request that says where the content is: the receiver has the system copy it from there.
    Described,
    /// A request; the content has been offered to the system by what has this number.
    Ordered(usize),
}
