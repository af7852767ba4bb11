//! Which unknown system calls the job has made, for the exit report.

use arrayvec::ArrayVec;

/// Different numbers that are remembered; a program that tries more is probing.
const NUMBERS_MAX: usize = 32;

static COUNTS: spin::Mutex<ArrayVec<(u64, u64), NUMBERS_MAX>> = spin::Mutex::new(ArrayVec::new_const());

/// Counts an unknown call; a number beyond the first [`NUMBERS_MAX`] different ones is not remembered.
pub fn count(number: u64) {
    let mut counts = COUNTS.lock();
    match counts.iter_mut().find(|(known, _)| *known == number) {
        Some((_, count)) => *count += 1,
        // What does not fit is not remembered.
        None => drop(counts.try_push((number, 1))),
    }
}

/// Calls `visit` with each number and its count, in the order of their first calls.
pub fn for_each(mut visit: impl FnMut(u64, u64)) {
    COUNTS.lock().iter().for_each(|(number, count)| visit(*number, *count));
}
