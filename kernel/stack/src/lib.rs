//! The stack a program starts with, as Linux lays it out on x86-64 (System V ABI, AMD64 supplement, section 3.4.1): argument
//! count, argument pointers, null, environment pointers, null, auxiliary vector; above them the strings.
//!
//! Both homes write it with this crate. It needs no allocation: strings and pointers are put down from the stack's end.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

use core::fmt;

use lwk_elf::Program;

/// Auxiliary vector entries by Linux's numbers (include/uapi/linux/auxvec.h).
mod auxiliary {
    pub const NULL: u64 = 0;
    pub const IGNORE: u64 = 1;
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
    pub const SYSINFO_EHDR: u64 = 33;
}

/// Linux's clock ticks a second, as programs see them.
const CLOCK_TICKS: u64 = 100;

/// The processor's own entries of the auxiliary vector (getauxval(3): `AT_HWCAP`, `AT_HWCAP2`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Hardware {
    /// CPUID leaf 1, `edx`.
    pub hwcap: u64,
    /// Linux's further bits; bit 1: programs may use the FSGSBASE instructions.
    pub hwcap2: u64,
    /// Address of a shared object with Linux's clocks (vdso(7)), where the program may call it; 0 if there is none.
    pub clocks: u64,
}

/// What a program is started with: [`Start::write`] makes its stack of it.
#[derive(Clone, Debug)]
pub struct Start<'a, A, E> {
    pub program: &'a Program<'a>,
    /// The arguments in order, at least one; no bytes but NUL are excluded.
    pub arguments: A,
    /// The `NAME=VALUE` strings of the environment in order.
    pub environment: E,
    pub hardware: Hardware,
    /// Random bytes, to which `AT_RANDOM` leads (getauxval(3)).
    pub random: [u8; 16],
}

/// The strings and pointers do not fit the memory given for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "arguments and environment take more than a quarter of the stack; pass less, or give more --mem",
        )
    }
}

impl<'a, A, E> Start<'a, A, E>
where
    A: Iterator<Item = &'a [u8]> + Clone,
    E: Iterator<Item = &'a [u8]> + Clone,
{
    /// Writes the stack into `memory`, which ends at address `end`, a multiple of 16. Returns the stack pointer: the
    /// address of the argument count, a multiple of 16.
    ///
    /// # Errors
    /// [`TooLong`]; then the memory holds parts of it.
    pub fn write(&self, memory: &mut [u8], end: u64) -> Result<u64, TooLong> {
        let mut stack = Downward { end, next: memory.len(), memory };
        let name = stack.string(self.arguments.clone().next().unwrap_or_default())?;
        let platform = stack.string(b"x86_64")?;
        let random = stack.bytes(&self.random)?;
        // From the last to the first, so that the strings lie in order; their addresses follow from their lengths.
        let strings = || self.arguments.clone().chain(self.environment.clone());
        let count = strings().count();
        let mut string_address = stack.address();
        for index in (0..count).rev() {
            stack.string(strings().nth(index).unwrap_or_default())?;
        }

        let vector = self.auxiliary_vector(platform, random, name);
        // An argument count, both lists with their nulls, and the vector: the pointer to them is aligned.
        let words = 1 + count + 2 + 2 * vector.len();
        stack.align(16)?;
        if words % 2 == 1 {
            stack.word(0)?;
        }
        for (kind, value) in vector.into_iter().rev() {
            stack.word(value)?;
            stack.word(kind)?;
        }
        let argument_count = self.arguments.clone().count();
        stack.word(0)?;
        for index in (0..count).rev() {
            if index + 1 == argument_count {
                stack.word(0)?;
            }
            string_address -= strings().nth(index).unwrap_or_default().len() as u64 + 1;
            stack.word(string_address)?;
        }
        stack.word(argument_count as u64)
    }

    fn auxiliary_vector(&self, platform: u64, random: u64, name: u64) -> [(u64, u64); 20] {
        let clocks = self.hardware.clocks;
        [
            (auxiliary::PHDR, self.program.headers_address),
            (auxiliary::PHENT, u64::from(self.program.header_bytes)),
            (auxiliary::PHNUM, u64::from(self.program.header_count)),
            (auxiliary::PAGESZ, lwk_abi::address::PAGE_BYTES),
            (auxiliary::BASE, 0),
            (auxiliary::FLAGS, 0),
            (auxiliary::ENTRY, self.program.entry),
            (auxiliary::UID, 0),
            (auxiliary::EUID, 0),
            (auxiliary::GID, 0),
            (auxiliary::EGID, 0),
            (auxiliary::PLATFORM, platform),
            (auxiliary::HWCAP, self.hardware.hwcap),
            (auxiliary::HWCAP2, self.hardware.hwcap2),
            (auxiliary::CLKTCK, CLOCK_TICKS),
            (auxiliary::SECURE, 0),
            (auxiliary::RANDOM, random),
            (auxiliary::EXECFN, name),
            (if clocks == 0 { auxiliary::IGNORE } else { auxiliary::SYSINFO_EHDR }, clocks),
            (auxiliary::NULL, 0),
        ]
    }
}

/// Puts things down from the end of a piece of memory.
struct Downward<'a> {
    memory: &'a mut [u8],
    /// Address of the memory's end.
    end: u64,
    /// Everything from this index on is taken.
    next: usize,
}

impl Downward<'_> {
    fn address(&self) -> u64 {
        self.end - (self.memory.len() - self.next) as u64
    }

    /// Puts down bytes; returns their address.
    fn bytes(&mut self, bytes: &[u8]) -> Result<u64, TooLong> {
        let start = self.next.checked_sub(bytes.len()).ok_or(TooLong)?;
        self.memory[start..self.next].copy_from_slice(bytes);
        self.next = start;
        Ok(self.address())
    }

    fn word(&mut self, word: u64) -> Result<u64, TooLong> {
        self.bytes(&word.to_ne_bytes())
    }

    /// Puts down a string and its NUL.
    fn string(&mut self, text: &[u8]) -> Result<u64, TooLong> {
        self.bytes(&[0])?;
        self.bytes(text)
    }

    /// Skips to an address that is a multiple of `align`.
    fn align(&mut self, align: u64) -> Result<(), TooLong> {
        let skipped = (self.address() % align) as usize;
        let start = self.next.checked_sub(skipped).ok_or(TooLong)?;
        self.memory[start..self.next].fill(0);
        self.next = start;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwk_abi::address::SEGMENT_START;
    use std::vec;
    use std::vec::Vec;

    const END: u64 = SEGMENT_START + (16 << 20);

    struct InitialStack {
        pointer: u64,
        bytes: Vec<u8>,
    }

    fn write(arguments: &[&[u8]], environment: &[&[u8]], room: usize) -> Result<InitialStack, TooLong> {
        let program = Program {
            bias: 0,
            entry: 0x401000,
            segments: Default::default(),
            headers_address: 0x400040,
            header_bytes: 56,
            header_count: 4,
            end: 0x402000,
        };
        let start = Start {
            program: &program,
            arguments: arguments.iter().copied(),
            environment: environment.iter().copied(),
            hardware: Hardware::default(),
            random: *b"0123456789abcdef",
        };
        let mut memory = vec![0xee; room];
        let pointer = start.write(&mut memory, END)?;
        let used = (END - pointer) as usize;
        Ok(InitialStack { pointer, bytes: memory.split_off(room - used) })
    }

    fn stack(arguments: &[&[u8]], environment: &[&[u8]]) -> InitialStack {
        write(arguments, environment, 4096).unwrap()
    }

    fn word(stack: &InitialStack, index: usize) -> u64 {
        u64::from_ne_bytes(stack.bytes[8 * index..8 * index + 8].try_into().unwrap())
    }

    fn text(stack: &InitialStack, address: u64) -> &[u8] {
        let from = &stack.bytes[(address - stack.pointer) as usize..];
        &from[..from.iter().position(|&byte| byte == 0).unwrap()]
    }

    #[test]
    fn words_lead_to_strings() {
        let stack = stack(&[b"prog", b"", b"x y"], &[b"A=1"]);
        assert_eq!(stack.pointer % 16, 0);
        assert_eq!(stack.pointer + stack.bytes.len() as u64, END);
        assert_eq!(word(&stack, 0), 3);
        assert_eq!(text(&stack, word(&stack, 1)), b"prog");
        assert_eq!(text(&stack, word(&stack, 2)), b"");
        assert_eq!(text(&stack, word(&stack, 3)), b"x y");
        assert_eq!(word(&stack, 4), 0);
        assert_eq!(text(&stack, word(&stack, 5)), b"A=1");
        assert_eq!(word(&stack, 6), 0);
        let vector: Vec<_> =
            (7..).step_by(2).map(|i| (word(&stack, i), word(&stack, i + 1))).take(20).collect();
        assert!(
            vector.contains(&(auxiliary::ENTRY, 0x401000)) && vector.contains(&(auxiliary::PHDR, 0x400040))
        );
        assert_eq!(vector[18], (auxiliary::IGNORE, 0), "no clocks");
        assert_eq!(vector[19], (auxiliary::NULL, 0));
        let random = vector.iter().find(|entry| entry.0 == auxiliary::RANDOM).unwrap().1;
        let at = (random - stack.pointer) as usize;
        assert_eq!(&stack.bytes[at..at + 16], b"0123456789abcdef");
    }

    #[test]
    fn every_length_stays_aligned() {
        for length in 0..40 {
            let stack = stack(&[&vec![b'a'; length]], &[]);
            assert_eq!((stack.pointer % 16, stack.pointer + stack.bytes.len() as u64), (0, END));
        }
    }

    #[test]
    fn strings_lie_in_order() {
        let stack = stack(&[b"a", b"bc"], &[b"D=1", b"E=2"]);
        let addresses = [1, 2, 4, 5].map(|index| word(&stack, index));
        assert_eq!(addresses.map(|address| address - addresses[0]), [0, 2, 5, 9]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let needed = stack(&[b"prog"], &[]).bytes.len();
        assert!(write(&[b"prog"], &[], needed).is_ok());
        for room in 0..needed {
            assert!(write(&[b"prog"], &[], room).is_err(), "{room} bytes");
        }
    }
}
