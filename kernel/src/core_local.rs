//! What the kernel keeps for each core: stacks, descriptor tables, counters, and the rank that runs there.
//!
//! A core reaches its own [`Core`] through [`Core::current`], and others' through [`core`]. Only the owner writes it.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use lwk_abi::address::PAGE_BYTES;
use lwk_abi::syscall::CoreCounters;

use crate::arch;
use crate::arch::descriptors::{Descriptors, InterruptStack};
use crate::arch::trap_frame::TrapFrame;
use crate::memory::{self, NoMemory};
use crate::rank::Rank;

/// The most cores the kernel uses: the reach of 8-bit interrupt controller numbers.
pub const CORES_MAX: usize = 255;

/// Offset of [`Core::kernel_stack`], for the entry code.
pub const CORE_KERNEL_STACK: usize = core::mem::offset_of!(Core, kernel_stack);
/// Offset of [`Core::user_stack`], for the entry code.
pub const CORE_USER_STACK: usize = core::mem::offset_of!(Core, user_stack);

/// One core. The entry code knows the offsets of three fields; [`Core::create`] places it for ever.
#[repr(C)]
pub struct Core {
    /// This structure's own address, which is how a core finds it.
    this: AtomicPtr<Core>,
    /// Virtual address of the kernel stack's end.
    kernel_stack: u64,
    /// Where the entry code keeps a program's stack pointer for a moment.
    user_stack: AtomicU64,
    /// Number in the order of the firmware's tables; set once, before the core shows itself.
    index: AtomicU32,
    /// Interrupt controller number; set as `index` is.
    apic_id: AtomicU32,
    /// The rank whose program this core runs, or null. Relaxed everywhere: only the core itself uses it.
    running: AtomicPtr<Rank>,
    /// Whether the core has loaded its ranks' images. Relaxed everywhere: only the core itself uses it.
    loaded: AtomicBool,
    pub counters: Counters,
    descriptors: core::cell::UnsafeCell<Descriptors>,
}

// SAFETY: every field but `descriptors` is immutable or atomic, and the descriptors are touched once, by `Core::take_over`
// on the core itself.
unsafe impl Sync for Core {}

/// Counts of what entered the kernel on a core. The owner adds; others read when the job has ended.
pub struct Counters {
    vectors: [AtomicU64; 256],
    syscalls: AtomicU64,
}

/// First vector that is an interrupt rather than an exception; the non-maskable interrupt counts as one too.
const FIRST_INTERRUPT: usize = 32;
const NON_MASKABLE: usize = 2;

impl Counters {
    const fn new() -> Counters {
        Counters { vectors: [const { AtomicU64::new(0) }; 256], syscalls: AtomicU64::new(0) }
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
    }

    /// How often one vector, 0 to 255, has struck.
    pub fn vector(&self, vector: usize) -> u64 {
        self.vectors[vector].load(Ordering::Relaxed)
    }

    /// The sums that programs and the report are told.
    pub fn summary(&self) -> CoreCounters {
        let is_interrupt = |vector: &usize| *vector >= FIRST_INTERRUPT || *vector == NON_MASKABLE;
        let all = || 0..self.vectors.len();
        CoreCounters {
            interrupts: all().filter(is_interrupt).map(|vector| self.vector(vector)).sum(),
            faults: all().filter(|vector| !is_interrupt(vector)).map(|vector| self.vector(vector)).sum(),
            syscalls: self.syscalls.load(Ordering::Relaxed),
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
/// Bytes at the top of an interrupt stack that hold the core's address, for the entry code; keeps 16-byte alignment.
const STACK_OWNER_BYTES: u64 = 16;

impl Core {
    /// Memory and stacks of a core: the boot core for `ticket` 0, else the one that draws the ticket before. Each stack has an unmapped page
    /// below it.
    ///
    /// Nothing if the node's memory does not suffice. Each ticket once: its stacks have their addresses by it.
    pub fn create(ticket: usize) -> Option<&'static Core> {
        let mut next = memory::CORE_AREAS + ticket as u64 * AREA_BYTES;
        let mut stack = |bytes: u64| {
            let start = next + PAGE_BYTES;
            next = start + bytes;
            memory::map_core_area(start, bytes).ok().map(|()| next)
        };
        let kernel_stack = stack(KERNEL_STACK_BYTES)?;
        let mut interrupt_stack =
            |which| stack(INTERRUPT_STACK_BYTES).map(|end| (which, end - STACK_OWNER_BYTES));
        let interrupt_stacks = [
            interrupt_stack(InterruptStack::NonMaskable)?,
            interrupt_stack(InterruptStack::DoubleFault)?,
            interrupt_stack(InterruptStack::MachineCheck)?,
            interrupt_stack(InterruptStack::Debug)?,
        ];
        let core = memory::place(Core {
            this: AtomicPtr::default(),
            kernel_stack,
            user_stack: AtomicU64::new(0),
            index: AtomicU32::new(u32::MAX),
            apic_id: AtomicU32::new(0),
            running: AtomicPtr::default(),
            loaded: AtomicBool::new(false),
            counters: Counters::new(),
            descriptors: Descriptors::new(kernel_stack, interrupt_stacks).into(),
        })?;
        let address: *mut Core = core;
        // Relaxed: whatever shows the core to others orders it.
        core.this.store(address, Ordering::Relaxed);
        for (_, end) in interrupt_stacks {
            // SAFETY: the word lies in the stack just mapped, above what the processor will use.
            unsafe { (end as *mut u64).write(address as u64) };
        }
        Some(core)
    }

    /// Makes this the structure of the core that calls: stacks, descriptors, system calls.
    ///
    /// # Safety
    /// Called once for this structure, by one core, with interrupts disabled.
    pub unsafe fn take_over(&'static self, index: u32, apic_id: u32) {
        // Relaxed, both: the core itself uses them; others find the core by `publish`, which orders them.
        self.index.store(index, Ordering::Relaxed);
        self.apic_id.store(apic_id, Ordering::Relaxed);
        // SAFETY: called once, so no other reference to the descriptors exists, ever.
        unsafe { &mut *self.descriptors.get() }.load();
        arch::core_pointer::set(self);
        arch::interrupts::load();
        arch::entry::enable_syscalls();
    }

    /// The core that executes this.
    pub fn current() -> &'static Core {
        arch::core_pointer::get()
    }

    /// As [`Core::current`] for a core that may not have its structure yet.
    pub fn try_current() -> Option<&'static Core> {
        arch::core_pointer::try_get()
    }

    /// Number of the core, from 0 for the boot core; [`CORES_MAX`] or more before [`Core::take_over`].
    pub fn index(&self) -> usize {
        // Relaxed: set before the core is published.
        self.index.load(Ordering::Relaxed) as usize
    }

    /// Interrupt controller number, by which the core is interrupted.
    pub fn apic_id(&self) -> u32 {
        // Relaxed: as for `index`.
        self.apic_id.load(Ordering::Relaxed)
    }

    /// Sets the number found once the interrupt controller is up; the boot core only.
    pub fn set_apic_id(&self, id: u32) {
        // Relaxed: `publish` follows.
        self.apic_id.store(id, Ordering::Relaxed);
    }

    /// Virtual address of the kernel stack's end; the stack is empty whenever a program runs.
    pub fn kernel_stack(&self) -> u64 {
        self.kernel_stack
    }

    /// Whether this core has loaded its ranks' images; it is asked once with the answer no.
    pub fn has_loaded(&self) -> bool {
        // Relaxed: only the core itself uses it.
        self.loaded.swap(true, Ordering::Relaxed)
    }

    /// The registers with which the program on this core has entered the kernel; if it is in user mode, those of its last
    /// entry.
    pub fn frame_of_program(&self) -> TrapFrame {
        // SAFETY: the kernel stack is mapped and the entry code builds a frame at its end; any bit pattern is a frame. Only
        // the core itself calls this, in an interrupt that does not use this stack.
        unsafe { (self.kernel_stack as *const TrapFrame).sub(1).read_volatile() }
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
    CORES[core.index()].store(core.this.load(Ordering::Relaxed), Ordering::Release);
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
