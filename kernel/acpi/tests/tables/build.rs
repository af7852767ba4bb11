//! Physical memory with tables in it, written field by field.

use lwk_acpi::Memory;

/// Memory from address 0 on.
pub struct Physical(pub Vec<u8>);

impl<'m> Memory<'m> for &'m Physical {
    fn read(self, address: u64, bytes: usize) -> Option<&'m [u8]> {
        let start = usize::try_from(address).ok()?;
        self.0.get(start..start.checked_add(bytes)?)
    }
}

/// Where [`memory`] puts the root pointer.
pub const POINTER: u64 = 0x40;

/// Who made a table, as its header says.
pub struct Maker {
    pub oem: &'static [u8; 6],
    pub table: &'static [u8; 8],
    pub revision: u32,
    pub compiler: &'static [u8; 4],
    pub compiler_revision: u32,
}

/// Nobody in particular.
pub const PLAIN: Maker =
    Maker { oem: b"MARGAY", table: b"TESTDATA", revision: 1, compiler: b"TEST", compiler_revision: 1 };

/// A whole table with a right checksum.
pub fn table(signature: &[u8; 4], revision: u8, maker: &Maker, body: &[u8]) -> Vec<u8> {
    let mut bytes = signature.to_vec();
    bytes.extend((36 + body.len() as u32).to_le_bytes());
    bytes.extend([revision, 0]);
    bytes.extend(maker.oem);
    bytes.extend(maker.table);
    bytes.extend(maker.revision.to_le_bytes());
    bytes.extend(maker.compiler);
    bytes.extend(maker.compiler_revision.to_le_bytes());
    bytes.extend(body);
    mend(&mut bytes, 9);
    bytes
}

/// Makes the bytes add up to zero by that at `place`.
pub fn mend(bytes: &mut [u8], place: usize) {
    bytes[place] = 0;
    bytes[place] = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_sub(*byte));
}

/// Memory with these tables, in both lists.
pub fn memory(tables: &[Vec<u8>]) -> Physical {
    const FIRST: usize = 0x1000;
    let mut content = vec![0; FIRST];
    let mut addresses = Vec::new();
    for bytes in tables {
        addresses.push(content.len() as u64);
        content.extend(bytes);
        content.resize(content.len().next_multiple_of(16), 0xee);
    }
    let long: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
    let short: Vec<u8> = addresses.iter().flat_map(|address| (*address as u32).to_le_bytes()).collect();
    let mut place = |bytes: Vec<u8>| {
        let address = content.len() as u64;
        content.extend(bytes);
        address
    };
    let xsdt = place(table(b"XSDT", 1, &PLAIN, &long));
    let rsdt = place(table(b"RSDT", 1, &PLAIN, &short));
    let mut pointer = b"RSD PTR \0MARGAY\x02".to_vec();
    pointer.extend((rsdt as u32).to_le_bytes());
    mend(&mut pointer, 8);
    pointer.extend(36u32.to_le_bytes());
    pointer.extend(xsdt.to_le_bytes());
    pointer.extend([0; 4]);
    mend(&mut pointer, 32);
    content[POINTER as usize..POINTER as usize + pointer.len()].copy_from_slice(&pointer);
    Physical(content)
}
