//! Wrong arguments and wrong order of calls: the class the standard names, and nothing else happens.

use crate::calls::{WORLD, engine, receiving, sending};
use lwk_mpi::{ANY_SOURCE, Communicator, Mpi};
use lwk_mpi_rt::abi::{TAG_UB, datatype, op};
use lwk_mpi_rt::error::Error;
use lwk_mpi_rt::receive::ReceiveArguments;
use lwk_mpi_rt::request::Mode;
use lwk_mpi_rt::send::SendArguments;
use lwk_mpi_rt::{Form, Handle, Result};

pub fn before_init() {
    assert_eq!(engine(|engine| engine.barrier_on(WORLD)), Err(Error::ORDER));
}

pub fn after_finalize() {
    assert_eq!(engine(|engine| engine.barrier_on(WORLD)), Err(Error::ORDER));
    assert_eq!(Mpi::init().err(), Some(Error::ORDER));
}

pub fn arguments(world: Communicator) -> Result<()> {
    assert_eq!(Mpi::init().err(), Some(Error::ORDER), "started twice");
    let size = world.size()? as i32;
    let mut byte = [0u8];
    let freed = engine(|engine| {
        let made = engine.type_contiguous(Form::Int, 1, datatype::BYTE)?.0;
        engine.type_commit(made)?;
        engine.type_free(made).map(|()| made)
    })?;
    assert_eq!(engine(|engine| engine.type_free(freed)), Err(Error::TYPE), "freed twice");
    let send = sending(&byte, 0, 0);
    for (wrong, class) in [
        (SendArguments { target: size, ..send }, Error::RANK),
        (SendArguments { target: -7, ..send }, Error::RANK),
        (SendArguments { target: ANY_SOURCE, ..send }, Error::RANK),
        (SendArguments { tag: -1, ..send }, Error::TAG),
        (SendArguments { tag: i32::MIN, ..send }, Error::TAG),
        (SendArguments { count: -1, ..send }, Error::COUNT),
        (SendArguments { count: i64::MAX, datatype: datatype::DOUBLE, ..send }, Error::VALUE_TOO_LARGE),
        (SendArguments { datatype: datatype::NULL, ..send }, Error::TYPE),
        (SendArguments { datatype: u64::MAX, ..send }, Error::TYPE),
        (SendArguments { datatype: freed, ..send }, Error::TYPE),
        (SendArguments { communicator: Handle(0x100), ..send }, Error::COMM),
        (SendArguments { communicator: Handle(0x1234_5678_9abc), ..send }, Error::COMM),
    ] {
        // SAFETY: the buffer is one byte, and the arguments are refused before it is read.
        assert_eq!(engine(|engine| unsafe { engine.send(&wrong, Mode::Standard) }), Err(class), "{wrong:?}");
        // SAFETY: as above.
        assert_eq!(engine(|engine| unsafe { engine.isend(&wrong, Mode::Standard) }).err(), Some(class));
        // SAFETY: as above.
        assert_eq!(engine(|engine| unsafe { engine.send_init(&wrong, Mode::Standard) }).err(), Some(class));
    }
    let receive = receiving(&mut byte, 0, 0);
    for (wrong, class) in [
        (ReceiveArguments { source: size, ..receive }, Error::RANK),
        (ReceiveArguments { source: -4, ..receive }, Error::RANK),
        (ReceiveArguments { tag: -1, ..receive }, Error::TAG),
        (ReceiveArguments { count: -1, ..receive }, Error::COUNT),
        (ReceiveArguments { datatype: 7, ..receive }, Error::TYPE),
        (ReceiveArguments { datatype: freed, ..receive }, Error::TYPE),
        (ReceiveArguments { communicator: Handle(0), ..receive }, Error::COMM),
    ] {
        // SAFETY: the buffer is one byte, and the arguments are refused before it is written.
        assert_eq!(engine(|engine| unsafe { engine.receive(&wrong) }).err(), Some(class), "{wrong:?}");
        // SAFETY: as above.
        assert_eq!(engine(|engine| unsafe { engine.irecv(&wrong) }).err(), Some(class));
    }
    for wrong in [Handle(0), Handle(0x100), Handle(0x1000), Handle(u64::MAX)] {
        assert_eq!(engine(|engine| engine.wait(wrong)).err(), Some(Error::REQUEST));
        assert_eq!(engine(|engine| engine.cancel(wrong)).err(), Some(Error::REQUEST));
        assert_eq!(engine(|engine| engine.free_request(wrong)).err(), Some(Error::REQUEST));
        assert_eq!(engine(|engine| engine.start(wrong)).err(), Some(Error::REQUEST));
    }
    let (from, to) = ([1f64; 2], &mut [0f64; 2]);
    for (count, kind, operation, class) in [
        (-1, datatype::DOUBLE, op::SUM, Error::COUNT),
        (1, datatype::NULL, op::SUM, Error::TYPE),
        (1, datatype::DOUBLE, op::BAND, Error::OP),
        (1, datatype::DOUBLE, op::NULL, Error::OP),
    ] {
        // SAFETY: the arguments are refused before the buffers are touched.
        let outcome = engine(|engine| unsafe {
            engine.allreduce(from.as_ptr().cast(), to.as_mut_ptr().cast(), count, kind, operation, WORLD)
        });
        assert_eq!(outcome, Err(class));
    }
    assert_eq!(world.broadcast(&mut byte, size), Err(Error::ROOT));
    // The largest tag is one.
    let mut got = [0u8];
    world.scope(|s| {
        s.isend(&[9u8], world.rank()? as i32, TAG_UB)?;
        world.receive(&mut got, world.rank()? as i32, TAG_UB)
    })?;
    assert_eq!(got, [9]);
    Ok(())
}
