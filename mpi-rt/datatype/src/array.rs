//! Array constructors: a part of an array (subarray) and a rank's share of a distributed array (darray).
//!
//! MPI 5.0, "Subarray Datatype Constructor" and "Distributed Array Datatype Constructor". Both yield a type whose lower bound
//! is 0 and whose extent is that of the whole array. The last dimension varies fastest in C order, the first in Fortran
//! order; process grids are in C order always.

use alloc::vec::Vec;

use crate::bounds::Bounds;
use crate::construct::Map;
use crate::contents::{Combiner, Form};
use crate::datatype::{Contents, Datatype};
use crate::error::{Class, Error, Result, argument, narrow};
use crate::node::List;

/// Storage order of an array; the discriminant is the standard ABI's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Order {
    /// `MPI_ORDER_C`: the last dimension varies fastest.
    C = 0xc,
    /// `MPI_ORDER_FORTRAN`: the first dimension varies fastest.
    Fortran = 0xf,
}

impl Order {
    /// From the standard ABI's integer; class `Arg` for any other.
    pub fn from_abi(value: i64) -> Result<Order> {
        match value {
            0xc => Ok(Order::C),
            0xf => Ok(Order::Fortran),
            _ => Err(Error::new(Class::Arg, "the order is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN")),
        }
    }

    /// The dimensions from the one that varies fastest on.
    fn fastest_first(self, dims: usize) -> impl Iterator<Item = usize> {
        (0..dims).map(move |i| if self == Order::C { dims - 1 - i } else { i })
    }
}

/// `MPI_DISTRIBUTE_NONE`: the dimension is not distributed.
pub const DISTRIBUTE_NONE: i64 = 16;
/// `MPI_DISTRIBUTE_BLOCK`: one block a process.
pub const DISTRIBUTE_BLOCK: i64 = 17;
/// `MPI_DISTRIBUTE_CYCLIC`: blocks dealt round.
pub const DISTRIBUTE_CYCLIC: i64 = 18;
/// `MPI_DISTRIBUTE_DFLT_DARG`: the block size that follows from the distribution.
pub const DISTRIBUTE_DFLT_DARG: i64 = 19;

/// A distributed array, as `MPI_TYPE_CREATE_DARRAY` takes it. The lists have one entry a dimension.
#[derive(Clone, Copy, Debug)]
pub struct Distribution<'a> {
    /// Processes in the group.
    pub size: i64,
    /// The process whose share is described.
    pub rank: i64,
    /// Elements of the global array.
    pub global_sizes: &'a [i64],
    /// `DISTRIBUTE_NONE`, `DISTRIBUTE_BLOCK` or `DISTRIBUTE_CYCLIC`.
    pub distributions: &'a [i64],
    /// Block sizes, or `DISTRIBUTE_DFLT_DARG`.
    pub arguments: &'a [i64],
    /// Processes of the grid; the product is `size`.
    pub process_sizes: &'a [i64],
    /// Storage order of the global array.
    pub order: Order,
}

impl Datatype {
    /// `MPI_TYPE_CREATE_SUBARRAY`: `subsizes[i]` elements from `starts[i]` on in each dimension of an array of `sizes[i]`.
    pub fn subarray(
        form: Form,
        sizes: &[i64],
        subsizes: &[i64],
        starts: &[i64],
        order: Order,
        old: &Datatype,
    ) -> Result<Datatype> {
        dimensions(&[sizes, subsizes, starts])?;
        for ((size, subsize), start) in sizes.iter().zip(subsizes).zip(starts) {
            argument(*size >= 1, "an array size is below one")?;
            argument((1..=*size).contains(subsize), "a subarray size is below one or above the array's")?;
            argument((0..=size - subsize).contains(start), "a subarray does not lie within the array")?;
        }
        let contents = Contents::new(Combiner::Subarray, form).int(sizes.len() as i64);
        let contents = contents.counts(sizes).counts(subsizes).counts(starts).int(order as i64).types([old]);
        let (mut map, mut stride) = (Map::of(old), i128::from(old.extent()));
        for dim in order.fastest_first(sizes.len()) {
            let disp = checked(i128::from(starts[dim]), stride)?;
            map = map.repeated(disp, subsizes[dim] as u64, stride)?;
            stride = checked(i128::from(sizes[dim]), stride)?;
        }
        map.resized(0, narrow(stride)?)?.finish(contents)
    }

    /// `MPI_TYPE_CREATE_DARRAY`: the share of one process in a distributed array.
    pub fn darray(form: Form, array: &Distribution<'_>, old: &Datatype) -> Result<Datatype> {
        let Distribution { size, rank, global_sizes, distributions, arguments, process_sizes, order } =
            *array;
        let dims = dimensions(&[global_sizes, distributions, arguments, process_sizes])?;
        argument(size >= 1, "the size of the process group is below one")?;
        argument((0..size).contains(&rank), "the rank is not in the process group")?;
        argument(process_sizes.iter().all(|size| *size >= 1), "a size of the process grid is below one")?;
        let grid = process_sizes.iter().try_fold(1i64, |product, size| product.checked_mul(*size));
        argument(
            grid == Some(size),
            "the process grid does not have as many places as the group has processes",
        )?;
        argument(global_sizes.iter().all(|size| *size >= 1), "a size of the global array is below one")?;
        let contents = Contents::new(Combiner::Darray, form).ints(&[size, rank, dims as i64]);
        let contents = contents.counts(global_sizes).ints(distributions).ints(arguments).ints(process_sizes);
        let contents = contents.int(order as i64).types([old]);

        let coordinates = coordinates(rank, process_sizes);
        let (mut map, mut stride) = (Map::of(old), i128::from(old.extent()));
        for dim in order.fastest_first(dims) {
            let (global, processes) = (global_sizes[dim], process_sizes[dim]);
            let block = block_size(distributions[dim], arguments[dim], global, processes)?;
            map = share(&map, stride, global, block, processes, coordinates[dim])?;
            stride = checked(i128::from(global), stride)?;
        }
        map.resized(0, narrow(stride)?)?.finish(contents)
    }
}

fn dimensions(lists: &[&[i64]]) -> Result<usize> {
    let dims = lists[0].len();
    if dims == 0 {
        return Err(Error::new(Class::Dims, "the array has no dimension"));
    }
    argument(lists.iter().all(|list| list.len() == dims), "the lists differ in the number of dimensions")?;
    Ok(dims)
}

fn checked(a: i128, b: i128) -> Result<i128> {
    narrow(a.saturating_mul(b)).map(i128::from)
}

/// Where a rank lies in a process grid in C order.
fn coordinates(mut rank: i64, grid: &[i64]) -> Vec<i64> {
    let mut coordinates: Vec<i64> = grid
        .iter()
        .rev()
        .map(|size| {
            let at = rank % size;
            rank /= size;
            at
        })
        .collect();
    coordinates.reverse();
    coordinates
}

/// Elements of one block of a dimension; every distribution is blocks of some size dealt round.
fn block_size(distribution: i64, darg: i64, global: i64, processes: i64) -> Result<i64> {
    let positive = |darg: i64| -> Result<i64> {
        argument(darg >= 1, "a distribution argument is below one")?;
        Ok(darg)
    };
    match (distribution, darg) {
        (DISTRIBUTE_NONE, _) => {
            argument(processes == 1, "a dimension that is not distributed has more than one process")?;
            Ok(global)
        }
        (DISTRIBUTE_BLOCK, DISTRIBUTE_DFLT_DARG) => Ok((global - 1) / processes + 1),
        (DISTRIBUTE_BLOCK, darg) => {
            let block = positive(darg)?;
            let covers = i128::from(block) * i128::from(processes) >= i128::from(global);
            argument(covers, "the blocks of a block distribution do not cover the array")?;
            Ok(block)
        }
        (DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG) => Ok(1),
        (DISTRIBUTE_CYCLIC, darg) => positive(darg),
        _ => Err(Error::new(Class::Arg, "a distribution is none of MPI_DISTRIBUTE_NONE, _BLOCK and _CYCLIC")),
    }
}

/// What process `at` of `processes` has of `global` elements, `stride` bytes apart, dealt in blocks of `block`.
fn share(map: &Map, stride: i128, global: i64, block: i64, processes: i64, at: i64) -> Result<Map> {
    let [global, block, processes, at] = [global, block, processes, at].map(i128::from);
    let (first, round) = (at * block, processes * block);
    let left = global - first;
    if left <= 0 {
        return map.repeated(0, 0, 0);
    }
    let whole = (left / round) + i128::from(left % round >= block);
    let rest = if left % round >= block { 0 } else { left % round };
    // Displacements lie within the global array; a round may reach beyond its end.
    let bytes = |elements: i128| elements.saturating_mul(stride);
    // A block may be larger than the array, and then there is no whole one.
    let one = map.repeated(0, if whole > 0 { block as u64 } else { 0 }, stride)?;
    let blocks = one.repeated(bytes(first), whole as u64, bytes(round))?;
    let tail = map.repeated(bytes(first + whole * round), rest as u64, stride)?;
    let mut list = List::with_capacity(2);
    list.push(blocks.layout);
    list.push(tail.layout);
    let bounds = Bounds::united(&blocks.bounds, &tail.bounds)?;
    let elements = (whole * block + rest) as u64;
    Ok(Map { bounds, layout: list.finish()?, sig: map.sig.as_ref().map(|sig| sig.repeated(elements)) })
}
