//! Barrier, and its floor: the exchange of one line between two PEs.
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use crate::measure::{Bench, Table};
use crate::raw::{self, Flag};
use core::cell::Cell;
use core::sync::atomic::AtomicU64;
use lwk_shmem::engine::{self, barrier_all, my_pe, n_pes};
use lwk_user::smartmap::{CacheLine, Symmetric};

const COLUMNS: &[&str] = &["pes", "latency_us", "one_line_us", "ratio"];

static EXCHANGE: Flag = Symmetric::new(CacheLine(AtomicU64::new(0)));
static ARRIVED: Flag = Symmetric::new(CacheLine(AtomicU64::new(0)));

/// `barrier_all` of all PEs. The floor: pairs of PEs store to each other's line and wait for their own.
pub fn barrier(bench: &Bench) -> Table {
    let mut table = Table::new("barrier", COLUMNS);
    verify(&mut table);
    let partner = my_pe() ^ 1;
    let turn = Cell::new(0);
    let compared = bench.compare(
        bench.repetitions(64),
        |count| {
            for _ in 0..count {
                barrier_all();
            }
        },
        |count| {
            if partner >= n_pes() {
                return;
            }
            // SAFETY: a static: the partner has it at the same address, as long as the job runs; an atomic.
            let theirs: &CacheLine<AtomicU64> = unsafe { &*raw::at(EXCHANGE.as_ptr(), partner) };
            for value in (turn.get() + 1..).take(count as usize) {
                raw::raise(theirs, value);
                // A partner may be one exchange ahead.
                lwk_user::wait::spin_until(|| {
                    // Acquire: pairs with the release store in `raise`.
                    EXCHANGE.here().load(core::sync::atomic::Ordering::Acquire) >= value
                });
                turn.set(value);
            }
        },
    );
    table.row(n_pes(), &[compared.library / 1e3, compared.floor / 1e3, compared.ratio]);
    table
}

/// After each barrier every PE must see that all have come.
fn verify(table: &mut Table) {
    let counter = ARRIVED.as_ptr().cast::<u64>();
    let mut wrong = 0;
    for round in 1..=20 {
        // SAFETY: a static, used by atomics only.
        unsafe { engine::atomic_inc(counter, 0) };
        barrier_all();
        // SAFETY: as above.
        wrong += u64::from(unsafe { engine::atomic_fetch(counter, 0) } != round * n_pes() as u64);
        barrier_all();
    }
    // SAFETY: as above; the others are past their last look.
    unsafe { engine::atomic_set(counter, 0, my_pe()) };
    table.count_wrong(wrong);
}
