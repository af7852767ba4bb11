//! Receives that are begun before their messages come, and after: which message each of them gets, and what it says of it. Every rank
//! sends to the next around the ring, and may be its own neighbour.

use crate::calls::{WORLD, content, engine, neighbours, receiving, sending};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::{ANY_SOURCE, ANY_TAG, Communicator};
use lwk_mpi_rt::receive::ReceiveArguments;
use lwk_mpi_rt::request::Mode;
use lwk_mpi_rt::wait::NULL;
use lwk_mpi_rt::{Error, Handle, Result, communicators};

const TAG: i32 = 5;
/// Short enough for the ring, and too long.
const SIZES: [usize; 4] = [8, 40, 200, 3000];

pub fn run(world: Communicator) -> Result<()> {
    for bytes in SIZES {
        for arrived in [false, true] {
            begun(world, bytes, arrived)?;
        }
        oldest_first(world, bytes)?;
    }
    many_tags(world)?;
    freed_communicator(world)
}

/// Begins a receive; its buffer outlives it here, and is not touched in between.
fn begin(arguments: &ReceiveArguments) -> Result<Handle> {
    // SAFETY: the buffers of this file's functions live until their requests have been waited for.
    engine(|engine| unsafe { engine.irecv(arguments) })
}

/// A receive that is begun when its message has arrived, or before it is sent: status, content, truncation, freed handle.
fn begun(world: Communicator, bytes: usize, arrived: bool) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let message = content(world.rank()? as i32, TAG, bytes);
    for room in [bytes, bytes + 9, bytes / 2] {
        let mut buffer = vec![0xeeu8; bytes + 9];
        let arguments = receiving(&mut buffer[..room], previous, TAG);
        let early = if arrived { None } else { Some(begin(&arguments)?) };
        world.barrier()?;
        world.scope(|s| {
            s.isend(&message, next, TAG)?;
            world.barrier()?;
            let request = early.map_or_else(|| begin(&arguments), Ok)?;
            let status = loop {
                if let Some(status) = engine(|engine| engine.request_status(request))? {
                    break status;
                }
            };
            let truncated = room < bytes;
            assert_eq!((status.source, status.tag, status.bytes), (previous, TAG, room.min(bytes) as u64));
            assert_eq!(status.error, truncated.then_some(Error::TRUNCATE));
            // It was looked at, not completed.
            let outcome = engine(|engine| engine.wait(request));
            assert_eq!(outcome, if truncated { Err(Error::TRUNCATE) } else { Ok(status) });
            assert_eq!(engine(|engine| engine.wait(request)), Err(Error::REQUEST), "a handle that is gone");
            let whole = room.min(bytes);
            assert!(buffer[..whole] == content(previous, TAG, bytes)[..whole]);
            assert!(buffer[whole..].iter().all(|byte| *byte == 0xee), "bytes beside the message");
            Ok(())
        })?;
    }
    Ok(())
}

/// Receives of which several match: exact ones and wildcards take the messages in the order in which they were begun.
fn oldest_first(world: Communicator, bytes: usize) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    let patterns = [
        (previous, TAG),
        (previous, ANY_TAG),
        (previous, TAG),
        (ANY_SOURCE, TAG),
        (previous, TAG),
        (ANY_SOURCE, ANY_TAG),
    ];
    let mut buffers = vec![vec![0u8; bytes]; patterns.len()];
    let mut requests = Vec::new();
    for (buffer, (source, tag)) in buffers.iter_mut().zip(patterns) {
        requests.push(begin(&receiving(buffer, source, tag))?);
    }
    world.barrier()?;
    let messages: Vec<Vec<u8>> =
        (0..patterns.len() as i32).map(|number| content(rank, number, bytes)).collect();
    world.scope(|s| {
        messages.iter().try_for_each(|message| s.isend(message, next, TAG).map(drop))?;
        let mut sources = Vec::new();
        engine(|engine| {
            engine.wait_all(&mut requests, |_, status| sources.push((status.source, status.tag)))
        })?;
        assert_eq!(sources, vec![(previous, TAG); patterns.len()]);
        for (number, buffer) in buffers.iter().enumerate() {
            assert!(
                *buffer == content(previous, number as i32, bytes),
                "receive {number} got another's message"
            );
        }
        Ok(())
    })?;
    world.barrier()
}

/// More tags at once than there are places for queues beside the table; messages come in another order than the receives.
fn many_tags(world: Communicator) -> Result<()> {
    const TAGS: i32 = 50;
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    for round in 0..3 {
        let mut buffers = vec![[0u8; 24]; TAGS as usize];
        let mut requests = Vec::new();
        for (tag, buffer) in buffers.iter_mut().enumerate() {
            requests.push(begin(&receiving(buffer, previous, tag as i32 * (round + 1)))?);
        }
        if round == 1 {
            world.barrier()?;
        }
        for tag in (0..TAGS).rev() {
            world.send(&content(rank, tag, 24), next, tag * (round + 1))?;
        }
        engine(|engine| {
            engine.wait_all(&mut requests, |tag, status| {
                assert_eq!((status.tag, status.bytes), (tag as i32 * (round + 1), 24));
            })
        })?;
        assert!(requests.iter().all(|request| *request == NULL));
        for (tag, buffer) in buffers.iter().enumerate() {
            assert!(buffer[..] == content(previous, tag as i32, 24)[..]);
        }
        world.barrier()?;
    }
    Ok(())
}

/// A receive of a communicator that is freed while it waits must not take messages of communicators made later.
fn freed_communicator(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let freed = communicators::duplicate(WORLD)?;
    let (mut never, mut buffer) = ([0u8; 8], [0u8; 8]);
    let waiting = begin(&ReceiveArguments { communicator: freed, ..receiving(&mut never, previous, TAG) })?;
    communicators::free(freed)?;
    for round in 0..20u8 {
        let later = communicators::duplicate(WORLD)?;
        let message = [round; 8];
        let mut send = sending(&message, next, TAG);
        send.communicator = later;
        // SAFETY: the buffer lives until the send has been waited for.
        let send = engine(|engine| unsafe { engine.isend(&send, Mode::Standard) })?;
        let mut receive = receiving(&mut buffer, previous, TAG);
        receive.communicator = later;
        // SAFETY: the buffer is borrowed by nobody else.
        engine(|engine| unsafe { engine.receive(&receive) })?;
        engine(|engine| engine.wait(send))?;
        assert_eq!(buffer, [round; 8]);
        world.barrier()?;
        communicators::free(later)?;
    }
    engine(|engine| engine.cancel(waiting))?;
    assert!(engine(|engine| engine.wait(waiting))?.cancelled, "nobody has sent to it");
    assert_eq!(never, [0; 8]);
    world.barrier()
}
