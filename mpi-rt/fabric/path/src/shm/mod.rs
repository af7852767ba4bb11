//! The paths of the dissertation's chapter 3 (L. Chai): every byte is copied twice, into a buffer in shared memory by its
//! sender and out of it by its receiver. [`basic`] and [`advanced`] are its two designs; what they have in common is here.
//!
//! * A message that fits is sent at once, *eagerly*; its send completes.
//! * For a longer one the sender asks (*request to send*). When the message is matched, the receiver permits it (*ok to send*), and the
//!   sender hands over packet after packet, while the receiver copies out what has come: copying in and copying out overlap.
//!
//! Permissions and data travel in the same FIFOs as envelopes. So that they are never stuck behind messages that no receive
//! wants, the engine takes in everything from a peer with which a transfer is under way ([`crate::Path::must_take`]).

mod advanced;
mod basic;
mod content;
mod design;
mod held;
pub mod limic;
pub mod limic2;
mod link;
mod loopback;
mod offer;
pub mod ordered;
mod packet;
mod path;
mod skew;
mod transfer;
pub mod tunables;

pub use advanced::Advanced;
pub use basic::Basic;
pub use design::{Design, Entered};
pub use limic::Limic;
pub use limic2::{Hybrid, Limic2};
pub use ordered::{Mci, Mcni, Sci};
pub use tunables::Tunables;

use super::descriptors::Descriptors;
use super::{Outgoing, Sent, Ticket, UnderWay, WorldRank};
use crate::region::Region;
use crate::{Fault, Result};
use alloc::vec::Vec;
use held::Kept;
use link::{Link, Plan};
use loopback::Loopback;
use lwk_place::{Peer, peer_of};
use lwk_user::clock::ticks;
use packet::{Header, Kind};
use slab::Slab;

/// A send under way.
#[derive(Debug)]
pub struct Sending {
    /// Its own number.
    number: u32,
    message: UnderWay,
    /// What the receiver takes the message by; none for messages of a rank to itself.
    descriptor: Option<Ticket>,
    /// Bytes handed over.
    position: usize,
    /// Bytes that the receiver wants; known when the message has been matched.
    wanted: Option<usize>,
    /// The receiver's number of the transfer.
    receive: u32,
    /// The buffer was used up; the receiver will say when to go on.
    paused: bool,
    /// The receiver reads the message where it is.
    is_described: bool,
    /// What has been posted for it, if the system copies it.
    post: Option<usize>,
}

impl Sending {
    fn new(number: usize, peer: WorldRank, message: &Outgoing) -> Sending {
        let message = UnderWay { peer, source: message.source, synchronous: message.synchronous };
        let number = number as u32;
        let (descriptor, wanted) = (None, None);
        let (paused, is_described, post) = (false, false, None);
        Sending { number, message, descriptor, position: 0, wanted, receive: 0, paused, is_described, post }
    }

    fn is_done(&self) -> bool {
        self.wanted.is_some_and(|wanted| self.position >= wanted)
    }
}

/// A receive under way.
struct Receiving {
    peer: WorldRank,
    target: Region,
    /// Bytes copied out, and to copy.
    position: usize,
    wanted: usize,
    outcome: Result<()>,
    /// What has been posted for it, if the system copies it.
    post: Option<usize>,
}

/// A shared-memory transport.
pub struct Shm<D> {
    me: WorldRank,
    plan: Plan,
    /// By rank of the job; none to this rank itself and to other nodes'.
    links: Vec<Option<Link>>,
    loopback: Loopback,
    sends: Slab<Sending>,
    descriptors: Descriptors,
    receives: Slab<Receiving>,
    kept: Slab<Kept>,
    sent: Sent,
    design: D,
}

impl<D: Design> Shm<D> {
    /// Sets up the buffers between all ranks of the node. Every rank must call it once; it waits for the others. Errors: [`Fault::NoMemory`].
    pub fn start_up(tunables: &Tunables) -> Result<Shm<D>> {
        let plan = D::plan(tunables);
        let (links, cells) = link::connect(&plan)?;
        let design = D::new(tunables, cells, links.len())?;
        Ok(Shm {
            me: lwk_user::job().rank(),
            plan,
            links,
            loopback: Loopback::new(),
            sends: Slab::new(),
            descriptors: Descriptors::new(),
            receives: Slab::new(),
            kept: Slab::new(),
            sent: Sent::default(),
            design,
        })
    }

    /// The bytes of shared memory that each of `ranks` ranks makes: figure 3.5's formula.
    pub fn shared_bytes(tunables: &Tunables, ranks: usize) -> usize {
        let plan = D::plan(tunables);
        link::bytes_of_pool(&plan) + (ranks - 1) * link::bytes_per_peer(&plan)
    }

    /// Deals with control and data at the front of a peer's FIFO; then the front is an envelope, if anything.
    fn look(&mut self, peer: WorldRank) -> Option<Header> {
        let link = self.links.get_mut(peer.index())?.as_mut()?;
        if !link.permissions.is_empty() {
            link.give_permissions();
        }
        while link.front.is_none() && link.consumer.has_packet() {
            // SAFETY: there is a packet.
            let Some(header) = (unsafe { Header::read(&link.consumer) }) else {
                unreachable!("a packet of no kind");
            };
            match header.kind {
                Kind::Eager | Kind::Loaded | Kind::Request => {
                    link.front = Some(header);
                    break;
                }
                Kind::Go => {
                    if let Some(send) = self.sends.get_mut(header.peer_id as usize) {
                        (send.wanted, send.receive, send.paused) = (Some(header.bytes), header.own_id, false);
                        // The receiver wants it through shared memory.
                        if let (true, Some(post)) = (D::ORDERS, send.post.take()) {
                            self.design.take_back(post);
                            (self.sent.by_system, self.sent.unfit) =
                                (self.sent.by_system - 1, self.sent.unfit + 1);
                        }
                    }
                }
                Kind::Pace => self.design.pace(peer, header.bytes != 0),
                Kind::More => {
                    if let Some(receive) = self.receives.get(header.peer_id as usize) {
                        link.permit(header.own_id, header.peer_id, receive.wanted);
                    }
                }
                Kind::Data => {
                    if let Some(receive) = self.receives.get_mut(header.peer_id as usize) {
                        // SAFETY: `header` is the front packet's; the receive's target is writable until
                        // `advance` says done (`Path::deliver`'s contract).
                        let (bytes, outcome) = unsafe {
                            let cells = header.read_cells(&link.consumer);
                            self.design.copy_out(link, &header, &cells, receive.position, &receive.target)
                        };
                        receive.position += bytes;
                        receive.outcome = receive.outcome.and(outcome);
                    }
                }
            }
            // SAFETY: the packet has been dealt with.
            unsafe { link.consumer.advance(header.packet_bytes(D::payload(&header))) };
        }
        link.front
    }

    /// A message has entered the shared memory, or goes by the system.
    fn count(&mut self, message: &Outgoing, entered: Entered) {
        self.sent.messages += 1;
        match entered {
            Entered::Copied | Entered::Described | Entered::Ordered(_) => self.sent.by_system += 1,
            Entered::Whole | Entered::Asked(_) => {
                let is_fit = message.source.bytes() > 0 && message.source.contiguous().is_some();
                self.sent.unfit += u64::from(!is_fit);
            }
        }
    }

    /// When this rank comes for a message of a peer, if it watches whether it is late.
    fn comes(&mut self, peer: WorldRank, bytes: usize) -> Option<u64> {
        self.design.watch(peer, bytes).map(|_| ticks())
    }

    /// It has taken the message for which it had come then, and tells the peer if what the peer should do has changed.
    fn has_taken(&mut self, peer: WorldRank, bytes: usize, came: Option<u64>) {
        let (Some(came), Some(watch)) = (came, self.design.watch(peer, bytes)) else { return };
        let Some(link) = self.links.get_mut(peer.index()).and_then(Option::as_mut) else { return };
        let behind = link.waiting(watch.enough(peer.index()), D::payload);
        if let Some(is_late) = watch.taken(peer.index(), came, ticks(), behind) {
            link.pace(is_late);
        }
    }
}

/// A rank of this node that has sent something.
fn node_peer(peer: WorldRank) -> Result<Peer> {
    peer_of(peer).ok_or(Fault::Internal)
}
