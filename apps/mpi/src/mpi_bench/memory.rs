//! What the transport costs in memory.

use super::point_to_point::table;
use super::{Bench, Row, Table};
use alloc::vec;
use lwk_mpi::Operation;
use lwk_mpi_rt::Result;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::path::Memory;

/// Memory of the transport in all ranks together, as it has really started (dissertation, figure 3.5).
pub fn memory(bench: &Bench) -> Result<Table> {
    let (_, Memory { fixed, per_peer, dynamic }) = with(|engine| Ok(engine.transport_memory()))?;
    let own = (fixed + per_peer * (bench.size as usize - 1) + dynamic) as u64;
    let mut all = [0u64];
    bench.world.allreduce(&[own], &mut all, Operation::Sum)?;
    let rows = vec![Row::alone(bench.size as usize, all[0] as f64 / 1024.0)];
    table(bench, "memory", "Memory (KiB)", "none; first column: ranks", rows, 0)
}
