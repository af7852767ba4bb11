//! Receives that the kernel matches: it puts a message of theirs into the receive buffer, or fetches it there, while this rank is elsewhere.
//!
//! Each is an entry in front of the rings. Whatever comes of its peer and fits goes there, short messages and long ones, in their order; what fits none goes into the
//! rings. A receive is appended only if nothing of its peer waits here and this rank has seen all that lies in the rings, which the kernel looks at in the same step: so no message
//! passes by an earlier one.

use super::head::{Head, Kind, Request};
use super::wire::{NotPosted, Wire};
use super::{Portals, end_job};
use crate::region::Region;
use crate::{Label, Matching, Path, Received, Ticket};
use core::fmt;
use lwk_place::WorldRank;
use lwk_user::portals::abi::{Event, failure};
use lwk_user::portals::{DescriptorHandle, EntryHandle};
use lwk_user::wait;
use slab::Slab;

/// At a time, at most. Each may have an event in the queue of arrivals, beside those of messages.
pub const AT_A_TIME: usize = 64;
/// Set in the `user` of their entries.
pub const POSTED: u64 = 1 << 60;
/// Looks at what has come, at most, before a receive is left to this rank: peers may send faster than it looks.
const LOOKS: usize = 8;

/// All of a rank.
#[derive(Default)]
pub struct Posts {
    all: Slab<Post>,
}

struct Post {
    entry: EntryHandle,
    descriptor: DescriptorHandle,
    stage: Stage,
    /// How the fetch has ended, which may be known before what has been fetched.
    fetched: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// On the list, as far as this rank has seen.
    Waiting,
    /// The kernel fetches a message of so many bytes.
    Fetching(Label, usize),
    /// The message of so many bytes is there.
    There(Label, usize),
    /// Off the list without a message.
    Declined,
}

/// What has come of a receive.
enum Outcome {
    None,
    Declined,
    Received(Received),
}

impl Posts {
    fn named(&mut self, user: u64) -> &mut Post {
        match self.all.get_mut((user & !POSTED) as usize) {
            Some(post) if user & POSTED != 0 => post,
            _ => Posts::refuse(format_args!("an event is of no receive")),
        }
    }

    #[cold]
    fn refuse(why: fmt::Arguments<'_>) -> ! {
        end_job(why)
    }

    /// A message has been matched.
    pub fn matched(&mut self, event: &Event, kind: Kind) {
        let (label, bytes) = (Label(event.bits), event.requested as usize);
        self.named(event.user).stage =
            if kind == Kind::Request { Stage::Fetching(label, bytes) } else { Stage::There(label, bytes) };
    }

    /// The kernel had no room for a message.
    pub fn declined(&mut self, event: &Event) {
        self.named(event.user).stage = Stage::Declined;
    }

    /// A message has been fetched.
    pub fn fetched(&mut self, event: &Event) {
        self.named(event.user).fetched = Some(event.failure);
    }

    /// What has come of a receive.
    fn outcome(&self, number: usize) -> Outcome {
        let (label, bytes) = match (self.all[number].stage, self.all[number].fetched) {
            (Stage::Waiting, _) | (Stage::Fetching(..), None) => return Outcome::None,
            (Stage::Declined, _) => return Outcome::Declined,
            (Stage::Fetching(label, bytes), Some(failure::OK)) | (Stage::There(label, bytes), _) => {
                (label, bytes)
            }
            // Whoever takes a message back does so only if nobody has come for it, and the kernel comes for it in the step in which it is announced.
            (Stage::Fetching(..), Some(why)) => {
                Posts::refuse(format_args!("a message that was announced is not there: failure {why}"))
            }
        };
        Outcome::Received(Received { label, bytes, outcome: Ok(()) })
    }

    fn remove(&mut self, wire: &Wire, number: usize) {
        wire.release(self.all.remove(number).descriptor);
    }
}

impl Matching for Portals {
    fn takes_above(&self) -> usize {
        self.eager_limit
    }

    unsafe fn post(
        &mut self,
        peer: WorldRank,
        context: u32,
        tag: Option<i32>,
        target: &Region,
    ) -> Option<Ticket> {
        let bits = Label::new(context, tag.unwrap_or(0)).0;
        let ignore = if tag.is_some() { 0 } else { u64::from(u32::MAX) };
        let (start, bytes) = (target.contiguous()?.cast_const(), target.bytes());
        if bytes <= self.eager_limit || self.posts.all.len() == AT_A_TIME {
            return None;
        }
        // SAFETY: the target is writable, and nobody else's, until the receive is done or recalled (this function's contract).
        let descriptor = unsafe { self.wire.bind(start, bytes) }.ok()?;
        for _ in 0..LOOKS {
            // What has come of this peer, and has been seen on the way to another's, may be this receive's.
            if self.arrival(peer).is_some() {
                break;
            }
            let place = self.posts.all.vacant_entry();
            let number = place.key();
            let user = POSTED | number as u64;
            // SAFETY: the same: the descriptor is of the target, which is writable, and nobody else's, until then.
            match unsafe { self.wire.post(peer, (bits, ignore), (start, bytes), descriptor, user) } {
                Ok(entry) => {
                    place.insert(Post { entry, descriptor, stage: Stage::Waiting, fetched: None });
                    return Some(Ticket(number));
                }
                Err(NotPosted::NoRoom) => break,
                Err(NotPosted::Unseen) => {}
            }
        }
        self.wire.release(descriptor);
        None
    }

    fn posted(&mut self, Ticket(number): Ticket) -> Option<Received> {
        self.take_arrivals();
        self.take_outcomes();
        let Outcome::Received(received) = self.posts.outcome(number) else { return None };
        self.posts.remove(&self.wire, number);
        Some(received)
    }

    /// If the kernel has matched it, waits for the nodes between, and for no rank.
    fn recall(&mut self, Ticket(number): Ticket) -> Option<Received> {
        self.take_arrivals();
        let post = &self.posts.all[number];
        let is_back = post.stage == Stage::Waiting && self.wire.withdraw(post.entry);
        let mut outcome = Outcome::Declined;
        if !is_back {
            wait::spin_until(|| {
                self.take_arrivals();
                self.take_outcomes();
                outcome = self.posts.outcome(number);
                !matches!(outcome, Outcome::None)
            });
        }
        self.posts.remove(&self.wire, number);
        if let Outcome::Received(received) = outcome { Some(received) } else { None }
    }
}

impl Portals {
    /// Takes note of a message that the kernel has matched; bytes of it that its sender has counted in the ring.
    pub(super) fn take_matched(&mut self, event: &Event, head: Head) -> usize {
        self.posts.matched(event, head.kind);
        if head.kind == Kind::Request { Request::BYTES } else { event.requested as usize }
    }
}
