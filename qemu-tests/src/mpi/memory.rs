//! Memory of the transport: what the runtime says it uses is what its start takes from the heap, and `smartmap` stays small.

use crate::calls::engine;
use lwk_mpi::Communicator;
use lwk_mpi_rt::Result;
use lwk_user::Errno;
use lwk_user::abi::syscall::REPORT_BYTES;
use lwk_user::syscall::{self, brk};

/// What smartmap may use: for the rank, and for each peer, with the messages that are held for it.
const FIXED: usize = 64 << 10;
const PER_PEER: usize = 8 << 10;
/// What else the start takes from the heap beside the transport (communicators, queues), and what the heap takes ahead.
const BESIDE: usize = 1 << 20;

/// What the heap may have had free before.
const AHEAD: usize = 256 << 10;

/// End of the heap.
pub fn heap_top() -> usize {
    // SAFETY: 0 only asks.
    unsafe { brk(0) as usize }
}

/// `before`: [`heap_top`] before the runtime started.
pub fn run(world: Communicator, before: usize) -> Result<()> {
    let grown = heap_top() - before;
    let peers = world.size()? as usize - 1;
    let (name, memory) = engine(|engine| Ok(engine.transport_memory()))?;
    let told = memory.fixed + memory.per_peer * peers + memory.dynamic;
    assert!(grown <= told + BESIDE, "{name}: told {told}, the heap grew by {grown}");
    match name {
        "smartmap" => {
            assert!(memory.fixed + memory.dynamic <= FIXED, "{memory:?}");
            assert!(memory.per_peer + lwk_mpi_rt::waiting::HELD_BYTES <= PER_PEER, "{memory:?}");
        }
        // Its buffers are most of it; what is told beyond them is bookkeeping on this rank's side.
        _ => assert!(told <= grown + AHEAD, "{name}: told {told}, the heap grew by {grown}"),
    }
    // What the runtime could say wrong of itself is refused.
    let refused = |text: &[u8]| assert_eq!(syscall::report(text).err(), Some(Errno::EINVAL));
    refused(&[b'x'; REPORT_BYTES + 1]);
    refused(b"two\nlines");
    refused(b"\xff");
    Ok(())
}
