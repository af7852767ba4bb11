//! The first page: what the machine says of itself, and where the ranks are.

use alloc::format;
use alloc::string::String;
use lwk_user::barrier::node_barrier;
use lwk_user::clock;
use lwk_user::smartmap::{Peer, Symmetric, peers};
use lwk_user::{job, println};

use super::processor::{self, Processor};
use crate::arch::x86_64::cpuid;

/// Characters of a line of names.
const LINE: usize = 90;

/// What each rank alone knows: the number of its core's interrupt controller, the first character of its kind, and where its memory is.
static OWN: Symmetric<[u64; 4]> = Symmetric::new([0; 4]);

/// Prints it. All ranks call it, once; rank 0 prints.
pub fn print() {
    let (number, kind) = processor::core(cpuid);
    let page = job().page();
    let first = kind.bytes().next().unwrap_or(b'-');
    let own = [number.into(), first.into(), page.segment_phys, page.segment_bytes];
    // SAFETY: this rank's own; rank 0 reads it only after the barrier.
    unsafe { OWN.as_ptr().write(own) };
    node_barrier();
    if Peer::me() == Peer::root() {
        print_processor(&processor::read(cpuid));
        print_places();
    }
    node_barrier();
}

fn print_processor(it: &Processor) {
    println!("# processor");
    println!("name            {} {}", it.vendor, it.brand);
    println!("signature       family {} model {} stepping {}", it.family, it.model, it.stepping);
    println!(
        "runs            {}",
        it.hypervisor.as_ref().map_or("on hardware".into(), |by| format!("under {by}"))
    );
    println!("addresses       {} bits physical, {} virtual", it.physical_bits, it.virtual_bits);
    let kinds = if it.hybrid { "of several kinds (p, e)" } else { "of one kind" };
    println!("cores           {kinds}");
    let invariant = if it.invariant_counter { "invariant" } else { "not invariant" };
    println!("clock           {} kHz, {invariant}", clock::ticks_per_second() / 1000);
    let [denominator, numerator, hz] = it.crystal;
    println!("crystal         {hz} Hz, ratio {numerator} to {denominator}");
    println!("frequency       {} MHz base, {} MHz at most", it.megahertz[0], it.megahertz[1]);
    let mut line = String::new();
    for (at, name) in it.features.iter().enumerate() {
        line.push_str(name);
        line.push(' ');
        if line.len() >= LINE || at + 1 == it.features.len() {
            println!("features        {}", line.trim_end());
            line.clear();
        }
    }
    for cache in &it.caches {
        println!(
            "cache           level {} {}: {} KiB, {} ways, lines of {} bytes, for {} threads",
            cache.level,
            cache.kind,
            cache.bytes >> 10,
            cache.ways,
            cache.line,
            cache.shared_by
        );
    }
}

fn print_places() {
    println!("# ranks: equal numbers share the same; memory_at is physical");
    println!(
        "# {:>4} {:>5} {:>8} {:>4} {:>8} {:>5} {:>5} {:>5} {:>7} {:>5} {:>14} {:>8}",
        "rank", "core", "apic", "kind", "package", "node", "l3", "l2", "physic.", "thr.", "memory_at", "MiB"
    );
    for (peer, place) in peers().zip(job().places()) {
        // SAFETY: the barrier has ordered the rank's last write before this, and it does not write again.
        let [apic, kind, start, bytes] = unsafe { *OWN.at(peer).as_ptr() };
        println!(
            "{:>6} {:>5} {apic:>8} {:>4} {:>8} {:>5} {:>5} {:>5} {:>7} {:>5} {start:>#14x} {:>8}",
            peer.node_rank().0,
            place.core,
            char::from(kind as u8),
            place.package,
            place.memory_node,
            place.l3,
            place.l2,
            place.physical_core,
            place.thread,
            bytes >> 20
        );
    }
}
