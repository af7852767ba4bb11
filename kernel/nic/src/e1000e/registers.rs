//! Registers of the e1000e family: offsets and bits (Intel 82574 datasheet, chapter 10; I217, I218 and I219 datasheets, chapter "Programming").

use bitflags::bitflags;

use crate::Registers;

pub const CONTROL: usize = 0x0000;
pub const STATUS: usize = 0x0008;
pub const EXTENDED_CONTROL: usize = 0x0018;
/// Reading clears all causes, writing those that are written.
pub const CAUSES: usize = 0x00c0;
/// Time that passes between two interrupts at least, in [`GAP_UNIT_NS`]. The first one after a longer silence comes at once.
pub const GAP: usize = 0x00c4;
pub const GAP_UNIT_NS: u32 = 256;
pub const MASK_SET: usize = 0x00d0;
pub const MASK_CLEAR: usize = 0x00d8;
pub const RECEIVE_CONTROL: usize = 0x0100;
pub const TRANSMIT_CONTROL: usize = 0x0400;
pub const RECEIVE: Queue = Queue(0x2800);
pub const TRANSMIT: Queue = Queue(0x3800);
/// Frames that were lost since no buffer was free; reading clears it.
pub const MISSED: usize = 0x4010;
/// Hash table of group addresses.
pub const GROUPS: usize = 0x5200;
pub const GROUP_WORDS: usize = 128;
pub const ADDRESS_LOW: usize = 0x5400;
pub const ADDRESS_HIGH: usize = 0x5404;
/// Bytes of registers that the driver uses.
pub const BYTES: usize = 0x5408;

/// Registers of one queue.
#[derive(Clone, Copy, Debug)]
pub struct Queue(usize);

impl Queue {
    pub fn base_low(self) -> usize {
        self.0
    }
    pub fn base_high(self) -> usize {
        self.0 + 0x04
    }
    /// Bytes of the descriptors.
    pub fn bytes(self) -> usize {
        self.0 + 0x08
    }
    pub fn head(self) -> usize {
        self.0 + 0x10
    }
    pub fn tail(self) -> usize {
        self.0 + 0x18
    }
    /// How long the card waits for more frames before it interrupts; each frame begins the time anew.
    pub fn delay(self) -> usize {
        self.0 + 0x20
    }
    pub fn descriptors(self) -> usize {
        self.0 + 0x28
    }
    /// How long it waits at most.
    pub fn delay_most(self) -> usize {
        self.0 + 0x2c
    }

    /// Tells the card of the queue's descriptors, and that it begins, empty, at place `at`.
    pub fn begin(self, registers: &Registers, address: u64, bytes: usize, at: usize) {
        let write = |register: usize, value: u32| registers.word(register).write(value);
        write(self.base_low(), address as u32);
        write(self.base_high(), (address >> 32) as u32);
        write(self.bytes(), bytes as u32);
        write(self.head(), at as u32);
        write(self.tail(), at as u32);
        // No frame waits for others that may never come: interrupts are spaced instead (`GAP`).
        write(self.delay(), 0);
        write(self.delay_most(), 0);
    }
}

bitflags! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Control: u32 {
        /// The card may not begin to reach memory any more.
        const NO_MASTER = 1 << 2;
        const LINK_UP = 1 << 6;
        const FORCE_SPEED = 1 << 11;
        const FORCE_DUPLEX = 1 << 12;
        const RESET = 1 << 26;
        const _ = !0;
    }
}

bitflags! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Status: u32 {
        const LINK_UP = 1 << 1;
        /// The card may reach memory, and perhaps does.
        const MASTER = 1 << 19;
        const _ = !0;
    }
}

bitflags! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ExtendedControl: u32 {
        /// Causes are masked when they have been read. Not wanted: the driver masks them itself.
        const MASK_WHEN_READ = 1 << 27;
        /// The driver has the card, for the firmware to know.
        const DRIVER_LOADED = 1 << 28;
        const _ = !0;
    }
}

bitflags! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Causes: u32 {
        const LINK_CHANGE = 1 << 2;
        /// Few buffers are left.
        const FEW_BUFFERS = 1 << 4;
        const OVERRUN = 1 << 6;
        const RECEIVED = 1 << 7;
        const _ = !0;
    }
}

bitflags! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ReceiveControl: u32 {
        const ON = 1 << 1;
        const LONG_FRAMES = 1 << 5;
        const BROADCAST = 1 << 15;
        const STRIP_CHECKSUM = 1 << 26;
        const _ = !0;
    }
}

/// Buffers of so many KiB (82574: FLXBUF); 0: of 2 KiB.
pub fn buffer_kib(kib: u32) -> ReceiveControl {
    ReceiveControl::from_bits_retain(kib << 27)
}

bitflags! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct TransmitControl: u32 {
        const ON = 1 << 1;
        const PAD_SHORT = 1 << 3;
        /// Threshold and distance of collisions, as the datasheet says for full duplex.
        const COLLISIONS = 0x0f << 4 | 0x3f << 12;
        const _ = !0;
    }
}

/// Each descriptor is written back when it is done, and counted as one.
pub const WRITE_BACK_EACH: u32 = 1 << 16 | 1 << 22 | 1 << 24;

bitflags! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AddressHigh: u32 {
        const VALID = 1 << 31;
        const _ = !0;
    }
}
