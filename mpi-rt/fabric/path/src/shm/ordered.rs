//! `mcni`, `mci` and `sci`: the dissertation's asynchronous copies (section 5.2). Short messages go through shared memory as in [`super::basic`]. For a longer one the sender sends a *request to
//! send* and has the system offer its buffer (an asynchronous write); when the library has matched the message, the receiver has the system read what is offered. A worker copies, on a core of
//! its own (`mcni`), or the copy engine, which a worker starts (`mci`) or the rank's own system call (`sci`): both ranks compute meanwhile, and look whether it is done when they make progress. The requests that they look at are the *pending queues*.
//!
//! Threshold: section 5.3, 32 KiB. A message that is not one block on both sides goes through shared memory: the receiver permits it as in [`super::basic`], and the
//! sender takes its offer back.

use super::link::{Link, Plan};
use super::packet::Header;
use super::{Design, Entered, Tunables, basic, offer};
use crate::region::Region;
use crate::setting::{Bad, refuse};
use crate::{Outgoing, Result, WorldRank};
use alloc::boxed::Box;
use alloc::format;
use lwk_place::{Peer, peer_of};
use lwk_shm::Cells;
use lwk_user::abi::engine::{BY_ENGINE, BY_WORKER, BY_WORKER_AND_ENGINE};
use lwk_user::engine::{self, Way};
use lwk_user::limic::Request;
use slab::Slab;

/// A worker copies.
pub type Mcni = Ordered<BY_WORKER>;
/// A worker has the copy engine copy.
pub type Mci = Ordered<BY_WORKER_AND_ENGINE>;
/// The rank has the copy engine copy.
pub type Sci = Ordered<BY_ENGINE>;

/// The state of the design: what this rank has posted.
pub struct Ordered<const WAY: u64> {
    /// Messages of more bytes are ordered.
    above: usize,
    /// Writes and reads that are not done. Boxes: the system knows where they are.
    posts: Slab<Box<Request>>,
}

/// Ends the job, in one line, if it has no workers: called by every rank.
pub fn require(name: &str) {
    if engine::workers() == 0 {
        refuse(&Bad(format!("{name}: this job has no worker; give it a core of its own with --workers 1")));
    }
}

impl<const WAY: u64> Ordered<WAY> {
    const BY: Way = match WAY {
        BY_WORKER_AND_ENGINE => Way::WorkerAndEngine,
        BY_ENGINE => Way::Engine,
        _ => Way::Worker,
    };

    /// Posts a request; its number if the system takes it.
    fn post(&mut self, post: impl FnOnce(&Request) -> bool) -> Option<usize> {
        let request = Box::new(Request::new());
        post(&request).then(|| self.posts.insert(request))
    }
}

impl<const WAY: u64> Design for Ordered<WAY> {
    const ORDERS: bool = true;

    fn new(tunables: &Tunables, _: Option<Cells<'static>>, _: usize) -> Result<Ordered<WAY>> {
        Ok(Ordered { above: tunables.engine_above, posts: Slab::new() })
    }

    unsafe fn begin(
        &mut self,
        link: &mut Link,
        peer: WorldRank,
        message: &Outgoing,
        number: u32,
        name: impl FnOnce() -> u64,
    ) -> Option<Entered> {
        let bytes = message.source.bytes();
        let block = message.source.contiguous().filter(|_| bytes > self.above).zip(peer_of(peer));
        if block.is_some() && !offer::has_room(link) {
            return None;
        }
        let offered = block.and_then(|(buffer, to)| {
            // SAFETY: the buffer stays and is left alone until the send is done (this function's contract); the box stays until it is done or taken back.
            let offer = |request: &Request| unsafe {
                engine::iwrite(request, Self::BY, to.node_rank(), number.into(), buffer, bytes).is_ok()
            };
            self.post(offer)
        });
        let Some(post) = offered else {
            // What the system does not take goes the other way.
            // SAFETY: this function's contract.
            return unsafe { basic::begin(link, message, number, name) };
        };
        // SAFETY: there is room.
        unsafe { offer::write(link, message, number, name()) };
        Some(Entered::Ordered(post))
    }

    unsafe fn read(&mut self, peer: Peer, header: &Header, target: &Region) -> Option<usize> {
        let bytes = header.bytes.min(target.bytes());
        let buffer = target.contiguous().filter(|_| offer::is(header) && bytes > 0)?;
        // SAFETY: the target stays and is nobody else's until the receive is done (this function's contract); the box stays until it is done.
        let read = |request: &Request| unsafe {
            engine::iread(request, Self::BY, peer.node_rank(), header.own_id.into(), buffer, bytes).is_ok()
        };
        self.post(read)
    }

    fn outcome(&mut self, post: usize) -> Option<Result<()>> {
        let look = || self.posts.get(post).is_none_or(|request| engine::check(request).is_some());
        // Where no worker looks what the engine has done, the ranks do.
        let is_done = look() || (WAY == BY_ENGINE && engine::look() > 0 && look());
        if is_done {
            self.posts.try_remove(post);
        }
        is_done.then_some(Ok(()))
    }

    fn take_back(&mut self, post: usize) {
        let Some(request) = self.posts.try_remove(post) else { return };
        // Nobody reads it: the receiver has not taken the message, or has it come another way.
        assert!(engine::withdraw_write(&request) == Ok(true), "an offer that nobody reads is still there");
    }

    unsafe fn relocate(&mut self, post: usize, copy: *const u8) -> bool {
        let Some(request) = self.posts.get(post) else { return false };
        // SAFETY: this function's contract.
        unsafe { engine::relocate(request, copy) == Ok(true) }
    }

    fn eager(&self, plan: &Plan) -> usize {
        basic::eager(plan).min(self.above)
    }
}
