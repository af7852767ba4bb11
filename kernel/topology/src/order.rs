//! The order in which ranks get processors.

use arrayvec::ArrayVec;

use crate::{PROCESSORS_MAX, Shifts};

/// How ranks are bound to processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Whole cores before second threads, each as far from those before as can be: in turn over packages, last-level caches, and
    /// second-level caches.
    Scatter,
    /// Whole cores before second threads, by number: as near to each other as can be.
    Compact,
    /// By number, so that threads of one core follow each other.
    Threads,
}

/// The places in `ids`, numbers of interrupt controllers, all different, [`PROCESSORS_MAX`] at most (more are left out), in the order in
/// which ranks get them.
///
/// Processors are sorted by how many parts come before theirs in the next larger part: second threads come after the first ones of all
/// cores, second caches after the first ones of all packages, and so on; then by number. Of cores of two kinds the fast ones come before the
/// `slow` ones, and these before second threads.
pub fn order(
    ids: &[u32],
    slow: impl Fn(usize) -> bool,
    shifts: &Shifts,
    binding: Binding,
) -> ArrayVec<usize, PROCESSORS_MAX> {
    let mut sorted = ArrayVec::<u32, PROCESSORS_MAX>::new();
    ids.iter().take(PROCESSORS_MAX).for_each(|id| insert(&mut sorted, *id));
    // How many parts (of numbers that are equal without the lower `part` bits) come before that of `id` in the same `whole`.
    let before = |id: u32, part: u32, whole: u32| {
        let mut last = None;
        let lower =
            sorted.iter().filter(|other| **other >> whole == id >> whole && **other >> part < id >> part);
        // Sorted, so numbers of one part follow each other.
        lower.filter(|other| last.replace(**other >> part) != Some(**other >> part)).count()
    };
    let key = |id: u32, place: usize| {
        let (thread, slow) = (before(id, 0, shifts.core), usize::from(slow(place)));
        match binding {
            Binding::Threads => [0, slow, 0, 0, 0, 0],
            Binding::Compact => [thread, slow, 0, 0, 0, 0],
            Binding::Scatter => [
                thread,
                slow,
                before(id, shifts.core, shifts.l2),
                before(id, shifts.l2, shifts.l3),
                before(id, shifts.l3, shifts.package),
                before(id, shifts.package, 31),
            ],
        }
    };
    let mut keyed = ArrayVec::<([usize; 6], u32, usize), PROCESSORS_MAX>::new();
    for (place, id) in ids.iter().enumerate().take(PROCESSORS_MAX) {
        insert(&mut keyed, (key(*id, place), *id, place));
    }
    keyed.into_iter().map(|(_, _, place)| place).collect()
}

/// Inserts an element before the larger ones. A few hundred are sorted so once, by far less code than the library's sort is.
fn insert<T: Ord, const N: usize>(sorted: &mut ArrayVec<T, N>, element: T) {
    let place = sorted.iter().position(|other| *other > element).unwrap_or(sorted.len());
    sorted.insert(place, element);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn ids(places: &[u32], shifts: &Shifts, binding: Binding) -> Vec<u32> {
        order(places, |_| false, shifts, binding).into_iter().map(|place| places[place]).collect()
    }

    /// Two packages of two cores of two threads each.
    const SMALL: Shifts = Shifts { core: 1, package: 2, l2: 1, l3: 2 };

    #[test]
    fn whole_cores_come_before_second_threads() {
        let all: Vec<u32> = (0..8).collect();
        assert_eq!(ids(&all, &SMALL, Binding::Compact), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(ids(&all, &SMALL, Binding::Scatter), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(ids(&all, &SMALL, Binding::Threads), all);
    }

    #[test]
    fn caches_of_a_package_take_turns() {
        // One package, two last-level caches of two cores, no second threads.
        let shifts = Shifts { core: 0, package: 2, l2: 0, l3: 1 };
        assert_eq!(ids(&[0, 1, 2, 3], &shifts, Binding::Scatter), [0, 2, 1, 3]);
        // Pairs of cores at a second-level cache.
        let shifts = Shifts { core: 0, package: 2, l2: 1, l3: 2 };
        assert_eq!(ids(&[0, 1, 2, 3], &shifts, Binding::Scatter), [0, 2, 1, 3]);
        assert_eq!(ids(&[0, 1, 2, 3], &shifts, Binding::Compact), [0, 1, 2, 3]);
    }

    #[test]
    fn numbers_far_apart_and_in_any_order_are_the_same() {
        let apart = [0x300, 0x101, 0x100, 0x301, 2, 3];
        let shifts = Shifts { core: 1, package: 8, l2: 1, l3: 8 };
        assert_eq!(ids(&apart, &shifts, Binding::Scatter), [2, 0x100, 0x300, 3, 0x101, 0x301]);
        assert_eq!(ids(&apart, &shifts, Binding::Compact), [2, 0x100, 0x300, 3, 0x101, 0x301]);
    }

    #[test]
    fn fast_cores_come_before_slow_ones_and_these_before_second_threads() {
        // Two fast cores of two threads, and four slow ones, as Alder Lake numbers them.
        let all = [0, 1, 8, 9, 0x40, 0x42, 0x44, 0x46];
        let shifts = Shifts { core: 1, package: 7, l2: 3, l3: 7 };
        let ids = |binding| -> Vec<u32> {
            let order = order(&all, |place| all[place] >= 0x40, &shifts, binding);
            order.into_iter().map(|place| all[place]).collect()
        };
        let whole = [0, 8, 0x40, 0x42, 0x44, 0x46, 1, 9];
        assert_eq!(ids(Binding::Compact), whole);
        assert_eq!(ids(Binding::Scatter), whole);
        assert_eq!(ids(Binding::Threads), all);
    }

    #[test]
    fn every_processor_comes_once() {
        let many: Vec<u32> = (0..300).map(|n| n * 3).collect();
        for binding in [Binding::Scatter, Binding::Compact, Binding::Threads] {
            for shifts in [SMALL, Shifts { core: 31, package: 31, l2: 31, l3: 31 }] {
                let mut found = order(&many, |place| place % 3 == 0, &shifts, binding).to_vec();
                found.sort_unstable();
                assert_eq!(found, (0..PROCESSORS_MAX).collect::<Vec<_>>());
            }
        }
        assert!(order(&[], |_| true, &SMALL, Binding::Scatter).is_empty());
    }
}
