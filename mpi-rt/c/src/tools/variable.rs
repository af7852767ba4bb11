//! The variables: name, description, and how each is read. None is bound to an object.

use lwk_copy::threshold::EAGER_LIMIT;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::path::smartmap::CELLS;
use lwk_mpi_rt::waiting::{HELD_BYTES, HELD_OVERHEAD};
use lwk_user::syscall::core_counters;
use lwk_user::{clock, start};

/// `MPI_T_PVAR_CLASS_LEVEL`, `MPI_T_PVAR_CLASS_COUNTER` and `MPI_T_PVAR_CLASS_TIMER`.
pub const LEVEL: i32 = 2;
pub const COUNTER: i32 = 7;
pub const TIMER: i32 = 9;

/// A control variable that never changes: a number that the runtime was built with.
pub struct Constant {
    pub name: &'static str,
    pub description: &'static str,
    pub value: u64,
}

/// A control variable for the form of a collective operation.
pub struct Operation {
    pub name: &'static str,
    pub description: &'static str,
    /// The variable of the environment that sets it at the start.
    pub variable: &'static str,
}

/// A performance variable.
pub struct Performance {
    pub name: &'static str,
    pub description: &'static str,
    pub class: i32,
    /// `None` if the home or the state of the runtime does not have it.
    pub read: fn() -> Option<u64>,
}

/// What cannot be set, told as control variables.
pub static CONSTANTS: [Constant; 4] = [
    Constant {
        name: "smartmap_ring_cells",
        description: "cells of the ring that each sender has in a receiver's memory",
        value: CELLS as u64,
    },
    Constant {
        name: "smartmap_eager_limit",
        description: "longest message, in bytes, that travels through the ring",
        value: EAGER_LIMIT as u64,
    },
    Constant {
        name: "held_bytes",
        description: "bytes of a peer's messages that are held while no receive wants them",
        value: HELD_BYTES as u64,
    },
    Constant {
        name: "held_overhead",
        description: "bytes that each held message counts besides its content",
        value: HELD_OVERHEAD as u64,
    },
];

/// The collective operations whose form can be set.
pub static OPERATIONS: [Operation; 5] = [
    Operation {
        name: "barrier_form",
        description: "the form of blocking barriers; the same in all ranks",
        variable: "MARGAY_COLL_BARRIER",
    },
    Operation {
        name: "bcast_form",
        description: "the form of blocking broadcasts; the same in all ranks",
        variable: "MARGAY_COLL_BCAST",
    },
    Operation {
        name: "reduce_form",
        description: "the form of blocking reductions to a root; the same in all ranks",
        variable: "MARGAY_COLL_REDUCE",
    },
    Operation {
        name: "allreduce_form",
        description: "the form of blocking reductions to all; the same in all ranks",
        variable: "MARGAY_COLL_ALLREDUCE",
    },
    Operation {
        name: "alltoall_form",
        description: "the form of blocking exchanges of all with all; the same in all ranks",
        variable: "MARGAY_COLL_ALLTOALL",
    },
];

/// The performance variables; the place of each is its index.
pub static PERFORMANCE: [Performance; 8] = [
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
        name: "requests",
        description: "requests of this rank that are not freed",
        class: LEVEL,
        read: || with(|engine| Ok(engine.live_requests() as u64)).ok(),
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
    Performance {
        name: "core_time",
        description: "nanoseconds that have passed on this rank's core",
        class: TIMER,
        read: || {
            start::require_job();
            Some(clock::ticks_to_ns(clock::ticks()))
        },
    },
];

fn memory() -> Option<lwk_mpi_rt::path::Memory> {
    with(|engine| Ok(engine.transport_memory().1)).ok()
}
