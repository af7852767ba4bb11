//! Registers and descriptors of Intel's I/OAT, version 3 (Intel Xeon datasheets, volume 2, "Intel QuickData Technology": MMIO registers and DMA descriptor formats).

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Bytes of a device's registers: its own, and those of 8 channels at most.
pub const REGISTER_BYTES: usize = CHANNEL_BYTES * (1 + CHANNELS_MOST);
/// Channels that this driver uses at most.
pub const CHANNELS_MOST: usize = 8;
/// Registers of channel `n` begin at `(n + 1) *` this.
pub const CHANNEL_BYTES: usize = 0x80;

/// Number of channels, 8 bits.
pub const CHANCNT: usize = 0x00;
/// Bytes of a copy at most, as a power of two, 8 bits; 0 stands for 4 GiB.
pub const XFERCAP: usize = 0x01;
/// Interrupt control, 8 bits.
pub const INTRCTRL: usize = 0x03;
pub const MASTER_INT_EN: u8 = 0x01;
/// Version, 8 bits: 0x30 and up here.
pub const CBVER: usize = 0x08;
pub const VERSION_3: u8 = 0x30;

/// Of a channel: control, 16 bits.
pub const CHANCTRL: usize = 0x00;
pub const ANY_ERR_ABORT_EN: u16 = 0x0008;
pub const ERR_COMPLETION_EN: u16 = 0x0004;
pub const INT_REARM: u16 = 0x0001;
/// Command, 8 bits.
pub const CHANCMD: usize = 0x04;
pub const RESET: u8 = 0x20;
/// Descriptors given to the channel since its start, modulo 2^16: a write is the doorbell.
pub const DMACOUNT: usize = 0x06;
/// Address of the last descriptor that is done, and in the low bits the state, 64 bits.
pub const CHANSTS: usize = 0x08;
/// Address of the first descriptor, 64 bits.
pub const CHAINADDR: usize = 0x10;
/// Address of the word to which the device writes what [`CHANSTS`] has, 64 bits.
pub const CHANCMP: usize = 0x18;
/// What has halted the channel, 32 bits; what is written is cleared.
pub const CHANERR: usize = 0x28;

/// Bits of [`CHANERR`].
pub const SOURCE_ADDRESS: u32 = 0x0001;
pub const TARGET_ADDRESS: u32 = 0x0002;
pub const NEXT_ADDRESS: u32 = 0x0004;
pub const NEXT_ALIGNMENT: u32 = 0x0008;
pub const DATA_INTEGRITY: u32 = 0x0080;
pub const CONTROL: u32 = 0x0400;
pub const LENGTH: u32 = 0x0800;

/// States, in the low bits of [`CHANSTS`].
pub const STATE: u64 = 0x7;
pub const ACTIVE: u64 = 0x0;
pub const IDLE: u64 = 0x1;
pub const HALTED: u64 = 0x3;
pub const ARMED: u64 = 0x4;
/// The descriptor's address in it.
pub const DONE_DESCRIPTOR: u64 = !0x3f;

/// A descriptor: 64 bytes, aligned to as many.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Descriptor {
    /// Bytes in the low half, control in the high one.
    pub head: AtomicU64,
    pub source: AtomicU64,
    pub target: AtomicU64,
    pub next: AtomicU64,
    pub unused: [AtomicU64; 4],
}

impl Descriptor {
    /// One of zeros.
    #[must_use]
    pub const fn new() -> Descriptor {
        Descriptor {
            head: AtomicU64::new(0),
            source: AtomicU64::new(0),
            target: AtomicU64::new(0),
            next: AtomicU64::new(0),
            unused: [const { AtomicU64::new(0) }; 4],
        }
    }
}

impl Default for Descriptor {
    fn default() -> Descriptor {
        Descriptor::new()
    }
}

pub const DESCRIPTOR_BYTES: u64 = 64;
const _: () = assert!(size_of::<Descriptor>() as u64 == DESCRIPTOR_BYTES);

/// Control bits: interrupt when done; tell [`CHANCMP`]; no copy at all. The operation is in the highest 8 bits, 0 for a copy.
pub const INT_ENABLE: u32 = 0x01;
pub const COMPLETION_UPDATE: u32 = 0x08;
pub const NULL: u32 = 0x20;
pub const OPERATION: u32 = 0xff00_0000;

/// Registers of a device, real or modelled: mapped memory of [`REGISTER_BYTES`]. Each access is one load or store of its size, as a device wants it.
#[derive(Clone, Copy, Debug)]
pub struct Window(NonNull<u8>);

// SAFETY: all accesses are atomic, and the memory stays (`Window::new`).
unsafe impl Send for Window {}

macro_rules! access {
    ($read:ident, $write:ident, $word:ty, $atomic:ty) => {
        /// Reads a register. Acquire: pairs with the device's writes, in order; a model's are release stores.
        #[must_use]
        pub fn $read(&self, offset: usize) -> $word {
            self.at::<$atomic>(offset).load(Ordering::Acquire)
        }

        /// Writes a register. Release: pairs with the device's read; what was written to memory before is there.
        pub fn $write(&self, offset: usize, value: $word) {
            self.at::<$atomic>(offset).store(value, Ordering::Release);
        }
    };
}

impl Window {
    /// Registers at an address.
    ///
    /// # Safety
    /// [`REGISTER_BYTES`] are mapped there for ever, aligned to 8 bytes, and everybody uses them by atomic accesses.
    #[must_use]
    pub unsafe fn new(start: NonNull<u8>) -> Window {
        Window(start)
    }

    fn at<A>(&self, offset: usize) -> &A {
        assert!(offset + size_of::<A>() <= REGISTER_BYTES && offset.is_multiple_of(size_of::<A>()));
        // SAFETY: within the registers (asserted), which are mapped for ever and used by atomic accesses only (`Window::new`).
        unsafe { self.0.add(offset).cast::<A>().as_ref() }
    }

    access!(read8, write8, u8, AtomicU8);
    access!(read16, write16, u16, AtomicU16);
    access!(read32, write32, u32, AtomicU32);
    access!(read64, write64, u64, AtomicU64);

    /// The registers of a channel below [`CHANNELS_MOST`], with offsets of their own.
    #[must_use]
    pub fn channel(&self, number: usize) -> Channel {
        Channel { window: *self, start: CHANNEL_BYTES * (1 + number) }
    }
}

/// Registers of a channel.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    window: Window,
    start: usize,
}

impl Channel {
    #[must_use]
    pub fn read8(&self, offset: usize) -> u8 {
        self.window.read8(self.start + offset)
    }

    pub fn write8(&self, offset: usize, value: u8) {
        self.window.write8(self.start + offset, value);
    }

    #[must_use]
    pub fn read16(&self, offset: usize) -> u16 {
        self.window.read16(self.start + offset)
    }

    pub fn write16(&self, offset: usize, value: u16) {
        self.window.write16(self.start + offset, value);
    }

    #[must_use]
    pub fn read32(&self, offset: usize) -> u32 {
        self.window.read32(self.start + offset)
    }

    pub fn write32(&self, offset: usize, value: u32) {
        self.window.write32(self.start + offset, value);
    }

    #[must_use]
    pub fn read64(&self, offset: usize) -> u64 {
        self.window.read64(self.start + offset)
    }

    pub fn write64(&self, offset: usize, value: u64) {
        self.window.write64(self.start + offset, value);
    }
}
