//! The local interrupt controller (APIC), in x2APIC mode where the processor has it, else through its memory page. The
//! kernel uses it for inter-processor interrupts. Its timer strikes once when it is asked to, for the network; there is no tick.

use core::arch::x86_64::{_mm_lfence, _mm_mfence};
use core::sync::atomic::{AtomicU64, Ordering};

use x86_64::registers::model_specific::Msr;

use lwk_mm::address::PhysAddr;

use super::clock;
use super::core_block::CoreBlock;
use super::features::features;
use super::interrupts::SPURIOUS;
use super::linear_map::linear;
use super::ports;

const APIC_BASE: Msr = Msr::new(0x1b);
const BASE_ENABLE: u64 = 1 << 11;
const BASE_X2APIC: u64 = 1 << 10;
const BASE_ADDRESS: u64 = 0x000f_ffff_ffff_f000;
const X2APIC_FIRST_MSR: u32 = 0x800;

/// Registers, by their offset in the memory page; in x2APIC mode the offset divided by 16 counts MSRs (Intel SDM volume 3,
/// section 10.12.1).
#[derive(Clone, Copy)]
#[repr(u32)]
enum Register {
    Id = 0x20,
    Version = 0x30,
    EndOfInterrupt = 0xb0,
    SpuriousVector = 0xf0,
    CorrectedErrors = 0x2f0,
    CommandLow = 0x300,
    CommandHigh = 0x310,
    LocalTimer = 0x320,
    Thermal = 0x330,
    PerformanceCounters = 0x340,
    LocalInput0 = 0x350,
    LocalInput1 = 0x360,
    Error = 0x370,
    TimerStart = 0x380,
    TimerCount = 0x390,
    TimerDivider = 0x3e0,
}

/// The local vector table but for [`Register::LocalInput1`], each with the number of the last entry that a controller has which has it
/// (version register, bits 16 to 23; Intel SDM volume 3, section 10.4.8).
const LOCAL_VECTORS: [(Register, u32); 6] = [
    (Register::LocalTimer, 3),
    (Register::LocalInput0, 3),
    (Register::Error, 3),
    (Register::PerformanceCounters, 4),
    (Register::Thermal, 5),
    (Register::CorrectedErrors, 6),
];

const SOFTWARE_ENABLE: u32 = 1 << 8;
const MASKED: u32 = 1 << 16;
const DELIVER_MASK: u32 = 0b111 << 8;
const DELIVER_NON_MASKABLE: u32 = 0b100 << 8;
const DELIVER_INIT: u32 = 0b101 << 8;
const DELIVER_STARTUP: u32 = 0b110 << 8;
const LEVEL_ASSERT: u32 = 1 << 14;
const DELIVERY_PENDING: u32 = 1 << 12;

/// The bits of the base register that the kernel sets.
fn mode() -> u64 {
    if features().x2apic { BASE_ENABLE | BASE_X2APIC } else { BASE_ENABLE }
}

/// Whether this core's controller is in the mode that the kernel uses it in: after [`init`], if not before.
pub fn is_on() -> bool {
    // SAFETY: reading the base has no effect.
    unsafe { APIC_BASE.read() & mode() == mode() }
}

/// Switches this core's controller on: no timer, no external interrupts, non-maskable ones let through.
pub fn init() {
    // SAFETY: the mode bits follow the processor's features; nothing is pending that the change could lose.
    unsafe {
        let mut apic_base = APIC_BASE;
        apic_base.write(apic_base.read() | mode());
    }
    // Masked before the controller is enabled, so that an interrupt of the legacy controller which waits there is dropped by that.
    let last = read(Register::Version) >> 16 & 0xff;
    for (register, _) in LOCAL_VECTORS.iter().filter(|(_, number)| *number <= last) {
        write(*register, MASKED);
    }
    write(Register::SpuriousVector, SOFTWARE_ENABLE | u32::from(SPURIOUS));
    // Opened after: while a controller is disabled, as it is after a reset, its local vectors stay masked whatever is written to them
    // (Intel SDM volume 3, section 10.4.7.2). QEMU's emulation is not so strict.
    write(Register::LocalInput1, DELIVER_NON_MASKABLE);
    if read(Register::LocalInput1) & (MASKED | DELIVER_MASK) != DELIVER_NON_MASKABLE {
        log::warn!(
            "non-maskable interrupts do not reach processor {}: a time limit does not end its ranks",
            id()
        );
    }
}

/// Masks every line of the legacy controllers (8259), which the firmware may have left open. Once, on the boot core.
pub fn silence_legacy() {
    // SAFETY: the data ports of the two controllers; a machine without them ignores the write.
    unsafe {
        ports::write_u8(0x21, 0xff);
        ports::write_u8(0xa1, 0xff);
    }
}

/// This core's interrupt controller number, as in the firmware's tables; only after [`init`] on this core.
pub fn id() -> u32 {
    if features().x2apic { read(Register::Id) } else { read(Register::Id) >> 24 }
}

/// The highest number that a core to be interrupted may have.
pub fn highest_id() -> u32 {
    // All ones mean every core in both modes (Intel SDM volume 3, sections 11.6.1 and 11.12.9).
    if features().x2apic { u32::MAX - 1 } else { 0xfe }
}

/// Tells the controller that the present interrupt has been handled.
pub fn end_of_interrupt() {
    write(Register::EndOfInterrupt, 0);
}

/// The timer's counts a second; 0 before [`measure_timer`]. Relaxed: written on the boot core before any core is asked to use it.
static TIMER_HZ: AtomicU64 = AtomicU64::new(0);
/// The timer counts once in 16 of its clock's ticks.
const DIVIDE_BY_16: u32 = 0b0011;
/// How long the timer is measured.
const MEASURE_MICROSECONDS: u64 = 2_000;

/// Measures the timer against the time stamp counter. Once, on the boot core; all cores' timers have one clock.
pub fn measure_timer() {
    write(Register::TimerDivider, DIVIDE_BY_16);
    write(Register::LocalTimer, MASKED);
    write(Register::TimerStart, u32::MAX);
    let begun = clock::ticks();
    clock::delay(MEASURE_MICROSECONDS);
    let counted = u32::MAX - read(Register::TimerCount);
    let nanoseconds = clock::nanoseconds(clock::ticks() - begun).max(1);
    write(Register::TimerStart, 0);
    TIMER_HZ.store(u64::from(counted.max(1)) * 1_000_000_000 / nanoseconds, Ordering::Relaxed);
}

/// Has this core's timer interrupt it once, at `vector`, in so many microseconds, or earlier if it cannot count so far; it replaces what was asked before.
pub fn strike_in(vector: u8, microseconds: u64) {
    let counts = u128::from(TIMER_HZ.load(Ordering::Relaxed)) * u128::from(microseconds) / 1_000_000;
    write(Register::TimerDivider, DIVIDE_BY_16);
    write(Register::LocalTimer, vector.into());
    write(Register::TimerStart, counts.clamp(1, u32::MAX.into()) as u32);
}

/// Interrupts another core, which is up, at `vector`, without waiting until it is taken. What this core has stored before is there for the
/// handler.
pub fn interrupt_core(core: &CoreBlock, vector: u8) {
    command(core.controller_id(), LEVEL_ASSERT | u32::from(vector));
}

/// Sends another core, which is up, a non-maskable interrupt.
pub fn interrupt_core_unmaskably(core: &CoreBlock) {
    command(core.controller_id(), LEVEL_ASSERT | DELIVER_NON_MASKABLE);
}

/// Resets another core, which then waits for [`start_core`].
///
/// # Safety
/// The core does nothing that anybody needs.
pub(super) unsafe fn reset_core(controller_id: u32) {
    command(controller_id, LEVEL_ASSERT | DELIVER_INIT);
}

/// Starts a core that waits after a reset, in real mode at page `page` (address divided by 4096) of the first megabyte (Intel SDM volume
/// 3, section 10.6.1).
///
/// # Safety
/// The core has been reset, and there is code for it in the page.
pub(super) unsafe fn start_core(controller_id: u32, page: u8) {
    command(controller_id, LEVEL_ASSERT | DELIVER_STARTUP | u32::from(page));
}

fn command(controller_id: u32, low: u32) {
    if features().x2apic {
        let mut register = Msr::new(X2APIC_FIRST_MSR + Register::CommandLow as u32 / 16);
        // Unlike a store to the memory page, the write does not wait for earlier stores, which the interrupted core is to see
        // (Intel SDM volume 3, section 10.12.3).
        // SAFETY: fences have no other effect, and every processor with 64-bit mode has them.
        unsafe {
            _mm_mfence();
            _mm_lfence();
        }
        // SAFETY: sends an interrupt whose handlers exist on every core that is up.
        unsafe { register.write(u64::from(controller_id) << 32 | u64::from(low)) };
        return;
    }
    while read(Register::CommandLow) & DELIVERY_PENDING != 0 {
        core::hint::spin_loop();
    }
    write(Register::CommandHigh, controller_id << 24);
    write(Register::CommandLow, low);
}

fn read(register: Register) -> u32 {
    if features().x2apic {
        // SAFETY: the register exists in x2APIC mode, which `init` has switched on.
        return unsafe { Msr::new(X2APIC_FIRST_MSR + register as u32 / 16).read() as u32 };
    }
    // SAFETY: the address is the register's in this core's controller page, aligned and in the linear map
    // (`page_register`).
    unsafe { page_register(register).read_volatile() }
}

fn write(register: Register, value: u32) {
    if features().x2apic {
        // SAFETY: the register exists in x2APIC mode, which `init` has switched on; the values written here
        // are valid for their registers.
        unsafe { Msr::new(X2APIC_FIRST_MSR + register as u32 / 16).write(value.into()) };
        return;
    }
    // SAFETY: the address is the register's in this core's controller page, aligned and in the linear map
    // (`page_register`).
    unsafe { page_register(register).write_volatile(value) }
}

/// A register in the controller's memory page. Each core sees its own there. The linear map covers the first 4 GiB at
/// least, and the processor's memory type registers keep the page uncached.
fn page_register(register: Register) -> *mut u32 {
    // SAFETY: reading the base has no effect.
    let base = unsafe { APIC_BASE.read() } & BASE_ADDRESS;
    linear(PhysAddr::new(base)).wrapping_add(register as usize).cast()
}
