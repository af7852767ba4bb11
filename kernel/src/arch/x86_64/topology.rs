//! What this processor says of what it shares with others.

use core::arch::x86_64::__cpuid_count;

use lwk_topology::{Answer, Own};

/// How interrupt controller numbers divide here, and this core's kind.
pub fn own() -> Own {
    Own::read(|leaf, subleaf| {
        let found = __cpuid_count(leaf, subleaf);
        Answer { eax: found.eax, ebx: found.ebx, ecx: found.ecx, edx: found.edx }
    })
}
