//! The first serial port (COM1), polled.

use uart_16550::backend::PioBackend;
use uart_16550::spec::registers::{LSR, offsets};
use uart_16550::{BaudRate, Config, Uart16550};

use super::ports;

const COM1: u16 = 0x3f8;

/// An open serial port: 115200 baud, 8 data bits, no parity.
pub struct Serial {
    device: Uart16550<PioBackend>,
}

impl Serial {
    /// Opens the port; nothing if the machine has none, as many do.
    pub fn open() -> Option<Serial> {
        // SAFETY: the port is the standard place of the first serial device, and only this driver uses it.
        let mut device = unsafe { Uart16550::new_port(COM1) }.ok()?;
        device.init(Config { baud_rate: BaudRate::Baud115200, ..Config::default() }).ok()?;
        Some(Serial { device })
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

/// Whether the port still has bytes in its queue, also for a core that does not own it. False without a port: there all bits
/// read as one.
pub fn is_sending() -> bool {
    // SAFETY: the line status register; reading it changes only the marks of errors of reception, which nobody looks at.
    let status = LSR::from_bits_retain(unsafe { ports::read_u8(COM1 + offsets::LSR as u16) });
    !status.contains(LSR::THR_EMPTY)
}
