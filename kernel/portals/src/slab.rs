//! Tables of fixed size: where everything is that programs allocate.
//!
//! A place is named by its number plus one, 0 is none; and to programs by a handle, which also says what it is of and how often the place
//! has been used before, so that an old handle, one of another kind or a guess is refused.

use bytemuck::Zeroable;

/// A place in a table, plus one; 0 is none.
pub type Place = u32;

/// What a handle names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    Interface = 1,
    Entry = 2,
    Descriptor = 3,
    Queue = 4,
    Counter = 5,
}

const KIND_SHIFT: u32 = 28;
const TURN_SHIFT: u32 = 16;
const TURNS: u32 = 1 << (KIND_SHIFT - TURN_SHIFT);
const PLACES: u32 = 1 << TURN_SHIFT;

/// The handle of the place `place` in its turn `turn`.
pub fn handle(kind: Kind, place: Place, turn: u32) -> u32 {
    (kind as u32) << KIND_SHIFT | ((turn % TURNS) << TURN_SHIFT) | (place - 1)
}

/// Place and turn behind a handle, if it is of this kind.
pub fn split(kind: Kind, handle: u32) -> Option<(Place, u32)> {
    let fits = handle >> KIND_SHIFT == kind as u32;
    fits.then_some((handle % PLACES + 1, handle >> TURN_SHIFT & (TURNS - 1)))
}

#[derive(Clone, Copy, Zeroable)]
#[repr(C)]
struct Slot<T> {
    /// Times that the place has been given back.
    turn: u32,
    /// While it is free: the next free place. While it is taken: [`TAKEN`].
    next: Place,
    value: T,
}

const TAKEN: Place = u32::MAX;

/// `N` places.
#[derive(Zeroable)]
#[repr(C)]
pub struct Slab<T, const N: usize> {
    free: Place,
    /// Places from this one on have never been used.
    fresh: u32,
    used: u32,
    padding: u32,
    slots: [Slot<T>; N],
}

impl<T: Copy, const N: usize> Slab<T, N> {
    const FITS: () = assert!(N <= PLACES as usize);

    /// Takes a place; nothing if all are taken.
    pub fn add(&mut self, value: T) -> Option<Place> {
        let () = Self::FITS;
        let place = match self.free {
            0 if self.fresh as usize == N => return None,
            0 => {
                self.fresh += 1;
                self.fresh
            }
            free => {
                self.free = self.slots[free as usize - 1].next;
                free
            }
        };
        self.used += 1;
        let slot = &mut self.slots[place as usize - 1];
        (slot.next, slot.value) = (TAKEN, value);
        Some(place)
    }

    /// Gives a taken place back.
    pub fn remove(&mut self, place: Place) {
        let slot = &mut self.slots[place as usize - 1];
        assert!(slot.next == TAKEN, "a place is given back once");
        slot.turn = slot.turn.wrapping_add(1);
        slot.next = self.free;
        self.free = place;
        self.used -= 1;
    }

    /// What is at a taken place.
    pub fn get(&self, place: Place) -> &T {
        &self.slots[place as usize - 1].value
    }

    /// As [`Slab::get`], to be changed.
    pub fn get_mut(&mut self, place: Place) -> &mut T {
        &mut self.slots[place as usize - 1].value
    }

    /// How often the place has been used before.
    pub fn turn(&self, place: Place) -> u32 {
        self.slots[place as usize - 1].turn % TURNS
    }

    /// The place, if it is taken and in this turn.
    pub fn in_turn(&self, place: Place, turn: u32) -> Option<Place> {
        let slot = self.slots.get((place as usize).checked_sub(1)?)?;
        (slot.next == TAKEN && slot.turn % TURNS == turn).then_some(place)
    }

    /// The first place behind `after` that is taken; 0 is before all.
    pub fn next_taken(&self, after: Place) -> Option<Place> {
        (after + 1..=self.fresh).find(|place| self.slots[*place as usize - 1].next == TAKEN)
    }

    /// Places taken, and free.
    pub fn used(&self) -> usize {
        self.used as usize
    }

    /// See [`Slab::used`].
    pub fn room(&self) -> usize {
        N - self.used as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::allocation::zeroed_box;

    #[test]
    fn an_old_handle_names_nothing() {
        let mut slab = zeroed_box::<Slab<u64, 3>>();
        let first = slab.add(7).unwrap();
        let old = handle(Kind::Queue, first, slab.turn(first));
        let (place, turn) = split(Kind::Queue, old).unwrap();
        assert_eq!(slab.in_turn(place, turn), Some(first));
        assert_eq!(split(Kind::Counter, old), None);
        slab.remove(first);
        assert_eq!(slab.in_turn(place, turn), None);
        assert_eq!(slab.add(8), Some(first));
        assert_eq!(slab.in_turn(place, turn), None);
        assert_eq!(slab.in_turn(0, 0), None);
        assert_eq!(slab.in_turn(99, 0), None);
        assert!(slab.add(1).is_some() && slab.add(2).is_some());
        assert_eq!(slab.add(3), None);
        assert_eq!((slab.used(), slab.room()), (3, 0));
    }
}
