//! The list of capabilities (PCI 3.0, section 6.7), and virtio's structures in it (virtio 1.2, section 4.1.4).

use crate::{Command, Configuration, Function, register};

/// Numbers of capabilities.
pub const MSI: u8 = 0x05;
pub const VENDOR: u8 = 0x09;
pub const MSI_X: u8 = 0x11;

/// One of a function's capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    pub id: u8,
    /// Where it begins in the configuration space: a multiple of 4 from 64 up.
    pub offset: u8,
}

/// The first capability lies behind the header.
const FIRST: u8 = 0x40;
/// So many of at least 4 bytes fit in what is left of 256.
const COUNT_MAX: usize = 48;

/// A function's capabilities in their order.
pub fn all<C: Configuration>(
    configuration: &C,
    function: Function,
) -> impl Iterator<Item = Capability> + use<'_, C> {
    let status = Command::from_bits_retain(configuration.read(function, register::COMMAND));
    let has = status.contains(Command::HAS_CAPABILITIES);
    let mut next = if has { configuration.read(function, register::CAPABILITIES) as u8 } else { 0 };
    core::iter::from_fn(move || {
        let offset = next & !3;
        if offset < FIRST {
            return None;
        }
        let head = configuration.read(function, offset);
        next = (head >> 8) as u8;
        Some(Capability { id: head as u8, offset })
    })
    // A list that bites its tail ends here.
    .take(COUNT_MAX)
}

/// Where one of virtio's structures is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VendorStructure {
    /// 1: common, 2: notification, 3: interrupt status, 4: the device's own.
    pub kind: u8,
    /// Number of the base address, below 6.
    pub base: u8,
    pub offset: u32,
    pub bytes: u32,
    /// Of notification: bytes from one queue's word to the next one's, by queue number.
    pub step: u32,
}

/// Reads one of virtio's structures; none if the capability is something else.
pub fn vendor_structure(
    configuration: &impl Configuration,
    function: Function,
    capability: Capability,
) -> Option<VendorStructure> {
    const BYTES: u8 = 16;
    const WITH_STEP: u8 = 20;
    let length = (configuration.read(function, capability.offset) >> 16) as u8;
    let fits = capability.offset.checked_add(length).is_some();
    if capability.id != VENDOR || length < BYTES || !fits {
        return None;
    }
    let kind = (configuration.read(function, capability.offset) >> 24) as u8;
    let word = |at: u8| configuration.read(function, capability.offset + at);
    let base = word(4) as u8;
    let step = if length >= WITH_STEP { word(16) } else { 0 };
    (base < 6).then(|| VendorStructure { kind, base, offset: word(8), bytes: word(12), step })
}
