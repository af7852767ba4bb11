//! Event queues: a ring in the rank's memory (Portals 4.3, section 3.13).
//!
//! An event is written as a whole before its number, by which the rank sees that it is new. The rank says how many it has taken; only then the system
//! writes to their places again. Whatever a rank says there, it can only lose events of its own.

use lwk_abi::portals::{Event, QUEUE_DROPPED, QUEUE_EVENTS};

use crate::Told;
use crate::primitive::Plain;

/// Words of an event behind its number.
const REST: usize = size_of::<Event>() / 8 - 1;

/// What a ring begins with.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Head {
    pub(crate) taken: Told,
    pub(crate) dropped: Told,
}

/// The place of one event.
#[repr(C)]
pub struct Slot {
    pub(crate) number: Told,
    pub(crate) rest: Plain<[u64; REST]>,
}

// SAFETY: the system writes the rest before it tells the number, and again only after the rank has said that it has taken it; the models check that.
unsafe impl Sync for Slot {}
// SAFETY: words.
unsafe impl Send for Slot {}

#[cfg(not(all(test, feature = "loom")))]
const _: () = assert!(size_of::<Slot>() == size_of::<Event>() && size_of::<Head>() <= QUEUE_EVENTS as usize);
#[cfg(not(all(test, feature = "loom")))]
const _: () = assert!(
    core::mem::offset_of!(Head, taken) as u64 == lwk_abi::portals::QUEUE_TAKEN
        && core::mem::offset_of!(Head, dropped) as u64 == QUEUE_DROPPED
);

impl Head {
    /// Events that were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.dropped.get()
    }
}

impl Slot {
    /// An empty one.
    pub fn new() -> Slot {
        Slot { number: Told::new(), rest: Plain::new([0; REST]) }
    }

    /// The rank takes the event with that number, if it is there: the first has number 1. The slot is its place.
    pub fn take(&self, head: &Head, number: u64) -> Option<Event> {
        if self.number.look() != number {
            return None;
        }
        // SAFETY: the number has been told, so the event is there, and the system does not write here before the next line but one.
        let words = self.rest.with(|rest| unsafe { rest.read_volatile() });
        head.taken.tell(number);
        let mut all = [number; REST + 1];
        all[1..].copy_from_slice(&words);
        // SAFETY: an event is as many words, without padding, and any bits are one.
        Some(unsafe { core::mem::transmute::<[u64; REST + 1], Event>(all) })
    }
}

/// The rank takes the event behind `taken` others out of the ring of `size` events that begins at `ring`, if it is there.
///
/// # Safety
/// There is such a ring, aligned to eight bytes and zeroed before the system had it, and nobody else on this side uses it meanwhile.
pub unsafe fn take(ring: *mut u8, size: u64, taken: u64) -> Option<Event> {
    let place = (QUEUE_EVENTS as usize) + (taken % size) as usize * size_of::<Slot>();
    // SAFETY: the ring has a head and that slot (this function's contract); both are made of words of whose rules the system knows.
    let (head, slot) = unsafe { (&*ring.cast::<Head>(), &*ring.add(place).cast::<Slot>()) };
    slot.take(head, taken + 1)
}

/// Events that were dropped since the ring was full.
///
/// # Safety
/// As for [`take`].
pub unsafe fn dropped_of(ring: *mut u8) -> u64 {
    // SAFETY: the ring has a head (this function's contract).
    unsafe { &*ring.cast::<Head>() }.dropped()
}

impl Default for Slot {
    fn default() -> Slot {
        Slot::new()
    }
}

/// The system's way to a ring that a rank has given it, which may hold anything. Places are offsets from its beginning, as those of [`lwk_abi::portals`].
pub trait Ring {
    /// Stores bytes in an order that nobody knows.
    fn write(&mut self, place: u64, bytes: &[u8]);
    /// As [`Told::tell`].
    fn tell(&mut self, place: u64, word: u64);
}

/// How many more events a ring of `size` takes, `written` of which have been posted, if the rank says that it has taken so many ([`Told::look`]); none if
/// that cannot be.
pub fn room(taken: u64, size: u64, written: u64) -> Option<u64> {
    size.checked_sub(written.wrapping_sub(taken))
}

/// Posts an event, for which there is [`room`], to a ring of `size` with `written` before it.
pub fn post(ring: &mut impl Ring, size: u64, written: u64, event: &[u8; size_of::<Event>()]) {
    let place = QUEUE_EVENTS + written % size * size_of::<Event>() as u64;
    ring.write(place + 8, &event[8..]);
    ring.tell(place, written + 1);
}

/// Tells how many events have been dropped.
pub fn dropped(ring: &mut impl Ring, count: u64) {
    ring.tell(QUEUE_DROPPED, count);
}
