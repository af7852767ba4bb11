//! What the entry code keeps for each core, and how a core finds it: the `GS` base, in the kernel.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use x86_64::VirtAddr;
use x86_64::registers::model_specific::{GsBase, KernelGsBase, Msr};

use super::descriptors::{Descriptors, InterruptStack};
use super::trap_frame::TrapFrame;
use super::{entry, interrupts};

const GS_BASE: Msr = Msr::new(0xc000_0101);

/// Offset of [`CoreBlock::kernel_stack`], for the entry code.
pub(super) const KERNEL_STACK: usize = core::mem::offset_of!(CoreBlock, kernel_stack);
/// Offset of [`CoreBlock::user_stack`], for the entry code.
pub(super) const USER_STACK: usize = core::mem::offset_of!(CoreBlock, user_stack);

/// A stack of the kernel's, by its end.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    end: u64,
}

impl Stack {
    /// The stack that ends at `end`.
    ///
    /// # Safety
    /// Memory below `end` is mapped writable, 8 KiB of it at least, for ever, with an unmapped page below it. Nothing else uses it.
    pub const unsafe fn ending_at(end: VirtAddr) -> Stack {
        Stack { end: end.as_u64() }
    }
}

/// Bytes at the top of an interrupt stack that hold the core's address, for the entry code; keeps 16-byte alignment.
const STACK_OWNER_BYTES: u64 = 16;

/// Stacks of a core's interrupts, in the order of [`InterruptStack`].
pub type InterruptStacks = [Stack; InterruptStack::ALL.len()];

/// The processor's side of a core. The entry code knows the offsets of three fields.
#[repr(C)]
pub struct CoreBlock {
    /// This structure's own address, which is how a core finds it.
    this: AtomicPtr<CoreBlock>,
    /// Virtual address of the kernel stack's end.
    kernel_stack: u64,
    /// Where the entry code keeps a program's stack pointer for a moment.
    user_stack: AtomicU64,
    /// Number of the core's interrupt controller.
    controller_id: AtomicU32,
    interrupt_stacks: InterruptStacks,
    descriptors: UnsafeCell<Descriptors>,
}

// SAFETY: every field but `descriptors` is immutable or atomic, and the descriptors are touched once, by `CoreBlock::take_over`
// on the core itself.
unsafe impl Sync for CoreBlock {}

impl CoreBlock {
    /// The block of a core with these stacks, which has not started.
    pub fn new(kernel_stack: Stack, interrupt_stacks: InterruptStacks) -> CoreBlock {
        let ends = interrupt_stacks.map(|stack| stack.end - STACK_OWNER_BYTES);
        CoreBlock {
            this: AtomicPtr::default(),
            kernel_stack: kernel_stack.end,
            user_stack: AtomicU64::new(0),
            controller_id: AtomicU32::new(0),
            interrupt_stacks,
            descriptors: Descriptors::new(kernel_stack.end, ends).into(),
        }
    }

    /// Makes this the block of the core that calls: stacks, descriptors, system calls.
    ///
    /// # Safety
    /// Called once for this block, by one core, with interrupts disabled.
    pub unsafe fn take_over(&'static self, controller_id: u32) {
        let address = core::ptr::from_ref(self).cast_mut();
        // Relaxed, both: the core itself uses them; whatever shows the core to others orders them.
        self.this.store(address, Ordering::Relaxed);
        self.controller_id.store(controller_id, Ordering::Relaxed);
        for stack in self.interrupt_stacks {
            // SAFETY: the word lies in the stack (`Stack::ending_at`), above what the processor will use.
            unsafe { ((stack.end - STACK_OWNER_BYTES) as *mut u64).write(address as u64) };
        }
        // SAFETY: called once (this function's contract), so no other reference to the descriptors exists, ever.
        unsafe { &mut *self.descriptors.get() }.load();
        GsBase::write(VirtAddr::from_ptr(address));
        // The program's side of the swap.
        KernelGsBase::write(VirtAddr::zero());
        interrupts::load();
        entry::enable_syscalls();
    }

    /// Number of the core's interrupt controller, by which the core is interrupted; 0 before [`Self::take_over`].
    pub fn controller_id(&self) -> u32 {
        // Relaxed: set before the core is shown to others.
        self.controller_id.load(Ordering::Relaxed)
    }

    /// Sets the number found once the interrupt controller is up; the boot core only, before it is shown to others.
    pub fn set_controller_id(&self, id: u32) {
        // Relaxed: whatever shows the core to others orders it.
        self.controller_id.store(id, Ordering::Relaxed);
    }

    /// Virtual address of the kernel stack's end; the stack is empty whenever a program runs.
    pub fn kernel_stack(&self) -> u64 {
        self.kernel_stack
    }

    /// The registers with which the program on this core has entered the kernel; if it is in user mode, those of its last
    /// entry. For the core itself, in an interrupt that came on another stack.
    pub fn frame_of_program(&self) -> TrapFrame {
        // SAFETY: the kernel stack is mapped (`Stack::ending_at`), and any bit pattern is a frame; volatile, because no Rust object is
        // there that the compiler knows of.
        unsafe { (self.kernel_stack as *const TrapFrame).sub(1).read_volatile() }
    }
}

/// The executing core has no block yet.
pub(super) fn clear() {
    GsBase::write(VirtAddr::zero());
}

/// The block of the executing core, if it has one. Slower than [`current`].
pub fn try_current() -> Option<&'static CoreBlock> {
    // SAFETY: in the kernel the register holds null after `clear`, or the address of a block that is never freed after `take_over`.
    unsafe { (GS_BASE.read() as *const CoreBlock).as_ref() }
}

/// The block of the executing core. A core that has none yet faults here, at address 0, which nothing is mapped at: that ends the node.
pub fn current() -> &'static CoreBlock {
    let block: *const CoreBlock;
    // SAFETY: in the kernel `GS` points to the core's block from `take_over` on, as every entry sees to; it is never freed, and its first
    // word is its own address. Before, the load faults.
    unsafe {
        asm!("mov {}, gs:[0]", out(reg) block, options(nostack, readonly, pure, preserves_flags));
        &*block
    }
}

/// Calls `function` on this core's empty kernel stack: whatever brought the core here is over, and nothing of it is dropped.
pub fn restart_stack(function: extern "C" fn() -> !) -> ! {
    // SAFETY: the stack is this core's own (`Stack::ending_at`). What is on it belongs to functions that never go on: this one does not
    // return to them.
    unsafe { entry::on_stack(current().kernel_stack, function) }
}
