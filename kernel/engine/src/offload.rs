//! Orders that a copy engine makes. Whatever the engine does, each is made once and told: what it has not made when it halts the processor makes, and that is counted.

use core::fmt;

use bytemuck::{Pod, Zeroable};

use crate::{Completion, Cookie, CopyEngine, Order, Refused};

/// Orders under way in a channel at most.
pub const FLIGHT: usize = 64;

/// Orders under way in a channel, oldest first. Memory of zeros: none.
#[repr(C)]
#[derive(Clone, Copy, Debug, Zeroable)]
pub struct Flight {
    first: u64,
    count: u64,
    orders: [Order; FLIGHT],
    cookies: [u64; FLIGHT],
}

impl Flight {
    /// None.
    #[must_use]
    pub const fn new() -> Flight {
        let none = Order { from: 0, to: 0, bytes: 0, told: [0; 2], way: 0 };
        Flight { first: 0, count: 0, orders: [none; FLIGHT], cookies: [0; FLIGHT] }
    }

    fn push(&mut self, order: &Order, cookie: Cookie) {
        let place = (self.first + self.count) as usize % FLIGHT;
        (self.orders[place], self.cookies[place]) = (*order, cookie.0);
        self.count += 1;
    }

    /// Takes the oldest out, if it is done.
    fn take(&mut self, done: Cookie) -> Option<Order> {
        let place = self.first as usize % FLIGHT;
        let order = (self.count > 0 && self.cookies[place] <= done.0).then_some(self.orders[place])?;
        (self.first, self.count) = (self.first + 1, self.count - 1);
        Some(order)
    }
}

impl Default for Flight {
    fn default() -> Flight {
        Flight::new()
    }
}

/// What has become of orders.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Counts {
    /// By the engine.
    pub copied: u64,
    /// By the processor, since the engine had no descriptor left or does not make such copies.
    pub declined: u64,
    /// By the processor, since the engine has halted.
    pub rescued: u64,
    /// How often a channel has halted, and how often it did not come back.
    pub halts: u64,
    pub lost: u64,
    /// Descriptors and bytes of what the engine has made.
    pub descriptors: u64,
    pub bytes: u64,
}

impl Counts {
    /// None.
    #[must_use]
    pub const fn new() -> Counts {
        Counts { copied: 0, declined: 0, rescued: 0, halts: 0, lost: 0, descriptors: 0, bytes: 0 }
    }
}

impl fmt::Display for Counts {
    /// As a record of the exit report.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { copied, declined, rescued, halts, lost, descriptors, bytes } = self;
        write!(
            out,
            "engine copied={copied} declined={declined} rescued={rescued} halts={halts} lost={lost} descriptors={descriptors} bytes={bytes}"
        )
    }
}

impl Counts {
    /// Whether anything was to be copied.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.copied + self.declined + self.rescued > 0
    }
}

/// What the home does for orders.
pub trait Floor {
    /// The address of an order's memory as the engine calls it; none if it is not one piece for it.
    fn bus(&self, address: u64, bytes: u64) -> Option<u64>;
    /// Has the processor copy what the order says, which nobody else does any more.
    fn copy(&self, order: &Order);
    /// Tells the words that the order names: it is done.
    fn tell(&self, order: &Order);
}

/// A copy engine with the orders that are under way in it.
#[derive(Debug)]
pub struct Offload<'m, E> {
    engine: E,
    flights: &'m mut [Flight],
    counts: &'m mut Counts,
}

impl<'m, E: CopyEngine> Offload<'m, E> {
    /// As many channels are used as there are flights.
    pub fn new(engine: E, flights: &'m mut [Flight], counts: &'m mut Counts) -> Offload<'m, E> {
        Offload { engine, flights, counts }
    }

    /// The engine.
    pub fn engine(&mut self) -> &mut E {
        &mut self.engine
    }

    /// How many orders are under way.
    #[must_use]
    pub fn under_way(&self) -> u64 {
        self.flights.iter().map(|flight| flight.count).sum()
    }

    /// Begins an order, in the channel that has least to do; if the engine does not take it, the processor makes it at once.
    pub fn begin(&mut self, order: &Order, how: Completion, floor: &impl Floor) {
        let buses = floor.bus(order.from, order.bytes).zip(floor.bus(order.to, order.bytes));
        let least = (0..self.flights.len()).min_by_key(|channel| self.flights[*channel].count);
        let begun = buses.zip(least).and_then(|((from, to), channel)| {
            if self.flights[channel].count as usize == FLIGHT {
                return None;
            }
            match self.engine.begin(channel, from, to, order.bytes, how) {
                Ok(cookie) => Some((channel, cookie)),
                Err(Refused::Busy | Refused::Unfit | Refused::Halted) => None,
            }
        });
        match begun {
            Some((channel, cookie)) => self.flights[channel].push(order, cookie),
            None => {
                floor.copy(order);
                floor.tell(order);
                self.counts.declined += 1;
            }
        }
    }

    /// Tells of the orders that are done. Those of a channel that has halted the processor makes, behind its reset: the engine does not touch their memory any more.
    pub fn advance(&mut self, floor: &impl Floor) {
        for (channel, flight) in self.flights.iter_mut().enumerate().filter(|(_, flight)| flight.count > 0) {
            let (done, has_halted) = match self.engine.done(channel) {
                Ok(done) => (done, false),
                Err(halt) => (halt.done, true),
            };
            while let Some(order) = flight.take(done) {
                floor.tell(&order);
                self.counts.copied += 1;
                self.counts.descriptors += order.bytes.div_ceil(self.engine.limits().bytes.max(1));
                self.counts.bytes += order.bytes;
            }
            if !has_halted {
                continue;
            }
            self.counts.halts += 1;
            self.counts.lost += u64::from(!self.engine.reset(channel));
            while let Some(order) = flight.take(Cookie(u64::MAX)) {
                floor.copy(&order);
                floor.tell(&order);
                self.counts.rescued += 1;
            }
        }
    }
}
