//! Requests of other kinds: generalized ones, combined ones, statuses without completion, buffers that are flushed.

use crate::calls::{WORLD, content, engine, neighbours, receiving, sending};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec;
use core::cell::Cell;
use lwk_mpi::{Communicator, PROC_NULL};
use lwk_mpi_generalized::completion;
use lwk_mpi_generalized::{Generalized, grequest_complete, grequest_start};
use lwk_mpi_rt::abi::{BUFFER_AUTOMATIC, datatype};
use lwk_mpi_rt::error::Error;
use lwk_mpi_rt::request::{Mode, Owner};
use lwk_mpi_rt::send::SendArguments;
use lwk_mpi_rt::status::Status;
use lwk_mpi_rt::wait::{Any, NULL};
use lwk_mpi_rt::{Handle, Result};

pub fn run(world: Communicator) -> Result<()> {
    generalized()?;
    statuses(world)?;
    combined(world)?;
    buffers(world)?;
    automatic(world)
}

/// What a program's operation has been asked: queries, cancellations, frees.
#[derive(Default)]
struct Counts([Cell<u32>; 3]);

impl Counts {
    fn add(&self, which: usize) {
        self.0[which].set(self.0[which].get() + 1);
    }

    fn all(&self) -> [u32; 3] {
        self.0.each_ref().map(Cell::get)
    }
}

struct Operation(Rc<Counts>);

impl Generalized for Operation {
    fn query(&mut self) -> Status {
        self.0.add(0);
        let mut status = Status { source: 7, tag: 8, ..Status::EMPTY };
        // A callback may call the library.
        let set = engine(|engine| engine.set_elements(&mut status, datatype::INT, 3));
        Status { error: set.err(), ..status }
    }

    fn cancel(&mut self, complete: bool) -> Result<()> {
        self.0.add(1);
        if complete { Err(Error::REQUEST) } else { Ok(()) }
    }

    fn free(self: Box<Self>) -> Result<()> {
        self.0.add(2);
        engine(|engine| engine.communicators.rank(WORLD)).map(drop)
    }
}

fn start() -> Result<(Rc<Counts>, Handle)> {
    let counts = Rc::new(Counts::default());
    let operation = Box::new(Operation(counts.clone()));
    Ok((counts, engine(|engine| Ok(grequest_start(engine, operation)))?))
}

fn generalized() -> Result<()> {
    let (counts, request) = start()?;
    assert!(!completion::test_all(&mut [request], |_, _| ())?);
    completion::cancel(request)?;
    assert_eq!(counts.all(), [0, 1, 0]);
    grequest_complete(request)?;
    assert_eq!(grequest_complete(request), Err(Error::REQUEST), "completed twice");
    assert_eq!(completion::cancel(request), Err(Error::REQUEST), "the callback's own error");
    assert_eq!(counts.all(), [0, 2, 0], "the outcome is asked for when the request is completed");
    let status = completion::status(request)?;
    assert_eq!(status.map(|it| (it.source, it.tag, it.bytes)), Some((7, 8, 12)));
    let mut list = [NULL, request];
    let mut seen = Status::EMPTY;
    completion::wait_all(&mut list, |index, status| {
        if index == 1 {
            seen = *status;
        }
    })?;
    assert_eq!((seen.source, seen.tag, seen.bytes, list), (7, 8, 12, [NULL; 2]));
    assert_eq!(counts.all(), [1, 2, 1], "asked once, freed once");
    assert_eq!(grequest_complete(request), Err(Error::REQUEST));
    // Freed before it is complete: told when it is.
    let (counts, request) = start()?;
    completion::free(request)?;
    assert_eq!(counts.all(), [0, 0, 0]);
    grequest_complete(request)?;
    assert_eq!(counts.all(), [0, 0, 1]);
    // Found among others.
    let (counts, request) = start()?;
    let (_, other) = start()?;
    let mut list = [other, request];
    assert_eq!(completion::test_any(&mut list)?, Any::NotYet);
    grequest_complete(request)?;
    assert!(matches!(completion::status_of_any(&list)?, Any::Done(1, _)));
    assert!(matches!(completion::wait_any(&mut list)?, Some((1, Status { source: 7, .. }))));
    assert_eq!(counts.all(), [1, 0, 1]);
    grequest_complete(other)?;
    assert_eq!(completion::wait_some(&mut list, |index, _| assert_eq!(index, 0))?, Some(1));
    Ok(())
}

/// Statuses of requests that stay.
fn statuses(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let (mut a, mut b) = ([0u8; 4], [0u8; 4]);
    // SAFETY: the buffers outlive the requests.
    let mut list = engine(|engine| unsafe {
        Ok([
            engine.irecv(&receiving(&mut a, previous, 1))?,
            NULL,
            engine.irecv(&receiving(&mut b, previous, 2))?,
        ])
    })?;
    assert_eq!(completion::status(list[0])?, None);
    assert_eq!(completion::status_of_any(&list)?, Any::NotYet);
    assert_eq!(completion::status_of_some(&list, |_, _| ())?, Some(0));
    world.barrier()?;
    world.send_as(Mode::Standard, &[1u8, 2], next, 2)?;
    let found = loop {
        if let Any::Done(index, status) = completion::status_of_any(&list)? {
            break (index, status.bytes);
        }
    };
    assert_eq!(found, (2, 2));
    assert!(!completion::status_of_all(&list, |_, _| ())?);
    world.barrier()?;
    world.send(&[9u8; 5], next, 1)?;
    while !completion::status_of_all(&list, |_, _| ())? {}
    let mut errors = [None; 3];
    assert!(completion::status_of_all(&list, |index, status| errors[index] = status.error)?);
    assert_eq!(errors, [Some(Error::TRUNCATE), None, None]);
    assert_eq!(completion::status_of_some(&list, |_, _| ())?, Some(2));
    // They are all still there.
    assert_eq!(completion::wait_all(&mut list, |_, _| ()), Err(Error::IN_STATUS));
    assert_eq!(list, [NULL; 3]);
    assert_eq!(completion::status_of_some(&list, |_, _| ())?, None);
    assert_eq!(completion::status(Handle(77)), Err(Error::REQUEST));
    assert_eq!(core::hint::black_box((a, b)), ([9; 4], [1, 2, 0, 0]));
    Ok(())
}

/// Sends and receives that are one request.
fn combined(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    for bytes in [0, 8, 3000, 100_000] {
        let send = content(rank, 1, bytes);
        let mut receive = vec![0u8; bytes];
        let (sends, receives) = (sending(&send, next, 3), receiving(&mut receive, previous, 3));
        // SAFETY: the buffers outlive the request.
        let request = engine(|engine| unsafe { engine.isendrecv(&sends, &receives) })?;
        let status = engine(|engine| engine.wait(request))?;
        assert_eq!((status.source, status.tag, status.bytes), (previous, 3, bytes as u64));
        assert!(receive == content(previous, 1, bytes));
        let mut both = send;
        let (sends, receives) = (sending(&both, next, 4), receiving(&mut both, previous, 4));
        // SAFETY: as above.
        let request = engine(|engine| unsafe { engine.isendrecv_replace(&sends, &receives) })?;
        while engine(|engine| engine.test(request))?.is_none() {}
        assert!(both == content(previous, 1, bytes));
        assert_eq!(engine(|engine| engine.wait(request)).err(), Some(Error::REQUEST));
    }
    // The error of the receive; nobody on either side.
    let mut short = [0u8; 2];
    let (sends, receives) = (sending(&[1u8, 2, 3], next, 5), receiving(&mut short, previous, 5));
    // SAFETY: as above.
    let request = engine(|engine| unsafe { engine.isendrecv(&sends, &receives) })?;
    assert_eq!(engine(|engine| engine.wait(request)), Err(Error::TRUNCATE));
    let (sends, receives) = (sending(&[1u8], PROC_NULL, 5), receiving(&mut short, PROC_NULL, 5));
    for replace in [false, true] {
        // SAFETY: as above.
        let request = engine(|engine| unsafe {
            if replace {
                engine.isendrecv_replace(&sends, &receives)
            } else {
                engine.isendrecv(&sends, &receives)
            }
        })?;
        assert_eq!(engine(|engine| engine.wait(request))?.source, PROC_NULL);
    }
    // Freed while under way: both parts complete by themselves.
    let send = content(rank, 6, 5000);
    let mut receive = vec![0u8; 5000];
    let (sends, receives) = (sending(&send, next, 6), receiving(&mut receive, previous, 6));
    // SAFETY: the buffers outlive the barrier, before which every rank has its message.
    let request = engine(|engine| unsafe { engine.isendrecv(&sends, &receives) })?;
    engine(|engine| engine.free_request(request))?;
    // Only the content says when. One that never comes runs into the job's time limit.
    let expected = content(previous, 6, 5000);
    while core::hint::black_box(&receive) != &expected {
        engine(|engine| engine.iprobe(previous, 6, WORLD))?;
    }
    world.barrier()
}

/// A communicator's own buffer, flushing, and both at once.
fn buffers(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    // Longer than the transport takes without the receiver, so that the buffer is in use until then.
    let bytes =
        if engine(|engine| Ok(engine.transport_memory().0))? == "smartmap" { 1000 } else { 2_000_000 };
    let message = content(1, 1, bytes);
    let owner = Owner::Communicator(WORLD);
    let (mut small, mut large) = (vec![0u8; 100], vec![0u8; 3 * bytes]);
    for result in [engine(|engine| engine.flush(owner)), engine(|engine| engine.iflush(owner)).map(drop)] {
        assert_eq!(result, Err(Error::BUFFER));
    }
    // SAFETY: the buffers are not touched before they are detached.
    engine(|engine| unsafe {
        engine.attach(Owner::Process, small.as_mut_ptr(), 100)?;
        engine.attach(owner, large.as_mut_ptr(), 3 * bytes as i64)?;
        assert_eq!(engine.attach(owner, large.as_mut_ptr(), 3 * bytes as i64), Err(Error::BUFFER));
        assert_eq!(engine.attach(Owner::Communicator(Handle(0)), large.as_mut_ptr(), 3), Err(Error::COMM));
        Ok(())
    })?;
    // Only the communicator's own buffer is large enough.
    world.send_as(Mode::Buffered, &message, next, 1)?;
    let mut flushed = engine(|engine| engine.iflush(owner))?;
    world.send_as(Mode::Buffered, &message, next, 1)?;
    assert_eq!(engine(|engine| engine.test(flushed))?, None, "nobody has received anything");
    world.barrier()?;
    let mut receive = vec![0u8; bytes];
    world.receive(&mut receive, previous, 1)?;
    engine(|engine| engine.wait_all(core::slice::from_mut(&mut flushed), |_, _| ()))?;
    assert_eq!(flushed, NULL);
    world.receive(&mut receive, previous, 1)?;
    engine(|engine| engine.flush(owner))?;
    assert!(receive == message);
    assert_eq!(engine(|engine| engine.detach(owner))?, (large.as_mut_ptr(), 3 * bytes));
    assert_eq!(world.send_as(Mode::Buffered, &message, next, 1), Err(Error::BUFFER), "too small");
    assert_eq!(engine(|engine| engine.detach(Owner::Process))?, (small.as_mut_ptr(), 100));
    world.barrier()
}

/// The library's own memory, in all forms of buffered sends.
fn automatic(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    let buffer = core::ptr::without_provenance_mut(BUFFER_AUTOMATIC);
    // SAFETY: no memory is given.
    engine(|engine| unsafe { engine.attach(Owner::Process, buffer, 0) })?;
    let message = content(rank, 2, 70_000);
    let arguments: SendArguments = sending(&message, next, 2);
    for _ in 0..3 {
        // SAFETY: the message is copied.
        let request = engine(|engine| unsafe { engine.isend(&arguments, Mode::Buffered) })?;
        engine(|engine| engine.wait(request))?;
    }
    // SAFETY: as above.
    let request = engine(|engine| unsafe { engine.send_init(&arguments, Mode::Buffered) })?;
    engine(|engine| engine.start(request))?;
    engine(|engine| engine.wait(request))?;
    engine(|engine| engine.free_request(request))?;
    for _ in 0..4 {
        let mut receive = vec![0u8; 70_000];
        world.receive(&mut receive, previous, 2)?;
        assert!(receive == content(previous, 2, 70_000));
    }
    assert_eq!(engine(|engine| engine.detach(Owner::Process))?, (buffer, 0));
    Ok(())
}
