//! Builds program files for the tests, right or wrong in any field.

use elf::abi;
use lwk_abi::address::SEGMENT_START;

/// One program header.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub address: u64,
    pub file_bytes: u64,
    pub memory_bytes: u64,
    pub align: u64,
}

/// A program file before it is written.
#[derive(Clone, Debug)]
pub struct File {
    pub kind: u16,
    pub machine: u16,
    pub entry: u64,
    pub header_bytes: u16,
    pub headers: Vec<Header>,
    pub data: Vec<u8>,
}

/// Where the program headers start, as linkers put them.
pub const HEADERS_OFFSET: u64 = 64;

impl File {
    /// A right program: code with the headers in it, constants, and data with bss.
    pub fn good() -> File {
        let load = |flags, page: u64, file_bytes, memory_bytes| Header {
            kind: abi::PT_LOAD,
            flags,
            offset: page * 0x1000,
            address: SEGMENT_START + page * 0x1000,
            file_bytes,
            memory_bytes,
            align: 0x1000,
        };
        File {
            kind: abi::ET_EXEC,
            machine: abi::EM_X86_64,
            entry: SEGMENT_START + 0x400,
            header_bytes: 56,
            headers: vec![
                load(abi::PF_R | abi::PF_X, 0, 0x1000, 0x1000),
                load(abi::PF_R, 1, 0x800, 0x800),
                load(abi::PF_R | abi::PF_W, 2, 0x10, 0x3000),
            ],
            data: (0..0x2010u32).map(|byte| byte as u8).collect(),
        }
    }

    /// The same, position independent: addresses count from 0.
    pub fn position_independent() -> File {
        let mut file = File { kind: abi::ET_DYN, ..File::good() };
        file.entry -= SEGMENT_START;
        file.headers.iter_mut().for_each(|header| header.address -= SEGMENT_START);
        file
    }

    /// The file's bytes: `data` with the headers written over its start.
    pub fn bytes(&self) -> Vec<u8> {
        let mut head = vec![0x7f, b'E', b'L', b'F', abi::ELFCLASS64, abi::ELFDATA2LSB, abi::EV_CURRENT, 0];
        head.resize(16, 0);
        head.extend(self.kind.to_le_bytes());
        head.extend(self.machine.to_le_bytes());
        head.extend(1u32.to_le_bytes());
        head.extend(self.entry.to_le_bytes());
        head.extend(HEADERS_OFFSET.to_le_bytes());
        head.extend(0u64.to_le_bytes());
        head.extend(0u32.to_le_bytes());
        head.extend(64u16.to_le_bytes());
        head.extend(self.header_bytes.to_le_bytes());
        head.extend((self.headers.len() as u16).to_le_bytes());
        head.extend([0; 6]);
        for header in &self.headers {
            head.extend(header.kind.to_le_bytes());
            head.extend(header.flags.to_le_bytes());
            let fields =
                [header.offset, header.address, header.address, header.file_bytes, header.memory_bytes];
            fields.into_iter().chain([header.align]).for_each(|field| head.extend(field.to_le_bytes()));
        }
        let mut bytes = self.data.clone();
        bytes.resize(bytes.len().max(head.len()), 0);
        bytes[..head.len()].copy_from_slice(&head);
        bytes
    }
}
