//! The SMARTMAP paper's structure for collectives (section IV.C): counter and context, address, turn, finished.
//!
//! The root publishes an operation with an address; the others wait for it, may take turns, and count themselves finished, for which the
//! root waits before it publishes another.

use crate::primitive::{AtomicU64, Ordering};
use lwk_primitive::made;

/// One member's structure, for the operations of which it is the root.
#[repr(C, align(64))]
pub struct Turns {
    /// Counter (high half) and context of the operation.
    operation: AtomicU64,
    address: AtomicU64,
    turn: AtomicU64,
    finished: AtomicU64,
}

impl Turns {
    made! {
        /// No operation yet.
        pub fn new() -> Turns {
            Turns {
                operation: AtomicU64::new(0),
                address: AtomicU64::new(0),
                turn: AtomicU64::new(0),
                finished: AtomicU64::new(0),
            }
        }
    }

    /// As new, for another communicator: nobody touches it meanwhile.
    pub fn renew(&self) {
        // Relaxed: whatever tells the others of it again orders this before. The rest is set by each operation.
        self.operation.store(0, Ordering::Relaxed);
    }

    /// Publishes an operation, which the root has finished already. The root only, after all have finished the one before.
    pub fn publish(&self, operation: u64, address: u64) {
        // Relaxed, all: published by the release store below.
        self.address.store(address, Ordering::Relaxed);
        self.turn.store(0, Ordering::Relaxed);
        self.finished.store(1, Ordering::Relaxed);
        // Release: pairs with the acquire load in `is_in`.
        self.operation.store(operation, Ordering::Release);
    }

    /// Whether the root is in that operation.
    pub fn is_in(&self, operation: u64) -> bool {
        // Acquire: pairs with the release store in `publish`.
        self.operation.load(Ordering::Acquire) == operation
    }

    /// The operation's address, after [`Turns::is_in`] has said yes.
    pub fn address(&self) -> u64 {
        // Relaxed: ordered by the operation's number.
        self.address.load(Ordering::Relaxed)
    }

    /// Whether it is a member's turn, and what those before it have stored is seen.
    pub fn is_turn_of(&self, member: u64) -> bool {
        // Acquire: pairs with the release addition in `pass_turn`.
        self.turn.load(Ordering::Acquire) == member
    }

    /// Passes the turn to the next member.
    pub fn pass_turn(&self) {
        // Release: pairs with the acquire load in `is_turn_of`.
        self.turn.fetch_add(1, Ordering::Release);
    }

    /// A member other than the root has done its part. What the others have stored before they finished is seen when
    /// [`Turns::have_finished`] has said yes.
    pub fn finish(&self) {
        // Release: pairs with the acquire load in `have_finished`.
        self.finished.fetch_add(1, Ordering::Release);
    }

    /// Whether so many members have finished.
    pub fn have_finished(&self, members: u64) -> bool {
        // Acquire: pairs with the release additions in `finish`.
        self.finished.load(Ordering::Acquire) == members
    }
}
