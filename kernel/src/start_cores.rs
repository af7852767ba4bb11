//! Starting every core of the node: reset, wait, start, and each takes over its own structure.

use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use lwk_abi::address::PAGE_BYTES;
use lwk_job::Inject;
use lwk_mm::Access;
use lwk_mm::address::{PhysAddr, VirtAddr};

use crate::acpi_tables::Tables;
use crate::arch::ap_trampoline::Start;
use crate::arch::{self, clock, early, features, interrupt_controller};
use crate::core_local::{self, CORES_MAX, Core};
use crate::user_memory::SharedFrames;
use crate::{counters, events, inject, memory, node, panic};

/// When no core has shown itself for so long, in microseconds, those that have not are left out. Cores of a virtual machine are threads of a host that may be busy.
const PATIENCE_MICROSECONDS: u64 = 30_000_000;

/// The ticket that the next starting core draws.
static NEXT_TICKET: AtomicU64 = AtomicU64::new(0);
/// Ends of the stacks that starting cores take, by ticket; written before the first core starts. Relaxed, here and in those below: the
/// start command orders them.
static STACKS: [AtomicU64; CORES_MAX] = [const { AtomicU64::new(0) }; CORES_MAX];
/// Addresses of the structures of starting cores, by ticket; as [`STACKS`].
static STRUCTURES: [AtomicUsize; CORES_MAX] = [const { AtomicUsize::new(0) }; CORES_MAX];
/// Interrupt controller numbers of the cores in use, by index; as [`STACKS`].
static APIC_IDS: [AtomicU64; CORES_MAX] = [const { AtomicU64::new(0) }; CORES_MAX];
/// Whether starting cores fail at once, for tests of the kernel's end; as [`STACKS`].
static FAIL: AtomicBool = AtomicBool::new(false);
/// Whether starting cores set their counters wrong, for tests; as [`STACKS`].
static SKEW: AtomicBool = AtomicBool::new(false);
/// By how many ticks.
const SKEW_TICKS: u64 = 1 << 40;

/// Starts at most `limit` cores, the boot core among them, and returns how many are up. The boot core has index 0, the
/// others follow in the firmware's order. `inject` may make those fail as soon as they start, or the last one not start.
pub fn start(tables: &Tables, limit: Option<usize>, inject: Option<Inject>) -> usize {
    FAIL.store(inject == Some(Inject::CorePageFault), Ordering::Relaxed);
    SKEW.store(inject == Some(Inject::SkewedCounters), Ordering::Relaxed);
    interrupt_controller::silence_legacy();
    let own = interrupt_controller::id();
    let limit = limit.unwrap_or(CORES_MAX).clamp(1, CORES_MAX);
    if tables.surplus_cores > 0 && limit == CORES_MAX {
        log::warn!("{} cores beyond the {CORES_MAX} that the kernel can use stay off", tables.surplus_cores);
    }
    if tables.unnamed_cores > 0 {
        log::warn!("{} cores stay off: without x2APIC their numbers are too high", tables.unnamed_cores);
    }
    let others = tables.cores.iter().copied().filter(|id| *id != own).take(limit - 1);
    let mut wanted = 1;
    APIC_IDS[0].store(own.into(), Ordering::Relaxed);
    for (ticket, id) in others.enumerate() {
        let Some(core) = Core::create(ticket + 1) else {
            log::error!("no memory for the stacks of core {}; it and those after it stay off", ticket + 1);
            break;
        };
        STACKS[ticket].store(core.block().kernel_stack(), Ordering::Relaxed);
        STRUCTURES[ticket].store(core::ptr::from_ref(core) as usize, Ordering::Relaxed);
        APIC_IDS[ticket + 1].store(id.into(), Ordering::Relaxed);
        wanted = ticket + 2;
    }
    let boot_core = Core::current();
    boot_core.block().set_controller_id(own);
    core_local::publish(boot_core);
    features::describe(0);
    if wanted > 1 {
        start_others(wanted, usize::from(inject == Some(Inject::LostCore)));
    }
    core_local::count()
}

/// Starts all but so many of those that are wanted, and awaits all.
fn start_others(wanted: usize, lost: usize) {
    let Some(page) = memory::take_trampoline_page() else {
        log::error!("the firmware leaves no page below 1 MiB free: only the boot core is used");
        return;
    };
    let (page, frames) = (page.start(), page.share());
    let Some(root) = root_with(page, &frames) else {
        log::error!("no memory for the page tables that cores start with: only the boot core is used");
        return;
    };
    let ids = APIC_IDS[1..wanted - lost].iter().map(|id| id.load(Ordering::Relaxed) as u32);
    let all_up = || {
        counters::answer(wanted);
        core_local::count() == wanted
    };
    let stacks = STACKS.as_ptr().cast();
    let how = Start { root, tickets: &NEXT_TICKET, stacks, entry: core_started };
    // SAFETY: the page is nobody else's, and the root maps it and the kernel; there is a stack for each of the cores, which the firmware
    // lists as there to be started, and which are not this one.
    unsafe { arch::start_cores::start(ids, page, &how, all_up) };
    if !clock::wait_for_arrivals(all_up, core_local::count, PATIENCE_MICROSECONDS) {
        log::error!("{} of {wanted} cores have not started", wanted - core_local::count());
    }
}

/// The root that cores start with: it maps the page of their first instructions where it is, besides the kernel.
fn root_with(page: PhysAddr, frames: &SharedFrames) -> Option<PhysAddr> {
    let mut space = memory::with_kernel_space(|space| space.another())?;
    let at = VirtAddr::new(page.as_u64());
    space.map_for_kernel(at, &frames.mappable(0, PAGE_BYTES), Access::RX, false).ok()?;
    Some(space.root())
}

/// Where the trampoline delivers a core.
extern "C" fn core_started(ticket: u64) -> ! {
    early::guard(&events::HANDLERS);
    // Relaxed throughout this function: the boot core's start command orders what it wrote before.
    let structure = STRUCTURES[ticket as usize].load(Ordering::Relaxed) as *const Core;
    // SAFETY: the boot core stored a `&'static Core` for each ticket it started a core for.
    let core = unsafe { &*structure };
    memory::with_kernel_space(|space| space.activate());
    features::enable();
    // Relaxed: as above.
    if FAIL.load(Ordering::Relaxed) {
        inject::read_unmapped();
    }
    interrupt_controller::init();
    let id = interrupt_controller::id();
    let index = APIC_IDS.iter().skip(1).position(|known| known.load(Ordering::Relaxed) == u64::from(id));
    let index = index.expect("only cores that the firmware lists are started") + 1;
    // SAFETY: each ticket is drawn once, so this is the only core that takes over the structure, and its interrupts have been off since the
    // reset.
    unsafe { core.take_over(index as u32, id) };
    features::describe(index);
    if SKEW.load(Ordering::Relaxed) {
        clock::set_ticks(clock::ticks().wrapping_add(SKEW_TICKS));
    }
    core.set_counter_ahead(counters::ahead(index, PATIENCE_MICROSECONDS));
    core_local::publish(core);
    panic::check_in();
    node::run()
}
