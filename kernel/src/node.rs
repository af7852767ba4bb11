//! The node as a whole: what it says of itself at boot, how it refuses a job, how it ends.

use core::fmt;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use lwk_abi::console::{END, KERNEL};
use lwk_abi::exit;
use lwk_job::End;

use crate::arch::features::features;
use crate::arch::trap_frame::TrapFrame;
use crate::arch::{clock, interrupts, ports};
use crate::boot::Machine;
use crate::core_local::{self, Core};
use crate::{console, failure, files, job};

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

/// Time stamp counter at the kernel's first instruction.
pub fn entry_ticks() -> u64 {
    ENTRY_TICKS.load(Ordering::Relaxed)
}

/// Bytes of the kernel's file in the boot image.
pub fn kernel_bytes() -> u64 {
    KERNEL_BYTES.load(Ordering::Relaxed)
}

/// Ends a node that cannot run its job, with status 2 ([`exit::USAGE`]): one line says why.
pub fn refuse(reason: fmt::Arguments<'_>) -> ! {
    console::record_text(KERNEL, 1, reason);
    end(exit::USAGE, (End::Exit, false))
}

/// Ends the node: `status`, 0 to 255, is in the last record. `how` says what follows it; if the host tool fetches the files (`out`) it is
/// told where they are first, else the user what is lost.
pub fn end(status: i32, (how, out): (End, bool)) -> ! {
    if out {
        files::announce();
    } else {
        files::tell_lost();
    }
    console::record_urgently(END, status as usize, format_args!(""));
    if how == End::Wait {
        console::wait_for_byte();
    }
    console::drain();
    if how != End::Halt {
        // SAFETY: the debug-exit device of QEMU; a machine without it ignores the write.
        unsafe { ports::write_u32(exit::DEBUG_EXIT_PORT, exit::DEBUG_EXIT_ENDED) };
    }
    interrupts::halt_for_ever()
}

/// Cores that have said where they are.
static SAID_WHERE: AtomicUsize = AtomicUsize::new(0);

/// Says where the ranks of this core are; the last core to do so ends the job at its time limit. Called in a
/// non-maskable interrupt.
pub fn report_where(core: &'static Core, frame: &TrapFrame) {
    if let Some(rank) = core.running() {
        // In the middle of a system call, the program's registers are where the entry code put them.
        let frame = if frame.is_of_user() { *frame } else { core.frame_of_program() };
        failure::trace_at_time_limit(core, rank, &frame);
    }
    failure::trace_waiting_ranks(core);
    // AcqRel: the last core to come has seen every other's records written.
    if SAID_WHERE.fetch_add(1, Ordering::AcqRel) + 1 == core_local::count() {
        end(exit::TIMEOUT, job::current().map_or((End::Exit, false), |job| job.end_action()));
    }
}
