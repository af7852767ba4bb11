//! Content that stays at its sender until it is fetched: the sender's part ([`Contents`]) and the receiver's ([`Fetches`]).

use super::wire::{NoRoom, Wire};
use crate::region::{Region, content, copy_regions};
use crate::{Delivery, Fault, Result, Ticket, UnderWay};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use lwk_place::WorldRank;
use lwk_user::portals::abi::failure;
use lwk_user::portals::{DescriptorHandle, EntryHandle};
use slab::Slab;

/// Messages of either sort at a time, at most: each may have an event in the queue.
const AT_A_TIME: usize = 1024;
/// Set in the tickets of fetches, and in the `user` of their operations.
pub const FETCH: u64 = 1 << 40;

/// Content that this rank lets others fetch.
#[derive(Default)]
pub struct Contents {
    all: Slab<Exposed>,
    /// Of tokens, so that none is used twice.
    serial: u64,
}

struct Exposed {
    of: UnderWay,
    entry: EntryHandle,
    token: u64,
    /// What is fetched, if the message is not one block. Kept, not read here.
    _packed: Option<Vec<u8>>,
    fetched: bool,
}

impl Contents {
    /// Lets a message be fetched: its number, and the token by which. `None` if there is no room.
    ///
    /// # Safety
    /// The message is readable, and nobody writes it, until it has been fetched, withdrawn or relocated; its layout's datatype lives.
    pub unsafe fn expose(&mut self, wire: &Wire, of: UnderWay) -> Option<(usize, u64)> {
        if self.all.len() == AT_A_TIME {
            return None;
        }
        let packed = match of.source.contiguous() {
            Some(_) => None,
            // SAFETY: the message is readable, its datatype lives (this function's contract).
            None => Some(unsafe { content(&of.source) }.ok()?),
        };
        let start = packed.as_ref().map(Vec::as_ptr).or(of.source.contiguous().map(<*mut u8>::cast_const))?;
        let place = self.all.vacant_entry();
        self.serial += 1;
        let token = self.serial << 32 | place.key() as u64;
        // SAFETY: the block stays readable until it has been fetched or withdrawn (this function's contract); a packed one is kept as long.
        let entry = unsafe { wire.expose(start, of.source.bytes(), token) }.ok()?;
        let number = place.key();
        place.insert(Exposed { of, entry, token, _packed: packed, fetched: false });
        Some((number, token))
    }

    /// The content of that token has been fetched.
    pub fn fetched(&mut self, token: u64) {
        let it = self.all.get_mut(token as u32 as usize).filter(|it| it.token == token);
        if let Some(it) = it {
            it.fetched = true;
        }
    }

    /// Whether that one has been fetched, which ends it.
    pub fn take_fetched(&mut self, number: usize) -> bool {
        let fetched = self.all[number].fetched;
        if fetched {
            self.all.remove(number);
        }
        fetched
    }

    pub fn of(&self, number: usize) -> UnderWay {
        self.all[number].of
    }

    /// Takes a message back; false, and nothing has changed, if the receiver has come for it.
    pub fn withdraw(&mut self, wire: &Wire, number: usize) -> bool {
        let is_back = !self.all[number].fetched && wire.withdraw(self.all[number].entry);
        if is_back {
            self.all.remove(number);
        }
        is_back
    }

    pub fn token(&self, number: usize) -> u64 {
        self.all[number].token
    }

    /// Has the message be fetched from a copy from now on; false if the receiver has come for it.
    ///
    /// # Safety
    /// The copy holds the message's bytes, and stays until it has been fetched or withdrawn.
    pub unsafe fn relocate(&mut self, wire: &Wire, number: usize, copy: *const u8) -> bool {
        let it = &mut self.all[number];
        let bytes = it.of.source.bytes();
        // Behind the old entry of the same token, so that there is always one.
        // SAFETY: the copy stays readable (this function's contract).
        let Ok(entry) = (unsafe { wire.expose(copy, bytes, it.token) }) else { return false };
        if !wire.withdraw(it.entry) {
            // A token is fetched once, so nobody comes for the new entry.
            wire.withdraw(entry);
            return false;
        }
        (it.entry, it.of.source) = (entry, Region::block(copy, bytes));
        true
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<Exposed>()
    }
}

/// Content that this rank fetches.
#[derive(Default)]
pub struct Fetches {
    all: Slab<Fetch>,
    /// Those for which the kernel had no room, in order.
    waiting: VecDeque<usize>,
}

struct Fetch {
    peer: WorldRank,
    token: u64,
    bytes: usize,
    target: Region,
    /// Where the content comes in, if the target is not one block.
    packed: Option<Vec<u8>>,
    descriptor: Option<DescriptorHandle>,
    outcome: Option<Result<()>>,
}

impl Fetch {
    fn start(&self, wire: &Wire, number: usize) -> core::result::Result<DescriptorHandle, NoRoom> {
        let packed = self.packed.as_ref().map(|packed| packed.as_ptr());
        let start = packed.or(self.target.contiguous().map(<*mut u8>::cast_const)).ok_or(NoRoom)?;
        // SAFETY: the target is writable, and nobody else's, until the fetch has ended (contract of `Fetches::begin`); a packed one is kept as long.
        let into = unsafe { wire.bind(start, self.bytes)? };
        match wire.fetch(self.peer, self.token, into, self.bytes, FETCH | number as u64) {
            Ok(()) => Ok(into),
            Err(none) => {
                wire.release(into);
                Err(none)
            }
        }
    }
}

impl Fetches {
    /// Fetches as much of a message of `bytes` bytes as the target takes. Errors: [`Fault::NoMemory`].
    ///
    /// # Safety
    /// The target is writable, and nobody else's, until the fetch has ended; its layout's datatype lives.
    pub unsafe fn begin(
        &mut self,
        wire: &Wire,
        peer: WorldRank,
        token: u64,
        bytes: usize,
        target: &Region,
    ) -> Result<Delivery> {
        let bytes = bytes.min(target.bytes());
        let packed = match target.contiguous() {
            Some(_) => None,
            None => {
                let mut packed = Vec::new();
                packed.try_reserve_exact(bytes).map_err(|_| Fault::NoMemory)?;
                packed.resize(bytes, 0);
                Some(packed)
            }
        };
        let fetch = Fetch { peer, token, bytes, target: *target, packed, descriptor: None, outcome: None };
        let number = self.all.insert(fetch);
        self.waiting.push_back(number);
        self.begin_waiting(wire);
        Ok(Delivery::Underway(Ticket(number | FETCH as usize)))
    }

    /// Begins what has not begun, as far as there is room.
    #[inline(always)]
    pub fn begin_waiting(&mut self, wire: &Wire) {
        while let Some(number) = self.waiting.front().copied() {
            if self.all.len() - self.waiting.len() >= AT_A_TIME {
                return;
            }
            let Ok(descriptor) = self.all[number].start(wire, number) else { return };
            self.all[number].descriptor = Some(descriptor);
            self.waiting.pop_front();
        }
    }

    /// Whether the kernel has had room for a fetch.
    pub fn has_begun(&self, number: usize) -> bool {
        !self.waiting.contains(&number)
    }

    /// A fetch has ended.
    pub fn ended(&mut self, wire: &Wire, number: u64, why: u32) {
        let Some(it) = self.all.get_mut(number as usize) else { return };
        if let Some(descriptor) = it.descriptor.take() {
            wire.release(descriptor);
        }
        let packed = it.packed.as_ref().map(|packed| Region::block(packed.as_ptr(), packed.len()));
        it.outcome = Some(match (why, packed) {
            (failure::OK, None) => Ok(()),
            // SAFETY: the target is writable until this has been told (contract of `begin`), its datatype lives.
            (failure::OK, Some(packed)) => unsafe { copy_regions(&packed, &it.target) }.map(drop),
            _ => Err(Fault::Cancelled),
        });
    }

    /// How a fetch has ended, if it has, which forgets it.
    pub fn take_ended(&mut self, number: usize) -> Option<Result<()>> {
        let outcome = self.all[number].outcome?;
        self.all.remove(number);
        Some(outcome)
    }
}
