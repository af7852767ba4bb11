//! The node as a whole: what it says of itself at boot, the job that it runs or refuses, and what the job's events mean to it: with the end of
//! the job it ends.

use core::fmt;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use arrayvec::ArrayVec;
use lwk_abi::address::MAX_RANKS;
use lwk_abi::console::{END, END_OF_ALL, KERNEL};
use lwk_abi::exit;
use lwk_abi::job_file::FILE_SPACE_MIN;
use lwk_job::{Bind, End};
use lwk_topology::{Binding, MemoryNodes};

use crate::arch::core_block;
use crate::arch::debug_exit;
use crate::arch::features::features;
use crate::arch::trap_frame::TrapFrame;
use crate::arch::{clock, entry, interrupts, machine_check};
use crate::boot::Machine;
use crate::core_local::{self, Core};
use crate::create_ranks::create_ranks;
use crate::description::{Description, Problem};
use crate::job::{Event, Job};
use crate::scheduler::{self, Running};
use crate::{console, engine, failure, files, memory, network, power, report};

/// Facts for the exit report, in ticks and bytes; written once at boot, before any rank runs. Relaxed, everywhere: publishing the job orders
/// them for the other cores.
static ENTRY_TICKS: AtomicU64 = AtomicU64::new(0);
static KERNEL_BYTES: AtomicU64 = AtomicU64::new(0);

/// Remembers and says what the node is: its memory, how many cores are up, and the counter at the kernel's first instruction. Once, on the
/// boot core.
pub fn describe(machine: &Machine, cores: usize, entry_ticks: u64) {
    ENTRY_TICKS.store(entry_ticks, Ordering::Relaxed);
    KERNEL_BYTES.store(machine.kernel_bytes, Ordering::Relaxed);
    log::info!(
        "{cores} cores, {} MiB, counter at {} MHz{}",
        machine.memory_bytes() >> 20,
        clock::ticks_a_second() / 1_000_000,
        if features().emulated { ", emulated" } else { "" },
    );
    log::debug!("{:?}", features());
}

/// Level of a kernel's record, as [`KERNEL`] says.
const WARNING: usize = 2;

static JOB: AtomicPtr<Job> = AtomicPtr::new(core::ptr::null_mut());

/// The job of this node, once its ranks exist.
pub fn job() -> Option<&'static Job> {
    // Acquire: pairs with the release in `launch`.
    let pointer = JOB.load(Ordering::Acquire);
    // SAFETY: null, or made from a `&'static Job`.
    unsafe { pointer.as_ref() }
}

/// The rank whose program this core runs, and its job.
pub fn running(core: &'static Core) -> Option<Running> {
    Some(Running { core, job: job()?, rank: core.running()? })
}

/// Creates the ranks of a job and sets the cores to work on them. Errors: a program that cannot be run, more ranks than cores, and too little memory.
pub fn launch(description: &Description, nodes: &MemoryNodes<'_>) -> Result<(), Problem> {
    let file = &description.file;
    let program = lwk_elf::parse(description.program).map_err(Problem::Program)?;
    let mut bound = bound_cores(file.bind)?;
    let (cores, workers) = (core_local::count(), file.workers as usize);
    let left = cores.checked_sub(workers).filter(|left| *left > 0);
    bound.truncate(left.ok_or(Problem::NoWorkerCore { workers, cores })?);
    let size = if file.on_each_core { bound.len() } else { file.ranks as usize };
    if size > bound.len() && !file.oversubscribe {
        return Err(Problem::TooManyRanks { ranks: size, workers, cores: bound.len() + workers });
    }
    let job: &'static Job =
        memory::place(Job::new(file, size, program, bound)).ok_or(Problem::NoKernelMemory)?;
    let file_space = file.file_space.unwrap_or_else(default_file_space);
    files::init(description.files, file_space, file.folder.unwrap_or(b"/"))?;
    create_ranks(job, file, nodes, file_space)?;
    network::route(job, file.irq_core).map_err(Problem::Network)?;
    // From the end: the network takes the first core without ranks.
    let has_no_rank = |core: &usize| job.ranks_of_core(*core).next().is_none();
    let spare = (0..core_local::CORES_MAX).rev().filter(|core| core_local::core(*core).is_some());
    engine::appoint(spare.filter(has_no_rank).take(workers).collect());
    // Release: pairs with the acquire in `job`; whoever finds the job finds its ranks.
    JOB.store(core::ptr::from_ref(job).cast_mut(), Ordering::Release);
    job.interrupt_cores(Core::current(), interrupts::WAKE);
    engine::start(Core::current());
    Ok(())
}

/// Bytes that files may take in a job that does not say: a part of what is free.
fn default_file_space() -> u64 {
    /// One in so many, and the most, since files lie in the kernel's memory.
    const PART: u64 = 8;
    const MOST: u64 = 1 << 30;
    (memory::in_use().free / PART).clamp(FILE_SPACE_MIN, MOST)
}

/// The cores of the node in the order in which ranks get them. Errors: a core that is named and not there, or named twice.
fn bound_cores(bind: Bind<'_>) -> Result<ArrayVec<usize, MAX_RANKS>, Problem> {
    let binding = match bind {
        Bind::Scatter => Binding::Scatter,
        Bind::Compact => Binding::Compact,
        Bind::Smt => Binding::Threads,
        Bind::List(list) => {
            let mut cores = ArrayVec::new();
            for core in list.cores() {
                let usable = core_local::core(core).is_some() && !cores.contains(&core);
                if !usable || cores.try_push(core).is_err() {
                    return Err(Problem::NoCore(core));
                }
            }
            return Ok(cores);
        }
    };
    // A core that did not start leaves a hole.
    let there: ArrayVec<&Core, MAX_RANKS> = (0..core_local::CORES_MAX).filter_map(core_local::core).collect();
    let ids: ArrayVec<u32, MAX_RANKS> = there.iter().map(|core| core.block().controller_id()).collect();
    let slow = |place: usize| there[place].topology().slow;
    let order = lwk_topology::order(&ids, slow, &Core::current().topology().shifts, binding);
    Ok(order.into_iter().map(|place| there[place].index()).collect())
}

/// Runs the ranks of this core until they have ended, then waits for ever. Whatever brought the core here is over.
pub fn run() -> ! {
    Core::current().set_running(None);
    core_block::restart_stack(run_ranks)
}

extern "C" fn run_ranks() -> ! {
    let core = Core::current();
    // From here on no rank's memory is used by address.
    memory::with_kernel_space(|space| space.activate());
    loop {
        let Some(job) = job() else {
            interrupts::wait();
            continue;
        };
        job.load_ranks(core);
        if job.is_stopping() {
            act_on(job, job.stop_ranks_of_core(core));
        }
        match scheduler::first_turn(job, core) {
            Some(frame) => entry::leave(&frame),
            None => engine::work_or_wait(job, core),
        }
    }
}

/// The rank that runs on this core exits well.
pub fn end_rank(running: &Running) -> ! {
    act_on(running.job, running.job.end_rank(running.rank, Some(0)));
    run()
}

/// The rank that runs on this core ends its job by a failure, having entered the kernel with `frame`.
pub fn end_job(running: &Running, frame: &TrapFrame, how: &lwk_failure::End) -> ! {
    let Running { core, job, rank } = *running;
    // Only the first failure is reported: the others are often its consequences.
    if job.end_with(how.status) {
        rank.flush_lines();
        failure::report(running, frame, how);
        job.stop_others(core);
    }
    act_on(job, job.end_rank(rank, Some(how.status)));
    run()
}

/// The rank that runs on this core ends its job well, whatever the others are doing.
pub fn end_job_well(running: &Running) -> ! {
    let Running { core, job, rank } = *running;
    if job.end_with(0) {
        rank.flush_lines();
        job.stop_others(core);
    }
    end_rank(running)
}

/// The job is ending because of another rank: so do those of this core, one of which was interrupted.
pub fn stop_ranks(core: &Core) -> ! {
    if let Some(job) = job() {
        act_on(job, job.stop_ranks_of_core(core));
    }
    run()
}

/// With the end of the job the node ends: then this does not return.
fn act_on(job: &Job, event: Event) {
    report_corrected(Core::current());
    if event == Event::JobEnded {
        if job.is_reported() {
            let kernel_ticks = job.first_entry_ticks() - ENTRY_TICKS.load(Ordering::Relaxed);
            report::print(job, kernel_ticks, KERNEL_BYTES.load(Ordering::Relaxed));
        }
        let text = if job.status() == 0 && job.is_stopping() { END_OF_ALL } else { "" };
        end(job.status(), text, job.end_action());
    }
}

/// Says what errors the hardware of this core has corrected.
fn report_corrected(core: &Core) {
    machine_check::take(&mut |it| {
        console::record_urgently(KERNEL, WARNING, format_args!("core {}: {it}", core.index()));
    });
}

/// Ends a node that cannot run its job, with status 2 ([`exit::USAGE`]): one line says why.
pub fn refuse(reason: fmt::Arguments<'_>) -> ! {
    console::record_text(KERNEL, 1, reason);
    end(exit::USAGE, "", (End::Exit, false))
}

/// Ends the node: `status`, 0 to 255, is in the last record, with that text. `how` says what follows it; if the host tool fetches the files (`out`) it is
/// told where they are first, else the user what is lost.
fn end(status: i32, text: &str, (how, out): (End, bool)) -> ! {
    if out {
        files::announce();
    } else {
        files::tell_lost();
    }
    console::record_urgently(END, status as usize, format_args!("{text}"));
    if how == End::Wait {
        console::wait_for_byte(network::serve_others);
    }
    console::drain();
    match how {
        End::Exit | End::Wait => {}
        End::Halt => interrupts::halt_for_ever(),
        End::Off => power::off(),
        End::Reset => power::reset(),
    }
    debug_exit::exit(exit::DEBUG_EXIT_ENDED)
}

/// Cores that have said where they are.
static SAID_WHERE: AtomicUsize = AtomicUsize::new(0);

/// Says where the ranks of this core are; the last core to do so ends the job at its time limit. Called in a
/// non-maskable interrupt.
pub fn report_where(core: &'static Core, frame: &TrapFrame) {
    let job = job();
    report_corrected(core);
    if let Some(running) = running(core) {
        // In the middle of a system call, the program's registers are where the entry code put them.
        let frame = if frame.is_of_user() { *frame } else { core.block().frame_of_program() };
        failure::trace_at_time_limit(running.job, core, running.rank, &frame);
    }
    if let Some(job) = job {
        failure::trace_waiting_ranks(job, core);
    }
    // AcqRel: the last core to come has seen every other's records written.
    if SAID_WHERE.fetch_add(1, Ordering::AcqRel) + 1 == core_local::count() {
        end(exit::TIMEOUT, "", job.map_or((End::Exit, false), Job::end_action));
    }
}
