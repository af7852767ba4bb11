//! Scopes: requests in every form, and that nothing begun in one outlives it, whatever becomes of the request.

use crate::ring;
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::{
    Any, Communicator, Error, Mode, Persistent, Result, test_all, test_any, test_some, wait_all, wait_any,
    wait_some,
};

pub fn run(world: Communicator) -> Result<()> {
    forgotten(world)?;
    failing(world)?;
    single(world)?;
    many(world)?;
    exchanges(world)?;
    persistent(world)
}

/// Requests that are leaked or dropped: the scope waits for them, so the buffers hold their messages when it has ended.
fn forgotten(world: Communicator) -> Result<()> {
    let (rank, _, next, previous) = ring(world)?;
    for bytes in [1usize, 5000, 200_000] {
        let send = vec![rank as u8; bytes];
        let (mut leaked, mut dropped) = (vec![255u8; bytes], vec![255u8; bytes]);
        world.scope(|s| {
            // A request has no destructor: dropping one and leaking it are the same.
            let _leaked = core::mem::ManuallyDrop::new(s.irecv(&mut leaked, previous, 1)?);
            s.irecv(&mut dropped, previous, 2)?;
            s.isend(&send, next, 1)?;
            s.isend(&send, next, 2)?;
            Ok(())
        })?;
        assert!(leaked.iter().chain(&dropped).all(|byte| *byte == previous as u8), "{bytes} bytes");
    }
    // Many, one after another: the list of what is under way does not grow with what has been.
    let mut values = [0u64; 1];
    world.scope(|s| {
        let mut buffer = &mut values;
        for number in 0..300u64 {
            let request = s.irecv(buffer, previous, 3)?;
            world.send(&number, next, 3)?;
            let (back, status) = request.finish()?;
            assert_eq!((back[0], status.bytes), (number, 8));
            buffer = back;
        }
        Ok(())
    })?;
    // A scope within a scope, on another communicator.
    let twin = world.duplicate()?;
    let (own, shifted) = ([rank], [rank + 100]);
    let (mut outer, mut inner) = ([0i32], [0i32]);
    world.scope(|s| {
        s.irecv(&mut outer, previous, 4)?;
        twin.scope(|t| {
            t.irecv(&mut inner, previous, 4)?;
            t.isend(&shifted, next, 4).map(drop)
        })?;
        assert_eq!(inner, [previous + 100]);
        s.isend(&own, next, 4)?;
        s.on(&twin).ibarrier().map(drop)
    })?;
    assert_eq!(outer, [previous]);
    twin.free()
}

/// A body that fails: receives that nothing has matched do not keep it, and an operation's error that nobody has asked for is the scope's.
fn failing(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    let mut never = [9u8];
    let outcome: Result<()> = world.scope(|s| {
        s.irecv(&mut never, rank, 999)?;
        s.isend(&[1u8], size, 0)?;
        Ok(())
    });
    assert_eq!((outcome.err(), never), (Some(Error::RANK), [9]));
    let mut short = [0u8; 1];
    let outcome = world.scope(|s| {
        s.irecv(&mut short, rank, 5)?;
        s.isend(&[1u8, 2], rank, 5).map(drop)
    });
    assert_eq!((outcome.err(), short), (Some(Error::TRUNCATE), [1]));
    // Asked for, it is the request's alone.
    world.scope(|s| {
        let request = s.irecv(&mut short, rank, 6)?;
        s.isend(&[1u8, 2], rank, 6)?;
        assert_eq!(request.wait().err(), Some(Error::TRUNCATE));
        Ok(())
    })
}

/// One request: test, status, cancel.
fn single(world: Communicator) -> Result<()> {
    let (rank, ..) = ring(world)?;
    let (mut got, mut none) = (0u32, 0u32);
    world.scope(|s| {
        let mut cancelled = s.irecv(&mut none, rank, 10)?;
        let mut request = s.irecv(&mut got, rank, 11)?;
        assert_eq!((request.test()?, request.status()?), (None, None));
        s.isend(&5u32, rank, 11)?;
        while request.status()?.is_none() {}
        assert_eq!(request.test()?.map(|status| status.bytes), Some(4));
        assert_eq!(request.test()?.map(|status| status.bytes), Some(0), "complete: an empty status");
        request.cancel()?;
        request.wait()?;
        cancelled.cancel()?;
        let (buffer, status) = cancelled.finish()?;
        assert!(status.cancelled && *buffer == 0);
        let mut sent = s.isend(&[1u8], rank, 12)?;
        sent.cancel()?;
        assert!(!world.receive(&mut [0u8], rank, 12)?.cancelled);
        Ok(())
    })?;
    assert_eq!(got, 5);
    cancelled_sends(world)
}

/// Sends that are taken back, in a request and in a persistent one, and what comes instead.
fn cancelled_sends(world: Communicator) -> Result<()> {
    let (_, _, next, previous) = ring(world)?;
    let (mut wrong, right) = ([1u32; 900], [2u32; 900]);
    let mut got = [0u32; 900];
    world.scope(|s| {
        let mut request = s.isend_as(Mode::Synchronous, &wrong, next, 13)?;
        world.barrier()?;
        request.cancel()?;
        assert!(request.wait()?.cancelled);
        world.barrier()
    })?;
    world.scope(|s| {
        let mut send = s.send_init(Mode::Synchronous, &mut wrong, next, 13)?;
        send.start()?;
        world.barrier()?;
        send.cancel()?;
        assert!(send.wait()?.cancelled);
        world.barrier()
    })?;
    // Nobody waits for anybody: everybody sends first.
    world.send(&right, next, 13)?;
    world.receive(&mut got, previous, 13)?;
    assert_eq!(got, right);
    // A scope that fails leaves its sends to their receivers.
    let failed: Result<()> = world.scope(|s| {
        s.isend(&right, next, 14)?;
        Err(Error::OTHER)
    });
    assert_eq!(failed, Err(Error::OTHER));
    world.receive(&mut got, previous, 14)?;
    world.barrier()
}

/// Lists of requests, completed all, any and some at once.
fn many(world: Communicator) -> Result<()> {
    let (rank, _, next, previous) = ring(world)?;
    let sent: Vec<u32> = (0..6).map(|number| rank as u32 * 10 + number).collect();
    let mut got = [0u32; 6];
    world.scope(|s| {
        let mut requests = Vec::new();
        for (place, tag) in got.iter_mut().zip(20..) {
            requests.push(s.irecv(place, previous, tag)?.plain());
        }
        assert_eq!(test_all(&mut requests)?, None);
        assert_eq!(test_any(&mut requests)?, Any::NotYet);
        assert_eq!(test_some(&mut requests)?, Some(vec![]));
        world.barrier()?;
        s.isend(&sent[3], next, 23)?;
        let (index, status) = wait_any(&mut requests)?.expect("a receive is active");
        assert_eq!((index, status.tag), (3, 23));
        world.barrier()?;
        s.isend(&sent[0], next, 20)?;
        let done = wait_some(&mut requests)?.expect("receives are active");
        assert_eq!((done.len(), done[0].0), (1, 0));
        world.barrier()?;
        for number in [1, 2, 4, 5] {
            s.isend(&sent[number], next, 20 + number as i32)?;
        }
        while test_all(&mut requests)?.is_none() {}
        assert_eq!(test_any(&mut requests)?, Any::NoneActive);
        assert_eq!(
            (wait_any(&mut requests)?, wait_some(&mut requests)?, test_some(&mut requests)?),
            (None, None, None)
        );
        let statuses = wait_all(requests)?;
        assert_eq!(statuses.len(), 6);
        Ok(())
    })?;
    assert!(got.iter().enumerate().all(|(number, value)| *value == previous as u32 * 10 + number as u32));
    // All are waited for, also behind one that fails.
    let (mut short, mut whole) = ([0u8; 1], [0u8; 2]);
    world.scope(|s| {
        let requests = [s.irecv(&mut short[..], rank, 30)?, s.irecv(&mut whole[..], rank, 31)?];
        s.isend(&[1u8, 2], rank, 30)?;
        s.isend(&[3u8, 4], rank, 31)?;
        assert_eq!(wait_all(requests).err(), Some(Error::TRUNCATE));
        Ok(())
    })?;
    assert_eq!((short, whole), ([1], [3, 4]));
    Ok(())
}

/// Combined requests, and the receive of a matched message.
fn exchanges(world: Communicator) -> Result<()> {
    let (rank, _, next, previous) = ring(world)?;
    let (own, mut theirs, mut both) = ([rank; 3], [0i32; 3], [rank; 100]);
    world.scope(|s| {
        let ((sent, got), status) = s.isendrecv((&own, next, 40), (&mut theirs, previous, 40))?.finish()?;
        assert_eq!((sent[0], got[2], status.source), (rank, previous, previous));
        s.isendrecv_replace(&mut both, (next, 41), (previous, 41))?.wait()?;
        s.isend(&own, next, 42)?;
        let message = world.mprobe(previous, 42)?;
        s.imrecv(message, got)?.wait().map(drop)
    })?;
    assert_eq!((theirs, both), ([previous; 3], [previous; 100]));
    Ok(())
}

/// Requests that are started again and again, with their buffers in between; one that is leaked while active.
fn persistent(world: Communicator) -> Result<()> {
    let (rank, _, next, previous) = ring(world)?;
    let (mut out, mut into, mut last) = ([0i32; 2], [0i32; 2], [0i32; 1]);
    world.scope(|s| {
        let mut sends = s.send_init(Mode::Synchronous, &mut out, next, 50)?;
        let mut receives = s.receive_init(&mut into, previous, 50)?;
        assert_eq!(sends.wait()?.bytes, 0, "not started");
        for round in 0..3 {
            *sends.buffer()? = [rank, round];
            receives.start()?;
            assert_eq!(
                (receives.start().err(), receives.buffer().err()),
                (Some(Error::REQUEST), Some(Error::REQUEST))
            );
            sends.start()?;
            while receives.test()?.is_none() {}
            sends.wait()?;
            assert_eq!(*receives.buffer()?, [previous, round]);
        }
        receives.start()?;
        receives.cancel()?;
        assert!(receives.wait()?.cancelled);
        let mut leaked: Persistent<_> = s.receive_init(&mut last, previous, 51)?;
        leaked.start()?;
        world.send(&[rank + 7], next, 51)
    })?;
    assert_eq!(last, [previous + 7]);
    let refused = world.scope(|s| s.receive_init(&mut last, -9, 0).map(drop));
    assert_eq!(refused.err(), Some(Error::RANK));
    Ok(())
}
