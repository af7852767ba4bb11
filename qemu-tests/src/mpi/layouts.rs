//! Messages of random datatypes by every way a message can take, against the bytes the types stand for.

use crate::calls::{WORLD, engine, neighbours};
use crate::types::{Map, Spec};
use alloc::vec;
use alloc::vec::Vec;
use lwk_boot_tests::random::{self, Random};
use lwk_mpi::Communicator;
use lwk_mpi_rt::abi::datatype::{self, BYTE};
use lwk_mpi_rt::error::Error;
use lwk_mpi_rt::pack::Packed;
use lwk_mpi_rt::probe::Matched;
use lwk_mpi_rt::receive::ReceiveArguments;
use lwk_mpi_rt::request::{Mode, Owner};
use lwk_mpi_rt::send::SendArguments;
use lwk_mpi_rt::status::Status;
use lwk_mpi_rt::wait::NULL;
use lwk_mpi_rt::{Form, Handle, Result};
use lwk_user::println;

const ROUNDS: u64 = 250;
/// What is between the blocks.
const BESIDE: u8 = 0xee;

/// What one rank sends in one round: known to both ends, since it follows from the seed.
struct Message {
    spec: Spec,
    map: Map,
    count: i64,
}

impl Message {
    fn of(seed: u64, sender: i32, round: u64) -> Message {
        let mut random = Random::new(seed ^ (sender as u64) << 32 ^ round << 8);
        Message::random(&mut random)
    }

    fn random(random: &mut Random) -> Message {
        let spec = Spec::random(random);
        let map = spec.map();
        // Around the limits of cells, eager messages and common copies.
        let wanted = match random.below(8) {
            0 => 200_000,
            1 | 2 => 3000,
            3 | 4 => 300,
            _ => 60,
        };
        let count = (random.below(wanted) / map.bytes.len() as u64) as i64;
        Message { count: count + 1, spec, map }
    }

    fn bytes(&self) -> usize {
        self.map.bytes.len() * self.count as usize
    }

    /// Room for its items, with a margin, and where in it displacement 0 of the first lies.
    fn buffer(&self) -> (Vec<u8>, usize) {
        let items = self.map.items(self.count);
        let low = items.iter().copied().min().unwrap_or(0).min(0);
        let high = items.iter().copied().max().unwrap_or(0).max(0);
        (vec![BESIDE; (high - low + 17) as usize], (8 - low) as usize)
    }
}

/// Byte number `index` of a message.
fn value(sender: i32, round: u64, index: usize) -> u8 {
    (index * 7 + (index >> 8) * 3 + sender as usize * 31 + round as usize * 13) as u8
}

pub fn run(world: Communicator, seed: Option<u64>) -> Result<()> {
    bounds_and_handles()?;
    packing()?;
    absolute_addresses(world)?;
    let mut seed = [seed.unwrap_or(random::SEED)];
    world.broadcast(&mut seed, 0)?;
    if world.rank()? == 0 {
        println!("seed {}", seed[0]);
    }
    (0..ROUNDS).try_for_each(|round| one_round(world, seed[0], round))
}

/// Sends a message of a random type to the next rank and receives the previous one's with another type, one of ten ways.
fn one_round(world: Communicator, seed: u64, round: u64) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    let way = round % 10;
    let sends = Message::of(seed, rank, round);
    let (mut out, origin) = sends.buffer();
    for (index, byte) in sends.map.items(sends.count).into_iter().enumerate() {
        out[(origin as i64 + byte) as usize] = value(rank, round, index);
    }
    let arriving = Message::of(seed, previous, round).bytes();
    let mut random = Random::new(seed ^ round << 20 ^ rank as u64);
    let mut receives = Message::random(&mut random);
    // Mostly enough room, sometimes a few items too few.
    receives.count = (arriving / receives.map.bytes.len()) as i64 + 1 - random.once_in(4) as i64;
    let (mut into, target) = receives.buffer();

    let (kind, other) = engine(|engine| Ok((sends.spec.make(engine)?, receives.spec.make(engine)?)))?;
    let send = SendArguments {
        address: out.as_ptr().wrapping_add(origin),
        count: sends.count,
        datatype: kind.0,
        target: next,
        tag: 5,
        communicator: WORLD,
    };
    let receive = ReceiveArguments {
        address: into.as_mut_ptr().wrapping_add(target),
        count: receives.count,
        datatype: other.0,
        source: previous,
        tag: 5,
        communicator: WORLD,
    };
    // SAFETY: both buffers live until the exchange is over, and are as large as their types say.
    let outcome = unsafe { exchange(world, way, &send, &receive)? };
    let room = receives.bytes();
    let copied = arriving.min(room);
    match outcome {
        Err(error) => assert_eq!((error, arriving > room), (Error::TRUNCATE, true), "round {round}"),
        Ok(status) => {
            assert_eq!((status.source, status.tag, status.bytes), (previous, 5, copied as u64));
            assert!(arriving <= room, "round {round}: {arriving} bytes fitted {room}");
        }
    }
    let mut expected = vec![BESIDE; into.len()];
    for (index, byte) in receives.map.items(receives.count).into_iter().take(copied).enumerate() {
        expected[(target as i64 + byte) as usize] = value(previous, round, index);
    }
    assert!(into == expected, "round {round}, way {way}: content of {arriving} bytes");
    Ok(())
}

/// Frees both types as soon as the standard allows: when the operations have begun.
fn free(kinds: &[u64]) -> Result<()> {
    engine(|engine| kinds.iter().try_for_each(|kind| engine.type_free(*kind)))
}

/// Sends and receives by way number `way`; the receive's outcome.
///
/// # Safety
/// Both buffers must be as their arguments say.
unsafe fn exchange(
    world: Communicator,
    way: u64,
    send: &SendArguments,
    receive: &ReceiveArguments,
) -> Result<Result<Status>> {
    let kinds = [send.datatype, receive.datatype];
    let begin = |mode| {
        // SAFETY: the buffer is as its arguments say (this function's contract), until the request has been waited for, as every way does.
        engine(|engine| unsafe { engine.isend(send, mode) })
    };
    let post = || {
        // SAFETY: as above.
        engine(|engine| unsafe { engine.irecv(receive) })
    };
    let wait = |request: Handle| engine(|engine| engine.wait(request));
    // SAFETY: the buffer is as its arguments say (this function's contract).
    let take = || engine(|engine| unsafe { engine.receive(receive) });
    match way {
        // Straight from the ring.
        0 | 1 => {
            let request = begin(if way == 0 { Mode::Standard } else { Mode::Synchronous })?;
            let outcome = take();
            wait(request)?;
            free(&kinds)?;
            Ok(outcome)
        }
        // Into a posted receive, by a blocking send.
        2 | 3 => {
            let request = post()?;
            let mode = if way == 2 { Mode::Standard } else { Mode::Synchronous };
            if world.size()? == 1 {
                let sent = begin(mode)?;
                free(&kinds)?;
                let outcome = wait(request);
                wait(sent)?;
                return Ok(outcome);
            }
            free(&[receive.datatype])?;
            // A ring of blocking sends: all receives are posted.
            // SAFETY: the buffer is as its arguments say (this function's contract).
            let sent = engine(|engine| unsafe { engine.send(send, mode) });
            let outcome = wait(request);
            sent?;
            free(&[send.datatype])?;
            Ok(outcome)
        }
        // Held until its receive comes.
        4 => {
            let request = begin(Mode::Standard)?;
            let status = engine(|engine| engine.probe(receive.source, receive.tag, WORLD))?;
            assert_eq!((status.source, status.tag), (receive.source, receive.tag));
            let posted = post()?;
            free(&kinds)?;
            let outcome = wait(posted);
            wait(request)?;
            Ok(outcome)
        }
        // Taken out by a matched probe.
        5 => {
            let request = begin(Mode::Standard)?;
            let Matched::Message(message, _) =
                engine(|engine| engine.mprobe(receive.source, receive.tag, WORLD))?
            else {
                panic!("no message");
            };
            let ReceiveArguments { address, count, datatype, .. } = *receive;
            // SAFETY: the buffer is as its arguments say (this function's contract), until the request has been waited for.
            let posted = engine(|engine| unsafe { engine.imrecv(address, count, datatype, message) })?;
            free(&kinds)?;
            let outcome = wait(posted);
            wait(request)?;
            Ok(outcome)
        }
        6 => {
            let bytes = engine(|engine| engine.pack_size(send.count, send.datatype))? as usize;
            let mut space = vec![0u8; bytes + 512];
            // SAFETY: the space lives until it is detached; the buffer is as its arguments say (this function's contract).
            engine(|engine| unsafe {
                engine.attach(Owner::Process, space.as_mut_ptr(), space.len() as i64)?;
                engine.send(send, Mode::Buffered)
            })?;
            let outcome = take();
            free(&kinds)?;
            engine(|engine| engine.detach(Owner::Process)).map(drop)?;
            Ok(outcome)
        }
        // Persistent requests keep their types.
        7 => {
            // SAFETY: both buffers are as their arguments say (this function's contract), until the requests are freed below.
            let (out, into) = engine(|engine| unsafe {
                Ok((engine.send_init(send, Mode::Standard)?, engine.receive_init(receive)?))
            })?;
            free(&kinds)?;
            engine(|engine| engine.start(into).and_then(|()| engine.start(out)))?;
            let outcome = wait(into);
            wait(out)?;
            engine(|engine| engine.free_request(out).and_then(|()| engine.free_request(into)))?;
            Ok(outcome)
        }
        8 => {
            // SAFETY: both buffers are as their arguments say (this function's contract).
            let outcome = engine(|engine| unsafe { engine.sendrecv(send, receive) });
            free(&kinds)?;
            Ok(outcome)
        }
        // Packed by the program, received with the type.
        _ => {
            let mut packed =
                vec![0u8; engine(|engine| engine.pack_size(send.count, send.datatype))? as usize];
            let into = Packed { address: packed.as_mut_ptr(), bytes: packed.len() as i64, position: 0 };
            // SAFETY: the packed buffer has the size that was asked for, and the other is as its arguments say (this function's contract).
            let end =
                engine(|engine| unsafe { engine.pack(send.address, send.count, send.datatype, &into) })?;
            assert_eq!(end, packed.len() as i64);
            let arguments =
                SendArguments { address: packed.as_ptr(), count: end, datatype: datatype::PACKED, ..*send };
            // SAFETY: the buffer lives until the request has been waited for.
            let request = engine(|engine| unsafe { engine.isend(&arguments, Mode::Standard) })?;
            let outcome = take();
            wait(request)?;
            free(&kinds)?;
            Ok(outcome)
        }
    }
}

/// Handles: what is freed is gone, predefined types stay, uncommitted ones do not communicate; counts in a status.
fn bounds_and_handles() -> Result<()> {
    engine(|engine| {
        let vector = engine.type_vector(Form::Int, 3, 2, 4, datatype::INT)?.0;
        let it = engine.datatype(vector)?;
        assert_eq!((it.size(), it.extent(), it.true_extent(), it.lb()), (24, 40, 40, 0));
        let mut byte = [0u8; 40];
        assert_eq!(engine.region(byte.as_mut_ptr(), 1, vector).err(), Some(Error::TYPE), "not committed");
        engine.type_commit(vector)?;
        assert_eq!(engine.region(byte.as_mut_ptr(), 1, vector)?.bytes(), 24);
        assert_eq!(engine.region(byte.as_mut_ptr(), -1, vector).err(), Some(Error::COUNT));
        assert_eq!(engine.region(byte.as_mut_ptr(), i64::MAX, vector).err(), Some(Error::COUNT));
        let inner = engine.type_contents(vector)?;
        assert_eq!(inner, [Handle(datatype::INT)]);
        let dup = engine.type_dup(vector)?.0;
        engine.type_free(vector)?;
        assert_eq!(engine.type_free(vector).err(), Some(Error::TYPE), "freed twice");
        assert_eq!(engine.region(byte.as_mut_ptr(), 1, vector).err(), Some(Error::TYPE), "freed");
        let status = Status { bytes: 30, ..Status::EMPTY };
        assert_eq!(engine.get_count(&status, dup)?, None, "one item and a half");
        assert_eq!(engine.get_elements(&status, dup)?, None, "seven integers and a half");
        let mut status = Status { bytes: 28, ..status };
        assert_eq!((engine.get_count(&status, dup)?, engine.get_elements(&status, dup)?), (None, Some(7)));
        engine.set_elements(&mut status, dup, 12)?;
        assert_eq!((status.bytes, engine.get_count(&status, dup)?), (48, Some(2)));
        assert_eq!(engine.set_elements(&mut status, dup, -1).err(), Some(Error::COUNT));
        engine.type_free(dup)?;
        for predefined in [BYTE, datatype::SHORT_INT, datatype::NULL, 0, NULL.0] {
            assert_eq!(engine.type_free(predefined).err(), Some(Error::TYPE), "{predefined:#x}");
        }
        let real = engine.type_f90_real(10, 100)?;
        assert_eq!((engine.type_f90_real(10, 100)?, engine.datatype(real.0)?.size()), (real, 8));
        assert_eq!(engine.type_free(real.0).err(), Some(Error::TYPE), "parameterized types are predefined");
        assert_eq!(engine.type_vector(Form::Int, -1, 1, 1, BYTE).err(), Some(Error::COUNT));
        assert_eq!(engine.type_vector(Form::Int, 1, 1, 1, datatype::NULL).err(), Some(Error::TYPE));
        Ok(())
    })
}

/// Packed data in two pieces, and in the portable form.
fn packing() -> Result<()> {
    let numbers: [i32; 4] = [1, -2, 0x0102_0304, i32::MIN];
    let mut packed = [0u8; 20];
    let mut back = [0i32; 4];
    engine(|engine| {
        let (from, to) = (numbers.as_ptr().cast::<u8>(), back.as_mut_ptr().cast::<u8>());
        let address = packed.as_mut_ptr();
        let at = |position| Packed { address, bytes: 20, position };
        // SAFETY: all buffers have the room that counts and positions say; what does not fit is refused.
        unsafe {
            let position = engine.pack(from, 2, datatype::INT, &at(3))?;
            assert_eq!(engine.pack(from.add(8), 2, datatype::INT, &at(position))?, 19);
            assert_eq!(engine.pack(from, 1, datatype::INT, &at(17)).err(), Some(Error::TRUNCATE));
            assert_eq!(engine.pack(from, 1, datatype::INT, &at(21)).err(), Some(Error::ARG));
            assert_eq!(engine.unpack(&at(3), to, 4, datatype::INT)?, 19);
            assert_eq!(engine.unpack(&at(8), to, 4, datatype::INT).err(), Some(Error::TRUNCATE));
        }
        Ok(())
    })?;
    assert_eq!(back, numbers);
    back = [0; 4];
    engine(|engine| {
        assert_eq!(engine.pack_external_size(4, datatype::INT)?, 16);
        let (from, to) = (numbers.as_ptr().cast::<u8>(), back.as_mut_ptr().cast::<u8>());
        let all = Packed { address: packed.as_mut_ptr(), bytes: 20, position: 0 };
        // SAFETY: as above.
        unsafe {
            assert_eq!(engine.pack_external(from, 4, datatype::INT, &all)?, 16);
            assert_eq!(engine.unpack_external(&all, to, 4, datatype::INT)?, 16);
            let short = Packed { bytes: 15, ..all };
            assert_eq!(engine.pack_external(from, 4, datatype::INT, &short).err(), Some(Error::TRUNCATE));
        }
        Ok(())
    })?;
    assert_eq!((back, &packed[8..12]), (numbers, &[1, 2, 3, 4][..]), "big endian");
    Ok(())
}

/// A type of absolute addresses, sent from `MPI_BOTTOM`: one member in this rank's own memory, one in the previous rank's.
fn absolute_addresses(world: Communicator) -> Result<()> {
    let (next, previous) = neighbours(world)?;
    let rank = world.rank()? as i32;
    let own = [rank as u8; 300];
    let mut theirs = [0u64; 1];
    let address = own.as_ptr().expose_provenance() as u64;
    world.sendrecv((&address, next, 6), (&mut theirs, previous, 6))?;
    let slot = lwk_user::abi::address::remote(theirs[0], previous as u32);
    let displacements = [address as i64, slot as i64];
    let kind = engine(|engine| {
        let made = engine.type_struct(Form::Int, &[300, 300], &displacements, &[BYTE, BYTE])?;
        engine.type_commit(made.0)?;
        Ok(made)
    })?;
    let send = SendArguments {
        address: core::ptr::null(),
        count: 1,
        datatype: kind.0,
        target: next,
        tag: 7,
        communicator: WORLD,
    };
    // SAFETY: the type's blocks are the two arrays, which live until the barrier.
    let request = engine(|engine| unsafe { engine.isend(&send, Mode::Standard) })?;
    let mut both = [0u8; 600];
    world.receive(&mut both, previous, 7)?;
    engine(|engine| engine.wait(request))?;
    engine(|engine| engine.type_free(kind.0))?;
    let size = world.size()? as i32;
    let before = (previous + size - 1) % size;
    assert!(both[..300] == [previous as u8; 300] && both[300..] == [before as u8; 300]);
    world.barrier()
}
