//! Random sequences of all collectives, blocking, non-blocking and persistent ones mixed, several under way at once on two
//! communicators, with plain and strided datatypes, predefined and user operations, in place and not, against a model.

use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use lwk_mpi_rt::abi::{COMM_WORLD, IN_PLACE, datatype, op};
use lwk_mpi_rt::collective::{BufferArgument, Call, Division, Numbers, Parts, Reducing};

use lwk_boot_tests::random::{self, Random};
use lwk_mpi::Communicator;
use lwk_mpi_rt::communicators;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::operation::UserFunction;
use lwk_mpi_rt::{Form, Handle, Result};
use lwk_user::{job, println};

/// What no operation may leave in a place where it has to write, nor change elsewhere.
const GAP: i64 = i64::MIN + 77;

const LENGTHS: [usize; 9] = [0, 1, 2, 3, 7, 8, 40, 700, 9000];

/// Maps `x -> m x + c` of 32-bit numbers in one word: composing them is associative and does not commute.
fn compose(first: i64, second: i64) -> i64 {
    let parts = |map: i64| ((map >> 32) as u32, map as u32);
    let ((m1, c1), (m2, c2)) = (parts(first), parts(second));
    let (m, c) = (m1.wrapping_mul(m2), m1.wrapping_mul(c2).wrapping_add(c1));
    (m as i64) << 32 | c as i64
}

/// The same as a function of the program, on items of any extent; it asks the engine for that.
struct Compose;

impl UserFunction for Compose {
    unsafe fn call(&self, input: *mut u8, inout: *mut u8, count: i64, datatype: u64) {
        let extent = with(|engine| engine.datatype(datatype).map(|it| it.extent()));
        let Ok(extent) = extent else { panic!("a callback cannot use the engine") };
        for index in 0..count {
            let offset = (index * extent) as isize;
            let (input, inout) =
                (input.wrapping_offset(offset).cast::<i64>(), inout.wrapping_offset(offset).cast::<i64>());
            // SAFETY: the caller vouches for so many items, each of which begins with a word.
            unsafe { inout.write_unaligned(compose(input.read_unaligned(), inout.read_unaligned())) };
        }
    }
}

/// What the ranks have agreed on, and this rank.
struct World {
    rank: usize,
    size: usize,
    communicators: [Handle; 2],
    /// Words next to each other, and words with a gap after each.
    types: [u64; 2],
    user: u64,
}

/// One operation: its buffers, and what the receive buffer must hold.
struct Operation {
    what: (&'static str, usize, usize, bool),
    request: Option<Handle>,
    persistent: bool,
    _send: Vec<i64>,
    receive: Vec<i64>,
    expected: Vec<i64>,
    original: Vec<i64>,
}

fn value(rank: usize, to: usize, seed: u64, index: usize) -> i64 {
    Random::new(seed ^ ((rank * 977 + to * 31) as u64) << 32 ^ index as u64).bits() as i64 >> 3
}

/// Parts of a buffer: how many items, and at which item they begin.
struct Layout {
    counts: Vec<i64>,
    places: Vec<i64>,
    bytes: Vec<i64>,
    types: Vec<u64>,
    total: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Equal,
    Varying,
    Typed,
}

impl Layout {
    /// In reverse order with gaps, unless equal.
    fn new(lengths: Vec<usize>, shape: Shape, stride: usize, datatype: u64) -> Layout {
        let mut places = vec![0i64; lengths.len()];
        let mut total = 0;
        if shape == Shape::Equal {
            for (place, length) in places.iter_mut().zip(&lengths) {
                *place = total as i64;
                total += length;
            }
        } else {
            for (place, length) in places.iter_mut().zip(&lengths).rev() {
                *place = total as i64;
                total += length + 1;
            }
        }
        let bytes = places.iter().map(|place| place * stride as i64 * 8).collect();
        let types = vec![datatype; lengths.len()];
        Layout { counts: lengths.iter().map(|it| *it as i64).collect(), places, bytes, types, total }
    }

    fn parts<'a>(&'a self, buffer: *mut i64, shape: Shape) -> Parts<'a> {
        let division = match shape {
            Shape::Equal => Division::Equal(self.counts.first().copied().unwrap_or(0)),
            Shape::Varying => Division::Varying(Numbers::Wide(&self.counts), Numbers::Wide(&self.places)),
            Shape::Typed => {
                Division::Typed(Numbers::Wide(&self.counts), Numbers::Wide(&self.bytes), &self.types)
            }
        };
        Parts { address: buffer.cast(), division, datatype: self.types.first().copied().unwrap_or(0) }
    }

    fn items(&self, peer: usize) -> Range<usize> {
        let place = self.places[peer] as usize;
        place..place + self.counts[peer] as usize
    }
}

pub fn run(world: Communicator, seed: Option<u64>) -> Result<()> {
    let (rank, size) = (world.rank()? as usize, world.size()? as usize);
    let mut seeds = [seed.unwrap_or(random::SEED)];
    world.broadcast(&mut seeds, 0)?;
    if rank == 0 {
        println!("sequences: seed {} (repeat: mpi-collectives sequences SEED)", seeds[0]);
    }
    let strided = with(|engine| {
        let strided = engine.type_resized(Form::Int, 0, 16, datatype::INT64)?;
        engine.type_commit(strided.0)?;
        Ok(strided.0)
    })?;
    let twin = communicators::duplicate(Handle(COMM_WORLD))?;
    let user = with(|engine| Ok(engine.op_create(Rc::new(Compose), false)))?;
    let world = World {
        rank,
        size,
        communicators: [Handle(COMM_WORLD), twin],
        types: [datatype::INT64, strided],
        user: user.0,
    };
    let mut random = Random::new(seeds[0]);
    let mut under_way: Vec<Operation> = Vec::new();
    let rounds = if job().is_emulated() { 150 } else { 1500 };
    for _ in 0..rounds {
        let operation = world.begin(&mut random)?;
        match operation.request {
            Some(_) => under_way.push(operation),
            None => operation.check(),
        }
        // Ranks complete what is under way at times and in orders of their own.
        let mut own = Random::new(random.bits() ^ rank as u64);
        while under_way.len() > 12 || (!under_way.is_empty() && own.once_in(4)) {
            let index = own.below(under_way.len() as u64) as usize;
            under_way.swap_remove(index).complete(&mut own)?;
        }
    }
    let mut own = Random::new(rank as u64);
    under_way.into_iter().try_for_each(|operation| operation.complete(&mut own))?;
    with(|engine| {
        engine.op_free(user.0)?;
        engine.type_free(strided)
    })?;
    communicators::free(twin)
}

impl Operation {
    fn check(&self) {
        if let Some(at) = (0..self.receive.len()).find(|at| self.receive[*at] != self.expected[*at]) {
            let (got, wanted) = (self.receive[at], self.expected[at]);
            panic!("{:?}: word {at} is {got:#x}, not {wanted:#x}", self.what);
        }
    }

    fn complete(mut self, own: &mut Random) -> Result<()> {
        let Some(request) = self.request else { return Ok(()) };
        let wait = |own: &mut Random| -> Result<()> {
            if own.once_in(2) {
                return with(|engine| engine.wait(request)).map(drop);
            }
            while with(|engine| engine.test(request))?.is_none() {}
            Ok(())
        };
        wait(own)?;
        self.check();
        if self.persistent {
            with(|engine| engine.free_request(request))?;
        }
        self.original.clear();
        Ok(())
    }
}

impl World {
    /// Draws an operation, which all ranks draw alike, and begins it or carries it out.
    fn begin(&self, random: &mut Random) -> Result<Operation> {
        let World { rank, size, .. } = *self;
        let communicator = random.one_of(&self.communicators);
        let (kind, count, seed) = (random.below(12), random.one_of(&LENGTHS), random.bits());
        let root = random.below(size as u64) as usize;
        let in_place = random.once_in(3);
        let stride = 1 + random.below(2) as usize;
        let datatype = self.types[stride - 1];
        let shape = random.one_of(&[Shape::Equal, Shape::Varying, Shape::Typed]);
        let user = random.once_in(3) || stride == 2;
        let (operation, combine): (u64, fn(i64, i64) -> i64) = match random.below(3) {
            _ if user => (self.user, compose),
            0 => (op::SUM, i64::wrapping_add),
            1 => (op::MAX, i64::max),
            _ => (op::BXOR, |a, b| a ^ b),
        };
        let form = random.below(3);
        let repeat = random.once_in(2);
        // A typed division is alltoallw's; the others have equal and varying ones.
        let shape = if shape == Shape::Typed && kind != 5 { Shape::Varying } else { shape };
        let lengths = |pair: &dyn Fn(usize) -> usize| -> Vec<usize> {
            let length =
                |peer: usize| if shape == Shape::Equal { count } else { count * (pair(peer) % 3) / 2 };
            (0..size).map(length).collect()
        };
        let fold = |ranks: Range<usize>, index: usize| {
            let mut values = ranks.rev().map(|rank| value(rank, 0, seed, index));
            let last = values.next().unwrap_or(GAP);
            values.fold(last, |sum, value| combine(value, sum))
        };
        let buffer = |items: usize| vec![GAP; items * stride];
        let fill = |buffer: &mut [i64], items: Range<usize>, content: &dyn Fn(usize) -> i64| {
            for (index, item) in items.enumerate() {
                buffer[item * stride] = content(index);
            }
        };
        let at_root = rank == root;
        let mine = |to: usize| move |index: usize| value(rank, to, seed, index);
        let (mut send, mut receive) = (buffer(0), buffer(0));
        let mut expected = buffer(0);
        let name;
        let rooted = root as i32;
        let in_place_address = core::ptr::without_provenance_mut::<u8>(IN_PLACE);
        let part = |buffer: &mut Vec<i64>, count: usize| BufferArgument {
            address: buffer.as_mut_ptr().cast(),
            count: count as i64,
            datatype,
        };
        let layout;
        let other;
        let blocks: Vec<i32>;
        let call = match kind {
            0 => {
                name = "barrier";
                Call::Barrier
            }
            1 => {
                name = "broadcast";
                (receive, expected) = (buffer(count), buffer(count));
                fill(&mut receive, 0..count, &mine(0));
                fill(&mut expected, 0..count, &|index| value(root, 0, seed, index));
                Call::Broadcast { buffer: part(&mut receive, count), root: rooted }
            }
            2 | 4 => {
                name = if kind == 2 { "gather" } else { "allgather" };
                layout = Layout::new(lengths(&|peer| peer), shape, stride, datatype);
                let own = layout.items(rank);
                send = buffer(own.len());
                fill(&mut send, 0..own.len(), &mine(0));
                if kind == 4 || at_root {
                    (receive, expected) = (buffer(layout.total), buffer(layout.total));
                    for peer in 0..size {
                        fill(&mut expected, layout.items(peer), &|index| value(peer, 0, seed, index));
                    }
                }
                let mut mine_sent = part(&mut send, own.len());
                if in_place && (kind == 4 || at_root) {
                    fill(&mut receive, own, &mine(0));
                    mine_sent.address = in_place_address;
                }
                let all = layout.parts(receive.as_mut_ptr(), shape);
                match kind {
                    2 => Call::Gather { send: mine_sent, receive: all, root: rooted },
                    _ => Call::Allgather { send: mine_sent, receive: all },
                }
            }
            3 => {
                name = "scatter";
                layout = Layout::new(lengths(&|peer| peer), shape, stride, datatype);
                let own = layout.items(rank).len();
                if at_root {
                    send = buffer(layout.total);
                    for peer in 0..size {
                        fill(&mut send, layout.items(peer), &mine(peer));
                    }
                }
                (receive, expected) = (buffer(own), buffer(own));
                let mut mine_received = part(&mut receive, own);
                if in_place && at_root {
                    mine_received.address = in_place_address;
                } else {
                    fill(&mut expected, 0..own, &|index| value(root, rank, seed, index));
                }
                let all = layout.parts(send.as_mut_ptr(), shape);
                Call::Scatter { send: all, receive: mine_received, root: rooted }
            }
            5 => {
                name = "alltoall";
                // Symmetric lengths, so that it can be in place.
                layout = Layout::new(lengths(&|peer| peer + rank), shape, stride, datatype);
                other = Layout::new(lengths(&|peer| peer + rank), shape, stride, datatype);
                (send, receive, expected) =
                    (buffer(layout.total), buffer(layout.total), buffer(layout.total));
                for peer in 0..size {
                    let sent = if in_place { &mut receive } else { &mut send };
                    fill(sent, layout.items(peer), &mine(peer));
                    fill(&mut expected, layout.items(peer), &|index| value(peer, rank, seed, index));
                }
                let mut from = layout.parts(send.as_mut_ptr(), shape);
                if in_place {
                    from.address = in_place_address;
                }
                Call::Alltoall { send: from, receive: other.parts(receive.as_mut_ptr(), shape) }
            }
            _ => {
                let total = match kind {
                    8 | 9 => count * size,
                    _ => count,
                };
                blocks = (0..size).map(|peer| (count * (2 * peer + 1) / size) as i32).collect();
                let uneven: usize = blocks.iter().map(|block| *block as usize).sum();
                let total = if kind == 8 { uneven } else { total };
                send = buffer(total);
                fill(&mut send, 0..total, &mine(0));
                let placed = in_place && (kind != 6 || at_root);
                receive = buffer(total);
                if placed {
                    fill(&mut receive, 0..total, &mine(0));
                }
                expected = receive.clone();
                let mut reducing = Reducing {
                    send: if placed { in_place_address } else { send.as_mut_ptr().cast() },
                    receive: receive.as_mut_ptr().cast(),
                    count: count as i64,
                    datatype,
                    operation,
                };
                let (sources, items) = match kind {
                    6 => (0..if at_root { size } else { 0 }, 0..count),
                    7 => (0..size, 0..count),
                    8 => {
                        let first: usize = blocks[..rank].iter().map(|block| *block as usize).sum();
                        (0..size, first..first + blocks[rank] as usize)
                    }
                    9 => (0..size, rank * count..(rank + 1) * count),
                    10 => (0..rank + 1, 0..count),
                    _ => (0..rank, 0..count),
                };
                if !sources.is_empty() {
                    fill(&mut expected, 0..items.len(), &|index| fold(sources.clone(), items.start + index));
                }
                match kind {
                    6 => {
                        name = "reduce";
                        Call::Reduce { reducing, root: rooted }
                    }
                    7 => {
                        name = "allreduce";
                        Call::Allreduce { reducing }
                    }
                    8 => {
                        name = "reduce_scatter";
                        reducing.count = -1;
                        Call::ReduceScatter { reducing, blocks: Numbers::Int(&blocks) }
                    }
                    9 => {
                        name = "reduce_scatter_block";
                        Call::ReduceScatterBlock { reducing }
                    }
                    10 => {
                        name = "scan";
                        Call::Scan { reducing }
                    }
                    _ => {
                        name = "exscan";
                        Call::Exscan { reducing }
                    }
                }
            }
        };
        let original = receive.clone();
        // SAFETY, of all below: the buffers are as long as the arguments say and are kept with the request until it is complete.
        let mut request = None;
        match form {
            // SAFETY: above.
            0 => with(|engine| unsafe { engine.collective(&call, communicator) })?,
            // SAFETY: above.
            1 => request = Some(with(|engine| unsafe { engine.begin_collective(&call, communicator) })?),
            _ => {
                // SAFETY: above.
                let it = with(|engine| unsafe { engine.collective_init(&call, communicator) })?;
                with(|engine| engine.start(it))?;
                if repeat {
                    with(|engine| engine.wait(it))?;
                    receive.copy_from_slice(&original);
                    with(|engine| engine.start(it))?;
                }
                request = Some(it);
            }
        }
        let what = (name, count, root, in_place);
        Ok(Operation { what, request, persistent: form == 2, _send: send, receive, expected, original })
    }
}
