//! How a core finds its own data: the `GS` base, in the kernel.

use core::arch::asm;

use x86_64::VirtAddr;
use x86_64::registers::model_specific::{GsBase, KernelGsBase, Msr};

use crate::core_local::Core;

const GS_BASE: Msr = Msr::new(0xc000_0101);

/// Makes `core` the data of the executing core; the program's side of the swap starts at zero.
pub fn set(core: &'static Core) {
    GsBase::write(VirtAddr::new(core::ptr::from_ref(core) as u64));
    KernelGsBase::write(VirtAddr::zero());
}

/// The executing core has no data yet.
pub fn clear() {
    GsBase::write(VirtAddr::zero());
}

/// The data of the executing core, if it has some: [`set`], rather than [`clear`], came last. Slower than [`get`].
pub fn try_get() -> Option<&'static Core> {
    // SAFETY: in the kernel the register holds null after `clear`, or the address of a structure that is never freed after `set`.
    unsafe { (GS_BASE.read() as *const Core).as_ref() }
}

/// The data of the executing core; only after [`set`] on it.
pub fn get() -> &'static Core {
    let core: *const Core;
    // SAFETY: in the kernel `GS` points to the core's structure from [`set`] on, as every entry sees to; it is never freed, and its first
    // word is its own address.
    unsafe {
        asm!("mov {}, gs:[0]", out(reg) core, options(nostack, readonly, pure, preserves_flags));
        &*core
    }
}
