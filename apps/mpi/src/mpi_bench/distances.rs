//! `mpi-bench distances`: messages from rank 0 to the first rank at each distance (shared cache, package, node), by size, after figure 6.2 of Chai's
//! dissertation, or each beside a computation, after section 7.2.2. `cargo lwk bench tune` runs it by each way of `hybrid` and finds where to switch.

use super::asynchronous::beside_computing;
use super::point_to_point::{Lines, Pair, WINDOW, filled, mismatches, windows};
use super::{Bench, microseconds};
use alloc::vec::Vec;
use lwk_mpi_rt::{Error, Result};
use lwk_place::{WorldRank, distance};
use lwk_user::abi::runtime::DISTANCES;
use lwk_user::println;

struct Row {
    distance: &'static str,
    bytes: usize,
    /// Time of a message of a window, or of an exchange and what both compute meanwhile.
    microseconds: f64,
}
lwk_apps::json_object!(Row { distance, bytes, microseconds });

/// Measures and prints; every rank calls it. Errors: those of messages; `MPI_ERR_INTERN` if one came damaged.
pub fn run(bench: &Bench, busy: bool, as_json: bool) -> Result<()> {
    let mut rows = Vec::new();
    for (number, name) in DISTANCES.iter().enumerate().skip(1) {
        let is_so_far = |rank: &u32| distance(WorldRank(0), WorldRank(*rank)) == number;
        let Some(other) = (1..bench.size).find(is_so_far) else { continue };
        let partner = if bench.rank == 0 { other } else { 0 };
        let idle = bench.rank != 0 && bench.rank != other;
        let pair = Pair { partner: partner as i32, first: bench.rank == 0, idle };
        for bytes in bench.sizes(64, 1 << 20) {
            let microseconds =
                if busy { beside(bench, &pair, bytes)? } else { message(bench, &pair, bytes)? };
            rows.push(Row { distance: name, bytes, microseconds });
        }
    }
    if bench.rank != 0 {
        return Ok(());
    }
    if as_json {
        lwk_apps::json::print(&rows);
        return Ok(());
    }
    match busy {
        true => println!(
            "# lwk MPI distances test; microseconds for a message each way and what both compute meanwhile"
        ),
        false => println!("# lwk MPI distances test; microseconds for a message of a window of {WINDOW}"),
    }
    println!("# {:<13} {:>9} {:>10}", "Distance", "Size", "Time");
    for Row { distance, bytes, microseconds } in rows {
        println!("{distance:<15} {bytes:>9} {microseconds:>10.3}");
    }
    Ok(())
}

/// Microseconds for a message each way and a computation of about as long: a microsecond, and one for each KiB.
fn beside(bench: &Bench, pair: &Pair, bytes: usize) -> Result<f64> {
    let (took, wrong) = beside_computing(bench, pair, bytes, 1_000 + bytes as u64)?;
    if wrong > 0 { Err(Error::INTERN) } else { Ok(took) }
}

/// Microseconds for a message of a window.
fn message(bench: &Bench, pair: &Pair, bytes: usize) -> Result<f64> {
    let (mut send, mut receive) = (Lines::new(bytes, 0), Lines::new(bytes, 3072));
    send.copy_from_slice(&filled(bench.rank, bytes));
    let rounds = (bench.iterations(bytes) / WINDOW).max(1);
    let ticks =
        bench.best(|| if pair.idle { Ok(()) } else { windows(bench, pair, &send, &mut receive, rounds) })?;
    if !pair.idle && !pair.first && mismatches(&receive, pair.partner as u32) > 0 {
        return Err(Error::INTERN);
    }
    Ok(microseconds(ticks) / f64::from(rounds * WINDOW))
}
