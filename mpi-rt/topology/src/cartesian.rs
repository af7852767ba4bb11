//! Grids (MPI-5.0, section 8.5): ranks in row-major order, the last coordinate varying fastest.

use alloc::vec::Vec;
use lwk_mpi_core::abi::PROC_NULL;
use lwk_mpi_core::error::{Error, Result};

/// A grid of any number of dimensions; of none, it is one rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cartesian {
    dims: Vec<i32>,
    periods: Vec<bool>,
}

impl Cartesian {
    /// Errors: `DIMS` if a dimension is not positive or there are too many ranks to count; `ARG` if the lengths differ.
    pub fn new(dims: &[i32], periods: &[bool]) -> Result<Cartesian> {
        if dims.len() != periods.len() {
            return Err(Error::ARG);
        }
        let fits = |size: i64, dim: &i32| {
            Some(size * *dim as i64).filter(|size| *dim > 0 && *size <= i32::MAX as i64)
        };
        dims.iter().try_fold(1, fits).ok_or(Error::DIMS)?;
        Ok(Cartesian { dims: dims.to_vec(), periods: periods.to_vec() })
    }

    /// Ranks of each dimension.
    pub fn dims(&self) -> &[i32] {
        &self.dims
    }

    /// Which dimensions are rings.
    pub fn periods(&self) -> &[bool] {
        &self.periods
    }

    /// Ranks.
    pub fn size(&self) -> i64 {
        self.dims.iter().map(|dim| *dim as i64).product()
    }

    /// The rank at these coordinates, which wrap around in rings. Errors: `ARG` for a coordinate outside of the grid, or too few.
    pub fn rank(&self, coords: &[i32]) -> Result<i32> {
        if coords.len() < self.dims.len() {
            return Err(Error::ARG);
        }
        let mut rank = 0;
        for ((coord, dim), period) in coords.iter().zip(&self.dims).zip(&self.periods) {
            let coord = match coord {
                coord if *period => coord.rem_euclid(*dim),
                coord if (0..*dim).contains(coord) => *coord,
                _ => return Err(Error::ARG),
            };
            rank = rank * dim + coord;
        }
        Ok(rank)
    }

    /// The coordinates of a rank. Errors: `RANK`.
    pub fn coords(&self, rank: i32) -> Result<Vec<i32>> {
        if rank < 0 || rank as i64 >= self.size() {
            return Err(Error::RANK);
        }
        let mut rest = rank;
        let mut coords: Vec<i32> = self
            .dims
            .iter()
            .rev()
            .map(|dim| {
                let coord = rest % dim;
                rest /= dim;
                coord
            })
            .collect();
        coords.reverse();
        Ok(coords)
    }

    /// Where a shift by `steps` along a dimension comes from and goes to, for a rank; null processes beyond an edge. Errors: `DIMS` if there
    /// is no such dimension, `RANK`.
    pub fn shift(&self, rank: i32, direction: i32, steps: i32) -> Result<(i32, i32)> {
        let direction =
            usize::try_from(direction).ok().filter(|it| *it < self.dims.len()).ok_or(Error::DIMS)?;
        let coords = self.coords(rank)?;
        let at = |steps: i64| {
            let dim = self.dims[direction] as i64;
            let coord = coords[direction] as i64 + steps;
            let coord = if self.periods[direction] { coord.rem_euclid(dim) } else { coord };
            if !(0..dim).contains(&coord) {
                return Ok(PROC_NULL);
            }
            let mut there = coords.clone();
            there[direction] = coord as i32;
            self.rank(&there)
        };
        Ok((at(-(steps as i64))?, at(steps as i64)?))
    }

    /// The neighbours of a rank: for each dimension the one before and the one behind. Errors: `RANK`.
    pub fn neighbours(&self, rank: i32) -> Result<Vec<i32>> {
        let mut all = Vec::new();
        for direction in 0..self.dims.len() {
            let (before, behind) = self.shift(rank, direction as i32, 1)?;
            all.extend([before, behind]);
        }
        self.coords(rank).map(|_| all)
    }

    /// The part of the grid with a rank in it that keeps some dimensions: its grid, and the ranks in it. Errors: `ARG` if `remain` is too short,
    /// `RANK`.
    pub fn part(&self, rank: i32, remain: &[bool]) -> Result<(Cartesian, Vec<i32>)> {
        let remain = remain.get(..self.dims.len()).ok_or(Error::ARG)?;
        let mine = self.coords(rank)?;
        let kept = |index: &usize| remain[*index];
        let dims = (0..self.dims.len()).filter(kept).map(|index| self.dims[index]).collect();
        let periods = (0..self.dims.len()).filter(kept).map(|index| self.periods[index]).collect();
        let part = Cartesian { dims, periods };
        let mut ranks = Vec::new();
        for within in 0..part.size() as i32 {
            let mut kept = part.coords(within)?.into_iter();
            let coords: Vec<i32> = mine
                .iter()
                .zip(remain)
                .map(|(mine, remains)| if *remains { kept.next().unwrap_or(*mine) } else { *mine })
                .collect();
            ranks.push(self.rank(&coords)?);
        }
        Ok((part, ranks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// All grids of up to three dimensions of one to four ranks, with all combinations of rings.
    fn grids() -> Vec<Cartesian> {
        let mut grids = vec![];
        for dimensions in 0..=3u32 {
            for number in 0..4i32.pow(dimensions) {
                let dims: Vec<i32> = (0..dimensions).map(|index| number / 4i32.pow(index) % 4 + 1).collect();
                for rings in 0..1 << dimensions {
                    let periods: Vec<bool> = (0..dimensions).map(|index| rings >> index & 1 != 0).collect();
                    let Ok(grid) = Cartesian::new(&dims, &periods) else { panic!("positive dimensions") };
                    grids.push(grid);
                }
            }
        }
        grids
    }

    #[test]
    fn ranks_and_coordinates_are_inverse_and_row_major() {
        for grid in grids() {
            let mut last = None;
            for rank in 0..grid.size() as i32 {
                let Ok(coords) = grid.coords(rank) else { panic!("a rank of the grid") };
                assert_eq!(grid.rank(&coords), Ok(rank));
                assert!(last < Some(coords.clone()), "coordinates ascend with ranks");
                last = Some(coords);
            }
            assert_eq!(grid.coords(grid.size() as i32), Err(Error::RANK));
            assert_eq!(grid.coords(-1), Err(Error::RANK));
        }
    }

    #[test]
    fn a_shift_goes_where_the_coordinates_say() {
        for grid in grids() {
            for rank in 0..grid.size() as i32 {
                for direction in 0..grid.dims().len() {
                    for steps in -5..=5 {
                        let (from, to) = grid.shift(rank, direction as i32, steps).unwrap_or((-99, -99));
                        let at = |steps: i32| {
                            let mut coords = grid.coords(rank).unwrap_or_default();
                            coords[direction] += steps;
                            grid.rank(&coords).unwrap_or(PROC_NULL)
                        };
                        assert_eq!((from, to), (at(-steps), at(steps)));
                    }
                }
                assert_eq!(grid.shift(rank, grid.dims().len() as i32, 1), Err(Error::DIMS));
                assert_eq!(grid.shift(rank, -1, 1), Err(Error::DIMS));
            }
        }
        let Ok(ring) = Cartesian::new(&[7], &[true]) else { panic!("a ring") };
        assert_eq!(ring.shift(3, 0, i32::MAX), Ok(((3 - i32::MAX).rem_euclid(7), i32::MAX % 7 + 3)));
        assert!(ring.shift(3, 0, i32::MIN).is_ok());
    }

    #[test]
    fn parts_cover_the_grid_once() {
        for grid in grids() {
            let dimensions = grid.dims().len();
            for choice in 0..1 << dimensions {
                let remain: Vec<bool> = (0..dimensions).map(|index| choice >> index & 1 != 0).collect();
                let mut seen = vec![0; grid.size() as usize];
                for rank in 0..grid.size() as i32 {
                    let Ok((part, ranks)) = grid.part(rank, &remain) else { panic!("a rank of the grid") };
                    assert_eq!(ranks.len() as i64, part.size());
                    assert!(ranks.contains(&rank) && ranks.is_sorted());
                    // Every member of a part gets the same part.
                    assert!(
                        ranks
                            .iter()
                            .all(|other| grid.part(*other, &remain) == Ok((part.clone(), ranks.clone())))
                    );
                    if ranks[0] == rank {
                        ranks.iter().for_each(|rank| seen[*rank as usize] += 1);
                    }
                }
                assert!(seen.iter().all(|count| *count == 1));
            }
        }
    }

    #[test]
    fn wrong_grids_are_named() {
        assert_eq!(Cartesian::new(&[2, 0], &[false; 2]), Err(Error::DIMS));
        assert_eq!(Cartesian::new(&[-1], &[false]), Err(Error::DIMS));
        assert_eq!(Cartesian::new(&[1 << 20, 1 << 20, 1 << 30], &[false; 3]), Err(Error::DIMS));
        assert_eq!(Cartesian::new(&[2], &[]), Err(Error::ARG));
        let Ok(grid) = Cartesian::new(&[2, 3], &[true, false]) else { panic!("a grid") };
        assert_eq!(grid.rank(&[-3, 1]), Ok(4));
        assert_eq!(grid.rank(&[0, 3]), Err(Error::ARG));
        assert_eq!(grid.rank(&[0]), Err(Error::ARG));
        assert_eq!(grid.part(0, &[true]), Err(Error::ARG));
        assert_eq!(grid.neighbours(0), Ok(vec![3, 3, PROC_NULL, 1]));
    }
}
