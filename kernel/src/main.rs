//! Margay's kernel: boots a compute node, gives every rank of the job a core and one piece of memory, and stays out of
//! the way.
//!
//! Four principles, in the line of Catamount (SMARTMAP paper, section III.A):
//!
//! 1. **Memory is mapped once.** A rank's memory is one contiguous segment, mapped linearly when the rank is created and
//!    never changed. A user pointer is valid if it passes a bounds check; its physical address is an addition.
//! 2. **A core belongs to its rank.** No timer, no device interrupt, no daemon: kernel code runs on a compute core
//!    only when its rank asks for it or must be stopped. One core of a node with a network takes the network's interrupts: a spare one if there
//!    is one. The kernel is not preemptible and never blocks.
//! 3. **Ranks of a job are neighbours.** Each rank's top-level page table entry is linked into every other rank's, so
//!    peers communicate by loads and stores without the kernel.
//! 4. **A user's mistake costs the user's job only.** The caller gets an error number or is stopped with a report; a
//!    broken invariant of the kernel's own stops the node.
//!
//! The order of the boot is the order of [`start`]. `arch` alone knows the processor; everything that can be pure logic
//! is a crate of its own, tested on the host.
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the kernel's cores share words, ranks do not"
)]

mod acpi_tables;
mod address_space;
mod arch;
mod boot;
mod configuration;
mod console;
mod core_local;
mod counters;
mod create_ranks;
mod description;
mod drivers;
mod engine;
mod events;
mod failure;
mod files;
mod initial_stack;
mod inject;
mod job;
mod limic;
mod limit;
mod logger;
mod memory;
mod network;
mod node;
mod panic;
mod power;
mod rank;
mod report;
mod scheduler;
mod segments;
mod start_cores;
mod syscall;
mod user_memory;
mod user_slice;

use bootloader_api::BootInfo;

use crate::description::{Archive, Description};

bootloader_api::entry_point!(start, config = &boot::CONFIG);

/// The first function of the kernel, on the boot core, on the boot loader's stack and page tables.
fn start(boot_info: &'static mut BootInfo) -> ! {
    arch::early::guard(&events::HANDLERS);
    let entry_ticks = arch::clock::ticks();
    console::open_serial();
    let mut machine = boot::Machine::from(boot_info);
    console::open_screen(machine.screen.take());
    logger::init();

    if let Err(missing) = arch::features::require() {
        node::refuse(format_args!("this processor has no {missing}, which Margay needs"));
    }
    memory::init(&machine).unwrap_or_else(|problem| node::refuse(format_args!("{problem}")));
    let job = Archive::open(machine.ram_disk).and_then(|archive| Description::read(&archive));
    let job = job.unwrap_or_else(|problem| node::refuse(format_args!("{problem}")));
    console::set_plain(job.file.console == lwk_job::Console::Plain);
    logger::set_level(job.file.log);

    arch::features::enable();
    if job.file.inject == Some(lwk_job::Inject::EarlyPageFault) {
        inject::read_unmapped();
    }
    core_local::init_boot_core().unwrap_or_else(|problem| node::refuse(format_args!("{problem}")));
    let tables = acpi_tables::read(&machine);
    tables.console.into_iter().for_each(console::change_serial);
    console::combine_screen();
    console::describe();
    power::remember(tables.ends);
    arch::interrupt_controller::init();
    // SAFETY: the firmware says that the timer is there, at an address that the table's reader has found aligned; a mapped device stays mapped.
    let map_timer = |address| unsafe {
        memory::map_device(address, lwk_acpi::EVENT_TIMER_BYTES).map(|it| arch::clock::EventTimer::at(it))
    };
    let timers = arch::clock::Timers { event: tables.event_timer.and_then(map_timer), acpi: tables.timer };
    arch::clock::calibrate(timers).unwrap_or_else(|problem| node::refuse(format_args!("{problem}")));
    let cores = start_cores::start(&tables, job.file.cores.map(|cores| cores as usize), job.file.inject);
    node::describe(&machine, cores, entry_ticks);

    engine::find(&tables, job.file.workers);
    network::start(&tables, &job.file).unwrap_or_else(|problem| node::refuse(format_args!("{problem}")));
    console::record(lwk_abi::console::START, 0, b"");
    if job.file.network.is_some_and(|place| !place.is_loop()) {
        // The host tool lets all nodes start when they are all there.
        console::wait_for_byte(network::serve_others);
    }
    let nodes = lwk_topology::MemoryNodes::new(tables.affinity, tables.distances);
    if job.file.report {
        report::machine(&nodes);
    }
    if let Err(problem) = node::launch(&job, &nodes) {
        node::refuse(format_args!("{problem}"));
    }
    if let Some(seconds) = job.file.limit {
        limit::begin(seconds);
    }
    if let Some(kind) = job.file.inject {
        inject::fail(kind);
    }
    node::run()
}
