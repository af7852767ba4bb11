//! PCI (PCI Local Bus 3.0, PCI Express Base 5.0): which functions there are, their capabilities, base addresses and message interrupts.
//!
//! Pure logic over [`Configuration`], the configuration space of a machine. Nothing that a device says makes this crate panic or run on: lists
//! have their greatest length, and what makes no sense is not there.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod base_address;
pub mod capability;
mod enumerate;
pub mod message;

use bitflags::bitflags;

pub use base_address::BaseAddress;
pub use capability::{Capability, VendorStructure};
pub use enumerate::enumerate;
pub use message::{Interrupts, Message};

/// One function of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    pub bus: u8,
    /// Below 32.
    pub device: u8,
    /// Below 8.
    pub function: u8,
}

impl Function {
    /// Where its configuration space begins, in bytes from that of bus 0 (PCI Express, section 7.2.2).
    pub fn offset(self) -> u64 {
        u64::from(self.bus) << 20 | u64::from(self.device & 31) << 15 | u64::from(self.function & 7) << 12
    }
}

impl core::fmt::Display for Function {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:02x}:{:02x}.{}", self.bus, self.device, self.function)
    }
}

/// The configuration space. What is not there reads as ones.
pub trait Configuration {
    /// The word at `offset`, a multiple of 4 below 256.
    fn read(&self, function: Function, offset: u8) -> u32;

    /// Writes the word at `offset`, a multiple of 4 below 256.
    fn write(&mut self, function: Function, offset: u8, value: u32);
}

/// Registers of the header (PCI 3.0, section 6.1).
pub mod register {
    pub const IDENTITY: u8 = 0x00;
    pub const COMMAND: u8 = 0x04;
    pub const CLASS: u8 = 0x08;
    pub const HEADER_TYPE: u8 = 0x0c;
    pub const BASE_ADDRESS: u8 = 0x10;
    pub const BUSES: u8 = 0x18;
    pub const CAPABILITIES: u8 = 0x34;
}

bitflags! {
    /// The command register; in the upper half is the status, whose bits are cleared by writing ones.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Command: u32 {
        const PORTS = 1 << 0;
        const MEMORY = 1 << 1;
        const MASTER = 1 << 2;
        const NO_LINE_INTERRUPT = 1 << 10;
        const HAS_CAPABILITIES = 1 << 20;
    }
}

/// What a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub vendor: u16,
    pub device: u16,
    /// Class and subclass: 0x0200 is an Ethernet controller.
    pub class: u16,
}

/// Reads what a function is; none if it is not there.
pub fn identity(configuration: &impl Configuration, function: Function) -> Option<Identity> {
    let word = configuration.read(function, register::IDENTITY);
    let class = (configuration.read(function, register::CLASS) >> 16) as u16;
    let vendor = word as u16;
    (vendor != 0xffff && vendor != 0).then_some(Identity { vendor, device: (word >> 16) as u16, class })
}

/// Lets a function answer at its base addresses and reach memory by itself; it must not use its interrupt line.
pub fn switch_on(configuration: &mut impl Configuration, function: Function) {
    let now = configuration.read(function, register::COMMAND) & 0xffff;
    let wanted = Command::MEMORY | Command::MASTER | Command::NO_LINE_INTERRUPT;
    configuration.write(function, register::COMMAND, now | wanted.bits());
}
