//! Every collective: blocking, begun in a scope, and started again and again; in place; with counts; by operations of the program.

use crate::ring;
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::{Buffer, BufferMut, Communicator, Datatype, Error, Located, Operation, Result, UserOperation};

pub fn run(world: Communicator) -> Result<()> {
    moving(world)?;
    moving_in_place(world)?;
    with_counts(world)?;
    reducing(world)?;
    reducing_in_place(world)?;
    blocks(world)?;
    users(world)?;
    refused(world)
}

/// Calls a collective in its three forms with fresh buffers, and checks what each leaves: the persistent one twice.
macro_rules! forms {
    ($world:expr, $call:ident $begin:ident $init:ident, $send:expr, $receive:expr, ($($rest:expr),*), $check:expr) => {{
        let check = $check;
        let (mut send, mut receive) = ($send, $receive);
        $world.$call(&send[..], &mut receive[..] $(, $rest)*)?;
        check(&receive, stringify!($call));
        let mut receive = $receive;
        $world.scope(|s| s.$begin(&send[..], &mut receive[..] $(, $rest)*).map(drop))?;
        check(&receive, stringify!($begin));
        let mut receive = $receive;
        $world.scope(|s| {
            let mut request = s.$init(&mut send[..], &mut receive[..] $(, $rest)*)?;
            for _ in 0..2 {
                request.start()?;
                assert_eq!(request.buffers().err(), Some(Error::REQUEST), "active");
                request.wait()?;
                check(request.buffers()?.1, stringify!($init));
            }
            Ok(())
        })?;
    }};
}

/// The same for collectives of one buffer.
macro_rules! forms_in_place {
    ($world:expr, $call:ident $begin:ident $init:ident, $buffer:expr, ($($rest:expr),*), $check:expr) => {{
        let check = $check;
        let mut buffer = $buffer;
        $world.$call(&mut buffer[..] $(, $rest)*)?;
        check(&buffer, stringify!($call));
        let mut buffer = $buffer;
        $world.scope(|s| s.$begin(&mut buffer[..] $(, $rest)*).map(drop))?;
        check(&buffer, stringify!($begin));
        let mut buffer = $buffer;
        $world.scope(|s| {
            let mut request = s.$init(&mut buffer[..] $(, $rest)*)?;
            request.start()?;
            request.wait()?;
            check(request.buffer()?, stringify!($init));
            Ok(())
        })?;
    }};
}

pub(crate) use forms;

fn moving(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    let all: Vec<i32> = (0..size).flat_map(|it| [it, -it]).collect();
    let root = size - 1;
    world.barrier()?;
    world.scope(|s| {
        s.ibarrier()?.wait()?;
        let mut barrier = s.barrier_init()?;
        barrier.start()?;
        barrier.wait().map(drop)
    })?;
    let is_root = rank == root;
    forms!(world, gather igather gather_init, [rank, -rank], vec![9; if is_root { 2 * size as usize } else { 0 }], (root),
        |got: &[i32], form| assert!(if is_root { got == all } else { got.is_empty() }, "{form}"));
    forms!(world, scatter iscatter scatter_init, if is_root { all.clone() } else { vec![] }, [9i32; 2], (root),
        |got: &[i32], form| assert_eq!(got, [rank, -rank], "{form}"));
    forms!(world, allgather iallgather allgather_init, [rank, -rank], vec![9; 2 * size as usize], (),
        |got: &[i32], form| assert_eq!(got, all, "{form}"));
    let sends: Vec<i32> = (0..size).map(|to| rank * 100 + to).collect();
    let receives: Vec<i32> = (0..size).map(|from| from * 100 + rank).collect();
    forms!(world, alltoall ialltoall alltoall_init, sends.clone(), vec![9; size as usize], (),
        |got: &[i32], form| assert_eq!(got, receives, "{form}"));
    // Columns of one rank become rows of another.
    let one = Datatype::<i32>::element()?;
    let column = one.vector(2, 1, size as isize)?.resized(1)?;
    let matrix: Vec<i32> = (0..2 * size).map(|place| rank * 1000 + place).collect();
    let mut rows = vec![0i32; 2 * size as usize];
    world.alltoall(
        &column.of(&matrix, size as usize)?,
        &mut one.contiguous(2)?.of_mut(&mut rows, size as usize)?,
    )?;
    for (from, row) in (0..size).zip(rows.chunks(2)) {
        assert_eq!(row, [from * 1000 + rank, from * 1000 + size + rank]);
    }
    // To each rank something else, of its own kind.
    let (bytes, words): (Vec<u8>, Vec<u64>) = (vec![rank as u8; 3], vec![rank as u64; 2]);
    let sends: Vec<&dyn Buffer> =
        (0..size).map(|to| if to % 2 == 0 { &bytes as &dyn Buffer } else { &words }).collect();
    let (mut got_bytes, mut got_words) = (vec![[0u8; 3]; size as usize], vec![[0u64; 2]; size as usize]);
    let mut receives: Vec<&mut dyn BufferMut> = if rank % 2 == 0 {
        got_bytes.iter_mut().map(|it| it as &mut dyn BufferMut).collect()
    } else {
        got_words.iter_mut().map(|it| it as &mut dyn BufferMut).collect()
    };
    world.alltoall_each(&sends, &mut receives)?;
    for from in 0..size as usize {
        assert!(if rank % 2 == 0 {
            got_bytes[from] == [from as u8; 3]
        } else {
            got_words[from] == [from as u64; 2]
        });
    }
    assert_eq!(world.alltoall_each(&[], &mut []).err(), Some(Error::ARG));
    Ok(())
}

fn moving_in_place(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    let (count, root) = (size as usize, size / 2);
    let at = |place: usize| if place == rank as usize { rank + 10 } else { -1 };
    let whole: Vec<i32> = (0..size).map(|it| it + 10).collect();
    forms_in_place!(world, broadcast ibroadcast broadcast_init, if rank == root { [5u16; 300] } else { [0; 300] }, (root),
        |got: &[u16], form| assert_eq!(got, [5; 300], "{form}"));
    if rank == root {
        forms_in_place!(world, gather_in_place igather_in_place gather_in_place_init, (0..count).map(at).collect::<Vec<i32>>(), (root),
            |got: &[i32], form| assert_eq!(got, whole, "{form}"));
        forms_in_place!(world, scatter_in_place iscatter_in_place scatter_in_place_init, whole.clone(), (root),
            |got: &[i32], form| assert_eq!(got, whole, "{form}"));
    } else {
        let (mut own, mut none, mut part) = ([rank + 10], [0i32; 0], [0i32]);
        world.gather(&own, &mut none, root)?;
        world.scope(|s| s.igather(&own, &mut none, root).map(drop))?;
        world.scope(|s| {
            let mut request = s.gather_init(&mut own, &mut none, root)?;
            request.start()?;
            request.wait().map(drop)
        })?;
        world.scatter(&none, &mut part, root)?;
        assert_eq!(part, [rank + 10]);
        world.scope(|s| s.iscatter(&none, &mut part, root).map(drop))?;
        world.scope(|s| {
            let mut request = s.scatter_init(&mut none, &mut part, root)?;
            request.start()?;
            request.wait().map(drop)
        })?;
    }
    forms_in_place!(world, allgather_in_place iallgather_in_place allgather_in_place_init, (0..count).map(at).collect::<Vec<i32>>(), (),
        |got: &[i32], form| assert_eq!(got, whole, "{form}"));
    let received: Vec<i32> = (0..size).map(|from| from * 100 + rank).collect();
    forms_in_place!(world, alltoall_in_place ialltoall_in_place alltoall_in_place_init,
        (0..size).map(|to| rank * 100 + to).collect::<Vec<i32>>(), (),
        |got: &[i32], form| assert_eq!(got, received, "{form}"));
    Ok(())
}

/// Rank r has r + 1 elements; parts lie in reverse order with gaps of one.
fn with_counts(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    let counts: Vec<usize> = (1..=size as usize).collect();
    let places: Vec<usize> =
        (0..size as usize).map(|it| counts[it + 1..].iter().map(|count| count + 1).sum()).collect();
    let room = counts.iter().sum::<usize>() + size as usize;
    let mut spread = vec![-1i32; room];
    for owner in 0..size as usize {
        spread[places[owner]..][..counts[owner]].fill(owner as i32);
    }
    let own = vec![rank; counts[rank as usize]];
    let is_root = rank == 0;
    let (these, there): (&[usize], &[usize]) = if is_root { (&counts, &places) } else { (&[], &[]) };
    forms!(world, gather_varying igather_varying gather_varying_init, own.clone(), vec![-1; if is_root { room } else { 0 }], (these, there, 0),
        |got: &[i32], form| assert!(if is_root { got == spread } else { got.is_empty() }, "{form}"));
    forms!(world, scatter_varying iscatter_varying scatter_varying_init, if is_root { spread.clone() } else { vec![] },
        vec![-1; counts[rank as usize]], (these, there, 0), |got: &[i32], form| assert_eq!(got, own, "{form}"));
    forms!(world, allgather_varying iallgather_varying allgather_varying_init, own.clone(), vec![-1; room], (&counts, &places),
        |got: &[i32], form| assert_eq!(got, spread, "{form}"));
    // To rank r go r + 1 elements; of each rank come as many as this one gets.
    let each = counts[rank as usize];
    let (same, steps): (Vec<usize>, Vec<usize>) = (0..size as usize).map(|from| (each, from * each)).unzip();
    let expected: Vec<i32> = (0..size).flat_map(|from| vec![from * 10 + rank; each]).collect();
    let sends: Vec<i32> = spread.iter().map(|to| rank * 10 + to).collect();
    forms!(world, alltoall_varying ialltoall_varying alltoall_varying_init, sends.clone(), vec![0; each * size as usize],
        ((&counts, &places), (&same, &steps)), |got: &[i32], form| assert_eq!(got, expected, "{form}"));
    // Bytes of the last rank alone: where an empty vector lies must not be taken for something else.
    let last = size as usize - 1;
    let mut only = vec![0; size as usize];
    only[last] = 3;
    let from = vec![0; size as usize];
    let bytes = if rank as usize == last { vec![7u8, 8, 9] } else { vec![] };
    forms!(world, allgather_varying iallgather_varying allgather_varying_init, bytes.clone(), vec![0u8; 3], (&only, &from),
        |got: &[u8], form| assert_eq!(got, [7, 8, 9], "{form}"));
    let at_root = if is_root { vec![0u8; 3] } else { vec![] };
    let (these, there): (&[usize], &[usize]) = if is_root { (&only, &from) } else { (&[], &[]) };
    forms!(world, gather_varying igather_varying gather_varying_init, bytes.clone(), at_root.clone(), (these, there, 0),
        |got: &[u8], form| assert_eq!(got, if is_root { &[7u8, 8, 9][..] } else { &[] }, "{form}"));
    let mut room = [0i32; 2];
    assert_eq!(world.allgather_varying(&own, &mut room, &[0], &[]).err(), Some(Error::ARG));
    let (ones, far) = (vec![1usize; size as usize], vec![usize::MAX; size as usize]);
    assert_eq!(world.allgather_varying(&own, &mut room, &ones, &far).err(), Some(Error::COUNT));
    assert_eq!(
        world.gather_varying(&own, &mut room, &ones, &vec![2; size as usize], 0).err(),
        Some(Error::COUNT)
    );
    world.barrier()
}

fn reducing(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    let (root, sum) = (size - 1, (0..size as i64).sum::<i64>());
    let send = [rank as i64, 1];
    forms!(world, reduce ireduce reduce_init, send, vec![-1; if rank == root { 2 } else { 0 }], (Operation::Sum, root),
        |got: &[i64], form| assert!(if rank == root { got == [sum, size as i64] } else { got.is_empty() }, "{form}"));
    forms!(world, allreduce iallreduce allreduce_init, send, [-1; 2], (Operation::Max),
        |got: &[i64], form| assert_eq!(got, [size as i64 - 1, 1], "{form}"));
    forms!(world, scan iscan scan_init, send, [-1; 2], (Operation::Sum),
        |got: &[i64], form| assert_eq!(got, [(0..=rank as i64).sum::<i64>(), rank as i64 + 1], "{form}"));
    forms!(world, exscan iexscan exscan_init, send, [-1; 2], (Operation::Sum),
        |got: &[i64], form| assert_eq!(got, if rank == 0 { [-1; 2] } else { [(0..rank as i64).sum(), rank as i64] }, "{form}"));
    // Every operation, on bits and on places.
    for (operation, expected) in [
        (Operation::Product, 0),
        (Operation::Min, 0),
        (Operation::BitAnd, 0),
        (Operation::And, 0),
        (Operation::BitOr, (0..size as u64).fold(0, |a, b| a | b)),
        (Operation::BitXor, (0..size as u64).fold(0, |a, b| a ^ b)),
        (Operation::Or, (size > 1) as u64),
        (Operation::Xor, (size as u64 - 1) % 2),
    ] {
        let mut got = [9u64];
        world.allreduce(&[rank as u64], &mut got, operation)?;
        assert_eq!(got, [expected], "{operation:?}");
    }
    let mut got = [Located { value: 0f64, index: 0 }];
    world.allreduce(&[Located { value: (rank % 2) as f64, index: rank }], &mut got, Operation::MaxLoc)?;
    assert_eq!((got[0].value, got[0].index), if size > 1 { (1.0, 1) } else { (0.0, 0) });
    world.allreduce(&[Located { value: 1f64, index: rank }], &mut got, Operation::MinLoc)?;
    assert_eq!((got[0].value, got[0].index), (1.0, 0));
    Ok(())
}

fn reducing_in_place(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    let sum = (0..size).sum::<i32>();
    forms_in_place!(world, reduce_in_place ireduce_in_place reduce_in_place_init, [rank; 3], (Operation::Sum, 0),
        |got: &[i32], form| assert_eq!(got, if rank == 0 { [sum; 3] } else { [rank; 3] }, "{form}"));
    forms_in_place!(world, allreduce_in_place iallreduce_in_place allreduce_in_place_init, [rank; 3], (Operation::Sum),
        |got: &[i32], form| assert_eq!(got, [sum; 3], "{form}"));
    forms_in_place!(world, scan_in_place iscan_in_place scan_in_place_init, [rank; 3], (Operation::Sum),
        |got: &[i32], form| assert_eq!(got, [(0..=rank).sum::<i32>(); 3], "{form}"));
    forms_in_place!(world, exscan_in_place iexscan_in_place exscan_in_place_init, [rank; 3], (Operation::Sum),
        |got: &[i32], form| assert!(rank == 0 || got == [(0..rank).sum::<i32>(); 3], "{form}"));
    Ok(())
}

/// Reductions of which each rank gets a block.
fn blocks(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    let counts: Vec<usize> = (1..=size as usize).collect();
    let all: usize = counts.iter().sum();
    let send: Vec<i32> = (0..all as i32).collect();
    let before: usize = counts[..rank as usize].iter().sum();
    let expected: Vec<i32> = (0..counts[rank as usize]).map(|it| (before + it) as i32 * size).collect();
    forms!(world, reduce_scatter ireduce_scatter reduce_scatter_init, send.clone(), vec![0; counts[rank as usize]], (Operation::Sum, &counts),
        |got: &[i32], form| assert_eq!(got, expected, "{form}"));
    let send: Vec<i32> = (0..2 * size).collect();
    forms!(world, reduce_scatter_block ireduce_scatter_block reduce_scatter_block_init, send.clone(), [0; 2], (Operation::Sum),
        |got: &[i32], form| assert_eq!(got, [2 * rank * size, (2 * rank + 1) * size], "{form}"));
    let mut one = [0i32];
    assert_eq!(world.reduce_scatter(&send, &mut one, Operation::Sum, &[]).err(), Some(Error::ARG));
    assert_eq!(
        world.reduce_scatter(&[0; 9], &mut one, Operation::Sum, &vec![1; size as usize]).err(),
        Some(Error::COUNT)
    );
    assert_eq!(world.reduce_scatter_block(&[0; 9], &mut one, Operation::Sum).err(), Some(Error::COUNT));
    Ok(())
}

/// Operations of the program: in rank order unless they commute; one that is dropped while a collective uses it.
fn users(world: Communicator) -> Result<()> {
    let (rank, size, ..) = ring(world)?;
    // Maps x → a·x + b, composed: associative, not commutative. Two halves of a word each.
    let compose = |first: u64, then: u64| {
        let ((a, b), (c, d)) = ((first >> 32, first & 0xffff_ffff), (then >> 32, then & 0xffff_ffff));
        ((a * c % 65_521) << 32) | ((b * c + d) % 65_521)
    };
    let of = |rank: i32| ((rank as u64 + 2) << 32) | (rank as u64 * 3 + 1);
    let composed = UserOperation::new(compose)?;
    let expected = (1..size).fold(of(0), |all, rank| compose(all, of(rank)));
    let mut got = [0u64; 5];
    world.allreduce(&[of(rank); 5], &mut got, &composed)?;
    assert_eq!(got, [expected; 5]);
    let sum = UserOperation::commutative(|a: f64, b: f64| a + b)?;
    let mut total = [0f64];
    world.scope(|s| {
        let request = s.iallreduce(&[1.5], &mut total, &sum)?;
        drop(sum);
        request.wait().map(drop)
    })?;
    assert_eq!(total, [1.5 * size as f64]);
    Ok(())
}

fn refused(world: Communicator) -> Result<()> {
    let (_, size, ..) = ring(world)?;
    let mut one = [0f64];
    assert_eq!(world.broadcast(&mut one, size).err(), Some(Error::ROOT));
    assert_eq!(world.allreduce(&[1.0, 2.0], &mut one, Operation::Sum).err(), Some(Error::COUNT));
    assert_eq!(world.allreduce(&[1.0], &mut one, Operation::BitOr).err(), Some(Error::OP));
    assert_eq!(world.allreduce(&[1.0], &mut one, Operation::Replace).err(), Some(Error::OP));
    assert_eq!(
        world.scope(|s| s.iallreduce(&[1.0], &mut one, Operation::NoOp).map(drop)).err(),
        Some(Error::OP)
    );
    if size > 1 {
        assert_eq!(world.allgather(&[1u8], &mut [0u8; 1]).err(), Some(Error::COUNT));
        assert_eq!(world.alltoall(&[1u8], &mut [0u8; 1]).err(), Some(Error::COUNT));
        // Only the root has its part in place already.
        let outcome = if world.rank()? == 0 {
            Err(Error::BUFFER)
        } else {
            world.gather_in_place(&mut vec![0u8; size as usize], 0)
        };
        assert!(outcome.is_err());
    }
    let mut empty: [f64; 0] = [];
    assert_eq!(
        world.reduce(&[1.0], &mut empty, Operation::Sum, world.rank()? as i32).err(),
        Some(Error::COUNT)
    );
    world.barrier()
}
