//! The stack a program starts with.

use lwk_elf::Program;
use lwk_mm::layout::Layout;
use lwk_stack::{Hardware, Start};

use crate::arch::features::features;
use crate::arch::{clock, random};
use crate::description::Problem;
use crate::user_memory::FreshFrames;

/// The part of the stack that arguments and environment may take: one in so many.
const STACK_PART: u64 = 4;

/// Builds a rank's stack in its segment and returns the stack pointer that its program starts with. Errors: what arguments and environment take
/// beyond their part of the stack.
pub fn build(
    layout: &Layout,
    segment: &mut FreshFrames,
    program: &Program<'static>,
    file: &lwk_job::Job<'static>,
) -> Result<u64, Problem> {
    let bytes = (layout.stack_end - layout.stack_start) / STACK_PART;
    let memory = segment.piece(layout.stack_end - bytes - layout.segment_start, bytes);
    let mut seed = [0; 16];
    for chunk in seed.chunks_exact_mut(8) {
        chunk.copy_from_slice(&random::random().unwrap_or_else(clock::ticks).to_le_bytes());
    }
    let found = features();
    let start = Start {
        program,
        arguments: file.arguments(),
        environment: file.environment(),
        hardware: Hardware {
            hwcap: found.basic_word.into(),
            hwcap2: found.auxiliary_word(),
            // A system call is cheap here.
            clocks: 0,
        },
        random: seed,
    };
    start.write(memory, layout.stack_end).map_err(Problem::Stack)
}
