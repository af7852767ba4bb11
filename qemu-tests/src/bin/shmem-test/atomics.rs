//! Atomics, alone and from all PEs at once.

use crate::check::{Check, array};
use lwk_shmem::engine::AtomicInteger;
use lwk_shmem::{Shmem, engine};

/// Times each PE repeats a contended operation.
const TIMES: u64 = 200;

pub fn run(_: &Shmem, check: &mut Check) {
    integer::<i32>(check, [0, 5, -7, i32::MAX, 0x0f0f]);
    integer::<u32>(check, [0, 5, 9, u32::MAX, 0x0f0f]);
    integer::<i64>(check, [0, 5, -7, i64::MAX, 0x0f0f]);
    integer::<u64>(check, [0, 5, 9, u64::MAX, 0x0f0f]);
    floating(check);
    contended(check);
}

/// Every operation on a number of the right neighbour's, which only this PE uses.
fn integer<T: AtomicInteger + core::fmt::Debug>(check: &mut Check, [zero, five, seven, most, bits]: [T; 5]) {
    let word = array::<T>(1, 0);
    let pe = (engine::my_pe() + 1) % engine::n_pes();
    let mut old = five;
    // SAFETY: a symmetric number that only this PE uses, by atomics.
    unsafe {
        check.equal(engine::atomic_fetch(word, pe), zero);
        engine::atomic_set(word, five, pe);
        check.equal(engine::atomic_swap(word, seven, pe), five);
        check.equal(engine::atomic_compare_swap(word, five, zero, pe), seven);
        check.equal(engine::atomic_compare_swap(word, seven, zero, pe), seven);
        engine::atomic_inc(word, pe);
        let before = engine::g(word, pe);
        check.equal(engine::atomic_fetch_inc(word, pe), before);
        engine::atomic_set(word, zero, pe);
        engine::atomic_add(word, five, pe);
        check.equal(engine::atomic_fetch_add(word, seven, pe), five);
        engine::atomic_set(word, most, pe);
        engine::atomic_inc(word, pe);
        check.that(engine::atomic_fetch(word, pe) != most);
        engine::atomic_set(word, bits, pe);
        engine::atomic_and(word, five, pe);
        check.equal(engine::atomic_fetch_or(word, bits, pe), five);
        check.equal(engine::atomic_fetch_xor(word, bits, pe), bits);
        check.equal(engine::atomic_fetch_and(word, five, pe), zero);
        engine::atomic_or(word, bits, pe);
        engine::atomic_xor(word, bits, pe);
        check.equal(engine::atomic_fetch(word, pe), zero);

        engine::atomic_fetch_add_nbi(&mut old, word, five, pe);
        check.equal(old, zero);
        engine::atomic_swap_nbi(&mut old, word, bits, pe);
        check.equal(old, five);
        engine::atomic_compare_swap_nbi(&mut old, word, bits, seven, pe);
        check.equal(old, bits);
        engine::atomic_fetch_nbi(&mut old, word, pe);
        check.equal(old, seven);
        engine::atomic_set(word, zero, pe);
        engine::atomic_fetch_inc_nbi(&mut old, word, pe);
        check.equal(old, zero);
        engine::atomic_set(word, bits, pe);
        engine::atomic_fetch_or_nbi(&mut old, word, five, pe);
        check.equal(old, bits);
        engine::atomic_set(word, bits, pe);
        engine::atomic_fetch_xor_nbi(&mut old, word, bits, pe);
        check.equal(old, bits);
        engine::atomic_fetch_and_nbi(&mut old, word, bits, pe);
        check.equal(old, zero);
    }
    engine::barrier_all();
    engine::free(word.cast());
}

fn floating(check: &mut Check) {
    let (single, double) = (array::<f32>(1, 0), array::<f64>(1, 0));
    let pe = (engine::my_pe() + 1) % engine::n_pes();
    // SAFETY: symmetric numbers that only this PE uses, by atomics.
    unsafe {
        engine::atomic_set(single, 1.5, pe);
        check.equal(engine::atomic_swap(single, -2.5, pe), 1.5);
        check.equal(engine::atomic_fetch(single, pe), -2.5);
        engine::atomic_set(double, 1e300, pe);
        check.equal(engine::atomic_swap(double, -0.5, pe), 1e300);
        check.equal(engine::atomic_fetch(double, pe), -0.5);
    }
    engine::barrier_all();
    engine::free(double.cast());
    engine::free(single.cast());
}

/// All PEs at once on PE 0's numbers: nothing may be lost.
fn contended(check: &mut Check) {
    let words = array::<u64>(8, 0);
    let narrow = array::<u32>(1, 0);
    let (me, n) = (engine::my_pe() as u64, engine::n_pes() as u64);
    let at = |index: usize| words.wrapping_add(index);
    let mut seen_sum = 0;
    for time in 0..TIMES {
        // SAFETY: symmetric numbers, used by atomics only.
        unsafe {
            engine::atomic_inc(at(0), 0);
            engine::atomic_add(at(1), me + 1, 0);
            seen_sum += engine::atomic_fetch_inc(at(2), 0);
            engine::atomic_xor(at(3), 1 << (me % 64), 0);
            engine::atomic_or(at(4), 1 << (time % 64), 0);
            engine::atomic_fetch_add(narrow, 3, 0);
            // An addition by compare and swap.
            let mut old = engine::atomic_fetch(at(5), 0);
            loop {
                let seen = engine::atomic_compare_swap(at(5), old, old + 2, 0);
                if seen == old {
                    break;
                }
                old = seen;
            }
            engine::atomic_add(at(6), 1, (me as i32 + 1) % n as i32);
        }
    }
    // SAFETY: as above.
    unsafe {
        engine::atomic_add(at(7), seen_sum, 0);
        engine::barrier_all();
        check.equal(engine::atomic_fetch(at(0), 0), n * TIMES);
        check.equal(engine::atomic_fetch(at(1), 0), TIMES * n * (n + 1) / 2);
        // Each value was seen once: 0, 1, … n * TIMES - 1.
        check.equal(engine::atomic_fetch(at(7), 0), n * TIMES * (n * TIMES - 1) / 2);
        check.equal(engine::atomic_fetch(at(3), 0), 0);
        check.equal(engine::atomic_fetch(at(4), 0), u64::MAX);
        check.equal(engine::atomic_fetch(narrow, 0), 3 * (n * TIMES) as u32);
        check.equal(engine::atomic_fetch(at(5), 0), 2 * n * TIMES);
        check.equal(engine::atomic_fetch(at(6), engine::my_pe()), TIMES);
    }
    engine::barrier_all();
    engine::free(narrow.cast());
    engine::free(words.cast());
}
