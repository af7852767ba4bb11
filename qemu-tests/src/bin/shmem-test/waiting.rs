//! wait_until and test in all forms, and signals.

use crate::check::{Check, array};
use lwk_shmem::Shmem;
use lwk_shmem::engine::{
    self, CMP_EQ, CMP_GE, CMP_GT, CMP_LE, CMP_LT, CMP_NE, NONE, SIGNAL_ADD, SIGNAL_SET, WaitWord,
};

pub fn run(_: &Shmem, check: &mut Check) {
    comparisons::<i16>(check, [-3, 0, 4]);
    comparisons::<u16>(check, [0, 3, 40_000]);
    comparisons::<i32>(check, [-3, 0, 4]);
    comparisons::<u32>(check, [0, 3, 3_000_000_000]);
    comparisons::<i64>(check, [i64::MIN, 0, 4]);
    comparisons::<u64>(check, [0, 3, u64::MAX]);
    sets(check);
    empty_sets(check);
    waits_for_peers(check);
    polls(check);
    signals(check);
}

/// Every comparison of three rising values with each other.
fn comparisons<T: WaitWord + core::fmt::Debug>(check: &mut Check, values: [T; 3]) {
    let word = array::<T>(1, 0);
    for (i, left) in values.into_iter().enumerate() {
        // SAFETY: this PE's own object; no peer touches it.
        unsafe {
            word.write_volatile(left);
            for (j, right) in values.into_iter().enumerate() {
                for (comparison, holds) in [
                    (CMP_EQ, i == j),
                    (CMP_NE, i != j),
                    (CMP_GT, i > j),
                    (CMP_GE, i >= j),
                    (CMP_LT, i < j),
                    (CMP_LE, i <= j),
                ] {
                    check.equal((comparison, engine::test(word, comparison, right)), (comparison, holds));
                    if holds {
                        check.equal(engine::wait_until(word, comparison, right), left);
                    }
                }
            }
        }
    }
    engine::barrier_all();
    engine::free(word.cast());
}

/// Objects 0, 1, … 7 in this PE: which of them compare so, with and without some left out, with one value or a vector.
fn sets(check: &mut Check) {
    let words = array::<i64>(8, 0);
    let mut found = [0usize; 8];
    // SAFETY: throughout, eight objects of this PE's own, eight statuses, values and indices; no peer touches them.
    unsafe {
        for index in 0..8 {
            words.add(index).write_volatile(index as i64);
        }
        let all = core::ptr::null();
        let status = [0, 1, 0, 1, 0, 1, 0, 1];
        let even = status.as_ptr();
        check.that(engine::test_all(words, 8, all, CMP_GE, 0));
        check.that(!engine::test_all(words, 8, all, CMP_GE, 1));
        check.that(engine::test_all(words.add(1), 7, all, CMP_GE, 1));
        engine::wait_until_all(words, 8, all, CMP_LT, 8);
        check.equal(engine::test_some(words, 8, found.as_mut_ptr(), all, CMP_GT, 5), 2);
        check.equal(found[..2].to_vec(), [6, 7].to_vec());
        check.equal(engine::wait_until_some(words, 8, found.as_mut_ptr(), even, CMP_GT, 3), 2);
        check.equal(found[..2].to_vec(), [4, 6].to_vec());
        check.equal(engine::test_any(words, 8, all, CMP_EQ, 5), 5);
        check.equal(engine::test_any(words, 8, even, CMP_EQ, 5), NONE);
        check.equal(engine::wait_until_any(words, 8, even, CMP_EQ, 6), 6);
        check.equal(engine::test_some(words, 8, found.as_mut_ptr(), all, CMP_GT, 7), 0);

        let vector = [0i64, 1, 9, 3, 9, 9, 6, 9];
        let values = vector.as_ptr();
        check.that(!engine::test_all_vector(words, 8, all, CMP_EQ, values));
        check.that(engine::test_all_vector(words, 8, all, CMP_LE, values));
        engine::wait_until_all_vector(words, 8, all, CMP_LE, values);
        check.equal(engine::test_some_vector(words, 8, found.as_mut_ptr(), all, CMP_EQ, values), 4);
        check.equal(found[..4].to_vec(), [0, 1, 3, 6].to_vec());
        check.equal(engine::wait_until_some_vector(words, 8, found.as_mut_ptr(), even, CMP_EQ, values), 2);
        check.equal(found[..2].to_vec(), [0, 6].to_vec());
        let any = engine::test_any_vector(words, 8, even, CMP_EQ, values);
        check.that(any == 0 || any == 6);
        // None starves: in a row of calls each that compares so is found.
        let mut seen = [false; 8];
        for _ in 0..8 {
            seen[engine::wait_until_any_vector(words, 8, all, CMP_EQ, values) % 8] = true;
        }
        check.equal(seen, [true, true, false, true, false, false, true, false]);
    }
    engine::barrier_all();
    engine::free(words.cast());
}

/// Nothing to wait for: all forms return at once.
fn empty_sets(check: &mut Check) {
    let words = array::<i32>(2, 0);
    let out = [1, 1];
    let mut found = [0usize; 2];
    // SAFETY: two objects of this PE's own, as many statuses and indices.
    unsafe {
        for (count, status) in [(0, core::ptr::null()), (2, out.as_ptr())] {
            check.equal(engine::wait_until_any(words, count, status, CMP_EQ, 5), NONE);
            check.equal(engine::wait_until_some(words, count, found.as_mut_ptr(), status, CMP_EQ, 5), 0);
            engine::wait_until_all(words, count, status, CMP_EQ, 5);
            check.that(engine::test_all(words, count, status, CMP_EQ, 5));
            check.equal(engine::test_any(words, count, status, CMP_EQ, 5), NONE);
            check.equal(engine::test_some(words, count, found.as_mut_ptr(), status, CMP_EQ, 5), 0);
        }
    }
    engine::barrier_all();
    engine::free(words.cast());
}

/// Every PE puts data and raises a flag in every other; each waits for all of them, one by one, and finds the data.
fn waits_for_peers(check: &mut Check) {
    let n = engine::n_pes() as usize;
    let me = engine::my_pe() as usize;
    let (data, flags) = (array::<u64>(n, 0), array::<i32>(n, 0));
    for round in 1..=20i32 {
        // SAFETY: each PE writes its own entries of the arrays, once a round, before the barrier.
        unsafe {
            for distance in 0..n {
                let pe = ((me + distance) % n) as i32;
                engine::p(data.add(me), round as u64 * 1000 + me as u64, pe);
                engine::fence();
                engine::p(flags.add(me), round, pe);
            }
            let mut status = alloc::vec![0i32; n];
            for _ in 0..n {
                let from = engine::wait_until_any(flags, n, status.as_ptr(), CMP_EQ, round);
                if from >= n {
                    check.that(false);
                    break;
                }
                status[from] = 1;
                check.equal(data.add(from).read_volatile(), round as u64 * 1000 + from as u64);
            }
            check.equal(engine::wait_until_any(flags, n, status.as_ptr(), CMP_EQ, round), NONE);
        }
        engine::barrier_all();
    }
    engine::free(flags.cast());
    engine::free(data.cast());
}

fn signals(check: &mut Check) {
    let (n, me) = (engine::n_pes(), engine::my_pe());
    let (data, signal) = (array::<u32>(100, 0), array::<u64>(2, 0));
    let right = (me + 1) % n;
    let left = (me + n - 1) % n;
    for round in 1..=10u32 {
        let values = [round * 100 + me as u32; 100];
        // SAFETY: only the left neighbour writes this PE's data and first signal, and waits for the barrier before it does
        // so again; the second signal is used by atomics only.
        unsafe {
            engine::put_signal(data, values.as_ptr(), 100, signal, u64::from(round), SIGNAL_SET, right);
            check.equal(engine::signal_wait_until(signal, CMP_EQ, u64::from(round)), u64::from(round));
            check.that((0..100).all(|i| data.add(i).read_volatile() == round * 100 + left as u32));
            engine::putmem_signal(
                core::ptr::null_mut(),
                core::ptr::null(),
                0,
                signal.add(1),
                1,
                SIGNAL_ADD,
                0,
            );
        }
        engine::barrier_all();
    }
    if me == 0 {
        // SAFETY: a signal of this PE's, used by atomics only.
        check.equal(unsafe { engine::signal_fetch(signal.add(1)) }, 10 * n as u64);
    }
    engine::barrier_all();
    engine::free(signal.cast());
    engine::free(data.cast());
}

/// PEs 0 and 1 pass a number to and fro, which each awaits in a loop of its own by every form of test in turn: where they share a core, a test that
/// found nothing and kept the core would never find anything.
fn polls(check: &mut Check) {
    let (words, me) = (array::<i64>(2, 0), engine::my_pe());
    let mut found = [0usize; 2];
    let (all, place) = (core::ptr::null(), found.as_mut_ptr());
    if engine::n_pes() > 1 && me < 2 {
        for turn in 1..=60i64 {
            let values = [turn, turn];
            let values = values.as_ptr();
            // SAFETY: two symmetric words, which the partner stores to one by one; as many values and indices.
            let arrived = || unsafe {
                match turn % 7 {
                    0 => engine::test(words, CMP_EQ, turn) && engine::test(words.add(1), CMP_EQ, turn),
                    1 => engine::test_all(words, 2, all, CMP_EQ, turn),
                    2 => engine::test_all_vector(words, 2, all, CMP_EQ, values),
                    3 => engine::test_any(words.add(1), 1, all, CMP_EQ, turn) != NONE,
                    4 => engine::test_any_vector(words.add(1), 1, all, CMP_EQ, values) != NONE,
                    5 => engine::test_some(words.add(1), 1, place, all, CMP_EQ, turn) == 1,
                    _ => engine::test_some_vector(words.add(1), 1, place, all, CMP_EQ, values) == 1,
                }
            };
            let mut awaited = || {
                while !arrived() {}
                // SAFETY: this PE's own words; the partner stores to them again only after this PE's next.
                check.equal(unsafe { [words.read_volatile(), words.add(1).read_volatile()] }, [turn; 2]);
            };
            // The first passes it on, the second sends it back.
            if me == 1 {
                awaited();
            }
            for index in 0..2 {
                // SAFETY: the partner's words.
                unsafe { engine::p(words.add(index), turn, 1 - me) };
                engine::fence();
            }
            if me == 0 {
                awaited();
            }
        }
    }
    engine::barrier_all();
    engine::free(words.cast());
}
