//! The exit report: what the job used and what disturbed it, as records of `lwk_abi::console::REPORT`.

use core::fmt;

use lwk_abi::console::REPORT;
use lwk_abi::syscall::CoreCounters;
use lwk_engine::Counts;
use lwk_topology::MemoryNodes;

use crate::arch::clock;
use crate::console;
use crate::core_local::{self, Core};
use crate::job::Job;
use crate::{engine, memory, network, syscall};

/// Prints the report, one record a line. All ranks have ended, so the counters stand still. The ticks are those from the kernel's first
/// instruction to the last core's first program, the bytes those of the kernel's file in the boot image.
pub fn print(job: &Job, ticks_to_first_entry: u64, kernel_bytes: u64) {
    let memory = memory::in_use();
    say(format_args!(
        "node kernel_entry_to_user_us={} clear_us={} kernel_image_bytes={} kernel_memory_bytes={} memory_bytes={} cores={} tsc_hz={}",
        clock::nanoseconds(ticks_to_first_entry) / 1000,
        job.nanoseconds_to_clear() / 1000,
        kernel_bytes,
        memory.kernel,
        memory.total,
        core_local::count(),
        clock::ticks_a_second(),
    ));
    for rank in job.all_ranks() {
        say(format_args!(
            "rank rank={} core={} memory_node={} segment_node={} page_table_bytes={} segment_bytes={} status={}",
            rank.number(),
            rank.core(),
            rank.memory_node(),
            rank.segment_node(),
            rank.space().table_bytes(),
            rank.layout().segment_bytes,
            Status(rank.status()),
        ));
    }
    for core in (0..core_local::CORES_MAX).filter_map(core_local::core) {
        let counts = core.counters.summary();
        say(format_args!(
            "core core={} syscalls={} faults={} interrupts={}{} vectors={}",
            core.index(),
            counts.syscalls,
            counts.faults,
            counts.interrupts,
            Smis(counts.smis),
            Vectors(core),
        ));
    }
    network::report(say);
    if let Some(counts) = Some(engine::counts()).filter(Counts::is_used) {
        say(format_args!("{counts} device={}", engine::Name));
    }
    syscall::unsupported::for_each(|number, count| {
        say(format_args!("unsupported number={number} count={count}"))
    });
}

/// Says what each core shares with others, equal values for what is one, and how much memory each node has: what the machine is drawn from.
pub fn machine(nodes: &MemoryNodes<'_>) {
    for core in (0..core_local::CORES_MAX).filter_map(core_local::core) {
        let (own, id) = (core.topology(), core.block().controller_id());
        let shifts = own.shifts;
        say(format_args!(
            "place core={} package={} l3={} l2={} unit={} node={}",
            core.index(),
            own.whole(id, shifts.package),
            own.whole(id, shifts.l3),
            own.part(id, shifts.l2),
            own.part(id, shifts.core),
            nodes.of_core(id).unwrap_or(0),
        ));
    }
    for node in 0..nodes.count() {
        let bytes: u64 = nodes.memory(node).map(|(start, end)| end - start).sum();
        say(format_args!("memory node={node} bytes={bytes}"));
    }
}

fn say(text: fmt::Arguments<'_>) {
    console::record_text(REPORT, 0, text);
}

/// A rank's status; one that was stopped because of another has none.
struct Status(Option<i32>);

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(status) => write!(out, "{status}"),
            None => write!(out, "stopped"),
        }
    }
}

/// System management interrupts, where they are counted.
struct Smis(u64);

impl fmt::Display for Smis {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == CoreCounters::NOT_COUNTED { Ok(()) } else { write!(out, " smis={}", self.0) }
    }
}

/// `vector:count` for each vector that struck, separated by commas.
struct Vectors<'a>(&'a Core);

impl fmt::Display for Vectors<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = (0..256).map(|vector| (vector, self.0.counters.vector(vector)));
        let mut separator = "";
        for (vector, count) in counts.filter(|(_, count)| *count > 0) {
            write!(out, "{separator}{vector}:{count}")?;
            separator = ",";
        }
        if separator.is_empty() { write!(out, "-") } else { Ok(()) }
    }
}
