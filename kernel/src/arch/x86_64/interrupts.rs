//! The interrupt descriptor table, one for all cores, and the vectors the kernel gives out.

use core::arch::asm;

use super::descriptors::{InterruptStack, KERNEL_CODE};
use super::entry;
use super::features::features;

/// An inter-processor interrupt that only ends a halt: the core finds its work itself.
pub const WAKE: u8 = 0xf0;
/// An inter-processor interrupt that stops the ranks of a job that is ending.
pub const STOP: u8 = 0xf1;
/// An inter-processor interrupt that asks for a fence.
pub const FENCE: u8 = 0xf2;
/// The network card has frames.
pub const CARD: u8 = 0xe0;
/// The timer of the core that looks after the network has struck.
pub const TIMER: u8 = 0xe1;
/// An inter-processor interrupt: the core that looks after the network has something to do.
pub const KICK: u8 = 0xe2;
/// The timer of the boot core has struck for the job's time limit.
pub const LIMIT: u8 = 0xe3;
/// Where the local interrupt controller sends what it took back.
pub const SPURIOUS: u8 = 0xff;

const NON_MASKABLE: usize = 2;
const DEBUG: usize = 1;
const BREAKPOINT: usize = 3;
const OVERFLOW: usize = 4;
const DOUBLE_FAULT: usize = 8;
const MACHINE_CHECK: usize = 18;

/// A gate (Intel SDM volume 3, section 6.14.1).
#[repr(C)]
#[derive(Clone, Copy)]
struct Gate {
    offset_low: u16,
    selector: u16,
    interrupt_stack: u8,
    attributes: u8,
    offset_middle: u16,
    offset_high: u32,
    reserved: u32,
}

impl Gate {
    const PRESENT_INTERRUPT: u8 = 0x8e;
    const FROM_USER: u8 = 0x60;
    const EMPTY: Gate = Gate {
        offset_low: 0,
        selector: 0,
        interrupt_stack: 0,
        attributes: 0,
        offset_middle: 0,
        offset_high: 0,
        reserved: 0,
    };

    fn new(vector: usize) -> Gate {
        let interrupt_stack = match vector {
            NON_MASKABLE => InterruptStack::NonMaskable as u8,
            DOUBLE_FAULT => InterruptStack::DoubleFault as u8,
            MACHINE_CHECK => InterruptStack::MachineCheck as u8,
            DEBUG => InterruptStack::Debug as u8,
            _ => 0,
        };
        let user_may_raise = matches!(vector, BREAKPOINT | OVERFLOW);
        let attributes = Gate::PRESENT_INTERRUPT | if user_may_raise { Gate::FROM_USER } else { 0 };
        Gate { interrupt_stack, attributes, ..Gate::to(entry::stub_address(vector)) }
    }

    /// A gate to an address, on the stack that is in use.
    fn to(handler: u64) -> Gate {
        Gate {
            offset_low: handler as u16,
            selector: KERNEL_CODE,
            interrupt_stack: 0,
            attributes: Gate::PRESENT_INTERRUPT,
            offset_middle: (handler >> 16) as u16,
            offset_high: (handler >> 32) as u32,
            reserved: 0,
        }
    }
}

#[repr(C, align(16))]
struct Table([Gate; 256]);

static TABLE: spin::Once<Table> = spin::Once::new();
/// Of cores that have no structure yet: exceptions only, all on the stack in use.
static EARLY_TABLE: spin::Once<Table> = spin::Once::new();

/// Operand of `lidt`.
#[repr(C, packed)]
struct TablePointer {
    limit: u16,
    base: u64,
}

/// Loads the table into this core; the first call makes it.
pub(super) fn load() {
    load_table(TABLE.call_once(|| Table(core::array::from_fn(Gate::new))));
}

/// Loads the table of cores that have no structure yet: every exception ends the node with a report.
pub(super) fn load_early() {
    load_table(EARLY_TABLE.call_once(|| {
        let gate = |vector| match vector {
            0..entry::EXCEPTIONS => Gate::to(entry::early_stub_address(vector)),
            _ => Gate::EMPTY,
        };
        Table(core::array::from_fn(gate))
    }));
}

fn load_table(table: &'static Table) {
    let pointer = TablePointer { limit: (size_of::<Table>() - 1) as u16, base: table as *const Table as u64 };
    // SAFETY: the table is never written again, and each of its gates leads to the stub of its vector.
    unsafe { asm!("lidt [{}]", in(reg) &pointer, options(readonly, nostack, preserves_flags)) };
}

/// Disables interrupts. The kernel enables them nowhere but in [`wait`] and [`take`]; programs run with them.
pub fn disable() {
    // SAFETY: changes the interrupt flag only.
    unsafe { asm!("cli", options(nomem, nostack)) };
}

/// Waits with interrupts enabled until one has been handled. Interrupts are disabled before and after, and none that
/// arrives in between is missed. By MWAIT where the processor has it: the other hardware thread of the core gets more of it than by a halt.
pub fn wait() {
    if features().mwait {
        // Nobody stores to it: it is interrupts that end the wait.
        let line = 0u64;
        // SAFETY: the processor has both instructions; `sti` takes effect after `mwait` has begun; the handlers return with every register as it was.
        unsafe {
            asm!(
                "monitor",
                "xor eax, eax",
                "sti",
                "mwait",
                "cli",
                inout("rax") &line => _,
                in("rcx") 0,
                in("rdx") 0,
                options(nostack),
            );
        }
        return;
    }
    // SAFETY: `sti` takes effect after `hlt` has begun; the handlers return with every register as it was.
    unsafe { asm!("sti", "hlt", "cli", options(nomem, nostack)) };
}

/// Handles the interrupts that have come meanwhile. Interrupts are disabled before and after.
pub fn take() {
    // SAFETY: `sti` takes effect after the instruction behind it; the handlers return with every register as it was.
    unsafe { asm!("sti", "nop", "cli", options(nomem, nostack)) };
}

/// Stops this core for ever, with interrupts disabled.
pub fn halt_for_ever() -> ! {
    loop {
        // SAFETY: the core has nothing left to do; only a non-maskable interrupt could end the halt, and then it halts again.
        unsafe { asm!("cli", "hlt", options(nomem, nostack)) };
    }
}

/// Shuts this processor down, which resets the machine: an exception without a table of handlers.
pub fn shut_down() -> ! {
    let pointer = TablePointer { limit: 0, base: 0 };
    // SAFETY: the machine has ended; no handler is to be found any more, which is the purpose.
    unsafe { asm!("lidt [{}]", "ud2", in(reg) &pointer, options(noreturn, nostack)) };
}

/// Runs `ud2`, which no processor has: an invalid-opcode exception.
pub fn invalid_instruction() -> ! {
    // SAFETY: the exception handler does not return.
    unsafe { asm!("ud2", options(noreturn, nomem, nostack)) };
}
