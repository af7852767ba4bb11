//! Partitioned communication, around the ring: every cut of the message, every order of partitions, many rounds.

use crate::calls::{content, neighbours, receiving, sending};
use alloc::vec;
use alloc::vec::Vec;
use lwk_boot_tests::random::Random;
use lwk_mpi::{ANY_SOURCE, Communicator, PROC_NULL};
use lwk_mpi_partitioned::with as engine;
use lwk_mpi_rt::abi::datatype;
use lwk_mpi_rt::error::Error;
use lwk_mpi_rt::{Form, Result};

pub fn run(world: Communicator) -> Result<()> {
    let mut random = Random::new(1);
    for (bytes, sends, receives) in
        [(1, 1, 1), (60, 4, 1), (60, 1, 4), (60, 6, 10), (12_000, 12, 8), (12_000, 300, 3), (0, 3, 2)]
    {
        rounds(world, bytes, sends, receives, &mut random)?;
    }
    layouts(world)?;
    order(world)?;
    freed_unmet(world)?;
    wrong(world)
}

/// Several rounds over one pair of requests, cut into different numbers of partitions on both sides.
fn rounds(world: Communicator, bytes: usize, sends: i32, receives: i32, random: &mut Random) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    let (mut out, mut into) = (vec![0u8; bytes], vec![0u8; bytes]);
    let each = |partitions: i32| (bytes / partitions as usize) as i64;
    let send = lwk_mpi_rt::send::SendArguments { count: each(sends), ..sending(&out, next, 3) };
    let receive =
        lwk_mpi_rt::receive::ReceiveArguments { count: each(receives), ..receiving(&mut into, previous, 3) };
    // SAFETY: the buffers outlive the requests, which are inactive whenever the buffers are touched.
    let (send, receive) = engine(|engine| unsafe {
        Ok((engine.psend_init(&send, sends)?, engine.precv_init(&receive, receives)?))
    })?;
    assert_eq!(engine(|engine| engine.pready(send, 0)), Err(Error::REQUEST), "not started");
    assert!(engine(|engine| engine.parrived(receive, 0))?, "an inactive receive has arrived");
    for round in 0..5 {
        out.copy_from_slice(&content(rank, round, bytes));
        into.fill(0xee);
        engine(|engine| engine.start(receive).and_then(|()| engine.start(send)))?;
        let mut order: Vec<i32> = (0..sends).collect();
        (1..order.len()).for_each(|i| order.swap(i, random.below(i as u64 + 1) as usize));
        let last = order.pop();
        for partition in order {
            engine(|engine| engine.pready(send, partition))?;
            assert_eq!(engine(|engine| engine.pready(send, partition)), Err(Error::ARG), "ready twice");
        }
        assert_eq!(engine(|engine| engine.test(send))?, None, "a partition is missing");
        if bytes > 0 {
            // The part that holds the missing partition has not arrived while nobody has marked it ready.
            world.barrier()?;
            let arrived: Result<Vec<bool>> =
                (0..receives).map(|part| engine(|engine| engine.parrived(receive, part))).collect();
            assert!(arrived?.contains(&false));
            world.barrier()?;
        }
        if let Some(last) = last {
            engine(|engine| engine.pready(send, last))?;
        }
        let all = content(previous, round, bytes);
        for partition in 0..receives {
            while !engine(|engine| engine.parrived(receive, partition))? {}
            let part = partition as usize * each(receives) as usize..;
            let part = &into[part][..each(receives) as usize];
            assert!(part == &all[partition as usize * each(receives) as usize..][..part.len()]);
        }
        let status = engine(|engine| engine.wait(receive))?;
        assert_eq!((status.source, status.tag, status.bytes), (previous, 3, bytes as u64));
        engine(|engine| engine.wait(send))?;
        assert!(into == all, "round {round} of {bytes} bytes");
    }
    engine(|engine| engine.free_request(send).and_then(|()| engine.free_request(receive)))
}

/// A strided type on the sending side, which is freed at once.
fn layouts(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    let out = content(rank, 1, 4000);
    let mut into = vec![0u8; 2000];
    let strided = engine(|engine| {
        let made = engine.type_vector(Form::Int, 10, 2, 4, datatype::BYTE)?;
        let made = engine.type_resized(Form::Int, 0, 40, made.0)?;
        engine.type_commit(made.0)?;
        Ok(made)
    })?;
    let send = lwk_mpi_rt::send::SendArguments { count: 10, datatype: strided.0, ..sending(&out, next, 4) };
    let receive = lwk_mpi_rt::receive::ReceiveArguments { count: 100, ..receiving(&mut into, previous, 4) };
    // SAFETY: the buffers outlive the requests: ten partitions of ten items of forty bytes, and twenty of a hundred bytes.
    let mut both =
        engine(|engine| unsafe { Ok([engine.psend_init(&send, 10)?, engine.precv_init(&receive, 20)?]) })?;
    engine(|engine| engine.type_free(strided.0))?;
    engine(|engine| both.iter().try_for_each(|request| engine.start(*request)))?;
    engine(|engine| (0..10).rev().try_for_each(|partition| engine.pready(both[0], partition)))?;
    engine(|engine| engine.wait_all(&mut both, |_, status| assert_eq!(status.error, None)))?;
    let sent = content(previous, 1, 4000);
    assert!(into.iter().enumerate().all(|(i, byte)| *byte == sent[i / 2 * 4 + i % 2]));
    engine(|engine| both.iter().try_for_each(|request| engine.free_request(*request)))
}

/// Two pairs of the same tag meet in the order of their making, and are not the program's messages.
fn order(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let (first, second, plain) = ([1u8; 8], [2u8; 8], [3u8; 8]);
    let (mut a, mut b, mut c) = ([0u8; 8], [0u8; 8], [0u8; 8]);
    let requests = world.scope(|s| {
        s.isend(&plain, next, 5)?;
        // SAFETY: the buffers outlive the requests.
        let requests = engine(|engine| unsafe {
            Ok([
                engine.psend_init(&sending(&first, next, 5), 1)?,
                engine.psend_init(&sending(&second, next, 5), 1)?,
                engine.precv_init(&receiving(&mut a, previous, 5), 1)?,
                engine.precv_init(&receiving(&mut b, previous, 5), 1)?,
            ])
        })?;
        // Started in the other order.
        engine(|engine| requests.iter().rev().try_for_each(|request| engine.start(*request)))?;
        engine(|engine| engine.pready(requests[1], 0).and_then(|()| engine.pready(requests[0], 0)))?;
        world.receive(&mut c, ANY_SOURCE, 5)?;
        engine(|engine| engine.wait_all(&mut requests.clone(), |_, _| ()))?;
        Ok(requests)
    })?;
    assert_eq!(core::hint::black_box((a, b, c)), (first, second, plain));
    engine(|engine| requests.iter().try_for_each(|request| engine.free_request(*request)))
}

/// Requests that are freed before they have met leave nothing that hurts.
fn freed_unmet(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let out = [1u8; 8];
    let mut into = [0u8; 8];
    for free_first in [true, false] {
        // SAFETY: the buffers outlive the requests.
        let request = engine(|engine| unsafe { engine.psend_init(&sending(&out, next, 6), 1) })?;
        if free_first {
            engine(|engine| engine.free_request(request))?;
        }
        world.barrier()?;
        // SAFETY: as above.
        let receive = engine(|engine| unsafe { engine.precv_init(&receiving(&mut into, previous, 6), 1) })?;
        engine(|engine| engine.free_request(receive))?;
        world.barrier()?;
        if !free_first {
            engine(|engine| engine.free_request(request))?;
        }
    }
    // And the other way round: the receive is there first, and goes.
    // SAFETY: as above.
    let receive = engine(|engine| unsafe { engine.precv_init(&receiving(&mut into, previous, 7), 1) })?;
    engine(|engine| engine.free_request(receive))?;
    world.barrier()
}

fn wrong(world: Communicator) -> Result<()> {
    let size = world.size()? as i32;
    let out = [1u8; 8];
    let mut into = [0u8; 8];
    let (send, receive) = (sending(&out, 0, 8), receiving(&mut into, 0, 8));
    for (partitions, target, tag, class) in
        [(-1, 0, 8, Error::ARG), (1, size, 8, Error::RANK), (1, 0, -1, Error::TAG)]
    {
        let send = lwk_mpi_rt::send::SendArguments { target, tag, ..send };
        let receive = lwk_mpi_rt::receive::ReceiveArguments { source: target, tag, ..receive };
        // SAFETY: the arguments are refused.
        assert_eq!(engine(|engine| unsafe { engine.psend_init(&send, partitions) }).err(), Some(class));
        // SAFETY: as above.
        assert_eq!(engine(|engine| unsafe { engine.precv_init(&receive, partitions) }).err(), Some(class));
    }
    let any = lwk_mpi_rt::receive::ReceiveArguments { source: ANY_SOURCE, ..receive };
    // SAFETY: as above.
    assert_eq!(engine(|engine| unsafe { engine.precv_init(&any, 1) }).err(), Some(Error::RANK));
    // From and to nobody: complete when all partitions are ready.
    let send = lwk_mpi_rt::send::SendArguments { target: PROC_NULL, count: 4, ..send };
    let receive = lwk_mpi_rt::receive::ReceiveArguments { source: PROC_NULL, count: 4, ..receive };
    // SAFETY: the buffers outlive the requests, and are not used.
    let mut both =
        engine(|engine| unsafe { Ok([engine.psend_init(&send, 2)?, engine.precv_init(&receive, 2)?]) })?;
    engine(|engine| both.iter().try_for_each(|request| engine.start(*request)))?;
    assert_eq!(engine(|engine| engine.pready(both[0], 2)), Err(Error::ARG), "no such partition");
    assert_eq!(engine(|engine| engine.pready(both[1], 0)), Err(Error::REQUEST), "a receive");
    assert_eq!(engine(|engine| engine.parrived(both[0], 0)), Err(Error::REQUEST), "a send");
    assert_eq!(engine(|engine| engine.test(both[0]))?, None);
    engine(|engine| engine.pready(both[0], 1).and_then(|()| engine.pready(both[0], 0)))?;
    assert!(engine(|engine| engine.parrived(both[1], 1))?);
    engine(|engine| {
        engine.wait_all(&mut both, |index, status| assert!(index == 0 || status.source == PROC_NULL))
    })?;
    engine(|engine| both.iter().try_for_each(|request| engine.free_request(*request)))
}
