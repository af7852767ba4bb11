//! The stack a program starts with: arguments, environment and auxiliary vector as Linux lays them out (System V ABI,
//! x86-64, section 3.4.1).

use lwk_abi::address::SEGMENT_START;

use crate::arch::features::features;
use crate::arch::{clock, copy, random};
use crate::job::Problem;
use crate::memory;
use crate::rank::Rank;

/// Keys of the auxiliary vector, by Linux's numbers.
mod key {
    pub const NULL: u64 = 0;
    pub const PHDR: u64 = 3;
    pub const PHENT: u64 = 4;
    pub const PHNUM: u64 = 5;
    pub const PAGESZ: u64 = 6;
    pub const BASE: u64 = 7;
    pub const FLAGS: u64 = 8;
    pub const ENTRY: u64 = 9;
    pub const UID: u64 = 11;
    pub const EUID: u64 = 12;
    pub const GID: u64 = 13;
    pub const EGID: u64 = 14;
    pub const PLATFORM: u64 = 15;
    pub const HWCAP: u64 = 16;
    pub const CLKTCK: u64 = 17;
    pub const SECURE: u64 = 23;
    pub const RANDOM: u64 = 25;
    pub const HWCAP2: u64 = 26;
    pub const EXECFN: u64 = 31;
}

/// Linux's clock ticks a second, as programs see them.
const CLOCK_TICKS: u64 = 100;
/// Bit of `HWCAP2`: programs may use the FSGSBASE instructions.
const HWCAP2_FSGSBASE: u64 = 1 << 1;
/// Bytes of the values at `RANDOM`.
const RANDOM_BYTES: usize = 16;

/// Writes into a rank's stack from its end downwards.
struct StackWriter<'a> {
    rank: &'a Rank,
    next: u64,
    limit: u64,
}

impl StackWriter<'_> {
    /// Puts bytes below what is there and returns their address.
    fn push(&mut self, bytes: &[u8]) -> Result<u64, Problem> {
        let start = self.next - bytes.len() as u64;
        if start < self.limit {
            return Err(Problem::ArgumentsTooLong);
        }
        let target = memory::linear(self.rank.segment()).wrapping_add((start - SEGMENT_START) as usize);
        // SAFETY: `limit` and the stack's end lie in the rank's segment; the rank does not run yet.
        unsafe { copy::copy(target, bytes.as_ptr(), bytes.len()) };
        self.next = start;
        Ok(start)
    }

    fn push_word(&mut self, word: u64) -> Result<(), Problem> {
        self.push(&word.to_le_bytes()).map(drop)
    }

    fn push_string(&mut self, text: &[u8]) -> Result<u64, Problem> {
        self.push(&[0])?;
        self.push(text)
    }
}

/// Builds the stack of `rank` and returns the stack pointer its program starts with.
pub fn build(rank: &Rank, file: &lwk_job::Job<'static>) -> Result<u64, Problem> {
    let layout = rank.layout();
    let program = rank.job().program();
    let stack_bytes = layout.stack_end - layout.stack_start;
    let limit = layout.stack_end - stack_bytes / 4;
    let mut stack = StackWriter { rank, next: layout.stack_end, limit };

    stack.push_word(0)?;
    let name = file.arguments().next().unwrap_or(b"");
    let name = stack.push_string(name)?;
    let platform = stack.push_string(b"x86_64")?;
    let mut seed = [0; RANDOM_BYTES];
    for chunk in seed.chunks_exact_mut(8) {
        chunk.copy_from_slice(&random::random().unwrap_or_else(clock::ticks).to_le_bytes());
    }
    let seed = stack.push(&seed)?;
    // Strings from the last to the first, so that they lie in order; their addresses follow from their lengths.
    let strings = || file.arguments().chain(file.environment());
    let strings_end = stack.next;
    let count = strings().count();
    for index in (0..count).rev() {
        stack.push_string(strings().nth(index).unwrap_or(b""))?;
    }
    let strings_start = stack.next;
    stack.next &= !0xf;

    let auxiliary = [
        (key::PHDR, program.headers_address),
        (key::PHENT, program.header_bytes.into()),
        (key::PHNUM, program.header_count.into()),
        (key::PAGESZ, lwk_abi::address::PAGE_BYTES),
        (key::BASE, 0),
        (key::FLAGS, 0),
        (key::ENTRY, program.entry),
        (key::UID, 0),
        (key::EUID, 0),
        (key::GID, 0),
        (key::EGID, 0),
        (key::SECURE, 0),
        (key::PLATFORM, platform),
        (key::HWCAP, features().basic_word.into()),
        (key::HWCAP2, if features().fsgsbase { HWCAP2_FSGSBASE } else { 0 }),
        (key::CLKTCK, CLOCK_TICKS),
        (key::RANDOM, seed),
        (key::EXECFN, name),
        (key::NULL, 0),
    ];
    // What follows is an argument count, both pointer lists with their nulls, and the auxiliary vector.
    let words = 1 + count + 2 + 2 * auxiliary.len();
    if words % 2 == 1 {
        stack.push_word(0)?;
    }
    for (key, value) in auxiliary.into_iter().rev() {
        stack.push_word(value)?;
        stack.push_word(key)?;
    }
    let arguments = file.arguments().count();
    let mut end = strings_end;
    stack.push_word(0)?;
    for index in (0..count).rev() {
        if index + 1 == arguments {
            stack.push_word(0)?;
        }
        end -= strings().nth(index).unwrap_or(b"").len() as u64 + 1;
        stack.push_word(end)?;
    }
    debug_assert!(end == strings_start, "the strings lie where their addresses say");
    stack.push_word(arguments as u64)?;
    Ok(stack.next)
}
