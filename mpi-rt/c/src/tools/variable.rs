//! The variables: name, description, and how each is read. All are numbers of the type `MPI_UNSIGNED_LONG`, bound to no object.

use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::receive::{HELD_BYTES, HELD_OVERHEAD};
use lwk_mpi_rt::transport::smartmap::{CELLS, EAGER_LIMIT};
use lwk_user::syscall::core_counters;

/// `MPI_T_PVAR_CLASS_LEVEL` and `MPI_T_PVAR_CLASS_COUNTER`.
pub const LEVEL: i32 = 2;
pub const COUNTER: i32 = 7;

/// A control variable: a number that the runtime was built with.
pub struct Control {
    pub name: &'static str,
    pub description: &'static str,
    pub value: u64,
}

/// A performance variable.
pub struct Performance {
    pub name: &'static str,
    pub description: &'static str,
    pub class: i32,
    /// `None` if the home or the state of the runtime does not have it.
    pub read: fn() -> Option<u64>,
}

pub static CONTROL: [Control; 4] = [
    Control {
        name: "smartmap_ring_cells",
        description: "cells of the ring that each sender has in a receiver's memory",
        value: CELLS as u64,
    },
    Control {
        name: "smartmap_eager_limit",
        description: "longest message, in bytes, that travels through the ring",
        value: EAGER_LIMIT as u64,
    },
    Control {
        name: "held_bytes",
        description: "bytes of a peer's messages that are held while no receive wants them",
        value: HELD_BYTES as u64,
    },
    Control {
        name: "held_overhead",
        description: "bytes that each held message counts besides its content",
        value: HELD_OVERHEAD as u64,
    },
];

pub static PERFORMANCE: [Performance; 6] = [
    Performance {
        name: "transport_memory_fixed",
        description: "bytes that the transport uses in this rank, however many peers there are",
        class: LEVEL,
        read: || memory().map(|memory| memory.fixed as u64),
    },
    Performance {
        name: "transport_memory_per_peer",
        description: "bytes that the transport uses in this rank for each peer",
        class: LEVEL,
        read: || memory().map(|memory| memory.per_peer as u64),
    },
    Performance {
        name: "transport_memory_dynamic",
        description: "bytes of descriptors of long messages under way",
        class: LEVEL,
        read: || memory().map(|memory| memory.dynamic as u64),
    },
    Performance {
        name: "core_system_calls",
        description: "system calls on this rank's core; on a node only",
        class: COUNTER,
        read: || core_counters().ok().map(|counters| counters.syscalls),
    },
    Performance {
        name: "core_interrupts",
        description: "interrupts on this rank's core; on a node only",
        class: COUNTER,
        read: || core_counters().ok().map(|counters| counters.interrupts),
    },
    Performance {
        name: "core_faults",
        description: "faults on this rank's core; on a node only",
        class: COUNTER,
        read: || core_counters().ok().map(|counters| counters.faults),
    },
];

fn memory() -> Option<lwk_mpi_rt::transport::Memory> {
    with(|engine| Ok(engine.transport_memory().1)).ok()
}
