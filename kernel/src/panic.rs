//! The kernel's own end: a broken invariant, or an exception inside the kernel. Every other core is stopped, the reason
//! and a back trace are printed, and the host command exits with a status of its own.

use core::fmt;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

use lwk_abi::console::{PANIC, PANIC_FRAME};
use lwk_abi::exit;
use lwk_failure::{Fault, Position};

use crate::arch::linear_map::{KERNEL_IMAGE, LINEAR_MAP};
use crate::arch::trap_frame::TrapFrame;
use crate::arch::{back_trace, debug_exit, interrupt_controller, interrupts, machine_check};
use crate::console;
use crate::core_local::{self, CORES_MAX, Core};

/// Vector of the machine check.
const MACHINE_CHECK: u8 = 18;

/// Set by the first core that panics; the others halt when its interrupt reaches them.
static IN_PROGRESS: AtomicBool = AtomicBool::new(false);

/// Whether some core has panicked: what a non-maskable interrupt then means is a halt.
pub fn in_progress() -> bool {
    // SeqCst: pairs with the swap in `stop_the_others`, which precedes the interrupt that asks.
    IN_PROGRESS.load(Ordering::SeqCst)
}

#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    let location = info.location();
    let place = location.map_or(("unknown", 0), |location| (location.file(), location.line()));
    stop_the_others();
    say(format_args!("the kernel panicked at {}:{}: {}", place.0, place.1, info.message()));
    let here = back_trace::here();
    trace(here);
    end()
}

/// Ends the node because of an exception inside the kernel: registers at `frame`, back trace, QEMU's status 35.
pub fn exception(frame: &TrapFrame, fault: Fault) -> ! {
    if fault.vector == MACHINE_CHECK {
        // Before the others are stopped: they may have taken it as well, and each knows its own banks.
        machine_check::take(&mut |it| say(format_args!("core {}: {it}", own_index())));
    }
    stop_the_others();
    let Fault { vector, error_code, address } = fault;
    say(format_args!(
        "the kernel died of exception {vector}, error code {error_code:#x}, address {address:#x}"
    ));
    frame.registers().lines().iter().for_each(|line| say(format_args!("{line}")));
    trace(frame.position());
    end()
}

fn stop_the_others() {
    // SeqCst: of cores that panic at once, one goes on; nothing else depends on the order.
    if IN_PROGRESS.swap(true, Ordering::SeqCst) {
        interrupts::halt_for_ever();
    }
    // A core that fails before its interrupt controller is on cannot stop the others: it reports and ends the node beside them.
    if !interrupt_controller::is_on() {
        return;
    }
    // One by one, because a processor that was never started has nothing to take the interrupt with: it would run whatever it finds.
    let own = Core::try_current().map(Core::index);
    for core in (0..CORES_MAX).filter(|index| Some(*index) != own).filter_map(core_local::core) {
        interrupt_controller::interrupt_core_unmaskably(core.block());
    }
}

/// For a core that has just shown itself: halts it if another has panicked, whose interrupt came too early for it.
pub fn check_in() {
    if in_progress() {
        interrupts::halt_for_ever();
    }
}

fn own_index() -> usize {
    // A core without a structure is the boot core, with index 0, or has just been started, and its number is not known yet.
    match Core::try_current() {
        Some(core) => core.index(),
        None if core_local::count() == 0 => 0,
        None => CORES_MAX,
    }
}

fn say(text: fmt::Arguments<'_>) {
    console::record_urgently(PANIC, own_index(), text);
}

fn say_frame(address: u64) {
    console::record_urgently(PANIC_FRAME, own_index(), format_args!("{address:#x}"));
}

fn trace(at: Position) {
    let read = |address: u64| {
        let in_kernel = address.is_multiple_of(8) && address >= LINEAR_MAP;
        // SAFETY: positions and frame pointers of the kernel's own functions lead through its mapped stacks only, and the
        // entry code ends the chain with a null; an address elsewhere ends the trace.
        in_kernel.then(|| unsafe { (address as *const u64).read_volatile() })
    };
    lwk_failure::back_trace(at, |address| address >= KERNEL_IMAGE, read, say_frame);
}

fn end() -> ! {
    console::drain();
    debug_exit::exit(exit::DEBUG_EXIT_PANIC)
}
