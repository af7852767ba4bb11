//! The `portals` path: messages between ranks of different nodes, by puts and gets that the nodes' kernels carry out.
//!
//! * A short message is put with its content into a ring at the receiver that belongs to its sender ([`window`]), and its send is complete. Up
//!   to [`wire::VOLATILE`] bytes the kernel copies; longer ones lie in a staging area until the receiver's node has them.
//! * A longer one, or a synchronous one, stays where it is. Its request is put into the ring, and the receiver fetches the content by a get straight into
//!   the receive buffer, without the sender ([`content`]).
//! * A receive of one peer that is longer than that can be the kernel's to match ([`posts`]): then either comes in while this rank is elsewhere.
//!
//! The receiver frees a ring in order, and tells how far it has come with whatever it puts the other way, or by a word at the sender if there is nothing.
//! So what arrives always has room, and so has its event. A receiver that takes nothing in keeps its senders waiting, and nobody else.
//!
//! What is known of a peer begins with the first message to it or from it.

mod arrivals;
mod content;
mod head;
mod meeting;
mod posts;
mod staging;
mod window;
mod wire;
mod words;

use crate::region::{Region, content as content_of, copy_regions};
use crate::{
    Arrival, BetweenNodes, Delivery, Fault, Held, Label, Limits, Matching, Memory, Outgoing, Path, Result,
    Sent, Started, Ticket, UnderWay,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use arrivals::{Front, Peer, What};
use content::{Contents, FETCH, Fetches};
use core::fmt;
use head::{Kind, Request};
use lwk_copy::threshold::PUT_LIMIT;
use lwk_place::WorldRank;
use lwk_user::portals::abi::{Event, event, failure};
use lwk_user::{eprintln, job, start, wait};
use posts::{POSTED, Posts};
use staging::{STAGED, Staging};
use window::Form;
use wire::{Target, VOLATILE, Wire};
use words::Word;

/// Arrivals that have room beside those: meetings of nodes.
const SPARE: usize = 64;
/// `user` of puts that nothing is to be known of but their failure, and above the peer's rank.
const SHORT: u64 = 1 << 62;

/// See the module.
pub struct Portals {
    wire: Wire,
    form: Form,
    me: WorldRank,
    eager_limit: usize,
    /// By rank of the job, from the first message on.
    peers: Vec<Option<Box<Peer>>>,
    staging: Staging,
    contents: Contents,
    fetches: Fetches,
    /// Receives that the kernel matches.
    posts: Posts,
    /// Requests that are held, by number.
    kept: slab::Slab<Kept>,
    /// The request whose content this rank is beginning to fetch, unless its sender has taken it back meanwhile.
    beginning: Option<(WorldRank, u64)>,
    meetings: meeting::Seen,
    /// Messages sent.
    sent: u64,
    /// Calls that have been taken, of all that have come.
    calls: u32,
}

/// A request that is held.
enum Kept {
    At {
        peer: WorldRank,
        token: u64,
        bytes: usize,
    },
    /// A matched probe has had its content fetched.
    Fetched(Box<[u8]>),
    Cancelled,
}

/// Arrivals that have room at a time.
fn arrivals(size: usize, form: Form) -> usize {
    size * form.units() as usize + SPARE + posts::AT_A_TIME
}

/// Ends the job: what this path stands on is gone.
#[cold]
fn end_job(why: fmt::Arguments<'_>) -> ! {
    eprintln!("rank {}: {why}", job().rank());
    start::exit(1)
}

impl Portals {
    /// Opens this rank's end. Errors: [`Fault::NoMemory`], [`Fault::NoNetwork`].
    pub fn start_up() -> Result<Portals> {
        let size = job().size();
        let form = Form::of(size);
        let arrivals = arrivals(size as usize, form);
        let eager_limit = form.most_bytes().min(PUT_LIMIT);
        Ok(Portals {
            wire: Wire::open(form.bytes(), arrivals)?,
            form,
            me: job().rank(),
            eager_limit,
            peers: (0..size).map(|_| None).collect(),
            staging: Staging::new(eager_limit),
            contents: Contents::default(),
            fetches: Fetches::default(),
            posts: Posts::default(),
            kept: slab::Slab::new(),
            beginning: None,
            meetings: meeting::Seen::default(),
            sent: 0,
            calls: 0,
        })
    }

    /// Takes in what has become of this rank's operations, and begins what there was no room for.
    fn take_outcomes(&mut self) {
        while let Some(event) = self.wire.next_own() {
            self.take_outcome(&event);
        }
        self.fetches.begin_waiting(&self.wire);
    }

    fn take_outcome(&mut self, event: &Event) {
        if event.dropped != 0 {
            end_job(format_args!("an event of Portals has been lost"));
        }
        if matches!(event.failure, failure::UNDELIVERABLE | failure::TARGET_INVALID)
            && !self.meetings.is_meeting()
        {
            end_job(format_args!("a rank of another node cannot be reached any more"));
        }
        match event.kind {
            event::GET => self.contents.fetched(event.user),
            event::REPLY if event.user & POSTED != 0 => self.posts.fetched(event),
            event::REPLY => self.fetches.ended(&self.wire, event.user & !FETCH, event.failure),
            event::ACK => self.meetings.answered(event.failure == failure::OK),
            event::SEND if event.user & STAGED != 0 => self.staging.sent(event.user & !STAGED),
            _ => {}
        }
    }

    /// Tells a peer that a message is being taken back, and waits until its node has that, but for no rank. False if there is no room.
    fn tell_cancelled(&mut self, peer: WorldRank, token: u64) -> bool {
        // SAFETY: nothing is put from it.
        let Ok(by) = (unsafe { self.wire.bind(self.wire.start_of_scratch(), 0) }) else { return false };
        self.meetings.ask();
        let has_begun = self.put_into_ring(peer, (Kind::Cancel, Label(token)), 0, |wire, target| {
            wire.put_acknowledged(target, by, SHORT | u64::from(peer.0))
        });
        if has_begun {
            wait::spin_until(|| {
                self.take_outcomes();
                self.meetings.is_answered()
            });
        }
        self.wire.release(by);
        has_begun
    }

    /// Begins to fetch content. If its sender is taking it back just now, waits for the nodes between until it is known who was first.
    ///
    /// Whoever takes a message back tells so, waits until the receiver's node has that, and looks then whether the content has been fetched. Messages of one node to
    /// another keep their order. So a get that was begun before this rank could see that has come first; of any other one this waits for the end.
    ///
    /// # Safety
    /// As for [`Fetches::begin`].
    unsafe fn fetch(
        &mut self,
        peer: WorldRank,
        token: u64,
        bytes: usize,
        target: &Region,
    ) -> Result<Delivery> {
        self.beginning = Some((peer, token));
        // SAFETY: this function's contract.
        let begun = unsafe { self.fetches.begin(&self.wire, peer, token, bytes, target) };
        let Ok(Delivery::Underway(ticket)) = begun else { return begun };
        let number = ticket.0 & !(FETCH as usize);
        wait::spin_until(|| {
            self.take_outcomes();
            self.fetches.has_begun(number)
        });
        self.take_arrivals();
        if self.beginning.take().is_some() {
            return begun;
        }
        let mut outcome = None;
        wait::spin_until(|| {
            self.take_outcomes();
            outcome = self.fetches.take_ended(number);
            outcome.is_some()
        });
        Ok(if outcome == Some(Ok(())) { Delivery::Done } else { Delivery::Cancelled })
    }

    /// Sends a message with its content. False if there is no room now.
    ///
    /// # Safety
    /// The message's bytes are readable, its layout's datatype lives.
    unsafe fn begin_eager(&mut self, peer: WorldRank, message: &Outgoing) -> bool {
        let (bytes, as_what) = (message.source.bytes(), (Kind::Eager, message.label));
        if bytes <= VOLATILE {
            let scratch = Region::block(self.wire.scratch().as_mut_ptr(), bytes);
            // SAFETY: the message is readable (this function's contract), and the scratch has room for it. This rank's own layout is sound, so the
            // copy cannot fail.
            let copied = unsafe { copy_regions(&message.source, &scratch) };
            debug_assert!(copied.is_ok());
            let user = SHORT | u64::from(peer.0);
            return self
                .put_into_ring(peer, as_what, bytes, |wire, target| wire.put_scratch(target, bytes, user));
        }
        // SAFETY: the message is readable (this function's contract).
        let Some(place) = (unsafe { self.staging.take(&self.wire, &message.source) }) else { return false };
        let put = |wire: &Wire, target: &Target| place.put(wire, target, bytes);
        let has_begun = self.put_into_ring(peer, as_what, bytes, put);
        if !has_begun {
            self.staging.sent(place.number());
        }
        has_begun
    }

    /// Sends the request of a message, whose content stays. `None` if there is no room now.
    ///
    /// # Safety
    /// As for [`Path::begin`].
    unsafe fn begin_request(&mut self, peer: WorldRank, message: &Outgoing) -> Option<Ticket> {
        let of = UnderWay { peer, source: message.source, synchronous: message.synchronous };
        // SAFETY: the message stays readable until the send is done (this function's contract).
        let (number, token) = unsafe { self.contents.expose(&self.wire, of)? };
        let request = Request { bytes: message.source.bytes() as u64, token };
        self.wire.scratch()[..Request::BYTES].copy_from_slice(&request.to_bytes());
        let user = SHORT | u64::from(peer.0);
        let put = |wire: &Wire, target: &Target| wire.put_scratch(target, Request::BYTES, user);
        if self.put_into_ring(peer, (Kind::Request, message.label), Request::BYTES, put) {
            return Some(Ticket(number));
        }
        // Nobody knows of it.
        self.contents.withdraw(&self.wire, number);
        None
    }

    /// Fetches the content of a request that is held, so that its sender cannot take it back; false if it has. Waits for the nodes between, and for no
    /// rank.
    fn reserve(&mut self, peer: WorldRank, number: usize, token: u64, bytes: usize) -> bool {
        let mut copy: Vec<u8> = Vec::new();
        if copy.try_reserve_exact(bytes).is_err() {
            end_job(format_args!("no memory for a message of {bytes} bytes that a probe has matched"));
        }
        copy.resize(bytes, 0);
        let target = Region::block(copy.as_mut_ptr(), bytes);
        // SAFETY: the copy is new, and is left alone until the fetch has ended, below.
        let Ok(Delivery::Underway(ticket)) =
            (unsafe { self.fetches.begin(&self.wire, peer, token, bytes, &target) })
        else {
            return false;
        };
        let fetch = (ticket.0 as u64 & !FETCH) as usize;
        let mut outcome = None;
        wait::spin_until(|| {
            self.take_outcomes();
            outcome = self.fetches.take_ended(fetch);
            outcome.is_some()
        });
        let is_there = outcome == Some(Ok(()));
        self.kept[number] = if is_there { Kept::Fetched(copy.into_boxed_slice()) } else { Kept::Cancelled };
        is_there
    }
}

impl Path for Portals {
    unsafe fn begin(&mut self, peer: WorldRank, message: &Outgoing) -> Started {
        self.take_arrivals();
        self.take_outcomes();
        let started = if message.source.bytes() <= self.eager_limit && !message.synchronous {
            // SAFETY: the message is readable (this function's contract).
            if unsafe { self.begin_eager(peer, message) } { Started::Done } else { Started::Full }
        } else {
            // SAFETY: the message stays readable until the send is done (this function's contract).
            unsafe { self.begin_request(peer, message) }.map_or(Started::Full, Started::Underway)
        };
        self.sent += u64::from(started != Started::Full);
        started
    }

    unsafe fn advance(&mut self, ticket: Ticket) -> Option<Result<()>> {
        self.take_outcomes();
        if ticket.0 as u64 & FETCH != 0 {
            return self.fetches.take_ended((ticket.0 as u64 & !FETCH) as usize);
        }
        self.contents.take_fetched(ticket.0).then_some(Ok(()))
    }

    unsafe fn under_way(&self, ticket: Ticket) -> UnderWay {
        self.contents.of(ticket.0)
    }

    unsafe fn cancel(&mut self, ticket: Ticket) -> bool {
        let peer = self.contents.of(ticket.0).peer;
        let token = self.contents.token(ticket.0);
        self.tell_cancelled(peer, token) && self.contents.withdraw(&self.wire, ticket.0)
    }

    unsafe fn relocate(&mut self, ticket: Ticket, copy: &mut dyn FnMut() -> Option<*const u8>) -> bool {
        let Some(copy) = copy() else { return false };
        // SAFETY: the copy holds the message's bytes and stays until the send is done (this function's contract).
        unsafe { self.contents.relocate(&self.wire, ticket.0, copy) }
    }

    fn arrival(&mut self, peer: WorldRank) -> Option<Arrival> {
        self.take_arrivals();
        self.take_outcomes();
        self.peers[peer.index()].as_ref()?;
        self.tell_freed(peer);
        while self.peer(peer).arrived.front()?.what == What::Nothing {
            self.take_front(peer);
        }
        let front = self.peer(peer).arrived.front()?;
        let eager = matches!(front.what, What::Content(_));
        Some(Arrival { label: front.label, bytes: front.bytes, eager })
    }

    unsafe fn deliver(&mut self, peer: WorldRank, _: &Arrival, target: &Region) -> Result<Delivery> {
        let front = self.peer(peer).arrived.front().copied().ok_or(Fault::Internal)?;
        let delivery = match front.what {
            What::Content(at) => {
                let source = Region::block(at, front.bytes);
                // SAFETY: the content lies in the ring until it is freed, below; `target` is writable (this function's contract).
                unsafe { copy_regions(&source, target) }.map(|_| Delivery::Done)
            }
            // SAFETY: `target` is writable until the delivery is done (this function's contract).
            What::Request(token) => unsafe { self.fetch(peer, token, front.bytes, target) },
            What::Nothing => Ok(Delivery::Cancelled),
        };
        if delivery != Err(Fault::NoMemory) {
            self.take_front(peer);
            self.tell_freed(peer);
        }
        delivery
    }

    unsafe fn hold(&mut self, peer: WorldRank, _: &Arrival) -> Option<Held> {
        let front = self.peer(peer).arrived.front().copied()?;
        let held = match front.what {
            What::Content(at) => {
                // SAFETY: the content lies in the ring until it is freed, below.
                let copy = unsafe { content_of(&Region::block(at, front.bytes)) }.ok()?;
                Held::Copy(copy.into_boxed_slice())
            }
            What::Request(token) => {
                Held::Kept(self.kept.insert(Kept::At { peer, token, bytes: front.bytes }))
            }
            What::Nothing => Held::Cancelled,
        };
        self.take_front(peer);
        self.tell_freed(peer);
        Some(held)
    }

    unsafe fn deliver_held(&mut self, peer: WorldRank, held: Held, target: &Region) -> Result<Delivery> {
        let copy = match held {
            Held::Copy(copy) => copy,
            Held::Kept(number) => match self.kept.remove(number) {
                // SAFETY: `target` is writable until the delivery is done (this function's contract).
                Kept::At { token, bytes, .. } => unsafe {
                    return self.fetch(peer, token, bytes, target);
                },
                Kept::Fetched(copy) => copy,
                Kept::Cancelled => return Ok(Delivery::Cancelled),
            },
            Held::Cancelled => return Ok(Delivery::Cancelled),
            Held::AtSender { .. } => return Err(Fault::Internal),
        };
        // SAFETY: the copy is this path's own; `target` is writable (this function's contract).
        unsafe { copy_regions(&Region::block(copy.as_ptr(), copy.len()), target) }.map(|_| Delivery::Done)
    }

    unsafe fn is_there(&mut self, peer: WorldRank, held: &Held, reserve: bool) -> bool {
        self.take_arrivals();
        let Held::Kept(number) = *held else { return !matches!(held, Held::Cancelled) };
        if let (true, Kept::At { token, bytes, .. }) = (reserve, &self.kept[number]) {
            let (token, bytes) = (*token, *bytes);
            return self.reserve(peer, number, token, bytes);
        }
        !matches!(self.kept[number], Kept::Cancelled)
    }

    fn limits(&self) -> Limits {
        Limits { eager: self.eager_limit }
    }

    fn sent(&self) -> Sent {
        Sent { messages: self.sent, ..Sent::default() }
    }

    fn memory(&self) -> Memory {
        let queues = (arrivals(self.peers.len(), self.form) + wire::OWN_EVENTS) * size_of::<Event>();
        let known = self
            .peers
            .iter()
            .flatten()
            .map(|it| size_of::<Peer>() + it.arrived.capacity() * size_of::<Front>());
        Memory {
            fixed: size_of::<Self>() + self.wire.bytes() + self.staging.bytes() + queues,
            per_peer: size_of::<Option<Box<Peer>>>(),
            dynamic: known.sum::<usize>() + self.contents.bytes(),
        }
    }
    fn matching(&mut self) -> Option<&mut dyn Matching> {
        Some(self)
    }

    fn between_nodes(&mut self) -> Option<&mut dyn BetweenNodes> {
        Some(self)
    }
}

impl BetweenNodes for Portals {
    fn meet_nodes(&mut self) -> Result<()> {
        self.meet()
    }

    fn call(&mut self, peer: WorldRank) {
        wait::spin_until(|| {
            self.take_arrivals();
            self.take_outcomes();
            self.wire.add(peer, Word::Calls, 1, SHORT | u64::from(peer.0)).is_ok()
        });
    }

    fn take_calls(&mut self) -> u32 {
        let all = self.wire.told(Word::Calls);
        all.wrapping_sub(core::mem::replace(&mut self.calls, all))
    }
}
