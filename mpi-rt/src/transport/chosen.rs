//! The transport of this run, one of those there are. A match instead of a virtual call: `smartmap` stays inlined in the calls that
//! use it, for the price of one comparison that is always predicted.

use super::setting;
use super::shm::{Advanced, Basic, Shm, Tunables, tunables};
use super::smartmap::Smartmap;
use super::{Arrival, Delivery, Held, Label, Memory, Outgoing, Started, Ticket, Transport, UnderWay};
use crate::error::Result;
use crate::profile::Profiled;
use crate::region::Region;
use core::ops::RangeInclusive;
use lwk_user::abi::runtime::{PROFILE, TRANSPORTS};
use lwk_user::start;

/// The transports there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Smartmap = 0,
    ShmBasic = 1,
    ShmAdvanced = 2,
}

impl Kind {
    /// All, the default first.
    pub const ALL: [Kind; TRANSPORTS.len()] = [Kind::Smartmap, Kind::ShmBasic, Kind::ShmAdvanced];

    /// The name by which it is chosen.
    pub fn name(self) -> &'static str {
        TRANSPORTS[self as usize]
    }
}

/// The transport of this run.
pub enum Chosen {
    Smartmap(Smartmap),
    ShmBasic(Shm<Basic>),
    ShmAdvanced(Shm<Advanced>),
    /// One of the others, counted.
    Profiled(Profiled),
}

impl Chosen {
    /// Starts the transport that the environment names. Every rank must call it once; it waits for the others, and ends the job if the
    /// environment makes no sense. Errors: `NO_MEM`.
    pub fn start_up() -> Result<Chosen> {
        let kind = setting::kind(start::variable).unwrap_or_else(|bad| setting::refuse(&bad));
        let names = start::variables().map(|(name, _)| name);
        let tunables = setting::none_but(tunables::PREFIX, &tunables::VARIABLES, names)
            .and_then(|()| Tunables::from_environment(start::variable));
        let tunables = tunables.unwrap_or_else(|bad| setting::refuse(&bad));
        let chosen = match kind {
            Kind::Smartmap => Chosen::Smartmap(Smartmap::start_up()?),
            Kind::ShmBasic => Chosen::ShmBasic(Shm::start_up(&tunables)?),
            Kind::ShmAdvanced => Chosen::ShmAdvanced(Shm::start_up(&tunables)?),
        };
        Ok(match start::variable(PROFILE) {
            Some(_) => Chosen::Profiled(Profiled::new(chosen)),
            None => chosen,
        })
    }
}

/// The same call of whichever transport it is.
macro_rules! each {
    ($chosen:expr, $transport:ident => $call:expr) => {
        match $chosen {
            Chosen::Smartmap($transport) => $call,
            Chosen::ShmBasic($transport) => $call,
            Chosen::ShmAdvanced($transport) => $call,
            Chosen::Profiled($transport) => $call,
        }
    };
}

impl Transport for Chosen {
    fn name(&self) -> &'static str {
        each!(self, transport => transport.name())
    }

    #[inline(always)]
    unsafe fn start(&mut self, peer: u32, message: &Outgoing) -> Started {
        // SAFETY: the caller's promise.
        each!(self, transport => unsafe { transport.start(peer, message) })
    }

    #[inline(always)]
    unsafe fn send_short(&mut self, peer: u32, label: Label, address: *const u8, bytes: usize) -> bool {
        match self {
            // SAFETY: the caller's promise.
            Chosen::Smartmap(transport) => unsafe { transport.send_short(peer, label, address, bytes) },
            // The others have no shorter way.
            _ => false,
        }
    }

    #[inline(always)]
    unsafe fn receive_short(
        &mut self,
        peer: u32,
        label: Label,
        target: *mut u8,
        room: usize,
    ) -> Option<usize> {
        match self {
            // SAFETY: the caller's promise.
            Chosen::Smartmap(transport) => unsafe { transport.receive_short(peer, label, target, room) },
            _ => None,
        }
    }

    #[inline(always)]
    unsafe fn receive_block(
        &mut self,
        peer: u32,
        label: Label,
        target: *mut u8,
        room: usize,
        sizes: RangeInclusive<usize>,
    ) -> Option<usize> {
        match self {
            // SAFETY: the caller's promise.
            Chosen::Smartmap(transport) => unsafe {
                transport.receive_block(peer, label, target, room, sizes)
            },
            _ => None,
        }
    }

    #[inline]
    unsafe fn advance(&mut self, ticket: Ticket) -> bool {
        // SAFETY: the caller's promise.
        each!(self, transport => unsafe { transport.advance(ticket) })
    }

    unsafe fn under_way(&self, ticket: Ticket) -> UnderWay {
        // SAFETY: the ticket is of the transport that there is, and not void (this function's contract).
        each!(self, transport => unsafe { transport.under_way(ticket) })
    }

    unsafe fn cancel(&mut self, ticket: Ticket) -> bool {
        // SAFETY: the ticket is of the transport that there is, and not void (this function's contract).
        each!(self, transport => unsafe { transport.cancel(ticket) })
    }

    unsafe fn may_relocate(&self, ticket: Ticket) -> bool {
        // SAFETY: the ticket is of the transport that there is, and not void (this function's contract).
        each!(self, transport => unsafe { transport.may_relocate(ticket) })
    }

    unsafe fn relocate(&mut self, ticket: Ticket, copy: *const u8) -> bool {
        // SAFETY: the ticket is of the transport that there is, and not void; the copy stays (this function's contract).
        each!(self, transport => unsafe { transport.relocate(ticket, copy) })
    }

    #[inline(always)]
    fn front(&mut self, peer: u32) -> Option<Arrival> {
        each!(self, transport => transport.front(peer))
    }

    #[inline(always)]
    unsafe fn deliver(&mut self, peer: u32, arrival: &Arrival, target: &Region) -> Result<Delivery> {
        // SAFETY: the caller's promise.
        each!(self, transport => unsafe { transport.deliver(peer, arrival, target) })
    }

    unsafe fn hold(&mut self, peer: u32, arrival: &Arrival) -> Option<Held> {
        // SAFETY: the caller's promise.
        each!(self, transport => unsafe { transport.hold(peer, arrival) })
    }

    unsafe fn deliver_held(&mut self, peer: u32, held: Held, target: &Region) -> Result<Delivery> {
        // SAFETY: the caller's promise.
        each!(self, transport => unsafe { transport.deliver_held(peer, held, target) })
    }

    unsafe fn is_cancelled(&self, peer: u32, held: &Held) -> bool {
        // SAFETY: the transport that there is holds the message (this function's contract).
        each!(self, transport => unsafe { transport.is_cancelled(peer, held) })
    }

    unsafe fn reserve(&mut self, peer: u32, held: &Held) -> bool {
        // SAFETY: the transport that there is holds the message (this function's contract).
        each!(self, transport => unsafe { transport.reserve(peer, held) })
    }

    unsafe fn advance_receive(&mut self, ticket: Ticket) -> Option<Result<()>> {
        // SAFETY: the caller's promise.
        each!(self, transport => unsafe { transport.advance_receive(ticket) })
    }

    #[inline]
    fn must_take(&self, peer: u32) -> bool {
        each!(self, transport => transport.must_take(peer))
    }

    fn memory(&self) -> Memory {
        each!(self, transport => transport.memory())
    }
}
