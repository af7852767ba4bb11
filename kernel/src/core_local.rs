//! What the kernel keeps for each core: stacks, descriptor tables, counters, and the rank that runs there.
//!
//! A core reaches its own [`Core`] through [`Core::current`], and others' through [`core()`]. Only the owner writes it.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

use lwk_abi::address::PAGE_BYTES;
use lwk_abi::syscall::CoreCounters;
use lwk_topology::Own;

use crate::arch::clock;
use crate::arch::core_block::{self, CoreBlock};
use crate::arch::exceptions::{FIRST_INTERRUPT, NON_MASKABLE};
use crate::arch::{management_interrupts, topology};
use crate::memory::{self, NoMemory};
use crate::rank::Rank;

/// The most cores the kernel uses: the reach of 8-bit interrupt controller numbers.
pub const CORES_MAX: usize = 255;

/// One core; [`Core::create`] places it for ever.
#[repr(C)]
pub struct Core {
    /// What the entry code needs; first, since a core finds itself by the address of this.
    block: CoreBlock,
    /// Number in the order of the firmware's tables; set once, before the core shows itself.
    index: AtomicU32,
    /// The rank whose program this core runs, or null. Relaxed everywhere: only the core itself uses it.
    running: AtomicPtr<Rank>,
    /// What the core says of what it shares; set once, before the core shows itself.
    topology: spin::Once<Own>,
    /// Whether the core has loaded its ranks' images. Relaxed everywhere: only the core itself uses it.
    loaded: AtomicBool,
    /// Fences that it has made for others.
    fences: AtomicU64,
    /// Ticks that its time stamp counter is ahead of the boot core's, modulo 2⁶⁴; set once, before the core shows itself.
    counter_ahead: AtomicU64,
    pub counters: Counters,
}

/// Counts of what entered the kernel on a core. The owner adds; others read when the job has ended.
pub struct Counters {
    vectors: [AtomicU64; 256],
    syscalls: AtomicU64,
    /// What the processor had counted of system management interrupts when the first program began, and how many there were until the core's last rank
    /// ended; [`CoreCounters::NOT_COUNTED`] where it does not count.
    smis_before: AtomicU64,
    smis: AtomicU64,
}

impl Counters {
    const fn new() -> Counters {
        Counters {
            vectors: [const { AtomicU64::new(0) }; 256],
            syscalls: AtomicU64::new(0),
            smis_before: AtomicU64::new(0),
            smis: AtomicU64::new(CoreCounters::NOT_COUNTED),
        }
    }

    // Relaxed throughout: a core counts for itself, and the report reads after the last rank's end, which
    // `job::Job::rank_ended` orders.

    /// Counts an interrupt or exception on this core.
    pub fn count_vector(&self, vector: u8) {
        add_one(&self.vectors[vector as usize]);
    }

    /// Counts a system call on this core.
    pub fn count_syscall(&self) {
        add_one(&self.syscalls);
    }

    /// The system call just counted will be made again.
    pub fn uncount_syscall(&self) {
        self.syscalls.store(self.syscalls.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    /// Forgets what happened before the core's first program.
    pub fn reset(&self) {
        self.vectors.iter().chain([&self.syscalls]).for_each(|count| count.store(0, Ordering::Relaxed));
        self.smis_before.store(management_interrupts::count().unwrap_or(0), Ordering::Relaxed);
    }

    /// Takes the processor's count of system management interrupts; for the core itself.
    pub fn take_smis(&self) {
        if let Some(count) = management_interrupts::count() {
            self.smis
                .store(count.saturating_sub(self.smis_before.load(Ordering::Relaxed)), Ordering::Relaxed);
        }
    }

    /// How often one vector, 0 to 255, has struck.
    pub fn vector(&self, vector: usize) -> u64 {
        self.vectors[vector].load(Ordering::Relaxed)
    }

    /// The sums that programs and the report are told.
    pub fn summary(&self) -> CoreCounters {
        let is_interrupt =
            |vector: &usize| *vector >= FIRST_INTERRUPT.into() || *vector == NON_MASKABLE.into();
        let all = || 0..self.vectors.len();
        CoreCounters {
            interrupts: all().filter(is_interrupt).map(|vector| self.vector(vector)).sum(),
            faults: all().filter(|vector| !is_interrupt(vector)).map(|vector| self.vector(vector)).sum(),
            syscalls: self.syscalls.load(Ordering::Relaxed),
            smis: self.smis.load(Ordering::Relaxed),
        }
    }
}

/// Adds to a counter that only this core writes: no locked instruction.
fn add_one(count: &AtomicU64) {
    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Bytes of address space a core's stacks take; a power of two.
const AREA_BYTES: u64 = 256 << 10;
const KERNEL_STACK_BYTES: u64 = 32 << 10;
const INTERRUPT_STACK_BYTES: u64 = 12 << 10;
impl Core {
    /// Memory and stacks of a core: the boot core for `ticket` 0, else the one that draws the ticket before. Each stack has an unmapped page
    /// below it.
    ///
    /// Nothing if the node's memory does not suffice, or for a ticket that has been drawn: stacks have their addresses by it.
    pub fn create(ticket: usize) -> Option<&'static Core> {
        let mut next = ticket as u64 * AREA_BYTES;
        let mut stack = |bytes: u64| {
            let stack = memory::map_stack(next, bytes).ok();
            next += PAGE_BYTES + bytes;
            stack
        };
        let kernel_stack = stack(KERNEL_STACK_BYTES)?;
        let mut interrupt_stack = || stack(INTERRUPT_STACK_BYTES);
        let interrupt_stacks =
            [interrupt_stack()?, interrupt_stack()?, interrupt_stack()?, interrupt_stack()?];
        let core = memory::place(Core {
            block: CoreBlock::new(kernel_stack, interrupt_stacks),
            index: AtomicU32::new(u32::MAX),
            running: AtomicPtr::default(),
            topology: spin::Once::new(),
            loaded: AtomicBool::new(false),
            fences: AtomicU64::new(0),
            counter_ahead: AtomicU64::new(0),
            counters: Counters::new(),
        })?;
        Some(core)
    }

    /// Makes this the structure of the core that calls: stacks, descriptors, system calls.
    ///
    /// # Safety
    /// As for [`CoreBlock::take_over`].
    pub unsafe fn take_over(&'static self, index: u32, controller_id: u32) {
        // Relaxed: the core itself uses it; others find the core by `publish`, which orders it.
        self.index.store(index, Ordering::Relaxed);
        self.topology.call_once(topology::own);
        // SAFETY: this function's contract, which is the same.
        unsafe { self.block.take_over(controller_id) };
    }

    /// The core that executes this.
    pub fn current() -> &'static Core {
        Core::of(core_block::current())
    }

    /// As [`Core::current`] for a core that may not have its structure yet.
    pub fn try_current() -> Option<&'static Core> {
        core_block::try_current().map(Core::of)
    }

    fn of(block: &'static CoreBlock) -> &'static Core {
        // SAFETY: only `Core::take_over` makes blocks current, and each is the first field of a `Core` that stays for ever; the structure
        // has C's layout.
        unsafe { &*core::ptr::from_ref(block).cast::<Core>() }
    }

    /// What the processor and the entry code need of it.
    pub fn block(&self) -> &CoreBlock {
        &self.block
    }

    /// Number of the core, from 0 for the boot core; [`CORES_MAX`] or more before [`Core::take_over`].
    pub fn index(&self) -> usize {
        // Relaxed: set before the core is published.
        self.index.load(Ordering::Relaxed) as usize
    }

    /// What the core says of what it shares with others.
    pub fn topology(&self) -> Own {
        self.topology.get().copied().unwrap_or_else(topology::own)
    }

    /// Ticks that its time stamp counter is ahead of the boot core's, modulo 2⁶⁴.
    pub fn counter_ahead(&self) -> u64 {
        // Relaxed: set before the core is published.
        self.counter_ahead.load(Ordering::Relaxed)
    }

    /// Sets [`Core::counter_ahead`]; the core itself, before it is published.
    pub fn set_counter_ahead(&self, ticks: u64) {
        // Relaxed: others find the core by `publish`, which orders it.
        self.counter_ahead.store(ticks, Ordering::Relaxed);
    }

    /// The time that all cores agree on, in ticks of the boot core's counter; for the core itself.
    pub fn node_ticks(&self) -> u64 {
        clock::ticks().wrapping_sub(self.counter_ahead())
    }

    /// A fence of this core, which others have asked for; for the core itself.
    pub fn fence(&self) {
        // SeqCst: the fence is what this is for, and whoever sees the count has it before. Others that wait read it in `fences`.
        fence(Ordering::SeqCst);
        self.fences.fetch_add(1, Ordering::SeqCst);
    }

    /// How many fences it has made for others.
    pub fn fences(&self) -> u64 {
        // SeqCst: pairs with `fence`; what is asked before this is not answered by a fence that is counted already.
        self.fences.load(Ordering::SeqCst)
    }

    /// Whether this core has loaded its ranks' images; it is asked once with the answer no.
    pub fn has_loaded(&self) -> bool {
        // Relaxed: only the core itself uses it.
        self.loaded.swap(true, Ordering::Relaxed)
    }

    /// The rank whose program runs on this core; for the core itself.
    pub fn running(&self) -> Option<&'static Rank> {
        // SAFETY: the pointer is null or was made from a `&'static Rank`, by this core, so that its content is there to be seen.
        unsafe { self.running.load(Ordering::Relaxed).as_ref() }
    }

    /// Notes which rank's program this core is about to run, or that it runs none.
    pub fn set_running(&self, rank: Option<&'static Rank>) {
        let pointer = rank.map_or(core::ptr::null_mut(), |rank| core::ptr::from_ref(rank).cast_mut());
        self.running.store(pointer, Ordering::Relaxed);
    }
}

static CORES: [AtomicPtr<Core>; CORES_MAX] = [const { AtomicPtr::new(core::ptr::null_mut()) }; CORES_MAX];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Shows a core to the others, which find it by its index.
pub fn publish(core: &'static Core) {
    // Release: pairs with the acquire in `core`; whoever finds the core finds it set up.
    CORES[core.index()].store(core::ptr::from_ref(core).cast_mut(), Ordering::Release);
    // Release: pairs with the acquire in `count`.
    COUNT.fetch_add(1, Ordering::Release);
}

/// Cores that have shown themselves by [`publish`].
pub fn count() -> usize {
    // Acquire: pairs with the release in `publish`.
    COUNT.load(Ordering::Acquire)
}

/// The core with an index, if it has shown itself.
pub fn core(index: usize) -> Option<&'static Core> {
    // Acquire: pairs with the release in `publish`.
    let pointer = CORES.get(index)?.load(Ordering::Acquire);
    // SAFETY: null, or made from a `&'static Core`.
    unsafe { pointer.as_ref() }
}

/// Sets up the boot core, which has index 0. Errors: there is no memory for its stacks.
pub fn init_boot_core() -> Result<(), NoMemory> {
    let core = Core::create(0).ok_or(NoMemory)?;
    // SAFETY: the boot core does this once, with interrupts disabled since the boot loader.
    unsafe { core.take_over(0, 0) };
    Ok(())
}
