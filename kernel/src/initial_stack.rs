//! The stack a program starts with.

use lwk_stack::{Hardware, Start};

use crate::arch::features::features;
use crate::arch::{clock, random};
use crate::job::Problem;
use crate::memory;
use crate::rank::Rank;

/// Bit of `Hardware::hwcap2`: programs may use the FSGSBASE instructions.
const FSGSBASE: u64 = 1 << 1;
/// The part of the stack that arguments and environment may take: one in so many.
const STACK_PART: u64 = 4;

/// Builds the stack of `rank` and returns the stack pointer its program starts with. Errors: what arguments and environment take beyond their part of
/// the stack.
pub fn build(rank: &Rank, file: &lwk_job::Job<'static>) -> Result<u64, Problem> {
    let layout = rank.layout();
    let bytes = (layout.stack_end - layout.stack_start) / STACK_PART;
    let start = layout.stack_end - bytes - layout.segment_start;
    let memory = memory::linear(rank.segment()).wrapping_add(start as usize);
    // SAFETY: the stack lies in the rank's segment, which is mapped in the linear map; no rank of the job runs yet, so nobody
    // else touches it.
    let memory = unsafe { core::slice::from_raw_parts_mut(memory, bytes as usize) };
    let mut seed = [0; 16];
    for chunk in seed.chunks_exact_mut(8) {
        chunk.copy_from_slice(&random::random().unwrap_or_else(clock::ticks).to_le_bytes());
    }
    let found = features();
    let start = Start {
        program: rank.job().program(),
        arguments: file.arguments(),
        environment: file.environment(),
        hardware: Hardware {
            hwcap: found.basic_word.into(),
            hwcap2: if found.fsgsbase { FSGSBASE } else { 0 },
            // A system call is cheap here.
            clocks: 0,
        },
        random: seed,
    };
    start.write(memory, layout.stack_end).map_err(Problem::Stack)
}
