//! The first serial port (COM1), polled.

use uart_16550::backend::PioBackend;
use uart_16550::{BaudRate, Config, Uart16550};

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

    /// A byte that has arrived.
    pub fn receive(&mut self) -> Option<u8> {
        self.device.try_receive_byte().ok()
    }
}
