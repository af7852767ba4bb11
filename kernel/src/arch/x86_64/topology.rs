//! What this processor says of what it shares with others.

use core::arch::x86_64::__cpuid_count;

use lwk_topology::{Answer, Own, ProgramWait};

/// How interrupt controller numbers divide here, and this core's kind.
pub fn own() -> Own {
    Own::read(ask)
}

/// How programs may have the processor wait.
pub fn program_wait() -> Option<ProgramWait> {
    ProgramWait::read(ask)
}

fn ask(leaf: u32, subleaf: u32) -> Answer {
    let found = __cpuid_count(leaf, subleaf);
    Answer { eax: found.eax, ebx: found.ebx, ecx: found.ecx, edx: found.edx }
}
