//! Starting every core of the node: reset, wait, start, and each takes over its own structure.

use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use lwk_abi::address::PAGE_BYTES;
use lwk_mm::Access;
use lwk_mm::address::VirtAddr;
use lwk_mm::table::{self, MapFlags};

use super::ap_trampoline::{self, Start};
use super::paging::LinearTables;
use super::{clock, early, features, interrupt_controller};
use crate::acpi_tables::Tables;
use crate::core_local::{self, CORES_MAX, Core};
use crate::{memory, panic, scheduler};

/// Time between reset and start of a core, in microseconds (Intel MultiProcessor Specification 1.4, appendix B.4).
const RESET_MICROSECONDS: u64 = 10_000;
/// Time after the first start command in which a core may show itself before it gets the second, in microseconds.
const START_MICROSECONDS: u64 = 200;
/// Cores that have not shown themselves by then, in microseconds, are left out. Cores of a virtual machine are threads of a host that may be busy.
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
/// How often a starting core compares its counter with those of the others, which race with it.
const COUNTER_COMPARISONS: usize = 256;
/// The latest time any core has shown, in ticks of its counter.
static LATEST_TICKS: AtomicU64 = AtomicU64::new(0);

/// Starts at most `limit` cores, the boot core among them, and returns how many are up. The boot core has index 0, the
/// others follow in the firmware's order. With `fail`, those fail as soon as they start.
pub fn start(tables: &Tables, limit: Option<usize>, fail: bool) -> usize {
    FAIL.store(fail, Ordering::Relaxed);
    interrupt_controller::silence_legacy();
    let own = interrupt_controller::id();
    let limit = limit.unwrap_or(CORES_MAX).clamp(1, CORES_MAX);
    if tables.surplus_cores > 0 && limit == CORES_MAX {
        log::warn!("{} cores beyond the {CORES_MAX} that the kernel can use stay off", tables.surplus_cores);
    }
    let others = tables.cores.iter().copied().filter(|id| *id != own).take(limit - 1);
    let mut wanted = 1;
    APIC_IDS[0].store(own.into(), Ordering::Relaxed);
    for (ticket, id) in others.enumerate() {
        let Some(core) = Core::create(ticket + 1) else {
            log::error!("no memory for the stacks of core {}; it and those after it stay off", ticket + 1);
            break;
        };
        STACKS[ticket].store(core.kernel_stack(), Ordering::Relaxed);
        STRUCTURES[ticket].store(core::ptr::from_ref(core) as usize, Ordering::Relaxed);
        APIC_IDS[ticket + 1].store(id.into(), Ordering::Relaxed);
        wanted = ticket + 2;
    }
    let boot_core = Core::current();
    boot_core.set_apic_id(own);
    core_local::publish(boot_core);
    features::describe(0);
    if wanted > 1 {
        start_others(wanted);
    }
    core_local::count()
}

fn start_others(wanted: usize) {
    let Some(page) = memory::trampoline_page() else {
        log::error!("the firmware leaves no page below 1 MiB free: only the boot core is used");
        return;
    };
    let Some(root) = memory::allocate_frame() else {
        log::error!("no memory for the page tables that cores start with: only the boot core is used");
        return;
    };
    memory::copy_kernel_half(memory::kernel_root(), root);
    let identity = table::map(
        &mut LinearTables,
        root,
        VirtAddr(page.0),
        page,
        PAGE_BYTES,
        Access::RX,
        MapFlags::default(),
    );
    if let Err(problem) = identity {
        log::error!("cores cannot be started: {problem}");
        return;
    }
    // SAFETY: the page is below one megabyte and reserved for this by `memory::init`; the root maps it and the kernel.
    unsafe {
        let stacks = STACKS.as_ptr().cast();
        ap_trampoline::install(page, &Start { root, tickets: &NEXT_TICKET, stacks, entry: core_started });
    }

    let ids = || APIC_IDS[1..wanted].iter().map(|id| id.load(Ordering::Relaxed) as u32);
    let all_up = || core_local::count() == wanted;
    let page_number = (page.0 / PAGE_BYTES) as u8;
    show_ticks();
    ids().for_each(interrupt_controller::reset_core);
    clock::delay(RESET_MICROSECONDS);
    for _ in 0..2 {
        if !all_up() {
            ids().for_each(|id| interrupt_controller::start_core(id, page_number));
            wait_until(all_up, START_MICROSECONDS);
        }
    }
    if !wait_until(all_up, PATIENCE_MICROSECONDS) {
        log::error!("{} of {wanted} cores have not started", wanted - core_local::count());
    }
}

/// Waits for `condition`, at most `microseconds`; says whether it came true.
fn wait_until(condition: impl Fn() -> bool, microseconds: u64) -> bool {
    let end = clock::ticks() + clock::ticks_a_second() / 1_000_000 * microseconds;
    while !condition() {
        if clock::ticks() > end {
            return false;
        }
        show_ticks();
        core::hint::spin_loop();
    }
    true
}

/// Tells the other cores what time it is here.
fn show_ticks() {
    // Release: pairs with the acquire in `counter_lag`.
    LATEST_TICKS.fetch_max(clock::ticks(), Ordering::Release);
}

/// By how many ticks this core's counter was behind one that another core had read before, at most; 0 if never.
fn counter_lag() -> u64 {
    let compare = |_| {
        // Acquire: pairs with the release in `show_ticks`; the counter here is read after the other core has read its own.
        let seen = LATEST_TICKS.load(Ordering::Acquire);
        let lag = seen.saturating_sub(clock::ticks());
        show_ticks();
        lag
    };
    (0..COUNTER_COMPARISONS).map(compare).max().unwrap_or(0)
}

/// Where the trampoline delivers a core.
extern "C" fn core_started(ticket: u64) -> ! {
    early::guard();
    // Relaxed throughout this function: the boot core's start command orders what it wrote before.
    let structure = STRUCTURES[ticket as usize].load(Ordering::Relaxed) as *const Core;
    // SAFETY: the boot core stored a `&'static Core` for each ticket it started a core for.
    let core = unsafe { &*structure };
    // SAFETY: the kernel root has the kernel half of the root this core started with, and the code and stack in use are in
    // the upper half.
    unsafe { super::paging::switch_root(memory::kernel_root()) };
    features::enable();
    // Relaxed: as above.
    if FAIL.load(Ordering::Relaxed) {
        crate::inject::read_unmapped();
    }
    interrupt_controller::init();
    let id = interrupt_controller::id();
    let index = APIC_IDS.iter().skip(1).position(|known| known.load(Ordering::Relaxed) == u64::from(id));
    let index = index.expect("only cores that the firmware lists are started") + 1;
    // SAFETY: each ticket is drawn once, so this is the only core that takes over the structure.
    unsafe { core.take_over(index as u32, id) };
    features::describe(index);
    let lag = counter_lag();
    if lag > 0 {
        log::warn!(
            "the time stamp counter of core {index} lags by {lag} ticks: times of its ranks do not compare"
        );
    }
    core_local::publish(core);
    panic::check_in();
    scheduler::run()
}
