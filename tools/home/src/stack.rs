//! The initial stack of a program, as Linux lays it out on x86-64 (System V ABI, AMD64 supplement, section 3.4.1): argument
//! count, argument pointers, null, environment pointers, null, auxiliary vector; above them the strings.

use lwk_elf::Program;

/// What the stack's end holds when a program starts.
#[derive(Debug, PartialEq, Eq)]
pub struct InitialStack {
    /// The stack pointer, a multiple of 16: the address of the argument count.
    pub pointer: u64,
    /// The bytes from there to the stack's end.
    pub bytes: Vec<u8>,
}

/// Auxiliary vector entries by Linux's numbers (include/uapi/linux/auxvec.h).
mod auxiliary {
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

/// The processor's own entries, as Linux told the loader.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hardware {
    pub hwcap: u64,
    pub hwcap2: u64,
}

impl InitialStack {
    /// Builds the stack that ends at `end`, a page boundary, for `program`. `random` is what `AT_RANDOM` leads to.
    pub fn new(
        end: u64,
        program: &Program<'_>,
        arguments: &[&[u8]],
        environment: &[&[u8]],
        hardware: Hardware,
        random: [u8; 16],
    ) -> InitialStack {
        let mut strings = Strings { end, bytes: Vec::new() };
        let platform = strings.push(b"x86_64");
        let random = strings.push_raw(&random);
        let name = strings.push(arguments.first().copied().unwrap_or_default());
        let environment: Vec<u64> = environment.iter().map(|text| strings.push(text)).collect();
        let arguments: Vec<u64> = arguments.iter().map(|text| strings.push(text)).collect();
        let vector = [
            (auxiliary::PHDR, program.headers_address),
            (auxiliary::PHENT, u64::from(program.header_bytes)),
            (auxiliary::PHNUM, u64::from(program.header_count)),
            (auxiliary::PAGESZ, lwk_abi::address::PAGE_BYTES),
            (auxiliary::BASE, 0),
            (auxiliary::FLAGS, 0),
            (auxiliary::ENTRY, program.entry),
            (auxiliary::UID, 0),
            (auxiliary::EUID, 0),
            (auxiliary::GID, 0),
            (auxiliary::EGID, 0),
            (auxiliary::PLATFORM, platform),
            (auxiliary::HWCAP, hardware.hwcap),
            (auxiliary::HWCAP2, hardware.hwcap2),
            (auxiliary::CLKTCK, 100),
            (auxiliary::SECURE, 0),
            (auxiliary::RANDOM, random),
            (auxiliary::EXECFN, name),
            (auxiliary::NULL, 0),
        ];
        let mut words = vec![arguments.len() as u64];
        words.extend(arguments);
        words.push(0);
        words.extend(environment);
        words.push(0);
        words.extend(vector.iter().flat_map(|&(kind, value)| [kind, value]));

        let pointer = (end - strings.bytes.len() as u64 - 8 * words.len() as u64) & !15;
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.resize((end - pointer) as usize - strings.bytes.len(), 0);
        bytes.extend(strings.in_order());
        InitialStack { pointer, bytes }
    }
}

/// Strings put down from the stack's end.
struct Strings {
    end: u64,
    /// The bytes in descending order of address.
    bytes: Vec<u8>,
}

impl Strings {
    /// Puts down a string and its NUL; returns its address.
    fn push(&mut self, text: &[u8]) -> u64 {
        self.bytes.push(0);
        self.push_raw(text)
    }

    fn push_raw(&mut self, text: &[u8]) -> u64 {
        self.bytes.extend(text.iter().rev());
        self.end - self.bytes.len() as u64
    }

    fn in_order(self) -> impl Iterator<Item = u8> {
        self.bytes.into_iter().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwk_abi::address::SEGMENT_START;

    const END: u64 = SEGMENT_START + (16 << 20);

    fn stack(arguments: &[&[u8]], environment: &[&[u8]]) -> InitialStack {
        let program = Program {
            entry: 0x401000,
            segments: Default::default(),
            headers_address: 0x400040,
            header_bytes: 56,
            header_count: 4,
            end: 0x402000,
        };
        InitialStack::new(END, &program, arguments, environment, Hardware::default(), *b"0123456789abcdef")
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
            (7..).step_by(2).map(|i| (word(&stack, i), word(&stack, i + 1))).take(19).collect();
        assert!(
            vector.contains(&(auxiliary::ENTRY, 0x401000)) && vector.contains(&(auxiliary::PHDR, 0x400040))
        );
        assert_eq!(vector[18], (auxiliary::NULL, 0));
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
}
