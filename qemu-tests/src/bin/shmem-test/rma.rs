//! put, get, p, g, strided and non-blocking forms, in all sizes and at all alignments; `shmem_ptr`.

use crate::check::{Check, array};
use lwk_shmem::engine::{TEAM_SHARED, TEAM_WORLD};
use lwk_shmem::{Shmem, engine};

/// Longest message that is tried at every length.
const EVERY: usize = 300;
/// Long messages: beyond every threshold of the copy loops.
const LONG: [usize; 6] = [1024, 4096 + 1, 16 << 10, (64 << 10) + 7, 300_000, (1 << 20) + 3];

static GLOBAL: lwk_user::smartmap::Symmetric<[u32; 4]> = lwk_user::smartmap::Symmetric::new([7; 4]);

pub fn run(_: &Shmem, check: &mut Check) {
    every_length_and_alignment(check);
    long_messages(check);
    typed::<u8>(check);
    typed::<u16>(check);
    typed::<u32>(check);
    typed::<u64>(check);
    typed::<u128>(check);
    typed::<[u8; 3]>(check);
    typed::<[u64; 4]>(check);
    accessibility(check);
}

fn right() -> i32 {
    (engine::my_pe() + 1) % engine::n_pes()
}

fn left() -> i32 {
    (engine::my_pe() + engine::n_pes() - 1) % engine::n_pes()
}

fn pattern(pe: i32, index: usize) -> u8 {
    (index as u32 * 31 + pe as u32 * 7 + index as u32 / 256 + 1) as u8
}

/// Puts to the right, and gets from the left, every length at many alignments, and looks at the bytes around.
fn every_length_and_alignment(check: &mut Check) {
    let room = EVERY + 64;
    let (source, dest) = (array::<u8>(room, 0), array::<u8>(room, 0));
    for index in 0..room {
        // SAFETY: inside the array; peers read it after the barrier.
        unsafe { source.add(index).write(pattern(engine::my_pe(), index)) };
    }
    for length in (0..64).chain([64, 65, 100, 127, 128, 200, 255, 256, EVERY]) {
        for (from, to) in [(0, 0), (1, 0), (0, 3), (5, 5), (7, 2)] {
            for put in [true, false] {
                // SAFETY: inside the arrays; the barriers separate the PEs' use.
                unsafe {
                    dest.write_bytes(0xee, room);
                    engine::barrier_all();
                    if put {
                        engine::putmem(dest.add(8 + to), source.add(from), length, right());
                    } else {
                        engine::getmem(dest.add(8 + to), source.add(from), length, left());
                    }
                    engine::barrier_all();
                    let found = core::slice::from_raw_parts(dest, room);
                    let inside = &found[8 + to..8 + to + length];
                    let right_bytes =
                        inside.iter().enumerate().all(|(i, byte)| *byte == pattern(left(), from + i));
                    let outside = found[..8 + to].iter().chain(&found[8 + to + length..]);
                    check.equal((length, put, right_bytes), (length, put, true));
                    check.that(outside.clone().all(|byte| *byte == 0xee));
                }
            }
        }
    }
    engine::free(dest);
    engine::free(source);
}

fn long_messages(check: &mut Check) {
    let room = LONG[LONG.len() - 1] + 64;
    let (source, dest) = (array::<u8>(room, 0), array::<u8>(room, 0));
    for index in 0..room {
        // SAFETY: inside the array; peers read it after the barrier.
        unsafe { source.add(index).write(pattern(engine::my_pe(), index)) };
    }
    for length in LONG {
        for put in [true, false] {
            // SAFETY: inside the arrays; the barriers separate the PEs' use.
            unsafe {
                dest.write_bytes(0, length + 32);
                engine::barrier_all();
                if put {
                    engine::putmem_nbi(dest.add(1), source, length, right());
                } else {
                    engine::getmem_nbi(dest.add(1), source, length, left());
                }
                engine::barrier_all();
                let wrong = (0..length).find(|i| dest.add(1 + i).read() != pattern(left(), *i));
                check.equal(wrong, None);
                check.equal((dest.read(), dest.add(1 + length).read()), (0, 0));
            }
        }
    }
    engine::free(dest);
    engine::free(source);
}

/// An element whose bytes follow from a number.
fn element<T: Copy>(number: usize) -> T {
    let mut bytes = [0u8; 64];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = (number * 13 + index * 5 + 1) as u8;
    }
    // SAFETY: the types of the test are integers and arrays of them, up to 64 bytes: any bytes are a value.
    unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
}

fn typed<T: Copy + PartialEq + core::fmt::Debug>(check: &mut Check) {
    const COUNT: usize = 24;
    let (source, dest) = (array::<T>(COUNT, 0), array::<T>(COUNT, 0));
    let me = engine::my_pe() as usize;
    // SAFETY: throughout, indices are below COUNT, and the barriers separate the PEs' use of the arrays.
    unsafe {
        for index in 0..COUNT {
            source.add(index).write(element(me * 100 + index));
        }
        let from_left = |index| element::<T>(left() as usize * 100 + index);
        engine::barrier_all();
        engine::put(dest, source, COUNT, right());
        engine::barrier_all();
        check.that((0..COUNT).all(|i| dest.add(i).read() == from_left(i)));
        engine::barrier_all();
        engine::get_nbi(dest, source, COUNT, right());
        engine::quiet();
        check.that((0..COUNT).all(|i| dest.add(i).read() == element(right() as usize * 100 + i)));
        engine::barrier_all();
        engine::p(dest.add(3), element(me + 50), right());
        engine::barrier_all();
        check.equal(dest.add(3).read(), element(left() as usize + 50));
        check.equal(engine::g(source.add(5), left()), from_left(5));
        strided(check, source, dest);
    }
    engine::free(dest.cast());
    engine::free(source.cast());
}

/// # Safety
/// Both arrays hold 24 elements; collective.
unsafe fn strided<T: Copy + PartialEq + core::fmt::Debug>(check: &mut Check, source: *mut T, dest: *mut T) {
    let zero = element::<T>(9999);
    for (dst, sst, count) in
        [(1isize, 1isize, 24usize), (2, 3, 8), (3, 1, 8), (1, 2, 12), (5, 5, 5), (2, 2, 0)]
    {
        for put in [true, false] {
            // SAFETY: the largest index is 23; the barriers separate the PEs' use.
            unsafe {
                for index in 0..24 {
                    dest.add(index).write(zero);
                }
                engine::barrier_all();
                if put {
                    engine::iput(dest, source, dst, sst, count, right());
                } else {
                    engine::iget(dest, source, dst, sst, count, left());
                }
                engine::barrier_all();
                for index in 0..24 {
                    let step = index / dst as usize;
                    let named = index % dst as usize == 0 && step < count;
                    let expected =
                        if named { element(left() as usize * 100 + step * sst as usize) } else { zero };
                    check.equal(dest.add(index).read(), expected);
                }
            }
        }
    }
    // Backwards: the last element first.
    // SAFETY: the indices are 23, 22, … 0 of the source and 0, 1, … 23 of the destination.
    unsafe {
        engine::barrier_all();
        engine::iput(dest, source.add(23), 1, -1, 24, right());
        engine::barrier_all();
        check.that((0..24).all(|i| dest.add(i).read() == element(left() as usize * 100 + 23 - i)));
    }
}

fn accessibility(check: &mut Check) {
    let object = array::<u64>(4, 0);
    let local = 5u64;
    let global = GLOBAL.as_ptr().cast::<u8>().cast_const();
    let n = engine::n_pes();
    for (pe, there) in [(0, true), (n - 1, true), (n, false), (-1, false), (i32::MAX, false)] {
        check.equal(engine::pe_accessible(pe), there);
        check.equal(engine::addr_accessible(object.cast(), pe), there);
        check.equal(engine::addr_accessible(global, pe), there);
        let shares = there && engine::team_translate_pe(TEAM_WORLD, pe, TEAM_SHARED) >= 0;
        check.equal(engine::ptr(object.cast(), pe).is_null(), !shares);
        check.equal(engine::addr_accessible((&raw const local).cast(), pe), false);
        check.that(engine::ptr((&raw const local).cast(), pe).is_null());
    }
    let direct = engine::ptr(object.cast(), right()).cast::<u64>();
    let value = 1000 + engine::my_pe() as u64;
    // SAFETY: the right neighbour's object, which only this PE writes before the barrier.
    unsafe {
        if direct.is_null() {
            engine::p(object, value, right());
        } else {
            direct.write_volatile(value);
        }
    }
    engine::barrier_all();
    // SAFETY: after the barrier nobody writes it.
    check.equal(unsafe { object.read_volatile() }, 1000 + left() as u64);
    engine::free(object.cast());
}
