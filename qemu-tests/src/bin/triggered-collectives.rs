//! Barriers and small reductions by triggered operations between the nodes: results, what they leave behind, and that they need no processor in between
//!
//! `results`, `communicators` and `messages` are MPI's, with `MARGAY_COLL_BETWEEN_NODES=triggered`. `alone` stands on what is beneath MPI: one rank on each of four nodes.
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

extern crate alloc;

#[path = "../mpi/alone.rs"]
mod alone;
#[path = "../mpi/small_reductions.rs"]
mod small_reductions;

use lwk_mpi::{Communicator, Mpi, Operation};
use lwk_mpi_rt::Result;
use lwk_mpi_rt::error::Error;
use lwk_user::portals::Interface;
use lwk_user::portals::abi::{InterfaceOptions, NodeCounts};
use lwk_user::{Env, job, println};

/// Collectives whose messages are counted, and communicators that are made and freed.
const TIMES: u64 = 100;
const COMMUNICATORS: u32 = 200;

lwk_user::entry!(main);

fn main(env: &Env) -> Result<i32> {
    let part = env.args().nth(1).unwrap_or("");
    if part == "alone" {
        return alone::run().map(|()| 0).map_err(|_| Error::OTHER);
    }
    let mpi = Mpi::init()?;
    let world = mpi.world();
    match part {
        "results" => small_reductions::run(world)?,
        "communicators" => communicators(world)?,
        "messages" => messages(world)?,
        _ => return Ok(2),
    }
    // All ranks of a node see the same counts.
    world.barrier()?;
    let triggered = counts()?.triggered;
    assert!(part != "results" || triggered > 0, "no operation has waited for a counting event");
    if job().rank().0 == 0 {
        println!("{part}: passed on {} ranks of {} nodes", job().size(), job().nodes());
    }
    Ok(0)
}

fn counts() -> Result<NodeCounts> {
    let it =
        Interface::open(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL).map_err(|_| Error::OTHER)?;
    it.node_counts().map_err(|_| Error::OTHER)
}

/// Communicators that are freed give back what their firsts have had of the kernel.
fn communicators(world: Communicator) -> Result<()> {
    let use_and_free = |times| -> Result<()> {
        for _ in 0..times {
            let it = world.duplicate()?;
            it.barrier()?;
            let mut sum = [0u64];
            it.allreduce(&[1u64], &mut sum, Operation::Sum)?;
            assert_eq!(sum[0], u64::from(job().size()));
            it.barrier()?;
            it.free()?;
        }
        // Messages that say no more than that others have arrived come a little later.
        world.barrier()
    };
    use_and_free(1)?;
    let before = counts()?.kept;
    use_and_free(COMMUNICATORS)?;
    let after = counts()?.kept;
    // Less than one object for each ten communicators: what is under way at the moment of the look.
    assert!(after < before + u64::from(COMMUNICATORS) / 10, "{before} objects have become {after}");
    Ok(())
}

/// With one rank on each node its kernel sends as many messages for each collective as it has edges in the tree, a reduction one more for each child: no rank
/// is asked to carry anything on.
fn messages(world: Communicator) -> Result<()> {
    let tree = lwk_triggered::Tree::new(job().node(), job().nodes());
    let (children, parents) = (tree.children().count() as u64, u64::from(tree.parent().is_some()));
    world.barrier()?;
    let before = counts()?;
    for _ in 0..TIMES {
        world.barrier()?;
    }
    let between = counts()?;
    assert_eq!(between.sent - before.sent, TIMES * (children + parents), "barriers");
    for _ in 0..TIMES {
        world.allreduce(&[1.5f64], &mut [0f64], Operation::Sum)?;
    }
    assert_eq!(counts()?.sent - between.sent, TIMES * (2 * children + parents), "reductions");
    Ok(())
}
