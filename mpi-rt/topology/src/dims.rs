//! Dividing ranks among the dimensions of a grid (MPI-5.0, section 8.5.2): `MPI_Dims_create`.

use alloc::vec::Vec;
use lwk_mpi_core::error::{Error, Result};

/// Fills in the dimensions that are 0, in descending order, so that their product times the others is `ranks`, and that the largest and the
/// smallest of them differ as little as possible; then the largest as small as possible, then the next one. Errors: `DIMS` if the given ones do not divide `ranks`, or are negative; `ARG` if there are no ranks.
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
    let chosen = balanced(rest, open);
    for (dim, value) in dims.iter_mut().filter(|dim| **dim == 0).zip(chosen) {
        *dim = value;
    }
    Ok(())
}

/// `count` factors of a number, in descending order, whose first and last differ as little as possible; of such lists the least.
fn balanced(number: i32, count: usize) -> Vec<i32> {
    let divisors: Vec<i32> = divisors(number).collect();
    let mut best = Vec::new();
    choose(&divisors, number, count, (1, number), &mut best);
    // No list's largest factor is smaller.
    let largest = divisors.iter().copied().find(|it| reaches(*it, count, number)).unwrap_or(number);
    let largest = largest.max(largest_prime(number));
    // The larger the smallest factor may be, the smaller the difference can be.
    for low in divisors.iter().rev().copied().filter(|low| fits(*low, count, number)) {
        let difference = spread(&best);
        if largest - low > difference {
            break;
        }
        let mut chosen = Vec::new();
        if choose(&divisors, number, count, (low, low.saturating_add(difference)), &mut chosen)
            && (spread(&chosen), &chosen) < (difference, &best)
        {
            best = chosen;
        }
    }
    best
}

/// How much the first and the last differ.
fn spread(list: &[i32]) -> i32 {
    list.first().zip(list.last()).map_or(0, |(first, last)| first - last)
}

/// Appends the least list of `count` factors of `number`, each at most the one before and all from `low` to `high`. False, and nothing is appended, if
/// there is none. `divisors` are at least those of the number, in ascending order.
fn choose(
    divisors: &[i32],
    number: i32,
    count: usize,
    (low, high): (i32, i32),
    chosen: &mut Vec<i32>,
) -> bool {
    if count == 1 {
        let is_one = (low..=high).contains(&number);
        if is_one {
            chosen.push(number);
        }
        return is_one;
    }
    // Factors that are large enough for the others to be no larger, from below; none is smaller than the largest prime.
    let from = divisors.partition_point(|it| *it < low);
    for factor in divisors[from..].iter().copied().take_while(|factor| *factor <= high) {
        if number % factor != 0 || !reaches(factor, count, number) {
            continue;
        }
        let rest = number / factor;
        if !fits(low, count - 1, rest) {
            break;
        }
        let length = chosen.len();
        chosen.push(factor);
        if largest_prime(rest) <= factor && choose(divisors, rest, count - 1, (low, factor), chosen) {
            return true;
        }
        chosen.truncate(length);
    }
    false
}

/// Whether `count` factors of at least `factor` can have the product `number`.
fn fits(factor: i32, count: usize, number: i32) -> bool {
    let mut product = 1i64;
    for _ in 0..count {
        product *= factor as i64;
        if product > number as i64 {
            return false;
        }
    }
    true
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
    fn the_result_is_the_most_balanced_of_all_descending_lists() {
        let numbers = (1..=300).chain([1024, 5040, 5041, 5184, 7200, 8190, 9240, 10_000]);
        for number in numbers {
            for count in 1..=4 {
                let mut found = vec![0; count];
                assert_eq!(dims_create(number, &mut found), Ok(()));
                let best = all(number, count, number).into_iter().min_by_key(|it| (spread(it), it.clone()));
                assert_eq!(Some(found), best, "{number} in {count}");
            }
        }
        // The largest could be smaller, but then the smallest would be much smaller.
        assert_eq!(dims(60, [0, 0, 0]), Ok([5, 4, 3]));
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
