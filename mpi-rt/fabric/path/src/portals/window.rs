//! Room at a receiver: a ring of units in its memory for each sender, which the sender fills in order and the receiver frees in order.
//!
//! Sender and receiver count the same units, so the receiver tells how far it has come by one number, behind any message of its own or in a word at the sender. A
//! message lies in units that follow each other: where the end of the ring is too near, both skip what is left of it. A message takes a quarter of
//! the ring at most, and the receiver tells of each half: so it always finds room in an empty one, whatever has not been told and is skipped.

/// Bytes of a unit: most messages take one.
pub const UNIT: usize = 256;
/// Bytes of all rings of a rank together, as long as each has a unit.
const ALL: usize = 1 << 20;
/// Units of a ring, at most.
const MOST: u32 = 256;

/// The form of the rings of a job: the same for all of its ranks, so that a sender knows where its ring lies at any receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// A power of two.
    units: u32,
    ranks: u32,
}

impl Form {
    /// For a job of so many ranks.
    pub fn of(ranks: u32) -> Form {
        let each = (ALL / UNIT) as u32 / ranks.max(1);
        let units = if each < 2 { 1 } else { 1 << each.ilog2() };
        Form { units: units.min(MOST), ranks }
    }

    /// Units of each ring.
    pub fn units(self) -> u32 {
        self.units
    }

    /// Bytes of a receiver's rings.
    pub fn bytes(self) -> usize {
        self.ranks as usize * self.units as usize * UNIT
    }

    /// Where a unit of a sender's ring lies among the rings of a receiver.
    pub fn place(self, sender: u32, unit: u32) -> usize {
        (sender as usize * self.units as usize + unit as usize) * UNIT
    }

    /// Most bytes of a message.
    pub fn most_bytes(self) -> usize {
        (self.units as usize / 4).max(1) * UNIT
    }

    /// Units of a message; one without content takes one as well.
    pub fn units_of(self, bytes: usize) -> u32 {
        bytes.div_ceil(UNIT).max(1) as u32
    }

    /// Where a message begins that is the next behind a position, and where what follows it begins. Positions count on and wrap around.
    fn span(self, position: u32, units: u32) -> (u32, u32) {
        let at = position % self.units;
        let skipped = if at + units > self.units { self.units - at } else { 0 };
        let start = position.wrapping_add(skipped);
        (start, start.wrapping_add(units))
    }
}

/// A sender's end.
#[derive(Clone, Copy, Default, Debug)]
pub struct Outward {
    next: u32,
    freed: u32,
    /// What the receiver's word said when this end looked last.
    word: u32,
}

impl Outward {
    /// The unit at which a message of so many units is to be put, and what this end is then; `None` if there is no room.
    pub fn reserve(self, form: Form, units: u32) -> Option<(u32, Outward)> {
        let (start, end) = form.span(self.next, units);
        let fits = end.wrapping_sub(self.freed) <= form.units;
        fits.then_some((start % form.units, Outward { next: end, ..self }))
    }

    /// The receiver has told how far it has come; what it told before may come after.
    pub fn freed(&mut self, position: u32) {
        if position.wrapping_sub(self.freed) <= self.next.wrapping_sub(self.freed) {
            self.freed = position;
        }
    }

    /// The same by a word, which stays as it is when the receiver tells by messages again: what it said before is no news.
    pub fn freed_by_word(&mut self, word: u32) {
        if word != self.word {
            self.word = word;
            self.freed(word);
        }
    }
}

/// The receiver's end.
#[derive(Clone, Copy, Default, Debug)]
pub struct Inward {
    freed: u32,
    told: u32,
    /// What the word at the sender says.
    word: u32,
}

impl Inward {
    /// The next message has been taken.
    pub fn free(&mut self, form: Form, units: u32) {
        self.freed = form.span(self.freed, units).1;
    }

    /// How far this end has come, to be told.
    pub fn position(&self) -> u32 {
        self.freed
    }

    /// It has been told.
    pub fn tell(&mut self) {
        self.told = self.freed;
    }

    /// What is to be added to the word at the sender, so that it tells how far this end has come.
    pub fn step_of_word(&self) -> u32 {
        self.freed.wrapping_sub(self.word)
    }

    /// It has been added.
    pub fn tell_by_word(&mut self) {
        self.word = self.freed;
        self.tell();
    }

    /// Whether it must be told, if need be without a message: the sender may have no room.
    pub fn is_owing(&self, form: Form) -> bool {
        let untold = self.freed.wrapping_sub(self.told);
        untold > 0 && untold >= form.units / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;

    #[test]
    fn rings_of_small_and_large_jobs() {
        assert_eq!(Form::of(4), Form { units: 256, ranks: 4 });
        assert_eq!((Form::of(16).units(), Form::of(100).units(), Form::of(1000).units()), (256, 32, 4));
        assert_eq!((Form::of(100_000).units(), Form::of(100_000).most_bytes()), (1, UNIT));
        let most = Form::of(1000);
        assert!(most.bytes() <= ALL && most.place(999, 3) + UNIT == most.bytes());
    }

    /// Random messages over rings of every size: none lies over another that has not been freed, and the two ends never get stuck.
    #[test]
    fn messages_never_overlap_and_always_move_on() {
        let mut seed = 1u64;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as u32 % below
        };
        for power in 0..9 {
            let form = Form { units: 1 << power, ranks: 1 };
            // Positions wrap around on the way.
            let start = u32::MAX - 40 * form.units + 1;
            let mut outward = Outward { next: start, freed: start, word: 0 };
            let mut inward = Inward { freed: start, told: start, word: 0 };
            let (mut lying, mut sent, mut word): (VecDeque<(u32, u32)>, u32, u32) = (VecDeque::new(), 0, 0);
            while sent < 2000 {
                let units = 1 + random(form.units_of(form.most_bytes()));
                if let Some((at, after)) = outward.reserve(form, units) {
                    assert!(at + units <= form.units);
                    assert!(lying.iter().all(|(other, many)| at + units <= *other || other + many <= at));
                    lying.push_back((at, units));
                    (outward, sent) = (after, sent + 1);
                } else {
                    assert!(!lying.is_empty(), "stuck with an empty ring of {} units", form.units);
                }
                if random(2) == 0
                    && let Some((_, units)) = lying.pop_front()
                {
                    inward.free(form, units);
                }
                if inward.is_owing(form) && random(2) == 0 {
                    word = word.wrapping_add(inward.step_of_word());
                    inward.tell_by_word();
                } else if inward.is_owing(form) {
                    inward.tell();
                    outward.freed(inward.position());
                }
                outward.freed_by_word(word);
            }
        }
    }

    #[test]
    fn what_is_told_late_changes_nothing() {
        let form = Form { units: 4, ranks: 1 };
        let mut outward = Outward::default();
        for _ in 0..2 {
            outward = outward.reserve(form, 1).expect("an empty ring").1;
        }
        outward.freed_by_word(2);
        outward.freed(1);
        assert_eq!(outward.freed, 2);
        // A word that has not changed since says nothing, even if positions have gone round meanwhile.
        outward = Outward { next: 4, freed: 1, ..outward };
        outward.freed_by_word(2);
        assert_eq!(outward.freed, 1);
    }
}
