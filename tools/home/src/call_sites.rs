//! Where a program makes system calls: its `syscall` instructions, found by decoding its code from the symbols in its file.
//!
//! Wherever the two bytes of the opcode stand, decoding from the symbol before them tells whether they are an instruction
//! or a part of another one. Where it cannot tell (no symbol, or what stands between is no code), the program is refused: a
//! call that is missed would go to Linux, a wrong one would change what the program does.

use iced_x86::{Code, Decoder, DecoderOptions, Instruction};
use lwk_elf::Program;
use object::{Object, ObjectSymbol, SymbolKind};

/// The `syscall` instruction.
const SYSCALL: [u8; 2] = [0x0f, 0x05];
/// What takes its place: `ud2`, which raises an invalid-opcode exception.
pub const UD2: [u8; 2] = [0x0f, 0x0b];

/// A `syscall` instruction. Its opcode is the last two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// Address of the first byte, prefixes included.
    pub start: u64,
    /// Address of the next instruction.
    pub end: u64,
}

/// The address of bytes that may or may not be a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unclear(pub u64);

/// All `syscall` instructions of a program, by address. `file` is what `program` was read from.
///
/// # Errors
/// The first bytes that may be one or not.
pub fn find(program: &Program<'_>, file: &[u8]) -> Result<Vec<CallSite>, Unclear> {
    let symbols = symbols(file, program.bias);
    let mut sites = Vec::new();
    for segment in program.segments.iter().filter(|segment| segment.access.execute) {
        for at in opcodes(segment.data) {
            let address = segment.address + at as u64;
            let from = symbols[..symbols.partition_point(|symbol| *symbol <= address)].last();
            let from = from.filter(|from| **from >= segment.address).ok_or(Unclear(address))?;
            let code = &segment.data[(from - segment.address) as usize..];
            sites.extend(decode(code, *from, address)?);
        }
    }
    Ok(sites)
}

/// Where code begins, as far as the file says, in ascending order; in memory, where all is `bias` above the file's addresses.
fn symbols(file: &[u8], bias: u64) -> Vec<u64> {
    // A file whose symbols cannot be read has none: then what is unclear is refused.
    let Ok(file) = object::File::parse(file) else { return Vec::new() };
    // Those of assembly often have no type.
    let code = file.symbols().filter(|symbol| {
        symbol.is_definition()
            && matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown | SymbolKind::Label)
    });
    let mut addresses: Vec<u64> = code.map(|symbol| symbol.address().wrapping_add(bias)).collect();
    addresses.sort_unstable();
    addresses
}

/// Offsets of the opcode's bytes.
fn opcodes(code: &[u8]) -> impl Iterator<Item = usize> {
    code.windows(SYSCALL.len()).enumerate().filter(|(_, bytes)| **bytes == SYSCALL).map(|(at, _)| at)
}

/// Decodes `code`, which stands at `from`, up to the bytes at `address`: the call that they end, if that is what they do.
fn decode(code: &[u8], from: u64, address: u64) -> Result<Option<CallSite>, Unclear> {
    let mut decoder = Decoder::with_ip(64, code, from, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let end = address + SYSCALL.len() as u64;
    while decoder.can_decode() && decoder.ip() <= address {
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            return Err(Unclear(address));
        }
        if instruction.code() == Code::Syscall && instruction.next_ip() == end {
            return Ok(Some(CallSite { start: instruction.ip(), end }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x40_1000;

    #[test]
    fn an_instruction_is_a_call() {
        // mov eax, 39; syscall; ret
        let code = [0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xc3];
        assert_eq!(opcodes(&code).collect::<Vec<_>>(), [5]);
        assert_eq!(decode(&code, AT, AT + 5), Ok(Some(CallSite { start: AT + 5, end: AT + 7 })));
    }

    #[test]
    fn a_prefix_belongs_to_the_call() {
        assert_eq!(
            decode(&[0x90, 0x48, 0x0f, 0x05], AT, AT + 2),
            Ok(Some(CallSite { start: AT + 1, end: AT + 4 }))
        );
    }

    #[test]
    fn a_part_of_another_instruction_is_none() {
        // mov eax, 0x050f; ret
        let code = [0xb8, 0x0f, 0x05, 0, 0, 0xc3];
        assert_eq!(opcodes(&code).collect::<Vec<_>>(), [1]);
        assert_eq!(decode(&code, AT, AT + 1), Ok(None));
    }

    #[test]
    fn what_follows_no_code_is_unclear() {
        // 0x06 is no instruction in 64-bit mode.
        assert_eq!(decode(&[0x06, 0x0f, 0x05], AT, AT + 1), Err(Unclear(AT + 1)));
    }
}
