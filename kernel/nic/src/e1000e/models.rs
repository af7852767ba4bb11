//! Cards of the family by their PCI numbers, from Intel's public datasheets.

use lwk_pci::Identity;

/// What a card can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// 82574: frames of 9000 bytes.
    Card82574,
    /// The Ethernet part of a chipset (I217, I218, I219). Its jumbo frames need settings of the part beyond the
    /// bus that no datasheet tells, so they are not used.
    Chipset,
}

const VENDOR: u16 = 0x8086;
const DEVICES_82574: [u16; 2] = [0x10d3, 0x10f6];
const DEVICES_I217: [u16; 2] = [0x153a, 0x153b];
const DEVICES_I218: [u16; 6] = [0x155a, 0x1559, 0x15a0, 0x15a1, 0x15a2, 0x15a3];
const DEVICES_I219: [u16; 29] = [
    0x156f, 0x1570, 0x15b7, 0x15b8, 0x15b9, 0x15d7, 0x15d8, 0x15e3, 0x15d6, 0x15bd, 0x15be, 0x15bb, 0x15bc,
    0x15df, 0x15e0, 0x15e1, 0x15e2, 0x0d4e, 0x0d4f, 0x0d4c, 0x0d4d, 0x0d53, 0x0d55, 0x15fb, 0x15fc, 0x15f9,
    0x15fa, 0x15f4, 0x15f5,
];

/// Which one a function is, if it is one.
pub fn of(identity: Identity) -> Option<Model> {
    let is = |devices: &[u16]| devices.contains(&identity.device);
    match identity.vendor {
        VENDOR if is(&DEVICES_82574) => Some(Model::Card82574),
        VENDOR if is(&DEVICES_I217) || is(&DEVICES_I218) || is(&DEVICES_I219) => Some(Model::Chipset),
        _ => None,
    }
}
