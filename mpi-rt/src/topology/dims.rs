//! Dividing ranks among the dimensions of a grid (MPI-5.0, section 8.5.2): `MPI_Dims_create`.

use crate::error::{Error, Result};
use alloc::vec::Vec;

/// Fills in the dimensions that are 0, so that their product times the others is `ranks`: the largest as small as possible, then the next
/// one, in descending order. Errors: `DIMS` if the given ones do not divide `ranks`, or are negative; `ARG` if there are no ranks.
pub fn dims_create(ranks: i32, dims: &mut [i32]) -> Result<()> {
    if ranks <= 0 {
        return Err(Error::ARG);
    }
    let mut rest = ranks;
    for dim in dims.iter().filter(|dim| **dim != 0) {
        if *dim < 0 || rest % dim != 0 {
            return Err(Error::DIMS);
        }
        rest /= dim;
    }
    let open = dims.iter().filter(|dim| **dim == 0).count();
    if open == 0 {
        return if rest == 1 { Ok(()) } else { Err(Error::DIMS) };
    }
    let mut chosen = Vec::new();
    choose(rest, open, rest, &mut chosen);
    for (dim, value) in dims.iter_mut().filter(|dim| **dim == 0).zip(chosen) {
        *dim = value;
    }
    Ok(())
}

/// Appends `count` factors of `number`, each at most the one before, which is `bound`. False, and nothing is appended, if there are none.
fn choose(number: i32, count: usize, bound: i32, chosen: &mut Vec<i32>) -> bool {
    if count == 1 {
        if number <= bound {
            chosen.push(number);
        }
        return number <= bound;
    }
    if number == 1 {
        chosen.extend((0..count).map(|_| 1));
        return true;
    }
    // Factors that are large enough for the others to be no larger, from below; none is smaller than the largest prime.
    for factor in divisors(number).filter(|factor| *factor <= bound && reaches(*factor, count, number)) {
        if largest_prime(number / factor) <= factor && choose(number / factor, count - 1, factor, chosen) {
            chosen.insert(chosen.len() - (count - 1), factor);
            return true;
        }
    }
    false
}

/// Whether `count` factors of at most `factor` can have the product `number`.
fn reaches(factor: i32, count: usize, number: i32) -> bool {
    let mut product = 1i64;
    for _ in 0..count {
        product *= factor as i64;
        if product >= number as i64 {
            return true;
        }
    }
    factor == 1 && number == 1
}

/// Divisors in ascending order.
fn divisors(number: i32) -> impl Iterator<Item = i32> {
    let root = number.isqrt();
    let small = (1..=root).filter(move |it| number % it == 0);
    let large = (1..=root).rev().filter(move |it| number % it == 0 && number / it != *it);
    small.chain(large.map(move |it| number / it))
}

fn largest_prime(mut number: i32) -> i32 {
    let mut largest = 1;
    let mut factor = 2;
    while factor <= number / factor {
        if number % factor == 0 {
            largest = factor;
            number /= factor;
        } else {
            factor += 1;
        }
    }
    if number > 1 { number } else { largest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn dims<const N: usize>(ranks: i32, mut dims: [i32; N]) -> Result<[i32; N]> {
        dims_create(ranks, &mut dims).map(|()| dims)
    }

    #[test]
    fn the_standards_examples() {
        assert_eq!(dims(6, [0, 0]), Ok([3, 2]));
        assert_eq!(dims(7, [0, 0]), Ok([7, 1]));
        assert_eq!(dims(6, [0, 3, 0]), Ok([2, 3, 1]));
        assert_eq!(dims(7, [0, 3, 0]), Err(Error::DIMS));
    }

    #[test]
    fn wrong_dimensions_are_named() {
        assert_eq!(dims(6, [-1, 0]), Err(Error::DIMS));
        assert_eq!(dims(6, [2, 2]), Err(Error::DIMS));
        assert_eq!(dims(6, [3, 2]), Ok([3, 2]));
        assert_eq!(dims(0, [0]), Err(Error::ARG));
        assert_eq!(dims(1, []), Ok([]));
        assert_eq!(dims(2, []), Err(Error::DIMS));
    }

    /// All descending lists of `count` factors with that product, by trying all numbers.
    fn all(number: i32, count: usize, bound: i32) -> Vec<Vec<i32>> {
        if count == 0 {
            return if number == 1 { vec![vec![]] } else { vec![] };
        }
        let mut lists = vec![];
        for factor in (1..=bound.min(number)).filter(|factor| number % factor == 0) {
            for mut rest in all(number / factor, count - 1, factor) {
                rest.insert(0, factor);
                lists.push(rest);
            }
        }
        lists
    }

    #[test]
    fn the_result_is_the_least_of_all_descending_lists() {
        for number in 1..=200 {
            for count in 1..=4 {
                let mut found = vec![0; count];
                assert_eq!(dims_create(number, &mut found), Ok(()));
                assert_eq!(Some(found), all(number, count, number).into_iter().min(), "{number} in {count}");
            }
        }
    }

    #[test]
    fn large_numbers_do_not_take_long() {
        for number in [i32::MAX, 223_092_870, 1 << 30, 2 * 3 * 5 * 7 * 11 * 13 * 17 * 19, 1_102_701_600] {
            for count in 1..12 {
                let mut found = vec![0; count];
                assert_eq!(dims_create(number, &mut found), Ok(()));
                assert_eq!(found.iter().map(|dim| *dim as i64).product::<i64>(), number as i64);
                assert!(found.is_sorted_by(|a, b| a >= b));
            }
        }
    }
}
