//! What `cargo lwk bench instructions` counts: short messages from a rank to itself, so that nobody waits for anybody.
//!
//! Sends and receives are functions of their own with names that a tool can find; everything they call is counted with them.

use super::Bench;
use core::hint::black_box;
use lwk_mpi_rt::Result;
use lwk_user::println;

/// Messages; the tool divides by what is printed.
const MESSAGES: u32 = 1000;

const TAG: i32 = 1;

/// One thousand 8-byte messages from here to here, one after another. Errors: those of sending and receiving, `MPI_ERR_INTERN` for a wrong value.
pub fn run(bench: &Bench) -> Result<()> {
    let me = bench.rank as i32;
    let mut received = 0u64;
    for number in 0..u64::from(MESSAGES) {
        lwk_counted_send(bench, &number, me)?;
        lwk_counted_receive(bench, &mut received, me)?;
        if received != number {
            return Err(lwk_mpi_rt::Error::INTERN);
        }
    }
    println!("counted {MESSAGES}");
    Ok(())
}

// SAFETY: the name is this program's own, here and below.
#[unsafe(no_mangle)]
#[inline(never)]
fn lwk_counted_send(bench: &Bench, value: &u64, target: i32) -> Result<()> {
    bench.world.send(black_box(core::slice::from_ref(value)), black_box(target), black_box(TAG))
}

#[unsafe(no_mangle)]
#[inline(never)]
fn lwk_counted_receive(bench: &Bench, value: &mut u64, source: i32) -> Result<()> {
    let buffer = black_box(core::slice::from_mut(value));
    bench.world.receive(buffer, black_box(source), black_box(TAG)).map(drop)
}
