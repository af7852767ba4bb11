//! The thread-pointer registers of programs. In the kernel, the program's `GS` base waits in the swap register.

use x86_64::VirtAddr;
use x86_64::registers::model_specific::{FsBase, KernelGsBase};

/// `FS` and `GS` bases of the program that runs on this core.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadPointers {
    pub fs: u64,
    pub gs: u64,
}

impl ThreadPointers {
    /// Those of the program that has entered the kernel on this core.
    pub fn read() -> ThreadPointers {
        ThreadPointers { fs: FsBase::read().as_u64(), gs: KernelGsBase::read().as_u64() }
    }

    /// Gives them to the program that this core runs next.
    pub fn write(self) {
        write_fs(self.fs);
        write_gs(self.gs);
    }
}

/// Sets the program's `FS` base; bits 48 to 63 are taken to be as bit 47. A program can also set any canonical value itself (`wrfsbase`).
pub fn write_fs(base: u64) {
    FsBase::write(VirtAddr::new_truncate(base));
}

/// As [`write_fs`] for `GS`, effective when the kernel is left.
pub fn write_gs(base: u64) {
    KernelGsBase::write(VirtAddr::new_truncate(base));
}
