//! One message at a time: sizes, modes, requests, probes. Every rank sends to the next around the ring.

use crate::calls::{WORLD, content, engine, neighbours, receiving, sending};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::{ANY_SOURCE, ANY_TAG, Communicator, PROC_NULL};
use lwk_mpi_rt::Result;
use lwk_mpi_rt::error::Error;
use lwk_mpi_rt::probe::Matched;
use lwk_mpi_rt::request::{Mode, Owner};
use lwk_mpi_rt::wait::{Any, NULL};

/// Around every limit of the transport: cell, eager, help, chunk.
const SIZES: [usize; 27] = [
    0, 1, 2, 3, 7, 8, 9, 16, 31, 39, 40, 41, 56, 95, 96, 97, 255, 256, 257, 511, 1023, 1024, 1025, 5000,
    65_535, 65_536, 200_001,
];

/// Every size arrives whole, and truncated ones as far as there is room.
pub fn sizes(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    for bytes in SIZES {
        let send = content(rank, 3, bytes);
        let mut receive = vec![0xeeu8; bytes + 8];
        let status = world.scope(|s| {
            s.isend(&send, next, 3)?;
            world.receive(&mut receive, previous, 3)
        })?;
        assert_eq!((status.source, status.tag, status.bytes), (previous, 3, bytes as u64));
        assert!(receive[..bytes] == content(previous, 3, bytes)[..], "content of {bytes} bytes");
        assert!(receive[bytes..].iter().all(|byte| *byte == 0xee), "bytes beside the message");
        if bytes == 0 {
            continue;
        }
        // The same into a buffer of half the size.
        let mut short = vec![0xeeu8; bytes];
        let outcome = world.scope(|s| {
            s.isend(&send, next, 4)?;
            world.receive(&mut short[..bytes / 2], previous, 4)
        });
        assert_eq!(outcome, Err(Error::TRUNCATE));
        assert!(short[..bytes / 2] == content(previous, 3, bytes)[..bytes / 2]);
        assert!(short[bytes / 2..].iter().all(|byte| *byte == 0xee), "bytes beside the buffer");
    }
    Ok(())
}

/// Standard, synchronous, ready and buffered sends, and combined ones.
pub fn modes(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    for bytes in [0, 8, 1000, 100_000] {
        for (tag, mode) in [Mode::Standard, Mode::Synchronous, Mode::Ready].into_iter().enumerate() {
            let tag = tag as i32;
            let mut receive = vec![0u8; bytes];
            let arguments = receiving(&mut receive, previous, tag);
            // SAFETY: the buffers live until both have been waited for.
            let request = engine(|engine| unsafe { engine.irecv(&arguments) })?;
            // A ready send may only begin when the receive has been posted.
            world.barrier()?;
            world.send_as(mode, &content(rank, tag, bytes), next, tag)?;
            engine(|engine| engine.wait(request))?;
            assert!(receive == content(previous, tag, bytes));
        }
    }
    synchronous_sends_wait(world, next, previous)?;
    buffered(world, next, previous)?;
    let send = content(rank, 9, 3000);
    let mut receive = vec![0u8; 3000];
    let (sends, receives) = (sending(&send, next, 9), receiving(&mut receive, previous, 9));
    // SAFETY: the buffers outlive the call.
    engine(|engine| unsafe { engine.sendrecv(&sends, &receives) })?;
    assert!(receive == content(previous, 9, 3000));
    let mut both = send.clone();
    let (sends, receives) = (sending(&both, next, 10), receiving(&mut both, previous, 10));
    // SAFETY: the buffer outlives the call.
    engine(|engine| unsafe { engine.sendrecv_replace(&sends, &receives) })?;
    assert!(both == content(previous, 9, 3000));
    world.send(&send, PROC_NULL, 1)?;
    let status = world.receive(&mut receive, PROC_NULL, 1)?;
    assert_eq!((status.source, status.tag, status.bytes), (PROC_NULL, ANY_TAG, 0));
    Ok(())
}

/// A synchronous send is not complete before its receive begins, however short it is.
fn synchronous_sends_wait(world: Communicator, next: i32, previous: i32) -> Result<()> {
    let byte = [7u8];
    let mut receive = [0u8];
    world.scope(|s| {
        let mut request = s.isend_as(Mode::Synchronous, &byte, next, 20)?;
        for _ in 0..100 {
            assert_eq!(request.test()?, None, "a synchronous send completed without its receive");
        }
        world.barrier()?;
        world.receive(&mut receive, previous, 20)?;
        request.wait()
    })?;
    assert_eq!(receive, byte);
    Ok(())
}

/// Buffered sends complete without their receives, until the buffer is full; nothing is lost.
fn buffered(world: Communicator, next: i32, previous: i32) -> Result<()> {
    // Longer than the transport takes without the receiver, so that the buffer is in use until then.
    let bytes =
        if engine(|engine| Ok(engine.transport_memory().0))? == "smartmap" { 10_000 } else { 2_000_000 };
    let mut space = vec![0u8; 3 * bytes + 3 * 512];
    assert_eq!(engine(|engine| engine.detach(Owner::Process).map(drop)), Err(Error::BUFFER));
    let rank = world.rank()? as i32;
    let message = content(rank, 30, bytes);
    assert_eq!(world.send_as(Mode::Buffered, &message, next, 30), Err(Error::BUFFER));
    // SAFETY: the space is not touched before it is detached.
    engine(|engine| unsafe { engine.attach(Owner::Process, space.as_mut_ptr(), space.len() as i64) })?;
    for _ in 0..3 {
        world.send_as(Mode::Buffered, &message, next, 30)?;
    }
    assert_eq!(world.send_as(Mode::Buffered, &message, next, 30), Err(Error::BUFFER));
    world.barrier()?;
    for _ in 0..3 {
        let mut receive = vec![0u8; bytes];
        world.receive(&mut receive, previous, 30)?;
        assert!(receive == content(previous, 30, bytes));
    }
    let (address, bytes) = engine(|engine| engine.detach(Owner::Process))?;
    assert_eq!((address, bytes), (space.as_mut_ptr(), space.len()));
    Ok(())
}

/// Wait and test in all forms, cancel, free, persistent requests.
pub fn requests(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    const COUNT: usize = 8;
    for round in 0..4 {
        let messages: Vec<Vec<u8>> =
            (0..COUNT).map(|tag| content(rank, tag as i32, 10 + tag * 700)).collect();
        let mut buffers: Vec<Vec<u8>> = (0..COUNT).map(|tag| vec![0u8; 10 + tag * 700]).collect();
        let mut handles = Vec::new();
        for (tag, buffer) in buffers.iter_mut().enumerate() {
            let arguments = receiving(buffer, previous, tag as i32);
            // SAFETY: the buffers live until all have been waited for, below.
            handles.push(engine(|engine| unsafe { engine.irecv(&arguments) })?);
        }
        let mut sends = Vec::new();
        for (tag, message) in messages.iter().enumerate().rev() {
            // SAFETY: as above.
            sends.push(engine(|engine| unsafe {
                engine.isend(&sending(message, next, tag as i32), Mode::Standard)
            })?);
        }
        let mut done = [false; COUNT];
        match round {
            0 => engine(|engine| engine.wait_all(&mut handles, |index, _| done[index] = true))?,
            1 => {
                while let Some((index, status)) = engine(|engine| engine.wait_any(&mut handles))? {
                    assert_eq!((status.tag, done[index]), (index as i32, false));
                    done[index] = true;
                }
            }
            2 => {
                while engine(|engine| engine.wait_some(&mut handles, |index, _| done[index] = true))?
                    .is_some()
                {}
            }
            _ => while !engine(|engine| engine.test_all(&mut handles, |index, _| done[index] = true))? {},
        }
        assert!(done.iter().all(|done| *done) && handles.iter().all(|handle| *handle == NULL));
        assert_eq!(engine(|engine| engine.test_any(&mut handles))?, Any::NoneActive);
        engine(|engine| engine.wait_all(&mut sends, |_, _| ()))?;
        assert!(buffers.iter().enumerate().all(|(tag, it)| *it == content(previous, tag as i32, it.len())));
    }
    cancel_and_free(world, next, previous)?;
    persistent(next, previous, rank)
}

fn cancel_and_free(world: Communicator, next: i32, previous: i32) -> Result<()> {
    let mut never = [0u8; 4];
    let arguments = receiving(&mut never, previous, 99);
    // SAFETY: the buffer outlives the request, which is waited for.
    let request = engine(|engine| unsafe { engine.irecv(&arguments) })?;
    engine(|engine| engine.cancel(request))?;
    assert!(engine(|engine| engine.wait(request))?.cancelled);
    assert_eq!(engine(|engine| engine.wait(request)).err(), Some(Error::REQUEST), "a freed handle");
    // A freed request still completes: the message arrives in the buffer.
    let mut freed = [0u8; 4];
    let arguments = receiving(&mut freed, previous, 98);
    // SAFETY: the buffer outlives the loop below, which ends when the message has been received.
    let request = engine(|engine| unsafe { engine.irecv(&arguments) })?;
    engine(|engine| engine.free_request(request))?;
    world.send_as(Mode::Synchronous, &[1u8, 2, 3, 4], next, 98)?;
    // Nothing says when but the content; whatever call makes progress. A message that never comes runs into the job's time limit.
    // SAFETY: a buffer of this function; volatile, as the engine writes it behind the compiler's back.
    while unsafe { (&raw const freed).read_volatile() } != [1, 2, 3, 4] {
        engine(|engine| engine.iprobe(previous, 97, WORLD))?;
    }
    world.barrier()
}

fn persistent(next: i32, previous: i32, rank: i32) -> Result<()> {
    let mut send = vec![0u8; 2000];
    let mut receive = vec![0u8; 2000];
    let (sends, receives) = (sending(&send, next, 40), receiving(&mut receive, previous, 40));
    // SAFETY: the buffers outlive the requests, which are inactive whenever the buffers are touched.
    let (out, into) = engine(|engine| unsafe {
        Ok((engine.send_init(&sends, Mode::Standard)?, engine.receive_init(&receives)?))
    })?;
    for round in 0..5 {
        send.copy_from_slice(&content(rank, round, 2000));
        engine(|engine| engine.start(into).and_then(|()| engine.start(out)))?;
        assert_eq!(engine(|engine| engine.start(into)), Err(Error::REQUEST), "started twice");
        engine(|engine| engine.wait_all(&mut [out, into], |_, _| ()))?;
        assert!(receive == content(previous, round, 2000));
    }
    engine(|engine| engine.free_request(out).and_then(|()| engine.free_request(into)))?;
    assert_eq!(engine(|engine| engine.start(out)), Err(Error::REQUEST));
    Ok(())
}

/// Probes see what a receive would get; a matched probe takes it.
pub fn probes(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    assert_eq!(engine(|engine| engine.iprobe(ANY_SOURCE, ANY_TAG, WORLD))?, None);
    world.barrier()?;
    for bytes in [5, 700, 90_000] {
        let message = content(rank, 50, bytes);
        let mut receive = vec![0u8; bytes];
        world.scope(|s| {
            s.isend(&message, next, 50)?;
            let status = engine(|engine| engine.probe(ANY_SOURCE, ANY_TAG, WORLD))?;
            assert_eq!((status.source, status.tag, status.bytes), (previous, 50, bytes as u64));
            assert_eq!(engine(|engine| engine.iprobe(previous, 51, WORLD))?, None);
            if bytes == 5 {
                world.receive(&mut receive, previous, ANY_TAG).map(drop)
            } else {
                take(previous, &mut receive)
            }
        })?;
        assert!(receive == content(previous, 50, bytes));
        world.barrier()?;
    }
    assert_eq!(engine(|engine| engine.improbe(PROC_NULL, 0, WORLD))?, Some(Matched::NoProcess));
    Ok(())
}

/// A matched probe takes a message out, for one receive.
fn take(source: i32, receive: &mut [u8]) -> Result<()> {
    let Matched::Message(handle, _) = engine(|engine| engine.mprobe(source, 50, WORLD))? else {
        panic!("no message");
    };
    assert_eq!(engine(|engine| engine.iprobe(ANY_SOURCE, ANY_TAG, WORLD))?, None, "taken, yet still there");
    let (address, count) = (receive.as_mut_ptr(), receive.len() as i64);
    let byte = lwk_mpi_rt::abi::datatype::BYTE;
    // SAFETY: the buffer lives until the request has been waited for.
    let request = engine(|engine| unsafe { engine.imrecv(address, count, byte, handle) })?;
    engine(|engine| engine.wait(request))?;
    // SAFETY: as above; the handle is void by now.
    let again = engine(|engine| unsafe { engine.imrecv(address, count, byte, handle) });
    assert_eq!(again.err(), Some(Error::REQUEST));
    Ok(())
}
