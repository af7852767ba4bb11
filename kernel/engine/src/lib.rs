//! Copies that ranks order and a worker makes: the kernel on a core of its own (Chai's dissertation, sections 5.1.2 and 5.1.3).
//!
//! [`Orders`] is the worker's list of requests: what ranks have ordered, oldest first, and which workers sleep. Pure logic in memory of zeros, so that processes may share
//! it; the home keeps a lock around every call, wakes workers, and copies behind the lock.
#![no_std]
#![forbid(unsafe_code)]

mod copy_engine;
mod offload;

pub use copy_engine::{Completion, Cookie, CopyEngine, Halt, Limits, Refused};
pub use offload::{Counts, FLIGHT, Flight, Floor, Offload};

use bytemuck::{Pod, Zeroable};

/// A copy: all addresses are as every rank of the node calls them, and have been checked.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Order {
    pub from: u64,
    pub to: u64,
    pub bytes: u64,
    /// Words to which [`lwk_abi::limic::DONE`] is written when the bytes are there; 0 for none.
    pub told: [u64; 2],
    /// Who copies: [`lwk_abi::engine::BY_WORKER`] or its like.
    pub way: u64,
}

/// Orders that wait, of all ranks. Not measured: who finds no place copies itself.
pub const ORDERS_MOST: usize = 256;

/// Orders that wait for a worker.
#[repr(C)]
#[derive(Clone, Copy, Debug, Zeroable)]
pub struct Orders {
    /// Place of the oldest, and how many there are.
    first: u32,
    count: u32,
    /// A bit for each worker that sleeps.
    asleep: u64,
    ring: [Order; ORDERS_MOST],
}

/// There is no place left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl Default for Orders {
    fn default() -> Orders {
        Orders::new()
    }
}

impl Orders {
    /// None.
    #[must_use]
    pub const fn new() -> Orders {
        let none = Order { from: 0, to: 0, bytes: 0, told: [0; 2], way: 0 };
        Orders { first: 0, count: 0, asleep: 0, ring: [none; ORDERS_MOST] }
    }

    /// Adds an order; a worker that sleeps and must be woken for it, if one sleeps. Errors: [`Full`], and nothing has happened.
    pub fn push(&mut self, order: &Order) -> Result<Option<u32>, Full> {
        let place = (self.first as usize + self.count as usize) % ORDERS_MOST;
        if self.count as usize == ORDERS_MOST {
            return Err(Full);
        }
        self.ring[place] = *order;
        self.count += 1;
        let woken = (self.asleep != 0).then(|| self.asleep.trailing_zeros());
        // Who is woken is not woken again for the next order.
        self.asleep &= self.asleep.wrapping_sub(1);
        Ok(woken)
    }

    /// How many wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.count as usize
    }

    /// Whether the worker with this number sleeps and must be woken, for something else than an order.
    pub fn wake(&mut self, worker: u32) -> bool {
        let bit = 1 << (worker % u64::BITS);
        let is_asleep = self.asleep & bit != 0;
        self.asleep &= !bit;
        is_asleep
    }

    /// Takes the oldest order out.
    pub fn take(&mut self) -> Option<Order> {
        let order = (self.count > 0).then(|| self.ring[self.first as usize % ORDERS_MOST])?;
        self.first = (self.first + 1) % ORDERS_MOST as u32;
        self.count -= 1;
        Some(order)
    }

    /// The oldest order, or the worker with this number, below 64, sleeps from now on until [`Orders::push`] names it.
    pub fn take_or_sleep(&mut self, worker: u32) -> Option<Order> {
        let order = self.take();
        if order.is_none() {
            self.asleep |= 1 << (worker % u64::BITS);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(number: u64) -> Order {
        Order { from: number, ..Order::default() }
    }

    #[test]
    fn orders_are_taken_in_their_order_round_and_round() {
        let mut orders = Orders::new();
        assert_eq!(orders.take(), None);
        for round in 0..5 {
            for number in 0..ORDERS_MOST as u64 {
                assert_eq!(orders.push(&order(round + number)), Ok(None));
            }
            assert_eq!(orders.push(&order(0)), Err(Full));
            for number in 0..ORDERS_MOST as u64 - round {
                assert_eq!(orders.take(), Some(order(round + number)));
            }
            while orders.take().is_some() {}
        }
    }

    #[test]
    fn a_worker_that_sleeps_is_woken_once() {
        let mut orders = Orders::new();
        assert_eq!((orders.take_or_sleep(3), orders.take_or_sleep(63)), (None, None));
        assert_eq!(orders.push(&order(1)), Ok(Some(3)));
        assert_eq!(orders.push(&order(2)), Ok(Some(63)));
        assert_eq!(orders.push(&order(3)), Ok(None));
        assert_eq!(orders.take_or_sleep(3), Some(order(1)), "one that finds an order is awake");
        assert_eq!(orders.push(&order(4)), Ok(None));
        while orders.take_or_sleep(5).is_some() {}
        assert!(orders.wake(5) && !orders.wake(5) && !orders.wake(6));
        let zeros: Orders = bytemuck::Zeroable::zeroed();
        assert_eq!((zeros.first, zeros.count, zeros.asleep), (0, 0, 0));
    }
}
