//! Every collective call, over teams of all kinds and in sizes around every threshold, against what it must give.

use crate::check::{Check, array};
use lwk_shmem::Shmem;
use lwk_shmem::engine::{
    self, ActiveSet, And, Complex, Element, LongDouble, Max, Min, Operation, Or, Prod, Sum, TEAM_INVALID,
    TEAM_WORLD, Xor,
};

/// Most elements of a block, and what all arrays have room for.
const MOST: usize = 20_000;
/// Elements a block: nothing, one line, its edges, slices of unequal length, a root that helps.
const COUNTS: [usize; 9] = [0, 1, 7, 8, 9, 57, 640, 4099, MOST];

/// A team, and its members as a stride through the PEs.
#[derive(Clone, Copy)]
struct Members {
    team: i32,
    start: i32,
    stride: i32,
    size: i32,
}

impl Members {
    fn pe(self, index: i32) -> i32 {
        self.start + self.stride * index
    }

    fn all(self) -> impl Iterator<Item = i32> {
        (0..self.size).map(move |index| self.pe(index))
    }
}

/// The arrays of the area.
struct Arrays {
    source: *mut u64,
    dest: *mut u64,
}

pub fn run(_: &Shmem, check: &mut Check) {
    let n = engine::n_pes();
    let arrays = Arrays { source: array(MOST * n as usize, 0), dest: array(MOST * n as usize, 0) };
    let backwards = if n > 1 { -1 } else { 0 };
    let odd = n / 2;
    let mut teams = alloc::vec![(0, 1, n), (n - 1, backwards, n), (0, 2, (n + 1) / 2), (n - 1, 0, 1)];
    if odd > 0 {
        teams.push((1, if odd > 1 { 2 } else { 0 }, odd));
    }
    for (start, stride, size) in teams {
        let mut team = TEAM_INVALID;
        check.equal(engine::team_split_strided(TEAM_WORLD, start, stride, size, None, 0, &mut team), 0);
        if team != TEAM_INVALID {
            let members = Members { team, start, stride, size };
            for count in COUNTS {
                data(check, &arrays, members, count);
            }
            reductions(check, members);
            large_reduction(check, &arrays, members);
            refused(check, &arrays, members);
            engine::team_destroy(team);
        }
    }
    active_sets(check, &arrays);
    engine::barrier_all();
    engine::free(arrays.dest.cast());
    engine::free(arrays.source.cast());
}

/// Element `index` of PE `pe`'s source.
fn value(pe: i32, index: usize) -> u64 {
    (pe as u64 + 1) * 1_000_003 + index as u64
}

impl Arrays {
    /// Writes this PE's source, clears its destination, and waits for the members. Collective.
    fn prepare(&self, members: Members, count: usize) {
        let me = engine::my_pe();
        let room = (count * members.size as usize + 8).min(MOST * engine::n_pes() as usize);
        for index in 0..room {
            // SAFETY: inside the arrays; the members use them after the synchronisation only.
            unsafe {
                self.source.add(index).write(value(me, index));
                self.dest.add(index).write(u64::MAX);
            }
        }
        engine::team_sync(members.team);
    }

    /// Whether the destination begins with these elements, and the element after them is untouched.
    #[track_caller]
    fn holds(&self, check: &mut Check, expected: impl Iterator<Item = u64>) {
        let mut count = 0;
        let mut wrong = None;
        for (index, expected) in expected.enumerate() {
            count = index + 1;
            // SAFETY: inside the array; the collective call is over.
            let found = unsafe { self.dest.add(index).read() };
            if found != expected && wrong.is_none() {
                wrong = Some((index, found, expected));
            }
        }
        check.equal(wrong, None);
        if count < MOST {
            // SAFETY: inside the array.
            check.equal(unsafe { self.dest.add(count).read() }, u64::MAX);
        }
    }
}

fn data(check: &mut Check, arrays: &Arrays, members: Members, count: usize) {
    let (team, dest, source) = (members.team, arrays.dest, arrays.source);
    let me = engine::team_my_pe(team);
    // SAFETY: throughout, the arrays hold MOST elements for every PE; `prepare` makes them ready in all members.
    unsafe {
        for root in [0, members.size - 1] {
            arrays.prepare(members, count);
            check.equal(engine::broadcast(team, dest, source, count, root), 0);
            arrays.holds(check, (0..count).map(|i| value(members.pe(root), i)));
        }
        arrays.prepare(members, count);
        check.equal(engine::fcollect(team, dest, source, count), 0);
        arrays.holds(check, members.all().flat_map(|pe| (0..count).map(move |i| value(pe, i))));

        // Member `i` gives `i` more elements than member 0, as far as there is room; some give none.
        let share = |index: i32| if index % 3 == 2 { 0 } else { (count + index as usize).min(MOST) };
        arrays.prepare(members, count + 8);
        check.equal(engine::collect(team, dest, source, share(me)), 0);
        let each = (0..members.size).flat_map(|j| (0..share(j)).map(move |i| value(members.pe(j), i)));
        arrays.holds(check, each);

        arrays.prepare(members, count);
        check.equal(engine::alltoall(team, dest, source, count), 0);
        let block = me as usize * count;
        arrays.holds(check, members.all().flat_map(|pe| (0..count).map(move |i| value(pe, block + i))));

        let strided = count / 6;
        arrays.prepare(members, count);
        check.equal(engine::alltoalls(team, dest, source, 3, 2, strided), 0);
        for (j, pe) in members.all().enumerate() {
            for i in 0..strided {
                let found = dest.add(3 * (j * strided + i)).read();
                check.equal(found, value(pe, 2 * (me as usize * strided + i)));
            }
        }
        engine::team_sync(team);
    }
}

/// An element that PE `pe` gives, small enough that sums are exact in every type.
trait Number: Element + PartialEq + core::fmt::Debug {
    fn from_small(value: u8) -> Self;
}

macro_rules! numbers {
    ($($type:ty),*) => { $(impl Number for $type { fn from_small(value: u8) -> $type { value as $type } })* };
}

numbers!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

impl Number for LongDouble {
    fn from_small(value: u8) -> Self {
        f64::from(value).into()
    }
}

impl Number for Complex<f32> {
    fn from_small(value: u8) -> Self {
        Complex { re: f32::from(value), im: 1.0 - f32::from(value) }
    }
}

impl Number for Complex<f64> {
    fn from_small(value: u8) -> Self {
        Complex { re: f64::from(value), im: 1.0 - f64::from(value) }
    }
}

/// Reduces element by element; then once more in place.
fn one<T: Number, O: Operation<T>>(check: &mut Check, members: Members) {
    const COUNTS: [usize; 4] = [1, 5, 40, 1500];
    let give = |pe: i32, index: usize| T::from_small(((pe as usize * 3 + index * 5) % 4 + 1) as u8);
    let bytes = COUNTS[3] * size_of::<T>();
    // Not collective over all PEs, so not from the heap: statics, large enough for every type.
    static SOURCE: lwk_user::smartmap::Symmetric<[u64; 3000]> = lwk_user::smartmap::Symmetric::new([0; 3000]);
    static DEST: lwk_user::smartmap::Symmetric<[u64; 3000]> = lwk_user::smartmap::Symmetric::new([0; 3000]);
    assert!(bytes <= 3000 * 8, "the arrays have room for every type");
    let (source, dest) = (SOURCE.as_ptr().cast::<T>(), DEST.as_ptr().cast::<T>());
    for count in COUNTS {
        for in_place in [false, true] {
            let dest = if in_place { source } else { dest };
            // SAFETY: inside the statics; the synchronisations separate the members' use.
            unsafe {
                for index in 0..count {
                    source.add(index).write(give(engine::my_pe(), index));
                }
                engine::team_sync(members.team);
                check.equal(engine::reduce::<T, O>(members.team, dest, source, count), 0);
                for index in 0..count {
                    let all = members.all().map(|pe| give(pe, index));
                    let expected = all.reduce(|a, b| O::combine(a, b));
                    check.equal(Some(dest.add(index).read()), expected);
                }
                engine::team_sync(members.team);
            }
        }
    }
}

fn reductions(check: &mut Check, members: Members) {
    macro_rules! integers {
        ($($type:ty),*) => { $(
            one::<$type, Sum>(check, members);
            one::<$type, Prod>(check, members);
            one::<$type, Max>(check, members);
            one::<$type, Min>(check, members);
            one::<$type, And>(check, members);
            one::<$type, Or>(check, members);
            one::<$type, Xor>(check, members);
        )* };
    }
    integers!(i8, i16, i32, i64, u8, u16, u32, u64);
    macro_rules! floats {
        ($($type:ty),*) => { $(
            one::<$type, Sum>(check, members);
            one::<$type, Prod>(check, members);
            one::<$type, Max>(check, members);
            one::<$type, Min>(check, members);
        )* };
    }
    floats!(f32, f64, LongDouble);
    one::<Complex<f32>, Sum>(check, members);
    one::<Complex<f64>, Sum>(check, members);
    if members.size <= 4 {
        // Exact only while products are small.
        one::<Complex<f32>, Prod>(check, members);
        one::<Complex<f64>, Prod>(check, members);
    }
}

fn large_reduction(check: &mut Check, arrays: &Arrays, members: Members) {
    for count in [8, 9, 513, MOST] {
        arrays.prepare(members, count);
        // SAFETY: the arrays have room; `prepare` makes them ready.
        let code = unsafe { engine::reduce::<u64, Sum>(members.team, arrays.dest, arrays.source, count) };
        check.equal(code, 0);
        arrays.holds(check, (0..count).map(|i| members.all().map(|pe| value(pe, i)).sum()));
        engine::team_sync(members.team);
    }
}

/// Handles and roots that are none: a code, and nothing happens.
fn refused(check: &mut Check, arrays: &Arrays, members: Members) {
    let (dest, source) = (arrays.dest, arrays.source);
    // SAFETY: the calls are refused before they touch anything.
    unsafe {
        for root in [-1, members.size] {
            check.that(engine::broadcast(members.team, dest, source, 1, root) != 0);
        }
        check.that(engine::broadcast(TEAM_INVALID, dest, source, 1, 0) != 0);
        check.that(engine::fcollect(TEAM_INVALID, dest, source, 1) != 0);
        check.that(engine::collect(TEAM_INVALID, dest, source, 1) != 0);
        check.that(engine::alltoall(999, dest, source, 1) != 0);
        check.that(engine::alltoalls(members.team, dest, source, 0, 1, 1) != 0);
        check.that(engine::reduce::<u64, Sum>(TEAM_INVALID, dest, source, 1) != 0);
    }
}

/// The old forms, over all PEs and over every second one.
fn active_sets(check: &mut Check, arrays: &Arrays) {
    let (n, me) = (engine::n_pes(), engine::my_pe());
    let (dest, source) = (arrays.dest, arrays.source);
    for (set, stride) in [
        (ActiveSet { start: 0, log_stride: 0, size: n }, 1),
        (ActiveSet { start: 0, log_stride: 1, size: (n + 1) / 2 }, 2),
    ] {
        engine::barrier_all();
        if me % stride != 0 {
            continue;
        }
        let members = Members { team: TEAM_INVALID, start: 0, stride, size: set.size };
        let prepare = || {
            for index in 0..100 * n as usize + 8 {
                // SAFETY: inside the arrays; the members use them after the barrier only.
                unsafe {
                    source.add(index).write(value(me, index));
                    dest.add(index).write(u64::MAX);
                }
            }
            engine::barrier(set);
        };
        // SAFETY: as for the team forms.
        unsafe {
            prepare();
            engine::broadcast_active(dest, source, 100, set.size - 1, set);
            if me == members.pe(set.size - 1) {
                check.equal(dest.read(), u64::MAX);
            } else {
                arrays.holds(check, (0..100).map(|i| value(members.pe(set.size - 1), i)));
            }
            prepare();
            engine::fcollect_active(dest, source, 50, set);
            arrays.holds(check, members.all().flat_map(|pe| (0..50).map(move |i| value(pe, i))));
            prepare();
            engine::collect_active(dest, source, 3 + me as usize, set);
            arrays.holds(check, members.all().flat_map(|pe| (0..3 + pe as usize).map(move |i| value(pe, i))));
            prepare();
            let mine = (me / stride) as usize;
            engine::alltoall_active(dest, source, 9, set);
            arrays.holds(check, members.all().flat_map(|pe| (0..9).map(move |i| value(pe, mine * 9 + i))));
            prepare();
            engine::alltoalls_active(dest, source, 1, 1, 9, set);
            arrays.holds(check, members.all().flat_map(|pe| (0..9).map(move |i| value(pe, mine * 9 + i))));
            prepare();
            engine::to_all::<u64, Max>(dest, source, 100, set);
            arrays.holds(check, (0..100).map(|i| value(members.pe(set.size - 1), i)));
            engine::sync(set);
        }
    }
    engine::barrier_all();
}
