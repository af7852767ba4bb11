//! Gather, scatter, allgather and alltoall, with equal and varying parts, in place and not, against their definitions.

use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::Communicator;
use lwk_mpi_rt::abi::{COMM_WORLD, IN_PLACE, datatype, op};
use lwk_mpi_rt::collective::{BufferArgument, Call, Division, Numbers, Parts, Reducing};
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error::Error;
use lwk_mpi_rt::{Handle, Result};

const WORLD: Handle = Handle(COMM_WORLD);

/// The element that `from` has for `to`, at an index.
fn element(from: usize, to: usize, index: usize) -> u32 {
    (from * 1_000_003 + to * 1009 + index) as u32
}

fn in_place() -> *mut u8 {
    core::ptr::without_provenance_mut(IN_PLACE)
}

fn part(buffer: &mut [u32]) -> BufferArgument {
    BufferArgument {
        address: buffer.as_mut_ptr().cast(),
        count: buffer.len() as i64,
        datatype: datatype::UINT32,
    }
}

fn parts<'a>(buffer: &mut [u32], division: Division<'a>) -> Parts<'a> {
    Parts { address: buffer.as_mut_ptr().cast(), division, datatype: datatype::UINT32 }
}

pub fn run(world: Communicator) -> Result<()> {
    let (rank, size) = (world.rank()? as usize, world.size()? as usize);
    // Words, lines, several lines up to the last that fit, and buffers.
    for each in [0, 1, 5, 100, 134, 268, 269, 3000] {
        // Parts of different lengths, in reverse order, with a gap of one element between them.
        let counts: Vec<i64> = (0..size).map(|peer| (each * (peer % 3)) as i64).collect();
        let mut displacements = vec![0i64; size];
        let mut total = 0;
        for peer in (0..size).rev() {
            displacements[peer] = total as i64;
            total += counts[peer] as usize + 1;
        }
        let equal_counts = vec![each as i64; size];
        let equal_places: Vec<i64> = (0..size).map(|peer| (peer * each) as i64).collect();
        let forms = [
            (Division::Equal(each as i64), &equal_counts, &equal_places, size * each),
            (
                Division::Varying(Numbers::Wide(&counts), Numbers::Wide(&displacements)),
                &counts,
                &displacements,
                total,
            ),
        ];
        for (division, counts, places, total) in forms {
            let length = |peer: usize| counts[peer] as usize;
            let expected = |to: usize| {
                let mut all = vec![u32::MAX; total];
                for peer in 0..size {
                    for index in 0..length(peer) {
                        all[places[peer] as usize + index] = element(peer, to, index);
                    }
                }
                all
            };
            for root in 0..size {
                gather_and_scatter(rank, root, total, length(rank), division, &expected)?;
            }
            // SAFETY, of all below: the buffers live until the calls return and are as long as the divisions say.
            let mut send: Vec<u32> = (0..length(rank)).map(|index| element(rank, 0, index)).collect();
            let mut receive = vec![u32::MAX; total];
            let (mine, all) = (part(&mut send), parts(&mut receive, division));
            // SAFETY: above.
            with(|engine| unsafe {
                engine.collective(&Call::Allgather { send: mine, receive: all }, WORLD)
            })?;
            assert!(receive == expected(0), "allgather of {each}");
            let mut receive = vec![u32::MAX; total];
            receive[places[rank] as usize..][..length(rank)].copy_from_slice(&send);
            let all = parts(&mut receive, division);
            // SAFETY: above.
            with(|engine| unsafe {
                engine.collective(
                    &Call::Allgather { send: BufferArgument { address: in_place(), ..mine }, receive: all },
                    WORLD,
                )
            })?;
            assert!(receive == expected(0), "allgather of {each} in place");
        }
        alltoall(rank, size, each)?;
    }
    let mut none = [0u32];
    let (one, all) = (part(&mut none), parts(&mut [], Division::Equal(-1)));
    let refused = |call: Call| {
        // SAFETY: the arguments are refused before the buffers are touched.
        let outcomes = with(|engine| unsafe {
            Ok((engine.collective(&call, WORLD).err(), engine.begin_collective(&call, WORLD).err()))
        });
        outcomes.map_or_else(Some, |(blocking, begun)| if blocking == begun { begun } else { None })
    };
    assert_eq!(refused(Call::Allgather { send: one, receive: all }), Some(Error::COUNT));
    assert_eq!(refused(Call::Gather { send: one, receive: all, root: -1 }), Some(Error::ROOT));
    assert_eq!(refused(Call::Gather { send: one, receive: all, root: size as i32 }), Some(Error::ROOT));
    let short = Numbers::Int(&[]);
    let all = parts(&mut [], Division::Varying(short, short));
    assert_eq!(refused(Call::Alltoall { send: all, receive: all }), Some(Error::ARG));
    let reducing = Reducing {
        send: none.as_ptr().cast(),
        receive: none.as_mut_ptr().cast(),
        count: 1,
        datatype: datatype::UINT32,
        operation: op::MINLOC,
    };
    assert_eq!(refused(Call::Scan { reducing }), Some(Error::OP));
    assert_eq!(refused(Call::Allreduce { reducing }), Some(Error::OP));
    let unknown = Reducing { datatype: 0x7777, operation: op::SUM, ..reducing };
    assert_eq!(refused(Call::Reduce { reducing: unknown, root: 0 }), Some(Error::TYPE));
    let unknown = Reducing { operation: 0x7777, ..reducing };
    assert_eq!(refused(Call::Exscan { reducing: unknown }), Some(Error::OP));
    // In place where the standard does not allow it.
    let gather = Call::Gather { send: BufferArgument { address: in_place(), ..one }, receive: all, root: 0 };
    assert!(rank == 0 || refused(gather) == Some(Error::BUFFER));
    Ok(())
}

fn gather_and_scatter(
    rank: usize,
    root: usize,
    total: usize,
    own: usize,
    division: Division,
    expected: &dyn Fn(usize) -> Vec<u32>,
) -> Result<()> {
    let content: Vec<u32> = (0..own).map(|index| element(rank, root, index)).collect();
    let (mut send, mut receive) = (content.clone(), vec![u32::MAX; if rank == root { total } else { 0 }]);
    let (mine, all) = (part(&mut send), parts(&mut receive, division));
    // SAFETY: the buffers live until the call returns; the root's is as long as the division says.
    with(|engine| unsafe {
        engine.collective(&Call::Gather { send: mine, receive: all, root: root as i32 }, WORLD)
    })?;
    assert!(rank != root || receive == expected(root), "gather to {root}");
    let mut back = vec![u32::MAX; own];
    let (mine, all) = (part(&mut back), parts(&mut receive, division));
    // SAFETY: as above.
    with(|engine| unsafe {
        engine.collective(&Call::Scatter { send: all, receive: mine, root: root as i32 }, WORLD)
    })?;
    assert!(back == content, "scatter from {root}");
    // In place: the root's part stays where it is.
    let own_part = if rank == root { BufferArgument { address: in_place(), ..mine } } else { mine };
    back.fill(u32::MAX);
    // SAFETY: as above.
    with(|engine| unsafe {
        engine.collective(&Call::Scatter { send: all, receive: own_part, root: root as i32 }, WORLD)
    })?;
    assert!(rank == root || back == content, "scatter from {root} in place");
    // SAFETY: as above.
    with(|engine| unsafe {
        engine.collective(&Call::Gather { send: own_part, receive: all, root: root as i32 }, WORLD)
    })?;
    assert!(rank != root || receive == expected(root), "gather to {root} in place");
    Ok(())
}

fn alltoall(rank: usize, size: usize, each: usize) -> Result<()> {
    let length = |from: usize, to: usize| each * ((from + to) % 3);
    // Varying lengths, packed one after another.
    let layout = |length: &dyn Fn(usize) -> usize| {
        let counts: Vec<i64> = (0..size).map(|peer| length(peer) as i64).collect();
        let places: Vec<i64> = (0..size).map(|peer| counts[..peer].iter().sum()).collect();
        (counts, places)
    };
    let (counts, places) = layout(&|peer| length(rank, peer));
    let fill = |from: &dyn Fn(usize) -> (usize, usize)| -> Vec<u32> {
        let pairs = (0..size).map(|peer| (from(peer), length(rank, peer)));
        pairs.flat_map(|((from, to), count)| (0..count).map(move |index| element(from, to, index))).collect()
    };
    let mut send = fill(&|peer| (rank, peer));
    let expected = fill(&|peer| (peer, rank));
    let mut receive = vec![u32::MAX; send.len()];
    // Lengths are symmetric, so both sides have the same division.
    let division = Division::Varying(Numbers::Wide(&counts), Numbers::Wide(&places));
    let (from, to) = (parts(&mut send, division), parts(&mut receive, division));
    // SAFETY: the buffers live until the call returns and are as long as the division says.
    with(|engine| unsafe { engine.collective(&Call::Alltoall { send: from, receive: to }, WORLD) })?;
    assert!(receive == expected, "alltoall of {each}");
    let to = parts(&mut send, division);
    // SAFETY: as above.
    with(|engine| unsafe {
        engine.collective(&Call::Alltoall { send: Parts { address: in_place(), ..from }, receive: to }, WORLD)
    })?;
    assert!(send == expected, "alltoall of {each} in place");
    Ok(())
}
