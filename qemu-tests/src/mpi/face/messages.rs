//! Point to point, blocking: modes, combined calls, probes, attached buffers, and what is refused.

use crate::ring;
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::{ANY_SOURCE, ANY_TAG, Communicator, Error, Located, Mode, Mpi, PROC_NULL, Result};

pub fn run(mpi: &Mpi, world: Communicator) -> Result<()> {
    every_kind_of_buffer(world)?;
    combined(world)?;
    probes(world)?;
    buffered(mpi, world)?;
    refused(world)
}

/// One element, an array, a slice and a vector, of several types; every mode.
fn every_kind_of_buffer(world: Communicator) -> Result<()> {
    let (rank, _, next, previous) = ring(world)?;
    let places = [Located { value: rank as f64, index: rank }];
    let (bytes, words) = (vec![rank as u8; 3000], [rank as i64, -1]);
    let (mut got_place, mut got_bytes) = ([Located::default()], vec![0u8; 4000]);
    let (mut got_words, mut got_one, mut got_slice) = ([0i64; 2], 0usize, [0u16; 4]);
    world.scope(|s| {
        s.isend(&places, next, 1)?;
        s.isend(&bytes, next, 2)?;
        s.isend_as(Mode::Synchronous, &words, next, 3)?;
        s.isend(&(7usize), next, 4)?;
        s.isend(&[1u16, 2, 3][1..], next, 5)?;
        world.receive(&mut got_place, previous, 1)?;
        let status = world.receive(&mut got_bytes, previous, 2)?;
        assert_eq!((status.source, status.tag, status.bytes), (previous, 2, 3000));
        assert_eq!(
            (status.count::<u8>(), status.count::<u16>(), status.count::<u64>()),
            (Some(3000), Some(1500), Some(375))
        );
        assert_eq!(world.receive(&mut got_words, ANY_SOURCE, 3)?.count::<i64>(), Some(2));
        world.receive(&mut got_one, previous, 4)?;
        assert_eq!(world.receive(&mut got_slice[1..], previous, ANY_TAG)?.count::<u32>(), Some(1));
        Ok(())
    })?;
    assert_eq!(got_place[0], Located { value: previous as f64, index: previous });
    assert!(got_bytes[..3000].iter().all(|byte| *byte == previous as u8) && got_bytes[3000..] == [0; 1000]);
    assert_eq!((got_words, got_one, got_slice), ([previous as i64, -1], 7, [0, 2, 3, 0]));
    // A ready send, into a receive that has been posted.
    let mut got = [0u32];
    world.scope(|s| {
        let request = s.irecv(&mut got, previous, 6)?;
        world.barrier()?;
        world.send_as(Mode::Ready, &[rank as u32], next, 6)?;
        request.wait()
    })?;
    assert_eq!(got, [previous as u32]);
    Ok(())
}

fn combined(world: Communicator) -> Result<()> {
    let (rank, _, next, previous) = ring(world)?;
    let mut got = [0i32; 2];
    let status = world.sendrecv((&[rank, 1], next, 10), (&mut got, previous, 10))?;
    assert_eq!((status.source, got), (previous, [previous, 1]));
    let status = world.sendrecv_replace(&mut got, (previous, 11), (next, 11))?;
    assert_eq!((status.source, got), (next, [rank, 1]));
    let status = world.sendrecv((&1u8, PROC_NULL, 1), (&mut got, PROC_NULL, 1))?;
    assert_eq!((status.source, status.bytes, got), (PROC_NULL, 0, [rank, 1]));
    Ok(())
}

fn probes(world: Communicator) -> Result<()> {
    let (rank, _, next, previous) = ring(world)?;
    assert_eq!(world.iprobe(ANY_SOURCE, 20)?, None);
    assert!(world.improbe(previous, 20)?.is_none());
    // Nobody sends before everybody has looked.
    world.barrier()?;
    let long: Vec<u8> = vec![rank as u8; 50_000];
    let mut got = vec![0u8; 50_000];
    world.scope(|s| {
        s.isend(&long, next, 20)?;
        s.isend_as(Mode::Synchronous, &long, next, 21)?;
        s.isend(&3u64, next, 22)?;
        assert_eq!(world.probe(previous, 20)?.bytes, 50_000);
        let message = world.mprobe(previous, 20)?;
        assert_eq!((message.status().tag, world.iprobe(previous, 20)?), (20, None));
        assert_eq!(message.receive(&mut got)?.bytes, 50_000);
        assert!(got.iter().all(|byte| *byte == previous as u8));
        // One that is dropped is gone, and its synchronous sender goes on.
        drop(world.mprobe(previous, 21)?);
        let message = loop {
            if let Some(message) = world.improbe(ANY_SOURCE, 22)? {
                break message;
            }
        };
        assert_eq!(message.receive(&mut [0u8; 4]).err(), Some(Error::TRUNCATE));
        Ok(())
    })?;
    assert_eq!(world.mprobe(PROC_NULL, 0)?.receive(&mut got)?.source, PROC_NULL);
    Ok(())
}

fn buffered(mpi: &Mpi, world: Communicator) -> Result<()> {
    let (rank, _, next, previous) = ring(world)?;
    let message = vec![rank as u8; 10_000];
    assert_eq!(world.send_as(Mode::Buffered, &message, next, 30).err(), Some(Error::BUFFER), "none attached");
    let process = mpi.attach_buffer(3 << 20)?;
    assert_eq!(mpi.attach_buffer(1).err(), Some(Error::BUFFER), "attached twice");
    world.send_as(Mode::Buffered, &message, next, 30)?;
    {
        // The communicator's own comes first: it is too small.
        let own = world.attach_buffer(64)?;
        assert_eq!(world.send_as(Mode::Buffered, &message, next, 30).err(), Some(Error::BUFFER));
        own.flush()?;
    }
    world.scope(|s| s.isend_as(Mode::Buffered, &message, next, 30).map(drop))?;
    let mut got = vec![0u8; 10_000];
    for _ in 0..2 {
        world.receive(&mut got, previous, 30)?;
        assert!(got.iter().all(|byte| *byte == previous as u8));
    }
    process.flush()?;
    drop(process);
    assert_eq!(world.send_as(Mode::Buffered, &message, next, 30).err(), Some(Error::BUFFER), "detached");
    Ok(())
}

/// Wrong ranks and tags, and a buffer that is too small: the class, nothing else.
fn refused(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    for (wrong, class) in [((size, 0), Error::RANK), ((-7, 0), Error::RANK), ((0, -1), Error::TAG)] {
        assert_eq!(world.send(&[0u8], wrong.0, wrong.1).err(), Some(class));
        assert_eq!(
            world.receive(&mut [0u8], wrong.0, wrong.1).err(),
            Some(if wrong.1 == -1 { Error::TAG } else { class })
        );
        assert_eq!(world.probe(wrong.0, wrong.1).err(), Some(class));
        let begun = world.scope(|s| s.isend(&[0u8], wrong.0, wrong.1).map(drop));
        assert_eq!(begun.err(), Some(class));
        let begun = world.scope(|s| s.isend_as(Mode::Synchronous, &[0u8], wrong.0, wrong.1).map(drop));
        assert_eq!(begun.err(), Some(class));
    }
    let mut byte = [0u8; 1];
    let outcome = world.scope(|s| {
        s.isend(&[1u8, 2], rank, 40)?;
        world.receive(&mut byte, rank, 40)
    });
    assert_eq!((outcome.err(), byte), (Some(Error::TRUNCATE), [1]));
    assert_eq!(alloc::format!("{}", Error::TRUNCATE).split(':').next(), Some("message truncated"));
    Ok(())
}
