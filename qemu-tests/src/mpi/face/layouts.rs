//! Memory seen through datatypes: rows and columns, blocks, parts of arrays, records; what does not lie within is refused.

use crate::ring;
use lwk_mpi::{Communicator, Datatype, Error, Result};

lwk_mpi::record! {
    /// With padding between and behind its fields.
    struct Particle {
        kind: u8,
        place: [f64; 3],
        number: u32,
    }
}

pub fn run(world: Communicator) -> Result<()> {
    let (rank, _, next, previous) = ring(world)?;
    let one = Datatype::<i32>::element()?;
    let mut matrix = [0i32; 12];
    matrix.iter_mut().zip(rank * 100..).for_each(|(item, value)| *item = value);
    // Column 1 of 3 rows of 4 becomes a row.
    let column = one.vector(3, 1, 4)?;
    assert_eq!((one.bytes()?, column.bytes()?), (4, 12));
    let mut row = [0i32; 3];
    world.sendrecv((&column.of(&matrix[1..], 1)?, next, 1), (&mut row, previous, 1))?;
    assert_eq!(row, [previous * 100 + 1, previous * 100 + 5, previous * 100 + 9]);
    // Two columns, as two items of a type that steps by one element; into blocks.
    let columns = column.resized(1)?;
    let blocks = one.indexed(&[(4, 2), (0, 3), (9, 1)])?;
    let mut scattered = [-1i32; 10];
    world.scope(|s| {
        let (from, mut into) = (columns.of(&matrix, 2)?, blocks.of_mut(&mut scattered, 1)?);
        let _ = (&from, &mut into);
        s.ibarrier().map(drop)
    })?;
    let from = columns.of(&matrix, 2)?;
    let mut into = blocks.of_mut(&mut scattered, 1)?;
    world.scope(|s| {
        s.irecv(&mut into, previous, 2)?;
        s.isend(&from, next, 2).map(drop)
    })?;
    let base = previous * 100;
    assert_eq!(scattered, [base + 8, base + 1, base + 5, -1, base, base + 4, -1, -1, -1, base + 9]);
    // The middle of the array, and pairs.
    let middle = one.subarray(&[3, 4], &[2, 2], &[1, 1])?;
    let pairs = one.contiguous(2)?;
    let mut four = [0i32; 4];
    world.sendrecv((&middle.of(&matrix, 1)?, next, 3), (&mut pairs.of_mut(&mut four, 2)?, previous, 3))?;
    assert_eq!(four, [base + 5, base + 6, base + 9, base + 10]);
    refused(&one, &matrix)?;
    records(world)
}

fn refused(one: &Datatype<i32>, matrix: &[i32; 12]) -> Result<()> {
    let column = one.vector(3, 1, 4)?;
    assert_eq!(column.of(&matrix[4..], 1).err().map(|_| ()), Some(()), "past the end");
    assert_eq!(column.of(matrix, 2).err(), Some(Error::COUNT));
    assert_eq!(one.vector(2, 1, -1)?.of(matrix, 1).err(), Some(Error::COUNT), "before the beginning");
    assert_eq!(one.indexed(&[(12, 1)])?.of(matrix, 1).err(), Some(Error::COUNT));
    assert_eq!(one.of(matrix, usize::MAX).err(), Some(Error::COUNT));
    assert_eq!(one.contiguous(usize::MAX).err(), Some(Error::COUNT));
    // What overlaps can be sent and not received.
    let (twice, mut own) = (one.indexed(&[(0, 2), (1, 2)])?, *matrix);
    assert!(twice.of(matrix, 1).is_ok());
    assert_eq!(twice.of_mut(&mut own, 1).err(), Some(Error::ARG));
    assert_eq!(one.vector(2, 1, 4)?.resized(4)?.of_mut(&mut own, 2).err(), Some(Error::ARG));
    assert_eq!(one.subarray(&[3], &[1, 1], &[0]).err(), Some(Error::ARG));
    assert!(one.subarray(&[3], &[2], &[2]).is_err());
    assert!(one.of(matrix, 12).is_ok() && one.of(matrix, 0).is_ok() && column.of(&[], 0).is_ok());
    Ok(())
}

fn records(world: Communicator) -> Result<()> {
    let (rank, _, next, previous) = ring(world)?;
    let of = |rank: i32, number: u32| Particle { kind: rank as u8, place: [rank as f64, 0.5, -1.0], number };
    let particle = Datatype::<Particle>::record()?;
    assert_eq!(particle.bytes()?, 1 + 24 + 4);
    let (own, mut theirs) = ([of(rank, 1), of(rank, 2)], [of(-1, 0); 3]);
    world
        .sendrecv((&particle.of(&own, 2)?, next, 4), (&mut particle.of_mut(&mut theirs, 3)?, previous, 4))?;
    assert_eq!(theirs, [of(previous, 1), of(previous, 2), of(-1, 0)]);
    Ok(())
}
