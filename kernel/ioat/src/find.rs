//! Devices on the PCI bus: functions of Intel's with a known number, and where their registers are.
//!
//! Each processor has several functions with a channel or more each; one is used. Whether it is of version 3 its registers say ([`crate::Ioat::attach`]).

use arrayvec::ArrayVec;
use lwk_pci::{BaseAddress, Configuration, Function, Identity, base_address, enumerate};

use crate::registers::REGISTER_BYTES;

const VENDOR: u16 = 0x8086;
/// "Other system peripheral".
const CLASS: u16 = 0x0880;
/// Runs of device numbers, each by its first and how many there are, as the public drivers of Linux and DPDK list them: Xeon 5500, C5500, four generations of E5,
/// Atom S1200, Xeon D, two generations of Xeon Scalable.
const DEVICES: [(u16, u16); 15] = [
    (0x3429, 4),
    (0x3430, 4),
    (0x3710, 10),
    (0x3c20, 8),
    (0x3c2e, 2),
    (0x0e20, 8),
    (0x0e2e, 2),
    (0x2f20, 8),
    (0x2f2e, 2),
    (0x6f20, 8),
    (0x6f2e, 2),
    (0x0c50, 4),
    (0x6f50, 4),
    (0x2021, 1),
    (0x0b00, 1),
];
/// The registers' base address.
const BASE: u8 = 0;
/// Functions that are looked at, at most: those of two processors.
const LOOKED_AT: usize = 16;

/// A device that has been found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub function: Function,
    /// Where its registers are, as many as the driver uses or more.
    pub registers: BaseAddress,
}

/// Whether a function is such a device.
#[must_use]
pub fn is_it(identity: Identity) -> bool {
    let known = |(first, count): &(u16, u16)| (*first..first + count).contains(&identity.device);
    identity.vendor == VENDOR && identity.class == CLASS && DEVICES.iter().any(known)
}

/// The first such device whose registers the firmware has placed. While they are measured it answers nowhere.
pub fn find(space: &mut impl Configuration) -> Option<Found> {
    let mut functions = ArrayVec::<Function, LOOKED_AT>::new();
    enumerate(space, |function, identity| {
        if is_it(identity) {
            // Those that are too many are not looked at.
            _ = functions.try_push(function);
        }
    });
    functions.into_iter().find_map(|function| {
        let registers = base_address::memory(space, function, BASE)?;
        (registers.bytes >= REGISTER_BYTES as u64).then_some(Found { function, registers })
    })
}
