//! The thread-pointer registers of programs. In the kernel, the program's `GS` base waits in the swap register.
//!
//! A program sets them itself where the processor lets it (`wrfsbase`, `wrgsbase`). Real processors refuse a value that is no
//! address; QEMU's emulation takes any. So what a register holds is read and written as the number that it is, never as an address.

use x86_64::VirtAddr;
use x86_64::registers::model_specific::Msr;

const FS_BASE: Msr = Msr::new(0xc000_0100);
const KERNEL_GS_BASE: Msr = Msr::new(0xc000_0102);

/// `FS` and `GS` bases of the program that runs on this core: any bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadPointers {
    fs: u64,
    gs: u64,
}

impl ThreadPointers {
    /// Those of the program that has entered the kernel on this core.
    pub fn read() -> ThreadPointers {
        // SAFETY: every processor with 64-bit mode has these registers; reading has no effect.
        unsafe { ThreadPointers { fs: FS_BASE.read(), gs: KERNEL_GS_BASE.read() } }
    }

    /// Gives them to the program that this core runs next. They are as they were read on this core: what the processor has let
    /// a program put there it takes again.
    pub fn write(self) {
        write_fs(self.fs);
        write_gs(self.gs);
    }

    pub fn fs(self) -> u64 {
        self.fs
    }

    pub fn gs(self) -> u64 {
        self.gs
    }
}

/// Sets the program's `FS` base.
pub fn set_fs(base: VirtAddr) {
    write_fs(base.as_u64());
}

/// As [`set_fs`] for `GS`, effective when the kernel is left.
pub fn set_gs(base: VirtAddr) {
    write_gs(base.as_u64());
}

/// Sets `FS`: an address, or what [`ThreadPointers::read`] has found there.
fn write_fs(base: u64) {
    let mut register = FS_BASE;
    // SAFETY: the kernel addresses nothing by `FS`.
    unsafe { register.write(base) };
}

/// As [`write_fs`] for `GS`.
fn write_gs(base: u64) {
    let mut register = KERNEL_GS_BASE;
    // SAFETY: the register holds the program's side of the swap while the kernel runs, which addresses nothing by it.
    unsafe { register.write(base) };
}
