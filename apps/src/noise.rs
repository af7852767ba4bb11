//! Interruptions of a loop that does nothing (selfish detour), and what the kernel has counted meanwhile.
//!
//! Every rank reads the clock in a loop and notes each gap longer than a threshold: something else had the core for that long (Beckman,
//! Iskra, Yoshii, Coghlan 2006). The threshold is nine times the shortest gap seen in a first pass, unless it is given. A gap's
//! detour is its length less the shortest.

use alloc::vec::Vec;
use core::time::Duration;
use lwk_user::abi::syscall::CoreCounters;
use lwk_user::barrier::node_barrier;
use lwk_user::clock::{self, Instant, ticks};
use lwk_user::smartmap::{Peer, Symmetric, peers};
use lwk_user::{job, print, println, syscall};

/// Gaps that the first pass looks at to find the shortest.
const CALIBRATION_GAPS: usize = 100_000;
/// The threshold in shortest gaps: the factor of the program this one follows.
const THRESHOLD_FACTOR: u64 = 9;
/// Classes of the histogram: class `k` holds detours of `2^k` to `2^(k+1)` ns; the last one everything above (17 s).
const CLASSES: usize = 34;

/// What one rank has seen. Written by its owner before a barrier, read by rank 0 after it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Record {
    gaps: u64,
    detours: u64,
    longest: u64,
    stolen: u64,
    elapsed: u64,
    shortest: u64,
    threshold: u64,
    histogram: [u64; CLASSES],
    /// 1 if the home counts; then the difference over the loop.
    counted: u64,
    interrupts: u64,
    faults: u64,
    syscalls: u64,
    smis: u64,
}

const NOTHING: Record = Record {
    gaps: 0,
    detours: 0,
    longest: 0,
    stolen: 0,
    elapsed: 0,
    shortest: 0,
    threshold: 0,
    histogram: [0; CLASSES],
    counted: 0,
    interrupts: 0,
    faults: 0,
    syscalls: 0,
    smis: 0,
};

static RECORD: Symmetric<Record> = Symmetric::new(NOTHING);

/// What one rank has seen.
pub struct Row {
    rank: u32,
    core: u16,
    seconds: f64,
    gaps: u64,
    shortest_ns: f64,
    threshold_ns: f64,
    detours: u64,
    longest_ns: f64,
    stolen_percent: f64,
    counters: Option<Counters>,
    /// Lower bound of each class in ns, and how many detours it holds; empty classes are left out.
    histogram: Vec<(u64, u64)>,
}
crate::json_object!(Row {
    rank,
    core,
    seconds,
    gaps,
    shortest_ns,
    threshold_ns,
    detours,
    longest_ns,
    stolen_percent,
    counters,
    histogram
});

/// During the loop. System calls include the second reading of the counters itself.
struct Counters {
    interrupts: u64,
    faults: u64,
    syscalls: u64,
    /// Of the firmware; nothing where the processor does not count them.
    smis: Option<u64>,
}
crate::json_object!(Counters { interrupts, faults, syscalls, smis });

/// Measures on every rank for `time`, each gap longer than `threshold_ns`, if it is given. All ranks call it; each gets the rows of all.
pub fn measure_all(time: Duration, threshold_ns: Option<u64>) -> Vec<Row> {
    node_barrier();
    let record = measure(time, threshold_ns);
    // SAFETY: this rank's own; others read it only after the barrier.
    unsafe { RECORD.as_ptr().write(record) };
    node_barrier();
    peers().map(row).collect()
}

/// The whole measurement of one rank.
fn measure(time: Duration, threshold_ns: Option<u64>) -> Record {
    let shortest = shortest_gap();
    let threshold = threshold_ns.map_or(shortest * THRESHOLD_FACTOR, clock::ns_to_ticks);
    let mut record = Record { shortest, threshold, ..NOTHING };
    let before = syscall::core_counters();
    watch(&mut record, time);
    if let (Ok(before), Ok(after)) = (before, syscall::core_counters()) {
        let CoreCounters { interrupts, faults, syscalls, smis } = before;
        record.counted = 1;
        record.interrupts = after.interrupts - interrupts;
        record.faults = after.faults - faults;
        record.syscalls = after.syscalls - syscalls;
        let counted = after.smis != CoreCounters::NOT_COUNTED;
        record.smis = if counted { after.smis - smis } else { CoreCounters::NOT_COUNTED };
    }
    record
}

/// The shortest gap between two readings of the clock, in ticks, at least 1.
fn shortest_gap() -> u64 {
    let mut last = ticks();
    let mut shortest = u64::MAX;
    for _ in 0..CALIBRATION_GAPS {
        let now = ticks();
        shortest = shortest.min(now.saturating_sub(last));
        last = now;
    }
    shortest.max(1)
}

/// Reads the clock until the time is over, and notes the gaps that are too long.
fn watch(record: &mut Record, time: Duration) {
    let start = Instant::now();
    let end = start.after(time).ticks();
    let mut last = ticks();
    while last < end {
        let now = ticks();
        // Readings on one core may come out of order by a few ticks: then there was no gap.
        let gap = now.saturating_sub(last);
        last = now;
        record.gaps += 1;
        if gap > record.threshold {
            note(record, gap.saturating_sub(record.shortest));
        }
    }
    record.elapsed = last.saturating_sub(start.ticks());
}

/// Out of the loop's line, so that the loop stays short.
#[cold]
#[inline(never)]
fn note(record: &mut Record, detour: u64) {
    record.detours += 1;
    record.stolen += detour;
    record.longest = record.longest.max(detour);
    let class = clock::ticks_to_ns(detour).max(1).ilog2() as usize;
    record.histogram[class.min(CLASSES - 1)] += 1;
}

/// A rank's row, after its measurement.
fn row(peer: Peer) -> Row {
    let ns = 1e9 / clock::ticks_per_second().max(1) as f64;
    // SAFETY: the barrier has ordered the rank's last write before this, and it does not write again.
    let record = unsafe { &*RECORD.at(peer).as_ptr() };
    let counters = Counters {
        interrupts: record.interrupts,
        faults: record.faults,
        syscalls: record.syscalls,
        smis: (record.smis != CoreCounters::NOT_COUNTED).then_some(record.smis),
    };
    let classes = record.histogram.iter().enumerate().filter(|(_, count)| **count > 0);
    Row {
        rank: peer.node_rank().0,
        core: job().place(peer.node_rank()).map_or(0, |place| place.core),
        seconds: record.elapsed as f64 * ns / 1e9,
        gaps: record.gaps,
        shortest_ns: record.shortest as f64 * ns,
        threshold_ns: record.threshold as f64 * ns,
        detours: record.detours,
        longest_ns: record.longest as f64 * ns,
        stolen_percent: 100.0 * record.stolen as f64 / record.elapsed.max(1) as f64,
        counters: (record.counted == 1).then_some(counters),
        histogram: classes.map(|(class, count)| (1 << class, *count)).collect(),
    }
}

/// Prints the rows as columns.
pub fn print(rows: &[Row]) {
    println!("# noise: gaps between readings of the clock, longer than a threshold");
    println!(
        "# {:>4} {:>6} {:>8} {:>12} {:>10} {:>12} {:>10} {:>14} {:>10}",
        "rank", "core", "seconds", "gaps", "min_ns", "threshold_ns", "detours", "longest_ns", "stolen_%"
    );
    for row in rows {
        println!(
            "{:>6} {:>6} {:>8.3} {:>12} {:>10.1} {:>12.1} {:>10} {:>14.1} {:>10.4}",
            row.rank,
            row.core,
            row.seconds,
            row.gaps,
            row.shortest_ns,
            row.threshold_ns,
            row.detours,
            row.longest_ns,
            row.stolen_percent
        );
    }
    println!("# detours by length");
    println!("# {:>4} {:>14} {:>10}", "rank", "from_ns", "detours");
    for row in rows {
        for (from, count) in &row.histogram {
            println!("{:>6} {from:>14} {count:>10}", row.rank);
        }
    }
    println!("# counted by the kernel on the rank's core during the loop");
    for Row { rank, core, counters, .. } in rows {
        match counters {
            Some(Counters { interrupts, faults, syscalls, smis }) => {
                print!(
                    "rank {rank} core {core} interrupts {interrupts} faults {faults} syscalls {syscalls} smis "
                );
                match smis {
                    Some(smis) => println!("{smis}"),
                    None => println!("-"),
                }
            }
            None => println!("rank {rank} core {core} interrupts - faults - syscalls - smis -"),
        }
    }
}
