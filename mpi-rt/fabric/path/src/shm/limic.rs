//! `limic`: the dissertation's kernel copy, first generation (chapter 4). Short messages go through shared memory as in [`super::basic`]. Longer ones are matched and copied by the
//! system, whose queues hold sends and receives of each pair of ranks; the one that comes later copies (section 4.2.3).
//!
//! * The library hands a receive from one rank of the node, of one tag or any, to the system ([`Design::post`]). A send that finds it there copies, and nothing else travels.
//! * A send that finds none posts itself under a number, and announces that in the FIFO, as a *request to send*. When the library has matched the announcement, the receiver
//!   has the system copy. So receives from any source are matched by the library (section 4.2.4).
//!
//! The dissertation leaves open how messages in two queues keep MPI's order. Here a send asks for a receive only when its receiver has taken in all that was sent before; and the library
//! takes receives back from the system before it takes in a message that might be theirs. Where the dissertation's library probes the system's queue (`LiMIC_Iprobe`) this one meets the announcement, which
//! costs no system call and stands in its order.
//!
//! Threshold: section 4.3.1, 4 KiB. A message that is not one block on both sides goes through shared memory.

use super::link::{Link, Plan};
use super::packet::Header;
use super::{Design, Entered, Tunables, basic, offer};
use crate::region::Region;
use crate::{Fault, Label, Outgoing, Received, Result, WorldRank};
use alloc::boxed::Box;
use lwk_place::{Peer, peer_of};
use lwk_shm::Cells;
use lwk_user::limic::{Request, irecv, isend, isend_if_awaited};
use lwk_user::wait::spin_until;
use slab::Slab;

/// The context of sends that are announced, which no communicator has. Their tag is the number of the send.
const ANNOUNCED: u32 = crate::CHANGE - 1;

/// The state of the design: what this rank has posted.
pub struct Limic {
    /// Messages of more bytes are the system's.
    above: usize,
    /// Sends that have been announced and receives that have been handed over. Boxes: the system knows where they are.
    posts: Slab<Box<Request>>,
}

impl Limic {
    /// Posts a request; its number if the system takes it.
    fn enter(&mut self, post: impl FnOnce(&Request) -> bool) -> Option<usize> {
        let request = Box::new(Request::new());
        post(&request).then(|| self.posts.insert(request))
    }

    /// Sends a message if a receive waits for it: whether that is done, with whatever outcome.
    ///
    /// # Safety
    /// The buffer is readable for so many bytes.
    unsafe fn send_if_awaited(peer: Peer, label: Label, buffer: *const u8, bytes: usize) -> bool {
        let request = Request::new();
        let (to, context, tag) = (peer.node_rank(), label.context(), label.tag());
        // SAFETY: this function's contract; what has been matched is done when the call returns.
        let sent = unsafe { isend_if_awaited(&request, to, context, tag, buffer, bytes) };
        // If it could not be copied, the receiver has been told.
        sent == Ok(true) || request.outcome().is_some()
    }
}

/// What has come of a receive, if it is done.
fn received(request: &Request) -> Option<Received> {
    Some(match request.outcome()? {
        Ok(message) => {
            let label = Label::new(message.context, message.tag);
            Received { label, bytes: message.bytes as usize, outcome: Ok(()) }
        }
        // What it was is not known.
        Err(_) => Received { label: Label(0), bytes: 0, outcome: Err(Fault::Internal) },
    })
}

impl Design for Limic {
    const ORDERS: bool = true;
    const MATCHES: bool = true;

    fn new(tunables: &Tunables, _: Option<Cells<'static>>, _: usize) -> Result<Limic> {
        Ok(Limic { above: tunables.kernel_above, posts: Slab::new() })
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
        let Some((buffer, to)) = block else {
            // SAFETY: this function's contract.
            return unsafe { basic::begin(link, message, number, name) };
        };
        // SAFETY: the buffer is readable (this function's contract).
        if link.producer.is_empty() && unsafe { Limic::send_if_awaited(to, message.label, buffer, bytes) } {
            return Some(Entered::Copied);
        }
        if !offer::has_room(link) {
            return None;
        }
        let tag = number as i32;
        // SAFETY: the buffer stays and is left alone until the send is done (this function's contract); the box stays until it is done or taken back.
        let send = |request: &Request| unsafe {
            isend(request, to.node_rank(), ANNOUNCED, tag, buffer, bytes).is_ok()
        };
        let Some(post) = self.enter(send) else {
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
        let tag = header.own_id as i32;
        // SAFETY: the target stays and is nobody else's until the receive is done (this function's contract); the box stays until it is done.
        let receive = |request: &Request| unsafe {
            irecv(request, peer.node_rank(), ANNOUNCED, Some(tag), buffer, bytes).is_ok()
                || request.outcome().is_some()
        };
        self.enter(receive)
    }

    fn outcome(&mut self, post: usize) -> Option<Result<()>> {
        let Some(request) = self.posts.get(post) else { return Some(Ok(())) };
        let outcome = request.outcome()?.map(drop).map_err(|_| Fault::Internal);
        self.posts.remove(post);
        Some(outcome)
    }

    fn take_back(&mut self, post: usize) {
        let Some(request) = self.posts.try_remove(post) else { return };
        // Nobody receives it: the receiver has not taken the message, or has it come another way.
        assert!(request.withdraw_send() == Ok(true), "a send that nobody receives is still there");
    }

    unsafe fn relocate(&mut self, post: usize, copy: *const u8) -> bool {
        let Some(request) = self.posts.get(post) else { return false };
        // SAFETY: this function's contract.
        unsafe { request.relocate(copy) == Ok(true) }
    }

    fn takes_above(&self) -> usize {
        self.above
    }

    unsafe fn post(&mut self, peer: Peer, context: u32, tag: Option<i32>, target: &Region) -> Option<usize> {
        let bytes = target.bytes();
        let buffer = target.contiguous().filter(|_| bytes > self.above)?;
        // SAFETY: the target stays and is nobody else's until the receive is done or recalled (this function's contract), and so does the box.
        let receive = |request: &Request| unsafe {
            irecv(request, peer.node_rank(), context, tag, buffer, bytes).is_ok()
        };
        self.enter(receive)
    }

    fn posted(&mut self, post: usize) -> Option<Received> {
        let received = received(self.posts.get(post)?)?;
        self.posts.remove(post);
        Some(received)
    }

    fn recall(&mut self, post: usize) -> Option<Received> {
        let request = self.posts.try_remove(post)?;
        let is_withdrawn = request.withdraw_receive();
        assert!(is_withdrawn.is_ok(), "a receive that was posted is not as it was");
        if is_withdrawn == Ok(true) {
            return None;
        }
        // Its sender is copying, or has copied.
        spin_until(|| request.outcome().is_some());
        received(&request)
    }

    fn eager(&self, plan: &Plan) -> usize {
        basic::eager(plan).min(self.above)
    }
}
