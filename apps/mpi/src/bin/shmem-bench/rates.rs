//! Message rate of pairs, and atomics.
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use crate::measure::{Bench, Table};
use crate::raw::{self, Flag};
use core::sync::atomic::{AtomicU64, Ordering};
use lwk_shmem::engine::{self, barrier_all, my_pe, n_pes};
use lwk_user::smartmap::{CacheLine, Symmetric};

/// Words of each PE that messages go to, one after the other.
const WORDS: usize = 64;
/// Repetitions of the unit that is timed, which is small.
const UNIT: u64 = 64;

static INBOX: Symmetric<[u64; WORDS]> = Symmetric::new([0; WORDS]);
static WORD: Flag = Symmetric::new(CacheLine(AtomicU64::new(0)));

/// Puts of 8 bytes by the first half of the PEs, each to its partner in the second half, with 1, 2, … pairs.
pub fn message_rate(bench: &Bench) -> Table {
    const COLUMNS: &[&str] = &["pairs", "Mmessages/s", "floor_Mm/s", "ratio"];
    let mut table = Table::new("put_mr", COLUMNS);
    let (me, half) = (my_pe(), n_pes() / 2);
    let inbox = INBOX.as_ptr().cast::<u64>();
    let verify = |table: &mut Table| {
        if me < half {
            for word in 0..WORDS {
                // SAFETY: a static's word, which only this PE writes in its partner.
                unsafe { engine::p(inbox.add(word), (me as u64 + 1) << 32 | word as u64, me + half) };
            }
        }
        barrier_all();
        let from = me - half;
        let expected = |word: usize| (from as u64 + 1) << 32 | word as u64;
        // SAFETY: a static's word, which nobody writes now.
        let differs = |word: &usize| unsafe { inbox.add(*word).read_volatile() } != expected(*word);
        let wrong = if (0..half).contains(&from) { (0..WORDS).filter(differs).count() } else { 0 };
        table.count_wrong(wrong as u64);
    };
    verify(&mut table);
    for pairs in (1..=half).filter(|pairs| (*pairs as u32).is_power_of_two() || *pairs == half) {
        let mine = |count| if me < pairs { count } else { 0 };
        let target = raw::at(inbox, if me < pairs { me + half } else { me });
        let compared = bench.compare(
            bench.repetitions(UNIT as usize),
            |count| {
                for value in 0..mine(count) {
                    for word in 0..WORDS {
                        // SAFETY: as in the verification.
                        unsafe { engine::p(inbox.add(word), value, me + half) };
                    }
                }
                // All pairs are timed to the end of the slowest.
                barrier_all();
            },
            |count| {
                for value in 0..mine(count) {
                    for word in 0..WORDS {
                        // SAFETY: as in the verification.
                        unsafe { target.add(word).write_volatile(value) };
                    }
                }
                barrier_all();
            },
        );
        let rate = |ns: f64| pairs as f64 * WORDS as f64 / ns * 1e3;
        table.row(pairs, &[rate(compared.library), rate(compared.floor), 1.0 / compared.ratio]);
    }
    table
}

/// Each atomic of PE 0 on PE 1's word; the floor is the same processor instruction on the same word.
pub fn atomics(bench: &Bench) -> Table {
    const COLUMNS: &[&str] = &["operation", "latency_us", "floor_us", "ratio"];
    let mut table = Table::new("atomics", COLUMNS);
    let word = WORD.as_ptr().cast::<u64>();
    verify(&mut table, word);
    // SAFETY: a static: PE 1 has it at the same address, as long as the job runs; an atomic.
    let bare: &CacheLine<AtomicU64> = unsafe { &*raw::at(WORD.as_ptr(), 1) };
    let mut row = |name: &str, library: &dyn Fn(u64), floor: &dyn Fn(u64)| {
        let repeat = |call: &dyn Fn(u64), count: u64| {
            if my_pe() == 0 {
                call(count);
            }
        };
        let count = bench.repetitions(UNIT as usize);
        let compared = bench.compare(count, |count| repeat(library, count), |count| repeat(floor, count));
        table.row(name, &[compared.library / 1e3, compared.floor / 1e3, compared.ratio]);
    };
    macro_rules! rows {
        ($($name:literal: $value:ident => $library:expr, $floor:expr;)*) => {
            $(
                row(
                    $name,
                    &|count| {
                        for $value in 0..count {
                            // SAFETY: a static of PE 1's, used by atomics only.
                            let _ = core::hint::black_box(unsafe { $library });
                        }
                    },
                    &|count| {
                        for $value in 0..count {
                            let _ = core::hint::black_box($floor);
                        }
                    },
                );
            )*
        };
    }
    // Orders as the library's, for comparison: no other data depends on them.
    use Ordering::{AcqRel, Acquire, Release};
    rows! {
        "set": i => engine::atomic_set(word, i, 1), bare.store(i, Release);
        "fetch": _i => engine::atomic_fetch(word, 1), bare.load(Acquire);
        "inc": _i => engine::atomic_inc(word, 1), { bare.fetch_add(1, AcqRel); };
        "add": i => engine::atomic_add(word, i, 1), { bare.fetch_add(i, AcqRel); };
        "fetch_add": i => engine::atomic_fetch_add(word, i, 1), bare.fetch_add(i, AcqRel);
        "swap": i => engine::atomic_swap(word, i, 1), bare.swap(i, AcqRel);
        "compare_swap": i => engine::atomic_compare_swap(word, i, i + 1, 1), bare.compare_exchange(i, i + 1, AcqRel, Acquire);
        "and": i => engine::atomic_and(word, i, 1), { bare.fetch_and(i, AcqRel); };
        "or": i => engine::atomic_or(word, i, 1), { bare.fetch_or(i, AcqRel); };
        "xor": i => engine::atomic_xor(word, i, 1), { bare.fetch_xor(i, AcqRel); };
        "fetch_xor": i => engine::atomic_fetch_xor(word, i, 1), bare.fetch_xor(i, AcqRel);
    }
    table
}

/// All PEs at once on PE 1's word: nothing may be lost. Collective.
fn verify(table: &mut Table, word: *mut u64) {
    const TIMES: u64 = 100;
    for _ in 0..TIMES {
        // SAFETY: a static, used by atomics only.
        unsafe {
            engine::atomic_inc(word, 1);
            engine::atomic_fetch_add(word, 2, 1);
        }
    }
    barrier_all();
    // SAFETY: as above.
    let wrong = unsafe { engine::atomic_fetch(word, 1) } != 3 * TIMES * n_pes() as u64;
    table.count_wrong(wrong.into());
    if my_pe() == 0 {
        // SAFETY: as above; all have looked.
        unsafe { engine::atomic_set(word, 0, 1) };
    }
    barrier_all();
}
