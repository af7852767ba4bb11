//! Communicators and groups, and messages and collectives between two groups.

use crate::ring;
use alloc::vec::Vec;
use lwk_mpi::{ANY_SOURCE, Communicator, Comparison, Error, Level, Operation, PROC_NULL, ROOT, Result};

pub fn run(world: Communicator) -> Result<()> {
    made(world)?;
    by_group(world)?;
    between_groups(world)
}

fn made(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    let twin = world.duplicate()?;
    assert_eq!(world.compare(&world)?, Comparison::Identical);
    assert_eq!(world.compare(&twin)?, Comparison::Congruent);
    assert!(
        !twin.is_inter()? && twin.remote_size().err() == Some(Error::COMM) && twin.remote_group().is_err()
    );
    twin.free()?;
    assert_eq!((twin.rank().err(), twin.free().err()), (Some(Error::COMM), Some(Error::COMM)));
    assert_eq!(twin.send(&[0u8], 0, 0).err(), Some(Error::COMM));
    assert_eq!(twin.scope(|s| s.ibarrier().map(drop)).err(), Some(Error::COMM));
    assert_eq!(world.free().err(), Some(Error::COMM), "predefined");
    let half = world.split(Some(rank as u32 % 2), -rank)?.expect("this rank has a color");
    let mut sum = [0i32];
    half.allreduce(&[1], &mut sum, Operation::Sum)?;
    assert_eq!(sum[0] as u32, half.size()?);
    half.free()?;
    let some = world.split((rank == 0).then_some(1), 0)?;
    assert_eq!(some.is_some(), rank == 0);
    assert_eq!(world.split(Some(u32::MAX), 0).err(), Some(Error::ARG));
    some.map_or(Ok(()), Communicator::free)?;
    // All ranks of a job share their node; every rank has a part of each smaller kind.
    if let Some(node) = world.split_by(Level::Node, 0)? {
        assert_eq!(node.size()?, size as u32);
        node.free()?;
    }
    if let Some(core) = world.split_by(Level::Core, 0)? {
        assert!((1..=size as u32).contains(&core.size()?));
        core.free()?;
    }
    Ok(())
}

fn by_group(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    let group = world.group()?;
    assert_eq!(group.size() as i32, size);
    let reversed: Vec<i32> = (0..size).rev().collect();
    let turned = world.create(&group.include(&reversed)?)?.expect("all ranks are members");
    assert_eq!(
        (turned.rank()? as i32, turned.compare(&world)?),
        (size - 1 - rank, if size == 1 { Comparison::Congruent } else { Comparison::Similar })
    );
    let others = turned.group()?.exclude(&[0])?;
    turned.free()?;
    // The ranks of the group alone make it.
    if rank != size - 1 {
        let made = world.create_group(&others, 3)?.expect("a member");
        assert_eq!(made.size()? as i32, size - 1);
        made.free()?;
    }
    assert_eq!(group.include(&[size]).err(), Some(Error::RANK));
    assert_eq!(world.create_group(&others, -1).err(), Some(Error::TAG));
    Ok(())
}

/// Even ranks and odd ones: short messages of every kind, collectives, and one group again.
fn between_groups(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    if size == 1 {
        let alone = world.split(Some(0), 0)?.expect("a color");
        assert_eq!(alone.connect(0, &world, 5, 1).err(), Some(Error::RANK));
        assert_eq!(alone.merge(true).err(), Some(Error::COMM));
        return alone.free();
    }
    let even = rank % 2 == 0;
    let local = world.split(Some(rank as u32 % 2), 0)?.expect("a color");
    let inter = local.connect(0, &world, even as i32, 1)?;
    let (own, there) = (inter.rank()? as i32, inter.remote_size()? as i32);
    assert!(inter.is_inter()? && own == rank / 2 && inter.size()? + inter.remote_size()? == size as u32);
    assert_eq!(inter.remote_group()?.size() as i32, there);
    // Ranks are those of the other group: this one's partner has the same, as far as there is one.
    if own < there {
        for bytes in [0usize, 1, 8, 40, 41, 256, 257, 5000] {
            let (send, mut got) = (alloc::vec![rank as u8; bytes], alloc::vec![0u8; bytes]);
            let source = if bytes == 8 { ANY_SOURCE } else { own };
            let status = inter.scope(|s| {
                s.isend(&send, own, 2)?;
                inter.receive(&mut got, source, 2)
            })?;
            let partner = if even { rank + 1 } else { rank - 1 };
            assert_eq!((status.source, status.bytes), (own, bytes as u64));
            assert!(got.iter().all(|byte| *byte == partner as u8), "{bytes} bytes");
        }
    }
    assert_eq!(inter.send(&[0u8], there, 0).err(), Some(Error::RANK));
    // Everybody gets the other group's sum; a root is in one group, and its word goes to the other.
    let mut sum = [0i32];
    inter.allreduce(&[rank], &mut sum, Operation::Sum)?;
    assert_eq!(sum[0], (0..size).filter(|it| (it % 2 == 0) != even).sum::<i32>());
    let mut word = [if rank == 0 { 77u8 } else { 0 }];
    inter.broadcast(
        &mut word,
        if rank == 0 {
            ROOT
        } else if even {
            PROC_NULL
        } else {
            0
        },
    )?;
    assert_eq!(word[0], if rank == 0 || !even { 77 } else { 0 });
    let mut total = [0i32];
    inter.reduce(
        &[rank],
        &mut total,
        Operation::Sum,
        if rank == 0 {
            ROOT
        } else if even {
            PROC_NULL
        } else {
            0
        },
    )?;
    assert_eq!(total[0], if rank == 0 { (0..size).filter(|it| it % 2 == 1).sum() } else { 0 });
    let merged = inter.merge(!even)?;
    assert_eq!(merged.rank()? as i32, if even { own } else { there + own });
    merged.free()?;
    inter.free()?;
    local.free()
}
