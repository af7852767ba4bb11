//! CRC-32C with few loads, for homes in which each load costs ten instructions, as in emulation, and there is no quick instruction for it.
//!
//! A multiple of the polynomial with six terms, all of them powers of x^8, says that a byte may be taken away if it is added to five others further on. So every word becomes the sum of
//! itself and five earlier ones: seven accesses for eight bytes, where tables take nine, and no shifts ("Chorba", Russell 2024, with distances of our own). What is left at the end,
//! as long as the longest distance, goes through the tables.

use super::{Source, Tables, power_of_x};

/// Bytes that are worked on at once: no distance is shorter.
const LINE_BYTES: usize = 64;
/// How many bytes further on a byte is added, the furthest first: of all multiples with six terms that keep to lines, that of the lowest degree.
const DISTANCES: [usize; 5] = [209, 195, 170, 155, 65];
/// Bytes at the end that are left.
const LEFT_BYTES: usize = DISTANCES[0].next_multiple_of(LINE_BYTES);
/// Bytes at a time: the payload of a jumbo frame, in lines.
const PIECE_BYTES: usize = 9_024;
/// Of fewer bytes than these the tables are as quick.
const LEAST_BYTES: usize = 2 * LEFT_BYTES;

/// Whether one byte and those that it is added to are together a multiple of the polynomial.
const fn are_distances(of: [usize; 5]) -> bool {
    let (mut sum, mut at) = (power_of_x(8 * of[0]), 0);
    while at < of.len() {
        sum ^= power_of_x(8 * (of[0] - of[at]));
        at += 1;
    }
    sum == 0
}

const _: () = assert!(are_distances(DISTANCES) && DISTANCES[4] >= LINE_BYTES);
const _: () = assert!(PIECE_BYTES.is_multiple_of(LINE_BYTES));

/// The tables, and memory to work in.
#[derive(Debug)]
pub struct Sparse {
    tables: Tables,
    /// Zeros, then the words of a message, each with all that has been added to it.
    words: [u8; LEFT_BYTES + PIECE_BYTES],
}

impl Sparse {
    /// Without the tables, which the first sum makes.
    pub const fn new() -> Sparse {
        Sparse { tables: Tables::EMPTY, words: [0; LEFT_BYTES + PIECE_BYTES] }
    }

    /// As [`super::append`]. Each byte is read once.
    pub fn append(&mut self, seed: u32, source: &(impl Source + ?Sized)) -> u32 {
        self.tables.make();
        let (mut sum, mut at, end) = (!seed, 0, source.bytes());
        while end - at >= LEAST_BYTES {
            let bytes = (end - at).min(PIECE_BYTES) / LINE_BYTES * LINE_BYTES;
            let left = self.reduce(sum, source, at, bytes);
            sum = self.tables.go_on(0, &left[..], 0..LEFT_BYTES);
            at += bytes;
        }
        !self.tables.go_on(sum, source, at..end)
    }

    /// What is left of so many bytes from `at` on, whole lines, behind `sum`.
    fn reduce(
        &mut self,
        sum: u32,
        source: &(impl Source + ?Sized),
        at: usize,
        bytes: usize,
    ) -> [u8; LEFT_BYTES] {
        let end = bytes - LEFT_BYTES;
        for line in (0..end).step_by(LINE_BYTES) {
            let (done, rest) = self.words.split_at_mut(LEFT_BYTES + line);
            let to = rest.first_chunk_mut().expect("a piece is whole lines");
            add(done, to, source, at + line);
            if line == 0 {
                to.iter_mut().zip(sum.to_le_bytes()).for_each(|(byte, sum)| *byte ^= sum);
            }
        }
        // Nothing that is left is added to anything.
        self.words[LEFT_BYTES + end..][..LEFT_BYTES].fill(0);
        let mut left = [0; LEFT_BYTES];
        for (number, to) in left.as_chunks_mut().0.iter_mut().enumerate() {
            let line = end + number * LINE_BYTES;
            add(&self.words[..LEFT_BYTES + line], to, source, at + line);
        }
        left
    }
}

/// The line of words at `at` with what those before are added to it as. `done` ends where the line begins.
#[inline(always)]
fn add(done: &[u8], to: &mut [u8; LINE_BYTES], source: &(impl Source + ?Sized), at: usize) {
    let sources: [&[u8; LINE_BYTES]; 5] =
        DISTANCES.map(|distance| done[done.len() - distance..].first_chunk().expect("a line or more"));
    let (to, _) = to.as_chunks_mut::<8>();
    source.words(at, LINE_BYTES / 8, |number, own| {
        let sum = sources.iter().fold(own, |sum, line| sum ^ u64::from_le_bytes(line.as_chunks().0[number]));
        to[number] = sum.to_le_bytes();
    });
}

impl Default for Sparse {
    fn default() -> Sparse {
        Sparse::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::append;
    use std::vec::Vec;

    #[test]
    fn sums_of_all_lengths_are_those_of_the_table() {
        let mut sparse = Sparse::new();
        let bytes: Vec<u8> = (0..3 * PIECE_BYTES).map(|at| ((at * at) >> 5) as u8 ^ at as u8).collect();
        let around = |length: usize| length.saturating_sub(70)..length + 70;
        let lengths = (0..3 * LEAST_BYTES).chain(around(PIECE_BYTES)).chain(around(2 * PIECE_BYTES));
        // A short one behind a long one finds what that has left.
        for length in lengths.flat_map(|length| [length, LEAST_BYTES + length % 100]) {
            let seed = length as u32;
            assert_eq!(sparse.append(seed, &bytes[..length]), append(seed, &bytes[..length]), "{length}");
        }
    }
}
