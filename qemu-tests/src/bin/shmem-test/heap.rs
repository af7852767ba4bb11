//! The symmetric heap: equal addresses, alignment, contents, exhaustion.

use crate::check::{Check, array};
use lwk_shmem::{Shmem, engine};

pub fn run(_: &Shmem, check: &mut Check) {
    let before = engine::heap_free_bytes();
    addresses_are_equal(check);
    contents(check);
    nothing_and_too_much(check);
    check.equal(engine::heap_free_bytes(), before);
}

/// Every PE tells every other where its object is.
fn same_everywhere(check: &mut Check, object: *mut u8) {
    let n = engine::n_pes();
    let told = array::<u64>(n as usize, 0);
    for pe in 0..n {
        // SAFETY: each PE writes its own entry.
        unsafe { engine::p(told.add(engine::my_pe() as usize), object.addr() as u64, pe) };
    }
    engine::barrier_all();
    for pe in 0..n as usize {
        // SAFETY: nobody writes after the barrier.
        check.equal(unsafe { told.add(pe).read() }, object.addr() as u64);
    }
    engine::free(told.cast());
}

fn addresses_are_equal(check: &mut Check) {
    let mut objects = alloc::vec::Vec::new();
    // A heap of a PE's own must not disturb the symmetric one.
    let own = alloc::vec![0u8; 1000 * (engine::my_pe() as usize + 1)];
    for (index, bytes) in [1, 64, 100, 4096, 100_000].into_iter().enumerate() {
        let object = match index % 3 {
            0 => engine::malloc(bytes),
            1 => engine::align(1 << (index + 6), bytes),
            _ => {
                engine::malloc_with_hints(bytes, engine::MALLOC_ATOMICS_REMOTE | engine::MALLOC_SIGNAL_REMOTE)
            }
        };
        check.that(!object.is_null());
        if index % 3 == 1 {
            check.equal(object.addr() % (1 << (index + 6)), 0);
        }
        check.equal(object.addr() % 64, 0);
        same_everywhere(check, object);
        objects.push(object);
    }
    drop(own);
    // In another order than they were made.
    for index in [1, 0, 4, 2, 3] {
        engine::free(objects[index]);
    }
}

fn contents(check: &mut Check) {
    let dirty = engine::malloc(1000);
    // SAFETY: a block of 1000 bytes.
    unsafe { dirty.write_bytes(0xff, 1000) };
    engine::free(dirty);
    let clean = engine::calloc(100, 10);
    // SAFETY: a block of 1000 bytes that no PE writes.
    check.that(unsafe { core::slice::from_raw_parts(clean, 1000) }.iter().all(|byte| *byte == 0));
    // SAFETY: as above; peers do not use it.
    unsafe { clean.write_bytes(engine::my_pe() as u8 + 1, 1000) };
    // Growing in place, then with a neighbour in the way, then shrinking.
    // SAFETY: nobody uses the object during the calls.
    unsafe {
        let grown = engine::realloc(clean, 3000);
        check.equal(grown, clean);
        let neighbour = engine::malloc(10);
        let moved = engine::realloc(grown, 20_000);
        check.that(moved != grown && !moved.is_null());
        same_everywhere(check, moved);
        let mine = engine::my_pe() as u8 + 1;
        check.that(core::slice::from_raw_parts(moved, 1000).iter().all(|byte| *byte == mine));
        let shrunk = engine::realloc(moved, 500);
        check.equal(shrunk, moved);
        check.that(core::slice::from_raw_parts(shrunk, 500).iter().all(|byte| *byte == mine));
        engine::free(neighbour);
        check.that(engine::realloc(shrunk, 0).is_null());
        let fresh = engine::realloc(core::ptr::null_mut(), 64);
        check.that(!fresh.is_null());
        engine::free(fresh);
    }
}

fn nothing_and_too_much(check: &mut Check) {
    check.that(engine::malloc(0).is_null());
    check.that(engine::calloc(0, 8).is_null());
    check.that(engine::calloc(usize::MAX, 2).is_null());
    check.that(engine::align(3, 100).is_null());
    check.that(engine::align(0, 100).is_null());
    check.that(engine::malloc(usize::MAX).is_null());
    check.that(engine::malloc(engine::heap_free_bytes() + 1).is_null());
    engine::free(core::ptr::null_mut());
    let object = engine::malloc(1000);
    // SAFETY: nobody uses the object.
    check.that(unsafe { engine::realloc(object, usize::MAX) }.is_null());
    engine::free(object);
    // All of it, to the last byte.
    let all = engine::malloc(engine::heap_free_bytes());
    check.that(!all.is_null());
    check.that(engine::malloc(1).is_null());
    engine::free(all);
}
