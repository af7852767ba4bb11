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
    pub fn read() -> ThreadPointers {
        ThreadPointers { fs: FsBase::read().as_u64(), gs: KernelGsBase::read().as_u64() }
    }

    pub fn write(self) {
        write_fs(self.fs);
        write_gs(self.gs);
    }
}

/// Sets the program's `FS` base; a program can also set any canonical value itself (`wrfsbase`).
pub fn write_fs(base: u64) {
    FsBase::write(VirtAddr::new_truncate(base));
}

/// Sets the program's `GS` base, effective when the kernel is left.
pub fn write_gs(base: u64) {
    KernelGsBase::write(VirtAddr::new_truncate(base));
}
