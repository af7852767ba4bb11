//! Serial ports of the kind 16550, polled: COM1 to COM4, or where the firmware says that one is.

use core::fmt;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

use uart_16550::backend::Backend;
use uart_16550::spec::registers::{LSR, offsets};
use uart_16550::{BaudRate, Config, Uart16550};

use super::ports;

/// COM1 to COM4, in the order in which they are looked for.
const COMMON: [u16; 4] = [0x3f8, 0x2f8, 0x3e8, 0x2e8];

/// Where a port's eight registers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registers {
    /// From this I/O port on.
    Ports(u16),
    /// From here on, so many bytes apart.
    Memory(NonNull<u8>, u8),
}

impl Registers {
    fn address(self, register: u8) -> u64 {
        match self {
            Registers::Ports(first) => u64::from(first) + u64::from(register),
            Registers::Memory(first, stride) => {
                first.as_ptr() as u64 + u64::from(register) * u64::from(stride)
            }
        }
    }
}

impl fmt::Display for Registers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if matches!(self, Registers::Ports(_)) { "port" } else { "address" };
        write!(out, "{what} {:#x}", self.address(0))
    }
}

// SAFETY: the registers of a device, which every core reaches in the same way.
unsafe impl Send for Registers {}

// Not inlined: they are called from everywhere in the driver, and a serial line waits for nobody.
impl Backend for Registers {
    #[inline(never)]
    unsafe fn read(&mut self, register: u8) -> u8 {
        // SAFETY: a register of this port (`Serial::open`).
        unsafe { read(self.address(register)) }
    }

    #[inline(never)]
    unsafe fn write(&mut self, register: u8, value: u8) {
        match self {
            // SAFETY: the device is the driver's alone (the contract of `Uart16550`), and no memory is behind it.
            Registers::Ports(first) => unsafe { ports::write_u8(*first + u16::from(register), value) },
            // SAFETY: the device is the driver's alone; the register is mapped for ever (`Serial::open`).
            Registers::Memory(..) => unsafe { (self.address(register) as *mut u8).write_volatile(value) },
        }
    }
}

/// A byte at an I/O port, or at an address of the kernel's, which no port's number is.
///
/// # Safety
/// A serial port has a register there: reading it has no effect on memory, and one that has an address is mapped for ever.
unsafe fn read(address: u64) -> u8 {
    match u16::try_from(address) {
        // SAFETY: a register whose reading has no effect on memory (this function's contract).
        Ok(port) => unsafe { ports::read_u8(port) },
        // SAFETY: a register that is mapped for ever (this function's contract).
        Err(_) => unsafe { (address as *const u8).read_volatile() },
    }
}

/// Where the line status register of the port in use is; 0 for none. Relaxed: a stale one is that of the port in use before, which is there still.
static STATUS: AtomicU64 = AtomicU64::new(0);

/// An open serial port: 8 data bits, no parity.
pub struct Serial {
    device: Uart16550<Registers>,
    registers: Registers,
}

impl Serial {
    /// Opens the first of the common ports, at 115200 baud; nothing if the machine has none, as many do.
    pub fn open_first() -> Option<Serial> {
        // SAFETY: these are the standard places of serial devices, and only this driver uses them.
        COMMON.iter().find_map(|port| unsafe { Serial::open(Registers::Ports(*port), Some(115_200)) })
    }

    /// Opens a port, at the rate that the firmware has left if there is none. Nothing if nothing answers there.
    ///
    /// # Safety
    /// The registers are those of a serial port or of nothing, mapped for ever, and only this driver uses them.
    pub unsafe fn open(registers: Registers, baud_rate: Option<u32>) -> Option<Serial> {
        // SAFETY: this function's contract.
        let mut device = unsafe { Uart16550::new_with_backend(registers) };
        let baud_rate = baud_rate.map_or_else(|| left_by_firmware(&mut device), BaudRate::from_integer);
        device.init(Config { baud_rate, ..Config::default() }).ok()?;
        STATUS.store(registers.address(offsets::LSR as u8), Ordering::Relaxed);
        Some(Serial { device, registers })
    }

    /// Where it is.
    pub fn registers(&self) -> Registers {
        self.registers
    }

    /// Sends all of `bytes`.
    pub fn send(&mut self, bytes: &[u8]) {
        self.device.send_bytes_exact(bytes);
    }

    /// Waits until the last byte has left the port: [`Serial::send`] returns while up to 16 of them are still in it.
    pub fn drain(&mut self) {
        while !self.device.lsr().contains(LSR::TRANSMITTER_EMPTY) {
            core::hint::spin_loop();
        }
    }

    /// A byte that has arrived.
    pub fn receive(&mut self) -> Option<u8> {
        self.device.try_receive_byte().ok()
    }
}

/// The rate that the divisor stands for.
fn left_by_firmware(device: &mut Uart16550<Registers>) -> BaudRate {
    const AT_DIVISOR_1: u32 = 115_200;
    let (low, high) = device.dll_dlm();
    match u32::from(low) | u32::from(high) << 8 {
        0 | 0xffff => BaudRate::Baud115200,
        divisor => BaudRate::from_integer(AT_DIVISOR_1 / divisor),
    }
}

/// Whether the port in use still has bytes in its queue, also for a core that does not own it. False without a port.
pub fn is_sending() -> bool {
    match STATUS.load(Ordering::Relaxed) {
        0 => false,
        // SAFETY: `Serial::open` has stored a register of its port, which is there still.
        address => !LSR::from_bits_retain(unsafe { read(address) }).contains(LSR::THR_EMPTY),
    }
}
